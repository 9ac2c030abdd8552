// Bodies as numbers: where each one's pose and velocity stand in y and z, and the shapes that it carries.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "body/joint_contacts.hpp"
#include "expression/graph.hpp"
#include "hinge/shape.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// In the plane the rotation is one angle, and the spin one rate.
struct BodyPlace {
  int x = 0, rotation = 0;  ///< in y
  int v = 0, spin = 0;      ///< in z
};

/// Of the size of a scene: bodies that overlap by less at the start are moved apart.
inline constexpr double small_overlap = 1e-6;

/// A coordinate that counts the angle of body b against body a about an axis of a; -1: one that rests.
struct BodyTurn {
  int y = 0, a = -1, b = -1;
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();
};

/// A joint or a spring, to be drawn: points and axis along the principal axes of the body, in space for -1.
struct BodyLink {
  std::string name, kind;  ///< as the model file calls the kind; "spring"
  int a = -1, b = -1;
  Eigen::Vector3d point_a, point_b;
  Eigen::Vector3d axis = Eigen::Vector3d::Zero();  ///< of a; zero: it has none
};

/// Variables of observed expressions that stand for the force of all contacts on a body.
struct BodyContactForce {
  std::string body;
  std::vector<Node> variables;
};

struct BodyTable {
  int dimension = 3;
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  std::vector<BodyLink> links;
  std::vector<BodyContactForce> contact_forces;
  std::vector<BodyTurn> counted;
  std::vector<BodyPlace> places;  ///< of all bodies that move
  std::vector<BodyPose> frames;   ///< of the named ones, which come first: the user's frame along the principal axes
  std::vector<Collider> colliders;
  std::vector<Collider> ghosts;              ///< shapes that touch nothing
  std::vector<std::pair<int, int>> ignored;  ///< pairs of bodies
  /// A body and a collider in space on one joint, where the bits of groups do not suffice; sorted.
  std::vector<std::pair<int, int>> apart;
  std::shared_ptr<const JointContacts> joint_contacts{};  ///< null: there are none
  double overlap = 0;                                     ///< depth that is allowed at the start
  double length = 1;                                      ///< that gaps compare with
  std::vector<double> reach;  ///< of each body: how far rotation can move its surface, per angle

  bool has_joint_friction() const;
  /// Is there any pair of shapes that could ever touch, or a joint with limits or friction?
  bool can_collide() const;
  /// Rotations by their exponential: q (cos(|w|h/2), sin(|w|h/2) w/|w|), kept at length one.
  void move(const double* y, const double* z, double h, double* out) const;
  /// No surface moves faster than this towards another that rests.
  double fastest(const double* z) const;
  /// The smallest thickness of all shapes on bodies that move; infinity where there are none.
  double smallest() const;
  /// Half the least width of all shapes, fixed ones too; of a mesh at most that. What moves further into another may
  /// come out on its other side. Infinite where there are but planes.
  double thinnest() const;
  BodyPose pose(const double* y, std::size_t body) const;
};

/// The bodies of a system; null where it has none.
const BodyTable* bodies_of(const System& system);

/// Contacts between shapes: rows N = normal, T1, T2 of the velocity of a's point against b's, over the z of the bodies.
std::unique_ptr<ContactFinder> find_body_contacts(std::shared_ptr<const BodyTable> table);

}  // namespace hinge
