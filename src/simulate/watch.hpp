// What a run watches in every step: how well constraints, energy and momenta are kept, and that all of it is numbers.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulation/constraint_rounding.hpp"
#include "hinge/memory.hpp"
#include "simulate/dae_levels.hpp"
#include "simulate/momentum_map.hpp"
#include "simulate/prescribed_motion.hpp"
#include "simulate/reaction_check.hpp"
#include "simulate/start_overlap.hpp"
#include "simulate/step_watch.hpp"
#include "simulate/work_account.hpp"

namespace hinge {

class Watch {
 public:
  /// Conserved quantities at a state.
  struct Values {
    double energy = 0;
    std::vector<double> momenta;
  };

  void add(WatchedMomentum momentum) { momenta_.push_back(std::move(momentum)); }
  /// Forgets what an earlier run has shown.
  void begin(const System& system, const Tolerance& tolerance, const Preserves& preserves, int order);
  /// Takes a state of the motion into account, after a step of h, or of none. Names what is not a number there; then
  /// nothing has changed. The stepper, where there is one, knows what the scheme conserves in the place of the energy.
  const char* see(const State& state, const Stepper* stepper, double h = 0);
  /// The motion has not gone to the end of the last step but to this state within it.
  void set_back(const State& state, const Stepper* stepper);
  /// What single steps have shown.
  StepWatch& step() { return step_; }
  /// At the state that was seen last.
  const Values& seen() const { return seen_; }
  /// At a state between those that were seen, which is shown: the report covers it as far as it is made of numbers.
  const Values& show(const State& state);
  /// For checkpoints: what all steps so far have shown. Then look_again() at the state where it was written.
  void exchange(Memory& memory);
  void look_again(const State& state);
  const std::vector<WatchedMomentum>& momenta() const { return momenta_; }
  void report(Report& report, const Stepper* stepper) const;
  /// Of gaps that are expressions the one that was negative by the largest part of what it compares with: how far it
  /// was, and the widest that it has been, or positions in it where that is less or nothing but rounding.
  /// `ways`: what their terms have changed by in a step, where that is known.
  std::pair<double, double> worst_gap(const std::vector<double>& ways) const { return gaps_.worst(size_, ways); }
  const StartOverlap& overlap() const { return overlap_; }
  /// What makes the motion so far doubtful, after so many steps.
  void doubts(long steps, std::vector<Doubt>& doubts) const;
  /// Of the energy that is gone, impacts and friction took this much: what of the rest?
  void doubt_losses(double taken, std::vector<Doubt>& doubts) const;

 private:
  double rest() const;
  std::string compared() const;
  void measure_rest(const State& state, double h);
  // Gaps that are expressions; a method that does not list a contact would not notice that its gap is undefined.
  struct Gaps {
    std::unique_ptr<ContactFinder> finder;
    ContactList list;
    std::vector<double> values;
    void begin(const System& system);
    int undefined(const State& state);  // the first that is no number; -1: none
    void compare(double size);          // with the state before
    std::pair<double, double> worst(double size, const std::vector<double>& ways) const;
    void measure(const State& state, bool velocity_is_z);  // positions in those that are deeper than ever
    std::vector<double> widest, deepest, positions;        // so far; positions: sum_j |H_j| |y_j|
    std::vector<char> closed;
    bool stay = false;  // are the same ones closed as before, some at least, without friction?
  };
  void evaluate(const State& state, Values& values);
  void begin_judging(Quantities& wanted);
  void measure_energy(const State& state, const Stepper* stepper, double h);
  static bool surfaces_move(const SymbolicSystem& system);
  void add_work_of_belts(const Stepper* stepper, double h);
  void measure_constraints(const State& state, double residual, double h);
  void measure_velocity_constraints(const State& state);
  void measure(const State& state);
  void take(const Values& values);

  const System* system_ = nullptr;
  std::unique_ptr<Evaluation> evaluation_, rows_, velocity_rows_, forces_;
  std::optional<ConstraintRounding> rounding_;
  std::unique_ptr<DaeLevels> levels_;  // of a DAE
  Gaps gaps_;
  StartOverlap overlap_;
  std::string undefined_gap_;
  std::vector<WatchedMomentum> momenta_;
  Values looked_, seen_, shown_;  // looked: perhaps not numbers
  StepWatch step_;
  PrescribedMotion prescribed_;
  ReactionCheck reactions_;
  std::optional<Doubt> mass_, undecided_;  // at the start
  Tolerance tolerance_;
  bool first_ = true;
  double residual_ = 0, rate_ = 0, w_ = 0;  // of the constraints, at the state that was measured last
  double constraint_ = 0, hidden_ = 0, velocity_constraint_ = 0;
  double off_ = 0;             // largest |g_i| / sum_j |G_ij| |y_j|: how far off, as a part of the size of things
  double velocity_off_ = 0;    // the same of w_i and sum_j |W_ij| |z_j|
  double size_ = 0;            // |y|, the largest so far
  std::vector<double> sizes_;  // |y_j|, the largest so far
  bool judges_constraints_ = false;
  bool conserves_ = false, dissipates_ = false;         // the energy should: be kept; or not rise
  bool belts_ = false;                                  // contacts slide on what moves as prescribed
  double kinetic_ = 0, energy_size_ = 0;                // the largest so far
  double stirred_ = -1;                                 // kinetic energy of rounding; negative: not known
  double force_ = 0;                                    // at the start, the sum of all
  std::vector<double> forces_size_, paths_, y_before_;  // of each, the largest at rest; way, with rounding, of each y
  WorkAccount work_;                                    //
  double blows_ = 0;                                    // energy that events and belts have given
  std::optional<double> discrete_before_;               // an event that is due, what the scheme conserves
  double own_ = 0;                                      // energy without what was given
  double excused_ = 0;                                  // energy that bodies may still gain while they are pushed apart
  double lowest_energy_ = 0, energy_created_ = 0, energy_lost_ = 0;
  double time_ = 0, kinetic_time_ = 0, error_time_ = 0;  // integrals over time of 1, p . v/2, |error|
  double dripped_ = 0;  // lost little by little while contacts without friction stay closed, which take none
  double energy0_ = 0, energy_error_ = 0, discrete_energy0_ = 0, discrete_energy_error_ = 0;
};

}  // namespace hinge
