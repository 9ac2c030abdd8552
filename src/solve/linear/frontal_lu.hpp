// Sparse LU of matrices that are sums of small dense ones, K = sum_e K_e: multifrontal, with dense fronts.
//
// An element e couples a few nodes (bodies), a node has a few rows. Nodes are ordered by minimum degree, elimination
// joins nodes with nearly the same neighbours into fronts, and in a front everything is dense: factorise the pivots
// (rows exchanged within the front), update the rest, hand it to the parent. No pivot is delayed, so K should be
// regular on its leading blocks; the matrices of contact problems, I + A^T D A with D positive, are. Source: Duff, Reid
// (1983); Liu (1992).
#pragma once

#include <vector>

#include <Eigen/Core>

namespace hinge {

class FrontalLu {
 public:
  FrontalLu() = default;
  /// `size` rows per node; element e couples the nodes elements[e] (each once).
  FrontalLu(int nodes, int size, const std::vector<std::vector<int>>& elements);

  /// Factorises I*diagonal + sum of elements; `fill(e, K)` writes element e's matrix, its nodes in the order given.
  template <class Fill>
  bool factor(double diagonal, Fill&& fill) {
    begin(diagonal);
    for (std::size_t f = 0; f < fronts_.size(); ++f) {
      assemble_children(f);
      for (const int e : fronts_[f].elements) {
        const auto rows = static_cast<Eigen::Index>(places_[static_cast<std::size_t>(e)].size()) * size_;
        element_.setZero(rows, rows);
        fill(e, element_);
        add(f, places_[static_cast<std::size_t>(e)]);
      }
      if (!eliminate(f)) return false;
    }
    return true;
  }
  /// x <- K^-1 x
  void solve(Eigen::VectorXd& x);
  /// Of a factorisation.
  double operations() const;

 private:
  struct Front {
    std::vector<int> nodes;  ///< pivots first, then the nodes they are coupled to
    int pivots = 0, parent = -1;
    std::vector<int> children, elements;
    std::vector<int> to_parent;  ///< where each node behind the pivots is in the parent
    Eigen::MatrixXd F;           ///< factors of its pivots, and what is left for the parent
    std::vector<int> exchange;
  };

  void begin(double diagonal) { diagonal_ = diagonal; }
  void assemble_children(std::size_t front);
  void add(std::size_t front, const std::vector<int>& places);
  bool eliminate(std::size_t front);

  int size_ = 1;
  double diagonal_ = 0;
  std::vector<Front> fronts_;
  std::vector<std::vector<int>> places_;  // of each element's nodes in its front
  Eigen::MatrixXd element_;
  Eigen::VectorXd part_;
};

}  // namespace hinge
