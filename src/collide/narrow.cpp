#include "collide/narrow.hpp"

#include <limits>

namespace hinge::contact {
namespace {

using Eigen::Vector3d;
using Kind = Shape::Kind;

/// Turns points found for (b, a) into points for (a, b).
void exchange(Touches& touches, std::size_t first) {
  for (std::size_t k = first; k < touches.size(); ++k) {
    Touch& touch = touches[k];
    touch.point += touch.gap * touch.normal;
    touch.normal = -touch.normal;
  }
}

/// Pairs in the order in which they are written down: sphere, capsule, cylinder, mesh, box, plane.
int rank(Kind kind) {
  switch (kind) {
    case Kind::sphere: return 0;
    case Kind::capsule: return 1;
    case Kind::cylinder: return 2;
    case Kind::mesh: return 3;
    case Kind::box: return 4;
    case Kind::plane: return 5;
  }
  return 5;
}

void collide_ordered(const Placed& a, const Placed& b, int dimension, double band, Touches& out) {
  const Kind x = a.geometry->kind, y = b.geometry->kind;
  if (y == Kind::plane) {
    if (x == Kind::sphere)
      sphere_plane(a, b, band, out);
    else if (x == Kind::cylinder)
      cylinder_plane(a, b, band, out);
    else if (x != Kind::plane)
      hull_plane(a, b, band, out);
  } else if (x == Kind::sphere) {
    if (y == Kind::sphere)
      sphere_sphere(a, b, dimension, band, out);
    else if (y == Kind::capsule)
      sphere_capsule(a, b, dimension, band, out);
    else if (y == Kind::box)
      sphere_box(a, b, dimension, band, out);
    else if (y == Kind::cylinder)
      sphere_cylinder(a, b, band, out);
    else if (dimension == 2)
      polygon_polygon(a, b, band, out);
    else
      polyhedron_polyhedron(a, b, band, out);
  } else if (dimension == 2) {
    polygon_polygon(a, b, band, out);
  } else if (x == Kind::capsule && y == Kind::capsule) {
    capsule_capsule(a, b, band, out);
  } else if (x == Kind::cylinder || y == Kind::cylinder) {
    cylinder_any(a, b, band, out);
  } else {
    polyhedron_polyhedron(a, b, band, out);
  }
}

/// No feature twice: the second of two equal ones takes the next number that is free.
void tell_apart(Touches& touches, std::size_t first) {
  for (std::size_t i = first + 1; i < touches.size(); ++i)
    for (std::size_t j = first; j < i; ++j)
      if (touches[j].feature == touches[i].feature) {
        touches[i].feature = (touches[i].feature + 1) & ((1u << feature_bits) - 1);
        j = first - 1;  // and compare again with all before
      }
}

}  // namespace

Geometry prepare(const Shape& shape, int dimension) {
  Geometry g;
  g.kind = shape.kind;
  const bool round = shape.kind == Kind::sphere || shape.kind == Kind::capsule || shape.kind == Kind::cylinder;
  g.radius = round ? shape.radius : 0;
  g.half_length = shape.length / 2;
  g.axis = any_direction(dimension);
  switch (shape.kind) {
    case Kind::sphere: g.hull.vertices = {Vector3d::Zero()}; break;
    case Kind::box:
      g.half = shape.size / 2;
      if (dimension == 2) g.half[2] = 0;
      g.hull = box_hull(shape.size, dimension);
      break;
    case Kind::capsule: g.hull = segment_hull(g.half_length, g.axis, dimension); break;
    case Kind::cylinder: g.reach = Vector3d(g.radius, g.half_length, 0).norm(); break;
    case Kind::mesh: g.hull = convex_hull(shape.vertices, dimension); break;
    case Kind::plane:
      g.axis = shape.normal.normalized();
      g.reach = std::numeric_limits<double>::infinity();
      break;
  }
  if (g.hull.number_of_vertices() > 0) g.reach = g.hull.size + g.radius;
  return g;
}

void collide(const Placed& a, const Placed& b, int dimension, double band, Touches& out) {
  const std::size_t first = out.size();
  const bool in_order = rank(a.geometry->kind) <= rank(b.geometry->kind);
  if (in_order)
    collide_ordered(a, b, dimension, band, out);
  else
    collide_ordered(b, a, dimension, band, out);
  if (!in_order) exchange(out, first);
  if (b.geometry->kind != Kind::plane && a.geometry->kind != Kind::plane) tell_apart(out, first);
}

}  // namespace hinge::contact
