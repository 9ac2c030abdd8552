// A system in a formulation, as an implicit problem.
#include <algorithm>

#include <fmt/format.h>

#include "formulation/acceleration.hpp"
#include "formulation/implicit/chart.hpp"
#include "formulation/implicit/dae_problem.hpp"
#include "formulation/implicit/function_dae.hpp"
#include "formulation/implicit/implicit_problem.hpp"
#include "formulation/implicit/mechanical_forms.hpp"
#include "formulation/implicit/moving_problem.hpp"
#include "hinge/error.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

namespace {

// Unknowns begin with y and z; where psi and w stand, if anywhere, is told.
class MechanicalProblem : public ImplicitProblem {
 public:
  MechanicalProblem(std::shared_ptr<const System> system, std::unique_ptr<ImplicitRows> rows, int psi_at, int w_at,
                    Shape shape = {})
      : system_(std::move(system)),
        rows_(std::move(rows)),
        acceleration_(system_),
        psi_at_(psi_at),
        w_at_(w_at),
        shape_(shape) {
    unknowns_ = rows_->unknowns();
    row_scale_ = rows_->row_scale();
    pattern_ = rows_->pattern();
    v_.resize(static_cast<std::size_t>(system_->ny()));
    a_.resize(static_cast<std::size_t>(system_->nz()));
  }

  void residual(double t, const double* x, const double* rate, double* out) override {
    rows_->residual(t, x, rate, out);
  }
  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override {
    rows_->residuals(count, t, x, rate, out);
  }
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override {
    rows_->jacobian(t, x, rate, f_x, f_rate);
  }
  void add_rounding(double t, const double* x, const double* rate, double* out) override {
    rows_->add_rounding(t, x, rate, out);
  }
  bool rate_matrix_is_constant() const override { return rows_->rate_matrix_is_constant(); }
  Shape projected_invariants() const override { return shape_; }

  bool from_state(const State& state, double* x, double* rate) override {
    const int ny = system_->ny(), nz = system_->nz();
    psi_ = state.psi;
    if (!acceleration_.compute(state.t, state.y.data(), state.z.data(), psi_.data(), v_.data(), a_.data()))
      return false;
    std::fill_n(x, size(), 0.0);
    std::fill_n(rate, size(), 0.0);
    std::copy(state.y.begin(), state.y.end(), x);
    std::copy(state.z.begin(), state.z.end(), x + ny);
    std::copy(psi_.begin(), psi_.end(), x + psi_at_);
    if (w_at_ >= 0) std::copy(a_.begin(), a_.end(), x + w_at_);
    std::copy(v_.begin(), v_.end(), rate);
    std::copy_n(a_.begin(), nz, rate + ny);
    return true;
  }

  void to_state(double t, const double* x, const double*, State& state) const override {
    state.t = t;
    std::copy_n(x, state.y.size(), state.y.begin());
    std::copy_n(x + state.y.size(), state.z.size(), state.z.begin());
    std::copy_n(x + psi_at_, state.psi.size(), state.psi.begin());
  }

 protected:
  std::shared_ptr<const System> system_;
  std::unique_ptr<ImplicitRows> rows_;

 private:
  Acceleration acceleration_;
  std::vector<double> v_, a_, psi_;
  int psi_at_, w_at_;
  Shape shape_;
};

// y' = v and z' = w for the coordinates of a chart only: rows A^T (y' - v), A_z^T (z' - w), and the rest as it is.
class ChartProblem final : public MechanicalProblem {
 public:
  ChartProblem(std::shared_ptr<const System> system, std::unique_ptr<ImplicitRows> rows, std::unique_ptr<Chart> chart)
      : MechanicalProblem(system, std::move(rows), 2 * system->nz() + system->ny(), system->ny() + system->nz()),
        chart_(std::move(chart)) {
    full_.resize(static_cast<std::size_t>(rows_->pattern().rows));
    inner_x_.resize(rows_->pattern().entries());
    inner_rate_.resize(rows_->pattern().entries());
  }

  bool from_state(const State& state, double* x, double* rate) override {
    if (!MechanicalProblem::from_state(state, x, rate)) return false;
    if (!chart_->choose(state.t, x, x + system_->ny())) return false;
    rebuild();
    return true;
  }

  Change accepted(double t, const double* x) override {
    const Chart::Change change = chart_->follow(t, x, x + system_->ny());
    if (change == Chart::Change::none) return Change::none;
    if (change == Chart::Change::values) return Change::values;
    rebuild();
    return Change::pattern;
  }

  void residual(double t, const double* x, const double* rate, double* out) override {
    rows_->residual(t, x, rate, full_.data());
    const int m = system_->ng(), free_y = system_->ny() - m, free_z = system_->nz() - m;
    std::fill_n(out, free_y + free_z, 0.0);
    multiply_add(chart_->y_pattern(), chart_->y_values(), full_.data(), 1.0, out);
    multiply_add(chart_->z_pattern(), chart_->z_values(), full_.data() + system_->ny(), 1.0, out + free_y);
    std::copy(full_.begin() + system_->ny() + system_->nz(), full_.end(), out + free_y + free_z);
  }

  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override {
    ImplicitProblem::residuals(count, t, x, rate, out);
  }
  void add_rounding(double, const double*, const double*, double*) override {}  // of the rows of a chart: not known

  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override {
    rows_->jacobian(t, x, rate, inner_x_.data(), inner_rate_.data());
    for (const auto& [inner, outer] : {std::pair{inner_x_.data(), f_x}, std::pair{inner_rate_.data(), f_rate}}) {
      y_product_.multiply(chart_->y_values(), inner, outer);
      z_product_.multiply(chart_->z_values(), inner + z_entries_, outer + y_product_.pattern().entries());
      std::copy(inner + rest_entries_, inner + static_cast<std::ptrdiff_t>(rows_->pattern().entries()),
                outer + y_product_.pattern().entries() + z_product_.pattern().entries());
    }
  }

 private:
  static void append(Pattern& p, const Pattern& more) {
    for (int i = 0; i < more.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      p.column.insert(p.column.end(), more.column.begin() + more.row_start[at],
                      more.column.begin() + more.row_start[at + 1]);
      p.row_start.push_back(static_cast<int>(p.column.size()));
    }
    p.rows += more.rows;
  }

  void rebuild() {
    const Pattern& inner = rows_->pattern();
    const int ny = system_->ny(), nz = system_->nz(), m = system_->ng();
    y_product_ = SparseProduct(chart_->y_pattern(), row_range(inner, 0, ny));
    z_product_ = SparseProduct(chart_->z_pattern(), row_range(inner, ny, nz));
    z_entries_ = inner.row_start[static_cast<std::size_t>(ny)];
    rest_entries_ = inner.row_start[static_cast<std::size_t>(ny + nz)];
    pattern_ = Pattern{0, inner.columns, {0}, {}};
    append(pattern_, y_product_.pattern());
    append(pattern_, z_product_.pattern());
    append(pattern_, row_range(inner, ny + nz, inner.rows - ny - nz));
    row_scale_.assign(static_cast<std::size_t>(ny + nz - 2 * m), 1);
    row_scale_.insert(row_scale_.end(), static_cast<std::size_t>(nz + m), 1);
    row_scale_.insert(row_scale_.end(), static_cast<std::size_t>(2 * m), 0);
  }

  std::unique_ptr<Chart> chart_;
  std::vector<double> full_, inner_x_, inner_rate_;
  SparseProduct y_product_, z_product_;
  std::ptrdiff_t z_entries_ = 0, rest_entries_ = 0;
};

void require_regular_mass(const System& system) {
  const Pattern& p = system.pattern(Quantity::momentum_z);
  for (int i = 0; i < p.rows; ++i)
    if (p.row_start[static_cast<std::size_t>(i)] == p.row_start[static_cast<std::size_t>(i) + 1])
      throw UnsuitableMethod(
          fmt::format("the formulation \"extended\" needs a regular mass matrix, and nothing gives {} inertia; use "
                      "\"projected-invariants\", which does not",
                      system.layout().z_name(i)));
}

}  // namespace

std::unique_ptr<ImplicitProblem> formulate(std::shared_ptr<const System> system, const FormulationOptions& options,
                                           double keep_partition, Correction correction) {
  if (system->structure().is_dae) {
    if (auto function = std::dynamic_pointer_cast<const FunctionDae>(system))
      return make_function_dae_problem(std::move(function));
    auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
    if (!symbolic) throw UnsuitableMethod("a DAE F(t, x, x') = 0 is differentiated: write it with expressions");
    return make_dae_problem(symbolic, options);
  }
  if (options.formulation == Formulation::direct || options.formulation == Formulation::derivative_array)
    throw UnsuitableMethod(
        fmt::format("the formulation \"{}\" is for [dae] models; this system takes \"projected-invariants\", \"ggl\", "
                    "\"index-3\" and others",
                    formulation_name(options.formulation)));
  const bool by_chart =
      options.formulation == Formulation::coordinate_partitioning || options.formulation == Formulation::tangent_space;
  if (by_chart && system->nw() > 0)
    throw UnsuitableMethod(fmt::format(
        "the formulation \"{}\" needs as many velocities as positions to be free, which velocity constraints deny; use "
        "\"projected-invariants\", \"index-2\" or \"ggl\"",
        formulation_name(options.formulation)));
  if (by_chart && system->ng() > 0) {
    return std::make_unique<ChartProblem>(system, mechanical_rows(system, options, correction),
                                          options.formulation == Formulation::tangent_space
                                              ? make_tangent_chart(system)
                                              : make_partitioning_chart(system, keep_partition));
  }
  FormulationOptions chosen = options;
  if (by_chart) chosen.formulation = Formulation::projected_invariants;  // without constraints all are the same
  if (chosen.formulation == Formulation::extended) require_regular_mass(*system);
  const bool projected =
      chosen.formulation == Formulation::automatic || chosen.formulation == Formulation::projected_invariants;
  const ImplicitProblem::Shape shape = projected && system->nw() == 0
                                           ? ImplicitProblem::Shape{system->ny(), system->nz(), system->npsi()}
                                           : ImplicitProblem::Shape{};
  return std::make_unique<MechanicalProblem>(system, mechanical_rows(system, chosen, correction),
                                             system->ny() + system->nz(), -1, shape);
}

std::unique_ptr<ImplicitProblem> formulate_moving(std::shared_ptr<const System> system,
                                                  const FormulationOptions& options, double keep_partition,
                                                  Correction correction) {
  auto problem = formulate(system, options, keep_partition, correction);
  const Formulation form = options.formulation;
  if (system->structure().is_dae || (form != Formulation::automatic && form != Formulation::projected_invariants))
    return problem;
  return moving_along(std::move(problem), system);
}

}  // namespace hinge
