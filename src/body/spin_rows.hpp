// The rows of contacts over the spins of bodies in space, for steps in which the bodies turn.
//
// A contact acts at a point of space along directions in space. In the axes of the body, which turn by E(h w) in a
// step, its rows turn back: with E(-h w) applied to each row's three numbers, H w1 is the velocity in space at the end
// of the step, and H^T r the angular momentum in space that the contact gives.
//
// Steps that do not solve for the turn take E(-(1 - theta) h w0), which leaves an error of O(h^2 r) in the momentum:
//
//   R1 J (w + d) - R0 J w - ... = R0 (J d + (1 - theta) h w x J d) + O(h^2 d)
//
#pragma once

#include <vector>

#include "body/body_table.hpp"

namespace hinge {

class SpinRows {
 public:
  /// Does nothing in the plane.
  SpinRows(const BodyTable& table, int nz);
  /// Turns the rows of all contacts by exp(-time spin), with the spins in z. Allocates nothing. False where that
  /// changes nothing.
  bool turn(const double* z, double time, ContactList& list);
  /// The same by R1^T R0 of the positions y0 and y1.
  bool turn_between(const double* y0, const double* y1, ContactList& list);

 private:
  void apply(ContactList& list) const;
  std::vector<int> first_;              // the body whose first spin a column is; else -1
  std::vector<int> spins_, rotations_;  // of each body: where they begin
  std::vector<double> turns_;           // nine per body, row by row
  std::vector<char> turning_;
};

}  // namespace hinge
