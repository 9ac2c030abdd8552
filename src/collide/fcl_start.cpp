#include "collide/fcl_start.hpp"

#include <cmath>
#include <exception>

#include "collide/narrow.hpp"

#ifdef HINGE_HAVE_FCL
#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/narrowphase/distance.h>
#endif

namespace hinge::contact {

#ifdef HINGE_HAVE_FCL

namespace {

/// How much smaller FCL sees a cylinder: so that shapes in light contact are apart for it, and have a direction.
constexpr double shrunk = 0.1;

std::shared_ptr<fcl::CollisionGeometryd> convex(const Hull& hull) {
  auto vertices = std::make_shared<std::vector<Eigen::Vector3d>>(hull.vertices);
  auto faces = std::make_shared<std::vector<int>>();
  for (const Hull::Face& face : hull.faces) {
    faces->push_back(face.count);
    faces->insert(faces->end(), hull.loop.begin() + face.first, hull.loop.begin() + face.first + face.count);
  }
  return std::make_shared<fcl::Convexd>(vertices, static_cast<int>(hull.faces.size()), faces);
}

}  // namespace

bool have_fcl() { return true; }

std::shared_ptr<const void> fcl_shape(const Geometry& g) {
  std::shared_ptr<fcl::CollisionGeometryd> shape;
  const double margin = shrunk * std::min(g.radius, g.half_length);
  switch (g.kind) {
    case Shape::Kind::box: shape = std::make_shared<fcl::Boxd>(2 * g.half); break;
    case Shape::Kind::capsule: shape = std::make_shared<fcl::Capsuled>(0.9 * g.radius, 2 * g.half_length); break;
    case Shape::Kind::cylinder:
      shape = std::make_shared<fcl::Cylinderd>(g.radius - margin, 2 * (g.half_length - margin));
      break;
    case Shape::Kind::mesh: shape = convex(g.hull); break;
    case Shape::Kind::sphere:
    case Shape::Kind::plane: return nullptr;
  }
  shape->computeLocalAABB();
  return shape;
}

std::optional<Eigen::Vector3d> fcl_direction(const Placed& a, const Placed& b) {
  const auto* shape_a = static_cast<const fcl::CollisionGeometryd*>(a.geometry->fcl.get());
  const auto* shape_b = static_cast<const fcl::CollisionGeometryd*>(b.geometry->fcl.get());
  fcl::Transform3d pose_a = fcl::Transform3d::Identity(), pose_b = fcl::Transform3d::Identity();
  pose_a.linear() = a.rotation;
  pose_a.translation() = a.position - b.position;
  pose_b.linear() = b.rotation;
  fcl::DistanceRequestd request(true, true);
  fcl::DistanceResultd result;
  try {
    fcl::distance(shape_a, pose_a, shape_b, pose_b, request, result);
  } catch (const std::exception&) {  // FCL gives up on some degenerate positions
    return std::nullopt;
  }
  // x_a - x_b = distance * direction, also when both are negative.
  const Eigen::Vector3d between = result.nearest_points[0] - result.nearest_points[1];
  const double length = between.norm();
  if (!std::isfinite(length) || !(length > 1e-5 * (a.geometry->reach + b.geometry->reach))) return std::nullopt;
  return Eigen::Vector3d(between / (result.min_distance < 0 ? -length : length));
}

#else

bool have_fcl() { return false; }
std::shared_ptr<const void> fcl_shape(const Geometry&) { return nullptr; }
std::optional<Eigen::Vector3d> fcl_direction(const Placed&, const Placed&) { return std::nullopt; }

#endif

}  // namespace hinge::contact
