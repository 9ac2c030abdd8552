#include "method/taylor/series_tape.hpp"

#include <cmath>

#include "expression/table.hpp"

namespace hinge {

namespace {

// sum_(i=first..last) a_i b_(m-i)
inline double convolve(const double* a, const double* b, int m, int first, int last) {
  const double* back = b + m;
  double s0 = 0, s1 = 0;
  int i = first;
  for (; i + 1 <= last; i += 2) {
    s0 += a[i] * back[-i];
    s1 += a[i + 1] * back[-i - 1];
  }
  if (i <= last) s0 += a[i] * back[-i];
  return s0 + s1;
}

// sum_(i=first..m-first) a_i a_(m-i)
inline double convolve_square(const double* a, int m, int first) {
  const int half = (m - 1) / 2;
  const double twice = m > 0 ? 2 * convolve(a, a, m, first, half) : 0.0;
  return m % 2 == 0 && m / 2 >= first ? twice + a[m / 2] * a[m / 2] : twice;
}

}  // namespace

void SeriesTape::begin(double t0, double scale) {
  t0_ = t0;
  scale_ = scale;
  if (t_slot_ < 0) return;
  double* t = series(t_slot_);
  t[0] = t0;
  t[1] = scale;
}

inline double SeriesTape::terms(const Operation& op, int m) const {
  const Term* term = terms_.data();
  double sum = 0;
  for (int l = op.linear; l < op.products; ++l) sum += term[l].factor * series(term[l].a)[m];
  for (int l = op.products; l < op.squares; ++l)
    sum += term[l].factor * convolve(series(term[l].a), series(term[l].b), m, 0, m);
  for (int l = op.squares; l < op.end; ++l) sum += term[l].factor * convolve_square(series(term[l].a), m, 0);
  return sum;
}

void SeriesTape::evaluate(int stage) {
  const double over_scale = 1 / scale_;
  for (const Operation& op : ops_) {
    const int m = stage + op.level;
    if (m < 0) continue;
    double* const r = series(op.result);
    switch (op.kind) {
      case Kind::sum: r[m] = m == 0 ? op.constant + terms(op, 0) : terms(op, m); break;
      case Kind::integral:
        if (m > 0)
          r[m] = scale_ * inverse_[static_cast<std::size_t>(m)] * terms(op, m - 1);
        else if (op.has_value)
          r[0] = apply_op(op.function, series(op.a)[0], op.b >= 0 ? series(op.b)[0] : 0.0);
        break;
      case Kind::derivative: r[m] = (m + 1) * over_scale * series(op.a)[m + 1]; break;
      case Kind::quotient: r[m] = (series(op.a)[m] - convolve(series(op.b), r, m, 1, m)) / series(op.b)[0]; break;
      case Kind::root:
        r[m] = m == 0 ? std::sqrt(series(op.a)[0]) : (series(op.a)[m] - convolve_square(r, m, 1)) / (2 * r[0]);
        break;
      case Kind::power: r[m] = power(op, r, m); break;
      default: choose(op, r, m);
    }
  }
}

double SeriesTape::power(const Operation& op, const double* r, int m) const {
  const double* a = series(op.a);
  const double p = op.constant;
  if (m == 0) return std::pow(a[0], p);
  double sum = 0;
  for (int i = 0; i < m; ++i) sum += (p * (m - i) - i) * a[m - i] * r[i];
  return sum / (m * a[0]);
}

// What holds at t0 holds for the whole series: steps end where it changes.
void SeriesTape::choose(const Operation& op, double* r, int m) {
  const double* a = series(op.a);
  const double* b = op.b >= 0 ? series(op.b) : nullptr;
  const double* c = op.c >= 0 ? series(op.c) : nullptr;
  State* const state = op.state >= 0 ? &states_[static_cast<std::size_t>(op.state)] : nullptr;
  switch (op.kind) {
    case Kind::step: r[m] = m == 0 ? apply_op(op.function, a[0], b ? b[0] : 0.0) : 0.0; return;
    case Kind::offset:
      if (m == 0) {
        const Table& table = *tables_[static_cast<std::size_t>(op.state)];
        const Table::Cubic polynomial = table.polynomial(table.piece(a[0]), (*state)[4]);
        for (std::size_t k = 0; k < 4; ++k) (*state)[k] = polynomial[k];
        if (std::isnan(table(a[0]))) (*state)[0] = NAN;  // outside of it
      }
      r[m] = m == 0 ? a[0] - (*state)[4] : a[m];
      return;
    case Kind::cubic:
      r[m] = (m == 0 ? (*state)[0] : 0.0) + (*state)[1] * a[m] + (*state)[2] * b[m] + (*state)[3] * c[m];
      return;
    default: break;
  }
  State& factor = *state;
  if (m == 0) {
    factor = {};
    switch (op.function) {
      case Op::abs: factor[0] = a[0] < 0 ? -1 : 1; break;
      case Op::min: factor[b[0] < a[0] ? 1 : 0] = 1; break;
      case Op::max: factor[b[0] > a[0] ? 1 : 0] = 1; break;
      default: factor[a[0] != 0 ? 1 : 2] = 1; break;  // select
    }
  }
  const double* const operands[] = {a, b, c};
  r[m] = 0;
  for (std::size_t k = 0; k < 3; ++k)
    if (factor[k] != 0) r[m] = factor[k] * operands[k][m];
}

void SeriesTape::weigh() {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    const auto value = [&](int slot) { return series(slot)[0]; };
    double& w = weights_[k];
    switch (part.kind) {
      case Weight::number: w = part.factor; break;
      case Weight::times: w = part.factor * value(part.slot); break;
      case Weight::over: w = 1 / value(part.slot); break;
      case Weight::minus_ratio: w = -value(part.slot) / value(part.other); break;
      case Weight::half_over: w = 0.5 / value(part.slot); break;
      case Weight::exponent: w = part.factor * value(part.slot) / value(part.other); break;
      case Weight::chosen:
      case Weight::cubic: w = states_[static_cast<std::size_t>(part.state)][static_cast<std::size_t>(part.slot)]; break;
    }
  }
}

// k! s^l / (k+l)!; for k < 0 without k! and with s^(k+l)
void SeriesTape::factors(int stage) const {
  if (stage > 0) {
    factor_[0] = stage / scale_;
    factor_[1] = 1;
    for (int l = 1; l <= most_; ++l)
      factor_[static_cast<std::size_t>(l + 1)] =
          factor_[static_cast<std::size_t>(l)] * scale_ * inverse_[static_cast<std::size_t>(stage + l)];
    return;
  }
  double f = 1;
  for (int l = -1; l <= most_; ++l) {
    const int m = stage + l;
    if (m > 0) f *= scale_ / m;
    factor_[static_cast<std::size_t>(l + 1)] = m < 0 ? 0.0 : f;
  }
}

void SeriesTape::residual(int stage, double* out) const {
  factors(stage);
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const auto [slot, c] = equations_[i];
    const int m = stage + c;
    out[i] = m < 0 ? 0.0 : series(slot)[m] / factor_[static_cast<std::size_t>(c + 1)];
  }
}

void SeriesTape::complete(int stage, const double* x) {
  factors(stage);
  for (std::size_t j = 0; j < unknowns_.size(); ++j) {
    const auto [slot, d] = unknowns_[j];
    delta_[static_cast<std::size_t>(slot)] = x[j];
    if (stage + d >= 0) series(slot)[stage + d] += x[j] * factor_[static_cast<std::size_t>(d + 1)];
  }
  for (const Completion& node : completions_) {
    double sum = 0;
    for (int k = node.first; k < node.end; ++k)
      sum += weights_[static_cast<std::size_t>(k)] *
             delta_[static_cast<std::size_t>(parts_[static_cast<std::size_t>(k)].operand)];
    delta_[static_cast<std::size_t>(node.result)] = sum;
    if (stage + node.level >= 0)
      series(node.result)[stage + node.level] += sum * factor_[static_cast<std::size_t>(node.level + 1)];
  }
}

}  // namespace hinge
