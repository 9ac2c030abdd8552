// Rigid bodies after Newton and Euler: shapes, joints, springs, motors, gravity, and particles in large numbers.
//
//   hinge::Multibody scene;
//   scene.gravity({0, 0, -9.81});
//   scene.body({.name = "floor", .shapes = {hinge::plane({0, 0, 1})}, .fixed = true});
//   scene.body({.name = "ball", .mass = 2, .shapes = {hinge::sphere(0.1)}, .position = {0, 0, 1}});
//   hinge::Simulation run(scene, hinge::moreau_jean(), {.step = 0.001});
//   run.start(scene.start());
//
// In space a body has y = (x, q), its centre of mass and a unit quaternion (w, x, y, z); z = (x', omega), omega in the
// axes of the body, which lie in its principal directions so that all masses are diagonal:
//
//   x' = x',  q' = q (0, omega)/2,   m x'' = m g + F - ...,   J omega' = -omega x J omega + R^T T - ...
//
// with the joints 0 = g(t, y) and their reaction -(g_y v_z)^T psi. In the plane y = (x, angle) and z = y'. Quaternions
// enter as q/|q|: their length is kept by the flow, not by a constraint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "hinge/body.hpp"
#include "hinge/shape.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// A shape and where it sits in the frame of its body.
struct BodyShape {
  Shape shape{};
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();
};
BodyShape sphere(double radius);  ///< in the plane: a disk
BodyShape box(const Eigen::Vector3d& size);
BodyShape capsule(double radius, double length);
BodyShape cylinder(double radius, double length);
BodyShape plane(const Eigen::Vector3d& normal);

struct BodyOptions {
  std::string name = "body";
  double mass = 0, density = 0;  ///< one of the two; nothing of a fixed body
  /// About the centre of mass, in the frame of the body; in the plane only the last entry counts. From the shapes where
  /// it is left out.
  std::optional<Eigen::Matrix3d> inertia{};
  /// Centre of mass in the frame of the body; where it is left out, that of the shapes, or the origin where the inertia
  /// is given.
  std::optional<Eigen::Vector3d> center{};
  std::vector<BodyShape> shapes{};
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< of the origin of the frame, at the start
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();
  std::optional<double> angle{};  ///< in the plane, in the place of the rotation: full turns are kept
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();          ///< of the centre of mass
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();  ///< in space
  bool fixed = false;                                          ///< to space; has no coordinates
  bool collide = true;
  double friction = 0, restitution = 0;
};

/// Spheres, or disks in the plane, in large numbers: they are no expressions.
struct ParticleOptions {
  std::string name = "particles";
  std::vector<Eigen::Vector3d> positions{};
  std::vector<double> radii{};   ///< as many
  double density = 0, mass = 0;  ///< one of the two; mass is that of each
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();
  double friction = 0, restitution = 0;
};

enum class JointKind {
  spherical,
  revolute,
  prismatic,
  cylindrical,
  universal,
  fixed,
  rod,
  planar,             ///< slides on a plane of a, and turns about its normal
  point_on_line,      ///< a point of b on a line of a
  point_on_plane,     ///< a point of b on a plane of a
  constant_velocity,  ///< two shafts that bend and do not twist against each other
  screw,              ///< slides by the pitch where it turns once
  gear,               ///< between two joints: the angle of the second is `ratio` times that of the first
  rack,               ///< between two joints: the position of the second is `radius` times the angle of the first
  rolling,            ///< made by rolling()
  knife_edge          ///< made by knife_edge()
};

/// Dry friction in a joint, |T| <= coefficient radius |F| + constant: F is the force that the joint carries, and the
/// radius that of the bearing. Joints that slide have no radius. In space, with a span L between two halves of the
/// bearing along its axis n, |F| is |F/2 + n x M/L| + |F/2 - n x M/L|, with the moment M that the joint carries.
struct JointFriction {
  double coefficient = 0, radius = 0;
  double constant = 0;  ///< a torque, or a force where the joint slides
  double span = 0;      ///< 0: the moment does not count
};

/// Stops of a joint's angle or position.
struct JointLimits {
  double low = 0, high = 0;
  double restitution = 0;
};

/// Connects body `b` to body `a`; "ground" is space. Points and axes are those of the start, in space.
struct JointOptions {
  std::string name{};
  JointKind kind = JointKind::revolute;
  std::string a = "ground", b{};
  std::optional<Eigen::Vector3d> point{};         ///< of both bodies; b's centre of mass where it is left out
  std::optional<Eigen::Vector3d> point_b{};       ///< where that of b is another one
  Eigen::Vector3d axis{0, 0, 1};                  ///< revolute, prismatic, cylindrical; of a: universal
  std::optional<Eigen::Vector3d> axis2{};         ///< universal: of b, perpendicular to axis
  std::optional<double> length{};                 ///< rod: the distance of the points at the start where it is left out
  std::optional<Expression> angle{}, torque{};    ///< motor of a revolute joint: prescribes one of the two
  std::optional<Expression> position{}, force{};  ///< motor of a prismatic joint
  double damping = 0, stiffness = 0;              ///< of the free motion; the stiffness pulls to the pose of the start
  bool collide = false;                           ///< do the two bodies collide?
  /// In space: is the angle counted over turns? Where it is not, and nothing else needs it, it lies between -pi and pi.
  bool count_turns = true;
  double pitch = 0;                         ///< screw: how far it slides in a turn
  std::string first{}, second{};            ///< gear, rack: the two joints, by their names
  double ratio = 0, radius = 0;             ///< gear; rack
  std::optional<JointLimits> limits{};      ///< revolute, prismatic, cylindrical (of its position)
  std::optional<JointFriction> friction{};  ///< the same, and universal
};

/// A wheel, disk or sphere of body `b` that rolls without slipping on a plane of body `a`. Points and directions are
/// those of the start, in space.
struct RollingOptions {
  std::string name{};
  std::string a = "ground", b{};
  double radius = 0;
  std::optional<Eigen::Vector3d> axis{};    ///< of a wheel or disk with a thin rim; a sphere where it is left out
  std::optional<Eigen::Vector3d> normal{};  ///< of the plane, on the side of b; else [0, 0, 1], in the plane [0, 1]
  std::optional<Eigen::Vector3d> point{};   ///< of the plane; where b touches it at the start if left out
  std::optional<Eigen::Vector3d> center{};  ///< of the wheel; b's centre of mass where it is left out
  bool collide = false;                     ///< do the two bodies collide?
};

/// A blade, or a wheel that may only go ahead: a point of `b` that moves against `a` along an axis fixed in b.
struct KnifeEdgeOptions {
  std::string name{};
  std::string a = "ground", b{};
  std::optional<Eigen::Vector3d> point{};   ///< of the blade; b's centre of mass where it is left out
  Eigen::Vector3d axis{1, 0, 0};            ///< along the blade
  std::optional<Eigen::Vector3d> normal{};  ///< of the plane it moves on, fixed in a; else [0, 0, 1]
  bool collide = false;
};

/// What a motor prescribes: one of these.
struct MotorOptions {
  std::optional<Expression> angle{}, torque{};    ///< of a revolute joint
  std::optional<Expression> position{}, force{};  ///< of a prismatic joint
  /// Of either, a function of the motion: a velocity constraint. What is a function of t has an angle or position.
  std::optional<Expression> speed{};
};

/// Between a point of `a` and one of `b`, given at the start in space; the centres of mass where they are left out.
struct SpringOptions {
  std::string name{};
  std::string a = "ground", b{};
  std::optional<Eigen::Vector3d> point_a{}, point_b{};
  double stiffness = 0, damping = 0;
  std::optional<double> length{};  ///< at rest; the distance at the start where it is left out
  /// Instead of stiffness, damping and length: how much it pulls, from its length and the rate of that.
  std::function<Expression(const Expression& length, const Expression& rate)> tension{};
};

/// Elastic between two bodies in all directions: with x the displacement and the rotation vector of b against a, along
/// axes of a, the energy is x.K x/2, and x'.D x'/2 is lost per time, twice. In the plane (x, y, angle).
struct BushingOptions {
  std::string name{};
  std::string a = "ground", b{};
  std::optional<Eigen::Vector3d> point{};                    ///< of both at the start
  Eigen::Quaterniond axes = Eigen::Quaterniond::Identity();  ///< of a, at the start, in space
  Eigen::MatrixXd stiffness{}, damping{};                    ///< 6 x 6, in the plane 3 x 3; symmetric; empty: zero
};

/// A force and a torque at a point of a body.
struct PointForceOptions {
  std::string name{};
  std::string body{};
  std::string against = "ground";          ///< the body that takes the reaction, at the same place
  std::optional<Eigen::Vector3d> point{};  ///< of the body, where it is at the start; the centre of mass else
  Vector force{}, torque{};
  bool body_axes = false;  ///< components along the frame of the body; else in space
};

class Multibody : public SystemBuilder {
 public:
  explicit Multibody(int dimension = 3);
  ~Multibody() override;
  Multibody(Multibody&&) noexcept;
  Multibody& operator=(Multibody&&) noexcept;

  int dimension() const;
  void gravity(const Eigen::Vector3d& g);
  /// Each throws BodyError, whose field is the option that is wrong.
  void body(const BodyOptions& options);
  void particles(const ParticleOptions& options);
  void joint(const JointOptions& options);
  /// In space: stays on the plane (a constraint), and does not slip (two velocity constraints). In the plane both are
  /// constraints: what rolls along a line has not slipped where it has come as far as it has turned.
  void rolling(const RollingOptions& options);
  /// One velocity constraint: no motion across the blade, within the plane. It does not hold the point on the plane.
  void knife_edge(const KnifeEdgeOptions& options);
  /// A motor on a joint, by its place in joint_names(); it may use the angle or position of the joint itself.
  void motor(std::size_t joint, const MotorOptions& options);
  void spring(const SpringOptions& options);
  /// Makes spring_length() and spring_length_rate() known before the spring itself is there, with the same options.
  void announce_spring(const SpringOptions& options);
  void bushing(const BushingOptions& options);
  void point_force(const PointForceOptions& options);
  /// g = 0, of names of bodies and joints. With a name, `NAME` is what multiplier() calls it.
  void constraint(const std::string& name, const Expression& g);
  /// A force at the centre of mass and a torque, in space; in the plane two components and one.
  void force(const std::string& body, const Vector& force, const Vector& torque = {});

  // Expressions of the motion of a body, for forces, constraints and observed quantities. Vectors of three components,
  // or two in the plane.
  Vector position(const std::string& body) const;  ///< of the centre of mass
  Vector velocity(const std::string& body) const;
  Vector rotation(const std::string& body) const;          ///< quaternion of the principal axes; in the plane the angle
  Vector spin(const std::string& body) const;              ///< angular velocity along the principal axes
  Vector angular_velocity(const std::string& body) const;  ///< in space; in the plane one number
  Vector axis(const std::string& body, int k) const;       ///< of the frame of the body, in space
  /// Of a revolute, cylindrical or prismatic joint: how far b is from its start, against a.
  Expression joint_angle(const std::string& joint) const;
  Expression joint_position(const std::string& joint) const;
  /// The rates of these.
  Expression joint_angle_rate(const std::string& joint) const;
  Expression joint_position_rate(const std::string& joint) const;
  Expression spring_length(const std::string& spring) const;
  Expression spring_length_rate(const std::string& spring) const;

  // Forces, for observed quantities and events; the equations cannot use them, from which they follow.

  /// What a joint exerts on its body b at b's point of the joint, in space; without its motor, springs and friction. In
  /// the plane two components, and one.
  Vector joint_force(const std::string& joint);
  Vector joint_torque(const std::string& joint);
  /// On b, about or along the axis of the joint.
  Expression motor_effort(const std::string& joint);
  Expression spring_tension(const std::string& spring) const;  ///< positive: it pulls
  /// The force of all contacts on a body, fixed ones too: the mean over the last step. For observed quantities. Before
  /// the system is built.
  Vector contact_force(const std::string& body);
  /// psi of a constraint with a name: the force is -psi times the gradient of g.
  Expression multiplier(const std::string& constraint);
  struct Force {
    std::string name;  ///< of the joint, spring, constraint or body
    const char* part;  ///< "force", "torque", "motor_torque", "motor_force", "tension", "multiplier", ...
  };
  /// All of these that there are.
  std::vector<Force> forces() const;

  std::vector<std::string> body_names() const;  ///< of bodies that move
  std::vector<std::string> joint_names() const;

  /// Bodies may overlap at the start by this depth, and begin so. Without it they are moved apart where that takes no
  /// more than a millionth of the size of the scene.
  void allow_overlap(double depth);
  /// Where everything is at the start. Whether bodies overlap there is seen when a run starts.
  Start start() const;

 private:
  std::shared_ptr<const System> assemble() const override;
  void couple(const JointOptions& options);
  const std::vector<Expression>& multipliers() const;
  Expression velocity_multiplier(int row) const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Where the bodies of such a system are: the origins of their frames and the rotations of these, in the order of
/// Multibody::body_names(); then the particles. Throws InputError where the system has no bodies.
std::vector<BodyPose> body_poses(const System& system, const State& state);

// ---- Heaps of particles --------------------------------------------------------------------------------------

/// Draws `count` radii, or a number in [0, 1) at a time; the same numbers on every machine.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();  ///< SplitMix64
  double uniform();      ///< in [0, 1)
  double normal();       ///< mean 0, deviation 1

 private:
  std::uint64_t state_;
};

/// Places spheres (disks in the plane) of these radii at random in a box without overlaps, one after the other, larger
/// ones first. Throws InputError that says how many fit.
std::vector<Eigen::Vector3d> place_at_random(int dimension, const std::vector<double>& radii,
                                             const Eigen::Vector3d& low, const Eigen::Vector3d& high,
                                             RandomNumbers& random);
/// On a regular grid, layer upon layer along the last axis.
std::vector<Eigen::Vector3d> place_on_grid(int dimension, const std::vector<double>& radii, const Eigen::Vector3d& low,
                                           const Eigen::Vector3d& high);

}  // namespace hinge
