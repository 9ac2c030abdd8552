// Infinitesimal motions of space, applied to the points and directors that a system's coordinates are: dq = xi(q). The
// momentum that belongs to one is p.xi(q).
#pragma once

#include <string>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

/// Where in y the coordinates of one point stand: three in space, two in the plane of e1 and e2.
struct PointPlace {
  int first, width;
  bool shifts = true;  ///< false for directors, which turn with a motion of space but have no place
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
/// dq = axis x (q - point) for every point, axis x q for every director. All vectors have three entries.
Motion rotation(const std::vector<PointPlace>& points, const std::vector<double>& axis,
                const std::vector<double>& point);
/// dq = direction for every point; directors stay as they are.
Motion translation(const std::vector<PointPlace>& points, const std::vector<double>& direction);

}  // namespace hinge
