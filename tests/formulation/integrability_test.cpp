// Which velocity constraints are the velocity level of position constraints.
#include "formulation/integrability.hpp"

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::integrability_test {
namespace {

/// A system of n coordinates with these velocity constraints, seen from q = 0.1, 0.2, ...
IntegrableRates found(int n, const std::function<void(Lagrangian&, const Vector& q, const Vector& v)>& constrain) {
  Lagrangian l;
  const Vector q = l.coordinates("q", n), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  constrain(l, q, v);
  std::vector<double> at;
  for (int k = 0; k < n; ++k) at.push_back(0.1 * (k + 1));
  return integrable_rates(*l.build(), 0, at);
}

TEST(Integrability, BladesAndWheelsAreNonholonomic) {
  const auto blade = found(3, [](Lagrangian& l, const Vector& q, const Vector& v) {
    l.constrain_velocity(v[0] * sin(q[2]) - v[1] * cos(q[2]));
  });
  EXPECT_TRUE(blade.tested);
  EXPECT_EQ(blade.count, 0);
  // an upright wheel: two constraints on four coordinates; brackets of brackets are needed
  const auto wheel = found(4, [](Lagrangian& l, const Vector& q, const Vector& v) {
    l.constrain_velocity(v[0] - 0.3 * v[3] * cos(q[2]));
    l.constrain_velocity(v[1] - 0.3 * v[3] * sin(q[2]));
  });
  EXPECT_TRUE(wheel.tested);
  EXPECT_EQ(wheel.count, 0);
  EXPECT_EQ(wheel.text({}), "");
}

TEST(Integrability, FindsThoseThatSayWhereThingsAre) {
  // rolling along a line, and the same with a factor in front, which hides it
  const auto line =
      found(2, [](Lagrangian& l, const Vector&, const Vector& v) { l.constrain_velocity(v[0] - 0.5 * v[1]); });
  EXPECT_EQ(line.count, 1);
  ASSERT_EQ(line.rows, std::vector<int>{0});
  EXPECT_NE(line.positions[0], "");
  const auto hidden = found(3, [](Lagrangian& l, const Vector& q, const Vector& v) {
    l.constrain_velocity(exp(q[2]) * (v[0] * q[1] + q[0] * v[1]));
  });
  EXPECT_EQ(hidden.count, 1);
  EXPECT_EQ(hidden.rows, std::vector<int>{0});
  EXPECT_EQ(hidden.positions[0], "");  // there is a factor to be found, which nobody looks for
}

TEST(Integrability, TellsTheOnesFromTheOthersAmongSeveral) {
  const auto mixed = found(4, [](Lagrangian& l, const Vector& q, const Vector& v) {
    l.constrain_velocity(v[0] * sin(q[2]) - v[1] * cos(q[2]));
    l.constrain_velocity(v[3] - 2.0 * q[2] * v[2]);
  });
  EXPECT_EQ(mixed.count, 1);
  EXPECT_EQ(mixed.rows, std::vector<int>{1});
  // two of which only the sum is integrable
  const auto sum = found(4, [](Lagrangian& l, const Vector& q, const Vector& v) {
    l.constrain_velocity(v[0] - q[1] * v[2]);
    l.constrain_velocity(v[3] + q[1] * v[2]);
  });
  EXPECT_EQ(sum.count, 1);
  EXPECT_TRUE(sum.rows.empty());
  EXPECT_NE(sum.text({}), "");
}

// On a surface a constraint can be integrable that is not in space; and time counts as a direction.
TEST(Integrability, CountsPositionConstraintsAndTime) {
  const auto blade = [](bool held) {
    return found(3, [held](Lagrangian& l, const Vector& q, const Vector& v) {
      if (held) l.constrain(q[2] - 0.3);
      l.constrain_velocity(v[0] * sin(q[2]) - v[1] * cos(q[2]));
    });
  };
  EXPECT_EQ(blade(false).count, 0);
  EXPECT_EQ(blade(true).count, 1);
  const auto driven =
      found(2, [](Lagrangian& l, const Vector& q, const Vector& v) { l.constrain_velocity(v[0] - l.t() * q[1]); });
  EXPECT_EQ(driven.count, 0);
  const auto moved = found(
      2, [](Lagrangian& l, const Vector& q, const Vector& v) { l.constrain_velocity(v[0] + l.t() * v[1] + q[1]); });
  EXPECT_EQ(moved.count, 1);  // x + t y
  EXPECT_EQ(moved.rows, std::vector<int>{0});
}

TEST(Integrability, SaysNothingOfWhatIsNotLinear) {
  const auto speed =
      found(2, [](Lagrangian& l, const Vector&, const Vector& v) { l.constrain_velocity(dot(v, v) - 1.0); });
  EXPECT_FALSE(speed.tested);
  EXPECT_EQ(speed.count, 0);
}

}  // namespace
}  // namespace hinge::integrability_test
