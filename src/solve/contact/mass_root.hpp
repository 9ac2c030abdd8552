// M = L L^T for a symmetric positive definite, block-diagonal mass matrix. With A = H L^-T the Delassus matrix is A
// A^T: velocities scaled by the root of the mass need one matrix where H M^-1 H^T needs two.
#pragma once

#include <string>
#include <vector>

#include "hinge/contact.hpp"

namespace hinge {

class MassRoot {
 public:
  /// Blocks are the connected components of M.
  explicit MassRoot(const SparseRows& M);
  /// Why there is no root: M is not symmetric and positive definite. Empty where there is one.
  const std::string& failure() const { return failure_; }
  /// A = H L^-T
  SparseRows scale(const SparseRows& H) const;
  /// L^-1 x
  void solve_lower(Eigen::Ref<Eigen::VectorXd> x) const;
  /// M^-1 x
  void solve(Eigen::Ref<Eigen::VectorXd> x) const;

 private:
  struct Block {
    std::vector<int> rows;
    Eigen::MatrixXd L;
  };
  std::string failure_;
  std::vector<Block> blocks_;     // of more than one row
  std::vector<int> block_;        // of each row; -1 where it is alone
  std::vector<int> place_;        // within its block
  Eigen::VectorXd inverse_root_;  // 1/sqrt(m) of rows that are alone
};

}  // namespace hinge
