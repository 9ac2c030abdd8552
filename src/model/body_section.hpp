// [lagrangian.bodies] and [initial.bodies]: rigid bodies in directors.
#pragma once

#include <string>
#include <vector>

#include "hinge/body.hpp"
#include "model/reader.hpp"

namespace hinge {

/// Adds the bodies to the system, and their names to the scope: NAME_x, NAME_d1, NAME_d2, NAME_d3,
/// NAME_angular_velocity, NAME_angular_momentum. `item` is a table keyed by name, or a list of tables with a name each.
std::vector<RigidBody> read_bodies(const Item& item, Lagrangian& system, const ValueReader& read, Scope& scope);

/// The coordinates of a body, three numbers each.
std::vector<std::string> coordinate_names(const RigidBody& body);

/// Reads a table of motions, keyed by body, into the numbers of a start. The names of the bodies it has.
std::vector<std::string> read_body_motions(const Item& table, const std::vector<RigidBody>& bodies,
                                           const ValueReader& read, const Graph& graph, std::vector<double>& position,
                                           std::vector<double>& velocity);

}  // namespace hinge
