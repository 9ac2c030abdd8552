// How well steps of given length follow what constraints prescribe.
//
// - Methods that do not keep g_t + G v = 0 leave a part of the velocities: off what the constraints say.
// - A constraint that depends on time moves coordinates as it likes. With positions on it and velocities along it the
//   rule y1 - y0 = h (y0' + y1')/2 is off by (w h)^2/12 of h |y'|, w being its frequency: what a method of order two
//   makes of everything else is off by as much in every period.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hinge/memory.hpp"
#include "hinge/method.hpp"
#include "hinge/simulate.hpp"

namespace hinge {

class PrescribedMotion {
 public:
  /// For steps of given length, of a method of this order. Adds what it needs to `wanted`.
  void begin(const System& system, const Preserves& preserves, int order, Quantities& wanted);
  /// Nothing is looked at from now on.
  void end() { *this = PrescribedMotion(); }
  /// The state after a step of h, or of none, with the wanted quantities there. `broken`: something jumped within it.
  void see(const State& state, const Evaluation& at, double h, bool broken);
  void doubts(std::vector<Doubt>& doubts) const;
  /// For checkpoints.
  void exchange(Memory& memory);

 private:
  struct Part {  // the largest so far
    double off = 0, size = 0;
  };
  void measure_rows(const State& state, const double* rates, double h);
  double position_size(std::size_t row, const State& state) const;
  void measure_coordinates(const State& state, const double* v, double h);

  const System* system_ = nullptr;
  std::unique_ptr<Evaluation> rows_at_, positions_at_;
  std::vector<char> by_time_;                 // constraints that depend on time
  std::vector<std::pair<int, int>> vectors_;  // the vector that each number of z belongs to
  std::vector<Part> rows_;  // g_t + G v where it is more than rounding, and sum_j |H_ij| |z_j|, of vectors their length
  std::vector<int> driven_;     // coordinates in constraints that depend on time
  double drive_off_ = 0;        // what of the velocity the rule may be off by
  std::vector<Part> movement_;  // of these: defect of the rule, as a velocity, and |y'|
  std::vector<double> y_, v_;   // of these, before the step
};

}  // namespace hinge
