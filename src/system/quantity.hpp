// Which function each quantity is, and which argument it is differentiated by.
#pragma once

#include <array>

#include "hinge/system.hpp"

namespace hinge {

enum class Argument { none, t, y, z, psi };

struct QuantityParts {
  Quantity function;
  Argument by = Argument::none;
};

/// velocity_y is {velocity, y}; a function is itself.
inline QuantityParts parts_of(Quantity q) {
  using Q = Quantity;
  using A = Argument;
  static constexpr std::array<QuantityParts, quantity_count> parts = {{
      {Q::velocity},
      {Q::momentum},
      {Q::force},
      {Q::reaction},
      {Q::constraint},
      {Q::constraint_rate},
      {Q::energy},
      {Q::velocity, A::y},
      {Q::velocity, A::z},
      {Q::momentum, A::y},
      {Q::momentum, A::z},
      {Q::momentum, A::t},
      {Q::force, A::y},
      {Q::force, A::z},
      {Q::reaction, A::y},
      {Q::reaction, A::z},
      {Q::reaction, A::psi},
      {Q::constraint, A::y},
      {Q::constraint_rate, A::y},
      {Q::constraint_rate, A::z},
      {Q::constraint_rate, A::t},
      {Q::acceleration_force},
      {Q::constraint_curvature},
  }};
  return parts[static_cast<std::size_t>(q)];
}

/// Numbers in the value of a function.
inline int rows_of(const Layout& layout, Quantity function) {
  switch (function) {
    case Quantity::velocity: return layout.ny;
    case Quantity::energy: return 1;
    case Quantity::constraint: return layout.ng();
    case Quantity::constraint_rate:
    case Quantity::constraint_curvature: return layout.ng() + layout.nw();
    default: return layout.nz;
  }
}

/// Numbers in an argument; 1 where there is none.
inline int size_of(const Layout& layout, Argument by) {
  switch (by) {
    case Argument::y: return layout.ny;
    case Argument::z: return layout.nz;
    case Argument::psi: return layout.npsi;
    default: return 1;
  }
}

}  // namespace hinge
