// What end states are compared with, and how far off they are.
#pragma once

#include "hinge/convergence.hpp"

namespace hinge {

/// What the system calls y, z and the multipliers; `second` says what stands in the place of z.
std::array<std::string, 3> part_names(const Layout& layout, Reference::Second second);

/// The exact solution at t, finite or not. An InputError where it does not fit the system or depends on more than t.
Reference evaluate_exact(const System& system, const ExactSolution& exact, double t);

/// Euclidean norms of the differences, for the parts that the reference has.
StateErrors errors_against(const Reference& reference, const System& system, const State& state);

/// The end of a run, as a reference: with the multipliers that belong to its y and z.
Reference reference_of(const System& system, const State& end, std::string description);

double euclidean_norm(const std::vector<double>& x);

}  // namespace hinge
