// Numbers beside a mechanical system: an integrator of a controller, a current, a pressure.
//
// A state s with s' = rate(t, y, z) enters the problem class as the velocity of a coordinate of its own with unit mass,
// whose value is the integral of s:
//
//   y_s' = s,   d/dt s = rate
//
// so that v, p, f and what methods know of them (v is z, a constant mass, ideal constraints) stay what they are. Forces
// may use s; energies, the mass and constraints may not.
//
// A sampled state has the rate 0 and changes at the times offset + k every: all that change at one time use the values
// before it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "system/symbolic.hpp"

namespace hinge {

struct AddedState {
  std::string name;
  Node integral = no_node, value = no_node;  ///< variables of the builder's graph, made before the system was built
  Node rate = no_node;                       ///< or, of a sampled state:
  double every = 0, offset = 0;
  Node update = no_node;
};

/// The name of the coordinate whose velocity a state is.
std::string integral_name(const std::string& state);

/// How many of the last numbers of y, and of z, belong to states.
int count_states(const Layout& layout);

/// The system with these states: their coordinates come last. Throws InputError where an energy, the mass, a constraint
/// or a contact depends on one. The nodes are of the builder's graph.
std::shared_ptr<const SymbolicSystem> with_states(const SymbolicSystem& system, std::span<const AddedState> states);

}  // namespace hinge
