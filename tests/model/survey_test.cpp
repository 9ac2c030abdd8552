// The files of papers/survey run as they are and find what they say.
#include <filesystem>

#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "hinge/simulate.hpp"
#include "places.hpp"

namespace hinge::survey_test {
namespace {

Report run(const std::string& path, const std::vector<Override>& overrides = {}) {
  const Model model = load_model(path, overrides);
  Simulation simulation(model.system, make_method(model.method, model.method_options), model.simulation);
  simulation.compare(model.exact);
  simulation.start(model.start);
  simulation.until(model.end);
  return simulation.report();
}

TEST(Survey, SweepingDiskDrawsATractrix) {
  const Report report = run(std::string(HINGE_PAPERS) + "/survey/sweeping-disk.toml");
  // catching up with h = 0.01, as an independent implementation has it
  EXPECT_NEAR(report.final.y[0], 1.0364400330435046, 1e-12);
  EXPECT_NEAR(report.final.y[1], 0.26749241125459594, 1e-12);
}

TEST(Survey, DiodeBridgeIsADampedCircuit) {
  const Report report = run(std::string(HINGE_PAPERS) + "/survey/diode-bridge.toml");
  EXPECT_NEAR(report.final.y[0], 2.5277261247910303, 1e-11);  // theta = 1/2, h = 1e-6, of an independent implementation
  EXPECT_NEAR(report.final.y[1], -0.07496779276534829, 1e-13);
}

TEST(Survey, RectifierOfTheExamples) {
  const Report report = run(std::string(HINGE_EXAMPLES) + "/rectifier.toml");
  EXPECT_NEAR(report.final.y[0], 8.30306660638864, 1e-11);
}

}  // namespace
}  // namespace hinge::survey_test
