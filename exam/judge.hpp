// The judge of the exam: from recorded states of the bodies that move, the largest error against the exact answer,
// relative. It sees nothing else of an engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "scene.hpp"

namespace exam {

/// Angular velocities are those in space.
struct BodyState {
  Vector3d x, v, w;
  Quaterniond q;
};

/// Of the bodies that move, in the order of the scene; the start is the first row.
struct Recording {
  std::vector<double> times;
  std::vector<std::vector<BodyState>> rows;
  long steps = 0;
  double seconds = 0;   ///< of the processor, for the steps
  std::string failure;  ///< why it ended early; empty where it did not
};

class Judge {
 public:
  Judge(const Scene& scene, const Recording& recording) : scene_(scene), record_(recording) {
    for (const SceneBody& b : scene.bodies)
      if (!b.fixed) bodies_.push_back(&b);
  }

  /// Infinite where the recording is incomplete.
  double error() const {
    if (!record_.failure.empty() || record_.rows.size() < 2) return HUGE_VAL;
    for (const auto& row : record_.rows)
      for (const BodyState& b : row)
        if (!b.x.allFinite() || !b.v.allFinite() || !b.q.coeffs().allFinite()) return HUGE_VAL;
    const std::string& s = scene_.name;
    if (s == "seam") return seam();
    if (s == "incline-stick" || s == "grip" || s == "stack" || s == "mass-ratio" || s == "arch") return moved();
    if (s == "incline-slide") return slide();
    if (s == "stopping") return stopping();
    if (s == "rolling") return rolling();
    if (s == "free-flight") return free_flight();
    if (s == "stack-dropped" || s == "mass-ratio-dropped") return dropped();
    if (s == "five-spheres") return five_spheres();
    if (s == "chain" || s == "four-bar") return mechanism();
    if (s == "turntable") return turntable();
    if (s == "thousand-spheres") return overlap();
    throw std::logic_error("the exam has no scene '" + s + "'");
  }

 private:
  const std::vector<BodyState>& first() const { return record_.rows.front(); }
  const std::vector<BodyState>& last() const { return record_.rows.back(); }
  double end() const { return record_.times.back(); }
  static double turn(const Quaterniond& a, const Quaterniond& b) { return a.angularDistance(b); }
  static double largest_size(const SceneBody& b) {
    double size = 0;
    for (const double x : b.size) size = std::max(size, x);
    for (const Vector3d& p : b.points) size = std::max(size, 2 * p.cwiseAbs().maxCoeff());
    return size;
  }

  // velocity, height over the edge, attitude in radian
  double seam() const {
    double worst = 0;
    for (const auto& row : record_.rows) {
      worst = std::max(worst, (row[0].v - Vector3d(3, 0, 0)).norm() / 3);
      worst = std::max({worst, std::abs(row[0].x.z() - 0.1) / 0.2, turn(row[0].q, first()[0].q)});
    }
    return worst;
  }
  // from the start: way over the size of a body, and turn
  double moved() const {
    double worst = 0;
    for (const auto& row : record_.rows)
      for (std::size_t k = 0; k < row.size(); ++k)
        worst = std::max(
            {worst, (row[k].x - first()[k].x).norm() / largest_size(*bodies_[k]), turn(row[k].q, first()[k].q)});
    return worst;
  }
  double slide() const {
    const Vector3d normal = bodies_[0]->rotation * Vector3d::UnitZ(), g = scene_.gravity;
    const Vector3d along = g - g.dot(normal) * normal, down = along.normalized();
    const double a = along.norm() + scene_.friction * g.dot(normal), way = a * end() * end() / 2;
    return std::max({(last()[0].x - first()[0].x - way * down).norm() / way,
                     (last()[0].v - a * end() * down).norm() / (a * end()), turn(last()[0].q, first()[0].q)});
  }
  double stopping() const {
    const Vector3d v = bodies_[0]->velocity;
    const double way = v.squaredNorm() / (2 * scene_.friction * scene_.gravity.norm());
    return std::max((last()[0].x - first()[0].x - way * v.normalized()).norm() / way, turn(last()[0].q, first()[0].q));
  }
  double rolling() const {
    const Vector3d v = 5.0 / 7 * bodies_[0]->velocity;
    return (last()[0].v - v).norm() / v.norm();
  }
  double free_flight() const {
    const Vector3d J = bodies_[0]->inertia;
    const auto momentum = [&](const BodyState& b) -> Vector3d {
      return b.q * J.cwiseProduct(b.q.conjugate() * b.w).eval();
    };
    const auto energy = [&](const BodyState& b) { return b.w.dot(momentum(b)) / 2; };
    double worst = 0;
    for (const auto& row : record_.rows)
      worst = std::max({worst, (momentum(row[0]) - momentum(first()[0])).norm() / momentum(first()[0]).norm(),
                        std::abs(energy(row[0]) / energy(first()[0]) - 1)});
    return worst;
  }
  // at the end: heights of boxes that touch, over their edge, and turn
  double dropped() const {
    double worst = 0, height = 0;
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      const double edge = bodies_[k]->size[2];
      const Vector3d rest(first()[k].x.x(), first()[k].x.y(), height + edge / 2);
      height += edge;
      worst = std::max({worst, (last()[k].x - rest).norm() / edge, turn(last()[k].q, first()[k].q)});
    }
    return worst;
  }
  double five_spheres() const {
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k) sum += (last()[k].v - Vector3d(k == 4, 0, 0)).squaredNorm();
    return std::sqrt(sum);
  }
  // energy, over the kinetic one of the start or what a chain loses until it hangs; gaps of the joints, over the length
  // of the largest body
  double mechanism() const {
    double reach = 0, mass = 0, worst = 0;
    for (const SceneBody* b : bodies_) {
      mass += b->mass;
      reach = std::max(reach, largest_size(*b));
    }
    const auto energy = [&](const std::vector<BodyState>& row) {
      double sum = 0;
      for (std::size_t k = 0; k < row.size(); ++k) {
        const SceneBody& b = *bodies_[k];
        const Vector3d spin = row[k].q.conjugate() * row[k].w;
        sum += b.mass * (row[k].v.squaredNorm() / 2 - scene_.gravity.dot(row[k].x)) +
               spin.dot(b.inertia.cwiseProduct(spin)) / 2;
      }
      return sum;
    };
    double length = 0;
    for (const SceneBody* b : bodies_) length += largest_size(*b);
    const double start = energy(first());
    const double scale = scene_.gravity.norm() > 0 ? mass * scene_.gravity.norm() * length / 2 : start;
    for (const auto& row : record_.rows) {
      worst = std::max(worst, std::abs(energy(row) - start) / scale);
      for (const SceneJoint& j : scene_.joints) worst = std::max(worst, gap(j, row) / reach);
    }
    return worst;
  }
  // of the points of a joint, and by how much its axes differ
  double gap(const SceneJoint& joint, const std::vector<BodyState>& row) const {
    Vector3d point[2], axis[2];
    const int who[2] = {joint.a, joint.b};
    for (int side = 0; side < 2; ++side) {
      point[side] = joint.point;
      axis[side] = joint.axis;
      if (who[side] < 0) continue;
      std::size_t k = 0;  // among those that move
      for (int i = 0; i < who[side]; ++i) k += !scene_.bodies[static_cast<std::size_t>(i)].fixed;
      const Quaterniond turned = row[k].q * first()[k].q.conjugate();
      point[side] = row[k].x + turned * (joint.point - first()[k].x);
      axis[side] = turned * joint.axis;
    }
    return (point[0] - point[1]).norm() + (joint.type == "spherical" ? 0 : (axis[0] - axis[1]).norm());
  }
  // Of a solid sphere on a table that turns at W about z, v turns at w = 2 W/7: a circle about x + z x v/w.
  double turntable() const {
    std::size_t ball = 0;
    while (bodies_[ball]->turned) ++ball;
    const BodyState& b = first()[ball];
    const double w = 2.0 / 7 * bodies_[1 - ball]->angular_velocity.z();
    const Vector3d centre = b.x + Vector3d::UnitZ().cross(b.v) / w;
    double worst = 0;
    for (std::size_t k = 0; k < record_.rows.size(); ++k) {
      const Eigen::AngleAxisd turned(w * record_.times[k], Vector3d::UnitZ());
      const Vector3d exact = centre + turned * (b.x - centre);
      worst = std::max(worst, (record_.rows[k][ball].x - exact).norm() / (b.x - centre).norm());
    }
    return worst;
  }
  // the deepest overlap in any row, over the radius; walls are boxes along the axes
  double overlap() const {
    double deepest = 0;
    const double radius = bodies_[0]->size[0];
    for (const auto& row : record_.rows)
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) deepest = std::max(deepest, 2 * radius - (row[i].x - row[k].x).norm());
        for (const SceneBody& wall : scene_.bodies) {
          if (!wall.fixed) continue;
          const Vector3d half = Vector3d(wall.size[0], wall.size[1], wall.size[2]) / 2;
          const Vector3d out = (row[i].x - wall.position).cwiseAbs() - half;
          const double distance = out.maxCoeff() > 0 ? out.cwiseMax(0).norm() : out.maxCoeff();
          deepest = std::max(deepest, radius - distance);
        }
      }
    return deepest / radius;
  }

  const Scene& scene_;
  const Recording& record_;
  std::vector<const SceneBody*> bodies_;
};

}  // namespace exam
