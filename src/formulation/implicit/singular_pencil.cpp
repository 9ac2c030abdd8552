// Is there no c at all for which F_x + c F_x' is regular? Then no method can solve for the unknowns.
#include <cmath>

#include <fmt/format.h>

#include "formulation/implicit/dae_structure.hpp"
#include "formulation/implicit/symbolic_problem.hpp"
#include "formulation/implicit/system_jacobian.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

namespace {

constexpr int largest_dense_pencil = 500;
const double factors[] = {1.37, -0.71, 253.0, 1.9e-3, 4.1e7};

}  // namespace

void refuse_singular_pencil(const SymbolicSystem& system, const State& point) {
  const Equations& eq = system.equations();
  CompiledRows compiled(SymbolicRows::of_dae(eq));
  const Pattern& p = compiled.pattern();
  std::vector<double> f_x(p.entries()), f_rate(p.entries()), sum(p.entries());
  compiled.jacobian(point.t, point.y.data(), point.z.data(), f_x.data(), f_rate.data());
  for (std::size_t k = 0; k < p.entries(); ++k)
    if (!std::isfinite(f_x[k]) || !std::isfinite(f_rate[k])) return;  // another complaint names this
  std::vector<Eigen::VectorXd> left, right;
  for (const double c : factors) {
    for (std::size_t k = 0; k < p.entries(); ++k) sum[k] = f_x[k] + c * f_rate[k];
    if (p.rows > largest_dense_pencil) {
      if (make_linear_solver(p, LinearAlgebra::sparse)->factor(sum.data())) return;
      continue;
    }
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p.rows, p.columns);
    for (int i = 0; i < p.rows; ++i)
      for (auto k = static_cast<std::size_t>(p.row_start[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(p.row_start[static_cast<std::size_t>(i) + 1]); ++k)
        a(i, p.column[k]) = sum[k];
    left = left_kernel(a);
    if (left.empty()) return;
    right = left_kernel(a.transpose());
  }
  std::string equations, unknowns;
  const auto add = [](std::string& text, const std::string& name) { text += (text.empty() ? "" : ", ") + name; };
  if (!left.empty())
    for (Eigen::Index i = 0; i < left[0].size(); ++i)
      if (std::abs(left[0][i]) > 1e-6) add(equations, eq.residual_names[static_cast<std::size_t>(i)]);
  if (!right.empty())
    for (Eigen::Index i = 0; i < right[0].size(); ++i)
      if (std::abs(right[0][i]) > 1e-6) add(unknowns, system.layout().y_name(static_cast<int>(i)));
  throw SingularDae(fmt::format(
      "the DAE is numerically singular at the initial values: F_x + c F_x' has no inverse for any c{}{}; an equation "
      "may repeat others (remove or change it), or the initial values may lie at a singular point (start elsewhere)",
      equations.empty() ? "" : fmt::format(". The equations {} depend on each other there", equations),
      unknowns.empty() ? "" : fmt::format(", and the unknowns {} are not determined", unknowns)));
}

}  // namespace hinge
