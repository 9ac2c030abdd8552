// The patch in which a face of one polyhedron and what faces it of another are in contact.
#pragma once

#include "collide/core.hpp"

namespace hinge::contact {

/// Adds the corners of the patch between a face of x and y; `axis` says which face, and the vertex of y nearest to it.
/// True when a point of y lies over the face as near as the axis promises; with `in_any_case` that vertex is added even
/// where it does not (overlapping bodies must not be lost).
bool add_patch(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a, double size,
               bool in_any_case);

}  // namespace hinge::contact
