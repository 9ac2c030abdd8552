// Where steps of given length lead in time: a method that keeps the energy within bounds may still be ahead of the
// motion, or behind it, by a little in every step.
//
// At some places the step from a to b is made once more in halves, which lead to b'. With positions and velocities in
// units of how far each go during the run, what b is off along the motion is fitted by
//
//   (b - b', b - a) = m |b - a|^2_y + n |b - a|^2_z
//
// over these places; on an oscillator Verlet's method has m = (wh)^2/6, n = -(wh)^2/12 against the motion, and 3/4 of
// them against b'. Methods of order 1, whose error turns round with the motion, are not of this form. Over all steps
// that adds up: at the end the motion is off by (m S_y + n S_z)/(S_y + S_z) times the whole way, S being sums over all
// steps.
//
// For closed systems: what is driven or damped forgets, or is held in step by what drives it. One step is compared with
// one that begins anew as well: methods that remember earlier steps say nothing here.
#pragma once

#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

class PhaseWatch {
 public:
  /// `resolved`: steps are chosen for a tolerance, and nothing is watched.
  void begin(const System& system, bool resolved, int order);
  /// So many steps are to come.
  void expect(long steps);
  /// Shall the step after so many steps be looked at? Not where steps turn so little that nothing can add up.
  bool asks_anew() const { return seen_.size() < 2; }
  bool due(long done);
  /// A step from a to b; where it leads when it is made anew (null: not asked), and in halves (null: nowhere).
  void see(const State& a, const State& b, const State* anew, const State* halves);
  /// Every step.
  void add(const State& a, const State& b);
  void doubts(std::vector<Doubt>& doubts) const;

 private:
  struct Place {
    double off[2] = {0, 0}, square[2] = {0, 0};  // (b - b', b - a) and |b - a|^2, of y and of z
  };
  bool active_ = false, remembers_ = false;
  int order_ = 0;
  std::size_t split_ = 0;  // numbers of y
  long steps_ = 0;
  std::vector<long> places_;
  std::size_t next_ = 0;
  std::vector<Place> seen_;
  std::vector<double> last_;  // change of y in the last step
  bool begun_ = false;
  double turned_ = 0;        // sum of squares of what changes of y change by
  double sums_[2] = {0, 0};  // of |b - a|^2, y and z
  std::vector<double> low_, high_;
};

}  // namespace hinge
