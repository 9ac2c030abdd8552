// The scenes of the exam by the Open Dynamics Engine, with its default settings: dWorldQuickStep, twenty iterations.
#pragma once

#include <cmath>
#include <vector>

#include <ode/ode.h>

#include "judge.hpp"
#include "scene_list.hpp"

namespace exam {

class OdeWorld {
 public:
  explicit OdeWorld(const Scene& scene) : scene_(scene) {
    dInitODE();
    world_ = dWorldCreate();
    space_ = dHashSpaceCreate(nullptr);
    contacts_ = dJointGroupCreate(0);
    dWorldSetGravity(world_, real(scene.gravity.x()), real(scene.gravity.y()), real(scene.gravity.z()));
    for (const SceneBody& b : scene.bodies) add(b);
    for (const SceneJoint& j : scene.joints) add(j);
  }
  ~OdeWorld() {
    dJointGroupDestroy(contacts_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
    dCloseODE();
  }
  OdeWorld(const OdeWorld&) = delete;
  OdeWorld& operator=(const OdeWorld&) = delete;

  /// Not all shapes are there: hulls are left out.
  static bool takes(const Scene& scene) {
    for (const SceneBody& b : scene.bodies)
      if (b.shape == "mesh") return false;
    return true;
  }
  void step(double) {
    for (std::size_t k = 0; k < bodies_.size(); ++k)
      if (const Vector3d& f = scene_.bodies[k].force; !f.isZero())
        dBodyAddForce(bodies_[k], real(f.x()), real(f.y()), real(f.z()));
    dSpaceCollide(space_, this, [](void* self, dGeomID a, dGeomID b) { static_cast<OdeWorld*>(self)->touch(a, b); });
    dWorldQuickStep(world_, real(scene_.step));
    dJointGroupEmpty(contacts_);
  }
  std::vector<BodyState> row() const {
    std::vector<BodyState> states;
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      if (scene_.bodies[k].fixed) continue;
      const dReal* q = dBodyGetQuaternion(bodies_[k]);
      states.push_back({vector(dBodyGetPosition(bodies_[k])), vector(dBodyGetLinearVel(bodies_[k])),
                        vector(dBodyGetAngularVel(bodies_[k])), Quaterniond(q[0], q[1], q[2], q[3]).normalized()});
    }
    return states;
  }

 private:
  static dReal real(double x) { return static_cast<dReal>(x); }
  static Vector3d vector(const dReal* x) { return {x[0], x[1], x[2]}; }

  void add(const SceneBody& b) {
    dGeomID geom = b.shape == "sphere" ? dCreateSphere(nullptr, real(b.size[0]))
                   : b.shape == "box"  ? dCreateBox(nullptr, real(b.size[0]), real(b.size[1]), real(b.size[2]))
                                       : dCreateCylinder(nullptr, real(b.size[0]), real(b.size[1]));
    if (b.collide) dSpaceAdd(space_, geom);
    dBodyID body = nullptr;
    if (!b.fixed) {
      body = dBodyCreate(world_);
      dMass mass;
      dMassSetParameters(&mass, real(b.mass), 0, 0, 0, real(b.inertia.x()), real(b.inertia.y()), real(b.inertia.z()), 0,
                         0, 0);
      dBodySetMass(body, &mass);
      dGeomSetBody(geom, body);
      if (b.turned) dBodySetKinematic(body);
      dBodySetLinearVel(body, real(b.velocity.x()), real(b.velocity.y()), real(b.velocity.z()));
      dBodySetAngularVel(body, real(b.angular_velocity.x()), real(b.angular_velocity.y()),
                         real(b.angular_velocity.z()));
    }
    dGeomSetPosition(geom, real(b.position.x()), real(b.position.y()), real(b.position.z()));
    const dQuaternion q = {real(b.rotation.w()), real(b.rotation.x()), real(b.rotation.y()), real(b.rotation.z())};
    dGeomSetQuaternion(geom, q);
    bodies_.push_back(body);
  }
  void add(const SceneJoint& j) {
    const bool spherical = j.type == "spherical", revolute = j.type == "revolute";
    dJointID joint = spherical  ? dJointCreateBall(world_, nullptr)
                     : revolute ? dJointCreateHinge(world_, nullptr)
                                : dJointCreateSlider(world_, nullptr);
    dJointAttach(joint, j.a < 0 ? nullptr : bodies_[static_cast<std::size_t>(j.a)],
                 bodies_[static_cast<std::size_t>(j.b)]);
    const dReal x = real(j.point.x()), y = real(j.point.y()), z = real(j.point.z());
    const dReal ax = real(j.axis.x()), ay = real(j.axis.y()), az = real(j.axis.z());
    if (spherical) dJointSetBallAnchor(joint, x, y, z);
    if (revolute) {
      dJointSetHingeAnchor(joint, x, y, z);
      dJointSetHingeAxis(joint, ax, ay, az);
    }
    if (!spherical && !revolute) dJointSetSliderAxis(joint, ax, ay, az);
  }
  void touch(dGeomID a, dGeomID b) {
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b) return;
    dContact found[8];
    const int count = dCollide(a, b, 8, &found[0].geom, sizeof(dContact));
    for (int k = 0; k < count; ++k) {
      found[k].surface = {};
      found[k].surface.mode = scene_.restitution > 0 ? dContactBounce : 0;
      found[k].surface.mu = real(scene_.friction);
      found[k].surface.mode |= dContactApprox1;  // friction by the normal force, not a constant one
      found[k].surface.bounce = real(scene_.restitution);
      dJointAttach(dJointCreateContact(world_, contacts_, &found[k]), body_a, body_b);
    }
  }

  const Scene& scene_;
  dWorldID world_;
  dSpaceID space_;
  dJointGroupID contacts_;
  std::vector<dBodyID> bodies_;
};

}  // namespace exam
