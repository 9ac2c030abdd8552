// DAEs that are functions: solved as they stand.
#include "formulation/implicit/function_dae.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/method.hpp"

namespace hinge::function_dae_test {
namespace {

// x' = -x w,  0 = w - x: x = 1/(1 + t), of index 1
void reaction(double, const double* x, const double* rate, double* out) {
  out[0] = rate[0] + x[0] * x[1];
  out[1] = x[1] - x[0];
}

State end_of(const char* method, std::shared_ptr<const FunctionDae> system, State state, double tolerance) {
  const auto stepper = make_method(method, {}).bind(std::move(system), {}, {{tolerance, tolerance}, 0, 0});
  EXPECT_TRUE(stepper->start(state));
  while (state.t < 1) {
    const StepResult done = stepper->advance(state, 1);
    if (!done) {
      ADD_FAILURE() << done.reason;
      break;
    }
  }
  return state;
}

TEST(FunctionDae, OfIndexOneMeetsTheTolerance) {
  const State start{0, {1, 1}, {-1, -1}, {}};
  for (const char* method : {"radau", "bdf"})
    for (const double tolerance : {1e-5, 1e-8}) {
      const auto system =
          std::make_shared<const FunctionDae>(std::vector<std::string>{"x", "w"}, reaction, std::vector{1, 1});
      const State end = end_of(method, system, start, tolerance);
      EXPECT_LT(std::abs(end.y[0] - 0.5), 30 * tolerance) << method;
      EXPECT_LT(std::abs(end.y[1] - end.y[0]), 30 * tolerance) << method;
    }
}

TEST(FunctionDae, AJacobianOfOnesOwnTakesThePlaceOfDifferences) {
  int evaluations = 0;
  const auto counted = [&](double t, const double* x, const double* rate, double* out) {
    ++evaluations;
    reaction(t, x, rate, out);
  };
  const auto exact = [](double, const double* x, const double*, double* f_x, double* f_rate) {
    const double by_x[] = {x[1], x[0], -1, 1}, by_rate[] = {1, 0, 0, 0};
    std::copy_n(by_x, 4, f_x);
    std::copy_n(by_rate, 4, f_rate);
  };
  const std::vector<std::string> names{"x", "w"};
  const std::vector<int> index{1, 1};
  const State start{0, {1, 1}, {-1, -1}, {}};
  const State a = end_of("radau", std::make_shared<const FunctionDae>(names, counted, index), start, 1e-8);
  const int by_differences = std::exchange(evaluations, 0);
  const State b = end_of("radau", std::make_shared<const FunctionDae>(names, counted, index, exact), start, 1e-8);
  EXPECT_LT(evaluations, by_differences);
  EXPECT_NEAR(a.y[0], b.y[0], 1e-8);
}

TEST(FunctionDae, IndicesThatCannotBeAreRefused) {
  EXPECT_THROW(FunctionDae({"x"}, reaction, {4}), InputError);
  EXPECT_THROW(FunctionDae({"x", "w"}, reaction, {1}), InputError);
  EXPECT_THROW(FunctionDae({}, reaction, {}), InputError);
}

}  // namespace
}  // namespace hinge::function_dae_test
