// Functions of one variable that are made of polynomials between knots x_0 < x_1 < ... < x_n:
//
//   f(x) = sum_j c_kj (x - x_k)^j   for x_k <= x < x_{k+1}
//
// `linear`: straight lines. `previous`: steps, f(x) = y_k. `cubic`: the spline with two continuous derivatives, natural
// (f'' = 0 at both ends) or not-a-knot (f''' continuous at the second and last but one). `monotone`: cubics with one
// continuous derivative that rise and fall where the points do (Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980)
// 238-246; slopes by the weighted harmonic mean of Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300-304).
// A derivative is a table with the same knots; floor() is one, too.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hinge {

/// Bounds of a number.
struct Interval {
  double low = 0, high = 0;
  bool contains(double x) const { return low <= x && x <= high; }
  double width() const { return high - low; }
};
/// The least interval around both.
constexpr Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

enum class Interpolation { linear, cubic, monotone, previous };
/// What a table does before its first and after its last knot. `error`: it is not a number there.
enum class Beyond { error, constant, linear, periodic };
enum class SplineEnds { natural, not_a_knot };

class Table {
 public:
  static constexpr std::size_t most_knots = 100'000;
  using Cubic = std::array<double, 4>;  // c_k0, ..., c_k3

  /// Through points, in ascending order of x. Periodic ones begin again at the last point, whose y is that of the
  /// first. Throws InputError with the number of the point that does not fit.
  static std::shared_ptr<const Table> through(std::string name, std::span<const double> x, std::span<const double> y,
                                              Interpolation kind, Beyond beyond, SplineEnds ends = SplineEnds::natural);
  /// The largest whole number that is not larger.
  static const std::shared_ptr<const Table>& floor();

  const std::string& name() const { return name_; }
  Interval range() const { return {knots_.front(), knots_.back()}; }
  /// Is it not a number outside of this range?
  bool ends() const { return beyond_ == Beyond::error; }
  double operator()(double x) const;
  /// Null where it is zero.
  const std::shared_ptr<const Table>& derivative() const { return derivative_; }
  /// Which polynomial is used at x: 0, 1, ... between the knots, -1 before them; periodic ones count on.
  long piece(double x) const;
  /// Where a piece begins and ends; infinite where it does not.
  Interval piece_range(long piece) const;
  /// Its polynomial in x - origin.
  Cubic polynomial(long piece, double& origin) const;

  /// Bounds of the values on an interval.
  Interval bounds(Interval x) const;
  /// Of the difference quotients there: infinite where it may jump.
  Interval slopes(Interval x) const;
  /// A function with the same knots that changes its sign at each of them and nowhere else. One for a table and all its
  /// derivatives.
  const std::shared_ptr<const Table>& wave() const { return wave_; }

 private:
  Table(std::string name, std::vector<double> knots, std::vector<Cubic> pieces, Beyond beyond, double rise,
        std::shared_ptr<const Table> wave);
  static std::shared_ptr<const Table> make_wave(const std::vector<double>& knots, Beyond beyond);
  long count() const { return static_cast<long>(knots_.size()) - 1; }  // of pieces between the knots
  double period() const { return knots_.back() - knots_.front(); }
  const Cubic& at(long piece) const { return pieces_[static_cast<std::size_t>(piece + 1)]; }
  double knot(long k) const { return knots_[static_cast<std::size_t>(k)]; }
  double turns(double x) const;

  std::string name_;
  std::vector<double> knots_;
  std::vector<Cubic> pieces_;     // before the first knot (in x - x_0), between the knots, after the last one
  std::vector<Interval> bounds_;  // of those between the knots, and of all of them together
  Beyond beyond_;
  double rise_;  // in a period
  bool jumps_ = false;
  std::shared_ptr<const Table> derivative_, wave_;
};

}  // namespace hinge
