// Event-driven motion against closed forms: impact times, accumulation points, stick and slip, lift-off.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"

namespace hinge::event_driven_test {
namespace {

constexpr double g = 9.81;

std::vector<double> times_of(const Report& report, const std::string& what) {
  std::vector<double> times;
  for (const auto& event : report.contacts->events)
    if (event.what.find(what) != std::string::npos) times.push_back(event.t);
  return times;
}

Lagrangian ball(double e) {
  Lagrangian l;
  const Expression q = l.coordinate("q"), v = l.velocity(q);
  l.kinetic(0.5 * v * v);
  l.potential(g * q);
  l.unilateral(q, {.name = "floor", .restitution = e});
  return l;
}

Report bounce(double e, double end, const MethodChoice& method, SimulationOptions options = {.step = 0.1}) {
  Simulation run(ball(e), method, options);
  run.start({.position = {1}, .velocity = {0}});
  run.until(end);
  return run.report();
}

TEST(EventDriven, BallAccumulatesAtZenosTime) {
  const double t1 = 0.4515236409857309;
  for (const double e : {0.5, 0.8}) {
    const Report report = bounce(e, 5, event_driven());
    EXPECT_EQ(report.contacts->impacts, e == 0.5 ? 23 : 69);  // as the independent implementation counts
    const std::vector<double> impacts = times_of(report, "impact of floor"), zeno = times_of(report, "accumulated");
    ASSERT_EQ(zeno.size(), 1u);
    EXPECT_NEAR(zeno[0] / (t1 * (1 + e) / (1 - e)), 1, 1e-13);
    double t = t1, flight = 2 * t1 * e;
    for (std::size_t k = 0; k < 10; ++k) {
      EXPECT_NEAR(impacts[k], t, 1e-13) << k;
      t += flight;
      flight *= e;
    }
    EXPECT_EQ(report.final.y[0], 0);
    EXPECT_EQ(report.final.z[0], 0);
    EXPECT_NEAR(report.contacts->impact_loss, g, 1e-11);  // all of the energy
  }
}

TEST(EventDriven, ImpactsDoNotDependOnTheBaseMethod) {
  EventDrivenOptions lobatto, implicit, tolerant;
  lobatto.base = gauss_lobatto(2);  // exact for parabolas, with steps of given length
  implicit.base = radau();
  for (const auto& options : {lobatto, implicit})
    EXPECT_NEAR(times_of(bounce(0.5, 1.2, event_driven(options)), "impact")[2], 1.1288091024643272, 1e-12);
  EXPECT_NEAR(times_of(bounce(0.5, 1.2, event_driven(tolerant), {.step = 0, .tolerance = {1e-10, 1e-10}}), "impact")[2],
              1.1288091024643272, 1e-12);
}

TEST(EventDriven, ElasticBallKeepsItsEnergy) {
  const Report report = bounce(1, 20, event_driven());
  EXPECT_EQ(report.contacts->impacts, 22);
  EXPECT_LE(*report.energy_error, 1e-11);  // measured 2e-13
}

// x'' = -4 (x - 1/4), x >= 0, e = 0.8
TEST(EventDriven, ImpactOscillator) {
  Lagrangian l;
  const Expression x = l.coordinate("x"), v = l.velocity(x);
  l.kinetic(0.5 * v * v);
  l.potential(2.0 * (x - 0.25) * (x - 0.25));
  l.unilateral(x, {.restitution = 0.8});
  Simulation run(l, event_driven(), {.step = 0.5});
  run.start({.position = {2}, .velocity = {0}});
  run.until(10);
  const std::vector<double> impacts = times_of(run.report(), "impact");
  EXPECT_NEAR(impacts[0], 0.857071947850131, 1e-12);
  EXPECT_NEAR(impacts[1], 2.6063698994874587, 1e-12);
  EXPECT_NEAR(impacts[2], 4.398982645344298, 1e-12);
  EXPECT_NEAR(run.state().y[0], 0.16641337200993123, 1e-11);
  EXPECT_NEAR(run.state().z[0], -1.2290416149524797, 1e-11);
}

// A point on an incline: slips, stops, and stays or goes back, by the angle.
Lagrangian incline(double angle, double mu) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * (q[1] * std::cos(angle) + q[0] * std::sin(angle)));  // q[0] points uphill
  l.unilateral(q[1], {.name = "plane", .friction = mu});
  return l;
}

TEST(EventDriven, BlockStopsWhereTheoryHasIt) {
  const double angle = 20 * std::numbers::pi / 180, mu = 0.5;
  Simulation run(incline(angle, mu), event_driven(), {.step = 0.25});
  run.start({.position = {0, 0}, .velocity = {-2, 0}});
  run.until(3);
  const std::vector<double> stops = times_of(run.report(), "plane sticks");
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_NEAR(stops[0], 1.5949285114815, 1e-12);
  EXPECT_NEAR(run.state().y[0], -1.5949285114815, 1e-12);
  EXPECT_EQ(run.state().z[0], 0);
  EXPECT_NEAR(run.report().contacts->friction_loss, mu * g * std::cos(angle) * 1.5949285114815, 1e-11);
  EXPECT_EQ(run.report().contacts->impact_loss, 0);  // no impacts
}

TEST(EventDriven, BlockReturnsOnASteepIncline) {
  const double angle = 40 * std::numbers::pi / 180, mu = 0.5;  // tan(40) > mu
  const double up = g * (std::sin(angle) + mu * std::cos(angle)), down = g * (std::sin(angle) - mu * std::cos(angle));
  Simulation run(incline(angle, mu), event_driven(), {.step = 0.25});
  run.start({.position = {0, 0}, .velocity = {2, 0}});
  run.until(1);
  const double turn = 2 / up;
  EXPECT_NEAR(run.state().z[0], -down * (1 - turn), 1e-12);
  EXPECT_NEAR(run.state().y[0], 2 / up - 0.5 * down * (1 - turn) * (1 - turn), 1e-12);
}

TEST(EventDriven, SticksBelowAndSlipsAboveTheThreshold) {
  for (const double slope : {0.499, 0.501}) {
    Simulation run(incline(std::atan(slope), 0.5), event_driven(), {.step = 0.25});
    run.start({.position = {0, 0}, .velocity = {0, 0}});
    run.until(1);
    if (slope < 0.5)
      EXPECT_EQ(run.state().y[0], 0);
    else
      EXPECT_NEAR(run.state().z[0], -g * std::cos(std::atan(slope)) * 0.001, 1e-12);
  }
}

// A block pushed by a growing force leaves at mu N.
TEST(EventDriven, SlipsWhenTheForceReachesTheCone) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[1]);
  l.force(q, Vector{2.0 * l.t(), 0.0});
  l.unilateral(q[1], {.name = "floor", .friction = 0.4});
  Simulation run(l, event_driven(), {.step = 0.3});
  run.start({.position = {0, 0}, .velocity = {0, 0}});
  run.until(3);
  const double start = 0.4 * g / 2;
  ASSERT_EQ(times_of(run.report(), "slips forward").size(), 1u);
  EXPECT_NEAR(times_of(run.report(), "slips forward")[0], start, 1e-11);
  EXPECT_NEAR(run.state().z[0], (9 - start * start) - 0.4 * g * (3 - start), 1e-10);
}

// A point slides down a ball from the top: it leaves where cos = 2/3 of the height.
TEST(EventDriven, PointLeavesTheBall) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[1]);
  l.unilateral(sqrt(dot(q, q)) - 1.0, {.name = "ball"});
  const double a = 0.1, v0 = 0.3;  // cos at lift-off from energy: 3 cos = 2 cos a + v0^2/g
  Simulation run(l, event_driven(), {.step = 0.05});
  run.watch(
      {.name = "left", .root = q[1] - (2 * std::cos(a) + v0 * v0 / g) / 3, .direction = Event::Direction::falling});
  run.start({.position = {std::sin(a), std::cos(a)}, .velocity = {v0 * std::cos(a), -v0 * std::sin(a)}});
  run.until(1.5);
  const std::vector<double> opens = times_of(run.report(), "ball opens");
  ASSERT_EQ(opens.size(), 1u);
  ASSERT_EQ(run.report().events.size(), 1u);
  EXPECT_NEAR(opens[0], run.report().events[0].state.t, 1e-10);
  EXPECT_LE(*run.report().energy_error, 1e-11);
}

// A mass on a string that goes slack, and tight again.
TEST(EventDriven, StringGoesSlack) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[1]);
  l.unilateral(1.0 - sqrt(dot(q, q)), {.name = "string"});
  Simulation run(l, event_driven(), {.step = 0.02});
  const double v0 = std::sqrt(3.5 * g);  // enough to leave the circle above the middle, not to go over the top
  run.start({.position = {0, -1}, .velocity = {v0, 0}});
  run.until(2);
  const std::vector<double> slack = times_of(run.report(), "string opens");
  ASSERT_GE(slack.size(), 1u);
  Simulation until(l, event_driven(), {.step = 0.02});
  until.start({.position = {0, -1}, .velocity = {v0, 0}});
  until.until(slack[0]);
  // slack where v^2 = -g y, with v^2 = v0^2 - 2 g (y + 1):  y = (v0^2/g - 2)/3
  EXPECT_NEAR(until.state().y[1], (3.5 - 2) / 3, 1e-9);
  EXPECT_GE(times_of(run.report(), "impact of string").size(), 1u);
}

TEST(EventDriven, CradleByImpactLaw) {
  const auto cradle = [](ImpactLaw law) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 5), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v));
    for (std::size_t k = 0; k < 4; ++k) l.unilateral(q[k + 1] - q[k] - 1.0, {.restitution = 1});
    EventDrivenOptions options;
    options.impact = law;
    Simulation run(l, event_driven(options), {.step = 0.1});
    run.start({.position = {-0.5, 1, 2, 3, 4}, .velocity = {1, 0, 0, 0, 0}});
    run.until(1);
    return run.state().z;
  };
  const std::vector<double> together{-0.6, 0.4, 0.4, 0.4, 0.4}, one_by_one{0, 0, 0, 0, 1};
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(cradle(ImpactLaw::newton)[k], together[k], 1e-13);
    EXPECT_NEAR(cradle(ImpactLaw::poisson)[k], together[k], 1e-13);
    EXPECT_NEAR(cradle(ImpactLaw::sequential)[k], one_by_one[k], 1e-13);
  }
}

// In space the slip has a direction: a puck with friction runs straight and stops after v^2/(2 mu g).
TEST(EventDriven, PuckStopsInSpace) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[2]);
  l.unilateral(q[2], {.name = "ice", .friction = 0.1});
  Simulation run(l, event_driven(), {.step = 0.1});
  run.start({.position = {0, 0, 0}, .velocity = {3, 4, 0}});
  run.until(6);
  const double distance = 25 / (2 * 0.1 * g);
  EXPECT_NEAR(run.state().y[0], 0.6 * distance, 1e-9);
  EXPECT_NEAR(run.state().y[1], 0.8 * distance, 1e-9);
  EXPECT_LE(std::hypot(run.state().z[0], run.state().z[1]), 1.1e-6);
}

// Friction's work where its power is no polynomial: a magnet turns the puck while friction stops it.
TEST(EventDriven, FrictionTakesTheEnergyThatIsMissing) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[2] + 2.0 * sin(q[0]));
  l.force(q, Vector{3.0 * v[1], -3.0 * v[0], 0.0});
  l.unilateral(q[2], {.name = "ice", .friction = 0.1});
  Simulation run(l, event_driven(), {.step = 0.02});
  run.start({.position = {0, 0, 0}, .velocity = {3, 4, 0}});
  run.until(2);
  EXPECT_GT(run.report().contacts->friction_loss, 5);
  EXPECT_NEAR(run.report().contacts->friction_loss, 12.5 - *run.report().energy, 1e-10);
}

// With a base whose steps have given length, whose error is that of the energy; and events of the user, for which steps
// are repeated, count nothing twice.
TEST(EventDriven, FrictionIsCountedOnceWithStepsOfGivenLength) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[1] + 2.0 * sin(3.0 * q[0]));
  l.unilateral(q[1], {.name = "floor", .friction = 0.1, .slip = {v[0]}});
  EventDrivenOptions lobatto;
  lobatto.base = gauss_lobatto(4);
  Simulation run(l, event_driven(lobatto), {.step = 0.02});
  run.watch({.name = "passes", .root = q[0] - 1.0, .direction = Event::Direction::rising});
  run.start({.position = {0, 0}, .velocity = {4, 0}});
  run.until(1);
  EXPECT_EQ(run.report().events.size(), 1u);
  EXPECT_GT(run.report().contacts->friction_loss, 2);
  EXPECT_NEAR(run.report().contacts->friction_loss, 8 - *run.report().energy, 1e-9);
}

// From rest in space: a force that grows beyond the cone, along a direction of no coordinate, against the closed form
// of the plane.
TEST(EventDriven, SlipsInSpaceWhenTheForceReachesTheCone) {
  const double mu = 0.3, c = 0.6, s = 0.8;
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[2]);
  l.force(q, Vector{3.0 * c * l.t(), 3.0 * s * l.t(), 0.0});
  l.unilateral(q[2], {.name = "floor", .friction = mu, .slip = {v[0], v[1]}});
  Simulation run(l, event_driven(), {.step = 0.1});
  run.start({.position = {0, 0, 0}, .velocity = {0, 0, 0}});
  run.until(2);
  const double start = mu * g / 3, tau = 2 - start;  // 0.981; then v' = 3 tau
  const std::vector<double> slides = times_of(run.report(), "slides");
  ASSERT_EQ(slides.size(), 1u);
  EXPECT_NEAR(slides[0], start, 1e-11);
  const double speed = 1.5 * tau * tau, way = 0.5 * tau * tau * tau;
  EXPECT_NEAR(run.state().z[0], c * speed, 1e-10);
  EXPECT_NEAR(run.state().z[1], s * speed, 1e-10);
  EXPECT_NEAR(run.state().y[0], c * way, 1e-10);
  EXPECT_NEAR(run.state().y[1], s * way, 1e-10);
  EXPECT_NEAR(run.report().contacts->friction_loss, mu * g * way, 1e-10);
}

// On an incline that is too steep, from rest: down the fall line at once; and below the angle of friction it stays.
TEST(EventDriven, SlidesDownFromRestInSpace) {
  const double angle = 20 * std::numbers::pi / 180;
  for (const double mu : {0.2, 0.5}) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 3), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v));
    l.potential(g * (std::cos(angle) * q[2] - std::sin(angle) * (0.6 * q[0] + 0.8 * q[1])));
    l.unilateral(q[2], {.name = "slope", .friction = mu, .slip = {v[0], v[1]}});
    Simulation run(l, event_driven(), {.step = 0.1});
    run.start({.position = {0, 0, 0}, .velocity = {0, 0, 0}});
    run.until(1);
    const double a = std::max(0.0, g * (std::sin(angle) - mu * std::cos(angle)));
    EXPECT_NEAR(run.state().y[0], 0.6 * a / 2, 1e-11) << mu;
    EXPECT_NEAR(run.state().y[1], 0.8 * a / 2, 1e-11) << mu;
  }
}

// Straight up the incline: it stops, up to v_stop, and comes back.
TEST(EventDriven, ReturnsOnASteepInclineInSpace) {
  const double angle = 40 * std::numbers::pi / 180, mu = 0.5;
  const double up = g * (std::sin(angle) + mu * std::cos(angle)), down = g * (std::sin(angle) - mu * std::cos(angle));
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * (std::cos(angle) * q[2] + std::sin(angle) * q[0]));
  l.unilateral(q[2], {.name = "slope", .friction = mu, .slip = {v[0], v[1]}});
  Simulation run(l, event_driven(), {.step = 0.25});
  run.start({.position = {0, 0, 0}, .velocity = {2, 0, 0}});
  run.until(1);
  const double turn = 2 / up;
  EXPECT_NEAR(run.state().z[0], -down * (1 - turn), 1e-6);  // v_stop
  EXPECT_NEAR(run.state().y[0], 2 / up - 0.5 * down * (1 - turn) * (1 - turn), 1e-6);
}

// A force that turns while it grows. Until slip is faster than 2 v_stop it goes straight on: an error of that order,
// which does not grow. By time stepping as a reference of another kind.
TEST(EventDriven, SetsOffWhereTheForceTurns) {
  const double mu = 0.3;
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[2]);
  l.force(q, Vector{3.0 * l.t() * cos(l.t()), 3.0 * l.t() * sin(l.t()), 0.0});
  l.unilateral(q[2], {.name = "floor", .friction = mu, .slip = {v[0], v[1]}});
  const auto speeds = [&](const MethodChoice& method, double h) {
    Simulation run(l, method, {.step = h});
    run.start({.position = {0, 0, 0}, .velocity = {0, 0, 0}});
    run.until(2);
    return run.state().z;
  };
  const auto with = [&](double v_stop) {
    EventDrivenOptions options;
    options.v_stop = v_stop;
    return speeds(event_driven(options), 0.1);
  };
  const std::vector<double> coarse = with(1e-4), fine = with(1e-6), finer = with(1e-7);
  const std::vector<double> stepped = speeds(moreau_jean(), 2e-4);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(coarse[k], finer[k], 5e-5) << k;   // measured 2.8e-5
    EXPECT_NEAR(fine[k], finer[k], 5e-7) << k;     // measured 2.5e-7
    EXPECT_NEAR(stepped[k], finer[k], 1e-4) << k;  // of order 1; with 1e-3 3.2e-4
  }
}

TEST(EventDriven, RefusesWhatItCannotDo) {
  EXPECT_THROW(make_method("event-driven", {{"base", std::string("moreau-jean")}}), InputError);
  EXPECT_THROW(make_method("event-driven", {{"v_stop", -1.0}}), InputError);
}

TEST(EventDriven, ContactsThatSayTheSame) {
  Lagrangian l;
  const Expression q = l.coordinate("q"), v = l.velocity(q);
  l.kinetic(0.5 * v * v);
  l.potential(g * q);
  l.unilateral(q, {.name = "one"});
  l.unilateral(2.0 * q, {.name = "two"});
  Simulation run(l, event_driven(), {.step = 0.1});
  run.start({.position = {0.1}, .velocity = {0}});
  run.until(1);  // one of them carries
  EXPECT_NEAR(run.state().y[0], 0, 1e-15);
  EXPECT_NEAR(run.state().z[0], 0, 1e-15);
}

}  // namespace
}  // namespace hinge::event_driven_test
