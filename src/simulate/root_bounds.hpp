// Where root functions of events may vanish, and how often, between two looks at a motion: bounds of their values and
// slopes by interval arithmetic, from bounds of the numbers of the motion.
//
// Between two looks a number is bounded by the cubic polynomial through both ends with their slopes: by its values
// there, and a third of the way along its slopes. The slope is z where the velocity is z, else the mean of the chords
// on both sides.
#pragma once

#include <vector>

#include "expression/enclosure.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class RootBounds {
 public:
  /// Nodes of `graph`, which contains the system's.
  RootBounds(const SymbolicSystem& system, const Graph& graph, std::span<const Node> roots);

  /// Bounds on the stretch from one state to another; with their neighbours, null where there are none.
  void on(const State* before, const State& from, const State& to, const State* after);
  /// At one state: the bounds are as wide as their rounding.
  void on(const State& s);
  /// May function k vanish more than once there?
  bool may_return(std::size_t k) const { return enclosure_[k].value.contains(0) && enclosure_[k].slope.contains(0); }
  /// Bounds of its values there.
  Interval value(std::size_t k) const { return enclosure_[k].value; }
  /// Bounds of its slope there.
  Interval slope(std::size_t k) const { return enclosure_[k].slope; }
  /// It at a state.
  double at(std::size_t k, const State& state);
  /// No value of it there is larger.
  double largest(std::size_t k) const;

 private:
  struct Place {
    enum class Part { t, y, z, psi } part;
    std::size_t index;
  };
  static double value(const Place& place, const State& s);
  Enclosed bounds(const Place& place, const State* before, const State& from, const State& to,
                  const State* after) const;

  Enclosure enclosure_;
  std::vector<Place> places_;  // of its variables
  std::vector<Enclosed> variables_;
  std::vector<double> numbers_;
  bool velocity_is_z_;
};

}  // namespace hinge
