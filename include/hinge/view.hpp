// What the picture of a run shows, where the author of a model wants something else than what follows from its
// equations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "hinge/expression.hpp"

namespace hinge {

/// Positions are expressions of the system, two components in the plane and three in space. A list that is there takes
/// the place of what is derived; an empty one shows nothing of the kind.
struct View {
  struct Point {
    std::string name;
    Vector position;
  };
  struct Rod {
    std::string name;
    Vector a, b;
  };
  /// A sphere (in the plane a circle) about the point, or, where there is no radius, the plane through it.
  struct Surface {
    std::string name;
    Vector point;
    double radius = 0;
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();
  };
  /// A frame that turns: three axes of this length from its origin.
  struct Frame {
    std::string name;
    Vector origin, center;
    std::vector<Vector> axes;
    double length = 1;
  };
  std::optional<std::vector<Point>> points{}, trails{};
  std::optional<std::vector<Rod>> rods{};
  std::optional<std::vector<Surface>> surfaces{};
  std::optional<Eigen::Vector3d> up{};  ///< against gravity; else from the equations
  std::vector<Frame> frames{};          ///< of bodies in directors
};

}  // namespace hinge
