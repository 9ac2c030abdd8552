// Bodies with shapes between events that are located to round-off: closed forms, balances, and what another method
// says.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::event_driven_shapes_test {
namespace {

const std::string floor_in_space =
    "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 0, 1] }\n";
const std::string floor_in_plane =
    "[multibody]\ngravity = [0, -9.81]\n[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 1] }\n";

Report run(const std::string& text, const MethodChoice& method, double end, State* state = nullptr,
           double step = 0.01) {
  const Model m = parse_model(text + "[integrate]\nstep = 0.01\nend = 1\n", "m.toml");
  Simulation s(m.system, method, {.step = step});
  s.start(m.start);
  s.until(end);
  if (state) *state = s.state();
  return s.report();
}

Report run(const std::string& text, double end, State* state = nullptr) {
  return run(text, make_method("event-driven", {}), end, state);
}

// Slides with the deceleration mu g until t = 2 v/(7 mu g), and rolls with 5/7 v from there on.
TEST(EventDrivenShapes, ABallSlidesAndRolls) {
  const double v = 3, mu = 0.2, g = 9.81, r = 0.1, T = 2 * v / (7 * mu * g), end = 1.5;
  for (const bool plane : {false, true}) {
    const std::string text =
        plane ? floor_in_plane +
                    "friction = 0.2\n[[body]]\nname = \"ball\"\nmass = 2\ninertia = 0.008\nshape = { disk = "
                    "0.1 }\nfriction = 0.2\nposition = [0, 0.1]\nvelocity = [3, 0]\n"
              : floor_in_space +
                    "friction = 0.2\n[[body]]\nname = \"ball\"\nmass = 2\nshape = { sphere = 0.1 }\nfriction "
                    "= 0.2\nposition = [0, 0, 0.1]\nvelocity = [3, 0, 0]\n";
    State s;
    // with two directions slip ends where it is slower than v_stop
    const Report report = run(text, make_method("event-driven", {{"v_stop", 1e-10}}), end, &s);
    EXPECT_NEAR(s.y[0], v * T - mu * g * T * T / 2 + 5 * v / 7 * (end - T), 2e-10);
    EXPECT_NEAR(s.z[0], 5 * v / 7, 2e-10);
    EXPECT_NEAR(s.z[plane ? 2 : 4] * (plane ? -1 : 1), 5 * v / 7 / r, 2e-9);
    EXPECT_NEAR(s.y[plane ? 1 : 2], r, 1e-13);
    ASSERT_TRUE(report.contacts);
    EXPECT_NEAR(report.contacts->friction_loss, 2 * v * v / 2 * 2 / 7, 1e-9);
    EXPECT_TRUE(report.doubts.empty());
  }
}

// Heights and times of bounces, with spin that friction makes: at each impact the slip is so fast that it goes on.
TEST(EventDrivenShapes, ASpinningBallBounces) {
  const double e = 0.8, mu = 0.05, g = 9.81, h = 1;
  State s;
  run(floor_in_space +
          "friction = 0.05\n[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = 0.1 }\nfriction = "
          "0.05\nrestitution = 0.8\nposition = [0, 0, 1.1]\nangular_velocity = [0, 80, 0]\n",
      1, &s);
  const double fall = std::sqrt(2 * h / g), v = g * fall, up = e * v, t = 1 - fall;
  ASSERT_LT(t, 2 * up / g);  // before the second impact
  EXPECT_NEAR(s.y[2], 0.1 + up * t - g * t * t / 2, 1e-11);
  EXPECT_NEAR(s.y[0], mu * (1 + e) * v * t, 1e-11);  // the spin drives it on
  EXPECT_NEAR(s.z[4], 80 - mu * (1 + e) * v * 0.1 / (0.4 * 0.01), 1e-10);
}

// Two spheres meet obliquely, in a draw of places and masses: momentum and energy, and the impulse along the centres.
TEST(EventDrivenShapes, SpheresExchangeMomentum) {
  for (unsigned seed = 1; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const double ma = draw.number(0.5, 3), mb = draw.number(0.5, 3), b = draw.number(-0.12, 0.12),
                 c = draw.number(-0.12, 0.12);
    State s;
    const Report r = run(
        fmt::format("[multibody]\ngravity = [0, 0, 0]\n[[body]]\nname = \"a\"\nmass = {}\nshape = {{ sphere = 0.1 "
                    "}}\nrestitution = 1\nposition = [-1, 0, 0]\nvelocity = [2, 0, 0]\n[[body]]\nname = \"b\"\nmass = "
                    "{}\nshape = {{ sphere = 0.1 }}\nposition = [0, {}, {}]\n",
                    ma, mb, b, c),
        1.3, &s);
    ASSERT_TRUE(r.contacts);
    EXPECT_EQ(r.contacts->impacts, 1);
    const double d = std::sqrt(0.04 - b * b - c * c), n[] = {d / 0.2, b / 0.2, c / 0.2};  // from a to b
    const double impulse = 2 * ma * mb / (ma + mb) * 2 * n[0];
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(s.z[k], (k == 0 ? 2 : 0) - impulse * n[k] / ma, 1e-12);
      EXPECT_NEAR(s.z[6 + k], impulse * n[k] / mb, 1e-12);
    }
    ASSERT_TRUE(r.energy_error);
    EXPECT_LT(*r.energy_error, 1e-12);
  }
}

// A box that falls on a corner, then on others, until it lies: energy less losses is constant, no corner is below.
TEST(EventDrivenShapes, ABoxTumblesWithoutFriction) {
  for (unsigned seed = 1; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const std::string text =
        floor_in_space +
        fmt::format(
            "[[body]]\nname = \"box\"\nmass = 1\nshape = {{ box = [0.3, 0.2, 0.1] }}\nposition = [0, 0, "
            "0.6]\nrestitution = 0.4\nrotation = {{ axis = [{}, {}, {}], angle = {} }}\nangular_velocity = [{}, {}, "
            "{}]\n",
            draw.number(-1, 1), draw.number(-1, 1), draw.number(-1, 1), draw.number(0, 3), draw.number(-3, 3),
            draw.number(-3, 3), draw.number(-3, 3));
    State s, coarse;
    const Report r = run(text, 0.45, &s);
    ASSERT_TRUE(r.contacts);
    EXPECT_GE(r.contacts->impacts, 1);
    EXPECT_LT(std::abs(s.z[0]) + std::abs(s.z[1]), 1e-12);  // nothing pushes it sideways
    run(text, moreau_jean(), 0.45, &coarse, 2e-5);
    for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(s.y[k], coarse.y[k], 5e-3) << k;
  }
}

TEST(EventDrivenShapes, RefusesWhatHasNoSingleGap) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      const Model m = parse_model(text + "[integrate]\nmethod = \"event-driven\"\nstep = 0.01\nend = 0.1\n", "m.toml");
      Simulation s = m.simulation_for("");
      s.start(m.start);
    } catch (const UnsuitableMethod& e) {
      return e.what();
    }
    return "";
  };
  const std::string box = "[[body]]\nname = \"{}\"\nmass = 1\nshape = {{ box = [1, 1, 1] }}\nposition = [0, 0, {}]\n";
  const std::string two =
      complaint(floor_in_space + fmt::format(fmt::runtime(box), "a", 1) + fmt::format(fmt::runtime(box), "b", 3));
  EXPECT_NE(two.find("a and b may touch otherwise; use moreau-jean"), std::string::npos) << two;
  const std::string force = complaint(floor_in_space + fmt::format(fmt::runtime(box), "a", 1) +
                                      "[output]\nquantities = { f = \"a_contact_force[2]\" }\n");
  EXPECT_NE(force.find("does not tell the forces of contacts"), std::string::npos) << force;
}

}  // namespace
}  // namespace hinge::event_driven_shapes_test
