// Implicit steps of a [dae] without complementarity pairs, by moreau-jean.
#include <string>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "hinge/simulate.hpp"

namespace hinge::dae_without_pairs_test {
namespace {

// x' = x^2 from 1 is infinite at t = 1; the run has come near it, and fails there with what it has.
TEST(DaeWithoutPairs, ASolutionThatBecomesInfiniteFailsOnTheWay) {
  const Model model = parse_model(R"x([dae]
unknowns = ["x", "y"]
equations = ["x' = x*y", "y = x"]
[initial]
unknowns = { x = 1 }
consistent = "project"
[integrate]
method = "moreau-jean"
step = 0.01
end = 2
)x",
                                  "infinite.toml");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  EXPECT_THROW(run.until(model.end), StepFailure);
  EXPECT_GT(run.state().t, 0.85);
  EXPECT_LT(run.state().t, 1.0);
}

}  // namespace
}  // namespace hinge::dae_without_pairs_test
