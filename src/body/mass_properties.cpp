// Mass, centre of mass and principal axes of a body, given by its user or by its shapes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

bool finite(const Vector3d& v) { return v.allFinite(); }

// Volume, centre and inertia per mass of all shapes together, with the same density everywhere.
struct ShapeProperties {
  double volume = 0;
  Vector3d center = Vector3d::Zero();
  Matrix3d inertia = Matrix3d::Zero();  // per mass, about the centre
};

ShapeProperties properties_of(const std::vector<BodyShape>& shapes, int dimension) {
  ShapeProperties all;
  for (const BodyShape& s : shapes) {
    const double volume = s.shape.volume(dimension);
    all.volume += volume;
    all.center += volume * (s.position + s.rotation.normalized() * s.shape.centre_of_mass(dimension));
  }
  all.center /= all.volume;
  for (const BodyShape& s : shapes) {
    const Matrix3d r = s.rotation.normalized().toRotationMatrix();
    const Vector3d arm = s.position + r * s.shape.centre_of_mass(dimension) - all.center;
    all.inertia += s.shape.volume(dimension) / all.volume *
                   (r * s.shape.inertia_per_mass(dimension) * r.transpose() + arm.squaredNorm() * Matrix3d::Identity() -
                    arm * arm.transpose());
  }
  return all;
}

void refuse_inertia(const Matrix3d& j, int dimension) {
  if (!j.allFinite()) throw BodyError("inertia", "'inertia' is not finite; give ordinary numbers");
  if (dimension == 2) {
    if (!(j(2, 2) > 0))
      throw BodyError("inertia", fmt::format("the moment of inertia is {:g}; give a positive number", j(2, 2)));
    return;
  }
  RigidBodyOptions check;
  check.inertia = j;
  check.validate();
}

}  // namespace

PlacedBody place_body(const BodyOptions& o, int dimension) {
  PlacedBody body;
  body.options = o;
  for (const auto& [field, v] :
       {std::pair{"position", &o.position}, {"velocity", &o.velocity}, {"angular_velocity", &o.angular_velocity}})
    if (!finite(*v)) throw BodyError(field, fmt::format("'{}' is not finite; give ordinary numbers", field));
  if (!(std::abs(o.rotation.norm() - 1) < 1e-6))
    throw BodyError("rotation",
                    fmt::format("the quaternion of the rotation has length {:g}; it must be 1", o.rotation.norm()));
  body.options.rotation.normalize();
  if (o.angle) {
    if (!std::isfinite(*o.angle)) throw BodyError("angle", "'angle' is not finite; give an ordinary number");
    body.options.rotation = Eigen::Quaterniond(Eigen::AngleAxisd(*o.angle, Vector3d::UnitZ()));
  }
  for (const BodyShape& s : o.shapes) {
    try {
      s.shape.validate(dimension);
    } catch (const InputError& e) {
      throw BodyError("shape", e.what());
    }
    if (!finite(s.position)) throw BodyError("shape", "the position of a shape is not finite");
  }
  const bool has_plane = std::any_of(o.shapes.begin(), o.shapes.end(),
                                     [](const BodyShape& s) { return s.shape.kind == Shape::Kind::plane; });
  if (o.fixed) {
    body.center.setZero();
    body.x = o.position;
    body.q = body.options.rotation;  // full turns of it do not matter
    return body;
  }
  if (has_plane && !(o.mass > 0 && o.inertia))
    throw BodyError("shape", "a plane is infinite: a body that has one is fixed = true, or is given mass and inertia");
  if (o.mass != 0 && o.density != 0) throw BodyError("density", "give the mass or the density, not both");
  if (o.density != 0 && (!(o.density > 0) || !std::isfinite(o.density)))
    throw BodyError("density", fmt::format("the density is {:g}; give a positive number", o.density));
  if (o.density == 0 && (!(o.mass > 0) || !std::isfinite(o.mass)))
    throw BodyError("mass", fmt::format("the mass is {:g}; give a positive mass (or a density and a shape), or fixed = "
                                        "true for a body that never moves",
                                        o.mass));
  const bool from_shapes = o.density > 0 || !o.inertia;
  if (from_shapes && o.shapes.empty())
    throw BodyError(o.density > 0 ? "density" : "inertia",
                    o.density > 0 ? "a density needs a shape; give the mass, or a shape such as { sphere = 0.1 }"
                                  : "the inertia is missing; give it, as in inertia = [0.2, 0.2, 0.1], or a shape from "
                                    "which it follows");
  ShapeProperties shapes;
  if (from_shapes) shapes = properties_of(o.shapes, dimension);
  body.mass = o.density > 0 ? o.density * shapes.volume : o.mass;
  const Matrix3d inertia = o.inertia ? *o.inertia : Matrix3d(body.mass * shapes.inertia);
  refuse_inertia(inertia, dimension);
  body.center = o.center ? *o.center : o.inertia ? Vector3d(Vector3d::Zero()) : shapes.center;
  if (!finite(body.center)) throw BodyError("center", "'center' is not finite");
  if (body.center.cwiseAbs().maxCoeff() < 1e-15) body.center.setZero();

  body.moments = inertia.diagonal();
  Matrix3d off = inertia;
  off.diagonal().setZero();
  if (dimension == 3 && off.cwiseAbs().maxCoeff() > 1e-14 * inertia.cwiseAbs().maxCoeff()) {
    const PrincipalAxes found = principal_axes((inertia + inertia.transpose()) / 2);
    body.moments = found.values;
    body.principal = found.axes;
    if (body.principal.determinant() < 0) body.principal.col(0) *= -1;
  }
  body.x = o.position + body.options.rotation * body.center;
  body.q = body.options.rotation * Eigen::Quaterniond(body.principal);
  if (body.principal.isIdentity(0)) body.q = body.options.rotation;
  body.angle = o.angle.value_or(2 * std::atan2(body.q.z(), body.q.w()));
  return body;
}

PlacedParticles place_particles(const ParticleOptions& o, int dimension) {
  PlacedParticles heap;
  heap.options = o;
  if (o.positions.empty()) throw BodyError("count", "there are no particles here; give a count of at least 1");
  if (o.positions.size() != o.radii.size())
    throw BodyError("radius", fmt::format("{} radii for {} particles", o.radii.size(), o.positions.size()));
  if ((o.mass > 0) == (o.density > 0))
    throw BodyError(o.mass > 0 ? "density" : "mass",
                    o.mass > 0 ? "give the mass of each particle or the density, not both"
                               : fmt::format("the particles have mass {:g}; give a density, or the mass of each",
                                             o.mass != 0 ? o.mass : o.density));
  for (std::size_t k = 0; k < o.radii.size(); ++k) {
    const double r = o.radii[k];
    if (!(r > 0) || !std::isfinite(r))
      throw BodyError("radius", fmt::format("particle {} has radius {:g}; radii are positive", k, r));
    if (!finite(o.positions[k])) throw BodyError("box", fmt::format("the position of particle {} is not finite", k));
    const double volume = dimension == 2 ? M_PI * r * r : 4.0 / 3 * M_PI * r * r * r;
    heap.mass.push_back(o.density > 0 ? o.density * volume : o.mass);
    heap.moment.push_back((dimension == 2 ? 0.5 : 0.4) * heap.mass.back() * r * r);
  }
  return heap;
}

}  // namespace hinge
