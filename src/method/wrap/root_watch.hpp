// Root functions of branches along a motion: their values at states, how much tolerances move them, and what they can
// do between two states.
#pragma once

#include <memory>
#include <vector>

#include "expression/enclosure.hpp"
#include "hinge/method.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// How much the numbers of a motion bend in a step: bounds of second derivatives by time, for those that matter.
using Bends = std::vector<double>;

class RootWatch {
 public:
  /// `roots` in a graph that contains the equations.
  RootWatch(const Equations& equations, const Graph& graph, std::span<const Node> roots);

  void evaluate(const State& s);
  /// The k-th function at the state evaluated last.
  double operator[](std::size_t k) const { return values_[k]; }
  /// Is z in the k-th function?
  bool depends_on_z(std::size_t k) const;
  /// By how much each function moves when all numbers change by their tolerance, near a state.
  const std::vector<double>& margins(const State& s, const Tolerance& tolerance);

  /// From states at equal distances in time.
  Bends bends(const std::vector<State>& samples) const;
  /// Bounds between two states of a motion with these bends; then bounds(k).
  void enclose(const State& from, const State& to, const Bends& bends);
  const Enclosed& bounds(std::size_t k) const { return (*bounds_)[k]; }

 private:
  struct Place {
    enum { t, y, z, psi } block;
    std::size_t index;
  };
  double number(const State& s, const Place& place) const;

  std::unique_ptr<Evaluator> roots_, slopes_;
  Pattern pattern_;  // of the slopes by y and z
  int ny_;
  std::vector<double> scratch_, values_, slope_scratch_, slope_values_, margins_;
  std::unique_ptr<Enclosure> bounds_;
  std::vector<Place> places_;  // of the variables of the bounds
  std::vector<Enclosed> stretch_;
};

}  // namespace hinge
