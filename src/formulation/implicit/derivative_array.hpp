// The derivative array of a DAE: its equations and their derivatives, F_i^(k) = 0 for k = 0..c_i, in the unknowns
// X = (x_j^(k), k = 0..d_j). All hidden constraints are among them; as many unknowns are left free as there are degrees
// of freedom.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "formulation/implicit/dae_structure.hpp"

namespace hinge {

class DerivativeArray {
 public:
  explicit DerivativeArray(DaeStructure& structure);

  struct Place {
    int unknown, order;
  };
  struct Row {
    int equation, order;
  };
  const std::vector<Place>& places() const { return places_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// Where x_j stands in X; its derivatives follow.
  int first(int j) const { return first_[static_cast<std::size_t>(j)]; }
  /// Highest derivative of x_j in X.
  int highest(int j) const { return first(j + 1) - first(j) - 1; }
  int size() const { return static_cast<int>(places_.size()); }
  int unknowns() const { return static_cast<int>(first_.size()) - 1; }
  const Pattern& pattern() const { return pattern_; }

  void residual(double t, const double* x, double* out);
  /// Derivatives by X, in the order of the pattern.
  void jacobian(double t, const double* x, double* out);

  /// Solves for the X nearest to what it is, with entries marked in `keep` as they are: minimises
  /// sum ((X - X0) / scale)^2. False where the equations still do not hold afterwards. `nearby`: they nearly do, so
  /// that a few iterations are enough, and the rank is full.
  bool solve(double t, std::vector<double>& x, const std::vector<char>& keep, const std::vector<double>& scale,
             bool nearby = false);
  /// A scale for solve() where a state is shown: what is integrated stays, but for what constraints ask of it and for
  /// so little that nobody can see it in x, where a stiff equation would make much of that in x'.
  static double shown_scale(double x, bool integrated) { return (1e-3 + std::abs(x)) * (integrated ? 1 : 1e4); }
  /// Rows that do not hold, beyond rounding of typed numbers, and by how much.
  struct Violation {
    int row;
    double amount;
  };
  std::vector<Violation> violations(double t, const double* x);
  /// X', from one more differentiation. False where it is not determined.
  bool rates(double t, const double* x, double* out, bool nearby = false);
  /// x and x' given: the higher derivatives, and all x'. False where x is not consistent.
  bool complete(double t, const double* y, const double* z, std::vector<double>& x, std::vector<double>& rate);

 private:
  double row_size(int i, const double* values, const double* x, double largest) const;
  double largest_of(const double* x) const;

  std::vector<Place> places_;
  std::vector<Row> rows_;
  std::vector<int> first_;
  Pattern pattern_;
  std::unique_ptr<Evaluator> function_, derivative_, by_time_;
  std::vector<double> function_scratch_, derivative_scratch_, time_scratch_;
  std::vector<double> f_, f_x_;
};

}  // namespace hinge
