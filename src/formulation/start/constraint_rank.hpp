// Are the constraints independent here? Rank of G, and with velocity constraints of all rows of the velocity level, C,
// by QR with column pivoting, and the names of those that are not.
#pragma once

#include <string>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

struct ConstraintRank {
  int constraints = 0;
  int rank = 0;
  /// For each dependent constraint: its number and the numbers of the independent ones it is a combination of.
  struct Dependence {
    int constraint;
    std::vector<int> on;
  };
  std::vector<Dependence> dependent;

  bool full() const { return rank == constraints; }
  /// "constraint 2 (...) depends on constraint 0 (...)"; empty when the rank is full.
  std::string describe(const Layout& layout) const;
};

/// z matters for velocity constraints alone; none: at rest.
ConstraintRank constraint_rank(const System& system, double t, const double* y, const double* z = nullptr);

}  // namespace hinge
