// What tests of the energy-momentum methods measure: how far a run is from golden numbers and from what it should keep.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/method.hpp"
#include "method/energy/energy_problems.hpp"
#include "method/goldens.hpp"
#include "method/properties.hpp"

namespace hinge::energy_measures {

using goldens::json;
using problems::angular_momentum;
using problems::distance;
using problems::Problem;
using Motion = properties::Run;  // testing::Test has a Run of its own
using Treatment = ConstraintTreatment;
using Method = EnergyMomentumOptions;

inline constexpr int e2 = 1, e3 = 2;

/// The measured value goes to --gtest_output=json.
inline void expect_below(double value, double limit, const std::string& what) {
  testing::Test::RecordProperty(what, fmt::format("{:.3g}", value));
  EXPECT_LT(value, limit) << what;
}
inline void expect_relative(double value, double golden, double tolerance, const std::string& what) {
  expect_below(std::abs(value - golden) / std::abs(golden), tolerance, what);
}
/// Compares a quotient of two measured numbers.
inline void expect_between(double value, double low, double high, const std::string& what) {
  testing::Test::RecordProperty(what, fmt::format("{:.6g}", value));
  EXPECT_GT(value, low) << what;
  EXPECT_LT(value, high) << what;
}

inline double norm(const std::vector<double>& x) { return distance(x, std::vector<double>(x.size(), 0.0)); }
inline double biggest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = larger(worst, std::abs(a[i] - b[i]));
  return worst;
}
inline double relative_distance(const std::vector<double>& x, const std::vector<double>& exact) {
  return distance(x, exact) / norm(exact);
}

/// The constraints, evaluated apart from the method.
class Constraints {
 public:
  explicit Constraints(const System& system)
      : m_(system.ng()), evaluation_(system.evaluation({Quantity::constraint, Quantity::constraint_rate})) {}
  std::vector<double> operator()(const State& s) { return take(s, Quantity::constraint); }
  std::vector<double> rate(const State& s) { return take(s, Quantity::constraint_rate); }

 private:
  std::vector<double> take(const State& s, Quantity q) {
    evaluation_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    return {(*evaluation_)[q], (*evaluation_)[q] + m_};
  }
  int m_;
  std::unique_ptr<Evaluation> evaluation_;
};

inline double energy(const System& system, const State& s) {
  const auto e = system.evaluation({Quantity::energy});
  e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  return *(*e)[Quantity::energy];
}

/// What has changed most over a run.
struct Kept {
  double energy = 0, momentum = 0, constraint = 0, rate = 0, penalised = 0;
};

/// Steps of h up to `end`; `watch` sees the run after each.
template <class Watch>
inline Kept follow(const Problem& problem, Motion& run, int axis, double h, double end, double mu, Watch&& watch) {
  Constraints g(*problem.system);
  const auto penalty = [&](const std::vector<double>& values) { return mu * norm(values) * norm(values); };
  const double energy0 = run.energy(), penalised0 = energy0 + penalty(g(run.state()));
  const double l0 = angular_momentum(run.state().y, run.momentum(), axis);
  Kept kept;
  const int steps = static_cast<int>(std::lround(end / h));
  for (int k = 1; k <= steps; ++k) {
    run.step(h);
    const std::vector<double> values = g(run.state());
    kept.energy = larger(kept.energy, std::abs(run.energy() - energy0));
    kept.penalised = larger(kept.penalised, std::abs(run.energy() + penalty(values) - penalised0));
    kept.momentum = larger(kept.momentum, std::abs(angular_momentum(run.state().y, run.momentum(), axis) - l0));
    kept.constraint = larger(kept.constraint, norm(values));
    const std::vector<double> rate = g.rate(run.state());
    kept.rate = larger(kept.rate, biggest_difference(rate, std::vector<double>(rate.size(), 0.0)));
    watch(k);
  }
  return kept;
}

inline Kept follow(const Problem& problem, const Method& method, int axis, double h, double end) {
  Motion run(problem, energy_momentum(method));
  return follow(problem, run, axis, h, end, method.penalty, [](int) {});
}

inline Method penalty(double mu, bool general = false) {
  return {.constraints = Treatment::penalty, .penalty = mu, .general = general};
}

inline Method augmented(double mu, double factor = 1, bool warm = false, double tolerance = 1e-10) {
  return {.constraints = Treatment::augmented,
          .penalty = mu,
          .tolerance = tolerance,
          .warm_start = warm,
          .max_augmentations = 1000,
          .update_factor = factor};
}

inline std::string mu_key(double mu) { return mu < 1e6 ? fmt::format("mu{:.0f}", mu) : fmt::format("mu{:.0e}", mu); }

inline void expect_state(Motion& run, const json& golden, double q, double p, double lambda, const std::string& what) {
  expect_below(biggest_difference(run.state().y, goldens::numbers(golden["q"])), q, what + "_q");
  expect_below(biggest_difference(run.momentum(), goldens::numbers(golden["p"])), p, what + "_p");
  const json& multiplier = golden.contains("lam") ? golden["lam"] : golden["lambda_last_step"];
  expect_below(biggest_difference(run.state().psi, goldens::numbers(multiplier)), lambda, what + "_lambda");
}

}  // namespace hinge::energy_measures
