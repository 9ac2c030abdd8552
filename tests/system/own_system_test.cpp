// Systems that users write in C++ by deriving from System.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "hinge/system.hpp"
#include "system/quantities.hpp"

namespace hinge::own_system_test {
namespace {

using trial::derivative_defect;
using trial::largest;
using trial::Point;
using trial::random_point;
using trial::values;
using Q = Quantity;

constexpr Q all_but_energy[] = {
    Q::velocity,          Q::momentum,         Q::force,      Q::reaction,     Q::constraint,   Q::constraint_rate,
    Q::velocity_y,        Q::velocity_z,       Q::momentum_y, Q::momentum_z,   Q::momentum_t,   Q::force_y,
    Q::force_z,           Q::reaction_y,       Q::reaction_z, Q::reaction_psi, Q::constraint_y, Q::constraint_rate_y,
    Q::constraint_rate_z, Q::constraint_rate_t};

// A pendulum of mass 2 with a length that changes in time and a drag, and what it is as a Lagrangian.
constexpr double mass = 2, gravity = 9.81, drag = 0.3;
double radius(double t) { return 1 + 0.1 * std::sin(t); }
double radius_rate(double t) { return 0.1 * std::cos(t); }

std::shared_ptr<const System> as_lagrangian() {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  const Expression length = 1 + 0.1 * sin(s.t());
  s.kinetic(0.5 * mass * dot(v, v));
  s.potential(mass * gravity * q[1]);
  s.force(q, -drag * (norm(v) * v));
  s.constrain(0.5 * (dot(q, q) - length * length));
  return s.build();
}

Layout pendulum_layout() {
  Layout layout;
  layout.y = {{"q", {2}, 0}};
  layout.z = {{"v", {2}, 0}};
  layout.psi = {{"psi", {1}, 0}};
  layout.constraints = {"rod"};
  layout.ny = layout.nz = 2;
  layout.npsi = 1;
  return layout;
}

class OwnPendulum : public System {
 public:
  OwnPendulum() : System(pendulum_layout(), {.has_energy = true}) {}

 protected:
  void momentum(double, const double*, const double* z, double* out) const override {
    out[0] = mass * z[0];
    out[1] = mass * z[1];
  }
  void force(double, const double*, const double* z, double* out) const override {
    const double speed = std::sqrt(z[0] * z[0] + z[1] * z[1]);
    out[0] = -drag * speed * z[0];
    out[1] = -mass * gravity - drag * speed * z[1];
  }
  void constraint(double t, const double* y, double* out) const override {
    *out = 0.5 * (y[0] * y[0] + y[1] * y[1] - radius(t) * radius(t));
  }
  double energy(double, const double* y, const double* z) const override {
    return 0.5 * mass * (z[0] * z[0] + z[1] * z[1]) + mass * gravity * y[1];
  }
};

/// The same with every derivative given.
class DifferentiatedPendulum final : public OwnPendulum {
  bool derivative(Q q, double t, const double* y, const double* z, const double* psi, double* out) const override {
    const auto set = [out](std::initializer_list<double> entries) {
      std::copy(entries.begin(), entries.end(), out);
      return true;
    };
    switch (q) {
      case Q::velocity_y:
      case Q::momentum_y:
      case Q::force_y: return set({0, 0, 0, 0});
      case Q::reaction_z: return true;  // has no entries
      case Q::velocity_z: return set({1, 0, 0, 1});
      case Q::momentum_z: return set({mass, 0, 0, mass});
      case Q::momentum_t: return set({0, 0});
      case Q::force_z: {
        const double speed = std::sqrt(z[0] * z[0] + z[1] * z[1]);
        return set({-drag * (speed + z[0] * z[0] / speed), -drag * z[0] * z[1] / speed, -drag * z[0] * z[1] / speed,
                    -drag * (speed + z[1] * z[1] / speed)});
      }
      case Q::reaction_y: return set({-psi[0], 0, 0, -psi[0]});
      case Q::reaction_psi: return set({-y[0], -y[1]});
      case Q::constraint_y: return set({y[0], y[1]});
      case Q::constraint_rate_y: return set({z[0], z[1]});
      case Q::constraint_rate_z: return set({y[0], y[1]});
      case Q::constraint_rate_t: return set({-radius_rate(t) * radius_rate(t) + radius(t) * 0.1 * std::sin(t)});
      default: return false;
    }
  }
};

/// Largest difference between two systems in a quantity, over random points.
double difference(const System& a, const System& b, Q q) {
  std::mt19937 random(1);
  double worst = 0;
  for (int k = 0; k < 10; ++k) {
    const Point x = random_point(b, random);
    worst = std::max(worst, largest(values(a, q, x) - values(b, q, x)));
  }
  return worst;
}

TEST(OwnSystem, DifferencesAgreeWithTheLagrangian) {
  const OwnPendulum own;
  const auto exact = as_lagrangian();
  for (const Q q : all_but_energy)
    EXPECT_LT(difference(own, *exact, q), 1e-9) << static_cast<int>(q);  // measured 9e-12
  EXPECT_LT(difference(own, *exact, Q::energy), 2e-14);                  // measured 4e-15
}

TEST(OwnSystem, GivenDerivativesAreUsedAsTheyAre) {
  const DifferentiatedPendulum own;
  const auto exact = as_lagrangian();
  for (const Q q : all_but_energy) {
    if (q == Q::constraint_rate) continue;
    EXPECT_LT(difference(own, *exact, q), 1e-15) << static_cast<int>(q);  // measured 1e-16
  }
  // g_t is found by differences whatever is given
  EXPECT_LT(difference(own, *exact, Q::constraint_rate), 1e-12);  // measured 3e-14
}

TEST(OwnSystem, VelocityLevelOfAFixedConstraintIsAtRoundOffWhenItsGradientIsGiven) {
  class FixedPendulum final : public System {
   public:
    FixedPendulum() : System(pendulum_layout()) {}
    void constraint(double, const double* y, double* out) const override {
      *out = std::sqrt(y[0] * y[0] + y[1] * y[1]) - 1;
    }
    bool derivative(Q q, double, const double* y, const double*, const double*, double* out) const override {
      if (q != Q::constraint_y) return false;
      const double r = std::sqrt(y[0] * y[0] + y[1] * y[1]);
      out[0] = y[0] / r;
      out[1] = y[1] / r;
      return true;
    }
  };
  const FixedPendulum own;
  std::mt19937 random(2);
  for (int k = 0; k < 20; ++k) {
    const Point x = random_point(own, random);
    const double expected = (x.y[0] * x.z[0] + x.y[1] * x.z[1]) / std::hypot(x.y[0], x.y[1]);
    EXPECT_NEAR(values(own, Q::constraint_rate, x)(0), expected, 1e-15);  // measured 2e-16
  }
}

TEST(OwnSystem, DefaultsAreAFreeParticleOfMassOne) {
  Layout layout;
  layout.ny = layout.nz = 3;
  layout.npsi = 1;
  layout.constraints = {"nothing"};
  const System own(layout);
  EXPECT_FALSE(own.structure().has_energy);
  EXPECT_FALSE(own.structure().reaction_is_linear);
  EXPECT_FALSE(own.is_constant(Q::momentum_z));
  std::mt19937 random(3);
  const Point x = random_point(own, random);
  const Eigen::Vector3d z(x.z.data());
  EXPECT_EQ(values(own, Q::velocity, x), z);
  EXPECT_EQ(values(own, Q::momentum, x), z);
  EXPECT_EQ(values(own, Q::force, x), Eigen::Vector3d::Zero());
  EXPECT_EQ(values(own, Q::reaction, x), Eigen::Vector3d::Zero());
  EXPECT_EQ(values(own, Q::constraint, x)(0), 0);
  EXPECT_EQ(values(own, Q::constraint_rate, x)(0), 0);
  EXPECT_EQ(values(own, Q::energy, x)(0), 0);
  EXPECT_LT(largest(values(own, Q::momentum_z, x) - Eigen::Matrix3d::Identity()), 1e-12);  // measured 9e-16
  EXPECT_LT(derivative_defect(own, x), 1e-12);                                             // measured 2e-16
}

TEST(OwnSystem, PatternsAreFullByDefaultButOfTheReactionByZ) {
  Layout layout;
  layout.ny = 4;
  layout.nz = 3;
  layout.npsi = 2;
  layout.constraints = {"a", "b"};
  const System own(layout);
  const auto shape = [&](Q q) { return std::pair(own.pattern(q).rows, own.pattern(q).columns); };
  EXPECT_EQ(shape(Q::velocity), std::pair(4, 1));
  EXPECT_EQ(shape(Q::momentum), std::pair(3, 1));
  EXPECT_EQ(shape(Q::energy), std::pair(1, 1));
  EXPECT_EQ(shape(Q::velocity_y), std::pair(4, 4));
  EXPECT_EQ(shape(Q::velocity_z), std::pair(4, 3));
  EXPECT_EQ(shape(Q::momentum_y), std::pair(3, 4));
  EXPECT_EQ(shape(Q::force_z), std::pair(3, 3));
  EXPECT_EQ(shape(Q::reaction_psi), std::pair(3, 2));
  EXPECT_EQ(shape(Q::constraint_y), std::pair(2, 4));
  EXPECT_EQ(shape(Q::constraint_rate_z), std::pair(2, 3));
  EXPECT_EQ(shape(Q::constraint_rate_t), std::pair(2, 1));
  EXPECT_EQ(own.pattern(Q::constraint_y).entries(), 8u);
  EXPECT_EQ(shape(Q::reaction_z), std::pair(3, 3));
  EXPECT_TRUE(own.pattern(Q::reaction_z).empty());
}

/// Everything different from the defaults: v is not z, numbers of y and z differ, r is nonlinear in psi and depends on
/// z, g_y is sparse.
class OddSystem final : public System {
 public:
  static Layout make_layout() {
    Layout layout;
    layout.ny = 3;
    layout.nz = 2;
    layout.npsi = 1;
    layout.constraints = {"g"};
    return layout;
  }
  OddSystem() : System(make_layout()) {}
  const Pattern& pattern(Q q) const override {
    return q == Q::constraint_y ? sparse_ : q == Q::reaction_z ? full_ : System::pattern(q);
  }

 protected:
  void velocity(double t, const double* y, const double* z, double* out) const override {
    out[0] = z[0] * y[1] + t;
    out[1] = std::sin(z[1]);
    out[2] = y[0] * z[0] * z[1];
  }
  void momentum(double t, const double* y, const double* z, double* out) const override {
    out[0] = z[0] * (1 + y[2] * y[2]) + t * t;
    out[1] = std::sinh(z[1]);
  }
  void force(double, const double* y, const double* z, double* out) const override {
    out[0] = y[0] * y[1] - z[0];
    out[1] = std::exp(-y[2]) * z[1];
  }
  void reaction(double, const double* y, const double* z, const double* psi, double* out) const override {
    out[0] = -y[0] * psi[0] * psi[0];
    out[1] = -z[1] * std::exp(psi[0]);
  }
  void constraint(double t, const double* y, double* out) const override { *out = y[0] * y[2] * y[2] - std::cos(t); }

 private:
  Pattern sparse_{1, 3, {0, 2}, {0, 2}}, full_ = Pattern::dense(2, 2);
};

TEST(OwnSystem, DerivativesOfAnyFunctionsAgreeWithDifferences) {
  const OddSystem own;
  std::mt19937 random(4);
  for (int k = 0; k < 10; ++k) EXPECT_LT(derivative_defect(own, random_point(own, random)), 1e-9);  // measured 2e-11
}

}  // namespace
}  // namespace hinge::own_system_test
