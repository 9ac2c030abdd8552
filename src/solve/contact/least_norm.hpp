// One reaction among many. Where the rows of H depend on each other (a box on four corners, a grip by two pads, a table
// with more than three legs) velocities are unique and reactions are not. Here is the one of least norm,
//
//   min 1/2 sum_i delta_i |r_i|^2   with   A^T r = A^T r*,  r_i in C_i,        delta_i = trace(W_ii)/d,  W = A A^T
//
// where r* is any solution with the velocities u and C_i is what the laws leave to contact i: nothing where it opens,
// the ray against its direction where it slides, the whole cone where it sticks. That is the limit eps -> 0 of the
// problems with W + eps D, D = delta_i on the rows of contact i, for the velocities found (in De Saxce's fixed point
// for exact friction). Nothing in it depends on the order of contacts, the tangents or who found r*, so that it has
// every symmetry of the scene.
//
// The dual problem has no constraints: r_i = P_C(A_i v/delta_i) with A^T r(v) = A^T r*, the derivative of a convex
// function of v. Newton's method (semismooth, with line search) from the v of the last problem; where nothing has
// changed since, one product with A is all.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "solve/contact/body_fronts.hpp"
#include "solve/contact/contact_rows.hpp"

namespace hinge {

class LeastNorm {
 public:
  enum class Kind : char { open, ray, cone };

  /// Round cones and LCPs, no bilateral rows, W given or by bodies.
  static bool treats(const ContactProblem& p);
  /// Replaces r, a solution with the velocities u; what is below `slack` in these is rest. False, and r as it was,
  /// where it is not found.
  bool find(const ContactProblem& p, ContactRows& rows, const std::vector<double>& u, double slack,
            std::vector<double>& r);
  /// What the velocities of the last problem left to each contact.
  const std::vector<Kind>& kinds() const { return kind_; }
  // Of the last problem: there are other solutions; there would be if all contacts that do not open stuck.
  bool not_unique() const { return not_unique_; }
  bool hyperstatic() const { return hyperstatic_; }
  /// Of the velocities last looked at: contacts slide in such directions that the laws allow other motions, too.
  bool leaves_motion_open() const { return open_; }
  /// Operations of dense linear algebra for it.
  double operations() const { return operations_; }

 private:
  void sort(const ContactProblem& p, const std::vector<double>& u, double slack);
  void aim_at(const std::vector<double>& r);
  double evaluate(const Eigen::VectorXd& v);
  bool nearby(const std::vector<double>& r);
  bool iterate(bool warm);
  bool has_kernel(BodyFronts& fronts, bool as_if_all_stuck);
  bool loads_move_bodies();
  void project(int i, const double* x, double* r) const;
  void derivative(int i, const double* x, Eigen::Matrix3d& J) const;
  void face(int i, Eigen::Matrix3d& E) const;

  ContactRows* rows_ = nullptr;
  int d_ = 3, contacts_ = 0, columns_ = 0;
  std::vector<double> ray_;  // three per contact
  std::vector<Kind> kind_, last_kind_;
  std::vector<double> x_, r_;
  Eigen::VectorXd v_, target_, g_, size_;
  double dual_ = 0, operations_ = 0;
  bool not_unique_ = false, hyperstatic_ = false, open_ = false;
};

}  // namespace hinge
