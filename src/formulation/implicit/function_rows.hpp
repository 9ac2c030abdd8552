// The formulations of a system whose equations are functions: rows from its evaluations, as numbers at a point, and
// F_x, F_x' by differences of sixth order, dense.
#pragma once

#include <span>

#include "formulation/implicit/implicit_rows.hpp"
#include "system/difference.hpp"

namespace hinge {

/// The algebra of numbers: vectors are spans, whose memory is used again at the next point.
class NumberForm {
 public:
  using Values = std::span<const double>;
  explicit NumberForm(std::shared_ptr<const System> system);

  /// The next equations are those at this point.
  void at(double t, const double* x, const double* rate, double* out);
  /// The equations have been written once: what they contain is known, and can be evaluated.
  void finish();
  std::vector<ImplicitProblem::Unknown> unknowns;
  std::vector<int> row_scale;

  std::size_t constraints() const { return static_cast<std::size_t>(system_->ng()); }
  std::size_t velocity_constraints() const { return static_cast<std::size_t>(system_->nw()); }
  std::size_t velocities() const { return static_cast<std::size_t>(system_->nz()); }
  void y(ImplicitProblem::Unknown kind);
  void z(ImplicitProblem::Unknown kind);
  void psi(ImplicitProblem::Unknown kind);
  Values further(const char* name, std::size_t count, ImplicitProblem::Unknown kind);
  void row(Values values, int scale);

  Values y_rate() const { return {rate_, static_cast<std::size_t>(system_->ny())}; }
  Values z_rate() const { return {rate_ + system_->ny(), velocities()}; }
  Values velocity() { return value(Quantity::velocity); }
  Values force() { return value(Quantity::acceleration_force); }
  Values reaction() { return value(Quantity::reaction); }
  Values rate() { return value(Quantity::constraint_rate); }
  Values curvature() { return value(Quantity::constraint_curvature); }
  Values constraint() { return value(Quantity::constraint); }
  Values velocity_constraint() { return value(Quantity::constraint_rate).subspan(constraints()); }
  Values mass_times(Values a) { return times(Quantity::momentum_z, a); }
  Values c_times(Values a) { return times(Quantity::constraint_rate_z, a); }
  Values reaction_psi_times(Values w) { return times(Quantity::reaction_psi, w); }
  Values g_transposed_times(Values w) { return transposed_times(Quantity::constraint_y, w); }
  Values l_transposed_times(Values w) { return transposed_times(Quantity::constraint_rate_y, w); }
  Values c_transposed_times(Values w) { return transposed_times(Quantity::constraint_rate_z, w); }
  Values sum(Values x, Values y);
  Values difference(Values x, Values y);
  Values scaled(double factor, Values x);
  Values with_zeros(Values x, std::size_t size);

 private:
  std::span<double> fresh(std::size_t size);
  Values value(Quantity q);
  Values times(Quantity q, Values x);
  Values transposed_times(Quantity q, Values w);
  void evaluate();

  std::shared_ptr<const System> system_;
  Quantities wanted_{};
  std::unique_ptr<Evaluation> evaluation_;
  bool complete_ = false;   // are all quantities known that the equations contain?
  bool evaluated_ = false;  // at this point
  double t_ = 0;
  const double *x_ = nullptr, *rate_ = nullptr, *psi_ = nullptr;
  double* out_ = nullptr;
  std::size_t place_ = 0;      // in x
  std::vector<double> point_;  // t, y, z, psi of the last evaluation
  std::vector<std::vector<double>> memory_;
  std::size_t used_ = 0;
};

class FunctionRows final : public ImplicitRows {
 public:
  FunctionRows(std::shared_ptr<const System> system, const FormulationOptions& options, Correction correction);
  void residual(double t, const double* x, const double* rate, double* out) override;
  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override;
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override;

 private:
  FormulationOptions options_;
  Correction correction_;
  NumberForm form_;
  Difference difference_;
  std::vector<double> x_, rate_, column_;
};

}  // namespace hinge
