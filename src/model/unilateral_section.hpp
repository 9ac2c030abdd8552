// unilateral = [{ gap = "y", restitution = 0.5, friction = 0.3, slip = "x'", name = "floor" }] of [lagrangian] and
// [mechanical].
#pragma once

#include "hinge/system.hpp"
#include "model/reader.hpp"

namespace hinge {

void read_unilateral(const Item& list, const ValueReader& read, SystemBuilder& builder);

}  // namespace hinge
