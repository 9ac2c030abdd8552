// The work of all that has no potential, so that the energy can be judged beside dampers, forces, motors and what
// depends on time. Along a motion, with p_z z' = b + r and the energy H of a Lagrangian, a Hamiltonian or bodies, H_z =
// p_z^T v,
//
//   H' = P,   P = H_t + H_y v + v . (b + r)          (bodies: z in the place of the last v)
//
// r is left out where reactions do no work. H - H(t0) - W is then what no force has done, W being the integral of P
// over all steps: three points of Gauss in each, on the interpolation of methods that have one, else on the cubic
// polynomial through both ends. What Gauss' rule and the mean of its outer points differ by, d of all h |P|, says how
// far W is to be trusted: to h |P| d^2, the order of the rule being three times that of the mean.
//
// Where the equations jump with time, W takes what the energy changes by: a potential that is switched, the impulse of
// a prescribed velocity. Steps that were divided there are integrated part by part.
//
// Multipliers of steps of given length may be of first order only: where reactions do work, those that belong to the
// motion at the ends of a step are computed here.
#pragma once

#include <memory>
#include <vector>

#include "formulation/acceleration.hpp"
#include "hinge/memory.hpp"
#include "hinge/method.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

class WorkAccount {
 public:
  /// Is there anything in the system that does work, and can it be told how much?
  static bool possible(const System& system);
  /// `chosen`: steps have an interpolation.
  void begin(const System& system, bool chosen);
  bool active() const { return system_ != nullptr; }
  /// The motion goes on from this state, with y' = v; no step has led there.
  void restart(const State& state, const double* v);
  /// A step has led from the last state to this one.
  void add(const State& state, const double* v, const Stepper* stepper);
  /// The last step has not gone to its end but to this state.
  void set_back(const State& state, const double* v, const Stepper* stepper);

  /// The numbers of z that have an energy: those of [states] have none.
  const std::vector<int>& rows() const { return rows_; }
  double work() const { return now_.work; }
  double exchanged() const { return now_.exchanged; }  ///< the sum of all |P| h
  double unsure() const { return now_.unsure; }        ///< of the work
  void exchange(Memory& memory) { memory(now_.work, now_.exchanged, now_.unsure); }

 private:
  struct Sums {
    double work = 0, exchanged = 0, unsure = 0;
  };
  struct End {
    State state;
    std::vector<double> v;
  };
  void find_multipliers(End& end);
  void take(const State& state, End& end);
  void go_to(double part, const End& begin, const End& end, bool straight);
  void pass(const End& begin, const End& end, const Stepper* stepper, bool part_of_step);
  const System* system_ = nullptr;
  std::vector<int> rows_;
  StateFunctions power_;
  std::unique_ptr<Acceleration> acceleration_;  // where reactions do work
  std::vector<double> velocity_, rate_, multipliers_;
  End begin_, end_;                       // of the last step
  End broken_[2];                         // before and after a place where the equations jump
  std::unique_ptr<Evaluation> at_break_;  // from the first of these on
  State within_;
  Sums before_, now_;  // before and after it
};

}  // namespace hinge
