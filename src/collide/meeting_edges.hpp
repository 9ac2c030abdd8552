// Where two edges (in the plane two corners) meet, many planes lie between the bodies. Which one is the contact's?
//
// Parallel edges with w from b's to a's, across them: every n of the arc that the normals of both have in common is a
// separating axis with s(n) = n.w. Along w itself it is the distance; but where they touch w is rounding, and the depth
// is least along one or the other end of the arc, a face's normal. So the arc's middle m decides there,
//
//   n = (w + rho m)/|w + rho m|,   gap = n.w,   rho = blunt * size, less and less up to |w| = 3 rho,
//
// as if the edges were rounded off by that. It changes continuously, and where it leaves the arc a face is met.
//
// Two faces in one plane, beside each other: they slide past each other. A step of less than `level` is no obstacle.
#pragma once

#include "collide/core.hpp"

namespace hinge::contact {

/// Relative to the smaller body.
inline constexpr double blunt = 1e-3;

/// Do they lie on two sides of a plane that holds a face of each, up to rounding, and beside each other in it, along n?
bool slide_past(const Core& a, const Core& b, const Eigen::Vector3d& n, double separation);

/// Adds the points of two parallel edges, of which one borders a face of x and the other has the vertex of y that is
/// nearest to that face. False where there are none, or a face is met.
bool add_meeting_edges(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a);
/// The same in the plane, for two corners.
bool add_meeting_corners(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a);

}  // namespace hinge::contact
