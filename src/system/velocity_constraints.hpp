// Velocity constraints w(t, y, z) = 0, for the builders: their checks, their reactions, and whether these do work.
#pragma once

#include "system/symbolic.hpp"

namespace hinge {

/// They are functions of velocities, and belong to systems whose velocities have names.
void refuse_as_velocity_constraints(const Graph& graph, const Layout& layout, const Equations& eq);

/// Multipliers of all constraints of the equations, those of g first, and their reaction -g_y^T psi - w_z^T psi.
void add_ideal_reactions(Graph& graph, Layout& layout, Equations& eq);

/// Is w(t, y, c z) = c^k w(t, y, z) for every row? Then w_z z = k w vanishes with w: reactions do no work. Seen at
/// points drawn at random.
bool rates_are_homogeneous(const Equations& eq);

/// Are the velocity constraints of a system known to be w_z(t, y) z + a number? True where it has none.
bool velocity_constraints_are_affine(const System& system);

}  // namespace hinge
