// Discrete derivatives of functions of the position, as expressions: what makes a step keep the energy exactly.
//
// A discrete gradient dd f(x, y) satisfies  dd f . (y - x) = f(y) - f(x)  exactly and equals the gradient at the
// midpoint w up to O(|y - x|). Gonzalez' general one, with d = y - x:
//
//   dd f(x, y) = Df(w) + [f(y) - f(x) - Df(w).d] / |d|^2 d                                              (19)
//
// is the midpoint gradient for functions that are at most quadratic. Built on invariants, f = F(pi(q)) with pi at most
// quadratic,
//
//   dd f = Dpi(w)^T ddF(pi(x), pi(y)),   ddF by (19) in the space of invariants,
//
// it keeps in addition the momentum maps under which every pi is invariant. The invariants are the largest
// sub-expressions of degree one or two; terms of a sum are treated one by one.
//
// Differences of invariants are computed as  pi(y) - pi(x) = Dpi(w) d, which is exact and does not cancel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// Where the expressions of a step are put together: q0 and u = q1 - q0 are variables of `graph`.
struct Increment {
  Graph& graph;
  std::vector<Node> q0, u, middle;  ///< middle = q0 + u/2
  Increment(Graph& g, std::vector<Node> start, std::vector<Node> increment);
};

/// A function of the coordinates `q` of the graph `source`, with what its discrete gradient is built on.
struct InvariantForm {
  struct Composed {
    double factor;
    Node function;              ///< F(pi)
    std::vector<Node> parts{};  ///< pi
  };
  std::vector<Node> quadratic{};  ///< terms of degree at most two, factors included
  std::vector<Composed> composed{};
};
/// `chosen` invariants are kept whole where they occur, even inside larger quadratic parts.
InvariantForm invariant_form(Graph& source, Node function, std::span<const Node> q, std::span<const Node> chosen = {});

/// dd f over the step, one node for each coordinate.
std::vector<Node> discrete_gradient(Graph& source, const InvariantForm& form, std::span<const Node> q, Increment& step);

}  // namespace hinge
