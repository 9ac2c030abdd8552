// The residual of contact problems, for repeated use on one problem. It knows the problem's matrices and nothing of any
// solver.
#pragma once

#include <optional>

#include "hinge/contact.hpp"
#include "solve/complementarity/mass_root.hpp"

namespace hinge {

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
};

}  // namespace hinge
