#include "hinge/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "hinge/error.hpp"
#include "system/quantities.hpp"

namespace hinge::system_test {
namespace {

using trial::acceleration;
using trial::derivative_defect;
using trial::largest;
using trial::Point;
using trial::random_point;
using trial::values;
using Q = Quantity;

Eigen::MatrixXd column(std::initializer_list<double> entries) {
  Eigen::VectorXd x(static_cast<Eigen::Index>(entries.size()));
  std::copy(entries.begin(), entries.end(), x.begin());
  return x;
}

/// Every derivative of the system against differences, at ten random points.
void expect_exact_derivatives(const System& system) {
  std::mt19937 random(1);
  for (int k = 0; k < 10; ++k)
    EXPECT_LT(derivative_defect(system, random_point(system, random)), 1e-10);  // measured 2e-11
}

void expect_equal(const Eigen::MatrixXd& got, const Eigen::MatrixXd& expected) {
  ASSERT_EQ(got.rows(), expected.rows());
  ASSERT_EQ(got.cols(), expected.cols());
  EXPECT_LT(largest(got - expected) / (1 + largest(expected)), 1e-14)  // measured 1e-15
      << "got\n"
      << got << "\nexpected\n"
      << expected;
}

std::shared_ptr<const System> planar_pendulum() {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  s.kinetic(0.5 * 2 * dot(v, v));
  s.potential(2 * 9.81 * q[1]);
  s.constrain(0.5 * (dot(q, q) - 1), "rod");
  return s.build();
}

std::shared_ptr<const System> double_spherical_pendulum() {
  Lagrangian s;
  const Vector q = s.coordinates("q", std::vector{2, 3}), v = s.velocity(q);
  const Vector a = q.segment(0, 3), b = q.segment(3, 3);
  s.kinetic(0.5 * dot(v, v));
  s.potential(9.81 * (a[2] + b[2]));
  s.constrain(norm(a) - 1, "upper rod");
  s.constrain(0.5 * (dot(b - a, b - a) - 1), "lower rod");
  return s.build();
}

// A charged particle on a sphere in a magnetic and an electric field, m = w = R = eE = 1.
std::shared_ptr<const System> charged_particle_hamiltonian() {
  Hamiltonian s;
  const Vector q = s.coordinates("q", 3), p = s.momenta("p", 3);
  s.hamiltonian((pow(p[0] + q[1], 2) + pow(p[1] - q[0], 2) + pow(p[2], 2)) / 2 - q[2]);
  s.constrain(norm(q) - 1);
  return s.build();
}

std::shared_ptr<const System> charged_particle_lagrangian() {
  Lagrangian s;
  const Vector q = s.coordinates("q", 3), v = s.velocity(q);
  s.lagrangian(0.5 * dot(v, v) - (q[1] * v[0] - q[0] * v[1]) + q[2]);
  s.constrain(norm(q) - 1);
  return s.build();
}

// Mass diag(1 + q1^2, 2 + q1 q2), potential q2 + q1^2 / 2, an ellipse as constraint; once from energies, once by hand.
std::shared_ptr<const System> varying_mass_lagrangian() {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  s.kinetic(0.5 * ((1 + q[0] * q[0]) * v[0] * v[0] + (2 + q[0] * q[1]) * v[1] * v[1]));
  s.potential(q[1] + q[0] * q[0] / 2);
  s.constrain((q[0] * q[0] + q[1] * q[1] / 4 - 1) / 2);
  return s.build();
}

std::shared_ptr<const System> varying_mass_mechanical(bool full_matrix) {
  Mechanical s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  const Expression m0 = 1 + q[0] * q[0], m1 = 2 + q[0] * q[1];
  s.mass(full_matrix ? Vector{m0, 0, 0, m1} : Vector{m0, m1});
  // T_q - U_q - M' v
  s.force({q[0] * v[0] * v[0] + 0.5 * q[1] * v[1] * v[1] - q[0] - 2 * q[0] * v[0] * v[0],
           0.5 * q[0] * v[1] * v[1] - 1 - (q[1] * v[0] + q[0] * v[1]) * v[1]});
  s.constrain((q[0] * q[0] + q[1] * q[1] / 4 - 1) / 2);
  return s.build();
}

std::shared_ptr<const System> pulsating_pendulum() {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  const Expression length = 1 + 0.1 * sin(s.t());
  s.kinetic((2 + cos(s.t())) * dot(v, v) / 2);
  s.potential(9.81 * q[1]);
  s.force(q, {-0.3 * v[0], s.t() - 0.3 * v[1]});
  s.constrain(0.5 * (dot(q, q) - length * length));
  return s.build();
}

enum class Reaction { e1, e1_linear, e1_affine, s1 };

// Problems with the solution y1 = z1 = e^2t, y2 = z2 = e^-t, psi = e^t.
std::shared_ptr<const System> exponential_odae(Reaction kind) {
  Odae s;
  const Vector y = s.y("y", {2}), z = s.z("z", {2}), psi = s.psi("psi", {1});
  s.v({2 * z[0], -z[1]});
  Expression f0 = 2 * y[0] * y[1] * z[0] * z[1] - y[0] * z[0] * z[1];
  const Expression f1 = z[0] - y[0] * pow(z[1], 3), r1 = -sqrt(y[0]) * z[0] * z[1] * z[1] * psi[0];
  if (kind == Reaction::e1_affine) f0 -= y[0] * pow(y[1] * z[0], 2);
  s.f({f0, f1});
  switch (kind) {
    case Reaction::e1: s.r({y[1] * z[0] * psi[0] * psi[0], r1}); break;
    case Reaction::e1_linear: s.r({pow(y[1] * z[0], 2) * psi[0], r1}); break;
    case Reaction::e1_affine: s.r({pow(y[1] * z[0], 2) * (psi[0] + y[0]), r1}); break;
    case Reaction::s1: s.r({y[0] * y[1] * psi[0] * psi[0], -sqrt(y[0]) * psi[0]}); break;
  }
  s.constrain(y[0] * y[1] * y[1] - 1);
  return s.build();
}

// ---------------------------------------------------------------------------------------------- base quantities

TEST(Lagrangian, PlanarPendulumHasTheQuantitiesOfPaper) {
  const auto s = planar_pendulum();
  const Point x{.t = 0.3, .y = {0.6, -0.8}, .z = {1.5, 2.5}, .psi = {7}};
  expect_equal(values(*s, Q::velocity, x), column({1.5, 2.5}));
  expect_equal(values(*s, Q::momentum, x), column({3, 5}));
  expect_equal(values(*s, Q::force, x), column({0, -2 * 9.81}));
  expect_equal(values(*s, Q::reaction, x), column({-7 * 0.6, 7 * 0.8}));
  expect_equal(values(*s, Q::constraint, x), column({0}));
  expect_equal(values(*s, Q::constraint_rate, x), column({0.6 * 1.5 - 0.8 * 2.5}));
  expect_equal(values(*s, Q::energy, x), column({1.5 * 1.5 + 2.5 * 2.5 - 2 * 9.81 * 0.8}));
  expect_equal(values(*s, Q::momentum_z, x), 2 * Eigen::Matrix2d::Identity());
  EXPECT_TRUE(s->structure().has_energy);
}

TEST(Lagrangian, DoubleSphericalPendulumHasTheQuantitiesOfPaper) {
  const auto s = double_spherical_pendulum();
  std::mt19937 random(2);
  const Point x = random_point(*s, random);
  const Eigen::Map<const Eigen::Vector3d> a(x.y.data()), b(x.y.data() + 3), u(x.z.data()), w(x.z.data() + 3);
  Eigen::VectorXd r(6);
  r << -x.psi[0] * a.normalized() + x.psi[1] * (b - a), -x.psi[1] * (b - a);
  expect_equal(values(*s, Q::reaction, x), r);
  expect_equal(values(*s, Q::constraint, x), column({a.norm() - 1, 0.5 * (b - a).squaredNorm() - 0.5}));
  expect_equal(values(*s, Q::constraint_rate, x), column({a.normalized().dot(u), (b - a).dot(w - u)}));
  expect_equal(values(*s, Q::force, x), column({0, 0, -9.81, 0, 0, -9.81}));
  EXPECT_EQ(s->pattern(Q::constraint_y).column, (std::vector{0, 1, 2, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(s->pattern(Q::momentum_z).entries(), 6u);  // diagonal
  EXPECT_TRUE(s->pattern(Q::force_y).empty());
}

TEST(Hamiltonian, ChargedParticleHasTheQuantitiesOfPaper) {
  const auto s = charged_particle_hamiltonian();
  const double q2 = std::sqrt(0.92);
  const Point x{.t = 0, .y = {0.2, 0.2, q2}, .z = {1, -1, 0}, .psi = {2}};
  expect_equal(values(*s, Q::velocity, x), column({1.2, -1.2, 0}));
  expect_equal(values(*s, Q::momentum, x), column({1, -1, 0}));
  expect_equal(values(*s, Q::force, x), column({-1.2, -1.2, 1}));
  expect_equal(values(*s, Q::reaction, x), column({-0.4, -0.4, -2 * q2}));
  expect_equal(values(*s, Q::constraint, x), column({0}));
  expect_equal(values(*s, Q::constraint_rate, x), column({0}));
  expect_equal(values(*s, Q::energy, x), column({0.48083369533745609}));
}

TEST(Hamiltonian, AgreesWithTheLagrangianOfTheSameParticle) {
  const auto h = charged_particle_hamiltonian(), l = charged_particle_lagrangian();
  std::mt19937 random(3);
  for (int k = 0; k < 20; ++k) {
    const Point with_velocity = random_point(*l, random);
    Point with_momentum = with_velocity;
    const Eigen::VectorXd p = values(*l, Q::momentum, with_velocity);
    with_momentum.z.assign(p.begin(), p.end());
    for (const Q q : {Q::velocity, Q::momentum, Q::force, Q::reaction, Q::constraint, Q::constraint_rate, Q::energy})
      expect_equal(values(*h, q, with_momentum), values(*l, q, with_velocity));
  }
}

TEST(Mechanical, AgreesWithTheLagrangianOfTheSameMass) {
  const auto l = varying_mass_lagrangian();
  std::mt19937 random(4);
  for (const bool full : {false, true}) {
    const auto m = varying_mass_mechanical(full);
    EXPECT_FALSE(m->structure().has_energy);
    for (int k = 0; k < 20; ++k) {
      const Point x = random_point(*l, random);
      for (const Q q : {Q::velocity, Q::momentum, Q::reaction, Q::constraint, Q::constraint_rate})
        expect_equal(values(*m, q, x), values(*l, q, x));
      expect_equal(acceleration(*m, x), acceleration(*l, x));
    }
  }
}

TEST(Mechanical, ForceIsMassTimesAcceleration) {
  Mechanical s;  // a full, time-dependent mass matrix: M q'' = F whatever M does
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  s.mass({3 + sin(s.t()), q[0] * q[1], q[0] * q[1], 5 + q[1] * q[1]});
  s.force({v[0] * v[1], cos(q[0])});
  const auto system = s.build();
  std::mt19937 random(5);
  for (int k = 0; k < 20; ++k) {
    const Point x = random_point(*system, random);
    Eigen::Matrix2d mass;
    mass << 3 + std::sin(x.t), x.y[0] * x.y[1], x.y[0] * x.y[1], 5 + x.y[1] * x.y[1];
    const Eigen::Vector2d force(x.z[0] * x.z[1], std::cos(x.y[0]));
    expect_equal(mass * acceleration(*system, x), force);
  }
  expect_exact_derivatives(*system);
}

TEST(Lagrangian, VelocityLevelOfAMovingConstraintHasTheTimeDerivative) {
  const auto s = pulsating_pendulum();
  const Point x{.t = 0.7, .y = {0.6, -0.8}, .z = {1.5, 2.5}, .psi = {7}};
  const double length = 1 + 0.1 * std::sin(0.7), rate = 0.1 * std::cos(0.7);
  expect_equal(values(*s, Q::constraint_rate, x), column({0.6 * 1.5 - 0.8 * 2.5 - length * rate}));
  expect_equal(values(*s, Q::constraint_rate_t, x), column({-rate * rate + length * 0.1 * std::sin(0.7)}));
  expect_equal(values(*s, Q::momentum_t, x), column({-std::sin(0.7) * 1.5, -std::sin(0.7) * 2.5}));
  expect_equal(values(*s, Q::force, x), column({-0.3 * 1.5, -9.81 + 0.7 - 0.3 * 2.5}));
}

TEST(Odae, ExponentialsSolveTheProblemsWithNonlinearReactions) {
  for (const Reaction kind : {Reaction::e1, Reaction::e1_linear, Reaction::e1_affine, Reaction::s1}) {
    const auto s = exponential_odae(kind);
    for (const double t : {0.0, 0.3, 0.9}) {
      const double fast = std::exp(2 * t), slow = std::exp(-t);
      const Point x{.t = t, .y = {fast, slow}, .z = {fast, slow}, .psi = {std::exp(t)}};
      expect_equal(values(*s, Q::velocity, x), column({2 * fast, -slow}));
      expect_equal(values(*s, Q::force, x) + values(*s, Q::reaction, x), column({2 * fast, -slow}));  // z'
      expect_equal(values(*s, Q::constraint, x), column({0}));
      expect_equal(values(*s, Q::constraint_rate, x), column({0}));
    }
    EXPECT_FALSE(s->structure().has_energy);
    EXPECT_THROW(s->evaluation({Q::energy}), InputError);
  }
}

TEST(Odae, MomentumIsZUnlessGiven) {
  const Point x{.t = 0, .y = {1, 2}, .z = {3, 4}, .psi = {5}};
  expect_equal(values(*exponential_odae(Reaction::e1), Q::momentum, x), column({3, 4}));
  Odae s;
  const Vector y = s.y("y", {}), z = s.z("z", {});
  s.v(z);
  s.p({z[0] * z[0]});
  s.f({-y[0]});
  const auto system = s.build();
  expect_equal(values(*system, Q::momentum, x), column({9}));
  expect_equal(values(*system, Q::reaction, x), column({0}));
  EXPECT_EQ(system->ng(), 0);
}

// ---------------------------------------------------------------------------------------------- derivatives

TEST(System, DerivativesAgreeWithDifferences) {
  for (const auto& system :
       {planar_pendulum(), double_spherical_pendulum(), charged_particle_hamiltonian(), charged_particle_lagrangian(),
        varying_mass_lagrangian(), varying_mass_mechanical(false), varying_mass_mechanical(true), pulsating_pendulum(),
        exponential_odae(Reaction::e1), exponential_odae(Reaction::e1_linear), exponential_odae(Reaction::e1_affine),
        exponential_odae(Reaction::s1)})
    expect_exact_derivatives(*system);
}

TEST(System, OnePassGivesTheSameValuesAsMany) {
  const auto s = charged_particle_hamiltonian();
  std::mt19937 random(6);
  const Point x = random_point(*s, random);
  const auto all = s->evaluation({Q::velocity, Q::force, Q::reaction, Q::constraint_rate, Q::energy, Q::force_y,
                                  Q::constraint_y, Q::constraint_rate_y});
  for (int pass = 0; pass < 2; ++pass) {
    all->at(x.t, x.y.data(), x.z.data(), x.psi.data());
    for (const Q q : {Q::velocity, Q::force, Q::reaction, Q::constraint_rate, Q::energy, Q::force_y, Q::constraint_y,
                      Q::constraint_rate_y}) {
      const auto one = s->evaluation({q});
      one->at(x.t, x.y.data(), x.z.data(), x.psi.data());
      for (std::size_t k = 0; k < s->pattern(q).entries(); ++k) EXPECT_EQ((*all)[q][k], (*one)[q][k]);
    }
  }
}

TEST(System, ArgumentsThatDoNotMatterMayBeNull) {
  const auto s = planar_pendulum();
  const auto constraint = s->evaluation({Q::constraint, Q::constraint_y});
  const double y[] = {0.6, 0.9};
  constraint->at(0, y, nullptr, nullptr);
  EXPECT_DOUBLE_EQ((*constraint)[Q::constraint][0], 0.5 * (0.36 + 0.81 - 1));
  EXPECT_EQ((*constraint)[Q::constraint_y][1], 0.9);
}

TEST(System, KnowsWhatIsConstant) {
  const auto pendulum = planar_pendulum();
  EXPECT_TRUE(pendulum->is_constant(Q::momentum_z));
  EXPECT_TRUE(pendulum->is_constant(Q::velocity_z));
  EXPECT_TRUE(pendulum->is_constant(Q::force));
  EXPECT_FALSE(pendulum->is_constant(Q::constraint_y));
  EXPECT_FALSE(varying_mass_lagrangian()->is_constant(Q::momentum_z));
}

TEST(System, KnowsWhetherTheReactionIsLinear) {
  EXPECT_TRUE(planar_pendulum()->structure().reaction_is_linear);
  EXPECT_TRUE(double_spherical_pendulum()->structure().reaction_is_linear);
  EXPECT_TRUE(charged_particle_hamiltonian()->structure().reaction_is_linear);
  EXPECT_TRUE(varying_mass_mechanical(true)->structure().reaction_is_linear);
  EXPECT_TRUE(exponential_odae(Reaction::e1_linear)->structure().reaction_is_linear);
  EXPECT_FALSE(exponential_odae(Reaction::e1)->structure().reaction_is_linear);
  EXPECT_FALSE(exponential_odae(Reaction::s1)->structure().reaction_is_linear);
  EXPECT_FALSE(exponential_odae(Reaction::e1_affine)->structure().reaction_is_linear);  // affine is not linear
}

TEST(Lagrangian, OwnReactionTakesTheOwnMultipliers) {
  Lagrangian s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q), mu = s.multipliers("mu", 1);
  s.kinetic(0.5 * dot(v, v));
  s.constrain(q[1]);
  s.reaction({-0.2 * abs(mu[0]) * sign(v[0]), -mu[0]});
  const auto system = s.build();
  const Point x{.t = 0, .y = {1, 0}, .z = {3, 0}, .psi = {5}};
  expect_equal(values(*system, Q::reaction, x), column({-1, -5}));
  EXPECT_FALSE(system->structure().reaction_is_linear);
  EXPECT_EQ(system->layout().psi[0].name, "mu");
}

TEST(Lagrangian, ForcesAddUpOnTheirCoordinates) {
  Lagrangian s;
  const Vector a = s.coordinates("a", 2);
  const Expression b = s.coordinate("b");
  s.kinetic(0.5 * (dot(s.velocity(a), s.velocity(a)) + pow(s.velocity(b), 2)));
  s.force({a[1]}, {2});
  s.force({b, a[1]}, {3, a[0]});
  const Point x{.t = 0, .y = {10, 0, 0}, .z = {0, 0, 0}, .psi = {}};
  expect_equal(values(*s.build(), Q::force, x), column({0, 12, 3}));
}

TEST(System, NamesItsNumbers) {
  Lagrangian s;
  s.coordinates("q", std::vector{2, 3});
  s.coordinate("phi");
  s.constrain(s.coordinate("x") - 1);
  s.constrain(s.t(), "second");
  const auto system = s.build();
  const Layout& layout = system->layout();
  EXPECT_EQ(layout.kind, SystemKind::lagrangian);
  EXPECT_EQ(layout.ny, 8);
  EXPECT_EQ(layout.y_name(4), "q[1][1]");
  EXPECT_EQ(layout.y_name(6), "phi");
  EXPECT_EQ(layout.z_name(5), "q'[1][2]");
  EXPECT_EQ(layout.constraints, (std::vector<std::string>{"0 (x - 1 = 0)", "second"}));
}

// ---------------------------------------------------------------------------------------------- refusals

TEST(Builders, RefuseWhatCannotBeMeant) {
  EXPECT_THROW(Lagrangian().build(), InputError);
  EXPECT_THROW(Hamiltonian().build(), InputError);
  EXPECT_THROW(Mechanical().build(), InputError);
  EXPECT_THROW(Odae().build(), InputError);
  EXPECT_THROW(Lagrangian().coordinates("", 2), InputError);
  EXPECT_THROW(Lagrangian().coordinates("q", 0), InputError);
  {
    Hamiltonian s;
    s.coordinates("q", 2);
    s.momenta("p", 3);
    EXPECT_THROW(s.build(), InputError);
  }
  {
    Lagrangian s;
    const Vector q = s.coordinates("q", 2);
    EXPECT_THROW(s.force(q, {1}), InputError);
    EXPECT_THROW(s.velocity({q[0] * 2}), InputError);
    s.constrain(s.velocity(q)[0]);
    EXPECT_THROW(s.build(), InputError);  // constraints on velocities
  }
  {
    Lagrangian s;
    s.coordinates("q", 2);
    s.multipliers("mu", 1);
    EXPECT_THROW(s.build(), InputError);  // multipliers without a reaction
  }
  {
    Mechanical s;
    const Vector q = s.coordinates("q", 2);
    s.force({0, 0});
    s.mass({1, 2, 3});
    EXPECT_THROW(s.build(), InputError);
    s.mass({1, s.velocity(q)[0]});
    EXPECT_THROW(s.build(), InputError);  // mass depends on the velocity
    s.mass({1, 1});
    s.force({0});
    EXPECT_THROW(s.build(), InputError);
  }
  {
    Odae s;
    const Vector y = s.y("y", {2}), z = s.z("z", {2});
    s.v({z[0]});
    s.f({0, 0});
    EXPECT_THROW(s.build(), InputError);  // one v for two y
    s.v(z);
    s.constrain(y[0]);
    EXPECT_THROW(s.build(), InputError);  // a constraint without a multiplier
  }
}

TEST(Builders, RefuseExpressionsOfAnotherSystem) {
  Lagrangian one, other;
  const Vector q = one.coordinates("q", 1), p = other.coordinates("p", 1);
  one.kinetic(p[0] * p[0]);
  EXPECT_THROW(one.build(), InputError);
}

std::shared_ptr<const System> long_chain(int links) {
  Lagrangian s;
  const Vector q = s.coordinates("q", std::vector{links, 3}), v = s.velocity(q);
  s.kinetic(0.5 * dot(v, v));
  Expression height = 0.0;
  for (int k = 0; k < links; ++k) {
    const auto first = 3 * static_cast<std::size_t>(k);
    const Vector own = q.segment(first, 3);
    height += own[2];
    const Vector link = k == 0 ? own : own - q.segment(first - 3, 3);
    s.constrain(0.5 * (dot(link, link) - 1));
  }
  s.potential(9.81 * height);
  return s.build();
}

/// Numbers of a few quantities, asked for anew or again and again.
std::vector<double> numbers(const System& system, Evaluation& e, Quantities wanted, const Point& at) {
  e.at(at.t, at.y.data(), at.z.data(), at.psi.data());
  std::vector<double> all;
  for (int k = 0; k < quantity_count; ++k)
    if (const auto q = static_cast<Q>(k); wanted.contains(q))
      all.insert(all.end(), e[q], e[q] + system.pattern(q).entries());
  return all;
}

// A large system is walked for a while and then has tapes: here after 15 of 40 and of 80 evaluations.
TEST(SharedSystem, LargeOnesHaveTheSameBitsBeforeAndAfterTheyAreTranslatedInAllThreads) {
  const Quantities first{Q::momentum_z, Q::acceleration_force, Q::constraint_rate_z, Q::constraint_curvature};
  const Quantities second{Q::constraint, Q::constraint_y, Q::energy};
  std::mt19937 random(1);
  const auto reference = long_chain(1000), system = long_chain(1000);
  const Point at = random_point(*reference, random);
  const auto once = [&](Quantities wanted) { return numbers(*reference, *reference->evaluation(wanted), wanted, at); };
  const std::vector<double> expected[] = {once(first), once(second)};
  std::atomic<int> different = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      const auto a = system->evaluation(first), b = system->evaluation(second);
      for (int repeat = 0; repeat < 10; ++repeat) {
        if (numbers(*system, *a, first, at) != expected[0]) ++different;
        if (numbers(*system, *b, second, at) != expected[1]) ++different;
        if (numbers(*system, *system->evaluation(second), second, at) != expected[1]) ++different;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace hinge::system_test
