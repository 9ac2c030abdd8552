// Surfaces of bodies, to be drawn: boxes, capsules, cylinders, meshes, pieces of planes. Spheres have none: they are
// points with a radius.
#pragma once

#include <cstdint>
#include <vector>

#include "body/body_table.hpp"

namespace hinge {

/// A surface in the frame of its body (of space where it is fixed).
struct Surface {
  int body = -1;
  std::vector<Eigen::Vector3d> points{};
  std::vector<std::vector<std::int64_t>> polygons{};
};

std::vector<Surface> surfaces_of(const BodyTable& table);

}  // namespace hinge
