// The rows of contacts between bodies, scaled by the root of the mass: A = H R with R R^T = M^-1, so that W = A A^T and
// bodies whose motion is prescribed need no special treatment.
#pragma once

#include <vector>

#include "hinge/contact.hpp"

namespace hinge {

class BodyRows {
 public:
  struct Block {
    int row, rows;  ///< of r
    int a, b;       ///< bodies; b is -1 where there is one only
    double A[3][12];
  };
  /// Throws InputError where a row moves no body. Keeps its memory.
  void bind(const ContactProblem& problem, int threads = 1);

  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<double>& q() const { return q_; }                ///< H v_free + w
  const std::vector<double>& diagonal() const { return diagonal_; }  ///< of W
  SparseRows matrix() const;                                         ///< A

 private:
  bool bind_block(const ContactProblem& problem, int i);

  int bodies_ = 0;
  std::vector<double> roots_, q_, diagonal_;
  std::vector<char> diagonal_root_;
  std::vector<Block> blocks_;
};

}  // namespace hinge
