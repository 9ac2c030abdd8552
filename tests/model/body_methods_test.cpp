// Every method that says it takes contacts, on bodies with shapes: it holds them up, or it refuses.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::body_methods_test {
namespace {

std::string scene(bool plane, const std::string& contact = "") {
  return plane ? R"(
[multibody]
gravity = [0, -9.81]
[[body]]
name = "floor"
shape = { plane = [0, 1] }
fixed = true
[[body]]
name = "ball"
mass = 2
shape = { disk = 0.5 }
position = [0, 0.7]
[contact]
)" + contact
               : R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
shape = { plane = [0, 0, 1] }
fixed = true
[[body]]
name = "ball"
mass = 2
shape = { sphere = 0.5 }
position = [0, 0, 0.7]
[contact]
)" + contact;
}

// The height of the ball's lowest point at t = 2; +1000 where the method refuses.
double lowest(const MethodChoice& method, bool plane) {
  const Model model = parse_model(scene(plane), "scene.toml");
  try {
    Simulation run(model.system, method, {.step = 0.01});
    run.start(model.start);
    run.until(2);
    EXPECT_TRUE(std::isfinite(run.state().y[0]));
    return run.state().y[plane ? 1 : 2] - 0.5;
  } catch (const UnsuitableMethod& e) {
    EXPECT_NE(std::string(e.what()).find("moreau-jean"), std::string::npos) << e.what();
    return 1000;
  }
}

TEST(BodyMethods, HoldBodiesUpOrRefuse) {
  int tried = 0, refused[2] = {};
  for (const MethodInfo& info : methods()) {
    MethodChoice method;
    try {
      method = make_method(info.name, {});
    } catch (const InputError&) {
      continue;  // needs options; such methods take no contacts
    }
    if (!method.info.can.contacts) continue;
    ++tried;
    for (const bool plane : {true, false}) {
      const double height = lowest(method, plane);
      EXPECT_GE(height, -0.05) << info.name << (plane ? " in the plane" : " in space");  // O(h) where it overruns
      refused[plane ? 0 : 1] += height > 900 ? 1 : 0;
    }
  }
  EXPECT_EQ(tried, 5);
  EXPECT_EQ(refused[0], 0);
  EXPECT_EQ(refused[1], 1);  // paoli-schatzman
}

// A disk that falls, rolls and comes to rest on the floor by the two other methods that take bodies in the plane.
TEST(BodyMethods, DisksInThePlane) {
  for (const char* name : {"paoli-schatzman", "generalized-alpha"}) {
    const Model model = parse_model(scene(true, "friction = 0.3\n"), "scene.toml");
    Simulation run(model.system, make_method(name, {}), {.step = 1e-3});
    Start start = model.start;
    start.velocity[0] = 0.5;
    run.start(start);
    run.until(1);
    const State& s = run.state();
    EXPECT_NEAR(s.y[1], 0.5, 1e-12) << name;
    EXPECT_NEAR(s.z[1], 0, 1e-10) << name;
    // a disk rolls at 2/3 of its speed, whatever friction has done on the way; friction acts in the middle of what is
    // left of the gap where contacts are sought, which is O(h). Measured 5.3e-5, 1.7e-5, and of the slip 1.6e-6
    EXPECT_NEAR(s.z[0], 1.0 / 3, 1e-4) << name;
    EXPECT_NEAR(s.z[0] + 0.5 * s.z[2], 0, 3e-6) << name;
    EXPECT_LT(run.report().contacts->penetration, 1e-12) << name;
  }
}

// Newton's law with restitution and friction may create energy, between bodies as elsewhere.
TEST(BodyMethods, WarnOfRestitutionWithFriction) {
  const auto warnings = [](bool plane, const std::string& contact) {
    const Model model = parse_model(scene(plane, contact), "scene.toml");
    return Simulation(model.system, moreau_jean({.impact = ImpactLaw::newton}), {.step = 0.01}).report().warnings;
  };
  for (const bool plane : {true, false}) {
    EXPECT_TRUE(warnings(plane, "friction = 0.5\n").empty());
    EXPECT_TRUE(warnings(plane, "restitution = 0.5\n").empty());
    const auto both = warnings(plane, "friction = 0.5\nrestitution = 0.5\n");
    ASSERT_EQ(both.size(), 1u);
    EXPECT_NE(both[0].find("ball"), std::string::npos) << both[0];
  }
}

// What is not measured is not reported as zero.
TEST(BodyMethods, MomentumBalanceIsReportedWhereItIsMeasured) {
  const Model model = parse_model(scene(true), "scene.toml");
  for (const char* name : {"moreau-jean", "paoli-schatzman", "generalized-alpha"}) {
    Simulation run(model.system, make_method(name, {}), {.step = 1e-2});
    run.start(model.start);
    run.until(0.5);
    std::ostringstream text;
    text << run.report();
    EXPECT_EQ(text.str().find("momentum balance") != std::string::npos, std::string(name) == "moreau-jean") << name;
    EXPECT_NE(text.str().find("energy lost in friction"), std::string::npos);  // the lines around it are there
  }
}

// One disk strikes a row of others from the side: those far away take part when it is their turn.
TEST(BodyMethods, DisksPushEachOther) {
  std::string text = "[multibody]\ndimension = 2\n";
  for (int k = 0; k < 4; ++k)
    text += "[[body]]\nname = \"d" + std::to_string(k) + "\"\nmass = 1\nshape = { disk = 0.5 }\nposition = [" +
            std::to_string(1.1 * k) + ", 0]\n" + (k == 0 ? "velocity = [1, 0]\n" : "");
  for (const char* name : {"paoli-schatzman", "generalized-alpha"}) {
    const Model model = parse_model(text, "scene.toml");
    Simulation run(model.system, make_method(name, {}), {.step = 1e-2});
    run.start(model.start);
    run.until(4);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(run.state().z[3 * k], 0.25, 1e-12) << name << " " << k;  // all together, without restitution
      if (k > 0) {
        EXPECT_GE(run.state().y[3 * k] - run.state().y[3 * k - 3], 1 - 1e-9) << name << " " << k;
      }
    }
  }
}

// Ten disks fall between walls, with friction: hyperstatic, so that impulses are not unique, and contacts that open and
// close within the iterations of a step. generalized-alpha goes through, and nothing is penetrated.
TEST(BodyMethods, PileOfDisksByGeneralizedAlpha) {
  for (const int shift : {0}) {
    std::string text =
        "[multibody]\ngravity = [0, -9.81]\n"
        "[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 1] }\n"
        "[[body]]\nname = \"left\"\nfixed = true\nshape = { plane = [1, 0] }\n"
        "[[body]]\nname = \"right\"\nfixed = true\nshape = { plane = [-1, 0] }\nposition = [1.6, 0]\n"
        "[contact]\nfriction = 0.4\n";
    for (int k = 0; k < 10; ++k) {
      const double radius = 0.15 + 0.01 * ((7 * k + shift) % 11), mass = 10 * radius * radius;
      text += fmt::format("[[body]]\nname = \"d{}\"\nmass = {}\nshape = {{ disk = {} }}\nposition = [{}, {}]\n", k,
                          mass, radius, 0.3 + 0.01 * ((37 * k + 11 * shift) % 100), 0.3 + 0.55 * k);
    }
    const Model model = parse_model(text, "pile.toml");
    Simulation run(model.system, generalized_alpha(), {.step = 5e-3});
    run.start(model.start);
    ASSERT_NO_THROW(run.until(1.3)) << shift;
    EXPECT_LT(run.report().contacts->penetration, 1e-12) << shift;
  }
}

}  // namespace
}  // namespace hinge::body_methods_test
