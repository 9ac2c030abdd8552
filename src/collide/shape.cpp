// What a shape is by itself: is it one, how much does it hold, how is that spread.
#include "hinge/shape.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "collide/hull.hpp"
#include "hinge/error.hpp"

namespace hinge {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Kind = Shape::Kind;
constexpr double pi = std::numbers::pi;

const char* name_of(Kind kind, int dimension) {
  switch (kind) {
    case Kind::sphere: return dimension == 2 ? "disk" : "sphere";
    case Kind::box: return dimension == 2 ? "rectangle" : "box";
    case Kind::capsule: return "capsule";
    case Kind::cylinder: return "cylinder";
    case Kind::mesh: return dimension == 2 ? "polygon" : "mesh";
    case Kind::plane: return "plane";
  }
  return "shape";
}

void require_positive(double value, const char* what, const char* kind) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(fmt::format("{}: the {} is {}, but must be a positive number", kind, what, value));
}

/// The moments of an ellipsoid-like diagonal inertia from the mean squares of x, y, z.
Matrix3d from_mean_squares(double xx, double yy, double zz) { return Vector3d(yy + zz, xx + zz, xx + yy).asDiagonal(); }

}  // namespace

void Shape::validate(int dimension) const {
  if (dimension != 2 && dimension != 3)
    throw InputError(fmt::format("shapes live in 2 or 3 dimensions, not in {}", dimension));
  const char* name = name_of(kind, dimension);
  switch (kind) {
    case Kind::sphere: require_positive(radius, "radius", name); return;
    case Kind::box:
      for (int k = 0; k < dimension; ++k)
        require_positive(size[k], k == 0 ? "size along x" : k == 1 ? "size along y" : "size along z", name);
      return;
    case Kind::cylinder:
      if (dimension == 2) throw InputError("cylinder: there is none in the plane; use a disk or a box");
      [[fallthrough]];
    case Kind::capsule:
      require_positive(radius, "radius", name);
      require_positive(length, "length", name);
      return;
    case Kind::mesh:
      for (std::size_t i = 0; i < vertices.size(); ++i) {
        if (!vertices[i].allFinite())
          throw InputError(fmt::format("{}: point {} has a coordinate that is not a finite number", name, i));
        if (dimension == 2 && vertices[i][2] != 0)
          throw InputError(
              fmt::format("{}: point {} has z = {}, but must lie in the plane z = 0", name, i, vertices[i][2]));
      }
      contact::convex_hull(vertices, dimension);
      return;
    case Kind::plane:
      if (!normal.allFinite() || !(normal.norm() > 0))
        throw InputError(
            fmt::format("plane: the normal ({}, {}, {}) has no direction; give one that points out of the "
                        "solid side",
                        normal[0], normal[1], normal[2]));
      if (dimension == 2 && normal[2] != 0)
        throw InputError(
            fmt::format("plane: the normal ({}, {}, {}) points out of the x-y plane of this 2D world; give one "
                        "with z = 0, for example (0, 1, 0)",
                        normal[0], normal[1], normal[2]));
      return;
  }
}

double Shape::volume(int dimension) const {
  const double r = radius;
  switch (kind) {
    case Kind::sphere: return dimension == 2 ? pi * r * r : 4 * pi / 3 * r * r * r;
    case Kind::box: return dimension == 2 ? size[0] * size[1] : size.prod();
    case Kind::capsule:
      return dimension == 2 ? 2 * r * length + pi * r * r : pi * r * r * length + 4 * pi / 3 * r * r * r;
    case Kind::cylinder: return pi * r * r * length;
    case Kind::mesh: return contact::mass_properties(contact::convex_hull(vertices, dimension), dimension).volume;
    case Kind::plane: break;
  }
  throw InputError(
      "plane: it is a half space without end and has no volume; a moving body needs a mass of its own or "
      "another shape");
}

Vector3d Shape::centre_of_mass(int dimension) const {
  if (kind == Kind::mesh) return contact::mass_properties(contact::convex_hull(vertices, dimension), dimension).centre;
  if (kind == Kind::plane) throw InputError("plane: it is a half space without end and has no centre of mass");
  return Vector3d::Zero();
}

Matrix3d Shape::inertia_per_mass(int dimension) const {
  const double r = radius, l = length;
  switch (kind) {
    case Kind::sphere:
      return dimension == 2 ? from_mean_squares(r * r / 4, r * r / 4, 0)
                            : from_mean_squares(r * r / 5, r * r / 5, r * r / 5);
    case Kind::box: {
      const Vector3d s = size.cwiseAbs2() / 12;
      return from_mean_squares(s[0], s[1], dimension == 2 ? 0 : s[2]);
    }
    case Kind::capsule: {
      // A middle part of measure m and two half balls, h of measure together, whose centres of mass lie at l/2 + c.
      const double m = dimension == 2 ? 2 * r * l : pi * r * r * l;
      const double h = dimension == 2 ? pi * r * r : 4 * pi / 3 * r * r * r;
      const double c = dimension == 2 ? 4 * r / (3 * pi) : 3 * r / 8;
      const double ball = dimension == 2 ? r * r / 4 : r * r / 5;  // mean square about the flat side
      const double along = (m * l * l / 12 + h * (ball + l * c + l * l / 4)) / (m + h);
      const double across = (m * (dimension == 2 ? r * r / 3 : r * r / 4) + h * ball) / (m + h);
      return dimension == 2 ? from_mean_squares(across, along, 0) : from_mean_squares(across, across, along);
    }
    case Kind::cylinder: return from_mean_squares(r * r / 4, r * r / 4, l * l / 12);
    case Kind::mesh: {
      const auto mass = contact::mass_properties(contact::convex_hull(vertices, dimension), dimension);
      return mass.inertia / mass.volume;
    }
    case Kind::plane: break;
  }
  throw InputError(
      "plane: it is a half space without end and has no inertia; a moving body needs an inertia of its own "
      "or another shape");
}

}  // namespace hinge
