// Stages after the first ones, which are nearly all: the same recurrences without a branch on the order.
//
// Coefficients of the stage itself stand apart until it is complete. So where a sum of products reads them in their
// places it reads zeros, and it may run on beyond its end, where one factor is zero: its length is a constant, equal
// for all operations of a stage. What the newest coefficients contribute is added:
//   (a b)_m = sum_(0<i<m) a_i b_(m-i) + a_0 b_m + a_m b_0
#include <array>
#include <cstring>
#include <utility>

#include "method/taylor/series_tape.hpp"

namespace hinge {

namespace {

typedef double Pair __attribute__((vector_size(16)));

inline Pair load(const double* x) {
  Pair p;
  std::memcpy(&p, x, sizeof p);
  return p;
}

template <int Blocks>
inline double convolve(const double* a, const double* reversed_b) {
  Pair even{0, 0}, odd{0, 0};
  for (int k = 0; k < 4 * Blocks; k += 4) {
    even += load(a + k) * load(reversed_b + k);
    odd += load(a + k + 2) * load(reversed_b + k + 2);
  }
  even += odd;
  return even[0] + even[1];
}

}  // namespace

template <int Blocks>
inline double SeriesTape::later_terms(const Operation& op, int m) const {
  const double* const data = data_.data();
  double sum = 0;
  for (int l = op.linear; l < op.products; ++l) {
    const Term& term = terms_[static_cast<std::size_t>(l)];
    sum += term.factor * data[term.place_a + term.step_a * m];
  }
  for (int l = op.products; l < op.end; ++l) {
    const Term& term = terms_[static_cast<std::size_t>(l)];
    const double* const a = series(term.a);
    const double* const b = series(term.b);
    double product = convolve<Blocks>(a, b + back_ - m);
    if (term.step_a == 0) product += data[term.place_a] * b[0];
    if (term.step_b == 0) product += data[term.place_b] * a[0];
    sum += term.factor * product;
  }
  return sum;
}

double SeriesTape::later_choice(const Operation& op, int m) const {
  const double* const data = data_.data();
  const State& state = states_[static_cast<std::size_t>(op.state)];
  const auto a = [&] { return data[op.place_a + op.step_a * m]; };
  const auto b = [&] { return data[op.place_b + op.step_b * m]; };
  const auto c = [&] { return data[op.place_c + op.step_c * m]; };
  if (op.kind == Kind::offset) return a();
  if (op.kind == Kind::cubic) return state[1] * a() + state[2] * b() + state[3] * c();
  return state[0] != 0 ? state[0] * a() : state[1] != 0 ? state[1] * b() : state[2] * c();
}

template <int Blocks>
void SeriesTape::evaluate_later(int stage) {
  const double* const data = data_.data();
  const double over_scale = 1 / scale_;
  for (const Operation& op : ops_) {
    const int m = stage + op.level;
    double* const r = series(op.result);
    double value = 0;
    if (op.vanishes) {
      r[newest_] = 0;
      continue;
    }
    switch (op.kind) {
      case Kind::sum: value = later_terms<Blocks>(op, m); break;
      case Kind::integral:
        value = scale_ * inverse_[static_cast<std::size_t>(m)] * later_terms<Blocks>(op, m - 1);
        break;
      case Kind::derivative: value = (m + 1) * over_scale * data[op.place_a + op.step_a * (m + 1)]; break;
      case Kind::quotient: {
        const double* const b = series(op.b);
        double rest = data[op.place_a + op.step_a * m] - convolve<Blocks>(r, b + back_ - m);
        if (op.step_b == 0) rest -= data[op.place_b] * r[0];
        value = rest / b[0];
        break;
      }
      case Kind::root:
        value = (data[op.place_a + op.step_a * m] - convolve<Blocks>(r, r + back_ - m)) / (2 * r[0]);
        break;
      case Kind::power: {
        const double* const a = series(op.a);
        const double p = op.constant;
        double sum = p * m * data[op.place_a + op.step_a * m] * r[0];
        for (int i = 1; i < m; ++i) sum += (p * (m - i) - i) * a[m - i] * r[i];
        value = sum / (m * a[0]);
        break;
      }
      case Kind::step: break;
      default: value = later_choice(op, m);
    }
    r[newest_] = value;
  }
}

template <int... Blocks>
constexpr auto SeriesTape::later_stages(std::integer_sequence<int, Blocks...>) {
  return std::array{&SeriesTape::evaluate_later<Blocks + 1>...};
}

void SeriesTape::evaluate(int stage) {
  factors(stage);
  if (stage <= first_stages) return evaluate_first(stage);
  static constexpr auto by_length = later_stages(std::make_integer_sequence<int, most_blocks>{});
  (this->*by_length[static_cast<std::size_t>((stage + most_) / 4)])(stage);
}

// The coefficients of the stage go to their places; those of the next one are zero there until it is complete.
void SeriesTape::keep(int stage) {
  for (const auto [slot, level] : kept_) {
    double* const s = series(slot);
    const int m = stage + level;
    const double value = stage == first_stages ? s[m] : s[newest_];
    s[m] = value;
    s[m + 1] = 0;
    double* const back = s + back_ - m;
    back[0] = value;
    back[-1] = 0;
  }
}

}  // namespace hinge
