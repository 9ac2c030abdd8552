// A cube held by friction does not creep, exact friction and solved to rounding; with less force it falls.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "hinge/simulate.hpp"
#include "places.hpp"

namespace hinge::grip_test {
namespace {

Report hold(const std::vector<Override>& overrides) {
  const Model model = load_model(std::string(HINGE_EXAMPLES) + "/grip.toml", overrides);
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  return run.report();
}

TEST(Grip, DoesNotCreepInAMinute) {
  const Report r = hold({});
  for (int k = 0; k < 3; ++k) EXPECT_LT(std::abs(r.final.y[static_cast<std::size_t>(k)]), 1e-11);  // measured 7e-13
  EXPECT_LT(std::abs(r.final.y[2]), 1e-14);                                                        // downwards: 5e-17
  EXPECT_LT(r.contacts->complementarity, 1e-12);
  EXPECT_EQ(r.contacts->cone, 0);
  EXPECT_LT(r.constraint, 1e-14);
  EXPECT_LT(r.hidden_constraint, 1e-13);
}

TEST(Grip, LetsGoWithLessThanTheForceNeeded) {
  // mu = 0.24 bears 2 * 0.24 * 19.62 = 9.4176 N of 9.81 N at most; less where the cube turns, since the normal forces
  // of eight points on two faces are not determined
  const Report r = hold({{"contact.friction", "0.24"}, {"integrate.end", "0.1"}});
  EXPECT_LE(r.final.z[2], -(9.81 - 9.4176) * 0.1 + 1e-12);  // measured -0.109
  EXPECT_GE(r.final.z[2], -9.81 * 0.1);
}

}  // namespace
}  // namespace hinge::grip_test
