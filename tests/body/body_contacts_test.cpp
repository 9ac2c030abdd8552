// Claims about contacts between bodies, and about particles.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/hinge.hpp"

namespace hinge::body_contacts_test {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Spheres, boxes and a plane with small gaps, each body turned somehow.
Multibody scattered(int dimension, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Multibody scene(dimension);
  const bool plane_world = dimension == 2;
  const auto pose = [&] {
    return plane_world ? Quaterniond(Eigen::AngleAxisd(3 * uniform(random), Vector3d::UnitZ()))
                       : Quaterniond(uniform(random), uniform(random), uniform(random), 1.1).normalized();
  };
  scene.body(
      {.name = "floor", .shapes = {plane(plane_world ? Vector3d(0.1, 1, 0) : Vector3d(0.1, 0.2, 1))}, .fixed = true});
  const Vector3d up = plane_world ? Vector3d(0, 1, 0) : Vector3d(0, 0, 1);
  scene.body({.name = "a", .mass = 1, .shapes = {sphere(0.5)}, .position = 0.52 * up, .rotation = pose()});
  scene.body({.name = "b",
              .mass = 2,
              .shapes = {sphere(0.4)},
              .position = 0.55 * up + Vector3d(0.95, 0, 0),
              .rotation = pose()});
  BodyShape ball = sphere(0.3);
  ball.position = {0.2, 0.1, 0};
  scene.body({.name = "c", .mass = 2, .shapes = {ball}, .position = 1.7 * up, .rotation = pose()});
  return scene;
}

// H_N z is the rate of the gap along the motion, whatever z.
TEST(BodyContacts, NormalRowsAreRatesOfGaps) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const int dimension : {2, 3}) {
    const Multibody scene = scattered(dimension, random);
    const auto system = scene.build();
    const Start start = scene.start();
    const auto finder = system->contact_finder();
    ASSERT_TRUE(finder);
    ContactList list, other;
    finder->find(0, start.position.data(), 1.0, list);
    ASSERT_GE(list.count, 4);
    ASSERT_EQ(list.dimension, dimension);
    std::vector<double> z(at(system->nz())), y(start.position.size());
    for (int attempt = 0; attempt < 5; ++attempt) {
      for (double& x : z) x = normal(random);
      const double h = 1e-4;
      std::vector<double> difference(at(list.count));
      const double weights[] = {0, 45, -9, 1};
      for (int k = -3; k <= 3; ++k) {
        if (k == 0) continue;
        system->move(start.position.data(), z.data(), k * h, y.data());
        finder->find(0, y.data(), 1.1, other);
        for (int i = 0; i < list.count; ++i)
          for (int j = 0; j < other.count; ++j)
            if (other.key[at(j)] == list.key[at(i)])
              difference[at(i)] += (k > 0 ? 1 : -1) * weights[std::abs(k)] / (60 * h) * other.gap[at(j)];
      }
      for (int i = 0; i < list.count; ++i) {
        double rate = 0;
        for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k)
          rate += list.H[at(k * dimension)] * z[at(list.column[at(k)])];
        EXPECT_NEAR(rate, difference[at(i)], 1e-9) << finder->name(list.key[at(i)]);  // measured 1e-11
        for (int k = list.first[at(i)] + 1; k < list.first[at(i) + 1]; ++k)
          EXPECT_LT(list.column[at(k) - 1], list.column[at(k)]);
      }
    }
  }
}

// A reaction between two free bodies changes neither their momentum nor their angular momentum.
TEST(BodyContacts, ReactionsKeepMomenta) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  const Multibody scene = scattered(3, random);
  const auto system = scene.build();
  const Start start = scene.start();
  const auto finder = system->contact_finder();
  ContactList list;
  finder->find(0, start.position.data(), 1.0, list);
  int pairs = 0;
  for (int i = 0; i < list.count; ++i) {
    const Vector3d r(normal(random), normal(random), normal(random));
    std::vector<double> impulse(at(system->nz()));
    int columns = 0;
    for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k, ++columns)
      for (int row = 0; row < 3; ++row) impulse[at(list.column[at(k)])] += list.H[at(3 * k + row)] * r(row);
    const Eigen::Map<const Eigen::Matrix3d> frame(list.frame.data() + 9 * i);  // columns N, T1, T2
    EXPECT_LT((frame.transpose() * frame - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff(), 1e-14);
    if (columns != 12) continue;  // against the floor
    ++pairs;
    Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();
    for (int b = 0; b < 3; ++b) {
      const double *x = start.position.data() + 7 * b, *p = impulse.data() + 6 * b;
      const Quaterniond q(x[3], x[4], x[5], x[6]);
      const Vector3d f(p[0], p[1], p[2]);
      force += f;
      torque += Vector3d(x[0], x[1], x[2]).cross(f) + q * Vector3d(p[3], p[4], p[5]);
    }
    EXPECT_LT(force.norm(), 1e-14);
    EXPECT_LT(torque.norm(), 1e-14);
  }
  EXPECT_GE(pairs, 2);
}

// Particles are bodies: every quantity of the system is that of named spheres.
TEST(Particles, HaveTheEquationsOfNamedSpheres) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const int dimension : {2, 3}) {
    Multibody named(dimension), heap(dimension);
    const Vector3d g = dimension == 2 ? Vector3d(0.3, -9, 0) : Vector3d(0.3, 1, -9);
    named.gravity(g);
    heap.gravity(g);
    const BodyOptions first{.name = "first", .mass = 3, .shapes = {sphere(0.5)}};
    named.body(first);
    heap.body(first);
    ParticleOptions grains{.name = "grains", .density = 700};
    for (int k = 0; k < 3; ++k) {
      grains.positions.emplace_back(2.0 + k, 1, 0);
      grains.radii.push_back(0.1 * (k + 1));
      named.body({.name = "p" + std::to_string(k),
                  .density = 700,
                  .shapes = {sphere(grains.radii.back())},
                  .position = grains.positions.back()});
    }
    heap.particles(grains);
    const auto a = named.build(), b = heap.build();
    ASSERT_EQ(a->ny(), b->ny());
    ASSERT_EQ(a->nz(), b->nz());
    // where each number of the named system stands in the other
    const int d = dimension, turns = d == 2 ? 1 : 3, angles = d == 2 ? 1 : 4;
    std::vector<int> y_place, z_place;
    for (int k = 0; k < d + angles; ++k) y_place.push_back(k);
    for (int k = 0; k < d + turns; ++k) z_place.push_back(k);
    for (int p = 0; p < 3; ++p) {
      for (int k = 0; k < d; ++k) y_place.push_back(d + angles + p * d + k), z_place.push_back(d + turns + p * d + k);
      for (int k = 0; k < angles; ++k) y_place.push_back(d + angles + 3 * d + p * angles + k);
      for (int k = 0; k < turns; ++k) z_place.push_back(d + turns + 3 * d + p * turns + k);
    }
    std::vector<double> ya(at(a->ny())), za(at(a->nz())), yb(ya), zb(za);
    for (std::size_t k = 0; k < ya.size(); ++k) yb[at(y_place[k])] = ya[k] = normal(random);
    if (dimension == 3)
      for (std::size_t body = 0; body < 4; ++body) {  // unit quaternions
        Eigen::Map<Eigen::Vector4d> q(ya.data() + 7 * body + 3);
        q.normalize();
        for (std::size_t k = 0; k < 4; ++k) yb[at(y_place[7 * body + 3 + k])] = q(static_cast<Eigen::Index>(k));
      }
    for (std::size_t k = 0; k < za.size(); ++k) zb[at(z_place[k])] = za[k] = normal(random);
    using Q = Quantity;
    const auto dense = [&](const System& system, Quantity q, const std::vector<double>& y,
                           const std::vector<double>& z) {
      const auto e = system.evaluation({q});
      e->at(0, y.data(), z.data(), nullptr);
      const Pattern& p = system.pattern(q);
      Eigen::MatrixXd m = Eigen::MatrixXd::Zero(p.rows, p.columns);
      for (int i = 0; i < p.rows; ++i)
        for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) m(i, p.column[at(k)]) += (*e)[q][k];
      return m;
    };
    for (const Quantity q : {Q::velocity, Q::momentum, Q::force, Q::energy, Q::velocity_y, Q::velocity_z, Q::momentum_z,
                             Q::momentum_y, Q::force_y, Q::force_z, Q::acceleration_force, Q::momentum_t}) {
      const Eigen::MatrixXd ma = dense(*a, q, ya, za), mb = dense(*b, q, yb, zb);
      ASSERT_EQ(ma.rows(), mb.rows()) << static_cast<int>(q);
      ASSERT_EQ(ma.cols(), mb.cols()) << static_cast<int>(q);
      const bool by_y = q == Q::velocity_y || q == Q::momentum_y || q == Q::force_y;
      const auto& rows = q == Q::velocity || q == Q::velocity_y || q == Q::velocity_z ? y_place : z_place;
      for (int i = 0; i < ma.rows(); ++i)
        for (int j = 0; j < ma.cols(); ++j) {
          const int bi = q == Q::energy ? 0 : rows[at(i)], bj = ma.cols() == 1 ? 0 : (by_y ? y_place : z_place)[at(j)];
          EXPECT_NEAR(ma(i, j), mb(bi, bj), 1e-12 * std::max(1.0, std::abs(ma(i, j))))
              << static_cast<int>(q) << ' ' << i << ' ' << j;
        }
    }
    std::vector<double> moved_a(ya), moved_b(yb);
    a->move(ya.data(), za.data(), 0.2, moved_a.data());
    b->move(yb.data(), zb.data(), 0.2, moved_b.data());
    for (std::size_t k = 0; k < ya.size(); ++k) EXPECT_EQ(moved_a[k], moved_b[at(y_place[k])]);
  }
}

TEST(Particles, ArePlacedWithoutOverlaps) {
  for (const int dimension : {2, 3}) {
    RandomNumbers random(42);
    std::vector<double> radii;
    for (int k = 0; k < 400; ++k) radii.push_back(0.02 + 0.02 * random.uniform());
    const Vector3d low(-1, 0, dimension == 2 ? 0 : -0.5), high(1, 1.5, dimension == 2 ? 0 : 0.5);
    for (const bool grid : {false, true}) {
      const auto places =
          grid ? place_on_grid(dimension, radii, low, high) : place_at_random(dimension, radii, low, high, random);
      ASSERT_EQ(places.size(), radii.size());
      for (std::size_t i = 0; i < places.size(); ++i) {
        for (int k = 0; k < dimension; ++k) {
          EXPECT_GE(places[i](k), low(k) + radii[i] - 1e-12);
          EXPECT_LE(places[i](k), high(k) - radii[i] + 1e-12);
        }
        for (std::size_t j = 0; j < i; ++j) EXPECT_GE((places[i] - places[j]).norm(), radii[i] + radii[j]);
      }
    }
    EXPECT_THROW(place_at_random(dimension, std::vector<double>(1000, 0.04), low, low + 0.2 * (high - low), random),
                 InputError);
    EXPECT_THROW(place_on_grid(dimension, std::vector<double>(1000, 0.04), low, low + 0.2 * (high - low)), InputError);
  }
  RandomNumbers first(1);
  EXPECT_EQ(first.bits(), 10451216379200822465u);  // SplitMix64
}

TEST(BodyContacts, BodiesOnAJointDoNotCollideUnlessAsked) {
  for (const bool collide : {false, true}) {
    Multibody scene;
    scene.body({.name = "a", .mass = 1, .shapes = {sphere(0.5)}});
    scene.body({.name = "b", .mass = 1, .shapes = {sphere(0.5)}, .position = {1, 0, 0}});
    scene.joint({.kind = JointKind::spherical, .a = "a", .b = "b", .point = Vector3d(0.5, 0, 0), .collide = collide});
    EXPECT_EQ(scene.build()->contact_finder() != nullptr, collide);
  }
  // a fixed body with a joint, and another without
  Multibody scene;
  scene.body({.name = "post", .shapes = {sphere(0.5)}, .fixed = true});
  scene.body({.name = "arm", .mass = 1, .shapes = {sphere(0.5)}, .position = {0.5, 0, 0}});
  scene.joint({.a = "post", .b = "arm", .point = Vector3d::Zero()});
  EXPECT_FALSE(scene.build()->contact_finder());
  scene.body({.name = "wall", .shapes = {plane({-1, 0, 0})}, .position = {1.2, 0, 0}, .fixed = true});
  const auto finder = scene.build()->contact_finder();
  ASSERT_TRUE(finder);
  ContactList list;
  finder->find(0, scene.start().position.data(), 1, list);
  ASSERT_EQ(list.count, 1);
  EXPECT_NEAR(list.gap[0], 0.2, 1e-15);
}

// Groups have 32 bits; more fixed bodies with joints than that.
TEST(BodyContacts, FortyFixedBodiesOnJointsAreKnownApart) {
  constexpr int n = 40;
  Multibody scene;
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    scene.body({.name = "post" + number, .shapes = {sphere(0.3)}, .position = {1.0 * i, 0, 0}, .fixed = true});
    scene.body({.name = "arm" + number, .mass = 1, .shapes = {sphere(0.3)}, .position = {1.0 * i, 0.5, 0}});
    scene.joint({.a = "post" + number, .b = "arm" + number, .point = Vector3d(1.0 * i, 0, 0)});
  }
  const auto finder = scene.build()->contact_finder();
  ASSERT_TRUE(finder);
  std::vector<double> y = scene.start().position;
  ContactList list;
  finder->find(0, y.data(), 0.1, list);
  EXPECT_EQ(list.count, 0);  // was 9: from the 32nd on
  for (int i = 0; i < n; ++i) y[static_cast<std::size_t>(7 * i)] += 1;
  finder->find(0, y.data(), 0.1, list);
  EXPECT_EQ(list.count, n - 1);  // each meets the post of the next one
}

TEST(BodyContacts, OverlappingStartsAreNamed) {
  Multibody scene;
  scene.body({.name = "left", .mass = 1, .shapes = {sphere(0.5)}});
  scene.body({.name = "right", .mass = 1, .shapes = {sphere(0.5)}, .position = {0.9, 0, 0}});
  const auto start = [&] { consistent_start(*scene.build(), 0, scene.start()); };
  try {
    start();
    FAIL();
  } catch (const InconsistentStart& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("left - right"), std::string::npos) << text;
    EXPECT_NE(text.find("0.1"), std::string::npos) << text;
  }
  scene.allow_overlap(0.11);
  EXPECT_NO_THROW(start());
}

}  // namespace
}  // namespace hinge::body_contacts_test
