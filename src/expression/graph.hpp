// The expression graph: every distinct sub-expression exists exactly once.
//
// Nodes live in one arena and are numbered in order of creation, so the operands of a node always have smaller
// numbers. Every pass over the graph (differentiation, scheduling) is therefore a loop over numbers, never a
// recursion: a sum of a million terms is as deep as it is long, and harmless.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expression/constant_trace.hpp"
#include "expression/structure_hash.hpp"

namespace hinge {

/// Number of a node in its graph.
using Node = std::int32_t;
inline constexpr Node no_node = -1;

enum class Op : std::uint8_t {
  constant,
  variable,
  // one operand
  negate,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  log,
  sqrt,
  abs,
  sign,
  logical_not,
  // two operands
  add,
  subtract,
  multiply,
  divide,
  power,
  atan2,
  hypot,
  min,
  max,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  // three operands: select(condition, if true, if false)
  select,
  // one operand and a table (table.hpp)
  table,
};

class Table;

/// Number of operands of an operation (0 for constants and variables).
int arity(Op op);

/// The value of an operation on numbers; conditions are 1 (true) and 0 (false).
double apply_op(Op op, double a, double b = 0, double c = 0);

class Graph {
 public:
  struct Entry {
    Op op;
    Node a = no_node, b = no_node, c = no_node;  // operands; for a variable, `a` is its number
    double value = 0;                            // for a constant; of a table its number
  };

  Graph();

  Node constant(double value);
  /// A constant that is given from outside, and may be another one the next time; one that another graph has.
  Node given(double value);
  Node carried(double value) { return keep(value); }
  Node variable(std::string name);

  /// The node of `op` applied to the operands. Constants are folded and the simplifications that are exact in
  /// real arithmetic for finite operands are made (x + 0, x * 1, x * 0, x - x, -(-x), x / 1, ...).
  Node make(Op op, Node a, Node b = no_node, Node c = no_node);

  Node add(Node a, Node b) { return make(Op::add, a, b); }
  Node subtract(Node a, Node b) { return make(Op::subtract, a, b); }
  Node multiply(Node a, Node b) { return make(Op::multiply, a, b); }
  Node divide(Node a, Node b) { return make(Op::divide, a, b); }
  Node negate(Node a) { return make(Op::negate, a); }
  /// a^b; small integer powers become products, a^0.5 a square root.
  Node power(Node a, Node b);

  /// A table at a, and the one that a node is.
  Node table(std::shared_ptr<const Table> table, Node a);
  const std::shared_ptr<const Table>& table(const Entry& entry) const {
    return tables_[static_cast<std::size_t>(entry.value)];
  }
  Node floor(Node a);
  /// What an entry of `from`, another graph or this one, becomes with these operands. Not for variables.
  Node remake(const Graph& from, const Entry& entry, Node a, Node b, Node c);
  /// The value of an entry from those of its operands.
  double apply(const Entry& entry, double a, double b = 0, double c = 0) const;

  /// `other` was a copy of this graph up to its first `common` nodes and has then grown without new variables: what it
  /// has more is made here, too. Returns its `nodes` here.
  std::vector<Node> adopt(const Graph& other, Node common, std::span<const Node> nodes);
  /// The same of what `nodes` need alone. `image`: what the nodes of `other` after the common ones are here, no_node
  /// (or missing) for those that were not needed yet.
  std::vector<Node> adopt_needed(const Graph& other, Node common, std::span<const Node> nodes,
                                 std::vector<Node>& image);

  /// A graph as it is now, to which it can return.
  struct Mark {
    Node size;
    std::size_t tables;
  };
  Mark mark() const { return {size(), tables_.size()}; }
  /// Forgets what was made since, in which there are no new variables: the graph is as it was.
  void return_to(const Mark& mark);

  const Entry& operator[](Node node) const { return entries_[static_cast<std::size_t>(node)]; }
  Node size() const { return static_cast<Node>(entries_.size()); }
  int variable_count() const { return static_cast<int>(variables_.size()); }
  /// Node of variable number `k`, in order of declaration.
  Node variable_node(int k) const { return variables_[static_cast<std::size_t>(k)]; }
  const std::string& variable_name(int k) const { return names_[static_cast<std::size_t>(k)]; }

  bool is_constant(Node node) const { return (*this)[node].op == Op::constant; }
  bool is_constant(Node node, double value) const { return is_constant(node) && (*this)[node].value == value; }
  double value(Node node) const {
    const double x = (*this)[node].value;
    if (ConstantTrace::active) ConstantTrace::active->read.push_back(x);
    return x;
  }
  /// What a function says about a constant, where nothing but this matters of it.
  bool passes(bool (*test)(double), Node node) const {
    const double x = (*this)[node].value;
    if (ConstantTrace::active) ConstantTrace::active->tests.push_back({test, x});
    return test(x);
  }
  bool has_tables() const { return !tables_.empty(); }

  /// All nodes but for the values of constants. What has been found is kept, in copies too.
  StructureHash structure();
  StructureHash structure() const;
  /// All constants, in order.
  std::span<const Node> constants() const { return constants_; }
  /// What another graph has more than this one, whose structure its first nodes have; with these values of constants,
  /// one for each that is new.
  void extend(const Graph& by, std::span<const double> values);
  /// Other values in the place of its constants, in their order; all differ, and what was 0, 1 or -1 stays so.
  void set_constants(std::span<const double> values);
  /// select(c, x, 0) or select(c, 0, x): a term that a condition can switch off.
  bool switched(Node node) const;

 private:
  Node intern(const Entry& entry);
  void grow_table();
  void grow_constants();
  Node keep(double value);
  Node fold(Op op, Node a, Node b = no_node, Node c = no_node);
  void hash_from(StructureHash& hash, Node first) const;
  Node switch_inside(Op op, Node chooser, Node other);

  std::vector<Entry> entries_;
  std::vector<Node> table_;  // of all but constants; open addressing, size a power of two
  std::vector<Node> constants_, constant_table_;
  StructureHash structure_{};  // of the first nodes
  Node hashed_ = 0;            // so many
  std::vector<Node> variables_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Table>> tables_;
};

/// The nodes that functions are made of, in order: operands first. What is below `ends` is left out.
std::vector<Node> cone_of(const Graph& graph, std::span<const Node> functions, std::span<const Node> ends = {});

/// The expression as text, for messages and `hinge check`; long ones are cut at about `limit` characters.
std::string to_text(const Graph& graph, Node node, std::size_t limit = 400);

}  // namespace hinge
