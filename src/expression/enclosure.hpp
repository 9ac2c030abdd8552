// What functions do on a whole stretch of time: bounds of their values and slopes, by interval arithmetic on the graph.
//
// Where a function runs with time, x(t) in [x], its difference quotients on the stretch lie in [x']. An operation hands
// both on:
//
//   (a b): [a][b], [a'][b] + [a][b']     sin a: sin [a], cos [a] [a']     max(a, b): the larger, or the hull of both
//
// A place where an operation jumps within the stretch has slopes without bound. Bounds are wider than the truth, less
// so the shorter the stretch; rounding is on the safe side.
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"
#include "expression/table.hpp"

namespace hinge {

/// Values and slopes (by time) on a stretch.
struct Enclosed {
  Interval value, slope;
};

/// One operation on enclosed operands.
Enclosed enclose(Op op, const Enclosed& a, const Enclosed& b = {}, const Enclosed& c = {});

/// A list of functions with all that they are made of, ready to be enclosed, or computed at points.
class Enclosure {
 public:
  Enclosure(const Graph& graph, std::span<const Node> functions);
  /// The variables that the functions depend on, in the order in which their values are handed in.
  const std::vector<Node>& variables() const { return variables_; }
  std::size_t size() const { return outputs_.size(); }

  /// After it, operator[] has the bounds of each function.
  void on(std::span<const Enclosed> variables);
  const Enclosed& operator[](std::size_t k) const { return slots_[static_cast<std::size_t>(outputs_[k])]; }
  /// Function k at a point. Nothing but its own operations is computed where it is the only one.
  double at(std::span<const double> variables, std::size_t k = 0);

 private:
  std::vector<Graph::Entry> steps_;                   // operands: places in this list; variables: places in variables_
  std::vector<std::shared_ptr<const Table>> tables_;  // of a step: its `value`
  std::vector<Node> variables_, outputs_;
  std::vector<Enclosed> slots_;
  std::vector<double> numbers_;
};

}  // namespace hinge
