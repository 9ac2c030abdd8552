// Are the constraints independent here? Rank of G, and with velocity constraints of all rows of the velocity level, C,
// by QR with column pivoting, and the names of those that are not.
//
// Rows are compared in scaled units (scaled_rows.hpp). Pivots are at most 1; what counts as zero is decided by the gap
// between them: below 1e-10 always, below 1e-7 where the largest gap among these is a factor of 1000 or more.
#pragma once

#include <string>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

struct ConstraintRank {
  int constraints = 0;
  int rank = 0;
  double smallest = 1;    ///< pivot of those that count
  std::vector<int> kept;  ///< independent rows, as many as there are, in order
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
