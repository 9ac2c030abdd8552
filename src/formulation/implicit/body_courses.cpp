#include "formulation/implicit/body_courses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solve/index.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

// Of the square of the angular velocity: what changes across it, of a motion that is steady, and of one that was.
constexpr double steady = 0.03, still_steady = 0.06;
constexpr double even = 0.2, still_even = 0.4;  // and along it
constexpr double proof = 2;                     // radians
constexpr long proof_points = 5;
// Of what is to be explained, what a course may leave: of v', of spin' of a top, and of one that was a top before.
constexpr double good_way = 0.5, good_top = 0.2, good_top_still = 0.5;
constexpr double symmetric = 1e-9;        // moments
constexpr double least_spin = 0.05;       // of a top, beside all of its spin
constexpr double along_the_axis = 1e-3;   // spin that says nothing of a top
constexpr double no_acceleration = 1e-6;  // of that of a point at a typical distance

Quaterniond turn_by(const Vector3d& angle) {
  const double half = angle.norm() / 2;
  const double s = half > 1e-4 ? std::sin(half) / half : 1 - half * half / 6;
  return {std::cos(half), s / 2 * angle(0), s / 2 * angle(1), s / 2 * angle(2)};
}

// s + a s^2/2 + b s^3/6, and its slope
double grown(double s, const BodyCourse::Growth& g) { return s * (1 + s * (0.5 * g[0] + s * g[1] / 6)); }
double growing(double s, const BodyCourse::Growth& g) { return 1 + s * (g[0] + 0.5 * s * g[1]); }

Quaterniond left_at(const BodyCourse& c, double s) {
  return (turn_by(grown(s, c.left_growth) * c.left) * c.left_base).normalized();
}
Quaterniond right_at(const BodyCourse& c, double s) { return (c.right_base * turn_by(s * c.right)).normalized(); }
Quaterniond along_at(const BodyCourse& c, double s) {
  return (turn_by(grown(s, c.along_growth) * c.along) * c.along_base).normalized();
}

// (1 - exp(w u)) c, from w x c alone: the centre of a turn that is nearly straight is far away
Vector3d shift_at(const BodyCourse& c, double s) {
  const double u = grown(s, c.along_growth), angle = std::abs(u) * c.along.norm(), half = std::sin(angle / 2);
  const bool large = angle > 1e-4;
  const double first = large ? std::sin(angle) / angle : 1 - angle * angle / 6;
  const double second = large ? 2 * half * half / (angle * angle) : 0.5 - angle * angle / 24;
  return -u * (first * c.rest + second * u * c.along.cross(c.rest));
}

Matrix4d product_matrix(const Quaterniond& u, double side) {
  Matrix4d m = u.w() * Matrix4d::Identity();
  m.topRightCorner<1, 3>() -= u.vec().transpose();
  m.bottomLeftCorner<3, 1>() += u.vec();
  m.bottomRightCorner<3, 3>() += side * cross_matrix(u.vec());
  return m;
}

Vector3d vector_at(const double* x, int first) { return Eigen::Map<const Vector3d>(x + first); }

}  // namespace

Matrix3d cross_matrix(const Vector3d& v) {
  Matrix3d m;
  m << 0, -v(2), v(1), v(2), 0, -v(0), -v(1), v(0), 0;
  return m;
}
Matrix4d left_product(const Vector3d& v) { return product_matrix({0, v(0), v(1), v(2)}, 1); }
Matrix4d right_product(const Vector3d& v) { return product_matrix({0, v(0), v(1), v(2)}, -1); }

void BodyCourses::places(double t, CoursePlace* out) const {
  const double s = t - t0;
  for (const BodyCourse& c : of) {
    CoursePlace& p = *out++;
    p.turn = along_at(c, s).toRotationMatrix();
    p.shift = shift_at(c, s);
    const Quaterniond right = right_at(c, s);
    p.q.noalias() = product_matrix(left_at(c, s), 1) * product_matrix(right, -1);
    p.spin = right.toRotationMatrix().transpose();
    p.left_speed = growing(s, c.left_growth);
    p.along_speed = growing(s, c.along_growth);
  }
}

void CourseChoice::Past::add(double time, const Vector3d& value) {
  if (count == 0 || time != t[0]) {
    t[1] = t[0];
    acceleration[1] = acceleration[0];
    count = std::min(count + 1, 2);
  }
  t[0] = time;
  acceleration[0] = value;
}

Vector3d CourseChoice::Past::slope() const {
  if (count < 2) return Vector3d::Zero();
  return (acceleration[0] - acceleration[1]) / (t[0] - t[1]);
}

CourseChoice::CourseChoice(const System& system, const BodyTable& table)
    : bodies_(table.places), partners_(bodies_.size()), past_(bodies_.size()), length_(table.length) {
  for (const BodyLink& link : table.links) {
    if (link.kind == "spring" || link.a < 0 || link.b < 0) continue;
    partners_[at(link.a)].push_back(at(link.b));
    partners_[at(link.b)].push_back(at(link.a));
  }
  std::vector<double> y(at(system.ny()), 0.0), z(at(system.nz()), 0.0), psi(at(system.npsi()), 0.0);
  for (const BodyPlace& b : bodies_) y[at(b.rotation)] = 1;
  const auto mass = system.evaluation({Quantity::momentum_z});
  mass->at(0, y.data(), z.data(), psi.data());
  const Pattern& p = system.pattern(Quantity::momentum_z);
  for (const BodyPlace& b : bodies_) {
    Vector3d& m = moments_.emplace_back(Vector3d::Zero());
    for (int k = 0; k < 3; ++k)
      for (int e = p.row_start[at(b.spin + k)]; e < p.row_start[at(b.spin + k + 1)]; ++e)
        if (p.column[at(e)] == b.spin + k) m(k) = (*mass)[Quantity::momentum_z][e];
  }
}

void CourseChoice::forget() {
  for (Past& past : past_) past = {};
}

// Without precession spin' = spin x S would say nothing: then a top is one that was one.
Vector3d CourseChoice::spin_of_top(std::size_t body, const Vector3d& spin, const Vector3d& spin_rate,
                                   const BodyCourse& before) const {
  for (int k = 0; k < 3; ++k) {
    const double j1 = moments_[body]((k + 1) % 3), j2 = moments_[body]((k + 2) % 3);
    if (!(std::abs(j1 - j2) <= symmetric * (j1 + j2))) continue;
    const Vector3d around = spin.cross(Vector3d::Unit(k));
    const bool was_one = before.right(k) != 0;
    const double all = spin_rate.norm();
    if (around.norm() > along_the_axis * spin.norm()) {
      const double fit = spin_rate.dot(around) / around.squaredNorm();
      if (std::abs(fit) > least_spin * spin.norm() &&
          (spin_rate - fit * around).norm() <= (was_one ? good_top_still : good_top) * all)
        return fit * Vector3d::Unit(k);
      if (!((spin_rate - spin(k) * around).norm() <= all)) return Vector3d::Zero();
    }
    return was_one ? Vector3d(spin(k) * Vector3d::Unit(k)) : Vector3d::Zero();
  }
  return Vector3d::Zero();
}

void CourseChoice::choose_turning(std::size_t body, const Matrix3d& axes, const double* z, const double* z_rate,
                                  const BodyCourse& before, BodyCourse& next) {
  const Vector3d spin = vector_at(z, bodies_[body].spin), spin_rate = vector_at(z_rate, bodies_[body].spin);
  next.right = spin_of_top(body, spin, spin_rate, before);
  next.left = axes * (spin - next.right);
  next.left_growth = {};
  Past& past = past_[body];
  const double square = next.left.squaredNorm(), all = spin.squaredNorm();
  Vector3d across = axes * (spin_rate + next.right.cross(spin));  // the change of O
  double growth = 0;
  if (square > 0) {
    growth = next.left.dot(across) / square;
    const double more = next.left.dot(past.slope()) / square;
    across -= growth * next.left;
    if (next.right.isZero(0) && std::isfinite(growth) && std::isfinite(more)) next.left_growth = {growth, more};
  }
  const bool turned = before.turns();
  const bool steadily = all > 0 && across.norm() <= (turned ? still_steady : steady) * all &&
                        std::abs(growth) * std::sqrt(square) <= (turned ? still_even : even) * all;
  past.steadily = steadily ? past.steadily + std::sqrt(all) * past.length() : 0;
  past.points = steadily ? past.points + 1 : 0;
  if (!(past.steadily >= proof && past.points >= proof_points)) {
    next.left.setZero();
    next.right.setZero();
    next.left_growth = {};
  }
}

void CourseChoice::choose_way(std::size_t body, const double* y, const double* z, const double* z_rate,
                              BodyCourses& next) const {
  BodyCourse& c = next.of[body];
  const BodyPlace& p = bodies_[body];
  const Vector3d x = vector_at(y, p.x), v = vector_at(z, p.v), a = vector_at(z_rate, p.v);
  c.along.setZero();
  c.rest.setZero();
  c.along_growth = {};
  double best = infinity;
  const auto offer = [&](const BodyCourse& by) {
    const double square = by.left.squaredNorm();
    if (!(square > 0)) return;
    const auto across = [&](const Vector3d& u) -> Vector3d { return u - by.left * (by.left.dot(u) / square); };
    const Vector3d turning = across(a), slow = across(v);
    const double left = (turning - by.left.cross(v) - by.left_growth[0] * slow).norm();
    if (!(left <= good_way * turning.norm() + no_acceleration * square * length_ && left < 0.5 * best)) return;
    best = left;
    c.along = by.left;
    c.rest = by.left.cross(x) - slow;
    c.along_growth = by.left_growth;
  };
  offer(c);
  for (const std::size_t partner : partners_[body]) offer(next.of[partner]);
}

bool CourseChoice::choose(double t, const double* y, const double* z, const double* z_rate, const BodyCourses& before,
                          BodyCourses& next) {
  const double s = t - before.t0;
  next.t0 = t;
  bool moves = false;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const BodyCourse& old = before.of[b];
    BodyCourse& c = next.of[b];
    c.left_base = left_at(old, s);
    c.right_base = right_at(old, s);
    c.along_base = along_at(old, s);
    const double* q = y + bodies_[b].rotation;
    const Matrix3d axes = Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
    past_[b].add(t, axes * vector_at(z_rate, bodies_[b].spin));
    choose_turning(b, axes, z, z_rate, old, c);
    moves = moves || c.turns();
  }
  if (!moves) {
    for (BodyCourse& c : next.of) c = {};
    return false;
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) choose_way(b, y, z, z_rate, next);
  return true;
}

std::vector<std::pair<int, int>> constraints_that_are_vectors(const System& system, const BodyTable& table) {
  const auto rows = system.evaluation({Quantity::constraint_y});
  const Pattern& g = system.pattern(Quantity::constraint_y);
  std::vector<double> y(at(system.ny()), 0.0), z(at(system.nz()), 0.0), psi(at(system.npsi()), 0.0);
  std::vector<double> values[2];
  for (int sample = 0; sample < 2; ++sample) {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = std::sin(1.7 * static_cast<double>(k + 1) + sample);
    rows->at(0.3 * sample, y.data(), z.data(), psi.data());
    const double* v = (*rows)[Quantity::constraint_y];
    values[sample].assign(v, v + g.entries());
  }
  const auto is_vector = [&](int row, int x, const std::vector<double>& value) {
    double sign = 0;
    int count = 0;
    for (int k = 0; k < 3; ++k)
      for (int e = g.row_start[at(row + k)]; e < g.row_start[at(row + k + 1)]; ++e) {
        if (g.column[at(e)] < x || g.column[at(e)] >= x + 3) continue;
        if (g.column[at(e)] != x + k || std::abs(value[at(e)]) != 1 || (sign != 0 && value[at(e)] != sign))
          return false;
        sign = value[at(e)];
        ++count;
      }
    return count == 3;
  };
  std::vector<std::pair<int, int>> vectors;
  for (int row = 0; row + 3 <= system.ng(); ++row)
    for (int b = static_cast<int>(table.places.size()); b-- > 0;)
      if (const int x = table.places[at(b)].x; is_vector(row, x, values[0]) && is_vector(row, x, values[1])) {
        vectors.emplace_back(row, b);
        row += 2;
        break;
      }
  return vectors;
}

}  // namespace hinge
