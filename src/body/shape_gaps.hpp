// Contacts of shapes as gaps that are expressions, for methods that follow every contact by itself:
//
//   ball on plane   n.(c - p) - r             slip: the velocity of the body's point c - r n, across n
//   ball on ball    |ca - cb| - ra - rb       slip: that of the points ca - ra n and cb + rb n, across n = ca - cb
//
// The balls of a sphere are itself, those of a capsule its two caps, those of a box, a mesh or a polygon its corners,
// with r = 0. Balls meet balls only where both are whole spheres: between edges and faces a gap is no single function.
//
// Stops of joints are such gaps, too. Friction of joints stays with the bodies of the system (joint_contacts.hpp), of
// which nothing but that is left in its table.
#pragma once

#include <cstddef>
#include <memory>

#include "hinge/system.hpp"

namespace hinge {

struct BodyTable;

/// Of two shapes of a scene: is nothing known that keeps them from each other?
bool may_touch(const BodyTable& table, std::size_t collider_a, std::size_t collider_b);

/// A system of bodies with such gaps in the place of the contacts that geometry finds. Throws UnsuitableMethod, with
/// the name of the method, for pairs of other shapes, and particles.
std::shared_ptr<const System> with_gaps_of_shapes(const System& system, const char* method);

}  // namespace hinge
