// Events: when they happen, what they do, and that the motion stays on its constraints.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "hinge/hinge.hpp"

namespace hinge::events_test {
namespace {

using hinge::Event;

struct Ball {
  hinge::Lagrangian system;
  hinge::Expression y;
  Ball() {
    y = system.coordinate("y");
    system.kinetic(0.5 * system.velocity(y) * system.velocity(y));
    system.potential(9.81 * y);
  }
  hinge::Simulation run(double step) { return {system, hinge::gauss_lobatto(2), {.step = step}}; }
};

// A parabola is integrated exactly: times are those of the formula, whatever the step.
TEST(Events, ABallBouncesAtTheTimesOfTheFormula) {
  for (const double step : {0.05, 0.013, 0.3}) {
    Ball ball;
    auto run = ball.run(step);
    run.watch({.name = "floor",
               .root = ball.y,
               .direction = Event::Direction::falling,
               .action = Event::Action::change,
               .velocity = {-0.8 * ball.system.velocity(ball.y)}});
    run.start({.position = {1}});
    run.until(3.5);
    const auto events = run.report().events;
    double t = std::sqrt(2 / 9.81), v = 0.8 * std::sqrt(2 * 9.81);
    ASSERT_GE(events.size(), 8u) << step;
    for (const auto& e : events) {
      EXPECT_NEAR(e.state.t, t, 4e-15) << step;     // measured 8.9e-16
      EXPECT_NEAR(e.state.y[0], 0, 1e-14) << step;  // located to round-off
      t += 2 * v / 9.81;
      v *= 0.8;
    }
    EXPECT_EQ(run.report().end, 3.5);
  }
}

TEST(Events, AccumulatingBouncesAreAFailureThatSaysWhere) {
  Ball ball;
  auto run = ball.run(0.05);
  run.watch({.name = "floor",
             .root = ball.y,
             .direction = Event::Direction::falling,
             .action = Event::Action::change,
             .velocity = {-0.5 * ball.system.velocity(ball.y)}});
  run.start({.position = {1}});
  const double zeno = 3 * std::sqrt(2 / 9.81);
  try {
    run.until(5);
    FAIL() << "no failure";
  } catch (const hinge::StepFailure& e) {
    EXPECT_NE(std::string(e.what()).find("accumulate"), std::string::npos);
    EXPECT_NEAR(e.time, zeno, 1e-8);
    EXPECT_NEAR(run.state().t, zeno, 1e-8);
  }
}

struct Pendulum {
  hinge::Lagrangian system;
  hinge::Vector q, v;
  Pendulum() {
    q = system.coordinates("q", 2);
    v = system.velocity(q);
    system.kinetic(0.5 * dot(v, v));
    system.potential(9.81 * q[1]);
    system.constrain(0.5 * (dot(q, q) - 1.0));
  }
};

// A DAE too: a bounce that is shorter than a step must not let the ball through the floor.
TEST(Events, BouncesOfADaeAccumulateToo) {
  hinge::Dae dae;
  const hinge::Expression y = dae.unknown("y"), v = dae.unknown("v");
  dae.equation(dae.derivative(y) - v);
  dae.equation(dae.derivative(v) + 9.81);
  hinge::Simulation run(dae, hinge::radau(), {.tolerance = {1e-8, 1e-8}});
  run.watch({.name = "floor",
             .root = y,
             .direction = Event::Direction::falling,
             .action = Event::Action::change,
             .velocity = {y, -0.8 * v}});
  run.start({.position = {1, 0}});
  EXPECT_THROW(run.until(10), hinge::StepFailure);
  EXPECT_NEAR(run.state().t, std::sqrt(2 / 9.81) * 9, 1e-6);
  EXPECT_GT(run.state().y[0], -1e-9);
}

TEST(Events, WatchingComesBeforeTheStart) {
  Ball ball;
  auto run = ball.run(0.1);
  run.start({.position = {1}});
  EXPECT_THROW(run.watch({.name = "late", .root = ball.y}), hinge::InputError);
}

TEST(Events, DirectionsAreToldApartAndRecordingDoesNotDisturb) {
  const auto passes = [](Event::Direction direction) {
    Pendulum p;
    hinge::Simulation run(p.system, hinge::gauss_lobatto(3), {.step = 0.01});
    run.watch({.name = "bottom", .root = p.q[0], .direction = direction});
    run.start({.position = {1, 0}});
    run.until(10);
    return run.report();
  };
  const auto both = passes(Event::Direction::both), rising = passes(Event::Direction::rising),
             falling = passes(Event::Direction::falling);
  // released horizontally: quarter periods of K(1/sqrt 2) sqrt(l/g)
  const double quarter = 1.8540746773013719 / std::sqrt(9.81);
  ASSERT_EQ(both.events.size(), 8u);
  EXPECT_EQ(rising.events.size(), 4u);
  EXPECT_EQ(falling.events.size(), 4u);
  for (std::size_t k = 0; k < both.events.size(); ++k)
    EXPECT_NEAR(both.events[k].state.t, (2 * static_cast<double>(k) + 1) * quarter, 1e-9);  // measured 5.6e-11
  Pendulum p;
  hinge::Simulation plain(p.system, hinge::gauss_lobatto(3), {.step = 0.01});
  plain.start({.position = {1, 0}});
  plain.until(10);
  for (int k = 0; k < 2; ++k)
    EXPECT_NEAR(plain.state().y[static_cast<std::size_t>(k)], both.final.y[static_cast<std::size_t>(k)], 1e-12);
}

// sqrt(x) + 1/2 is never zero, and ends where x goes through zero.
TEST(Events, AFunctionThatEndsHasNoRootThere) {
  for (const bool chosen : {true, false}) {
    Pendulum p;
    hinge::SimulationOptions how;
    if (chosen)
      how.tolerance = {1e-8, 1e-8};
    else
      how.step = 0.01;
    hinge::Simulation run(p.system, chosen ? hinge::explicit_runge_kutta() : hinge::gauss_lobatto(3), how);
    run.watch({.name = "none", .root = sqrt(p.q[0]) + 0.5});
    run.start({.position = {1, 0}});
    run.until(3);
    EXPECT_EQ(run.report().events.size(), 0U);
  }
}

TEST(Events, ANewVelocityIsPutOnTheConstraints) {
  Pendulum p;
  hinge::Simulation run(p.system, hinge::gauss_lobatto(2), {.step = 0.01});
  // a blow upwards and sideways at the bottom: only its part along the circle counts
  run.watch({.name = "blow",
             .root = p.q[0],
             .direction = Event::Direction::falling,
             .action = Event::Action::change,
             .velocity = {p.v[0] - 1.0, p.v[1] + 3.0}});
  run.start({.position = {1, 0}});
  run.until(0.6);
  const auto report = run.report();
  ASSERT_EQ(report.events.size(), 1u);
  EXPECT_LT(report.constraint, 1e-14);
  EXPECT_LT(report.hidden_constraint, 1e-13);
  const double v = std::sqrt(2 * 9.81) + 1;  // measured energy: agrees to 1e-8, the error of the method before the blow
  EXPECT_NEAR(*report.energy, v * v / 2 - 9.81, 1e-6);
}

TEST(Events, AStopEndsTheRunThere) {
  Pendulum p;
  hinge::Simulation run(p.system, hinge::gauss_lobatto(2), {.step = 0.01});
  run.watch({.name = "bottom", .root = p.q[0], .action = Event::Action::stop});
  run.start({.position = {1, 0}});
  run.until(10);
  EXPECT_NEAR(run.state().y[0], 0, 1e-15);
  EXPECT_LT(run.report().end, 0.6);
}

// In free flight, x = v t - t^2/2, sin(w x) vanishes at k pi/w: often within one step, and all of it is noticed.
TEST(Events, NoRootIsPassedOverHoweverLongTheStep) {
  std::mt19937 engine(1507);
  const auto draw = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine()) / 4294967296.0;
  };
  for (int trial = 0; trial < 30; ++trial) {
    const double v = draw(1, 4), apart = draw(0.1, 1), top = v * v / 2;
    if (std::abs(std::remainder(top, apart)) < 0.01 * apart) continue;  // hardly a root
    const double end = 1.9 * v;
    std::vector<double> exact;
    for (double x = apart; x < top; x += apart) {
      exact.push_back(v - std::sqrt(v * v - 2 * x));
      if (v + std::sqrt(v * v - 2 * x) < end) exact.push_back(v + std::sqrt(v * v - 2 * x));
    }
    std::sort(exact.begin(), exact.end());
    const hinge::SimulationOptions steps{.step = draw(0.05, 0.9)}, chosen{.tolerance = {1e-9, 1e-9}};
    const std::vector<std::pair<hinge::MethodChoice, hinge::SimulationOptions>> ways = {
        {hinge::rattle(), steps},
        {hinge::gauss_lobatto(2), steps},
        {hinge::make_method("explicit", {}), chosen},
        {hinge::make_method("bdf", {}), chosen},
        {hinge::radau(), chosen},
        {hinge::make_method("taylor", {}), chosen}};
    for (const auto& [method, options] : ways) {
      hinge::Lagrangian system;
      const hinge::Expression x = system.coordinate("x");
      system.kinetic(0.5 * system.velocity(x) * system.velocity(x));
      system.potential(x);
      hinge::Simulation run(system, method, options);
      run.watch({.name = "x", .root = sin(std::numbers::pi / apart * x)});
      run.start({.position = {0}, .velocity = {v}});
      run.until(end);
      const auto found = run.report().events;
      ASSERT_EQ(found.size(), exact.size()) << method.description << ' ' << v << ' ' << apart;
      for (std::size_t k = 0; k < found.size(); ++k)
        EXPECT_NEAR(found[k].state.t, exact[k], 1e-5) << method.description;
      EXPECT_TRUE(run.report().sound()) << verdict_text(run.report());
    }
  }
}

TEST(Events, FunctionsThatVanishTooOftenAreSaid) {
  Ball ball;
  auto run = ball.run(0.05);
  run.watch({.name = "many", .root = sin(1e6 * ball.y)});
  run.start({.position = {1}});
  run.until(0.2);
  EXPECT_NE(verdict_text(run.report()).find("events may have been missed"), std::string::npos);
}

}  // namespace
}  // namespace hinge::events_test
