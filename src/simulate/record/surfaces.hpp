// Surfaces of bodies, to be drawn: boxes, capsules, cylinders, meshes, pieces of planes. Spheres have none: they are
// points with a radius. Planes are cut to the scene: to the box that everything that moves has stayed in so far.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "body/body_table.hpp"

namespace hinge {

/// A surface in the frame of its body (of space where it is fixed).
struct Surface {
  int body = -1;
  std::string name{};  ///< of the body
  std::vector<Eigen::Vector3d> points{};
  std::vector<std::vector<std::int64_t>> polygons{};
};

/// The box that things have been in; empty at first.
struct Extent {
  Eigen::Vector3d low = Eigen::Vector3d::Constant(std::numeric_limits<double>::infinity()), high = -low;
  bool empty() const { return !(low(0) <= high(0)); }
  void include(const Eigen::Vector3d& p, double reach = 0) {
    low = low.cwiseMin((p.array() - reach).matrix());
    high = high.cwiseMax((p.array() + reach).matrix());
  }
};

/// Those of the bodies that move; in the frame of their body, whatever happens.
std::vector<Surface> moving_surfaces(const BodyTable& table);
/// Those of fixed bodies. Planes are as large as the scene is.
std::vector<Surface> fixed_surfaces(const BodyTable& table, const Extent& scene);

}  // namespace hinge
