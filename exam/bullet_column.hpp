// The scenes of the exam by Bullet, with its default settings.
//
// Bullet multiplies frictions and restitutions of two bodies, so each gets the square root.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "judge.hpp"
#include "scene_list.hpp"

namespace exam {

class BulletWorld {
 public:
  explicit BulletWorld(const Scene& scene)
      : scene_(scene), dispatcher_(&configuration_), world_(&dispatcher_, &broad_phase_, &solver_, &configuration_) {
    world_.setGravity(from(scene.gravity));
    for (const SceneBody& b : scene.bodies) add(b);
    for (const SceneJoint& j : scene.joints) add(j);
  }
  ~BulletWorld() {
    for (auto& joint : joints_) world_.removeConstraint(joint.get());
    for (auto& body : bodies_) world_.removeRigidBody(body.get());
  }
  BulletWorld(const BulletWorld&) = delete;
  BulletWorld& operator=(const BulletWorld&) = delete;

  void step(double t) {
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      const SceneBody& b = scene_.bodies[k];
      if (!b.force.isZero()) bodies_[k]->applyCentralForce(from(b.force));
      if (!b.turned) continue;
      const btTransform turned(btQuaternion(btVector3(0, 0, 1), scalar(b.angular_velocity.z() * (t + scene_.step))),
                               from(b.position));
      bodies_[k]->setWorldTransform(turned);
    }
    world_.stepSimulation(scalar(scene_.step), 0, scalar(scene_.step));
  }
  std::vector<BodyState> row() const {
    std::vector<BodyState> states;
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
      if (scene_.bodies[k].fixed) continue;
      const btRigidBody& b = *bodies_[k];
      const btQuaternion q = b.getWorldTransform().getRotation();
      states.push_back({to(b.getWorldTransform().getOrigin()), to(b.getLinearVelocity()), to(b.getAngularVelocity()),
                        Quaterniond(q.w(), q.x(), q.y(), q.z()).normalized()});
    }
    return states;
  }

 private:
  static btScalar scalar(double x) { return static_cast<btScalar>(x); }
  static btVector3 from(const Vector3d& x) { return {scalar(x.x()), scalar(x.y()), scalar(x.z())}; }
  static btQuaternion from(const Quaterniond& q) {
    return {scalar(q.x()), scalar(q.y()), scalar(q.z()), scalar(q.w())};
  }
  static Vector3d to(const btVector3& x) { return {x.x(), x.y(), x.z()}; }

  std::unique_ptr<btCollisionShape> shape(const SceneBody& b) const {
    if (b.shape == "sphere") return std::make_unique<btSphereShape>(scalar(b.size[0]));
    if (b.shape == "box") return std::make_unique<btBoxShape>(from(Vector3d(b.size[0], b.size[1], b.size[2]) / 2));
    if (b.shape == "cylinder")
      return std::make_unique<btCylinderShapeZ>(from(Vector3d(b.size[0], b.size[0], b.size[1] / 2)));
    auto hull = std::make_unique<btConvexHullShape>();
    for (const Vector3d& p : b.points) hull->addPoint(from(p));
    return hull;
  }
  void add(const SceneBody& b) {
    shapes_.push_back(shape(b));
    const bool rests = b.fixed || b.turned;
    btRigidBody::btRigidBodyConstructionInfo info(rests ? 0 : scalar(b.mass), nullptr, shapes_.back().get(),
                                                  rests ? btVector3(0, 0, 0) : from(b.inertia));
    info.m_startWorldTransform = btTransform(from(b.rotation), from(b.position));
    info.m_friction = scalar(std::sqrt(scene_.friction));
    info.m_restitution = scalar(std::sqrt(scene_.restitution));
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    btRigidBody& body = *bodies_.back();
    body.setLinearVelocity(from(b.velocity));
    body.setAngularVelocity(from(b.angular_velocity));
    if (b.turned) {
      body.setCollisionFlags(btCollisionObject::CF_KINEMATIC_OBJECT);
      body.setActivationState(DISABLE_DEACTIVATION);
    }
    if (b.collide)
      world_.addRigidBody(&body);
    else
      world_.addRigidBody(&body, 1, 0);
  }
  void add(const SceneJoint& j) {
    // without a: b alone, against the ground
    btRigidBody& b = *bodies_[static_cast<std::size_t>(j.b)];
    btRigidBody* a = j.a < 0 ? nullptr : bodies_[static_cast<std::size_t>(j.a)].get();
    const auto local = [&](const btRigidBody& body) { return body.getWorldTransform().inverse() * from(j.point); };
    const auto turned = [&](const btRigidBody& body) {
      return body.getWorldTransform().getBasis().transpose() * from(j.axis);
    };
    std::unique_ptr<btTypedConstraint> joint;
    if (j.type == "spherical") {
      joint = a ? std::make_unique<btPoint2PointConstraint>(*a, b, local(*a), local(b))
                : std::make_unique<btPoint2PointConstraint>(b, local(b));
    } else if (j.type == "revolute") {
      auto hinge = a ? std::make_unique<btHingeConstraint>(*a, b, local(*a), local(b), turned(*a), turned(b))
                     : std::make_unique<btHingeConstraint>(b, local(b), turned(b));
      joint = std::move(hinge);
    } else {  // prismatic, to the ground along x
      joint = std::make_unique<btSliderConstraint>(b, btTransform(btQuaternion::getIdentity(), local(b)), true);
    }
    world_.addConstraint(joint.get(), true);
    joints_.push_back(std::move(joint));
  }

  const Scene& scene_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broad_phase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<std::unique_ptr<btTypedConstraint>> joints_;
};

}  // namespace exam
