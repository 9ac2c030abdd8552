#include "expression/enclosure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr Interval everything{-infinity, infinity}, nothing{0, 0};
constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();  // of an operation, functions included

// Zero stays zero: what vanishes on a stretch vanishes exactly.
Interval widened(double low, double high) {
  if (std::isnan(low) || std::isnan(high)) return everything;
  return {std::isfinite(low) ? low - rounding * std::abs(low) : low,
          std::isfinite(high) ? high + rounding * std::abs(high) : high};
}

bool vanishes(Interval a) { return a.low == 0 && a.high == 0; }

Interval operator-(Interval a) { return {-a.high, -a.low}; }
Interval operator+(Interval a, Interval b) {
  if (vanishes(a)) return b;
  if (vanishes(b)) return a;
  return widened(a.low + b.low, a.high + b.high);
}
Interval operator-(Interval a, Interval b) { return a + -b; }

Interval operator*(Interval a, Interval b) {
  if (vanishes(a) || vanishes(b)) return nothing;
  double low = infinity, high = -infinity;
  for (const double x : {a.low, a.high})
    for (const double y : {b.low, b.high}) {
      const double p = x == 0 || y == 0 ? 0 : x * y;  // a bound that is infinite stands for finite values
      low = std::min(low, p);
      high = std::max(high, p);
    }
  return widened(low, high);
}

Interval operator/(Interval a, Interval b) {
  if (vanishes(a)) return nothing;
  if (b.contains(0)) return everything;
  return a * widened(1 / b.high, 1 / b.low);
}

Interval squared(Interval a) {
  const double x = a.low * a.low, y = a.high * a.high;
  return widened(a.contains(0) ? 0 : std::min(x, y), std::max(x, y));
}

// Is there an offset + k period within?
bool passes(Interval a, double offset, double period) {
  return std::floor((a.high - offset) / period) >= std::ceil((a.low - offset) / period);
}

Interval cosine(Interval a) {
  constexpr double turn = 2 * std::numbers::pi;
  if (!(a.width() < turn)) return {-1, 1};
  // The rounding of the argument, and that of pi many turns away, count as argument.
  const double slack = rounding * (std::abs(a.low) + std::abs(a.high) + 1);
  const Interval b{a.low - slack, a.high + slack};
  const double x = std::cos(b.low), y = std::cos(b.high);
  return {passes(b, turn / 2, turn) ? -1 : std::max(-1.0, std::min(x, y) - rounding),
          passes(b, 0, turn) ? 1 : std::min(1.0, std::max(x, y) + rounding)};
}
Interval sine(Interval a) {
  if (vanishes(a)) return nothing;
  const Interval result = cosine(a - Interval{std::numbers::pi / 2, std::numbers::pi / 2});
  // near zero by sin x ~ x, whose sign is sure
  if (a.low >= 0 && a.high < 3) return {std::max(result.low, 0.0), result.high};
  if (a.high <= 0 && a.low > -3) return {result.low, std::min(result.high, 0.0)};
  return result;
}

template <class F>
Interval rising(F f, Interval a) {
  return widened(f(a.low), f(a.high));
}

Interval power_of(Interval a, Interval b) {
  if (b.low == b.high && b.low == std::floor(b.low)) {
    const double n = b.low;
    if (a.contains(0) && n < 0) return everything;
    const double x = std::pow(a.low, n), y = std::pow(a.high, n);
    const bool even = std::fmod(n, 2) == 0;
    return widened(even && a.contains(0) ? 0 : std::min(x, y), std::max(x, y));
  }
  if (a.high < 0) return everything;
  const double base[] = {std::max(a.low, 0.0), a.high}, exponent[] = {b.low, b.high};
  double low = infinity, high = -infinity;
  for (const double x : base)
    for (const double y : exponent) {
      const double p = std::pow(x, y);
      low = std::min(low, p);
      high = std::max(high, p);
    }
  return widened(low, high);
}

// Of a and b that do not leave the plane without the half line a = 0, b <= 0: no corner, no jump.
bool avoids_cut(Interval a, Interval b) { return a.low > 0 || a.high < 0 || b.low > 0; }

Interval arc(Interval a, Interval b) {
  if (!avoids_cut(a, b)) return {-std::numbers::pi, std::numbers::pi};
  double low = infinity, high = -infinity;
  for (const double y : {a.low, a.high})
    for (const double x : {b.low, b.high}) {
      low = std::min(low, std::atan2(y, x));
      high = std::max(high, std::atan2(y, x));
    }
  return widened(low, high);
}

// 1 or 0 where that is certain, both where not
Interval truth(bool surely, bool possibly) { return {surely ? 1.0 : 0.0, possibly ? 1.0 : 0.0}; }
bool is_false(Interval a) { return vanishes(a); }
bool is_true(Interval a) { return !a.contains(0); }

// A function with its derivative as a function of the operand.
Enclosed chain(Interval value, Interval derivative, const Enclosed& a) {
  return {value, vanishes(a.slope) ? nothing : derivative * a.slope};
}

// What takes steps: no slope where it is certain.
Enclosed steps(Interval value) { return {value, value.low == value.high ? nothing : everything}; }

Enclosed enclose_function(Op op, const Enclosed& a) {
  const Interval x = a.value, one{1, 1};
  switch (op) {
    case Op::negate: return {-x, -a.slope};
    case Op::sin: return chain(sine(x), cosine(x), a);
    case Op::cos: return chain(cosine(x), -sine(x), a);
    case Op::tan: {
      const Interval c = cosine(x);
      if (c.contains(0)) return {everything, everything};
      const Interval value = rising([](double u) { return std::tan(u); }, x);
      return chain(value, one + squared(value), a);
    }
    case Op::asin:
    case Op::acos: {
      const Interval u{std::max(x.low, -1.0), std::min(x.high, 1.0)};
      if (u.low > u.high) return {everything, everything};
      const double steepest = std::max(std::abs(u.low), std::abs(u.high));
      const double most = 1 / std::sqrt(std::max(0.0, 1 - steepest * steepest));
      const double least = u.contains(0) ? 1 : 1 / std::sqrt(1 - std::min(u.low * u.low, u.high * u.high));
      const Interval d = widened(least, most);
      if (op == Op::asin) return chain(rising([](double v) { return std::asin(v); }, u), d, a);
      return chain(widened(std::acos(u.high), std::acos(u.low)), -d, a);
    }
    case Op::atan: return chain(rising([](double u) { return std::atan(u); }, x), one / (one + squared(x)), a);
    case Op::sinh: {
      const Interval c = {std::cosh(x.contains(0) ? 0 : std::min(std::abs(x.low), std::abs(x.high))),
                          std::cosh(std::max(std::abs(x.low), std::abs(x.high)))};
      return chain(rising([](double u) { return std::sinh(u); }, x), widened(c.low, c.high), a);
    }
    case Op::cosh: {
      const Interval c = {std::cosh(x.contains(0) ? 0 : std::min(std::abs(x.low), std::abs(x.high))),
                          std::cosh(std::max(std::abs(x.low), std::abs(x.high)))};
      return chain(widened(c.low, c.high), rising([](double u) { return std::sinh(u); }, x), a);
    }
    case Op::tanh: {
      const Interval value = rising([](double u) { return std::tanh(u); }, x);
      const Interval d = one - squared(value);
      return chain(value, {std::max(0.0, d.low), std::min(1.0, d.high)}, a);
    }
    case Op::exp: {
      const Interval value = rising([](double u) { return std::exp(u); }, x);
      return chain(value, value, a);
    }
    case Op::log: {
      if (x.high <= 0) return {everything, everything};
      const Interval u{std::max(x.low, 0.0), x.high};
      return chain(rising([](double v) { return std::log(v); }, u),
                   u.low > 0 ? one / u : Interval{1 / u.high, infinity}, a);
    }
    case Op::sqrt: {
      if (x.high < 0) return {everything, everything};
      const Interval u{std::max(x.low, 0.0), x.high};
      const Interval value = rising([](double v) { return std::sqrt(v); }, u);
      return chain(value, {0.5 / value.high, value.low > 0 ? 0.5 / value.low : infinity}, a);
    }
    case Op::abs:
      if (x.low >= 0) return a;
      if (x.high <= 0) return {-x, -a.slope};
      return {{0, std::max(-x.low, x.high)}, hull(a.slope, -a.slope)};
    case Op::sign: return steps({x.low > 0 ? 1.0 : x.low < 0 ? -1.0 : 0.0, x.high > 0 ? 1.0 : x.high < 0 ? -1.0 : 0.0});
    default: return steps(truth(is_false(x), x.contains(0)));  // logical_not
  }
}

}  // namespace

Enclosed enclose(Op op, const Enclosed& a, const Enclosed& b, const Enclosed& c) {
  const Interval x = a.value, y = b.value;
  switch (op) {
    case Op::add: return {x + y, a.slope + b.slope};
    case Op::subtract: return {x - y, a.slope - b.slope};
    case Op::multiply: return {x * y, a.slope * y + x * b.slope};
    case Op::divide: {
      const Interval value = x / y;
      if (y.contains(0)) return {value, vanishes(x) ? nothing : everything};
      return {value, (a.slope - value * b.slope) / y};
    }
    case Op::power: {
      const Interval value = power_of(x, y);
      if (vanishes(b.slope) && y.low == y.high) return chain(value, y * power_of(x, {y.low - 1, y.low - 1}), a);
      if (!(x.low > 0)) return {value, everything};
      const Interval logarithm = rising([](double u) { return std::log(u); }, x);
      return {value, value * (b.slope * logarithm + y * (a.slope / x))};
    }
    case Op::atan2:
      if (!avoids_cut(x, y)) return {arc(x, y), everything};
      return {arc(x, y), (a.slope * y - x * b.slope) / (squared(x) + squared(y))};
    case Op::hypot: {
      const Interval square = squared(x) + squared(y);
      const Interval value = rising([](double u) { return std::sqrt(u); }, square);
      if (value.low > 0) return {value, (x * a.slope + y * b.slope) / value};
      const Interval unit{-1, 1};
      return {value, unit * a.slope + unit * b.slope};
    }
    case Op::min:
      if (x.high <= y.low) return a;
      if (y.high <= x.low) return b;
      return {{std::min(x.low, y.low), std::min(x.high, y.high)}, hull(a.slope, b.slope)};
    case Op::max:
      if (x.low >= y.high) return a;
      if (y.low >= x.high) return b;
      return {{std::max(x.low, y.low), std::max(x.high, y.high)}, hull(a.slope, b.slope)};
    case Op::less: return steps(truth(x.high < y.low, x.low < y.high));
    case Op::less_equal: return steps(truth(x.high <= y.low, x.low <= y.high));
    // At single times only, or always.
    case Op::equal: return steps(x.low == x.high && y.low == y.high && x.low == y.low ? Interval{1, 1} : nothing);
    case Op::not_equal: return steps(x.low == x.high && y.low == y.high && x.low == y.low ? nothing : Interval{1, 1});
    case Op::logical_and: return steps(truth(is_true(x) && is_true(y), !is_false(x) && !is_false(y)));
    case Op::logical_or: return steps(truth(is_true(x) || is_true(y), !is_false(x) || !is_false(y)));
    case Op::select:
      if (is_true(x)) return b;
      if (is_false(x)) return c;
      return {hull(y, c.value), everything};
    default: return enclose_function(op, a);
  }
}

Enclosure::Enclosure(const Graph& graph, std::span<const Node> functions) {
  std::unordered_map<Node, Node> place;
  for (const Node n : cone_of(graph, functions)) {
    Graph::Entry e = graph[n];
    if (e.op == Op::variable) {
      e.a = static_cast<Node>(variables_.size());
      variables_.push_back(n);
    } else {
      for (Node* operand : {&e.a, &e.b, &e.c})
        if (*operand != no_node) *operand = place.at(*operand);
      if (e.op == Op::table) {
        tables_.push_back(graph.table(e));
        e.value = static_cast<double>(tables_.size() - 1);
      }
    }
    place.emplace(n, static_cast<Node>(steps_.size()));
    steps_.push_back(e);
  }
  for (const Node f : functions) outputs_.push_back(place.at(f));
  slots_.resize(steps_.size());
  numbers_.resize(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k)
    if (steps_[k].op == Op::constant) {
      const double x = steps_[k].value;
      slots_[k] = {std::isnan(x) ? everything : Interval{x, x}, nothing};
      numbers_[k] = x;
    }
}

void Enclosure::on(std::span<const Enclosed> variables) {
  const auto slot = [&](Node n) -> const Enclosed& { return slots_[static_cast<std::size_t>(n)]; };
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Graph::Entry& e = steps_[k];
    switch (arity(e.op)) {
      case 0:
        if (e.op == Op::variable) slots_[k] = variables[static_cast<std::size_t>(e.a)];
        break;
      case 1:
        if (e.op == Op::table) {
          const Table& table = *tables_[static_cast<std::size_t>(e.value)];
          slots_[k] = chain(table.bounds(slot(e.a).value), table.slopes(slot(e.a).value), slot(e.a));
        } else {
          slots_[k] = enclose(e.op, slot(e.a));
        }
        break;
      case 2:
        if (e.op == Op::multiply && e.a == e.b) {
          const Enclosed& a = slot(e.a);
          slots_[k] = {squared(a.value), Interval{2, 2} * (a.value * a.slope)};
        } else {
          slots_[k] = enclose(e.op, slot(e.a), slot(e.b));
        }
        break;
      default: slots_[k] = enclose(e.op, slot(e.a), slot(e.b), slot(e.c));
    }
  }
}

double Enclosure::at(std::span<const double> variables, std::size_t k) {
  const auto number = [&](Node n) { return n == no_node ? 0 : numbers_[static_cast<std::size_t>(n)]; };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Graph::Entry& e = steps_[i];
    if (e.op == Op::variable)
      numbers_[i] = variables[static_cast<std::size_t>(e.a)];
    else if (e.op == Op::table)
      numbers_[i] = (*tables_[static_cast<std::size_t>(e.value)])(number(e.a));
    else if (e.op != Op::constant)
      numbers_[i] = apply_op(e.op, number(e.a), number(e.b), number(e.c));
  }
  return numbers_[static_cast<std::size_t>(outputs_[k])];
}

}  // namespace hinge
