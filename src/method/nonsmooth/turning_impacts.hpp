// Schemes on positions spread an impact over two steps, in parts r1 and r2 that depend on where in the step it falls.
// Their sum R does not, and obeys the laws of impact and friction, as long as r1 and r2 have one direction:
//
//   u_N+ + e u_N^- >= 0  _|_  R_N >= 0,       |R_T| <= mu R_N,   R_T = -mu R_N u_T+/|u_T+| where the contact slips
//
// with u- before and u+ after the two steps. Where slip turns within them (friction with normal and tangential motion
// coupled), or another contact is loaded in one of the two only, the laws hold for each part and not for the sum, and
// the scheme does not converge. So the sum is looked at: that is known exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "hinge/nonsmooth.hpp"

namespace hinge {

class TurningImpacts {
 public:
  /// A step in which the listed contacts had the impulses r and the velocities `before` and `after`; `forces`: what
  /// forces alone add to these in the step. All have `dimension` numbers per contact.
  void add(const ContactList& contacts, int dimension, const double* r, const double* before, const double* after,
           const double* forces);
  void forget() { last_ = {}; }
  /// How far the laws are from holding, in velocities, as a part of the largest impact. 0 where they do.
  double worst() const { return largest_ > 0 ? worst_ / largest_ : 0; }

 private:
  struct Seen {  // of the last step
    std::vector<std::uint64_t> keys;
    std::vector<double> impulse, before;
    bool struck = false;  // a contact closed in it
  };
  Seen last_, now_;
  double worst_ = 0, largest_ = 0;
};

}  // namespace hinge
