// Bodies that meet within a step: free flight has no error, so that steps are longer than the meeting.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::event_driven_flights_test {
namespace {

Report run(const std::string& text, const SimulationOptions& options, double end, State& state) {
  const Model m = parse_model(text + "[integrate]\nstep = 0.01\nend = 1\n", "m.toml");
  Simulation s(m.system, make_method("event-driven", {}), options);
  s.start(m.start);
  s.until(end);
  state = s.state();
  return s.report();
}

SimulationOptions drawn_steps(Draw& draw, double time) {
  SimulationOptions options;
  if (draw.chance(0.7)) {
    const double tolerance = draw.power(-8, -3);
    options.step = 0;
    options.tolerance = {tolerance, tolerance};
  } else {
    options.step = time * draw.power(-2, 1);
  }
  return options;
}

// Two equal masses with the offset c (ra + rb) across their way meet where c < 1, and swap their velocities along the
// line of centres: of the first what is left is v (share - 1 + c^2).
TEST(EventDrivenFlights, BallsMeetWhereGeometrySaysSo) {
  Draw draw(7);
  int met = 0, passed = 0;
  for (int n = 0; n < 150; ++n) {
    const int kind = draw.integer(0, 2);  // disks, spheres, a gap given by an expression
    const double ra = draw.power(-3, 0), rb = draw.power(-3, 0), R = ra + rb, D = R * (1 + draw.power(-1, 3)),
                 v = draw.power(-1, 3), share = draw.unit();
    double c = 1.5 * draw.unit();
    if (std::abs(c - 1) < 0.01) c = 0.5;
    const char* zero = kind == 1 ? ", 0" : "";
    const auto body = [&](const char* name, double r, double x, double y, double speed) {
      return fmt::format(
          "[[body]]\nname = \"{}\"\nmass = 1\nshape = {{ {} = {:.17g} }}\nposition = [{:.17g}, {:.17g}{}]\n"
          "velocity = [{:.17g}, 0{}]\n",
          name, kind == 1 ? "sphere" : "disk", r, x, y, zero, speed, zero);
    };
    const std::string text =
        kind == 2 ? fmt::format(
                        "[lagrangian]\ncoordinates = [\"x\", \"y\", \"u\", \"w\"]\n"
                        "kinetic = \"(x'^2 + y'^2 + u'^2 + w'^2)/2\"\n"
                        "unilateral = [{{ gap = \"sqrt((x - u)^2 + (y - w)^2) - {:.17g}\", restitution = 1 }}]\n"
                        "[initial]\nposition = {{ x = {:.17g}, y = {:.17g}, u = 0, w = 0 }}\n"
                        "velocity = {{ x = {:.17g}, y = 0, u = {:.17g}, w = 0 }}\n",
                        R, -D, c * R, v * share, -v * (1 - share))
                  : fmt::format("[multibody]\ngravity = [0, 0{}]\n{}{}[contact]\nrestitution = 1\n", zero,
                                body("a", ra, -D, c * R, v * share), body("b", rb, 0, 0, -v * (1 - share)));
    State s;
    const Report report = run(text, drawn_steps(draw, D / v), 1.7 * D / v, s);
    const bool meets = c < 1 && std::sqrt(1 - c * c) * R < D;
    (meets ? met : passed) += 1;
    ASSERT_TRUE(report.contacts);
    EXPECT_EQ(report.contacts->impacts, meets ? 1 : 0) << n << "\n" << text;
    EXPECT_NEAR(s.z[0], v * (meets ? share - 1 + c * c : share), 1e-7 * v) << n << "\n" << text;
  }
  EXPECT_GT(met, 50);
  EXPECT_GT(passed, 20);
}

// A disk falls onto a fixed one beside its centre.
TEST(EventDrivenFlights, ADiskFallsOntoAPeg) {
  Draw draw(8);
  const double g = 9.81;
  for (int n = 0; n < 40; ++n) {
    const double R = draw.power(-2, -0.5), height = draw.power(0, 2), c = 0.9 * draw.unit(),
                 way = height - R * std::sqrt(1 - c * c), v = std::sqrt(2 * g * way), t = v / g,
                 end = t + 0.01 * std::sqrt(R / g);
    const std::string text = fmt::format(
        "[multibody]\ngravity = [0, -9.81]\n[[body]]\nname = \"b\"\nmass = 1\nshape = {{ disk = {0:.17g} }}\n"
        "position = [{1:.17g}, {2:.17g}]\n[[body]]\nname = \"peg\"\nfixed = true\nshape = {{ disk = {0:.17g} }}\n"
        "[contact]\nrestitution = 1\n",
        R / 2, c * R, height);
    State s;
    const Report report = run(text, drawn_steps(draw, t), end, s);
    ASSERT_TRUE(report.contacts);
    EXPECT_EQ(report.contacts->impacts, 1) << text;
    EXPECT_NEAR(s.z[0], 2 * v * c * std::sqrt(1 - c * c), 1e-7 * v) << text;
    EXPECT_NEAR(s.z[1], v - 2 * v * c * c - g * (end - t), 1e-7 * v) << text;
  }
}

// A mass reaches a wall at the end of a step, up to rounding, as round numbers make it do.
TEST(EventDrivenFlights, ImpactsOnTheBordersOfSteps) {
  Draw draw(9);
  for (int n = 0; n < 200; ++n) {
    const int steps = draw.integer(1, 200);
    const double h = draw.one_of<double>({0.1, 0.01, 0.001, 0.005, 0.03}), e = draw.one_of<double>({1, 0.5, 0.8}),
                 v = draw.number(0.5, 20), y = draw.one_of<double>({0, 1, 1000}), end = (steps + 20.5) * h;
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"y\"]\nkinetic = \"y'^2/2\"\n"
        "unilateral = [{{ gap = \"y - {:.17g}\", restitution = {:.17g} }}]\n"
        "[initial]\nposition = {{ y = {:.17g} }}\nvelocity = {{ y = {:.17g} }}\n",
        y, e, y + v * h * steps, -v);
    State s;
    const Report report = run(text, {.step = h}, end, s);
    ASSERT_TRUE(report.contacts);
    EXPECT_EQ(report.contacts->impacts, 1) << text;
    EXPECT_NEAR(s.z[0], e * v, 1e-12 * v) << text;
    EXPECT_NEAR(s.y[0], y + e * v * (end - steps * h), 1e-11 * (y + v)) << text;
  }
}

// From rest against dry friction and a spring: the slip ends where the speed is (F - f)/w sin(w t) = 0, and sticks
// there.
TEST(EventDrivenFlights, SlipFromRestEndsInSticking) {
  Draw draw(10);
  for (int n = 0; n < 60; ++n) {
    const double k = draw.number(1, 50), f = draw.number(0.3, 1), F = f * (1 + 1.9 * (0.05 + 0.9 * draw.unit())),
                 m = draw.number(0.2, 3), h = draw.one_of<double>({0.001, 0.005, 0.02});
    const std::string text = fmt::format(
        "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"b\"\nmass = {:.17g}\ninertia = 1\nposition = [0, 0]\n"
        "[[joint]]\nname = \"j\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"b\"]\naxis = [1, 0]\n"
        "friction = {{ force = {:.17g} }}\nstiffness = {:.17g}\nmotor = {{ force = \"{:.17g}\" }}\n",
        m, f, k, F);
    State s;
    const Report report = run(text, {.step = h}, 1.5 * std::acos(-1.0) * std::sqrt(m / k), s);
    ASSERT_TRUE(report.contacts);
    EXPECT_NEAR(s.y[0], 2 * (F - f) / k, 1e-10) << text;
    EXPECT_NEAR(s.z[0], 0, 1e-12) << text;
    EXPECT_NEAR(report.contacts->friction_loss, f * 2 * (F - f) / k, 1e-9) << text;
  }
}

}  // namespace
}  // namespace hinge::event_driven_flights_test
