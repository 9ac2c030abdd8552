// Expressions with kinks and jumps, taken apart into smooth pieces.
//
// Every comparison, min, max, abs and sign has a root function: a - b, or its operand. On one side of its roots the
// operation is one smooth expression, on the other side another one:
//
//   a < b: 1 or 0      min(a, b), max(a, b): a or b      abs(a): a or -a      sign(a): 1 or -1
//
// A table, floor() included, has many pieces: its root function changes its sign at every knot, and a choice is the
// number of the piece.
//
// A choice of sides for all of them, frozen into the expressions, gives functions that are smooth wherever the others
// are, also beyond the roots. A power that ends at a root, max(-x, 0)^1.5 or if(x < 0, sqrt(-x), 0), is continued
// beyond it as sign(a) |a|^c.
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"
#include "expression/table.hpp"

namespace hinge {

class Branches {
 public:
  static bool is_branch(Op op);
  /// Of the functions of `source` and all they are made of. Comparisons for equality are no branches. Operations on
  /// functions of the `clock` alone change at times that are known beforehand: they are branches where there are many,
  /// so that a table is reduced to the entry that counts, and stay what they are where there are few.
  Branches(const Graph& source, std::span<const Node> functions, Node clock = no_node);
  /// A copy of the source, with roots and frozen functions.
  const Graph& graph() const { return graph_; }

  std::size_t size() const { return roots_.size(); }
  /// The root functions as they stand, branches within them included.
  const std::vector<Node>& roots() const { return roots_; }

  /// Does a root function depend on anything but the clock?
  bool moves(std::size_t root) const { return moves_[root]; }

  /// The table whose knots are the roots of a root function, and its argument; null and no_node where there is none.
  const std::shared_ptr<const Table>& table(std::size_t root) const { return tables_[root]; }
  Node argument(std::size_t root) const { return arguments_[root]; }

  /// For each root function: is it on its upper side, that is: is it positive, or zero? Of a table: which piece?
  using Sides = std::vector<long>;
  struct Frozen {
    std::vector<Node> functions;
    std::vector<Node> roots;          ///< root functions, frozen themselves,
    std::vector<std::size_t> active;  ///< of the branches that these functions depend on
  };
  /// The functions that it was made of.
  Frozen freeze(const Sides& sides);
  /// Others, with the same branches frozen.
  std::vector<Node> frozen(std::span<const Node> functions, const Sides& sides);
  /// Which functions on which sides a root at zero belongs to: -1 where the operation takes the lower side there.
  const std::vector<signed char>& at_zero() const { return at_zero_; }

 private:
  struct Branch {
    Node node;
    std::size_t root;
    bool reversed;  // its own root function is minus that one
  };
  const Branch* find(Node node) const;
  void add_table(Node n, bool moves);
  Node polynomial(const std::shared_ptr<const Table>& table, long piece, Node argument);
  Node inside(const Table& table, long piece, Node argument);
  bool ends_at_root(Node base, const Sides& sides) const;
  Node continued(const Graph::Entry& power, Node base, Node exponent);
  std::vector<Node> image_of(std::span<const Node> cone, const Sides& sides);

  Graph graph_;
  std::vector<Node> own_functions_, own_cone_;  // given first, and what these and the roots are made of
  std::vector<Branch> branches_;                // by node
  std::vector<int> number_;                     // of each node: its place among the branches
  std::vector<Node> roots_;
  std::vector<int> root_of_;  // of nodes: k + 1 where it is root function k, -(k + 1) where it is minus that; else 0
  std::vector<signed char> at_zero_;
  std::vector<char> moves_;  // of the roots
  std::vector<std::shared_ptr<const Table>> tables_;
  std::vector<Node> arguments_;
};

}  // namespace hinge
