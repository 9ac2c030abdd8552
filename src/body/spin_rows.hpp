// The rows of contacts over the spins of bodies in space, for steps in which the bodies turn.
//
// A step changes the spin from w to w + d while the body turns by exp(h (w + theta d)). With rows at the start of the
// step the angular momentum in space would change by
//
//   R1 J (w + d) - R0 J w - ... = R0 (J d + (1 - theta) h w x J d) + O(h^2 d)
//
// instead of R0 J d, so that a spinning body in lasting contact drifts sideways. The rows of the body as it is after
// exp((1 - theta) h w) leave O(h^2 d):  each row's three numbers, components along the axes of the body, are turned by
// exp(-(1 - theta) h w). Since that leaves w itself alone, the velocity H z before the step stays the same.
#pragma once

#include <vector>

#include "body/body_table.hpp"

namespace hinge {

class SpinRows {
 public:
  /// Does nothing in the plane.
  SpinRows(const BodyTable& table, int nz);
  /// Turns the rows of all contacts by exp(-time spin), with the spins in z. Allocates nothing.
  void turn(const double* z, double time, ContactList& list);

 private:
  std::vector<int> first_;     // the body whose first spin a column is; else -1
  std::vector<int> spins_;     // of each body: its first column
  std::vector<double> turns_;  // nine per body, row by row
  std::vector<char> turning_;
};

}  // namespace hinge
