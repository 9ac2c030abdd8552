// Claims about bodies in model files: they are those of the C++ interface, and wrong ones are answered with the place.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "model/complaint.hpp"
#include "model/run_text.hpp"

namespace hinge::body_model_test {
namespace {

using test::run_text;

const std::string top = R"toml([parameters]
m = 2
l = 0.5
[lagrangian]
potential = "m*9.81*top_x[2]"
[lagrangian.bodies.top]
mass = "m"
inertia = [0.2, "0.3", 0.4]
center = [0, 0, "l"]
fixed = [0, 0, 1]
[initial.bodies.top]
rotation = { axis = [1, 0, 0], angle = "pi/3" }
angular_velocity = [0, 0, 5]
[integrate]
method = "energy-momentum"
step = 0.01
end = 0.2
[output]
quantities = { tip = "top_x + l*top_d3", w = "top_angular_velocity", spin = "top_angular_momentum", rise = "top_x'[2]" }
)toml";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_same(const Report& a, const Report& b) {
  ASSERT_EQ(a.final.y.size(), b.final.y.size());
  for (std::size_t k = 0; k < a.final.y.size(); ++k) {
    EXPECT_NEAR(a.final.y[k], b.final.y[k], 1e-14);  // measured 1.1e-16
    EXPECT_NEAR(a.final.z[k], b.final.z[k], 1e-12);  // measured 6.8e-14
  }
}

TEST(BodyModel, EqualsTheBodyBuiltInCpp) {
  Lagrangian system;
  const RigidBody body(system, {.name = "top",
                                .mass = 2,
                                .inertia = principal_moments(0.2, 0.3, 0.4),
                                .center = {0, 0, 0.5},
                                .fixed = Eigen::Vector3d(0, 0, 1)});
  system.potential(2.0 * 9.81 * body.center()[2]);
  Start start;
  body.place({.rotation = rotation({1, 0, 0}, std::acos(-1.0) / 3), .angular_velocity = {0, 0, 5}}, start.position,
             start.velocity);
  Simulation built(system, energy_momentum(), {.step = 0.01});
  const Vector tip = body.point({0, 0, 1}), velocity = body.center_velocity();
  built.observe("tip", tip);
  built.observe("w", body.angular_velocity());
  built.observe("spin", body.angular_momentum());
  built.observe("rise", velocity[2]);
  built.start(start);
  built.until(0.2);
  const Report expected = built.report(), report = run_text(top);
  expect_same(report, expected);
  for (std::size_t k = 0; k < expected.quantities.size(); ++k)
    for (std::size_t j = 0; j < expected.quantities[k].value.size(); ++j)
      EXPECT_NEAR(report.quantities[k].value[j], expected.quantities[k].value[j], 1e-13)  // measured 0
          << report.quantities[k].name;
  EXPECT_EQ(report.layout.y[0].name, "top_d1");
  EXPECT_EQ(report.layout.constraints[3], "\"top: d1.d2 = 0\"");
}

TEST(BodyModel, AListOfBodiesIsTheSame) {
  expect_same(run_text(with(top, "[lagrangian.bodies.top]", "[[lagrangian.bodies]]\nname = \"top\"")), run_text(top));
  expect_same(run_text(with(top, "potential", "coordinates = []\npotential")), run_text(top));
}

TEST(BodyModel, RotationsCanBeGivenInEveryForm) {
  const Report expected = run_text(top);
  const std::string axis = "rotation = { axis = [1, 0, 0], angle = \"pi/3\" }", s = "\"sqrt(3)/2\"";
  for (const std::string& form : {"rotation = { axis = [2, 0, 0], angle = \"pi/3\" }" + std::string(),
                                  "rotation = [[1, 0, 0], [0, 0.5, \"-sqrt(3)/2\"], [0, " + s + ", 0.5]]",
                                  "directors = [[1, 0, 0], [0, 0.5, " + s + "], [0, \"-sqrt(3)/2\", 0.5]]"})
    expect_same(run_text(with(top, axis, form)), expected);
  expect_same(run_text(with(top, "angular_velocity = [0, 0, 5]",
                            "angular_velocity_body = [0, \"5*sin(pi/3)\", \"5*cos(pi/3)\"]")),
              expected);
  // Or the coordinates themselves.
  const std::string start = top.substr(top.find("[initial"), top.find("[integrate") - top.find("[initial"));
  expect_same(run_text(with(
                  top, start,
                  "[initial]\nposition = { top_d1 = [1, 0, 0], top_d2 = [0, 0.5, " + s +
                      "], top_d3 = [0, \"-sqrt(3)/2\", 0.5] }\n"
                      "velocity = { top_d1 = [0, 5, 0], top_d2 = [-2.5, 0, 0], top_d3 = [\"5*sqrt(3)/2\", 0, 0] }\n")),
              expected);
}

TEST(BodyModel, OverridesReachBodies) {
  expect_same(run_text(top, {{"lagrangian.bodies.top.mass", "3"}}), run_text(with(top, "mass = \"m\"", "mass = 3")));
  expect_same(run_text(top, {{"initial.bodies.top.angular_velocity", "[0, 0, 7]"}}),
              run_text(with(top, "[0, 0, 5]", "[0, 0, 7]")));
}

// A body on a spring from a cart: coordinates, a free body, a force on it, and a joint.
TEST(BodyModel, BodiesAndCoordinatesGoTogether) {
  const std::string text = R"toml([lagrangian]
coordinates = ["cart"]
kinetic = "cart'^2"
potential = "3*9.81*plate_x[2] + 10*cart^2"
force = { plate_x = [0, 0, "-0.1*plate_x'[2]"] }
constraints = ["plate_x - 0.4*plate_d1 - [cart, 0, 0]"]
[lagrangian.bodies.plate]
mass = 3
inertia = [[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.04]]
[initial]
position = { cart = 0.1 }
velocity = { cart = 0.5 }
bodies = { plate = { position = [0.5, 0, 0], velocity = [0.5, 0, 0] } }
[integrate]
step = 0.005
end = 0.5
)toml";
  const Report report = run_text(text);
  EXPECT_EQ(report.layout.ny, 13);
  EXPECT_EQ(report.layout.ng(), 9);
  EXPECT_LT(report.constraint, 1e-14);         // measured 2.8e-16
  EXPECT_LT(report.hidden_constraint, 1e-13);  // measured 1.8e-15
  const Report start = run_text(text, {{"integrate.end", "0"}});
  const double expected[] = {0.1, 0.5, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (std::size_t k = 0; k < 13; ++k) {
    EXPECT_NEAR(start.final.y[k], expected[k], 1e-15);        // measured 1.4e-17
    EXPECT_NEAR(start.final.z[k], k < 2 ? 0.5 : 0.0, 1e-15);  // measured 0
  }
}

TEST(BodyModel, WrongInputIsAnsweredWithThePlace) {
  struct Case {
    const char *from, *to;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {"mass = \"m\"", "", {"m.toml:6: lagrangian.bodies.top", "'mass' is missing", "mass = 1.5"}},
      {"mass = \"m\"", "mass = -1", {"m.toml:7: lagrangian.bodies.top.mass", "-1", "positive"}},
      {"mass = \"m\"", "mass = \"t\"", {"m.toml:7: lagrangian.bodies.top.mass"}},
      {"mass =", "masss =", {"m.toml:7: lagrangian.bodies.top.masss", "unknown key", "'mass'?"}},
      {"center =", "centre =", {"m.toml:9: lagrangian.bodies.top.centre", "unknown key", "'center'?"}},
      {"[0.2, \"0.3\", 0.4]",
       "[0.2, 0.3]",
       {"m.toml:8: lagrangian.bodies.top.inertia", "principal moments", "length 2"}},
      {"[0.2, \"0.3\", 0.4]", "[0.2, 0.3, 0.6]", {"m.toml:8: lagrangian.bodies.top.inertia", "sum of the other two"}},
      {"[0.2, \"0.3\", 0.4]", "[0.2, 0.3, 0]", {"m.toml:8: lagrangian.bodies.top.inertia", "must be positive"}},
      {"[0.2, \"0.3\", 0.4]", "[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]", {"m.toml:8:", "not symmetric"}},
      {"[0.2, \"0.3\", 0.4]", "[\"t\", 1, 1]", {"m.toml:8: lagrangian.bodies.top.inertia", "cannot depend on t"}},
      {"fixed = [0, 0, 1]", "", {"m.toml:9: lagrangian.bodies.top.center", "leave 'center' out"}},
      {"bodies.top]\nmass",
       "bodies]\nmass",
       {"m.toml:7: lagrangian.bodies.mass", "needs a name", "[lagrangian.bodies.top]"}},
      {"[lagrangian.bodies.top]", "[[lagrangian.bodies]]", {"m.toml:6: lagrangian.bodies[0]", "'name' is missing"}},
      {"[lagrangian.bodies.top]", "[lagrangian.bodies.\"a b\"]", {"m.toml:6:", "not a name"}},
      {"l = 0.5", "l = 0.5\ntop_x = 1", {"lagrangian.bodies.top", "'top_x' is declared twice"}},
      {"top_x[2]\"", "tip_x[2]\"", {"m.toml:5: lagrangian.potential", "unknown name 'tip_x'", "'top_x'?"}},
      {"[lagrangian.bodies.top]", "[lagrangian.bodies.rotor]", {"m.toml:5: lagrangian.potential", "unknown name"}},
      {"[initial.bodies.top]", "[initial.bodies.tap]", {"m.toml:11: initial.bodies.tap", "unknown key", "'top'?"}},
      {"rotation =", "rotated =", {"m.toml:12: initial.bodies.top.rotated", "unknown key"}},
      {"axis = [1, 0, 0]", "axis = [0, 0, 0]", {"m.toml:12: initial.bodies.top.rotation.axis", "not zero"}},
      {", angle = \"pi/3\"", "", {"m.toml:12: initial.bodies.top.rotation", "'angle' is missing"}},
      {"{ axis = [1, 0, 0], angle = \"pi/3\" }",
       "[[1, 0, 0], [0, 1, 0], [0, 0, 0.9]]",
       {"m.toml:12: initial.bodies.top.rotation", "not a rotation", "0.19", "an axis and an angle"}},
      {"rotation = { axis = [1, 0, 0], angle = \"pi/3\" }",
       "directors = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]",
       {"m.toml:12: initial.bodies.top.directors", "reflection"}},
      {"{ axis = [1, 0, 0], angle = \"pi/3\" }", "1", {"m.toml:12: initial.bodies.top.rotation", "axis = [1, 0, 0]"}},
      {"angular_velocity = [0, 0, 5]", "angular_velocity = 5", {"m.toml:13:", "three numbers"}},
      {"angular_velocity = [0, 0, 5]",
       "position = [0, 0, 5]",
       {"m.toml:13: initial.bodies.top.position", "leave 'position' out"}},
      {"[integrate]", "[initial]\nposition = [1]\n[integrate]", {"initial.position", "say everything"}},
      {"[integrate]", "[initial]\nmomentum = [1]\n[integrate]", {"initial.momentum", "velocities"}},
      {"potential",
       "multipliers = [\"a\"]\npotential",
       {"m.toml:5: lagrangian.multipliers", "cannot be combined with bodies"}},
      {"potential", "force = { top_x = [0, 0, 1] }\npotential", {"m.toml:5: lagrangian.force.top_x", "unknown key"}},
      {"tip =", "top_d1 =", {"output.quantities.top_d1", "recorded anyway"}},
  };
  for (const Case& c : cases) {
    std::string text = "accepted";
    try {
      parse_model(with(top, c.from, c.to), "m.toml");
    } catch (const InputError& e) {
      text = e.what();
    }
    for (const std::string& word : c.words) EXPECT_TRUE(test::mentions(text, word)) << word << "\n" << text;
  }
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_model(text, "m.toml");
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const std::string start = top.substr(top.find("[initial"), top.find("[integrate") - top.find("[initial"));
  EXPECT_NE(message(with(top, start, "")).find("no section [initial]; give the initial values, as in bodies = { top"),
            std::string::npos);
  EXPECT_NE(message(with(top, start, "[initial]\n")).find("m.toml:11:1: initial: 'bodies' is missing"),
            std::string::npos);
  const std::string plain =
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2\"\n[initial]\nposition = { x = 1 }\nbodies = { }\n";
  EXPECT_NE(message(plain).find("m.toml:6:10: initial.bodies: this system has no bodies"), std::string::npos);
  const std::string twice =
      with(with(top, "[lagrangian.bodies.top]", "[[lagrangian.bodies]]\nname = \"top\""), "[initial.",
           "[[lagrangian.bodies]]\nname = \"top\"\nmass = 1\ninertia = [1, 1, 1]\n[initial.");
  EXPECT_NE(message(twice).find("m.toml:13:8: lagrangian.bodies[1].name: there is a body 'top' already"),
            std::string::npos);
}

}  // namespace
}  // namespace hinge::body_model_test
