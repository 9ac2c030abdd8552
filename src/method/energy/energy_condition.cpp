// Condition numbers of the matrices that energy-momentum steps are solved with, in their full form:
//
//   rows times h          [ I    -h/2 M^-1    0      ]      unknowns q1, p1, lambda; K is the derivative by q1 of the
//                         [ h K   I           h Gm^T ]      discrete forces, with the penalty in it: of a quadratic
//                         [ G1    0           0      ]      U half its second derivative. Gm at the middle, G1 at the
//                                                           end of the step
//
//   as printed            the first two rows divided by h
//   multiplier times h    the last column divided by h
//
// Without multipliers the last row and column are missing. Steps themselves are solved with p1 eliminated.
#include <cmath>

#include <fmt/format.h>

#include "formulation/energy_step.hpp"
#include "hinge/error.hpp"
#include "method/energy/energy_momentum.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Treatment = ConstraintTreatment;

// All singular values are computed.
constexpr int most_rows = 3000;

double condition_of(const Eigen::MatrixXd& matrix) {
  const Eigen::VectorXd s = singular_values(matrix);
  return s[0] / s[s.size() - 1];
}

// The matrix that is left when unknown k is eliminated by equation k, which contains it with the factor 1.
Eigen::MatrixXd without(const Eigen::MatrixXd& matrix, Eigen::Index k) {
  const Eigen::MatrixXd reduced = matrix - matrix.col(k) * matrix.row(k);
  std::vector<Eigen::Index> others;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    if (i != k) others.push_back(i);
  return reduced(others, others);
}

}  // namespace

double iteration_matrix_condition(std::shared_ptr<const System> system, const EnergyMomentumOptions& options,
                                  const State& start, double h, MatrixScaling scaling, const SolverOptions& solver) {
  const ConstantMassForm form = constant_mass_form(*system, "energy-momentum");
  const EnergyStep full = full_energy_step(form, options.constraints, options.general);
  if (full.unknowns > most_rows)
    throw InputError(
        fmt::format("the iteration matrix has {} rows; its condition number is computed up to {}, leave it away",
                    full.unknowns, most_rows));
  EnergyMomentumOptions plain = options;
  plain.project_velocity = false;
  State end = start;
  if (const StepResult result = make_energy_momentum(system, plain, solver)->step(end, h); !result)
    throw StepFailure(result.reason, start.t);

  const auto n = static_cast<std::size_t>(form.n), m = static_cast<std::size_t>(form.m);
  const auto evaluation = system->evaluation({Q::momentum, Q::constraint});
  const auto look = [&](const State& at, std::vector<double>& p, std::vector<double>& g) {
    evaluation->at(at.t, at.y.data(), at.z.data(), at.psi.data());
    p.assign((*evaluation)[Q::momentum], (*evaluation)[Q::momentum] + n);
    g.assign((*evaluation)[Q::constraint], (*evaluation)[Q::constraint] + m);
  };
  std::vector<double> p0, g0, p1, g1, lam_k(m), unknown;
  look(start, p0, g0);
  look(end, p1, g1);
  for (std::size_t i = 0; i < m; ++i)  // what was given in the last solution of the augmented kind
    lam_k[i] = end.psi[i] - options.penalty * (options.general ? 2 * g1[i] : g0[i] + g1[i]);
  for (std::size_t k = 0; k < n; ++k) unknown.push_back(end.y[k] - start.y[k]);
  for (std::size_t k = 0; k < n; ++k) unknown.push_back(p1[k] - p0[k]);
  const bool multiplier = options.constraints == Treatment::multiplier;
  if (full.explicit_unknown >= 0) unknown.push_back(0);
  if (multiplier) unknown.insert(unknown.end(), end.psi.begin(), end.psi.end());

  const double* const inputs[EnergyStep::inputs] = {&h,        &options.penalty, &start.t,     start.y.data(),
                                                    p0.data(), g0.data(),        lam_k.data(), unknown.data()};
  std::vector<double> scratch = full.residual_and_matrix->make_scratch();
  const double* const out = scratch.data() + full.residual_and_matrix->first_output();
  full.residual_and_matrix->evaluate(inputs, scratch.data());
  const int s = full.explicit_unknown;
  if (s >= 0) {
    unknown[static_cast<std::size_t>(s)] -= out[s];
    full.residual_and_matrix->evaluate(inputs, scratch.data());
  }
  const double* entries = out + full.unknowns;
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(full.unknowns, full.unknowns);
  for (int i = 0; i < full.unknowns; ++i)
    for (int k = full.pattern.row_start[static_cast<std::size_t>(i)];
         k < full.pattern.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      matrix(i, full.pattern.column[static_cast<std::size_t>(k)]) = entries[k];
  if (s >= 0) matrix = without(matrix, s);
  if (scaling == MatrixScaling::as_printed) matrix.topRows(2 * form.n) /= h;
  if (scaling == MatrixScaling::multiplier_times_h && multiplier) matrix.rightCols(form.m) /= h;
  return condition_of(matrix);
}

}  // namespace hinge
