#include "formulation/dae_problem.hpp"

#include <algorithm>

#include "expression/derivative.hpp"
#include "formulation/symbolic_problem.hpp"

namespace hinge {

namespace {

// Rows with x' are multiplied with h, so that  h F_x + (c h) F_x'  has an entry that does not grow as h shrinks.
SymbolicRows rows_of(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  SymbolicRows rows{eq.graph, eq.t, {}, {}, {}, {}, {}};
  rows.add_unknowns(eq.y, eq.z, {});
  const SparseExpressions by_rate = jacobian(*eq.graph, eq.residual, eq.z);
  for (std::size_t i = 0; i < eq.residual.size(); ++i)
    rows.add_rows(std::span(&eq.residual[i], 1), by_rate.row_start[i + 1] > by_rate.row_start[i] ? 1 : 0);
  return rows;
}

class DaeProblem final : public ImplicitProblem {
 public:
  explicit DaeProblem(const SymbolicRows& rows) : compiled_(rows) {
    unknowns_ = rows.unknowns;
    row_scale_ = rows.row_scale;
    pattern_ = compiled_.pattern();
  }
  void residual(double t, const double* x, const double* rate, double* out) override {
    compiled_.residual(t, x, rate, out);
  }
  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override {
    compiled_.residuals(count, t, x, rate, out);
  }
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override {
    compiled_.jacobian(t, x, rate, f_x, f_rate);
  }
  bool rate_matrix_is_constant() const override { return compiled_.rate_matrix_is_constant(); }
  bool from_state(const State& state, double* x, double* rate) override {
    std::copy(state.y.begin(), state.y.end(), x);
    std::copy(state.z.begin(), state.z.end(), rate);
    return true;
  }
  void to_state(double t, const double* x, const double* rate, State& state) const override {
    state.t = t;
    std::copy_n(x, state.y.size(), state.y.begin());
    std::copy_n(rate, state.z.size(), state.z.begin());
  }

 private:
  CompiledRows compiled_;
};

}  // namespace

std::unique_ptr<ImplicitProblem> make_dae_problem(std::shared_ptr<const SymbolicSystem> system) {
  return std::make_unique<DaeProblem>(rows_of(*system));
}

}  // namespace hinge
