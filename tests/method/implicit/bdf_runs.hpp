// BDF with steps of given length from exact starting values, as the goldens have it, and comparisons of such runs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formulation/acceleration.hpp"
#include "method/goldens.hpp"
#include "method/implicit/bdf.hpp"
#include "method/implicit/dae_problems.hpp"

namespace hinge::bdf_runs {

using dae_problems::Problem;
using Triple = std::array<double, 3>;  // of p, v, lambda

inline const goldens::json& data() {
  static const goldens::json all = goldens::read("dae_bdf.json");
  return all;
}

/// The exact states at 0, h, ..., with their multipliers.
inline std::vector<State> exact_states(const Problem& problem, int count, double h, double t0 = 0) {
  Acceleration acceleration(problem.system);
  std::vector<double> v(static_cast<std::size_t>(problem.system->ny())), a = v;
  std::vector<State> list;
  for (int j = 0; j < count; ++j) {
    list.push_back(problem.at(t0 + j * h));
    State& s = list.back();
    EXPECT_TRUE(acceleration.compute(s.t, s.y.data(), s.z.data(), s.psi.data(), v.data(), a.data()));
  }
  return list;
}

/// States at t = 0, h, 2 h, ..., steps * h.
inline std::vector<State> run(const Problem& problem, const BdfOptions& options, double h, int steps) {
  std::vector<State> states = exact_states(problem, options.order, h);
  const auto stepper = make_fixed_bdf(problem.system, options, {}, states, h);
  State state = states.back();
  for (int n = options.order; n <= steps; ++n) {
    state.t = (n - 1) * h;
    const StepResult result = stepper->step(state, h);
    EXPECT_TRUE(result) << problem.name << ": " << result.reason;
    if (!result) break;
    states.push_back(state);
  }
  return states;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}
inline Triple difference(const State& a, const State& b) {
  return {largest_difference(a.y, b.y), largest_difference(a.z, b.z), largest_difference(a.psi, b.psi)};
}
/// The largest over all steps.
inline Triple difference(const std::vector<State>& a, const std::vector<State>& b) {
  EXPECT_EQ(a.size(), b.size());
  Triple largest{};
  for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
    const Triple d = difference(a[n], b[n]);
    for (std::size_t i = 0; i < 3; ++i) largest[i] = std::max(largest[i], d[i]);
  }
  return largest;
}

inline State reference(const std::string& key) {
  const goldens::json& r = data()["references_18_digits"][key];
  return {0, goldens::numbers(r["p"]), goldens::numbers(r["v"]), goldens::numbers(r["lam"])};
}

/// Errors against golden errors: relative where these are above `floor`, but for `rounding`; below it both must be.
inline void expect_errors(const Triple& errors, const Triple& golden, double relative, double floor,
                          const std::string& what, double rounding = 0) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (golden[i] > floor)
      EXPECT_NEAR(errors[i], golden[i], relative * golden[i] + rounding) << what << " [" << i << "]";
    else
      EXPECT_LT(errors[i], 2 * floor) << what << " [" << i << "]";
  }
}
inline Triple triple(const goldens::json& j) {
  const auto n = goldens::numbers(j);
  return {n.at(0), n.at(1), n.at(2)};
}

/// The names that goldens have for formulations.
inline BdfOptions named(const std::string& name, int order) {
  static const std::map<std::string, Formulation> all = {
      {"idx3", Formulation::index_3},
      {"idx2", Formulation::index_2},
      {"idx1", Formulation::index_1},
      {"ggl", Formulation::ggl},
      {"e317", Formulation::extended},
      {"ssf34", Formulation::extended},
      {"pi332", Formulation::projected_invariants},
      {"gcp", Formulation::coordinate_partitioning},
      {"lssPrev", Formulation::tangent_space},
      {"index3", Formulation::index_3},
      {"index2", Formulation::index_2},
      {"index1", Formulation::index_1},
      {"GGL", Formulation::ggl},
      {"(3.17)", Formulation::extended},
      {"(3.32)", Formulation::projected_invariants},
      {"baumgarte(a=b=10)", Formulation::baumgarte},
      {"baum5,5", Formulation::baumgarte},
      {"lssNull", Formulation::tangent_space},  // for constant G, where the last kernel is the present one
  };
  BdfOptions options;
  options.order = order;
  options.form.formulation = name.starts_with("GCP") ? Formulation::coordinate_partitioning : all.at(name);
  options.keep_partition = 0;
  options.ssf = name == "ssf34";
  if (name == "baum5,5") options.form.alpha = options.form.beta = 5;
  return options;
}

}  // namespace hinge::bdf_runs
