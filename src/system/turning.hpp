// Axes of bodies that turn, and their rates.
//
// The rotation of q/|q| has the columns a_0, a_1, a_2. Where the rates of four coordinates are those of a quaternion,
// q' = q (0, w)/2, these turn with the body, whatever the length of q:
//
//   a_0' = w_2 a_1 - w_1 a_2,   a_1' = w_0 a_2 - w_2 a_0,   a_2' = w_1 a_0 - w_0 a_1
//
// Rates of constraints are made from these where they can be: by the chain rule over the four coordinates they would
// take several times as many operations.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "system/symbolic.hpp"

namespace hinge {

/// The columns of the rotation of a quaternion of any length, one after the other.
std::array<Node, 9> rotation_axes(Graph& graph, std::span<const Node, 4> q);
/// q (0, spin)/2
std::array<Node, 4> quaternion_rate(Graph& graph, std::span<const Node, 4> q, std::span<const Node, 3> spin);

/// d/dt of functions of (t, y) along the motion; of those of (t, y, z) too, z as it is.
std::vector<Node> rates_along(Graph& graph, std::span<const Node> functions, const Equations& eq);

}  // namespace hinge
