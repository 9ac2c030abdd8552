// Antiderivatives of functions of one variable, where a closed form is known: sums, polynomials times sine, cosine or
// exponential of a linear function, exponential times sine or cosine, powers and hyperbolic functions of one, and
// pieces of these (if, min, max, abs, conditions joined by and, or, not, one within the other) that change where linear
// functions do.
#pragma once

#include <optional>

#include "expression/graph.hpp"

namespace hinge {

/// A function whose derivative by the variable t is f, continuous; none where no closed form is found.
std::optional<Node> integral(Graph& graph, Node f, Node t);

}  // namespace hinge
