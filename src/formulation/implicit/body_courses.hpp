// Steady motions beside which the bodies of a system move: of each body one that begins where the body is.
//
//   q = exp(O s/2) B eta A exp(S s/2)        s = t - t0; O in space, S along the axes of the body
//   spin = (A exp(S s))^-1 sigma             along the axes of the body
//   x = c + exp(w s) (D xi - c),  v = exp(w s) D nu
//
// O and w grow with the time as the angular velocity does: s stands for s + a s^2/2 + b s^3/6. A, B and D are what
// earlier courses have turned, so that the matrices of a motion that is steady stay what they are from course to
// course.
//
// How they are chosen, from the accelerations of the motion:
//
//   S    the spin about an axis of symmetry that spin' = spin x S shows: a top. Zero else
//   O    the rest of the angular velocity. Zero, and S too, where that changes quickly: no course is better than none
//   for
//        a body that tumbles or swings. One that did gets a course when it has turned steadily by two radians
//   w    that O of the body or of one on a joint with it for which |v' - w x v| is small; zero for what flies
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Geometry>

#include "body/body_table.hpp"
#include "hinge/system.hpp"

namespace hinge {

struct BodyCourse {
  using Growth = std::array<double, 2>;                                             // a and b
  Eigen::Vector3d left = Eigen::Vector3d::Zero(), right = Eigen::Vector3d::Zero();  ///< O and S
  Eigen::Vector3d along = Eigen::Vector3d::Zero(), rest = Eigen::Vector3d::Zero();  ///< w and w x c
  Growth left_growth{}, along_growth{};
  Eigen::Quaterniond left_base = Eigen::Quaterniond::Identity(), right_base = Eigen::Quaterniond::Identity();
  Eigen::Quaterniond along_base = Eigen::Quaterniond::Identity();

  bool turns() const { return !left.isZero(0) || !right.isZero(0); }
  bool goes_round() const { return !along.isZero(0); }
};

/// Where a course has got to: X = T Z + p of its unknowns, and how fast O and w are beside what they were.
struct CoursePlace {
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();  ///< of x, v and vectors in space
  Eigen::Matrix3d spin = Eigen::Matrix3d::Identity();
  Eigen::Vector3d shift = Eigen::Vector3d::Zero();  ///< of x
  Eigen::Matrix4d q = Eigen::Matrix4d::Identity();
  double left_speed = 1, along_speed = 1;
};

struct BodyCourses {
  double t0 = 0;
  std::vector<BodyCourse> of;
  void places(double t, CoursePlace* out) const;
};

/// p -> u p and p -> p u of quaternions (w, x, y, z), for u = (0, v).
Eigen::Matrix4d left_product(const Eigen::Vector3d& v);
Eigen::Matrix4d right_product(const Eigen::Vector3d& v);
Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& v);

class CourseChoice {
 public:
  CourseChoice(const System& system, const BodyTable& table);
  /// What was seen before says nothing of the motion from now on.
  void forget();
  /// Courses from a point of the motion on, after those that led there. False where no body has one: all are at rest
  /// then, as if there had never been any.
  bool choose(double t, const double* y, const double* z, const double* z_rate, const BodyCourses& before,
              BodyCourses& next);

 private:
  // Angular accelerations at the last two points.
  static constexpr long many = 1000;
  struct Past {
    // the angle by which it has turned since it last did not turn steadily, and at how many points that was seen
    double steadily = HUGE_VAL;
    long points = many;
    int count = 0;
    double t[2] = {};
    Eigen::Vector3d acceleration[2];
    void add(double time, const Eigen::Vector3d& value);
    Eigen::Vector3d slope() const;
    double length() const { return count < 2 ? 0 : t[0] - t[1]; }
  };
  void choose_turning(std::size_t body, const Eigen::Matrix3d& axes, const double* z, const double* z_rate,
                      const BodyCourse& before, BodyCourse& next);
  void choose_way(std::size_t body, const double* y, const double* z, const double* z_rate, BodyCourses& next) const;
  Eigen::Vector3d spin_of_top(std::size_t body, const Eigen::Vector3d& spin, const Eigen::Vector3d& spin_rate,
                              const BodyCourse& before) const;

  std::vector<BodyPlace> bodies_;
  std::vector<Eigen::Vector3d> moments_;
  std::vector<std::vector<std::size_t>> partners_;  // on a joint
  std::vector<Past> past_;
  double length_;
};

/// The first rows of three constraints that are a vector in space, each with a body: their derivatives by its place are
/// 1 or -1, here and elsewhere.
std::vector<std::pair<int, int>> constraints_that_are_vectors(const System& system, const BodyTable& table);

}  // namespace hinge
