// Where a function of two or three coordinates is zero, inside a box: pieces of a line in the plane, triangles in
// space.
//
// The box is cut into cubes, each cube into simplices, so that no case is ambiguous; on edges whose ends have different
// signs the zero is found by bisection. Triangles are turned so that the function grows along their normals. Where the
// function is no number nothing is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <Eigen/Core>

namespace hinge {

struct LevelSet {
  std::vector<float> points;           ///< three numbers each
  std::vector<std::uint32_t> simplex;  ///< numbers of points: two of a piece of a line, three of a triangle
};

/// `cells` along the longest side of the box.
LevelSet level_set(int dimension, const Eigen::Vector3d& low, const Eigen::Vector3d& high, int cells,
                   const std::function<double(const Eigen::Vector3d&)>& function);

}  // namespace hinge
