// A system with the branches of its equations frozen, and the root functions that say how far they reach.
#pragma once

#include <memory>
#include <vector>

#include "expression/branches.hpp"
#include "hinge/method.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// All functions of the equations that a motion depends on.
std::vector<Node> functions_of(const Equations& equations);

class SmoothPiece {
 public:
  SmoothPiece(const SymbolicSystem& whole, Branches& branches, const Branches::Sides& sides);

  const std::shared_ptr<const SymbolicSystem>& system() const { return system_; }
  /// Root functions that bound this piece, by their number among all. The others count as k = 0, 1, ... here.
  const std::vector<std::size_t>& active() const { return active_; }

  void evaluate(const State& s);
  /// Is root function k on its other side at the state evaluated last?
  bool is_beyond(std::size_t k) const { return upper_[k] ? values_[k] < 0 : values_[k] > 0; }
  bool is_any_beyond() const;
  /// How far it is from its root there, in units of what it moves by when all numbers change by their tolerance.
  /// Evaluates derivatives; infinite for functions of t.
  std::vector<double> distances(const State& s, const Tolerance& tolerance);

 private:
  std::shared_ptr<const SymbolicSystem> system_;
  std::vector<std::size_t> active_;
  std::vector<char> upper_;
  std::unique_ptr<Evaluator> roots_, slopes_;
  Pattern pattern_;  // of the slopes by y and z
  std::vector<double> scratch_, values_, slope_scratch_, slope_values_;
};

}  // namespace hinge
