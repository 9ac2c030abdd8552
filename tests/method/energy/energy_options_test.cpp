// Options of the energy-momentum methods, what is refused, and what a failed step says.
#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "method/energy/energy_measures.hpp"

namespace hinge::energy_options_test {
namespace {

using goldens::json;
using goldens::number;
using goldens::numbers;
using problems::heavy_top;
using problems::Problem;
using problems::spherical_pendulum;
using namespace energy_measures;

std::string complaint(const std::function<void()>& make) {
  try {
    make();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(EnergyMomentumOptions, AreRefusedWithASentence) {
  const auto by_name = [](const Options& o) { return complaint([&] { make_method("energy-momentum", o); }); };
  EXPECT_NE(by_name({{"penalty", 0.0}}).find("'penalty' is 0; it must be positive"), std::string::npos);
  EXPECT_NE(by_name({{"penalty", INFINITY}}), "");
  EXPECT_NE(by_name({{"penalty", std::nan("")}}), "");
  EXPECT_NE(by_name({{"tolerance_constraint", 0.0}}).find("it must be positive"), std::string::npos);
  EXPECT_NE(by_name({{"max_augmentations", 0.0}}).find("at least 1"), std::string::npos);
  EXPECT_NE(by_name({{"max_augmentations", 1.5}}), "");
  EXPECT_NE(by_name({{"constraints", std::string("springs")}}).find("\"penalty\""), std::string::npos);
  EXPECT_NE(by_name({{"derivative", std::string("exact")}}).find("\"equivariant\""), std::string::npos);
  EXPECT_NE(by_name({{"projection", std::string("position")}}).find("\"velocity\""), std::string::npos);
  EXPECT_NE(by_name({{"warm_start", 1.0}}), "");
  EXPECT_NE(by_name({{"penalties", 1e3}}).find("'penalty'"), std::string::npos);
  EXPECT_NE(complaint([] { energy_momentum({.update_factor = 0}); }), "");
  EXPECT_NE(complaint([] { energy_momentum({.tolerance = std::nan("")}); }), "");
}

TEST(EnergyMomentumOptions, AreSaidInTheDescription) {
  EXPECT_EQ(energy_momentum().description, "energy-momentum, multiplier, order 2");
  EXPECT_EQ(make_method("energy-momentum", {{"constraints", std::string("penalty")},
                                            {"penalty", 1e4},
                                            {"derivative", std::string("general")},
                                            {"projection", std::string("velocity")}})
                .description,
            "energy-momentum, penalty 10000, general derivative, velocity projected, order 2");
}

std::string reason_of_failure(const Problem& problem, const Method& method, double h, int steps) {
  Motion run(problem, energy_momentum(method));
  try {
    run.steps(steps, h);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(EnergyMomentumFailure, BlamesAPenaltyThatIsTooLarge) {
  const std::string text = reason_of_failure(spherical_pendulum(false), penalty(1e30), 1e-3, 10);
  EXPECT_NE(text.find("the penalty 1e+30 is too large"), std::string::npos) << text;
}

TEST(EnergyMomentumFailure, BlamesAToleranceBelowRounding) {
  const std::string text = reason_of_failure(spherical_pendulum(true), augmented(1e7, 1, false, 1e-19), 1e-2, 100);
  EXPECT_NE(text.find("tolerance_constraint = 1.0e-19 cannot be reached"), std::string::npos) << text;
}

TEST(EnergyMomentumFailure, BlamesTheGeneralDerivativeForItsRounding) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(dot(v, v) / 2.0);
  l.potential(5e7 * pow(norm(q) - 1.0, 2.0));
  const Problem spring{l.build(), {.position = {1.000003, 0, 0}, .velocity = {0, 0, 0}}};
  const std::string text = reason_of_failure(spring, {.general = true}, 1e-5, 1000);
  EXPECT_NE(text.find("use derivative = \"equivariant\""), std::string::npos) << text;
  EXPECT_EQ(reason_of_failure(spring, {}, 1e-5, 1000), "");
}

// p is handed from step to step; p = M v with v = M^-1 p would round the same way every time.
TEST(EnergyMomentum, DoesNotDriftWhereTheMassDoesNotDivide) {
  for (const double mass : {49.0, 0.1, 2.65e-4}) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 2), v = l.velocity(q);
    l.kinetic(mass / 2.0 * dot(v, v));
    l.potential(mass / 2.0 * dot(q, q));
    Simulation run(l, energy_momentum(), {.step = 0.1});
    run.start({.position = {1, 0}, .velocity = {0, 1}});
    run.until(1000.0);
    EXPECT_LT(*run.report().energy_error, 4e-14 * mass) << mass;  // measured 4.3e-15 (M = 49)
  }
}

}  // namespace
}  // namespace hinge::energy_options_test
