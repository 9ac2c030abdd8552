#include "collide/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Geometry>

namespace hinge::contact {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using Kind = Shape::Kind;

double turn(const Motion& m) {
  return m.from.geometry->kind == Kind::sphere
             ? 0
             : Eigen::AngleAxisd(Eigen::Matrix3d(m.to.rotation * m.from.rotation.transpose())).angle();
}

Placed at(const Motion& m, double time) {
  Placed p = m.from;
  p.position += time * (m.to.position - m.from.position);
  if (m.from.geometry->kind != Kind::sphere)
    p.rotation = Quaterniond(m.from.rotation).slerp(time, Quaterniond(m.to.rotation)).normalized().toRotationMatrix();
  return p;
}

const Touch* nearest(const Touches& touches) {
  const auto least =
      std::min_element(touches.begin(), touches.end(), [](const Touch& x, const Touch& y) { return x.gap < y.gap; });
  return least == touches.end() ? nullptr : &*least;
}

/// How far a point of a can move against b.
double way(const Motion& a, const Motion& b) {
  return ((a.to.position - a.from.position) - (b.to.position - b.from.position)).norm() +
         turn(a) * a.from.geometry->reach + turn(b) * b.from.geometry->reach;
}

}  // namespace

bool first_touch(const Motion& a, const Motion& b, int dimension, FirstTouch& out) {
  constexpr int most = 200;
  const double whole = way(a, b);
  const double close = level * std::min(a.from.geometry->reach, b.from.geometry->reach);
  out.time = 0;
  for (int k = 0; k < most; ++k) {
    out.a = at(a, out.time);
    out.b = at(b, out.time);
    out.points.clear();
    collide(out.a, out.b, dimension, std::numeric_limits<double>::infinity(), out.points);
    const Touch* touch = nearest(out.points);
    if (!touch) return false;
    if (touch->gap <= close) return true;
    if (out.time >= 1) return false;
    out.time = std::min(1.0, out.time + touch->gap / whole);
  }
  return true;  // along each other, closely
}

}  // namespace hinge::contact
