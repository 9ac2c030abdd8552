// The mechanisms of the IVP test set, from the model files as published, against their reference solutions. Where the
// published digits are fewer than claimed, the reference is a recomputation in extended precision that agrees with
// them as far as they go (Andrews: 10 digits of the positions, 7 of the velocities; car axis: 9 and more).
#include <cmath>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "places.hpp"

namespace hinge::ivp_test {
namespace {

struct Solved {
  std::string file, method, tolerance;
  std::vector<double> y, z, psi;
  double error_y, error_z, error_psi;  // relative to the largest number of each part
  double constraint;
};

std::ostream& operator<<(std::ostream& out, const Solved& s) { return out << s.file << " " << s.method; }

const std::vector<double> andrews_y = {15.81077119515370,  -15.75637105841183, 0.04082224011964571, -0.5347301163420798,
                                       0.5244099658799541, 0.5347301163420798, 1.048080741041938};
const std::vector<double> andrews_z = {1139.920302259106,  -1424.379295177541, 11.03291191061592, 19.29337410502737,
                                       0.5735699148293643, -19.29337410502737, 0.3231791492490498};
const std::vector<double> andrews_psi = {199.1753481045388, -29.75530997497103, 23.06654361162219,
                                         31.45272527577132, 22.64249478639441,  11.61739235261101};
const std::vector<double> car_y = {4.93455784275240938e-2, 4.96989460230008123e-1, 1.041742524885426126,
                                   3.73911027265365910e-1};
const std::vector<double> car_z = {-7.7058368403591874e-2, 7.446866592070564e-3, 1.755681575354170e-2,
                                   7.70341043779601696e-1};
const std::vector<double> car_psi = {4.73688659085333e-3, 1.10468033125956740e-3};
const std::vector<double> pendulum_y = {0.8673486406004393173, 0.4977010504796729371};
const std::vector<double> pendulum_z = {-0.03374801806095451643, 0.05881301146525000079};
const std::vector<double> pendulum_psi = {-0.4931031514390187968 / 2};
const double bx = 0.3284581115408, by = 0.9445185381786, vx = 1.423051470207, vy = -0.4948688454871;
const std::vector<double> bars_y = {bx, by, 1 + bx, by, 2 + bx, by};
const std::vector<double> bars_z = {vx, vy, vx, vy, vx, vy};

const std::vector<double> simple_y = {-0.2750874625761, -0.9614192050991}, simple_z = {4.175598100952, -1.194749054560};

class IvpMechanism : public testing::TestWithParam<Solved> {};

TEST_P(IvpMechanism, ReachesTheReference) {
  const Solved& known = GetParam();
  const Model model = load_model(std::string(HINGE_PAPERS) + "/ivp/" + known.file,
                                 {{"integrate.method", known.method}, {"integrate.tolerance", known.tolerance}});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  const auto error = [](const std::vector<double>& own, const std::vector<double>& right) {
    double worst = 0, size = 0;
    for (std::size_t k = 0; k < right.size(); ++k) {
      worst = std::max(worst, std::abs(own[k] - right[k]));
      size = std::max(size, std::abs(right[k]));
    }
    return right.empty() ? 0 : worst / size;
  };
  EXPECT_LT(error(run.state().y, known.y), known.error_y);
  EXPECT_LT(error(run.state().z, known.z), known.error_z);
  EXPECT_LT(error(run.state().psi, known.psi), known.error_psi);
  EXPECT_LT(run.report().constraint, known.constraint);
}

INSTANTIATE_TEST_SUITE_P(
    Papers, IvpMechanism,
    testing::Values(
        Solved{"andrews.toml", "explicit", "1e-11", andrews_y, andrews_z, andrews_psi, 1e-10, 1e-9, 1e-8, 1e-15},
        Solved{"andrews.toml", "radau", "1e-11", andrews_y, andrews_z, andrews_psi, 1e-9, 1e-8, 1e-8, 1e-12},
        Solved{"car-axis.toml", "explicit", "1e-12", car_y, car_z, car_psi, 1e-11, 1e-10, 1e-9, 1e-14},
        Solved{"car-axis.toml", "radau", "1e-12", car_y, car_z, car_psi, 1e-9, 1e-8, 1e-8, 1e-11},
        Solved{"pendulum.toml", "explicit", "1e-12", pendulum_y, pendulum_z, pendulum_psi, 1e-12, 1e-11, 1e-11, 1e-14},
        Solved{"pendulum.toml", "radau", "1e-12", pendulum_y, pendulum_z, pendulum_psi, 1e-10, 1e-9, 1e-9, 1e-12},
        Solved{"pendulum.toml", "bdf", "1e-12", pendulum_y, pendulum_z, pendulum_psi, 1e-9, 1e-9, 1e-9, 1e-14},
        Solved{"simple-pendulum.toml", "explicit", "1e-12", simple_y, simple_z, {}, 2e-11, 2e-11, 1, 1e-14},
        Solved{"simple-pendulum.toml", "radau", "1e-12", simple_y, simple_z, {}, 2e-10, 2e-10, 1, 1e-14},
        Solved{"simple-pendulum.toml", "bdf", "1e-12", simple_y, simple_z, {}, 1e-8, 1e-8, 1, 1e-14},
        Solved{"andrews.toml", "taylor", "1e-13", andrews_y, andrews_z, andrews_psi, 1e-12, 1e-11, 1e-11, 1e-15},
        Solved{"car-axis.toml", "taylor", "1e-13", car_y, car_z, car_psi, 1e-12, 1e-11, 1e-11, 1e-14},
        Solved{"pendulum.toml", "taylor", "1e-15", pendulum_y, pendulum_z, pendulum_psi, 1e-14, 1e-13, 1e-13, 1e-15},
        Solved{"simple-pendulum.toml", "taylor", "1e-14", simple_y, simple_z, {}, 1e-12, 1e-12, 1, 1e-15},
        Solved{"four-bar.toml", "taylor", "1e-9", bars_y, bars_z, {}, 1e-7, 1e-7, 1, 1e-14},
        // through ten positions in which the constraints are dependent: what passes them loses digits there
        Solved{"four-bar.toml", "explicit", "1e-10", bars_y, bars_z, {}, 1e-7, 1e-7, 1, 1e-14},
        Solved{"four-bar.toml", "half-explicit", "1e-12", bars_y, bars_z, {}, 5e-9, 5e-9, 1, 1e-9}));

TEST(IvpTestSet, FourBarsPassTheirSingularPositionsWithFixedSteps) {
  const Model model =
      load_model(std::string(HINGE_PAPERS) + "/ivp/four-bar.toml",
                 {{"integrate.method", "gauss-lobatto"}, {"integrate.stages", "3"}, {"integrate.step", "0.002"}});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  for (std::size_t k = 0; k < bars_y.size(); ++k) {
    EXPECT_NEAR(run.state().y[k], bars_y[k], 1e-11);
    EXPECT_NEAR(run.state().z[k], bars_z[k], 1e-11);
  }
}

// Damped until the 20 points rest where they have the least logarithmic energy, which is known: each multiplier is then
// (N - 1)/4, and the energy -54.011130 (tables of minimal logarithmic energy on the sphere).
TEST(IvpTestSet, FeketePointsComeToRest) {
  for (const std::string method : {"auto", "bdf"}) {
    const Model model = load_model(std::string(HINGE_PAPERS) + "/ivp/fekete.toml", {{"integrate.method", method}});
    Simulation run = model.simulation_for("");
    run.start(model.start);
    run.until(model.end);
    const Report report = run.report();
    EXPECT_EQ(report.end, 1000);
    EXPECT_LT(report.constraint, 1e-12) << method;
    EXPECT_LT(report.hidden_constraint, 1e-11) << method;
    EXPECT_NEAR(*report.energy, -54.011130, 1e-6) << method;
    for (const double psi : run.state().psi) EXPECT_NEAR(psi, 19.0 / 4, 1e-6) << method;
  }
}

TEST(IvpTestSet, EveryFileIsTestedHere) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(HINGE_PAPERS) / "ivp"))
    if (entry.path().extension() == ".toml") found.insert(entry.path().filename());
  EXPECT_EQ(found, (std::set<std::string>{"andrews.toml", "car-axis.toml", "fekete.toml", "four-bar.toml",
                                          "pendulum.toml", "simple-pendulum.toml"}));
}

}  // namespace
}  // namespace hinge::ivp_test
