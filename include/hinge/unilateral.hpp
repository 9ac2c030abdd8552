// Unilateral constraints: contacts that may open and close.
//
//   0 <= gap(t, y)  _|_  reaction >= 0,  an impact law, and a friction cone per contact
//
// A system with contacts offers a ContactFinder. Asked at a position it lists the contacts nearby, in flat arrays:
//
//   u = H z + drift,  rows (N), (N, T) or (N, T1, T2) of a contact after another,  u_N = d gap/dt
//
// so that a reaction r acts on the velocities by p_z z' = ... + H^T r. Time-stepping methods know nothing else of
// geometry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hinge/expression.hpp"

namespace hinge {

/// A contact given by expressions, in a Lagrangian or Mechanical system.
struct UnilateralOptions {
  std::string name{};
  double restitution = 0;  ///< 0 no rebound, 1 all of it
  double friction = 0;     ///< Coulomb's coefficient
  /// The tangential velocities, one (in the plane) or two, linear in the velocities of the system. Where it is left out
  /// and there is friction, the gap must be a function of one point of shape {2} or {3} alone; the tangents are then
  /// those of its level surfaces.
  Vector slip{};
  /// Where the force is not gap_y^T n: a multiplier of SystemBuilder::contact_multiplier, which is not negative and
  /// zero while the contact is open, and the force on all coordinates, an expression of it that may be nonlinear.
  /// Friction is a part of that force.
  Expression multiplier{};
  Vector reaction{};
};

/// Contacts found at one position. The vectors grow when they have to and never shrink.
struct ContactList {
  int dimension = 1;  ///< rows per contact: 1 without friction, 2 in the plane, 3 in space
  int count = 0;
  std::vector<double> gap, friction, restitution;  ///< one per contact
  /// Names a contact from step to step: the same pair and feature have the same key. Unique, and increasing.
  std::vector<std::uint64_t> key;
  std::vector<double> drift;  ///< `dimension` per contact: what u has besides H z, for walls that move
  // H by contacts: contact i has the columns first[i] <= k < first[i + 1] of z, increasing, each with `dimension`
  // numbers
  std::vector<int> first{0}, column;
  std::vector<double> H;
  // In space, for pictures and for warm starts in turned tangents. Three per contact, nine for the frame (its rows are
  // N, T1, T2); empty where contacts are expressions.
  std::vector<double> point, frame;

  void clear(int rows) {
    dimension = rows;
    count = 0;
    for (auto* v : {&gap, &friction, &restitution, &drift, &H, &point, &frame}) v->clear();
    key.clear();
    column.clear();
    first.assign(1, 0);
  }
};

/// Finds the contacts of a system; has work space of its own, so one per method that is bound to the system.
class ContactFinder {
 public:
  virtual ~ContactFinder() = default;
  /// Rows per contact, the same for all.
  virtual int dimension() const = 0;
  /// All contacts whose gap is at most `band` at (t, y), in increasing order of their keys.
  virtual void find(double t, const double* y, double band, ContactList& out) = 0;
  /// Gaps of the contacts of `list`, as listed, at another position nearby: out[i] for contact i.
  virtual void gaps(double t, const double* y, const ContactList& list, double* out) = 0;
  /// What messages call a contact.
  virtual std::string name(std::uint64_t key) const = 0;
  /// A length that gaps compare with; rounding is a small multiple of 1e-16 of it.
  virtual double length_scale() const { return 1; }
};

}  // namespace hinge
