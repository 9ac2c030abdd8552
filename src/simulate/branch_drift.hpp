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

#include <memory>
#include <optional>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

class BranchDrift {
 public:
  void begin(const System& system);
  /// After a step; `g` there, `size`: the largest coordinate so far, `kept`: independent rows, all of them where it is
  /// empty. `closely`: rounding counts as well. Allocates nothing.
  void see(const State& state, const double* g, double size, const std::vector<int>& kept, bool closely);
  void doubts(std::vector<Doubt>& doubts) const;

 private:
  bool is_rounding(const double* g, double size, const std::vector<int>& kept) const;
  double product(const double* a, const double* b, int i, int j) const;

  const System* system_ = nullptr;
  std::unique_ptr<Evaluation> here_, there_;
  std::vector<double> row_, matrix_, y_;
  std::vector<int> exchange_, all_;
  std::vector<double> largest_;  // of each row of G so far
  std::optional<double> lost_;   // when first
  double worst_ = 1;
};

}  // namespace hinge
