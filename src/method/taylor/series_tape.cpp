#include "method/taylor/series_tape.hpp"

#include <algorithm>
#include <cmath>

#include "expression/table.hpp"

namespace hinge {

namespace {

// sum_(i=first..last) a_i b_(m-i), with b backwards. What was written last is read by itself: in pairs it would have to
// wait.
inline double convolve(const double* a, const double* reversed_b, int first, int last) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i = first;
  for (; i + 4 < last; i += 4) {
    s0 += a[i] * reversed_b[i];
    s1 += a[i + 1] * reversed_b[i + 1];
    s2 += a[i + 2] * reversed_b[i + 2];
    s3 += a[i + 3] * reversed_b[i + 3];
  }
  double sum = 0;
  for (; i <= last; ++i) sum += a[i] * reversed_b[i];
  return sum + ((s0 + s2) + (s1 + s3));
}
inline double convolve(const double* a, const double* reversed_b, int m) {
  const double first = a[0] * reversed_b[0];
  return m == 0 ? first : first + convolve(a, reversed_b, 1, m);
}
// sum_i a_i a_(m-i)
inline double convolve_square(const double* a, const double* reversed_a, int m, int first) {
  const double twice = 2 * convolve(a, reversed_a, first, (m - 1) / 2);
  return m % 2 == 0 && m >= 2 * first ? twice + a[m / 2] * a[m / 2] : twice;
}

}  // namespace

void SeriesTape::begin(double t0, double scale) {
  t0_ = t0;
  scale_ = scale;
  if (t_slot_ < 0) return;
  put(t_slot_, 0, t0);
  put(t_slot_, 1, scale);
}

void SeriesTape::clear() {
  std::fill(data_.begin(), data_.end(), 0.0);
  for (const auto& [value, slot] : constants_) put(slot, 0, value);
  begin(t0_, scale_);
}

inline double SeriesTape::terms(const Operation& op, int m) const {
  const Term* term = terms_.data();
  double sum = 0;
  for (int l = op.linear; l < op.products; ++l) sum += term[l].factor * series(term[l].a)[m];
  for (int l = op.products; l < op.end; ++l)
    sum += term[l].factor * (term[l].a == term[l].b && m > 0
                                 ? convolve_square(series(term[l].a), reversed(term[l].a, m), m, 0)
                                 : convolve(series(term[l].a), reversed(term[l].b, m), m));
  return sum;
}

void SeriesTape::evaluate_first(int stage) {
  const double over_scale = 1 / scale_;
  for (const Operation& op : ops_) {
    const int m = stage + op.level;
    if (m < 0 || (op.vanishes && stage > 0)) continue;
    double* const r = series(op.result);
    double value = 0;
    switch (op.kind) {
      case Kind::sum: value = m == 0 ? op.constant + terms(op, 0) : terms(op, m); break;
      case Kind::integral:
        if (m > 0)
          value = scale_ * inverse_[static_cast<std::size_t>(m)] * terms(op, m - 1);
        else if (op.has_value)
          value = apply_op(op.function, series(op.a)[0], op.b >= 0 ? series(op.b)[0] : 0.0);
        else
          value = r[0];
        break;
      case Kind::derivative: value = (m + 1) * over_scale * series(op.a)[m + 1]; break;
      case Kind::quotient:
        value = (series(op.a)[m] - convolve(r, reversed(op.b, m), 0, m - 1)) / series(op.b)[0];
        break;
      case Kind::root:
        value = m == 0 ? std::sqrt(series(op.a)[0])
                       : (series(op.a)[m] - convolve_square(r, reversed(op.result, m), m, 1)) / (2 * r[0]);
        break;
      case Kind::power: value = power(op, r, m); break;
      default: value = choose(op, m);
    }
    put(op.result, m, value);
    newest(op.result) = value;
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
double SeriesTape::choose(const Operation& op, int m) {
  const double* a = series(op.a);
  const double* b = op.b >= 0 ? series(op.b) : nullptr;
  const double* c = op.c >= 0 ? series(op.c) : nullptr;
  State* const state = op.state >= 0 ? &states_[static_cast<std::size_t>(op.state)] : nullptr;
  switch (op.kind) {
    case Kind::step: return m == 0 ? apply_op(op.function, a[0], b ? b[0] : 0.0) : 0.0;
    case Kind::offset:
      if (m == 0) {
        const Table& table = *tables_[static_cast<std::size_t>(op.state)];
        const Table::Cubic polynomial = table.polynomial(table.piece(a[0]), (*state)[4]);
        for (std::size_t k = 0; k < 4; ++k) (*state)[k] = polynomial[k];
        if (std::isnan(table(a[0]))) (*state)[0] = NAN;  // outside of it
      }
      return m == 0 ? a[0] - (*state)[4] : a[m];
    case Kind::cubic:
      return (m == 0 ? (*state)[0] : 0.0) + (*state)[1] * a[m] + (*state)[2] * b[m] + (*state)[3] * c[m];
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
  for (std::size_t k = 0; k < 3; ++k)
    if (factor[k] != 0) return factor[k] * operands[k][m];
  return NAN;
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
void SeriesTape::factors(int stage) {
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
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const auto [slot, c] = equations_[i];
    out[i] = stage + c < 0 ? 0.0 : newest(slot) / factor_[static_cast<std::size_t>(c + 1)];
  }
}

void SeriesTape::complete(int stage, const double* x) {
  const bool first = stage <= first_stages;
  const auto add = [&](int slot, int level, double change) {
    const int m = stage + level;
    if (m < 0) return;
    if (first)
      put(slot, m, series(slot)[m] + change * factor_[static_cast<std::size_t>(level + 1)]);
    else
      newest(slot) += change * factor_[static_cast<std::size_t>(level + 1)];
  };
  for (std::size_t j = 0; j < unknowns_.size(); ++j) {
    const auto [slot, d] = unknowns_[j];
    delta_[static_cast<std::size_t>(slot)] = x[j];
    add(slot, d, x[j]);
  }
  for (const Completion& node : completions_) {
    double sum = 0;
    for (int k = node.first; k < node.end; ++k)
      sum += weights_[static_cast<std::size_t>(k)] *
             delta_[static_cast<std::size_t>(parts_[static_cast<std::size_t>(k)].operand)];
    delta_[static_cast<std::size_t>(node.result)] = sum;
    add(node.result, node.level, sum);
  }
  if (stage >= first_stages) keep(stage);
}

}  // namespace hinge
