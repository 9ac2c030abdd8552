// The rows of a contact problem by themselves, W = A A^T row by row in flat arrays: of a problem by bodies those of the
// bodies, of one that gives W a root of it with as many columns as W has rank. Memory is kept.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "hinge/contact.hpp"
#include "solve/contact/body_fronts.hpp"
#include "solve/contact/body_rows.hpp"

namespace hinge {

class ContactRows {
 public:
  /// False where W is not a root's square: a diagonal entry is not positive.
  bool bind(const ContactProblem& p, const BodyRows& bodies);

  int dimension() const { return d_; }
  int contacts() const { return contacts_; }
  int rows() const { return contacts_ * d_; }
  int columns() const { return columns_; }
  /// Columns that belong together: of a body, or all of a root.
  int group() const { return group_; }
  double mu(int contact) const { return mu_[static_cast<std::size_t>(contact)]; }
  /// trace(W_ii)/d of contact i, without friction W_NN: what one unit of r_i does to velocities.
  double delta(int contact) const { return delta_[static_cast<std::size_t>(contact)]; }
  /// Operations of dense linear algebra for the root.
  double operations() const { return operations_; }

  /// A v
  void multiply(const Eigen::VectorXd& v, std::vector<double>& u) const;
  /// A^T r
  void multiply_transposed(const std::vector<double>& r, Eigen::VectorXd& v) const;
  /// |A|^T |r|
  void absolute_transposed(const std::vector<double>& r, Eigen::VectorXd& v) const;
  SparseRows matrix() const;
  /// With A, made at the first call.
  BodyFronts& fronts();

 private:
  void take(const ContactProblem& p, const BodyRows& bodies);
  bool take_root(const ContactProblem& p);

  int d_ = 3, contacts_ = 0, columns_ = 0, group_ = 6;
  double operations_ = 0;
  std::vector<int> start_, column_;
  std::vector<double> value_, mu_, delta_;
  BodyFronts fronts_;
  bool has_fronts_ = false;
};

}  // namespace hinge
