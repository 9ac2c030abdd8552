// What a system of expressions looks like, as far as its equations say it.
//
// Coordinates are those of a point where they are declared as two or three numbers (or called x, y, z), where the mass
// does not see their directions, M_ij = m_ij 1 for points i, j, and where no function of an angle is taken of them. Two
// points with m_ij that is not zero must have a rod: the mass of the rod does that; without it one may be relative to
// the other.
//
// Constraints that are functions of one polynomial pi(y) keep pi where it was at the start:
//
//   pi = c |P - Q|^2 + ...   a rod between two points
//   pi = c |P - C|^2 + ...   a rod from C, or, where nothing pulls at the points or three of them share it, a sphere
//   pi = n.P + ...           a plane; in the plane a line
//
//
// Any other function of one point, as far as it does not depend on t, is a curved surface where it is zero; so are gaps
// of contacts, which are planes or spheres where they are functions of such polynomials. What depends on t, or ties two
// points in another way, is not drawn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "expression/graph.hpp"
#include "hinge/system.hpp"

namespace hinge {

class SymbolicSystem;

struct DerivedView {
  struct Point {
    std::string name;
    std::vector<int> y;  ///< where its coordinates are
  };
  struct Rod {
    int a = -1, b = -1;  ///< points; -1: fixed at `from`
    Eigen::Vector3d from = Eigen::Vector3d::Zero();
    std::string name{};
  };
  /// A sphere, or a plane where the radius is zero.
  struct Surface {
    Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::Zero();
    double radius = 0;
    std::string name{};
  };
  /// Where a function of one point is zero.
  struct Level {
    int point = -1;
    Node function = no_node;
    std::string name{};
  };
  std::vector<Point> points;
  std::vector<Rod> rods;
  std::vector<Surface> surfaces;
  std::vector<Level> levels;
  std::optional<Eigen::Vector3d> up;
};

DerivedView derive_view(const SymbolicSystem& system, const State& start);

}  // namespace hinge
