// The row of a gap over the velocities.
#pragma once

#include <vector>

#include "system/symbolic.hpp"

namespace hinge {

/// gap_y v_z, which is gap_y where v is z.
std::vector<Node> gap_row(Graph& graph, const Equations& eq, Node gap);

}  // namespace hinge
