// Drift-implicit Euler-Maruyama for linear DAEs with noise (a rough path has no derivative to insert elsewhere):
//
//   E dx + H x dt = c(t) dt + C dW:      (E + h H) x_{n+1} = E x_n + h c(t_{n+1}) + C dW_n,   dW_n ~ N(0, h)
//
// Strong order 1 (the noise is additive); without noise implicit Euler. Keeps the algebraic equations to round-off.
// Keeps no invariant. For index 1, and noise in differential equations only, U_2 C = 0 where U_2 E = 0: white noise in
// a constraint of index 2 would make the variance of a multiplier grow like 1/h.
// x' of the states it returns is (x_{n+1} - x_n) / h; it has no limit.
// Normal numbers come from a Mersenne twister by Box and Muller's formula, so that a seed means the same everywhere.
// Reference: Winkler, J. Comput. Appl. Math. 157 (2003) 477.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <fmt/format.h>
#include <Eigen/Core>

#include "formulation/implicit/linear_pencil.hpp"
#include "formulation/implicit/symbolic_problem.hpp"
#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/rank.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Values = std::vector<double>;

class NormalNumbers {
 public:
  explicit NormalNumbers(double seed) : engine_(static_cast<std::uint64_t>(seed)) {}
  double operator()() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
    second_ = radius * std::sin(angle);
    has_second_ = true;
    return radius * std::cos(angle);
  }

 private:
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // in [0, 1)
  std::mt19937_64 engine_;
  double second_ = 0;
  bool has_second_ = false;
};

// U_2 C = 0 for the rows U_2 with U_2 E = 0.
void refuse_algebraic_noise(const SymbolicSystem& system, const Eigen::MatrixXd& e, const Eigen::MatrixXd& c) {
  Eigen::MatrixXd scaled = e, noise = c;
  for (Eigen::Index i = 0; i < e.rows(); ++i)
    if (const double size = e.row(i).cwiseAbs().maxCoeff(); size > 0) scaled.row(i) /= size, noise.row(i) /= size;
  const PivotedQr qr(scaled, 1e-11);
  const Eigen::MatrixXd rest = qr.q_transposed_times(noise).bottomRows(e.rows() - qr.rank());
  if (rest.size() == 0 || rest.cwiseAbs().maxCoeff() <= 1e-11 * noise.cwiseAbs().maxCoeff()) return;
  std::string names;
  for (Eigen::Index i = 0; i < e.rows(); ++i)
    if (e.row(i).isZero(0) && !c.row(i).isZero(0))
      names += (names.empty() ? "" : ", ") + system.equations().residual_names[static_cast<std::size_t>(i)];
  throw UnsuitableMethod(fmt::format(
      "the noise enters algebraic equations{}: their unknowns would be white noise themselves, with a variance that "
      "grows as the step shrinks; put the noise into equations with derivatives",
      names.empty() ? "" : " (" + names + ")"));
}

class EulerMaruyama final : public Stepper {
 public:
  EulerMaruyama(std::shared_ptr<const SymbolicSystem> system, const EulerMaruyamaOptions& options, LinearAlgebra choice)
      : system_(std::move(system)), options_(options), normal_(options.seed) {
    const Equations& eq = system_->equations();
    if (eq.noise.empty())
      throw UnsuitableMethod("euler-maruyama is for models with noise, and [dae] has none; use bdf or radau");
    const auto pencil = linear_pencil(*system_);
    if (!pencil)
      throw UnsuitableMethod(
          "euler-maruyama is for linear equations with constant coefficients, E x' + H x = c(t) with noise; these are "
          "not linear, or there are more than 300");
    if (!pencil->regular) throw SingularDae("the DAE is singular: no value of c makes c E + H regular");
    if (pencil->index > 1)
      throw UnsuitableMethod(
          fmt::format("the DAE has index {}: with noise only index 1 makes sense, since the multipliers would be "
                      "derivatives of white noise",
                      pencil->index));
    const auto n = static_cast<Eigen::Index>(eq.residual.size());
    Eigen::MatrixXd c(n, static_cast<Eigen::Index>(eq.noise.size()));
    for (Eigen::Index k = 0; k < c.cols(); ++k)
      for (Eigen::Index i = 0; i < n; ++i)
        c(i, k) = eq.graph->value(eq.noise[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)]);
    refuse_algebraic_noise(*system_, pencil->e, c);
    noise_.assign(c.data(), c.data() + c.size());

    compiled_ = CompiledRows(SymbolicRows::of_dae(eq));
    const Pattern& p = compiled_.pattern();
    solver_ = make_linear_solver(p, choice);
    for (auto* v : {&f_x_, &f_rate_, &matrix_}) v->assign(p.entries(), 0.0);
    for (auto* v : {&x_, &zero_, &f_}) v->assign(static_cast<std::size_t>(n), 0.0);
    increments_.assign(eq.noise.size(), 0.0);
    compiled_.jacobian(0, zero_.data(), zero_.data(), f_x_.data(), f_rate_.data());
  }

  // With r(x) = F(t + h, x, (x - x_n)/h), which is linear:  (E/h + H) dx = -r(x_n) + C dW / h.
  StepResult step(State& state, double h) override {
    if (h != factored_for_) {
      for (std::size_t k = 0; k < matrix_.size(); ++k) matrix_[k] = f_rate_[k] + h * f_x_[k];
      ++counters_.factorisations;
      factored_for_ = 0;
      if (!solver_->factor(matrix_.data()))
        return {false, fmt::format("E + h H is singular for h = {:g} at t = {:g}; take another step", h, state.t)};
      factored_for_ = h;
    }
    draw(h);
    compiled_.residual(state.t + h, state.y.data(), zero_.data(), f_.data());
    ++counters_.evaluations;
    const std::size_t n = f_.size();
    for (std::size_t i = 0; i < n; ++i) {
      x_[i] = -h * f_[i];
      for (std::size_t k = 0; k < increments_.size(); ++k) x_[i] += noise_[k * n + i] * increments_[k];
    }
    solver_->solve(x_.data());
    for (std::size_t i = 0; i < n; ++i)
      if (!std::isfinite(x_[i])) return {false, fmt::format("the step from t = {:g} gives no finite numbers", state.t)};
    for (std::size_t i = 0; i < n; ++i) {
      state.y[i] += x_[i];
      state.z[i] = x_[i] / h;
    }
    state.t += h;
    ++counters_.steps;
    ++counters_.iterations;
    ++number_;
    return {};
  }

  void reset() override {
    normal_ = NormalNumbers(options_.seed);
    number_ = 0;
  }

 private:
  void draw(double h) {
    if (options_.increments) return options_.increments(number_, h, increments_.data());
    for (double& dw : increments_) dw = std::sqrt(std::abs(h)) * normal_();
  }

  std::shared_ptr<const SymbolicSystem> system_;
  EulerMaruyamaOptions options_;
  NormalNumbers normal_;
  CompiledRows compiled_;
  std::unique_ptr<LinearSolver> solver_;
  Values f_x_, f_rate_, matrix_, x_, zero_, f_, noise_, increments_;
  double factored_for_ = 0;
  long number_ = 0;
};

MethodInfo euler_maruyama_info() {
  return {.name = "euler-maruyama",
          .summary = "linear DAEs of index 1 with noise, E dx + H x dt = c dt + C dW: drift-implicit",
          .order = "1",
          .multiplier_order = "-",
          .preserves = {},
          .options = {integer_row("seed", "1", not_negative_range,
                                  "of the random numbers, the same seed gives the same path")},
          .reference = "Winkler, J. Comput. Appl. Math. 157 (2003) 477",
          .can = {.dae = true, .noise = true}};
}

}  // namespace

MethodChoice euler_maruyama(const EulerMaruyamaOptions& options) {
  MethodChoice choice{
      euler_maruyama_info(), 1, fmt::format("Euler-Maruyama, drift-implicit, seed {:.0f}", options.seed), {}};
  check_options(choice.info.options, {{"seed", options.seed}});
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
    auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
    if (!symbolic || !system->structure().is_dae)
      throw UnsuitableMethod("euler-maruyama is for [dae] models with noise; this system is mechanical");
    return std::make_unique<EulerMaruyama>(std::move(symbolic), options, solver.linear_algebra);
  };
  return choice;
}

MethodEntry euler_maruyama_entry() {
  return {euler_maruyama_info(), [](const GivenOptions& o) { return euler_maruyama({.seed = o.number("seed")}); }};
}

}  // namespace hinge
