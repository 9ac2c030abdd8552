// The residual of contact problems, for repeated use on one problem. It knows the problem's matrices and nothing of any
// solver.
#pragma once

#include <optional>

#include "hinge/contact.hpp"
#include "solve/complementarity/mass_root.hpp"

namespace hinge {

/// What residuals are relative to.
struct ResidualNorms {
  double q = 0, q_contacts = 0, q_bilateral = 0, q_largest = 0;  ///< |q|, of its parts, and its largest entry
  double r = 0, u = 0;
  double noise = 0;  ///< largest W_kk |r_k|
};

/// Adds up the natural map and every violation, contact after contact.
class ResidualSum {
 public:
  /// Of `law` the dimension, the friction model and its facets are used.
  explicit ResidualSum(const ContactProblem& law) : law_(law) {}
  void contact(double mu, double rho, const double* r, const double* u);
  void bilateral(double u);
  ContactResidual finish(const ResidualNorms& norms);

 private:
  const ContactProblem& law_;
  ContactResidual result_;
  double sum_ = 0, largest_ = 0, bilateral_ = 0;
};

class ResidualOfProblem {
 public:
  explicit ResidualOfProblem(const ContactProblem& problem);
  /// Recomputes u = W r + q, then the natural map and every violation.
  ContactResidual operator()(const Eigen::VectorXd& r);
  /// u of the last call.
  const Eigen::VectorXd& velocity() const { return u_; }
  const Eigen::VectorXd& q() const { return q_; }

 private:
  void compute_velocity(const Eigen::VectorXd& r);

  const ContactProblem& problem_;
  std::optional<MassRoot> mass_;
  SparseRows Ht_;
  Eigen::VectorXd q_, diagonal_, rho_, u_, v_;
  ResidualNorms norms_;
};

}  // namespace hinge
