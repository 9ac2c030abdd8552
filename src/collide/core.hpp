// A hull in space with a radius around it: what boxes, meshes, capsules and spheres are to the pairs of hulls.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "collide/narrow.hpp"

namespace hinge::contact {

struct Core {
  const Hull* hull = nullptr;
  double radius = 0;
  std::vector<Eigen::Vector3d> vertices{};  ///< relative to a point near by, so that coordinates are small
  std::vector<Eigen::Vector3d> normals{};   ///< of the faces
  std::vector<double> offsets{};            ///< normal . x of the points of a face
  mutable std::vector<double> apart{};      ///< how far each face parts it from another, by best_face

  void place(const Placed& placed, const Eigen::Vector3d& origin) {
    hull = &placed.geometry->hull;
    const Shape::Kind kind = placed.geometry->kind;
    radius = kind == Shape::Kind::capsule || kind == Shape::Kind::sphere ? placed.geometry->radius : 0;
    const Eigen::Vector3d shift = placed.position - origin;
    vertices.clear();
    normals.clear();
    offsets.clear();
    for (const Eigen::Vector3d& v : hull->vertices) vertices.push_back(placed.rotation * v + shift);
    for (const Hull::Face& face : hull->faces) {
      normals.push_back(placed.rotation * face.normal);
      offsets.push_back(face.offset + normals.back().dot(shift));
    }
  }
  const Eigen::Vector3d& vertex(int i) const { return vertices[static_cast<std::size_t>(i)]; }
  const Eigen::Vector3d& normal(int f) const { return normals[static_cast<std::size_t>(f)]; }
  double offset(int f) const { return offsets[static_cast<std::size_t>(f)]; }
  const Hull::Face& face(int f) const { return hull->faces[static_cast<std::size_t>(f)]; }
  const Hull::Edge& edge(int e) const { return hull->edges[static_cast<std::size_t>(e)]; }
  int number_of_vertices() const { return static_cast<int>(vertices.size()); }
  int number_of_faces() const { return static_cast<int>(normals.size()); }
  int number_of_edges() const { return static_cast<int>(hull->edges.size()); }
  /// The vertex farthest against n, the first of equals.
  int lowest(const Eigen::Vector3d& n) const {
    int best = 0;
    double least = n.dot(vertices[0]);
    for (int i = 1; i < number_of_vertices(); ++i)
      if (const double h = n.dot(vertex(i)); h < least) least = h, best = i;
    return best;
  }
};

/// The face along which two hulls are farthest apart (least deep in each other).
struct FaceAxis {
  double separation = -std::numeric_limits<double>::infinity();
  int face = -1, vertex = -1;  ///< the vertex of the other one that comes nearest to it
};
inline FaceAxis best_face(const Core& x, const Core& y) {
  FaceAxis best;
  x.apart.resize(x.normals.size());
  for (int f = 0; f < x.number_of_faces(); ++f) {
    const int v = y.lowest(x.normal(f));
    const double s = x.normal(f).dot(y.vertex(v)) - x.offset(f);
    x.apart[static_cast<std::size_t>(f)] = s;
    if (s > best.separation) best = {s, f, v};
  }
  return best;
}

/// Collects points of two cores.
struct Collector {
  const Core &a, &b;
  Eigen::Vector3d origin;
  double band;
  Touches& out;
  /// A point of a's core faces one of b's, along the normal from b to a.
  void add(const Eigen::Vector3d& on_b, const Eigen::Vector3d& normal, double distance, std::uint32_t feature) {
    const double gap = distance - a.radius - b.radius;
    if (gap <= band) out.push_back({gap, origin + on_b + b.radius * normal, normal, feature});
  }
};

/// Removes points from `first` on that seem deeper than the bodies are: a corner of one, far inside the other, below a
/// face that leans.
inline void drop_deeper(Touches& out, std::size_t first, double gap) {
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                           [&](const Touch& t) { return t.gap < gap; }),
            out.end());
}
/// Of the points from `first` on, if they are more than eight, the nearest one and those farthest out in eight
/// directions: enough to carry any load a flat patch can.
void thin_out(Touches& out, std::size_t first);

/// Relative to the size of the hulls: a face of b must be this much better than one of a, and an edge than a face, to
/// be preferred, so that rounding does not make the choice.
inline constexpr double preference = 1e-9;
/// A vertex this far outside the side of a face, relative to size, still counts as over it: two equal faces upon each
/// other meet in their corners, whatever the rounding.
inline constexpr double overhang = 1e-9;

}  // namespace hinge::contact
