// What a Multibody holds while it is put together.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "body/body_table.hpp"
#include "body/frame.hpp"
#include "hinge/multibody.hpp"

namespace hinge {

/// A named body. Its axes are the principal ones: `principal` has them as columns in the frame of the user.
struct PlacedBody {
  BodyOptions options;
  double mass = 0;
  Eigen::Vector3d moments = Eigen::Vector3d::Zero();  ///< principal; in the plane the last one
  Eigen::Vector3d center = Eigen::Vector3d::Zero();   ///< of mass, in the frame of the user
  Eigen::Matrix3d principal = Eigen::Matrix3d::Identity();
  // At the start: centre of mass, rotation of the principal axes
  Eigen::Vector3d x = Eigen::Vector3d::Zero();
  Eigen::Quaterniond q = Eigen::Quaterniond::Identity();
  double angle = 0;  ///< in the plane: that of q, or as it was given, full turns included
  int number = -1;   ///< among those that move
  BodyPlace place{};
  Frame frame{};
  Vector y_rotation{}, z_spin{};
  Vector force{0.0, 0.0, 0.0}, torque{0.0, 0.0, 0.0};                  ///< in space
  Vector applied_force{0.0, 0.0, 0.0}, applied_torque{0.0, 0.0, 0.0};  ///< what of these no potential has
  /// The same of what depends on the multipliers.
  Vector reactive_force{0.0, 0.0, 0.0}, reactive_torque{0.0, 0.0, 0.0};

  /// A point and a direction of the start, along the principal axes.
  Eigen::Vector3d local_point(const Eigen::Vector3d& p) const { return q.conjugate() * (p - x); }
  Eigen::Vector3d local_direction(const Eigen::Vector3d& d) const { return q.conjugate() * d; }
  /// The same of a body that moves; as they are where it does not.
  Eigen::Vector3d link_point(const Eigen::Vector3d& p) const { return number < 0 ? p : local_point(p); }
  Eigen::Vector3d link_direction(const Eigen::Vector3d& d) const { return number < 0 ? d : local_direction(d); }
};

/// Mass, moments, centre and axes from the options. Throws BodyError.
PlacedBody place_body(const BodyOptions& options, int dimension);

struct PlacedParticles {
  ParticleOptions options;
  std::vector<double> mass, moment;  ///< of each
};
PlacedParticles place_particles(const ParticleOptions& options, int dimension);

/// The equations of a joint between two bodies: pairs of a residual and what it says.
struct JointRow {
  Expression g;
  const char* what;
};
struct JointEquations {
  std::vector<JointRow> rows;
  std::optional<Expression> angle{}, angle_rate{}, position{}, position_rate{};
  Expression sine = 0.0, cosine = 0.0;  ///< of the angle, in space
  Vector axis{};                        ///< of the free rotation or translation, in space, fixed in a
  Vector axis2{};                       ///< universal: fixed in b
  Vector point_a{}, point_b{};          ///< in space
  Eigen::Vector3d start_a, start_b;     ///< these at the start
};
JointEquations joint_equations(const JointOptions& options, const PlacedBody& a, const PlacedBody& b, int dimension);

/// What holds a wheel or a blade, by multipliers that are forces: -psi times these directions on b, at `arm` from b's
/// point.
struct RollingRows {
  std::vector<std::pair<int, Vector>> position, velocity;  ///< row and direction
  Vector arm{0.0, 0.0, 0.0};
};

/// How far a body in the plane has turned from its start.
inline Expression turned(const PlacedBody& body) {
  return body.number < 0 ? Expression(0.0) : body.y_rotation[0] - body.angle;
}

struct PlacedJoint {
  JointOptions options;
  JointEquations equations;
  int first_row = 0;                     ///< of its own rows, among all constraints
  std::vector<Expression> held{};        ///< what they hold, between a and b alone
  std::optional<RollingRows> contact{};  ///< of what rolls, instead of these
  int motor_row = -1;                    ///< of a prescribed motion
  int motor_velocity_row = -1;           ///< of a prescribed speed, among velocity constraints
  /// The effort of a motor; of a prescribed motion over -psi.
  std::optional<Expression> motor{};
  bool motor_turns = false;
  bool named = false;
};

struct PlacedSpring {
  std::string name;
  Expression length, rate, tension;
  bool announced = false;  ///< its length and rate only, so far
};

/// What a bushing does to b, in space, about b's point of it.
struct PlacedBushing {
  std::string name;
  Vector force, torque;
};

struct NamedRows {
  std::string name;
  int row = 0;
};

/// The rows of a gear or rack between two joints: q_2 - ratio q_1, from their start.
JointEquations coupling_equations(const JointOptions& options, const PlacedJoint& first, const PlacedJoint& second);

/// A force and a torque about the centre of mass, in space.
struct Wrench {
  Vector force, torque;
};
/// -dV/d(pose) of a function of the positions, on one body that moves.
Wrench wrench_of(const Expression& potential, const PlacedBody& body, bool plane);
/// -dR/d(velocity, spin) of a function of the velocities.
Wrench drag_of(const Expression& dissipation, const PlacedBody& body, bool plane);

/// An angle in space that is counted over turns. The coordinate T has the rate of the angle, and with it
///
///   angle = T + atan2(s cos T - c sin T, c cos T + s sin T),   s, c: sine and cosine from the pose
///
/// is that of the pose, to rounding, on the turn that T says; on nothing else of T does it depend.
struct CountedTurn {
  Expression rate;
  int a = -1, b = -1;                               ///< bodies, by their number; -1: one that rests
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();  ///< along the axes of a
};

struct Multibody::Parts {
  int dimension = 3;
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  double overlap = 0;
  std::vector<PlacedBody> bodies;
  std::unordered_map<std::string, std::size_t> place_of;  ///< of each body in the list, by its name
  int moving = 0;                                         ///< bodies that do
  std::vector<PlacedParticles> heaps;
  std::vector<PlacedJoint> joints;
  std::vector<CountedTurn> turns;  ///< their coordinates come after those of all bodies:
  std::vector<Block> turn_blocks;
  int turn_count = 0;
  std::vector<Expression> turn_coordinates;
  std::vector<PlacedSpring> springs;
  std::vector<PlacedBushing> bushings;
  std::vector<NamedRows> named_rows;    ///< of constraints
  std::vector<Expression> multipliers;  ///< of the first constraints, as far as somebody has asked for them
  std::vector<Expression> velocity_multipliers;
  std::vector<BodyContactForce> contact_forces;
  std::vector<BodyLink> links;  ///< joints and springs, to be drawn
  Expression potential = 0.0;   ///< of springs
  bool applied_force = false;
  bool by_potential = false;  ///< what is applied now is in `potential`
  // coordinates
  std::vector<Block> y_blocks, z_blocks;
  int ny = 0, nz = 0;
  std::vector<Expression> y, z;

  /// Throws BodyError about `field`, with the nearest name.
  std::size_t find(const std::string& name, const char* field) const;
  /// The body, or the ground where its name is that.
  PlacedBody& at(const std::string& name, const char* field);
  /// Does it depend on a multiplier that somebody has asked for?
  bool is_reactive(const Vector& v) const;
  /// To the forces or to the reactions of a body, about its centre of mass.
  void push(PlacedBody& body, const Vector& force) const;
  void turn(PlacedBody& body, const Vector& torque) const;
  /// A part of what has been applied by_potential that no potential has, at the point r of the body.
  void has_no_potential(PlacedBody& body, const Eigen::Vector3d& r, const Vector& force) const;
  /// F at the point r of the body, by components along its axes.
  void apply(PlacedBody& body, const Eigen::Vector3d& r, const Vector& force);
  void apply_torque(PlacedBody& body, const Vector& torque);
  void apply(PlacedBody& body, const Wrench& wrench);
  PlacedJoint& joint(const std::string& name);
  /// What a joint or a bushing does to b, in space, about b's point of it.
  Wrench reaction(const std::string& name, const Multibody& scene);
  Wrench reaction(const PlacedJoint& joint, const Multibody& scene) const;
  /// On b of a joint, and against it on a.
  void drive_torque(const PlacedJoint& joint, const Expression& torque);
  void drive_force(const PlacedJoint& joint, const Expression& force);
  /// A joint of this kind, checked as far as names go, and put among the others: rolling.cpp.
  PlacedJoint begin_rolling(JointKind kind, std::string name, const std::string& a, const std::string& b, bool collide);
  void end_rolling(PlacedJoint joint, const Eigen::Vector3d& start_a, const Eigen::Vector3d& start_b,
                   const Eigen::Vector3d& axis);
  /// Complains about a velocity in what prescribes positions.
  void refuse_velocities(const Expression& g, const char* field) const;
  /// Damping and stiffness of a joint.
  void resist(const PlacedJoint& joint);
  /// Complains about limits and friction that a joint cannot have.
  void check_contacts(const PlacedJoint& joint) const;
  /// Limits and friction of all joints; null where there are none.
  std::shared_ptr<const JointContacts> joint_contacts(Graph& graph, Node t, const std::vector<Node>& y,
                                                      const std::vector<Node>& z, double length,
                                                      const Multibody& scene) const;
  BodyTable table() const;

  PlacedBody ground{};
};

/// Is it, whatever moves?
bool is_zero(const Vector& v);
const char* joint_name(JointKind kind);
/// Where the two points of a joint or spring are at the start.
Eigen::Vector3d start_point(const std::optional<Eigen::Vector3d>& first, const std::optional<Eigen::Vector3d>& second,
                            const PlacedBody& own, const PlacedBody& other, const char* what);

}  // namespace hinge
