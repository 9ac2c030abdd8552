// A system with some of its constraints: the others follow from these, and their multipliers are zero.
//
//   0 = g_I(t, y),   r = r(t, y, z, psi_J; 0)
#pragma once

#include <memory>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

/// Which constraints and which multipliers are kept, each in increasing order. All of them: nothing is left out.
struct RowChoice {
  std::vector<int> rows, multipliers;
  std::vector<int> left_out;  ///< constraints that are not kept
  /// Multipliers belong to constraints one by one, r_psi = -C^T: then those of all constraints can be found again.
  bool paired = true;
  bool operator==(const RowChoice&) const = default;
  bool redundant() const { return !left_out.empty(); }
};

/// The choice of these rows among `count`, with the multipliers of the same numbers.
RowChoice choice_of(std::vector<int> rows, int count);

/// Of systems without velocity constraints. Those made of expressions stay so.
std::shared_ptr<const System> with_fewer_rows(std::shared_ptr<const System> system, const RowChoice& choice);

/// Some rows of a pattern; `from`: their entries in it.
Pattern some_rows(const Pattern& p, const std::vector<int>& rows, std::vector<int>& from);

/// The numbers of `x` at `places`.
void pick(const std::vector<double>& x, const std::vector<int>& places, std::vector<double>& out);

}  // namespace hinge
