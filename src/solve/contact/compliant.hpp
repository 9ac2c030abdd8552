// Contacts that give way a little, less and less: where exact friction has several solutions, this chooses one.
//
// With W + eps D in the place of W, D = delta_i on the rows of contact i, every contact has a spring of its own, and
// its law is explicit (Alart and Curnier's with the spring's stiffness):
//
//   x = r0 - u/(eps delta),    r_N = max(0, x_N),  r_T = P_disk(mu r_N)(x_T) =: Phi(x),     v = A^T Phi(r0 - (A v +
//   q)/(eps delta))
//
// solved by semismooth Newton in v for eps = 1, 1/10, ... around r0 = 0: loads spread over all contacts as over equal
// springs, and a box that can be held is held. Then proximal steps around the last r with the last eps, which converge
// to a solution with W itself. Nothing depends on the order of contacts, the tangents or where another solver ended.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "solve/contact/body_fronts.hpp"
#include "solve/contact/contact_rows.hpp"
#include "solve/contact/judge.hpp"

namespace hinge {

class CompliantContacts {
 public:
  /// Lets the judge look at what it finds; q are the velocities without reactions.
  void solve(ContactRows& rows, const std::vector<double>& q, Judge& judge);

 private:
  bool relax(double eps, double accuracy);
  double evaluate(const Eigen::VectorXd& v, double eps);
  void derivative(int i, double eps, Eigen::Matrix3d& C) const;

  const ContactRows* rows_ = nullptr;
  const std::vector<double>* q_ = nullptr;
  Judge* judge_ = nullptr;
  int d_ = 3, factorisations_ = 0;
  BodyFronts* fronts_ = nullptr;
  Eigen::VectorXd v_, F_, dv_, trial_;
  std::vector<double> u_, x_, r_, around_;
};

}  // namespace hinge
