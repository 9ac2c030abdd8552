// A system with the branches of its equations frozen, and the root functions that say how far they reach.
#pragma once

#include <memory>
#include <vector>

#include "expression/branches.hpp"
#include "method/wrap/root_watch.hpp"

namespace hinge {

/// All functions of the equations that a motion depends on.
std::vector<Node> functions_of(const Equations& equations);
/// Is there any operation in them that has pieces?
bool has_branches(const Equations& equations);

/// What all pieces of a system share.
struct PieceSource {
  explicit PieceSource(std::shared_ptr<const SymbolicSystem> whole);
  std::shared_ptr<const SymbolicSystem> whole;
  Branches branches;
  std::shared_ptr<RootWatch> roots;  ///< all, with the branches within them as they stand
  /// The sides at a state. Of a root function that has just been passed there: the one it comes to.
  void find_sides(const State& s, Branches::Sides& sides);
  long next_side(std::size_t root, long side, const State& s);

 private:
  std::unique_ptr<RootWatch> arguments_;  // of tables
  std::vector<std::size_t> place_;        // of a root: which of these
};

class SmoothPiece {
 public:
  SmoothPiece(PieceSource& source, const Branches::Sides& sides);

  const std::shared_ptr<const SymbolicSystem>& system() const { return system_; }
  /// Root functions of the motion that bound this piece, by their number among all. The others count as k = 0, 1, ...
  /// here.
  const std::vector<std::size_t>& active() const { return active_; }

  void evaluate(const State& s) { watch_->evaluate(s); }
  /// Is root function k on its other side at the state evaluated last?
  bool is_beyond(std::size_t k) const { return upper_[k] ? value(k) < 0 : value(k) > 0; }
  bool is_any_beyond() const;
  /// How far it is from its root there, in units of what it moves by when all numbers change by their tolerance.
  /// Evaluates derivatives; infinite for functions of t.
  std::vector<double> distances(const State& s, const Tolerance& tolerance);

  Bends bends(const std::vector<State>& samples) const { return watch_->bends(samples); }
  /// Between two states of a motion with these bends: may a function go beyond its root by more than its tolerance, and
  /// come back?
  bool may_return(const State& from, const State& to, const Bends& bends, const Tolerance& tolerance);

 private:
  double value(std::size_t k) const { return (*watch_)[place_[k]]; }
  double reach_from(std::size_t k, const State& s, double least_slope, double largest_slope, double time);

  std::shared_ptr<const SymbolicSystem> system_;
  std::shared_ptr<RootWatch> watch_;
  std::vector<std::size_t> active_, place_;  // place: in the watch
  std::vector<char> upper_;
};

}  // namespace hinge
