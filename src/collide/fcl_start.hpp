// A first direction from FCL (the Flexible Collision Library), where it is built in.
//
// FCL's GJK and EPA find which parts of two shapes face each other, to about 1e-6. Nothing of that accuracy is passed
// on: the direction is only where the search of cylinder.cpp begins.
#pragma once

#include <memory>
#include <optional>

#include <Eigen/Core>

namespace hinge::contact {

struct Geometry;
struct Placed;

bool have_fcl();
/// FCL's form of a shape, made once; null without FCL.
std::shared_ptr<const void> fcl_shape(const Geometry& geometry);
/// The direction from b to a along which they are nearest or least deep in each other.
std::optional<Eigen::Vector3d> fcl_direction(const Placed& a, const Placed& b);

}  // namespace hinge::contact
