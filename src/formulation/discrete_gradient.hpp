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

#include "expression/derivative.hpp"
#include "expression/graph.hpp"

namespace hinge {

/// Where the expressions of a step are put together: q0 and u = q1 - q0 are variables of `graph`.
struct Increment {
  Graph& graph;
  std::vector<Node> q0, u, middle;  ///< middle = q0 + u/2
  Increment(Graph& g, std::vector<Node> start, std::vector<Node> increment);
};

/// The bracket of (19), f1 - f0 - Df(w).d, as expressions of `graph` in the start and the change d of f's arguments.
///
/// Computed as written it is rounding where d is small: it is of third order in d, and f1 - f0 is not. Then it is taken
/// from the integral of (Df - Df(w)).d along the way, which does not cancel, with Gauss' five points. That is exact to
/// round-off while f varies little on the way; it is used where it agrees with the difference up to the rounding of f.
struct Remainder {
  std::vector<Node> slope{};       ///< Df(w)
  std::vector<Node> mean_slope{};  ///< the mean of Df - Df(w)
  Node difference = no_node;       ///< f1 - f0 - Df(w).d as written
  Node integral_serves = no_node;  ///< does mean_slope.d agree with that?
  Node value = no_node;            ///< the better one
};
Remainder remainder(Graph& source, Node function, std::span<const Node> arguments, std::span<const Node> start,
                    std::span<const Node> change, Graph& graph);

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
std::vector<InvariantForm> invariant_forms(Graph& source, std::span<const Node> functions, std::span<const Node> q,
                                           std::span<const Node> chosen = {});
InvariantForm invariant_form(Graph& source, Node function, std::span<const Node> q, std::span<const Node> chosen = {});

/// dd f over the step, one row for each function, one column for each coordinate.
SparseExpressions discrete_gradients(Graph& source, std::span<const InvariantForm> forms, std::span<const Node> q,
                                     Increment& step);

}  // namespace hinge
