// [multibody] with [[body]], [[joint]], [[spring]], [[particles]], [container] and [contact].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/multibody.hpp"
#include "model/reader.hpp"

namespace hinge {

/// The sections besides [multibody] that belong to it.
const std::vector<std::string>& multibody_sections();

/// An empty scene with the dimension and the gravity of [multibody].
std::unique_ptr<Multibody> begin_multibody(const Item& section, Scope& parameters);

/// Bodies, particles and walls; then `scope` knows the names of the bodies:
/// NAME, NAME_rotation, NAME_spin (NAME_angle in the plane), NAME_angular_velocity, NAME_e1, NAME_e2, NAME_e3.
void read_scene(const Item& root, Multibody& scene, Scope& scope);

/// Joints, springs, forces: what may use the names of bodies and those of [define].
void read_connections(const Item& root, Multibody& scene, Scope& scope);

/// [contact] without friction and restitution: options of the method.
Options read_contact_options(const Item& section, const ValueReader& read);

/// [[particles]] and [container].
void read_particles(const Item& item, const Item& container, Multibody& scene, Scope& scope, double friction,
                    double restitution);
void read_container(const Item& item, Multibody& scene, Scope& scope, double friction, double restitution);

// ---- What both files read with ----------------------------------------------------------------------------------

/// Numbers of one of these shapes; `expected` is what a complaint asks for.
std::vector<double> read_numbers(const Item& item, const std::vector<std::vector<int>>& shapes, const char* expected,
                                 const Scope& scope);
/// A point or direction: three numbers, or two in the plane.
Eigen::Vector3d read_vector(const Item& item, int dimension, const Scope& scope);
/// Runs `action`; what it says about an option becomes a complaint about the key of that name.
void at_field(const Item& table, const std::function<void()>& action);

}  // namespace hinge
