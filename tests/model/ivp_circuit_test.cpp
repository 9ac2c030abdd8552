// The circuits and the water tube system of the IVP test set, typed as DAEs, against their published solutions: each by
// two methods, to as many digits of every component as the reference has.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "places.hpp"

namespace hinge::ivp_circuit_test {
namespace {

struct Published {
  std::string file, method, tolerance;
  std::vector<double> x;  // NaN: not compared; relative to 1 where it is 0
  double error;           // largest relative one of a component
};

std::ostream& operator<<(std::ostream& out, const Published& p) { return out << p.file << " " << p.method; }

// Verified by a reduction to 5 states in DOP853: 12.6 digits and more.
const std::vector<double> transistor = {-0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1,
                                        0.2926422536206241e1,   0.2704617865010554e1, 0.2761837778393145e1,
                                        0.4770927631616772e1,   0.1236995868091548e1};
// RADAU at 1e-12; y3 to y6 oscillate 5000 times.
const std::vector<double> ring = {-0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169,
                                  -0.4064465721283450,    -0.4039455665149794,    0.2607966765422943,
                                  0.1106761861269975,     0.2939904342435596e-6,  -0.2840029933642329e-7,
                                  0.7267198267264553e-3,  0.7929487196960840e-3,  -0.7255283495698965e-3,
                                  -0.7941401968526521e-3, 0.7088495416976114e-4,  0.2390059075236570e-4};
// In pC and mA; y9 has an index of 2, and in closed form as the limit from the left that it is at the end.
const std::vector<double> pump = {0.12628004298767594, 0, 0, 0, 0, 0, 0, 0, NAN};
// Flows (9.3 digits verified), friction coefficients (10.6), pressures above 109800 (10).
const std::vector<double> water = {
    0.2298488296477430e-2, 0.1188984650746585e-2, 0.1109503645730845e-2, 0.1589620100314825e-3, 0.1030022640715102e-2,
    0.8710606306836165e-3, 0.3243571480903489e-2, 0.1109503645730845e-2, 0.7120986206521341e-3, 0.6414613963833099e-3,
    0.9416978549524347e-3, 0.3403428519096511e-2, 0.2397639310739395e-2, 0.2397639310739395e-2, 0.3348581430454180e-2,
    0.1353560017035444e-2, 0.1995021413418736e-2, 0.5746220741193575e-2, 0.4751940452918529e-1, 0.4751940452918529e-1,
    0.4751940452918529e-1, 0.4751940452918529e-1, 0.4751940452918529e-1, 0.4751940452918529e-1, 0.4311196778792902e-1,
    0.4751940452918529e-1, 0.4751940452918529e-1, 0.4751940452918529e-1, 0.4751940452918529e-1, 0.4249217433601160e-1,
    0.4732336439609648e-1, 0.4732336439609648e-1, 0.4270002118868241e-1, 0.4751940452918529e-1, 0.4751940452918529e-1,
    0.3651427026675656e-1, 1327.1078730254,       1326.9851929858,       1326.9255355337,       1326.9322658045,
    1326.8591478108,       1326.9221703983,       1327.0121140691,       1327.0045592387,       1327.4419515807,
    1325.5158881087,       1327.8793439227,       1327.0995171642,       1329.8338971779};

class IvpCircuit : public testing::TestWithParam<Published> {};

TEST_P(IvpCircuit, ReachesThePublishedValues) {
  const Published& known = GetParam();
  const Model model = load_model(std::string(HINGE_PAPERS) + "/dae/" + known.file,
                                 {{"integrate.method", known.method}, {"integrate.tolerance", known.tolerance}});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  ASSERT_EQ(run.state().y.size(), known.x.size());
  for (std::size_t k = 0; k < known.x.size(); ++k)
    if (!std::isnan(known.x[k])) {
      EXPECT_LT(std::abs(run.state().y[k] - known.x[k]) / (known.x[k] == 0 ? 1 : std::abs(known.x[k])), known.error)
          << model.system->layout().y_name(static_cast<int>(k));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Papers, IvpCircuit,
    testing::Values(Published{"transistor.toml", "radau", "1e-10", transistor, 1e-9},
                    Published{"transistor.toml", "bdf", "1e-10", transistor, 2e-9},
                    Published{"ring-modulator.toml", "radau", "{ relative = 1e-11, absolute = 1e-15 }", ring, 1e-8},
                    // 5000 undamped oscillations cost backward differentiation ten million steps; measured 1.5e-9
                    Published{"ring-modulator.toml", "bdf", "{ relative = 1e-13, absolute = 1e-16 }", ring, 4e-9},
                    Published{"charge-pump.toml", "radau", "1e-8", pump, 1e-12},
                    Published{"charge-pump.toml", "bdf", "1e-10", pump, 1e-12},
                    Published{"water-tube.toml", "radau", "{ relative = 1e-11, absolute = 1e-14 }", water, 4e-9},
                    Published{"water-tube.toml", "bdf", "{ relative = 1e-12, absolute = 1e-15 }", water, 2e-8}));

// The current of the charge pump, in closed form where the run ends.
TEST(IvpChargePump, HasTheCurrentOfTheLeftLimit) {
  for (const auto& [method, error] : {std::pair{"radau", 2e-6}, {"bdf", 1e-8}}) {
    const Model model = load_model(std::string(HINGE_PAPERS) + "/dae/charge-pump.toml",
                                   {{"integrate.method", method}, {"integrate.tolerance", "1e-10"}});
    Simulation run = model.simulation_for("");
    run.start(model.start);
    run.until(model.end);
    EXPECT_NEAR(run.state().y[8] / 0.15225661038485339, 1, error) << method;  // measured 8e-7, 4e-9
  }
}

}  // namespace
}  // namespace hinge::ivp_circuit_test
