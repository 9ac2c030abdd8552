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
//   dd f = Dpi(w)^T ddF(pi(x), pi(y))
//
// it keeps in addition the momentum maps under which every pi is invariant. The invariants are the largest
// sub-expressions of degree one or two; terms of a sum are treated one by one.
//
// For one invariant, or F quadratic in several, ddF is that of (19). Else (19) would have to measure invariants that
// may be of different sizes and units in one |d|^2: a distance of 1e7 that hardly moves gets a share of the bracket
// which its own gradient, 1e7 again, makes a large force. The mean of DF along the way from pi(x) to pi(y) needs no
// measure:
//
//   ddF = integral of DF(pi(x) + s d) ds over 0 <= s <= 1,   ddF . d = F(pi(y)) - F(pi(x)).
//
// It is taken with Gauss' five points, and what they miss of the difference is added as in (19), with |d|^2 weighted by
// the squared slopes.
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
struct StateIncrement {
  Graph& graph;
  std::vector<Node> q0, u, middle;  ///< middle = q0 + u/2
  StateIncrement(Graph& g, std::vector<Node> start, std::vector<Node> increment);
};

/// The bracket of (19), f1 - f0 - Df(w).d, as expressions of `graph` in the start and the change d of f's arguments.
///
/// Computed as written it is rounding where d is small: it is of third order in d, and f1 - f0 is not. Then it is taken
/// from the integral of (Df - Df(w)).d along the way, which does not cancel, with Gauss' five points. That is exact to
/// round-off while f varies little on the way; it is used where it agrees with the difference up to the rounding of f.
struct Remainder {
  std::vector<Node> slope{};         ///< Df(w)
  std::vector<Node> mean_slope{};    ///< the mean of Df - Df(w)
  std::vector<Node> square_slope{};  ///< sum of the squares of Df at the points used
  Node difference = no_node;         ///< f1 - f0 - Df(w).d as written
  Node integral_serves = no_node;    ///< does mean_slope.d agree with that?
  Node value = no_node;              ///< the better one
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

/// dd f over the step, one row for each function, one column for each coordinate.
SparseExpressions discrete_gradients(Graph& source, std::span<const InvariantForm> forms, std::span<const Node> q,
                                     StateIncrement& step);

}  // namespace hinge
