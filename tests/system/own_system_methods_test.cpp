// A system of functions, without one expression, runs under every method whose mathematics allows it, and moves as the
// same system made of expressions does.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "hinge/hinge.hpp"

namespace hinge::own_system_methods_test {
namespace {

constexpr double mass = 2, gravity = 9.81;

Layout layout_of_a_point(int constraints) {
  Layout l;
  l.y = {{"q", {2}, 0}};
  l.z = {{"v", {2}, 0}};
  l.ny = l.nz = 2;
  l.npsi = constraints;
  if (constraints > 0) {
    l.psi = {{"psi", {1}, 0}};
    l.constraints = {"rod"};
  }
  return l;
}

class OwnPendulum final : public System {
 public:
  explicit OwnPendulum(bool separable = true)
      : System(layout_of_a_point(1), {.has_energy = true,
                                      .depends_on_time = false,
                                      .velocity_is_z = true,
                                      .mass_is_constant = true,
                                      .is_separable = separable,
                                      .reaction_is_linear = true,
                                      .reaction_is_affine = true,
                                      .reaction_is_ideal = true}) {}

 protected:
  void momentum(double, const double*, const double* z, double* out) const override {
    for (int k = 0; k < 2; ++k) out[k] = mass * z[k];
  }
  void force(double, const double*, const double*, double* out) const override {
    out[0] = 0;
    out[1] = -mass * gravity;
  }
  void constraint(double, const double* y, double* out) const override { *out = (y[0] * y[0] + y[1] * y[1] - 1) / 2; }
  double energy(double, const double* y, const double* z) const override {
    return mass * ((z[0] * z[0] + z[1] * z[1]) / 2 + gravity * y[1]);
  }
};

std::shared_ptr<const System> with_expressions() {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2);
  s.kinetic(0.5 * mass * dot(s.velocity(q), s.velocity(q)));
  s.potential(mass * gravity * q[1]);
  s.constrain(0.5 * (dot(q, q) - 1.0));
  return s.build();
}

// What a method cannot do with functions, and why.
const std::map<std::string, std::string> exceptions = {
    {"euler-maruyama", "is for linear DAEs with noise, which are expressions"},
    {"energy-momentum", "builds discrete derivatives on the invariants that the energy is written in"},
    {"taylor", "differentiates expressions as often as its order says, which functions do not allow"},
    {"spark", "needs a tableau of the user's; gauss-lobatto and others are the same method with given ones"},
};

State final_state(std::shared_ptr<const System> system, const MethodInfo& info, const Options& options) {
  const MethodChoice method = make_method(info.name, options);
  SimulationOptions how;
  if (method.info.can.given_steps)
    how.step = 0.01;
  else
    how.tolerance = {1e-8, 1e-8};
  Simulation run(std::move(system), method, how);
  run.start({.position = {0.6, -0.8}, .velocity = {0.8, 0.6}});
  run.until(0.5);
  return run.state();
}

void expect_the_same_motion(const MethodInfo& info, const Options& options) {
  SCOPED_TRACE(info.name);
  State own;
  ASSERT_NO_THROW(
      try { own = final_state(std::make_shared<OwnPendulum>(), info, options); } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
        throw;
      });
  const State exact = final_state(with_expressions(), info, options);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(own.y[k], exact.y[k], 1e-8);  // measured 2e-10
    EXPECT_NEAR(own.z[k], exact.z[k], 1e-8);
  }
  EXPECT_NEAR(own.psi[0], exact.psi[0], 1e-5);
}

TEST(OwnSystem, RunsUnderEveryMethodWhoseMathematicsAllowsIt) {
  int runs = 0;
  for (const MethodInfo& info : methods()) {
    if (exceptions.count(info.name)) {
      EXPECT_THROW(final_state(std::make_shared<OwnPendulum>(), info, {}), InputError) << info.name;
      continue;
    }
    expect_the_same_motion(info, {});
    ++runs;
  }
  EXPECT_EQ(runs + static_cast<int>(exceptions.size()), static_cast<int>(methods().size()));
}

TEST(OwnSystem, NeedNotSayThatItIsSeparable) {
  const MethodChoice shake = make_method("shake", {});
  EXPECT_THROW(Simulation(std::make_shared<OwnPendulum>(false), shake, {.step = 0.01})
                   .start({.position = {0.6, -0.8}, .velocity = {0.8, 0.6}}),
               InputError);
  const State said = final_state(std::make_shared<OwnPendulum>(true), make_method("rattle", {}).info, {});
  const State silent = final_state(std::make_shared<OwnPendulum>(false), make_method("rattle", {}).info, {});
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(said.y[k], silent.y[k], 1e-10);
}

TEST(OwnSystem, TakesEveryFormulation) {
  for (const MethodInfo& info : methods())
    for (const char* form : {"index-3", "index-2", "index-1", "baumgarte", "ggl", "extended", "projected-invariants",
                             "coordinate-partitioning", "tangent-space"})
      if (info.name == "radau" || info.name == "bdf")
        expect_the_same_motion(info, {{"formulation", std::string(form)}});
}

// A ball over a floor that is found by a ContactFinder of its own: 0 <= y  _|_  r >= 0, with restitution and friction.
class Floor final : public ContactFinder {
 public:
  int dimension() const override { return 2; }
  void find(double, const double* y, double band, ContactList& out) override {
    out.clear(2);
    if (!(y[1] <= band)) return;
    out.count = 1;
    out.gap = {y[1]};
    out.friction = {0.3};
    out.restitution = {0.5};
    out.key = {0};
    out.drift = {0, 0};
    out.column = {0, 1};  // u = H z, columns after one another: (N, T) = (0, 1) v_x + (1, 0) v_y
    out.H = {0, 1, 1, 0};
    out.first = {0, 2};
  }
  void gaps(double, const double* y, const ContactList& list, double* out) override {
    for (int i = 0; i < list.count; ++i) out[i] = y[1];
  }
  std::string name(std::uint64_t) const override { return "floor"; }
};

class OwnBall final : public System {
 public:
  OwnBall()
      : System(layout_of_a_point(0), {.has_energy = true,
                                      .depends_on_time = false,
                                      .velocity_is_z = true,
                                      .mass_is_constant = true,
                                      .reaction_is_linear = true,
                                      .reaction_is_affine = true,
                                      .reaction_is_ideal = true,
                                      .has_contacts = true,
                                      .gaps_depend_on_time = false}) {}
  std::unique_ptr<ContactFinder> contact_finder() const override { return std::make_unique<Floor>(); }

 protected:
  void momentum(double, const double*, const double* z, double* out) const override {
    for (int k = 0; k < 2; ++k) out[k] = mass * z[k];
  }
  void force(double, const double*, const double*, double* out) const override {
    out[0] = 0;
    out[1] = -mass * gravity;
  }
  double energy(double, const double* y, const double* z) const override {
    return mass * ((z[0] * z[0] + z[1] * z[1]) / 2 + gravity * y[1]);
  }
};

TEST(OwnSystem, HasContactsOfItsOwn) {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2);
  s.kinetic(0.5 * mass * dot(s.velocity(q), s.velocity(q)));
  s.potential(mass * gravity * q[1]);
  s.unilateral(q[1], {.name = "floor", .restitution = 0.5, .friction = 0.3});
  const auto expressions = s.build();
  for (const char* name : {"moreau-jean", "paoli-schatzman", "generalized-alpha"}) {
    SCOPED_TRACE(name);
    State end[2];
    int k = 0;
    for (const std::shared_ptr<const System>& system :
         {std::shared_ptr<const System>(std::make_shared<OwnBall>()), expressions}) {
      Simulation run(system, make_method(name, {}), {.step = 0.005});
      run.start({.position = {0, 0.3}, .velocity = {1, 0}});
      run.until(1.0);
      end[k++] = run.state();
      EXPECT_GE(run.report().contacts->impacts, 1);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(end[0].y[i], end[1].y[i], 1e-8);
      EXPECT_NEAR(end[0].z[i], end[1].z[i], 1e-8);
    }
    EXPECT_LT(end[0].z[0], 1);  // friction has slowed it down
  }
}

}  // namespace
}  // namespace hinge::own_system_methods_test
