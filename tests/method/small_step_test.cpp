// Steps of small mechanisms by machine code: number by number those that are made without it, from the first on, and
// past the steps after which the code is made.
#include <random>

#include <gtest/gtest.h>

#include "expression/native.hpp"
#include "formulation/acceleration.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/hinge.hpp"
#include "hinge/model.hpp"
#include "places.hpp"

namespace hinge::small_step_test {
namespace {

struct Use {
  NativeUse before = native_use();
  explicit Use(NativeUse use) { set_native_use(use); }
  ~Use() { set_native_use(before); }
};

// Points on rods, or a rod with a wheel, with masses, lengths and factors that are no powers of two: a chain of up to
// four links in two or three dimensions, with springs to the origin, damped.
std::shared_ptr<const System> random_chain(std::mt19937& random, std::vector<double>& position,
                                           bool separable = false) {
  std::uniform_real_distribution<double> uniform(0.3, 1.7);
  const std::size_t links = 1 + random() % 4, n = 2 + random() % 2;
  const bool ideal = random() % 3 > 0 || separable;
  Lagrangian l;
  const Vector q = l.coordinates("q", {static_cast<int>(links), static_cast<int>(n)}), v = l.velocity(q);
  Expression kinetic = 0.0, potential = 0.0;
  position.clear();
  for (std::size_t i = 0; i < links; ++i) {
    const Vector here = q.segment(n * i, n), speed = v.segment(n * i, n);
    kinetic += uniform(random) * dot(speed, speed);
    potential += 9.81 * uniform(random) * here[1] + uniform(random) * dot(here, here);
    const Vector d = i > 0 ? here - q.segment(n * (i - 1), n) : here;
    const double length = uniform(random);
    const double factor = uniform(random);
    l.constrain(random() % 2 ? factor * (dot(d, d) - length * length) : sqrt(dot(d, d)) - length);
    for (std::size_t k = 0; k < n; ++k)
      position.push_back((i > 0 ? position[position.size() - n] : 0) + (k == i % n ? length : 0));
  }
  l.kinetic(kinetic);
  l.potential(potential);
  if (!ideal) l.force(q, -uniform(random) * v);
  return l.build();
}

struct Ends {
  std::vector<double> numbers;  // y, z, psi of all steps
  Counters counters;
};

Ends run(const std::shared_ptr<const System>& system, const std::vector<double>& position, const MethodChoice& method,
         const SimulationOptions& options, int steps, NativeUse use) {
  const Use now(use);
  Simulation simulation(system, method, options);
  simulation.start({.position = position});
  Ends ends;
  for (int k = 0; k < steps; ++k) {
    simulation.step();
    const State& s = simulation.state();
    for (const auto* part : {&s.y, &s.z, &s.psi}) ends.numbers.insert(ends.numbers.end(), part->begin(), part->end());
  }
  ends.counters = simulation.report().counters;
  return ends;
}

class SmallSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!native_possible()) GTEST_SKIP() << "this processor has no code of ours";
  }
  void expect_same(const MethodChoice& method, const SimulationOptions& options, int steps, unsigned seed,
                   bool separable = false) {
    std::mt19937 random(seed);
    for (int k = 0; k < 12; ++k) {
      SCOPED_TRACE(k);
      std::vector<double> position;
      // the graph of a system remembers what was made of it: each run has its own
      const auto state = random;
      const auto system = random_chain(random, position, separable);
      const long before = native_functions();
      const Ends code = run(system, position, method, options, steps, NativeUse::check);
      EXPECT_GT(native_functions(), before);
      random = state;
      const Ends tape =
          run(random_chain(random, position, separable), position, method, options, steps, NativeUse::off);
      EXPECT_EQ(code.numbers, tape.numbers);
      EXPECT_EQ(code.counters.evaluations, tape.counters.evaluations);
      EXPECT_EQ(code.counters.iterations, tape.counters.iterations);
    }
  }
};

TEST_F(SmallSteps, Explicit) {
  for (const double tolerance : {1e-4, 1e-7, 1e-11})
    expect_same(explicit_runge_kutta(), {.tolerance = {tolerance, tolerance}}, 60, 5);
  expect_same(explicit_runge_kutta({.order = 5}), {.tolerance = {1e-6, 1e-6}}, 60, 6);
}

TEST_F(SmallSteps, GaussLobatto) {
  for (const int stages : {1, 2, 3}) expect_same(gauss_lobatto(stages), {.step = 0.004}, 60, 7);
}

TEST_F(SmallSteps, Rattle) {
  for (const double step : {0.002, 0.02}) expect_same(rattle(), {.step = step}, 60, 8);
}

TEST_F(SmallSteps, Shake) { expect_same(shake(), {.step = 0.002}, 60, 9, true); }

// A matrix of its own for every step: two increments each on both levels.
TEST_F(SmallSteps, RattleSettlesAtOnce) {
  std::mt19937 random(10);
  double most_iterations = 0, most_off = 0;
  for (int k = 0; k < 20; ++k) {
    std::vector<double> position;
    const auto system = random_chain(random, position, true);
    Simulation simulation(system, rattle(), {.step = 0.002});
    simulation.start({.position = position});
    for (int n = 0; n < 300; ++n) simulation.step();
    const Report report = simulation.report();
    most_iterations = std::max(most_iterations, static_cast<double>(report.counters.iterations) / 300);
    most_off = std::max({most_off, report.constraint, report.hidden_constraint});
  }
  EXPECT_LT(most_iterations, 5);  // measured 4.08
  EXPECT_LT(most_off, 3e-14);     // measured 3.6e-15
}

// With velocities that are not z: a Hamiltonian with a magnetic field.
TEST_F(SmallSteps, Hamiltonian) {
  const auto ends = [](NativeUse use) {
    const Use now(use);
    const Model model = load_model(std::string(HINGE_PAPERS) + "/spark/s2.toml");
    Simulation simulation = model.simulation_for("");
    simulation.start(model.start);
    for (int k = 0; k < 200; ++k) simulation.step();
    return std::pair{simulation.state().y, simulation.state().z};
  };
  EXPECT_EQ(ends(NativeUse::check), ends(NativeUse::off));
}

}  // namespace
}  // namespace hinge::small_step_test
