// Convex polyhedra and polygons: vertices, edges, faces of the hull of points.
//
// In space faces are polygons in counter-clockwise order seen from outside, with coplanar triangles merged; every edge
// lies between two faces. In the plane the "faces" are the edges of the polygon: two vertices each, the outward normal
// in the plane, counter-clockwise. A point has one vertex, a segment two vertices and one edge; neither has faces in
// space, and a segment has two in the plane.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

namespace hinge::contact {

struct Hull {
  struct Face {
    Eigen::Vector3d normal;
    double offset = 0;         ///< normal . x of its points
    int first = 0, count = 0;  ///< its vertices: loop[first .. first + count)
  };
  struct Edge {
    int from = 0, to = 0;
    int left = -1, right = -1;  ///< faces; `left` has it in the direction from -> to
  };
  std::vector<Eigen::Vector3d> vertices{};
  std::vector<int> source{};  ///< which of the given points each vertex is
  std::vector<Edge> edges{};
  std::vector<Face> faces{};
  std::vector<int> loop{};       ///< vertices of the faces, face by face
  std::vector<int> loop_edge{};  ///< the edge from loop[k] to the next vertex of that face
  std::vector<int> around{};     ///< faces at each vertex, vertex by vertex
  std::vector<int> around_first{};
  double size = 0;  ///< largest distance of a vertex from the origin; tolerances are relative to it

  int number_of_vertices() const { return static_cast<int>(vertices.size()); }
};

/// Throws InputError when the points do not span a body: too few, or all in one plane (in one line).
Hull convex_hull(const std::vector<Eigen::Vector3d>& points, int dimension);
Hull box_hull(const Eigen::Vector3d& size, int dimension);
/// From -half to +half along `axis`.
Hull segment_hull(double half, const Eigen::Vector3d& axis, int dimension);

struct MassProperties {
  double volume = 0;  ///< area in the plane
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the centre, for unit density
};
MassProperties mass_properties(const Hull& hull, int dimension);

}  // namespace hinge::contact
