// What acts on a motion and may be narrow: what a long step may fly over, and how much of it would matter.
//
// Forces f(t, y, z) that depend on the position, and velocities v(t, y, z) that do. Of a row of a DAE,
// F(t, x, x') = 0, what is left without derivatives and without what is linear in the unknowns:
//
//   c x' = d x + e(t, x): e, measured by c |x| / h        x = e(t, y): e, measured by |x|
//
// in a step of length h, with the largest |x| so far.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "simulate/state_functions.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class LeapFunctions {
 public:
  LeapFunctions() = default;
  explicit LeapFunctions(const SymbolicSystem& system);

  const Graph& graph() const { return *graph_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Of each position or unknown: do velocities say how it moves? Not of unknowns of a DAE that have no derivative.
  const std::vector<char>& moves() const { return moves_; }
  /// What is as large as everything that function k acts on, in a step of length h to that state; `momentum` and
  /// `sizes`, of positions or unknowns, are the largest so far.
  double size(std::size_t k, double h, double momentum, std::span<const double> sizes) const;
  /// The factors of derivatives are those at that state.
  void at(const State& state);

 private:
  void look_at_forces(const Equations& eq);
  void look_at_dae(const SymbolicSystem& system);

  struct Share {
    std::size_t unknown;
    double factor;
    bool derivative;
  };
  std::shared_ptr<const Graph> graph_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Share>> shares_;  // of a function; of a force none
  std::vector<Share*> changing_;            // whose factors are no numbers
  StateFunctions factors_;
  std::vector<char> moves_;
};

}  // namespace hinge
