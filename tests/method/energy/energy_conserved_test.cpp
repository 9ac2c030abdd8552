// What energy-momentum methods conserve beside the energy, and the condition of their matrices.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "method/energy/energy_problems.hpp"
#include "method/goldens.hpp"

namespace hinge::energy_conserved_test {
namespace {

using goldens::json;
using Treatment = ConstraintTreatment;

// P1: "planar" starts at rest, "3d" out of the plane.
problems::Problem pendulum(bool planar = false) {
  auto problem = problems::double_pendulum();
  problem.start.velocity = planar ? std::vector<double>(6, 0.0) : std::vector<double>{0, 0, 1, 0, 0, 2.5};
  return problem;
}

// P2a: a cone on its tip in steady precession.
problems::Problem top() {
  const double mass = 0.706858347057703, length = 0.075, j = 5.30143760293278e-4, tilt = std::numbers::pi / 3;
  const double inertia[] = {j / 2, j / 2, j / 2 + mass * length * length};
  Lagrangian l;
  const Vector d = l.coordinates("d", {3, 3}), v = l.velocity(d);
  const auto row = [](const Vector& x, std::size_t i) { return x.segment(3 * i, 3); };
  Expression kinetic = 0.0;
  for (std::size_t i = 0; i < 3; ++i) kinetic += 0.5 * inertia[i] * dot(row(v, i), row(v, i));
  l.kinetic(kinetic);
  l.potential(mass * 9.81 * length * d[8]);
  for (std::size_t i = 0; i < 3; ++i) l.constrain((dot(row(d, i), row(d, i)) - 1.0) / 2.0);
  l.constrain(dot(row(d, 0), row(d, 1)));
  l.constrain(dot(row(d, 0), row(d, 2)));
  l.constrain(dot(row(d, 1), row(d, 2)));
  const double c = std::cos(tilt), s = std::sin(tilt), spin = 135.6, precession = 10;
  const double w[] = {0, -s * spin, precession + c * spin};
  const std::vector<double> q = {1, 0, 0, 0, c, s, 0, -s, c};
  std::vector<double> velocity;
  for (std::size_t i = 0; i < 9; i += 3)
    for (const double x :
         {w[1] * q[i + 2] - w[2] * q[i + 1], w[2] * q[i] - w[0] * q[i + 2], w[0] * q[i + 1] - w[1] * q[i]})
      velocity.push_back(x);
  return {l.build(), {.position = q, .velocity = velocity, .consistent = Consistency::project}};
}

Report run_of(const problems::Problem& problem, const MethodChoice& method, double h, double end) {
  Simulation run(problem.system, method, {.step = h});
  run.observe_momentum("L", {.axis = {0, 1, 0}});
  run.start(problem.start);
  run.until(end);
  return run.report();
}

TEST(DiscreteEnergy, OfAPenaltyIsConserved) {
  for (const double mu : {1e3, 1e5, 1e7}) {
    const Report r = run_of(pendulum(), energy_momentum({.constraints = Treatment::penalty, .penalty = mu}), 1e-3, 1);
    ASSERT_TRUE(r.discrete_energy_error);
    EXPECT_LT(*r.discrete_energy_error, 1e-12);  // measured 1e-13, 7e-14, 8e-14
    EXPECT_GT(*r.energy_error, 1e-5);            // measured 1.6e-4 and more: the energy is not
    EXPECT_LT(r.momentum_maps[0].error, 1e-13);  // measured 1e-14
    EXPECT_NEAR(r.momentum_maps[0].value, -6, 1e-13);
  }
}

TEST(DiscreteEnergy, OfGivenMultipliersIsConserved) {
  for (const bool general : {false, true})
    for (const bool warm : {false, true}) {
      const Report r =
          run_of(pendulum(),
                 energy_momentum(
                     {.constraints = Treatment::augmented, .penalty = 1e7, .general = general, .warm_start = warm}),
                 1e-3, 1);
      ASSERT_TRUE(r.discrete_energy_error);
      EXPECT_LT(*r.discrete_energy_error, 5e-12);  // measured 4e-14, 6e-14; general 7e-13, 9e-13
      EXPECT_GT(*r.energy_error,
                1e-10);  // measured 3.5e-9, 9.9e-9, 4.5e-9, 1.0e-8: to the tolerance of the constraints
      EXPECT_LT(*r.energy_error, 2e-8);
    }
}

// Events are found with steps on trial, which are not part of the motion.
TEST(DiscreteEnergy, OfGivenMultipliersIsConservedThroughEvents) {
  for (const Event::Action action : {Event::Action::record, Event::Action::stop}) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 2), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v));
    l.potential(9.81 * q[1]);
    l.constrain((dot(q, q) - 1.0) / 2.0);
    Simulation run(l, energy_momentum({.constraints = Treatment::augmented, .penalty = 1e5}), {.step = 0.01});
    Event event;
    event.name = "through";
    event.root = q[0] - 0.3;
    event.action = action;
    run.watch(event);
    run.start({.position = {1, 0}});
    run.until(3);
    EXPECT_GE(run.report().events.size(), 1u);
    ASSERT_TRUE(run.report().discrete_energy_error);
    EXPECT_LT(*run.report().discrete_energy_error, 1e-13) << static_cast<int>(action);  // measured 1.0e-14
    EXPECT_GT(*run.report().energy_error, 1e-10);                                       // the control, measured 1.6e-9
  }
}

TEST(DiscreteEnergy, IsTheEnergyElsewhere) {
  EXPECT_FALSE(run_of(pendulum(), energy_momentum(), 1e-3, 0.1).discrete_energy_error);
  EXPECT_FALSE(run_of(pendulum(), rattle(), 1e-3, 0.1).discrete_energy_error);
  const auto projected = energy_momentum({.constraints = Treatment::penalty, .penalty = 1e5, .project_velocity = true});
  EXPECT_FALSE(run_of(pendulum(), projected, 1e-3, 0.1).discrete_energy_error);
}

// An old matrix of the penalty is of no use in the next step, where the springs push the other way.
TEST(EnergyMomentum, PenaltyOfAFastTopIsSolved) {
  Simulation run(top().system, energy_momentum({.constraints = Treatment::penalty, .penalty = 1e7}), {.step = 1e-3});
  run.start(top().start);
  run.until(0.1);
  EXPECT_LT(run.report().constraint, 1e-6);              // measured 5.3e-7
  EXPECT_LT(*run.report().discrete_energy_error, 1e-9);  // measured 1e-11
}

TEST(MomentumMaps, AreReportedForEveryMethodAndKindOfSystem) {
  Hamiltonian h;
  const Vector q = h.coordinates("q", {2, 3}), p = h.momenta("p", {2, 3});
  h.hamiltonian(dot(p, p) / 4.0 - 1.0 / norm(q.segment(3, 3) - q.segment(0, 3)));
  for (const MethodChoice& method : {gauss_lobatto(2), rattle(), symplectic_euler(), energy_momentum()}) {
    Simulation run(h, method, {.step = 0.01});
    run.observe_momentum("L", {.axis = {0, 0, 1}});
    run.observe_momentum("shifted", {.axis = {0, 0, 1}, .point = {1, 2, 0}});
    run.observe_momentum("P", {.direction = {0, 2, 0}});
    run.start({.position = {0, 0, 0, 1, 0, 0}, .momentum = {0, 0, 0.1, 0.2, 1, 0}});
    run.until(1);
    const auto& m = run.report().momentum_maps;
    ASSERT_EQ(m.size(), 3u);
    EXPECT_NEAR(m[0].value, 1, 1e-12);
    EXPECT_NEAR(m[1].value, 1 - (1 * 1 - 2 * 0.2), 1e-12);  // L - (point x P).axis, P = (0.2, 1, 0.1)
    EXPECT_NEAR(m[2].value, 2, 1e-12);
    for (const auto& each : m) EXPECT_LT(each.error, 1e-12) << method.description << each.name;  // measured < 2e-15
  }
}

TEST(MomentumMaps, InThePlane) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(1.5 * dot(v, v));
  l.potential(-1.0 / norm(q));
  Simulation run(l, energy_momentum(), {.step = 0.01});
  run.observe_momentum("L", {.axis = {0, 0, 1}});
  run.observe_momentum("P", {.direction = {1, 0}});
  run.start({.position = {1, 0}, .velocity = {0, 0.5}});
  run.until(1);
  const Report r = run.report();
  EXPECT_NEAR(r.momentum_maps[0].value, 1.5, 1e-13);
  EXPECT_LT(r.momentum_maps[0].error, 1e-13);  // measured 7e-15
  EXPECT_GT(r.momentum_maps[1].error, 0.1);    // the control: not conserved
}

TEST(MomentumMaps, ThatDoNotFitAreRefused) {
  const auto refused = [](const problems::Problem& problem, const MomentumMap& map) {
    Simulation run(problem.system, gauss_lobatto(1), {.step = 0.1});
    EXPECT_THROW(run.observe_momentum("L", map), InputError);
  };
  refused(pendulum(), {});
  refused(pendulum(), {.axis = {0, 1, 0}, .direction = {1, 0, 0}});
  refused(pendulum(), {.point = {0, 0, 0}, .direction = {1, 0, 0}});
  refused(pendulum(), {.axis = {0, 1}});
  refused(pendulum(), {.axis = {0, 0, 0}});
  refused(pendulum(), {.direction = {NAN, 0, 0}});
  refused(problems::pendulum(), {.axis = {0, 1, 0}});  // in the plane
  refused(problems::pendulum(), {.direction = {0, 0, 1}});
  refused(problems::s1(), {.axis = {0, 0, 1}});  // no momenta
}

// Golden numbers of an independent implementation, which forms the matrices from their formula.
struct Condition {
  EnergyMomentumOptions options;
  double h, golden;
  MatrixScaling scaling = MatrixScaling::rows_times_h;
};

double condition_of(const problems::Problem& problem, const Condition& c) {
  Simulation run(problem.system, energy_momentum(c.options), {.step = c.h});
  run.start(problem.start);
  return iteration_matrix_condition(problem.system, c.options, run.state(), c.h, c.scaling);
}

// All of tests/data/energy.json: three scalings with multipliers, and penalties in the first step of each problem.
TEST(ConditionNumber, IsThatOfTheGoldenTables) {  // measured: below 1e-9, as_printed at h = 1e-5 1e-7
  const json& golden = goldens::energy()["condition_numbers"];
  const std::pair<const char*, problems::Problem> all[] = {{"pend", pendulum(true)},
                                                           {"cone", problems::heavy_top(problems::cone())},
                                                           {"sw", problems::heavy_top(problems::nodding_top())}};
  const std::pair<const char*, MatrixScaling> scalings[] = {
      {"cond_rows_times_h", MatrixScaling::rows_times_h},
      {"cond_as_printed", MatrixScaling::as_printed},
      {"cond_rows_times_h_unknown_h_lambda", MatrixScaling::multiplier_times_h}};
  for (const auto& [name, problem] : all) {
    const json& multiplier = golden[name]["lm_first_step"];
    for (const auto& [key, scaling] : scalings)
      for (std::size_t k = 0; k < multiplier["h"].size(); ++k) {
        const double h = multiplier["h"][k], value = multiplier[key][k];
        if (value > 1e14) continue;  // 1/eps: the smallest singular value is known to eps times the largest
        EXPECT_NEAR(condition_of(problem, {{}, h, value, scaling}) / value, 1, 1e-8 + 1e-15 * value)
            << name << " " << key << " " << h;
      }
    for (const auto& [mu_text, row] : golden[name]["penalty_first_step"].items())
      for (const auto& [h_text, entry] : row.items()) {
        const double mu = std::stod(mu_text.substr(2)), h = std::stod(h_text.substr(1));
        for (const auto& [key, treatment] : {std::pair{"pen", Treatment::penalty}, {"al", Treatment::augmented}}) {
          // where augmentation is slow, the matrix is one with multipliers that are not those of the golden table
          if (treatment == Treatment::augmented && mu * h * h < 0.05) continue;
          const EnergyMomentumOptions options{
              .constraints = treatment, .penalty = mu, .warm_start = true, .max_augmentations = 1000};
          EXPECT_NEAR(condition_of(problem, {options, h, entry[key]}) / entry[key].get<double>(), 1, 1e-4)
              << name << " " << key << " " << mu_text << " " << h_text;
        }
      }
  }
}

TEST(ConditionNumber, UsesTheOptionsOfTheSolver) {
  const problems::Problem problem = pendulum();
  Simulation run(problem.system, energy_momentum(), {.step = 0.1});
  run.start(problem.start);
  EXPECT_THROW(energy_momentum().condition(problem.system, run.state(), 0.1, {.max_iterations = 1}), StepFailure);
}

TEST(ConditionNumber, IsThereForEnergyMomentumOnly) {
  EXPECT_TRUE(energy_momentum().condition);
  Simulation run(pendulum().system, rattle(), {.step = 0.01});
  EXPECT_THROW(run.observe_condition(), UnsuitableMethod);
}

}  // namespace
}  // namespace hinge::energy_conserved_test
