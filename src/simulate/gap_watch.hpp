// What happens between a gap and a step of given length: time stepping looks at gaps where steps begin and end.
//
// - passed: a gap is open at both ends of a step and was not in between. Gaps that are expressions are bounded along
//   the way by interval arithmetic, on the cubic polynomial through both ends, or on the chord where something pushed;
//   of bodies that go further than the thinnest shape is wide, positions on the way are looked at.
// - turned: a contact was struck along the normal that it had at the start of the step, and has another one where it
//   touches (gaps that are expressions).
// - misplaced: a body that rebounds is where the time of its impact, somewhere in the step, would not have it.
// - hurried: a contact rebounds again and again within a few steps; what lies between is no motion.
//
// Of methods that tell their impulses.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "expression/enclosure.hpp"
#include "hinge/simulate.hpp"
#include "system/symbolic.hpp"

namespace hinge {

struct BodyTable;

class GapWatch {
 public:
  void begin(const System& system, bool chosen_steps);
  void see(const State& before, const State& after, const ContactImpulses* impulses);
  void doubts(std::vector<Doubt>& doubts) const;
  /// Of gaps that are expressions, what their terms have changed by in a step at most; empty where nobody looked.
  std::vector<double> ways() const {
    std::vector<double> list;
    for (const Gap& gap : gaps_) list.push_back(gap.way);
    return list;
  }

 private:
  // Of a gap that is an expression, what there has been so far.
  struct Gap {
    double now = 0, widest = 0, fastest = 0, position = 0, way = 0;  // way: what its terms change by in a step
    double misplaced = 0, turning = 0, pushed = 0;
    double impulse = 0, last_impulse = 0;  // of this step and the one before
    double entry = 0, inside = 0;          // what went in unpushed: how fast, since when
  };
  // Of contacts that are struck: by their keys, the last ones.
  struct Strikes {
    std::uint64_t key = 0;
    long last = -1, in_a_row = 0;
    double fastest = 0, room = 0;
  };
  struct Place {
    bool is_time;
    std::size_t index;
  };
  void lay_way(const State& before, const State& after, bool pushed);
  double on_way(std::size_t place, double a, double b, double c) const;
  double gap_at(std::size_t k, double s);
  double bound(std::size_t k, double a, double b);
  void look_for_passes(const State& before, const State& after);
  void note_pass(std::size_t k, double deepest_at, double depth, const State& before, double h);
  void look_at_strikes(const State& before, const State& after, const ContactImpulses& impulses);
  void look_at_struck_gaps(const State& before, const State& after);
  Strikes& strikes_of(std::uint64_t key) { return strikes_[key * 0x9e3779b97f4a7c15u >> 56]; }
  void count_strike(std::uint64_t key, double u0, double u1, double h);
  void follow_bodies(const State& before, const State& after);
  double turn_at_touch(int i, double u0, const State& before, const State& after);
  static double angle(const ContactList& list, const ContactList& other, int i);
  void follow_inside(const State& before, double h);
  void count_pass(std::uint64_t key, double t, double time);
  static double rate(const ContactList& list, int i, const State& s);
  double extent() const;

  const System* system_ = nullptr;
  const BodyTable* table_ = nullptr;
  bool velocity_is_z_ = false;
  long steps_ = 0;
  std::unique_ptr<ContactFinder> finder_;
  std::unique_ptr<Enclosure> enclosure_;
  std::vector<Place> places_;
  std::vector<std::array<double, 4>> way_;  // of each place: control points
  std::vector<Enclosed> variables_;
  std::vector<double> numbers_, values_, y_, low_, high_;
  std::vector<Gap> gaps_;
  ContactList all_, here_, there_;
  std::vector<Strikes> strikes_;  // 256, where there are contacts
  double length_ = 1, thin_ = HUGE_VAL, smallest_ = 0;

  long passes_ = 0, hurried_ = 0;
  double first_pass_ = 0, shortest_pass_ = HUGE_VAL, shortest_flight_ = HUGE_VAL, misplaced_ = 0;
  double longest_step_ = 0;
  std::string passed_;
};

}  // namespace hinge
