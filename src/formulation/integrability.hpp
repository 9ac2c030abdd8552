// Are velocity constraints the velocity level of position constraints? Those that are linear in the velocities are one-
// forms, and so are the rates of constraints g:
//
//   w = A(t, q) q' + b(t, q)    is the form    A dq + b dt    on the space of (t, q)
//
// Forms span an integrable system where they vanish on all brackets of the motions that they allow: d(omega_i)(X, Y) =
// 0 for all X, Y on which all forms vanish (Frobenius). Where that fails, the combinations of forms for which it holds
// are tried again by themselves, and so on (the derived flag): what is left at the end is integrable, and nothing else
// is. Derivatives are differences, at points drawn at random near the start: a finding, not a proof.
#pragma once

#include <string>
#include <vector>

#include "system/symbolic.hpp"

namespace hinge {

struct IntegrableRates {
  bool tested = false;      ///< were all of them? Not where one is nonlinear in the velocities, nor for bodies in space
  int count = 0;            ///< independent combinations that are integrable
  std::vector<int> rows{};  ///< velocity constraints that are so by themselves
  std::vector<std::string> positions{};  ///< for each of them an integral, as text; empty where none was found
  /// A sentence for people; empty where nothing is integrable.
  std::string text(const Layout& layout) const;
};

/// For systems with velocities q'. `q`: where the motion starts.
IntegrableRates integrable_rates(const System& system, double t, const std::vector<double>& q);

}  // namespace hinge
