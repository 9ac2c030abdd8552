// Sweeps of grains on the host, several contacts of a colour at once: they share no grain, and every lane does what
// update_contact does, operation by operation, so that the bits are the same.
#pragma once

#include <vector>

#include "method/nonsmooth/grain_numbers.hpp"

namespace hinge::grain {

/// What update_contact is given.
struct LaneSweep {
  double beta;
  const Int2* pair;
  const Wide4 *normal, *data, *reaction;
  Wide4 *to, *v, *w;
};
/// Contacts from `first` up to `end`.
struct Lanes {
  /// All of one colour.
  void (*sweep_colour)(const LaneSweep& sweep, int first, int end);
  /// As residual_of; infinite where one is no number.
  double (*largest_residual)(const LaneSweep& sweep, int first, int end);
};
/// Those that this machine has registers for, the widest ones last.
std::vector<Lanes> lanes_of_this_machine();

}  // namespace hinge::grain
