// Where a motion has passed a root of its equations and the equations beyond it lead back, no solution goes on: a
// sliding mode, as of dry friction at rest. Told by the rate of the root function along the motion beyond,
//
//   d/dt root = root_t + root_y v + root_z z',
//
// whatever the steps of the method are that has come there.
#pragma once

#include <memory>
#include <vector>

#include "expression/branches.hpp"
#include "formulation/acceleration.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// What helps there.
inline constexpr const char* instead_of_jumps =
    "Make the jump continuous and give a tolerance, for instance tanh(v/0.001) in the place of sign(v); or, with "
    "event-driven or moreau-jean, give a contact (unilateral) or a joint its friction, which can hold a body at rest";

/// Does a motion slide before a time h has passed?
bool slides_within(std::shared_ptr<const SymbolicSystem> system, const State& from, double h);

class Sliding {
 public:
  Sliding(const SymbolicSystem& whole, const Branches& branches);

  using System = std::shared_ptr<const SymbolicSystem>;
  /// A change from the sides `before` to `after` at a state: `from` are the equations up to there, `beyond` those after
  /// it. True where one root is passed, and both lead there; where that is not so clear, as where several roots meet,
  /// after several changes in a row with equations that lead back.
  bool has_begun(const System& from, const System& beyond, const State& at, const Branches::Sides& before,
                 const Branches::Sides& after);
  void forget() { in_a_row_ = 0; }
  /// out = d/dt of all roots, along the motion of a system
  bool find_rates(const System& along, const State& at, std::vector<double>& out);

 private:
  Pattern pattern_;  // of the derivatives of the roots by t, y, z
  std::unique_ptr<Evaluator> derivatives_;
  std::vector<double> scratch_, values_, rate_, before_, beyond_;
  std::vector<char> of_table_;  // is the root a knot of a table?
  int ny_, in_a_row_ = 0;
  bool is_dae_;
};

}  // namespace hinge
