// Expressions with some of their nodes replaced, in the same graph or in another one.
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// `functions` of `from`, rebuilt in `to` with every node in `replaced` exchanged for the one in `images` (a node of
/// `to`). What is not replaced must not contain other variables, unless both graphs are the same.
std::vector<Node> substitute(const Graph& from, std::span<const Node> functions, std::span<const Node> replaced,
                             std::span<const Node> images, Graph& to);

}  // namespace hinge
