// What a tape computes, and in which order, before numbers have their places.
//
// The order follows the outputs depth first, the neediest operand before the others, so that few temporaries are alive
// at a time; then, within windows, equal operations are brought together where that is wanted.
//
// Operations that are better done together are one step:
//   sums of products,  ((a b + c d) - e f) + ..., where no partial result is used elsewhere: the sum stays in a
//   register sine and cosine of the same argument
// Sums round as the separate operations would. They are formed in short tapes only: in long ones repetition is worth
// more, and single operations repeat best.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

constexpr int kind_of(Op op) { return static_cast<int>(op); }

struct TapePlan {
  /// Kinds of steps: those of Op, and
  static constexpr int sum = kind_of(Op::table) + 1, sine_and_cosine = sum + 1, kinds = sum + 2;
  /// Steps are ordered within windows of this many: their temporaries fit into the fastest cache.
  static constexpr std::size_t window = 4096;
  static constexpr Node nothing = std::numeric_limits<Node>::min();

  struct Step {
    int kind;
    Node result;
    std::int32_t first, count;  // operands
  };
  std::vector<Step> steps;
  /// Of each step. Sums: two for each term, the factors of a product, or a value and `nothing`; complemented (~a) where
  /// the term is subtracted, never the first. sine_and_cosine: the argument, and the node of the cosine, a result too.
  std::vector<Node> operands;
  std::vector<std::int32_t> uses;  ///< of each node: by steps and as an output

  /// Of steps: depth first, as code takes them, or with equal operations brought together, as tapes do.
  enum class Order { as_found, by_kind };
  TapePlan(const Graph& graph, std::span<const Node> outputs, Order order = Order::by_kind);

  /// Calls visit(node) for all operands that are read.
  template <class Visit>
  void for_each_operand(const Step& step, Visit&& visit) const {
    const auto first = static_cast<std::size_t>(step.first);
    if (step.kind == sine_and_cosine) return visit(operands[first]);
    for (std::size_t k = first; k < first + static_cast<std::size_t>(step.count); ++k)
      if (operands[k] != nothing) visit(operands[k] < 0 ? ~operands[k] : operands[k]);
  }

 private:
  std::vector<Node> depth_first(const Graph& graph, std::span<const Node> outputs);
  void join(const Graph& graph, const std::vector<Node>& order);
  void add_sum(const Graph& graph, Node root, std::vector<char>& absorbed);
  void group_equal_kinds(std::size_t nodes);
};

}  // namespace hinge
