// Event-driven integration of contacts: smooth motion by any method between events, which are located to round-off.
//
//   smooth motion   in the modes of all contacts (formulation/contact_mode.hpp)
//   events          a gap reaches 0, a reaction reaches 0, a slip velocity reaches 0, a sticking force reaches its cone
//   impact          where a contact closes with a velocity: Newton's or Poisson's law, or one contact after the other
//   next modes      the contact problem of an infinitesimal step h, with the accelerations in the place of velocities:
//                   u = rate + h (H z' + curvature), M z' = b + H^T r/h - G^T psi
//   from rest       with two slip velocities a contact that leaves its cone sets off against the reaction that the
//                   contact problem gives, in a straight line until it is faster than 2 v_stop; then slip has a
//                   direction of its own
//   Zeno's rule     after an impact with u+ < v_stop, while the acceleration presses with b > 0, the impacts that are
//                   left take the time 2 u+/(b (1 - e)), exactly so where b is constant: the contact closes at once,
//                   and that time is noted. What is lost of the motion are heights up to v_stop^2/(2 b), and rounds of
//                   friction: its impulse over these impacts is that of the closed contact.
//   friction's work by quadrature of mu lambda |slip| over the steps, of order 8
//   joints          stops are gaps; dry friction is a contact that never opens, whose mu lambda follows from the
//                   multipliers of its joint (body/joint_contacts.hpp). Where several hold one motion of a closed
//                   chain, each carries the same part kappa of what it can; |kappa| = 1 is the event
//
// Order and conservation between events are those of the base method; any order across impacts. For few contacts, given
// by expressions. Chattering that is not an accumulation, or events that never end, are an error that says so.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "body/joint_contacts.hpp"
#include "formulation/acceleration.hpp"
#include "formulation/contact_mode.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/nonsmooth.hpp"
#include "method/nonsmooth/contact_step.hpp"

namespace hinge {

/// The motion with its events; steps are those of the base method.
class EventDriven {
 public:
  EventDriven(std::shared_ptr<const System> system, const EventDrivenOptions& options, const SolverOptions& solver,
              const StepOptions& steps);

  /// Finds the modes at a state. An impact that happens there changes the velocities.
  StepResult begin(State& state);
  /// To the end of one step of the base method, to an event or to `limit`, whatever comes first.
  StepResult advance(State& state, double limit);
  /// Within the last advance().
  void interpolate(double t, State& state);
  bool begun() const { return begun_; }
  bool has_contacts() const { return motion_.contacts() > 0; }
  void forget() { begun_ = false; }

  const ContactStatistics& statistics() const { return contacts_.statistics; }
  void count(Counters& counters) const;

 private:
  using Modes = std::vector<ContactMode>;
  struct Base {  // of one mode
    std::shared_ptr<const System> system;
    std::unique_ptr<Stepper> stepper;
    std::unique_ptr<Stepper> second;  // to go to times within a step
    std::unique_ptr<Acceleration> acceleration;
    std::unique_ptr<ConstraintProjection> projection;  // where contacts are closed
    std::vector<double> velocity, rate;
  };
  struct Root {
    int contact;
    enum class Kind { gap, reaction, cone, slip, grown } kind;
    bool armed = false;   // has been clearly positive
    bool rising = false;  // began at zero, a gap that opens with a velocity: zero again is an event, however small
    double scale = 0;     // the largest value seen
  };

  Base& base();
  /// Of a key in the list of contacts_.
  int contact_of(std::uint64_t key) const {
    return JointContacts::has(key) ? motion_.gaps() + static_cast<int>(contact::second_collider(key))
                                   : static_cast<int>(key);
  }
  /// What friction presses with: mu lambda of contact i.
  double width(std::size_t i, const ContactMotion::Values& value, const State& mode_state);
  StepResult choose_modes(State& state, const std::vector<int>& opened);
  bool strike(State& state, bool& failed);
  bool decide(const State& state, const std::vector<int>& opened, Modes& modes);
  struct Outcome {  // of the contact problem that decides about modes
    int contact = 0, row = 0, tangents = 0;
    bool slides = false;
    double limit = 0;                // of friction, an impulse
    double r[2] = {}, slip[2] = {};  // friction, and slip behind the step
  };
  double slow() const;
  bool slides(int contact, const ContactMotion::Values& value) const;
  void read_outcomes(const std::vector<int>& closed, double h, const std::vector<ContactMotion::Values>& value);
  ContactMode mode_of(const Outcome& outcome, double rate);
  void leave_to_stops(Modes& modes);
  void share_out(Modes& modes);
  bool note(double t, const std::string& what);
  void make_roots();
  StepResult restart(State& state);
  void stop_slip(State& state);
  void count_friction(double t1);
  bool multipliers(State& mode_state);
  void evaluate_roots(State& mode_state, std::vector<double>& values);
  StepResult propagate(Base& base, const State& from, double t, State& to);
  double level(const Root& root) const;
  int first_event(const std::vector<double>& before, const std::vector<double>& after) const;
  struct Look {  // at one gap
    double t, gap, rate, speed, turn;
  };
  Look look_at(std::size_t root, double t) const;
  void look(double t);
  double dip(std::size_t root, const Look& a, const Look& b, int depth);
  double first_dip();
  int overtaken(int event, const State& there);
  void to_mode(const State& state, State& mode_state);
  void to_user(const State& mode_state, State& state) const;
  StepResult locate(const State& from, double t_before, double t_after, int root, State& at);

  std::shared_ptr<const System> system_;
  EventDrivenOptions options_;
  SolverOptions solver_;
  StepOptions steps_;
  MethodChoice base_method_;
  ContactMotion motion_;
  ContactStep contacts_;
  std::unique_ptr<Evaluation> here_;
  std::map<Modes, Base> bases_;
  Modes modes_;
  std::vector<std::array<double, 2>> directions_;  // of contacts that set off
  std::vector<Outcome> outcomes_;
  std::vector<Root> roots_;
  State mode_state_, before_, probe_, user_;
  Modes step_modes_;  // of the last advance(), and whether an event ended it
  bool begun_ = false, step_ended_by_event_ = false;
  double speed_ = 0;                           // the largest velocity seen: the scale of rounding
  std::vector<Look> start_looks_, end_looks_;  // of all roots
  std::vector<double> values_, start_values_, end_values_, right_, z_, b_, c_, w_, u_;
  int crowded_ = 0, counted_ = 0;  // events without time between them; since counted_from_
  double counted_from_ = 0;
  double last_event_ = 0;
  double counted_until_ = -HUGE_VAL;  // the time up to which friction's work is known
};

}  // namespace hinge
