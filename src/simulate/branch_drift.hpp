// Is the branch known? Where constraints are met with an error g only, the motion is one on a neighbouring surface; and
// where curves of g = 0 cross, that surface turns off smoothly onto another of them, as x y = c does.
//
// The nearest position on the constraints is, to first order, y - d with d = G^T (G G^T)^-1 g. As long as rows of G are
// there what they are here, the branch is the same:
//
//   det(G(y - d) G(y)^T) / det(G(y) G(y)^T)
//
// is 1 - O(|d| / distance to where they are dependent); for x y = c it is 1/2 where the curve turns.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

class BranchDrift {
 public:
  /// `products`: all a_ik b_jk of matrices like G: the place of (i, j) in A B^T, row by row, and of the two factors.
  void begin(const System& system, std::vector<std::array<int, 3>> products);
  /// After a step; `g` there, `size`: the largest coordinate so far, `kept`: independent rows, all of them where it is
  /// empty. `closely`: rounding counts as well, where rows are not far from dependent. Allocates nothing.
  struct Rows {
    const double* G = nullptr;  ///< there; null: unknown
    double volume = 0;          ///< det(G G^T), where it is known
  };
  void see(const State& state, const double* g, double size, const std::vector<int>& kept, bool closely,
           const Rows& rows);
  void doubts(std::vector<Doubt>& doubts) const;

 private:
  bool is_rounding(const double* g, double size, const std::vector<int>& kept) const;
  void multiply(const double* a, const double* b);

  const System* system_ = nullptr;
  std::unique_ptr<Evaluation> here_, there_;
  std::vector<std::array<int, 3>> products_;
  std::vector<double> row_, matrix_, product_, y_;
  std::vector<int> exchange_, all_;
  std::vector<double> largest_, squares_;  // of each row of G so far: entry, |G_i|^2
  std::optional<double> lost_;             // when first
  double worst_ = 1;
};

}  // namespace hinge
