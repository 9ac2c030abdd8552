// Smooth motion between the events of contacts: while every contact keeps its mode, the contacts are constraints and
// forces of an ordinary system of the problem class.
//
//   open               nothing
//   closed             gap = 0, reaction (gap_y v_z)^T lambda
//   forward, backward  gap = 0, and the force -+ mu lambda slip_z^T against the slip velocity, whose sign is known
//   slide              the same with two slip velocities: -mu lambda (slip/|slip|)^T slip_z
//   set_off            the same from rest, where slip has no direction yet: -mu lambda c^T slip_z, with the constant c,
//   the
//                      direction in which it sets off, as further unknowns, c' = 0
//   stick              gap = 0, and slip = 0. That is a constraint on velocities; it becomes one on positions with the
//                      displacements s, s' = slip, as further unknowns: s = 0, reaction slip_z^T lambda_T
//
// Friction of a joint is a contact that is never open, without gap and lambda: mu lambda is its width, a function of
// the multipliers of its joint.
//
//   share              of joints that friction holds together, as one motion moves them all: slip = 0 of the first, and
//                      the forces -+ kappa width slip_z^T of all with one multiplier kappa, |kappa| <= 1
//
// lambda = psi of the mode's system, not negative. A contact with a reaction of its own has that instead of gap_y^T
// lambda. Systems are kept by their modes: a ball that bounces twice needs two.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "system/symbolic.hpp"

namespace hinge {

enum class ContactMode : char {
  open,
  closed,
  stick,
  forward,
  backward,
  slide,
  set_off,
  share,
  share_with,
  share_against
};

class ContactMotion {
 public:
  /// For systems whose contacts, if any, are expressions.
  explicit ContactMotion(std::shared_ptr<const System> system);

  int contacts() const { return static_cast<int>(contacts_.size()); }
  /// Slip velocities of a contact: 0, 1 or 2.
  int tangents(int contact) const { return static_cast<int>(contacts_[static_cast<std::size_t>(contact)].slip.size()); }
  const std::string& name(int contact) const { return contacts_[static_cast<std::size_t>(contact)].name; }
  /// Friction of a joint: these come after all others, in the order of their keys.
  bool is_bearing(int contact) const { return contacts_[static_cast<std::size_t>(contact)].bearing; }
  int gaps() const { return gap_count_; }

  /// All contacts at one point of the motion.
  struct Values {
    double gap = 0;
    double friction = 0;       ///< mu, times the length of the gap's gradient where the contact is one of a point; the
                               ///< whole of mu lambda for friction of joints
    double rate[3] = {};       ///< gap', slip velocities
    double curvature[3] = {};  ///< of these: d/dt rate = rate_z z' + curvature
    double speed = HUGE_VAL;   ///< |gap'| is at most this, where that is known,
    double turn = 0;           ///< and the directions in it turn at most this quickly
  };
  const std::vector<Values>& at(const State& state);
  /// The same as of the last at().
  const std::vector<Values>& values() const { return values_; }

  /// The motion in these modes. Positions are y and then the displacements of sticking contacts, and the
  /// directions of those that set off.
  const std::shared_ptr<const System>& system(const std::vector<ContactMode>& modes);
  /// Places in its psi: of the normal multiplier of each contact, and of the tangential ones; -1 where there are none.
  struct Places {
    int normal = -1, tangential[2] = {-1, -1};
    int direction = -1;  ///< the first of c, in y
  };
  const std::vector<Places>& places(const std::vector<ContactMode>& modes);

 private:
  struct Contact {
    Node gap, friction;
    std::vector<Node> normal;             // gap_y v_z
    std::vector<Node> slip;               // tangential velocities
    std::vector<std::vector<Node>> rows;  // slip_z
    Node multiplier;                      // of a reaction of its own, where there is one
    std::vector<Node> reaction;           //
    std::string name;
    bool bearing = false;  // then `friction` is of the multipliers
    Node speed = no_node, turn = no_node;
  };
  struct Mode {
    std::shared_ptr<const System> system;
    std::vector<Places> places;
  };
  const Mode& mode(const std::vector<ContactMode>& modes);
  Mode build(const std::vector<ContactMode>& modes);

  std::shared_ptr<const System> base_;
  const Equations* eq_ = nullptr;  // null where the system is made of functions
  std::shared_ptr<Graph> graph_;   // of the contacts
  std::vector<Contact> contacts_;
  int gap_count_ = 0;
  std::unique_ptr<Evaluator> tape_;
  std::vector<double> scratch_, out_;
  std::vector<Values> values_;
  std::map<std::vector<ContactMode>, Mode> modes_;
};

}  // namespace hinge
