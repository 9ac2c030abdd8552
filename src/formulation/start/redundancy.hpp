// Constraints that follow from others, not only at one position but along the motion: which are kept, and the
// multipliers of all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formulation/fewer_rows.hpp"
#include "formulation/start/scaled_rows.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// The constraints that a motion from y is to be computed with; all where they are independent. `closed` is set to a
/// position where all of them hold, from which the others follow from those kept; empty where nothing is left out.
/// Throws RedundantConstraints where they are dependent at this position only, or contradict each other, and where
/// dependent ones stand beside velocity constraints or are such.
RowChoice independent_rows(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z,
                           std::vector<double>* closed = nullptr);

/// "3 of 20 constraints follow from the others: ...": what a user should know.
std::string describe_redundancy(const System& system, const RowChoice& choice, double t, const double* y);

/// The multipliers of all rows from those of the kept ones, and how far the kept ones still explain the others:
///
///   G_D = X G_I,    psi = (mu - X^T a, a),    sum_i (|G_i c| psi_i)^2 least
///
/// where mu are the multipliers of the kept rows. G^T psi is the same for all a: forces on bodies are unique, their
/// split among dependent rows is not. The norm is that of the force of each row in the metric of the inverse masses.
class MultiplierSpread {
 public:
  MultiplierSpread(const System& system, const RowChoice& choice);
  /// Looks at the rows of a position. False where the kept ones are dependent there.
  bool at(double t, const double* y, const double* z);
  /// Multipliers of all rows from those of the kept ones; the position is that of the last at(), where it was true.
  void expand(const std::vector<double>& kept, std::vector<double>& all) const;
  /// The other way round.
  void collect(const std::vector<double>& all, std::vector<double>& kept) const;
  /// Row `left_out[d]` as a sum of the kept ones, as they are written.
  std::vector<double> combination(std::size_t d) const;
  /// The largest |X|, in units of the rows: exchanging its row for a kept one makes their volume larger by this.
  double largest() const { return largest_; }
  /// The kept row and the other one that it belongs to.
  int worst_kept() const { return worst_kept_; }
  int worst_left_out() const { return worst_left_out_; }
  /// |g_i| as a change of coordinates, by the gradient at the last at().
  double in_units_of_position(int row, double g) const;
  /// Sine of the largest angle between a row that was left out and the kept ones.
  double apart() const { return apart_; }
  int row_apart() const { return row_apart_; }

 private:
  const RowChoice& choice_;
  ScaledRows rows_;
  RowGram gram_;
  bool known_ = false;
  std::vector<double> x_;  // X in scaled units, a row for each that was left out
  std::vector<double> row_;
  std::unique_ptr<LinearSolver> small_;
  mutable std::vector<double> matrix_, a_;
  double largest_ = 0, apart_ = 0;
  int worst_kept_ = 0, worst_left_out_ = 0, row_apart_ = -1;
};

/// The last digits of a motion that kept rows determine: the least change that brings all rows, those left out too, to
/// rounding. Kept rows magnify the rounding of the others where they are nearly dependent.
class RowPolish {
 public:
  explicit RowPolish(const System& system);
  /// For velocities that are z, and for bodies; others are left as they are.
  void polish(double t, std::vector<double>& y, std::vector<double>& z);

 private:
  void correct(const double* residual);
  bool able_;
  ScaledRows rows_;
  RowGram gram_;
  std::unique_ptr<Evaluation> rate_;
  std::vector<double> r_, u_, next_, psi_;
};

}  // namespace hinge
