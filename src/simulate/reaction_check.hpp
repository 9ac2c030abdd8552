// Are the reactions that a method of given steps shows those of the motion that it shows?
//
// At a state that is given, p_z z' = b + r and C z' + c = 0 determine the reaction r. The method has its own, of the
// step as a whole: it is off by a part that grows with the angle by which the motion turns in a step, and nothing else
// tells of it, since positions and energies may be right. Sizes are compared, sqrt(sum r_i^2 / m_i): what is shown
// should lie between those of both ends of the step. (Directions of methods of order one lag behind by half a step.) At
// few steps: 1, 2, 4, 8, ..., 256, 512, 768, ... Not of [odae], where masses are what anybody likes.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "formulation/acceleration.hpp"
#include "formulation/constraint_rounding.hpp"
#include "hinge/memory.hpp"
#include "hinge/simulate.hpp"

namespace hinge {

class ReactionCheck {
 public:
  /// For steps of given length.
  void begin(const System& system);
  /// Nothing is looked at from now on.
  void end() { system_ = nullptr; }
  /// The state after a step of h, or of none. Allocates nothing. `broken`: something jumped within the step.
  void see(const State& state, double h, bool broken);
  void doubts(std::vector<Doubt>& doubts) const;
  /// For checkpoints.
  void exchange(Memory& memory) { memory(steps_, off_, most_); }

 private:
  static bool looks_at(long step) { return (step & (step - 1)) == 0 || step % 256 == 0; }
  double size(const State& state, const std::vector<double>& psi);
  double momentum_size(const State& state);
  double rounding(const State& state, double h);

  const System* system_ = nullptr;
  std::unique_ptr<Acceleration> acceleration_;
  std::unique_ptr<Evaluation> reaction_, mass_;
  std::optional<ConstraintRounding> known_;
  std::vector<int> diagonal_;  // places of the diagonal in the values of p_z; -1: none
  std::vector<double> v_, a_, psi_;
  double before_ = NAN;  // the size that belongs to the state before
  long steps_ = 0;
  double off_ = 0, most_ = 0;  // the largest difference, and the largest reaction; off: where it is more than rounding
};

}  // namespace hinge
