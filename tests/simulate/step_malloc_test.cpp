// Steps allocate nothing after the first few: malloc is replaced here and counts. Operator new, Eigen and KLU all end
// up in it. Sanitizers replace malloc themselves, so there is nothing to test in their builds.
#include <filesystem>

#include <gtest/gtest.h>

#include "method/problems.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "counting_malloc.hpp"

namespace hinge::step_malloc_test {
namespace {

long allocations_of_1000_steps(Simulation& run) {
  for (int k = 0; k < 20; ++k) run.step();
  const long before = allocations;
  for (int k = 0; k < 1000; ++k) run.step();
  return allocations - before;
}

TEST(Steps, AllocateNothing) {
  const std::vector<problems::Problem> all = {problems::s1(),
                                              problems::s2(),
                                              problems::pendulum(),
                                              problems::relativistic(),
                                              problems::variable_mass(),
                                              problems::double_pendulum(),
                                              problems::rotating_hoop()};
  for (const auto& problem : all)
    for (const MethodChoice& method : {gauss_lobatto(1), gauss_lobatto(2), gauss_lobatto(5), rattle(),
                                       spark(gauss_lobatto_tableau(3)), explicit_runge_kutta(), half_explicit()}) {
      Simulation run(problem.system, method, {.step = 0.001});
      run.start(problem.start);
      EXPECT_EQ(allocations_of_1000_steps(run), 0) << method.description;
    }
}

TEST(Steps, OfRadauAllocateNothing) {
  for (const auto& problem : {problems::pendulum(), problems::double_pendulum(), problems::rotating_hoop()})
    for (const Formulation f : {Formulation::projected_invariants, Formulation::ggl, Formulation::index_1})
      for (const double tolerance : {0.0, 1e-8}) {
        RadauOptions options;
        options.formulation.formulation = f;
        Simulation run(problem.system, radau(options),
                       {.step = tolerance > 0 ? 0 : 0.001, .tolerance = {tolerance, tolerance}});
        run.start(problem.start);
        if (tolerance > 0)
          for (int k = 0; k < 200; ++k) run.step();  // until all numbers of stages have been in use
        EXPECT_EQ(allocations_of_1000_steps(run), 0) << formulation_name(f) << " " << tolerance;
      }
}

TEST(Steps, OfShakeAllocateNothing) {  // for separable systems only
  for (const auto& problem :
       {problems::pendulum(), problems::double_pendulum(), problems::rotating_hoop(), problems::chain(40)}) {
    Simulation run(problem.system, shake(), {.step = 0.001});
    run.start(problem.start);
    EXPECT_EQ(allocations_of_1000_steps(run), 0);
  }
}

TEST(Steps, OfEnergyMomentumAllocateNothing) {  // for conservative systems with a constant mass matrix only
  std::vector<EnergyMomentumOptions> methods;
  for (const auto treatment :
       {ConstraintTreatment::multiplier, ConstraintTreatment::penalty, ConstraintTreatment::augmented})
    for (const bool general : {false, true})
      methods.push_back({.constraints = treatment,
                         .penalty = treatment == ConstraintTreatment::augmented ? 1e8 : 1e4,
                         .general = general,
                         .project_velocity = general});
  methods.push_back({.constraints = ConstraintTreatment::augmented, .penalty = 1e8, .warm_start = true});
  for (const auto& problem : {problems::pendulum(), problems::double_pendulum(), problems::torus()})
    for (const EnergyMomentumOptions& options : methods) {
      const MethodChoice method = energy_momentum(options);
      Simulation run(problem.system, method, {.step = 0.001});
      run.start(problem.start);
      EXPECT_EQ(allocations_of_1000_steps(run), 0) << method.description;
    }
}

TEST(Steps, OfBdfAllocateNothing) {  // but where a chart is chosen anew
  for (const char* form : {"index-3", "ggl", "extended", "projected-invariants"})
    for (const auto& problem : {problems::pendulum(), problems::double_pendulum(), problems::rotating_hoop()})
      for (const bool given : {true, false}) {
        const MethodChoice method = make_method("bdf", {{"formulation", std::string(form)}});
        SimulationOptions options;
        if (given)
          options.step = 0.001;
        else
          options.tolerance = {1e-9, 1e-9};
        Simulation run(problem.system, method, options);
        run.start(problem.start);
        EXPECT_EQ(allocations_of_1000_steps(run), 0) << method.description << given;
      }
}

TEST(Steps, AllocateNothingWithFullNewtonAndSparseMatrices) {
  const auto problem = problems::chain(40);
  for (const SolverOptions& solver :
       {SolverOptions{.linear_algebra = LinearAlgebra::sparse}, SolverOptions{.newton = SolverOptions::Newton::full}}) {
    Simulation run(problem.system, gauss_lobatto(2), {.step = 1e-4, .solver = solver});
    run.start(problem.start);
    EXPECT_EQ(allocations_of_1000_steps(run), 0);
  }
}

TEST(Steps, AllocateNothingWhileRecordingCsv) {
  const auto file = std::filesystem::temp_directory_path() / "hinge_step_malloc_test.csv";
  const auto problem = problems::double_pendulum();
  Simulation run(problem.system, gauss_lobatto(2), {.step = 0.001});
  run.record({file.string(), "allocation test", ""});
  run.start(problem.start);
  EXPECT_EQ(allocations_of_1000_steps(run), 0);
  run.finish();
  std::filesystem::remove(file);
}

TEST(Counter, NoticesAnAllocation) {  // the control
  const long before = allocations;
  const std::vector<double> some(100);
  EXPECT_GT(allocations, before);
  EXPECT_EQ(some.size(), 100u);
}

}  // namespace
}  // namespace hinge::step_malloc_test

#endif
