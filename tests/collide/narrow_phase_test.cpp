// Gaps, normals and points of every pair of shapes against an independent brute force, and the properties that dynamics
// rely on: symmetry, invariance under rigid motion, and that the gap changes as normal . relative velocity says.
#include <gtest/gtest.h>

#include "collide/scenes.hpp"

namespace hinge::narrow_phase_test {
namespace {

using namespace scenes;

struct Case {
  int dimension;
  Kind a, b;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const std::vector<Kind> bounded{Kind::sphere, Kind::box, Kind::capsule, Kind::mesh};
  for (const int dimension : {2, 3})
    for (const Kind a : bounded)
      for (const Kind b : bounded) cases.push_back({dimension, a, b});
  cases.insert(cases.end(), {{3, Kind::cylinder, Kind::sphere}, {3, Kind::sphere, Kind::cylinder}});
  for (const Kind other : {Kind::box, Kind::capsule, Kind::mesh})
    cases.insert(cases.end(), {{3, Kind::cylinder, other}, {3, other, Kind::cylinder}});
  cases.push_back({3, Kind::cylinder, Kind::cylinder});
  return cases;
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const auto name = [](Kind kind) {
    switch (kind) {
      case Kind::sphere: return "sphere";
      case Kind::box: return "box";
      case Kind::capsule: return "capsule";
      case Kind::cylinder: return "cylinder";
      case Kind::mesh: return "mesh";
      case Kind::plane: return "plane";
    }
    return "";
  };
  return std::string(name(info.param.a)) + "_" + name(info.param.b) + "_" + std::to_string(info.param.dimension) + "D";
}

/// Two shapes at random poses whose signed distance is `distance` by brute force, or nearly.
struct Meeting {
  Shape a, b;
  BodyPose pa, pb;
  double distance;
};
Meeting random_meeting(Random& random, const Case& c) {
  Meeting m;
  m.a = random_shape(random, c.a, c.dimension);
  m.b = random_shape(random, c.b, c.dimension);
  m.pa.rotation = random.rotation(c.dimension);
  m.pb.rotation = random.rotation(c.dimension);
  m.pb.position = random.vector(c.dimension);
  const Vector3d direction = random.vector(c.dimension).normalized();
  // Along this direction until they are apart, then to a small gap of either sign.
  const double wanted = random.uniform(-0.1, 0.1);
  double near = 0, far = 6;
  for (int k = 0; k < 60; ++k) {
    const double middle = (near + far) / 2;
    m.pa.position = m.pb.position + middle * direction;
    // Separation in the direction of motion is cheap and monotone; the true distance is at most that.
    (separation(m.a, m.pa, m.b, m.pb, c.dimension, direction) < wanted ? near : far) = middle;
  }
  m.pa.position = m.pb.position + random.uniform(0.8, 1.1) * far * direction;
  m.distance = signed_distance(m.a, m.pa, m.b, m.pb, c.dimension);
  return m;
}

const ContactPoint& nearest(const std::vector<ContactPoint>& contacts) {
  return *std::min_element(contacts.begin(), contacts.end(),
                           [](const auto& x, const auto& y) { return x.gap < y.gap; });
}

class NarrowPhase : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Pairs, NarrowPhase, ::testing::ValuesIn(all_cases()), name_of);

TEST_P(NarrowPhase, GapIsTheSignedDistance) {
  const Case& c = GetParam();
  Random random{1};
  int apart = 0, overlapping = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Meeting m = random_meeting(random, c);
    if (m.distance > 0.5) continue;
    const auto found = Pair(c.dimension, m.a, m.b).find(m.pa, m.pb, 0.6);
    ASSERT_FALSE(found.empty()) << trial << " at distance " << m.distance;
    ++(m.distance > 0 ? apart : overlapping);
    const ContactPoint& first = nearest(found);
    // The distance is the maximum of s over all directions. The normal reaches the gap, and no direction exceeds it:
    const double reached = separation(m.a, m.pa, m.b, m.pb, c.dimension, first.normal);
    EXPECT_NEAR(reached, first.gap, 1e-13) << trial;    // measured 2e-15
    EXPECT_GE(first.gap, m.distance - 1e-13) << trial;  // brute force comes from below,
    for (const ContactPoint& contact : found) {
      EXPECT_NEAR(contact.normal.norm(), 1, 1e-14);
      if (c.dimension == 2) {
        EXPECT_EQ(contact.normal[2], 0);
        EXPECT_EQ(contact.point[2], 0);
      }
    }
  }
  EXPECT_GT(apart, 5);
  EXPECT_GT(overlapping, 5);
}

TEST_P(NarrowPhase, NothingOutsideTheBand) {
  const Case& c = GetParam();
  Random random{2};
  for (int trial = 0; trial < 30; ++trial) {
    const Meeting m = random_meeting(random, c);
    Pair pair(c.dimension, m.a, m.b);
    for (const double band : {-0.05, 0.0, 0.05}) {
      const auto found = pair.find(m.pa, m.pb, band);
      EXPECT_EQ(found.empty(), m.distance > band) << m.distance;
      for (const ContactPoint& contact : found) EXPECT_LE(contact.gap, band);
    }
  }
}

TEST_P(NarrowPhase, PointsLieOnBothSurfaces) {
  // The nearest ones: extreme along the normal, and outside of nothing.
  const Case& c = GetParam();
  Random random{3};
  for (int trial = 0; trial < 40; ++trial) {
    const Meeting m = random_meeting(random, c);
    const auto found = Pair(c.dimension, m.a, m.b).find(m.pa, m.pb, 0.3);
    if (found.empty()) continue;
    const ContactPoint& first = nearest(found);
    const Vector3d on_a = first.point + first.gap * first.normal, &n = first.normal;
    EXPECT_LT(outside(m.b, m.pb, c.dimension, first.point), 1e-9) << trial;
    EXPECT_LT(outside(m.a, m.pa, c.dimension, on_a), 1e-9) << trial;
    EXPECT_NEAR(n.dot(first.point - m.pb.position), support(m.b, c.dimension, m.pb.rotation.conjugate() * n), 1e-13);
    EXPECT_NEAR(-n.dot(on_a - m.pa.position), support(m.a, c.dimension, m.pa.rotation.conjugate() * -n), 1e-13);
  }
}

TEST_P(NarrowPhase, ExchangedShapesGiveTheSameGap) {
  const Case& c = GetParam();
  Random random{4};
  for (int trial = 0; trial < 40; ++trial) {
    const Meeting m = random_meeting(random, c);
    const auto forward = Pair(c.dimension, m.a, m.b).find(m.pa, m.pb, 0.05);
    const auto backward = Pair(c.dimension, m.b, m.a).find(m.pb, m.pa, 0.05);
    ASSERT_EQ(forward.empty(), backward.empty());
    if (forward.empty()) continue;
    const ContactPoint &x = nearest(forward), &y = nearest(backward);
    EXPECT_NEAR(x.gap, y.gap, 1e-12);
    EXPECT_LT((x.normal + y.normal).norm(), 1e-9);
  }
}

TEST_P(NarrowPhase, RigidMotionOfBothChangesNothing) {
  const Case& c = GetParam();
  Random random{5};
  for (int trial = 0; trial < 40; ++trial) {
    const Meeting m = random_meeting(random, c);
    const Quaterniond turn = random.rotation(c.dimension);
    const Vector3d shift = 10 * random.vector(c.dimension);
    const auto moved = [&](const BodyPose& p) { return BodyPose{shift + turn * p.position, turn * p.rotation}; };
    Pair pair(c.dimension, m.a, m.b);
    const auto here = pair.find(m.pa, m.pb, 0.05), there = pair.find(moved(m.pa), moved(m.pb), 0.05);
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t k = 0; k < here.size(); ++k) {
      EXPECT_EQ(here[k].key, there[k].key);
      EXPECT_NEAR(here[k].gap, there[k].gap, 2e-14);
      EXPECT_LT((turn * here[k].normal - there[k].normal).norm(), 1e-10);
      EXPECT_LT((shift + turn * here[k].point - there[k].point).norm(), 1e-9);
    }
  }
}

/// The pose after moving with velocity v and angular velocity w about its origin for time t.
BodyPose moved(const BodyPose& p, const Vector3d& v, const Vector3d& w, double t) {
  const double angle = w.norm() * t;
  return {p.position + t * v, Quaterniond(Eigen::AngleAxisd(angle, w.normalized())) * p.rotation};
}

TEST_P(NarrowPhase, GapChangesAsTheNormalVelocitySays) {
  // d gap/dt = normal . (velocity of a at point + gap normal  -  velocity of b at point), for every point of contact,
  // but in space for those where two nearly parallel edges cross in a patch of faces (kind 2 of features): never the
  // nearest.
  const Case& c = GetParam();
  Random random{6};
  int checked = 0, inexact = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Meeting m = random_meeting(random, c);
    Pair pair(c.dimension, m.a, m.b);
    const auto found = pair.find(m.pa, m.pb, 0.1);
    const auto spin = [&] { return c.dimension == 2 ? Vector3d(0, 0, random.normal()) : random.vector(); };
    const Vector3d va = random.vector(c.dimension), vb = random.vector(c.dimension), wa = spin(), wb = spin();
    const double h = 1e-6;
    for (const ContactPoint& contact : found) {
      const auto gap_at = [&](double t) {
        return pair.world.gap({moved(m.pa, va, wa, t), moved(m.pb, vb, wb, t)}, contact);
      };
      const double measured = (gap_at(h) - gap_at(-h)) / (2 * h);
      const Vector3d on_a = contact.point + contact.gap * contact.normal;
      const double predicted =
          contact.normal.dot(va + wa.cross(on_a - m.pa.position) - vb - wb.cross(contact.point - m.pb.position));
      const bool crossing = c.dimension == 3 && (contact.key >> 18 & 3) == 2 && &contact != &nearest(found);
      if (crossing && std::abs(measured - predicted) > 1e-7) {
        ++inexact;
        continue;
      }
      EXPECT_NEAR(measured, predicted, 1e-7)
          << trial << " feature " << (contact.key & 0xfffff) << " gap " << contact.gap;
      EXPECT_NEAR(gap_at(0), contact.gap, 1e-14);
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
  EXPECT_LE(inexact, checked / 5);
}

TEST_P(NarrowPhase, KeysPersistUnderSmallMotion) {
  const Case& c = GetParam();
  Random random{7};
  int same = 0, all = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Meeting m = random_meeting(random, c);
    Pair pair(c.dimension, m.a, m.b);
    const auto before = pair.find(m.pa, m.pb, 0.05);
    const auto after = pair.find(moved(m.pa, random.vector(c.dimension), Vector3d::UnitZ(), 1e-6), m.pb, 0.05);
    for (const ContactPoint& x : before) {
      ++all;
      same += std::any_of(after.begin(), after.end(), [&](const ContactPoint& y) { return y.key == x.key; });
    }
  }
  EXPECT_GT(all, 20);
  EXPECT_GE(same, all - 1);  // one may have left the band or changed its feature
}

}  // namespace
}  // namespace hinge::narrow_phase_test
