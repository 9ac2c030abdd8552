// Angles of joints over several turns, and motors of all kinds, against exact solutions.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "hinge/multibody.hpp"
#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::joint_angle_test {
namespace {

using test::run_text;
using test::value_of;

// A disk on a pin with an axis of any direction, with a spring: w = w0 cos(k t), angle = w0/k sin(k t).
TEST(JointAngle, SpringsWindOverSeveralTurns) {
  RandomNumbers random(3);
  for (const std::string steps :
       {"method = \"auto\"\ntolerance = 1e-9", "method = \"radau\"\ntolerance = 1e-9",
        "method = \"bdf\"\ntolerance = 1e-9", "method = \"gauss-lobatto\"\nstages = 3\nstep = 0.004",
        "method = \"moreau-jean\"\nstep = 0.001"}) {
    const double w0 = 10 + 20 * random.uniform(), k = 1 + random.uniform();
    const Eigen::Vector3d n = Eigen::Vector3d(random.normal(), random.normal(), random.normal()).normalized();
    const double end = 1.3;
    const Report r = run_text(
        fmt::format("[multibody]\n[[body]]\nname = \"disk\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 0]\n"
                    "angular_velocity = [{0}, {1}, {2}]\n[[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = "
                    "[\"ground\", \"disk\"]\n"
                    "point = [0, 0, 0]\naxis = [{3}, {4}, {5}]\nstiffness = {6}\n[integrate]\n{7}\nend = {8}\n"
                    "[output]\nquantities = {{ a = \"pin_angle\", w = \"pin_angle'\" }}\n",
                    w0 * n(0), w0 * n(1), w0 * n(2), n(0), n(1), n(2), k * k, steps, end));
    const double error = steps.find("moreau") != std::string::npos ? 1e-3 : 1e-6;
    EXPECT_NEAR(value_of(r, "a"), w0 / k * std::sin(k * end), error * w0) << steps;
    EXPECT_NEAR(value_of(r, "w"), w0 * std::cos(k * end), error * w0) << steps;
    EXPECT_GT(std::abs(value_of(r, "a")), std::numbers::pi);
  }
}

// Rows between steps have it, too.
TEST(JointAngle, IsCountedBetweenSteps) {
  const Model m = parse_model(
      "[multibody]\n[[body]]\nname = \"disk\"\nmass = 1\ninertia = [1, 2, 3]\nposition = [0, 0, 0]\n"
      "angular_velocity = [0, 0, -20]\n[[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", "
      "\"disk\"]\n"
      "point = [0, 0, 0]\naxis = [0, 0, 1]\n[integrate]\ntolerance = 1e-9\nend = 2\n[output]\ninterval = 0.01\n"
      "quantities = { a = \"pin_angle\" }\n",
      "m.toml");
  Simulation s = m.simulation_for("");
  s.keep_rows();
  s.start(m.start);
  s.until(m.end);
  const std::vector<double> t = s.trajectory().times(), angle = s.trajectory().column("a");
  ASSERT_GT(t.size(), 100u);
  for (std::size_t k = 0; k < t.size(); ++k) EXPECT_NEAR(angle[k], -20 * t[k], 1e-6);
}

std::string arm(bool plane, const std::string& motor, const std::string& define = "") {
  return fmt::format(
      "{}[multibody]\ngravity = {}\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = {}\nposition = {}\n[[joint]]\n"
      "name = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"arm\"]\npoint = {}\n{}motor = {}\n",
      define, plane ? "[0, 0]" : "[0, 0, 0]", plane ? "0.75" : "[0.75, 0.75, 0.75]", plane ? "[0.5, 0]" : "[0.5, 0, 0]",
      plane ? "[0, 0]" : "[0, 0, 0]", plane ? "" : "axis = [0, 0, 1]\n", motor);
}

// (J + m l^2) a'' = -5 a - 2 a' + 5: the moment is one
TEST(JointMotor, MayUseTheAngleOfItsOwnJoint) {
  const double w = 2, decay = 1, end = 3;
  const double exact = 1 - std::exp(-decay * end) * (std::cos(w * end) + decay / w * std::sin(w * end));
  for (const bool plane : {true, false})
    for (const bool defined : {true, false}) {
      const std::string law = "5*(1 - pin_angle) - 2*pin_angle'";
      const Report r =
          run_text(arm(plane, defined ? "{ torque = \"u\" }" : "{ torque = \"" + law + "\" }",
                       defined ? "[parameters]\none = 1\n[define]\nu = \"one*e\"\ne = \"" + law + "\"\n" : "") +
                   "[integrate]\ntolerance = 1e-10\nend = 3\n[output]\nquantities = { a = \"pin_angle\" }\n");
      EXPECT_NEAR(value_of(r, "a"), exact, 1e-8);
    }
}

TEST(JointMotor, SpeedsAreFunctionsOfTime) {
  const std::pair<const char*, double> speeds[] = {{"\"2 + sin(3*t)\"", 6 + (1 - std::cos(9.0)) / 3},
                                                   {"\"min(4*t, 2)\"", 0.5 + 5},
                                                   {"\"5*(1 - exp(-t/0.2))\"", 15 - 1 + std::exp(-15.0)},
                                                   {"\"if(t < 1, t, 1)\"", 2.5},
                                                   {"3", 9}};
  for (const auto& [speed, angle] : speeds)
    for (const bool plane : {true, false})
      for (const std::string steps : {"method = \"auto\"\ntolerance = 1e-9", "method = \"radau\"\ntolerance = 1e-9",
                                      "method = \"radau\"\nstep = 0.01", "method = \"moreau-jean\"\nstep = 0.01"}) {
        const Report r = run_text(arm(plane, fmt::format("{{ speed = {} }}", speed)) +
                                  "[initial]\nconsistent = \"project\"\n[integrate]\n" + steps +
                                  "\nend = 3\n[output]\nquantities = { a = \"pin_angle\" }\n");
        EXPECT_NEAR(value_of(r, "a"), angle, 1e-6) << speed << steps << plane;
      }
  EXPECT_THROW(
      parse_model(arm(true, "{ speed = \"exp(-t^2)\" }") + "[integrate]\ntolerance = 1e-9\nend = 3\n", "m.toml"),
      InputError);
}

// A disk in the plane starts turned by a, several turns included: with a torque -k angle, angle = a cos(w t). A spring
// of its joint counts from the start, where it is slack.
TEST(BodyAngle, KeepsTheTurnsItStartsWith) {
  Draw d(5);
  for (int i = 0; i < 30; ++i) {
    const double a = d.number(-30, 30), w = d.number(0.5, 3), inertia = d.power(-1, 1), end = d.number(0.3, 2);
    const char* const key = d.chance(0.5) ? "angle" : "rotation";
    const std::string disk = fmt::format(
        "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"disk\"\nmass = 1\ninertia = {}\nposition = [0, 0]\n{} = "
        "{}\n",
        inertia, key, a);
    const std::string rest =
        fmt::format("[integrate]\ntolerance = 1e-9\nend = {}\n[output]\nquantities = {{ a = \"disk_angle\" }}\n", end);
    const Report turns = run_text(fmt::format("{}torque = \"-{}*disk_angle\"\n{}", disk, inertia * w * w, rest));
    EXPECT_NEAR(value_of(turns, "a"), a * std::cos(w * end), 1e-6 * std::abs(a)) << key;
    const Report rests =
        run_text(fmt::format("{}[[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", "
                             "\"disk\"]\npoint = [0, 0]\nstiffness = 5\n{}",
                             disk, rest));
    EXPECT_NEAR(value_of(rests, "a"), a, 1e-12 * std::abs(a)) << key;
  }
}

}  // namespace
}  // namespace hinge::joint_angle_test
