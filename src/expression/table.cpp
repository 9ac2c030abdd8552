#include "expression/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr double cubic_rounding = 8 * std::numeric_limits<double>::epsilon();

double horner(const Table::Cubic& c, double u) { return c[0] + u * (c[1] + u * (c[2] + u * c[3])); }
double slope(const Table::Cubic& c, double u) { return c[1] + u * (2 * c[2] + u * 3 * c[3]); }

// The cubic on a stretch of length h with these values and slopes at its ends.
Table::Cubic hermite(double h, double y0, double y1, double m0, double m1) {
  const double s = (y1 - y0) / h;
  return {y0, m0, (3 * s - 2 * m0 - m1) / h, (m0 + m1 - 2 * s) / (h * h)};
}

// Slopes m of the spline: for each inner knot  m_{k-1}/h_{k-1} + 2 (1/h_{k-1} + 1/h_k) m_k + m_{k+1}/h_k
//   = 3 (s_{k-1}/h_{k-1} + s_k/h_k),  s_k the slopes of the chords; the ends by `ends`, or all knots alike (periodic).
// Solved by elimination; the corners of the periodic and the third entries of the not-a-knot rows by dense columns
// would cost more: both are reduced to tridiagonal systems.
struct Tridiagonal {
  std::vector<double> below, diagonal, above, right;
  explicit Tridiagonal(std::size_t n) : below(n), diagonal(n), above(n), right(n) {}
  std::vector<double> solve() const {
    std::vector<double> d = diagonal, x = right;
    const std::size_t n = d.size();
    for (std::size_t k = 1; k < n; ++k) {
      const double f = below[k] / d[k - 1];
      d[k] -= f * above[k - 1];
      x[k] -= f * x[k - 1];
    }
    x[n - 1] /= d[n - 1];
    for (std::size_t k = n - 1; k-- > 0;) x[k] = (x[k] - above[k] * x[k + 1]) / d[k];
    return x;
  }
};

void inner_row(Tridiagonal& a, std::size_t row, double h0, double h1, double s0, double s1) {
  a.below[row] = 1 / h0;
  a.diagonal[row] = 2 * (1 / h0 + 1 / h1);
  a.above[row] = 1 / h1;
  a.right[row] = 3 * (s0 / h0 + s1 / h1);
}

std::vector<double> spline_slopes(const std::vector<double>& h, const std::vector<double>& s, SplineEnds ends) {
  const std::size_t n = h.size();  // stretches
  if (n == 1) return {s[0], s[0]};
  if (n == 2 && ends == SplineEnds::not_a_knot) {  // the parabola through three points
    const double bend = (s[1] - s[0]) / (h[0] + h[1]);
    return {s[0] - bend * h[0], s[0] + bend * h[0], s[1] + bend * h[1]};
  }
  Tridiagonal a(n + 1);
  for (std::size_t k = 1; k < n; ++k) inner_row(a, k, h[k - 1], h[k], s[k - 1], s[k]);
  if (ends == SplineEnds::natural) {
    a.diagonal[0] = a.diagonal[n] = 2;
    a.above[0] = a.below[n] = 1;
    a.right[0] = 3 * s[0];
    a.right[n] = 3 * s[n - 1];
  } else {
    // f''' continuous at x_1, with the row of x_1 taken away:
    //   h_1 m_0 + (h_0 + h_1) m_1 = ((3 h_0 + 2 h_1) h_1 s_0 + h_0^2 s_1)/(h_0 + h_1)
    const auto end_row = [](double h0, double h1, double s0, double s1) {
      return ((3 * h0 + 2 * h1) * h1 * s0 + h0 * h0 * s1) / (h0 + h1);
    };
    a.diagonal[0] = h[1];
    a.above[0] = h[0] + h[1];
    a.right[0] = end_row(h[0], h[1], s[0], s[1]);
    a.diagonal[n] = h[n - 2];
    a.below[n] = h[n - 1] + h[n - 2];
    a.right[n] = end_row(h[n - 1], h[n - 2], s[n - 1], s[n - 2]);
  }
  return a.solve();
}

// The periodic spline: the unknown m_0 = m_n by superposition, m = u + m_0 w.
std::vector<double> periodic_slopes(const std::vector<double>& h, const std::vector<double>& s) {
  const std::size_t n = h.size();
  if (n == 1) return {0, 0};
  Tridiagonal u(n - 1), w(n - 1);
  for (std::size_t k = 1; k < n; ++k) inner_row(u, k - 1, h[k - 1], h[k], s[k - 1], s[k]);
  w = u;
  std::fill(w.right.begin(), w.right.end(), 0.0);
  w.right.front() -= 1 / h[0];
  w.right.back() -= 1 / h[n - 1];
  const std::vector<double> a = u.solve(), b = w.solve();
  // the row of x_0: m_{n-1}/h_{n-1} + 2 (1/h_{n-1} + 1/h_0) m_0 + m_1/h_0 = 3 (s_{n-1}/h_{n-1} + s_0/h_0)
  const double i = 1 / h[n - 1], j = 1 / h[0];
  const double m0 =
      (3 * (s[n - 1] * i + s[0] * j) - a.back() * i - a.front() * j) / (2 * (i + j) + b.back() * i + b.front() * j);
  std::vector<double> m{m0};
  for (std::size_t k = 0; k + 1 < n; ++k) m.push_back(a[k] + m0 * b[k]);
  m.push_back(m0);
  return m;
}

double monotone_slope(double h0, double h1, double s0, double s1) {
  if (!(s0 * s1 > 0)) return 0;
  const double a = 2 * h1 + h0, b = h1 + 2 * h0;
  return (a + b) / (a / s0 + b / s1);
}

// At an end, from three points; limited so that the cubic stays monotone.
double monotone_end(double h0, double h1, double s0, double s1) {
  const double m = ((2 * h0 + h1) * s0 - h0 * s1) / (h0 + h1);
  if (m * s0 <= 0) return 0;
  return s0 * s1 <= 0 && std::abs(m) > 3 * std::abs(s0) ? 3 * s0 : m;
}

std::vector<double> monotone_slopes(const std::vector<double>& h, const std::vector<double>& s, bool periodic) {
  const std::size_t n = h.size();
  if (n == 1) return {s[0], s[0]};
  std::vector<double> m(n + 1);
  for (std::size_t k = 1; k < n; ++k) m[k] = monotone_slope(h[k - 1], h[k], s[k - 1], s[k]);
  m[0] = periodic ? monotone_slope(h[n - 1], h[0], s[n - 1], s[0]) : monotone_end(h[0], h[1], s[0], s[1]);
  m[n] = periodic ? m[0] : monotone_end(h[n - 1], h[n - 2], s[n - 1], s[n - 2]);
  return m;
}

// Values at the ends and at the extremes between.
Interval bounds_on(const Table::Cubic& c, double from, double to) {
  Interval all{infinity, -infinity};
  double largest = 0;
  const auto take = [&](double u) {
    if (!(u >= from && u <= to)) return;
    const double y = horner(c, u);
    all = hull(all, {y, y});
    largest = std::max({largest, std::abs(c[0]), std::abs(c[1] * u), std::abs(c[2] * u * u)});
  };
  take(from);
  take(to);
  if (!std::isfinite(from) || !std::isfinite(to)) {
    if (c[1] == 0 && c[2] == 0 && c[3] == 0) return {c[0], c[0]};
    return {-infinity, infinity};
  }
  if (c[3] != 0) {  // c1 + 2 c2 u + 3 c3 u^2 = 0
    const double d = c[2] * c[2] - 3 * c[1] * c[3];
    const double q = -(c[2] + std::copysign(std::sqrt(std::max(d, 0.0)), c[2]));
    take(q / (3 * c[3]));
    if (q != 0) take(c[1] / q);
  } else if (c[2] != 0) {
    take(-c[1] / (2 * c[2]));
  }
  if (c[1] == 0 && c[2] == 0 && c[3] == 0) return all;  // a constant is one exactly
  return {all.low - cubic_rounding * largest, all.high + cubic_rounding * largest};
}

void check_points(std::span<const double> x, std::span<const double> y, Interpolation kind, Beyond beyond) {
  if (x.size() != y.size() || x.size() < 2) throw InputError("a table needs at least two points, each with x and y");
  if (x.size() > Table::most_knots)
    throw InputError(fmt::format("a table has at most {} points, not {}", Table::most_knots, x.size()));
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!std::isfinite(x[k]) || !std::isfinite(y[k])) throw InputError(fmt::format("point {} is not finite", k));
    if (k == 0) continue;
    if (!(x[k] > x[k - 1]))
      throw InputError(
          fmt::format("x has to rise from point to point, but point {} has x = {:g} after {:g}", k, x[k], x[k - 1]));
    if (!std::isfinite((y[k] - y[k - 1]) / (x[k] - x[k - 1])))
      throw InputError(
          fmt::format("points {} and {} are so near to each other that the slope between is infinite", k - 1, k));
  }
  if (beyond == Beyond::periodic && kind != Interpolation::previous && y.front() != y.back())
    throw InputError(
        fmt::format("a periodic table ends where it begins, but y is {:g} first and {:g} last; add a last point one "
                    "period after the first, with the same y",
                    y.front(), y.back()));
}

}  // namespace

std::shared_ptr<const Table> Table::through(std::string name, std::span<const double> x, std::span<const double> y,
                                            Interpolation kind, Beyond beyond, SplineEnds ends) {
  check_points(x, y, kind, beyond);
  const std::size_t n = x.size() - 1;
  const bool periodic = beyond == Beyond::periodic;
  std::vector<double> h(n), s(n), m;
  for (std::size_t k = 0; k < n; ++k) {
    h[k] = x[k + 1] - x[k];
    s[k] = (y[k + 1] - y[k]) / h[k];
  }
  if (kind == Interpolation::cubic) m = periodic ? periodic_slopes(h, s) : spline_slopes(h, s, ends);
  if (kind == Interpolation::monotone) m = monotone_slopes(h, s, periodic);
  std::vector<Cubic> pieces{{y[0], 0, 0, 0}};
  for (std::size_t k = 0; k < n; ++k) switch (kind) {
      case Interpolation::previous: pieces.push_back({y[k], 0, 0, 0}); break;
      case Interpolation::linear: pieces.push_back({y[k], s[k], 0, 0}); break;
      default: pieces.push_back(hermite(h[k], y[k], y[k + 1], m[k], m[k + 1]));
    }
  const Cubic last = pieces.back();
  pieces.push_back({y[n], 0, 0, 0});
  const bool steps = kind == Interpolation::previous;
  if (beyond == Beyond::linear && !steps) {
    pieces.front()[1] = pieces[1][1];
    pieces.back()[1] = slope(last, h[n - 1]);
  } else if (beyond == Beyond::error && !steps) {  // the last knot itself belongs to it
    pieces.back() = {y[n], slope(last, h[n - 1]), last[2] + 3 * last[3] * h[n - 1], last[3]};
  }
  std::vector<double> knots(x.begin(), x.end());
  const auto wave = make_wave(knots, beyond);
  return std::shared_ptr<const Table>(new Table(std::move(name), std::move(knots), std::move(pieces), beyond, 0, wave));
}

const std::shared_ptr<const Table>& Table::floor() {
  static const std::shared_ptr<const Table> table(
      new Table("floor", {0, 1}, std::vector<Cubic>(3), Beyond::periodic, 1, make_wave({0, 1}, Beyond::periodic)));
  return table;
}

Table::Table(std::string name, std::vector<double> knots, std::vector<Cubic> pieces, Beyond beyond, double rise,
             std::shared_ptr<const Table> wave)
    : name_(std::move(name)),
      knots_(std::move(knots)),
      pieces_(std::move(pieces)),
      beyond_(beyond),
      rise_(rise),
      wave_(std::move(wave)) {
  Interval all{infinity, -infinity};
  for (long k = 0; k < count(); ++k) {
    bounds_.push_back(bounds_on(at(k), 0, knot(k + 1) - knot(k)));
    all = hull(all, bounds_.back());
  }
  bounds_.push_back(all);
  const double tiny = 1e-9 * std::max(std::abs(all.low), std::abs(all.high));
  const auto end = [&](long k) { return horner(at(k), knot(k + 1) - knot(k)); };
  for (long k = 0; k + 1 < count(); ++k) jumps_ = jumps_ || std::abs(end(k) - at(k + 1)[0]) > tiny;
  const double next = beyond_ == Beyond::periodic ? at(0)[0] + rise_ : at(count())[0];
  jumps_ = jumps_ || std::abs(end(count() - 1) - next) > tiny;
  jumps_ = jumps_ || (beyond_ != Beyond::periodic && std::abs(at(-1)[0] - at(0)[0]) > tiny);
  std::vector<Cubic> slopes;
  bool zero = true;
  for (const Cubic& c : pieces_) {
    slopes.push_back({c[1], 2 * c[2], 3 * c[3], 0});
    zero = zero && c[1] == 0 && c[2] == 0 && c[3] == 0;
  }
  if (!zero) derivative_.reset(new Table(name_ + "'", knots_, std::move(slopes), beyond_, 0, wave_));
}

// How many whole periods x is away.
double Table::turns(double x) const {
  if (beyond_ != Beyond::periodic) return 0;
  double n = std::floor((x - knots_.front()) / period());
  if (x - n * period() < knots_.front()) --n;  // the quotient was rounded up
  return n;
}

double Table::operator()(double x) const {
  if (std::isnan(x)) return x;
  double n = 0;
  if (beyond_ == Beyond::periodic) {
    if (!std::isfinite(x)) return NAN;
    n = turns(x);
    x = std::min(x - n * period(), knots_.back());
  } else if (x < knots_.front()) {
    return ends() ? NAN : horner(at(-1), x - knots_.front());
  } else if (x >= knots_.back()) {
    return ends() && x > knots_.back() ? NAN : horner(at(count()), x - knots_.back());
  }
  const long k = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, x) - knots_.begin() - 1;
  return horner(at(k), x - knot(k)) + n * rise_;
}

long Table::piece(double x) const {
  if (!std::isfinite(x)) return std::signbit(x) ? -1 : 0;
  const double n = turns(x);
  x -= n * period();
  long k = std::upper_bound(knots_.begin(), knots_.end(), x) - knots_.begin() - 1;
  if (beyond_ != Beyond::periodic) return k;
  k = std::min(k, count() - 1);
  const double far = 1e18 / static_cast<double>(count() + 1);
  return k + count() * static_cast<long>(std::clamp(n, -far, far));
}

Interval Table::piece_range(long piece) const {
  if (beyond_ == Beyond::periodic) {
    const long turn = piece >= 0 ? piece / count() : -((-piece + count() - 1) / count()), k = piece - turn * count();
    const double from = static_cast<double>(turn) * period();
    return {knot(k) + from, knot(k + 1) + from};
  }
  return {piece < 0 ? -infinity : knot(piece), piece < count() ? knot(piece + 1) : infinity};
}

Table::Cubic Table::polynomial(long piece, double& origin) const {
  const Interval range = piece_range(piece);
  origin = std::isfinite(range.low) ? range.low : range.high;
  if (beyond_ != Beyond::periodic) return at(piece);
  const long turn = piece >= 0 ? piece / count() : -((-piece + count() - 1) / count());
  Cubic c = at(piece - turn * count());
  c[0] += static_cast<double>(turn) * rise_;
  return c;
}

Interval Table::bounds(Interval x) const {
  if (!(x.low <= x.high) || (ends() && (x.low < knots_.front() || x.high > knots_.back())))
    return {-infinity, infinity};
  if (beyond_ == Beyond::periodic && !(x.width() < period())) {
    if (rise_ == 0 || !std::isfinite(x.width())) return rise_ == 0 ? bounds_.back() : Interval{-infinity, infinity};
    return {bounds_.back().low + rise_ * turns(x.low), bounds_.back().high + rise_ * turns(x.high)};
  }
  if (beyond_ == Beyond::periodic) {  // x - n period is rounded
    const double slack = cubic_rounding * std::max(std::abs(x.low), std::abs(x.high));
    x = {x.low - slack, x.high + slack};
  }
  const long first = piece(x.low), last = piece(x.high);
  Interval all{infinity, -infinity};
  for (long k = first; k <= last; ++k) {
    const Interval range = piece_range(k);
    if (beyond_ != Beyond::periodic && k > first && k < last) {
      all = hull(all, bounds_[static_cast<std::size_t>(k)]);
      continue;
    }
    double origin = 0;
    const Cubic c = polynomial(k, origin);
    all = hull(all, bounds_on(c, std::max(x.low, range.low) - origin, std::min(x.high, range.high) - origin));
  }
  return all;
}

Interval Table::slopes(Interval x) const {
  if (!(x.low <= x.high) || (jumps_ && piece(x.low) != piece(x.high))) return {-infinity, infinity};
  return derivative_ ? derivative_->bounds(x) : Interval{0, 0};
}

std::shared_ptr<const Table> Table::make_wave(const std::vector<double>& given, Beyond beyond) {
  std::vector<double> knots = given;
  const bool periodic = beyond == Beyond::periodic;
  if (periodic)  // an even number of pieces
    for (std::size_t k = 1; k < given.size(); ++k) knots.push_back(given[k] + (given.back() - given.front()));
  const auto width = [&](std::size_t k) { return knots[k + 1] - knots[k]; };
  std::vector<Cubic> pieces{{0, width(0), 0, 0}};
  double sign = 1;
  for (std::size_t k = 0; k + 1 < knots.size(); ++k, sign = -sign) pieces.push_back({0, sign * width(k), -sign, 0});
  pieces.push_back({0, sign * width(knots.size() - 2), 0, 0});
  return std::shared_ptr<const Table>(
      new Table("knots", std::move(knots), std::move(pieces), periodic ? beyond : Beyond::linear, 0, nullptr));
}

}  // namespace hinge
