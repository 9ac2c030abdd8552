// Symmetries of a system, and which of them its discrete derivatives share.
//
// A motion of all points, dq = xi(q), is a symmetry when T, U and every g are invariant under it: xi.DU = 0. The system
// then conserves the momentum p.xi(q). A scheme with discrete derivatives changes it in a step by -h dd f.xi(mid),
// summed over U and the constraints, and conserves it when all of these are zero. They are where the invariants that dd
// f is built on are invariant under the motion. Both are tested with numbers, at a few points that are always the same.
#pragma once

#include <string>
#include <vector>

#include "formulation/energy_step.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// Where in y the coordinates of one point stand: three in space, two in the plane of e1 and e2.
struct PointPlace {
  int first, width;
};
/// Blocks of shape {3}, {N, 3}, {2} and {N, 2}. The first other block, if any, is named in `other`.
std::vector<PointPlace> points_of(const Layout& layout, std::string* other = nullptr);

/// An infinitesimal motion, affine in q: dq_row is the sum of factor * q_column, or of factor where column is -1.
struct Motion {
  struct Term {
    int row, column;
    double factor;
  };
  std::vector<Term> terms{};
  /// xi(q)
  void at(const double* q, std::vector<double>& xi) const;
  /// p . xi(q)
  double momentum(const double* q, const double* p) const;
};
/// dq = axis x (q - point) for every point. All vectors have three entries.
Motion rotation(const std::vector<PointPlace>& points, const std::vector<double>& axis,
                const std::vector<double>& point);
/// dq = direction for every point.
Motion translation(const std::vector<PointPlace>& points, const std::vector<double>& direction);

/// The momenta about and along e1, e2, e3 through the origin that a system conserves.
struct ConservedMomenta {
  struct Lost {
    std::string momentum;  ///< "angular momentum about e2"
    std::string because;   ///< "the term ... of the potential is not a function of inner products"
  };
  std::vector<std::string> kept;  ///< by the scheme with discrete derivatives built on invariants as well
  std::vector<Lost> lost;         ///< not by that scheme
};
ConservedMomenta conserved_momenta(const ConstantMassForm& form);

/// Invariants that the user has chosen but that do not occur in the potential or the constraints.
std::vector<std::string> unused_invariants(const ConstantMassForm& form);

}  // namespace hinge
