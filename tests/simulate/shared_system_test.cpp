// One finished system, many threads: each has a Simulation of its own, and all get what a single thread gets, to the
// last bit, whoever asks the system first.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hinge/hinge.hpp"

namespace hinge::shared_system_test {
namespace {

constexpr int threads = 8;

/// A way to run a system: the numbers at the end.
struct Case {
  std::string name;
  std::function<std::vector<double>(const std::shared_ptr<const System>&)> final_state;
};

Case run(const std::string& method, SimulationOptions options, Start start, double end, Options choice = {}) {
  return {method, [=](const std::shared_ptr<const System>& system) {
            Simulation simulation(system, make_method(method, choice), options);
            simulation.start(start);
            simulation.until(end);
            const State& s = simulation.state();
            std::vector<double> numbers{s.t};
            for (const auto* part : {&s.y, &s.z, &s.psi}) numbers.insert(numbers.end(), part->begin(), part->end());
            return numbers;
          }};
}

/// The reference runs are made one after the other on systems of their own; the shared one is fresh in every round, so
/// that the threads meet in everything it finds out on demand. Each thread begins with another method.
void expect_the_same_in_all_threads(const std::function<std::shared_ptr<const System>()>& make,
                                    const std::vector<Case>& runs) {
  std::vector<std::vector<double>> alone;
  for (const Case& r : runs) alone.push_back(r.final_state(make()));
  for (int round = 0; round < 2; ++round) {
    const std::shared_ptr<const System> shared = make();
    std::vector<std::vector<std::vector<double>>> found(threads, std::vector<std::vector<double>>(runs.size()));
    std::vector<std::string> failure(threads);
    std::latch together(threads);
    std::vector<std::thread> pool;
    for (std::size_t k = 0; k < threads; ++k)
      pool.emplace_back([&, k] {
        together.arrive_and_wait();
        try {
          for (std::size_t i = 0; i < runs.size(); ++i) {
            const std::size_t which = (i + k) % runs.size();
            found[k][which] = runs[which].final_state(shared);
          }
        } catch (const std::exception& e) {
          failure[k] = e.what();
        }
      });
    for (std::thread& t : pool) t.join();
    for (std::size_t k = 0; k < threads; ++k) {
      EXPECT_EQ(failure[k], "");
      for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(found[k][i], alone[i]) << runs[i].name << " in " << k;
    }
  }
}

std::shared_ptr<const System> double_pendulum() {
  Lagrangian s;
  const Vector a = s.coordinates("a", 3), b = s.coordinates("b", 3);
  s.kinetic(0.5 * dot(s.velocity(a), s.velocity(a)) + dot(s.velocity(b), s.velocity(b)));
  s.potential(9.81 * (a[2] + 2.0 * b[2]) + 3.0 * norm(b));
  s.constrain(0.5 * (dot(a, a) - 1.0));
  s.constrain(0.5 * (dot(b - a, b - a) - 1.0));
  return s.build();
}

TEST(SharedSystem, OfExpressions) {
  const Start start{.position = {1, 0, 0, 1, 1, 0}, .velocity = {0, 0.5, 0, 0, 0.5, 0.2}};
  const SimulationOptions step{.step = 0.02}, tolerance{.tolerance = {1e-6, 1e-6}};
  std::vector<Case> runs;
  for (const char* method : {"gauss-lobatto", "rattle", "symplectic-euler", "energy-momentum", "generalized-alpha"})
    runs.push_back(run(method, step, start, 0.2));
  for (const char* method : {"radau", "bdf", "explicit", "half-explicit", "auto"})
    runs.push_back(run(method, tolerance, start, 0.2));
  for (const char* form : {"ggl", "extended", "index-1", "tangent-space"})
    runs.push_back(run("radau", tolerance, start, 0.1, {{"formulation", std::string(form)}}));
  expect_the_same_in_all_threads(double_pendulum, runs);
}

TEST(SharedSystem, WithContacts) {
  const auto make = [] {
    Lagrangian s;
    const Vector q = s.coordinates("q", 3);
    s.kinetic(0.5 * dot(s.velocity(q), s.velocity(q)));
    s.potential(9.81 * q[2]);
    s.unilateral(q[2] - 0.1 * sin(q[0]), {.name = "floor", .restitution = 0.5, .friction = 0.3});
    s.unilateral(2.0 - q[0], {.name = "wall"});
    return s.build();
  };
  const Start start{.position = {0, 0, 0.1}, .velocity = {1, 0.5, 0}};
  std::vector<Case> runs;
  for (const char* method : {"moreau-jean", "paoli-schatzman", "generalized-alpha"})
    runs.push_back(run(method, {.step = 0.01}, start, 0.4));
  runs.push_back(run("event-driven", {.tolerance = {1e-6, 1e-6}}, start, 0.4));
  expect_the_same_in_all_threads(make, runs);
}

TEST(SharedSystem, OfBranches) {
  const auto make = [] {
    Lagrangian s;
    const Vector q = s.coordinates("q", 2);
    s.kinetic(0.5 * dot(s.velocity(q), s.velocity(q)));
    s.potential(9.81 * q[1] + 50.0 * pow(max(0.0, -0.5 - q[1]), 2.0));
    s.constrain(0.5 * (dot(q, q) - 1.0));
    return s.build();
  };
  const Start start{.position = {1, 0}, .velocity = {0, 0}};
  expect_the_same_in_all_threads(make, {run("explicit", {.tolerance = {1e-7, 1e-7}}, start, 0.6),
                                        run("radau", {.tolerance = {1e-7, 1e-7}}, start, 0.6)});
}

// Balls as bodies and as particles, which are no expressions, and an arm on a joint.
TEST(SharedSystem, OfBodies) {
  for (const bool particles : {false, true}) {
    const auto scene = [particles] {
      Multibody s;
      s.gravity({0, 0, -9.81});
      s.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0.5});
      s.body({.name = "arm", .density = 500, .shapes = {box({0.4, 0.1, 0.1})}, .position = {0.2, 0, 0.5}});
      s.joint({.name = "hinge", .b = "arm", .point = Eigen::Vector3d(0, 0, 0.5), .axis = {0, 1, 0}});
      s.body({.name = "ball", .density = 1000, .shapes = {sphere(0.1)}, .position = {1, 0, 0.15}, .friction = 0.5});
      if (particles) s.particles({.positions = {{2, 0, 0.15}, {2, 0, 0.4}}, .radii = {0.1, 0.1}, .density = 1000});
      return s;
    };
    const Start start = scene().start();
    std::vector<Case> runs{run("moreau-jean", {.step = 0.01}, start, 0.2)};
    expect_the_same_in_all_threads([&] { return scene().build(); }, runs);
  }
}

TEST(SharedSystem, OfADae) {
  const auto make = [] {
    Dae dae;
    const Vector x = dae.unknowns("x", {5});
    const Vector d = dae.derivative(x);
    dae.equation(d[0] - x[2]);
    dae.equation(d[1] - x[3]);
    dae.equation(d[2] + x[4] * x[0]);
    dae.equation(d[3] + x[4] * x[1] + 9.81);
    dae.equation(x[0] * x[0] + x[1] * x[1] - 1.0);
    return dae.build();
  };
  const Start start{.position = {1, 0, 0, 0, 0}, .given = {1, 1, 1, 1, 0}};
  std::vector<Case> runs;
  for (const char* method : {"radau", "bdf", "auto"})
    runs.push_back(run(method, {.tolerance = {1e-6, 1e-6}}, start, 0.5));
  expect_the_same_in_all_threads(make, runs);
}

class OwnPendulum final : public System {
 public:
  OwnPendulum() : System(layout(), {.has_energy = true, .velocity_is_z = true}) {}

 protected:
  void force(double, const double*, const double*, double* out) const override { out[0] = 0, out[1] = -9.81; }
  void constraint(double, const double* y, double* out) const override { *out = (y[0] * y[0] + y[1] * y[1] - 1) / 2; }
  double energy(double, const double* y, const double* z) const override {
    return (z[0] * z[0] + z[1] * z[1]) / 2 + 9.81 * y[1];
  }

 private:
  static Layout layout() {
    Layout l;
    l.y = {{"q", {2}, 0}};
    l.z = {{"v", {2}, 0}};
    l.psi = {{"psi", {1}, 0}};
    l.constraints = {"rod"};
    l.ny = l.nz = 2;
    l.npsi = 1;
    return l;
  }
};

TEST(SharedSystem, OfFunctions) {
  const Start start{.position = {1, 0}, .velocity = {0, 0}};
  expect_the_same_in_all_threads(
      [] { return std::make_shared<OwnPendulum>(); },
      {run("gauss-lobatto", {.step = 0.02}, start, 0.2), run("radau", {.tolerance = {1e-6, 1e-6}}, start, 0.2)});
}

}  // namespace
}  // namespace hinge::shared_system_test
