// What contacts did in a run, as far as the reader should know it: remarks, and what makes the result doubtful. Of the
// whole run, however often the method began anew on the way.
//
//   energy      Contacts take energy: what they gave since they had taken most, sum_k W_k - min_j<k, where that is much
//               of the largest kinetic energy.
//   velocities  A contact problem that is left at a residual e has velocities wrong by about e times its largest |q|.
//               Each such error passes with the step or lasts: what they come to is judged by the sum of all e, each
//               beside the velocities of its own problem, so that one that is fast elsewhere or at another time hides
//               nothing.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "simulate/verdict.hpp"

namespace hinge {

namespace {

constexpr double balance_limit = 1e-6;      // of the momenta of a step; sound runs leave 1e-12
constexpr double penetration_limit = 0.01;  // of the smallest body
constexpr double velocity_limit = 1e-3;     // of the largest velocity of each problem
// Steps with gaps on both levels have a longest one: who makes them is not told to.
bool on_both_levels(const ContactStatistics& c) { return c.longest > 0; }
const char* remedy_of(const ContactStatistics& c) {
  return on_both_levels(c) ? "take a shorter step" : "take a shorter step, or for bodies gap = \"both\"";
}

void doubt_energy(const ContactStatistics& c, std::vector<Doubt>& doubts) {
  constexpr double much = 0.02, some = 1e-3, rounding = 1e-9;
  if (c.kinetic == 0) return;
  const double least = rounding * c.energy_size, created = c.work.rise, given = c.sliding_work;
  if (created > std::max(much * c.kinetic, least))
    doubts.push_back(
        {fmt::format("contacts created energy, as a part of the largest kinetic energy ({:.3g})", c.kinetic),
         created / c.kinetic, remedy_of(c)});
  // What slides or rolls loses by friction in a right solution: what it gains is an error of the steps. (Where
  // impacts meet in a step normal impulses of others may turn the slip that friction opposes.)
  else if (given > std::max(some * c.kinetic, least))
    doubts.push_back({fmt::format("friction gave energy, as a part of the largest kinetic energy ({:.3g})", c.kinetic),
                      given / c.kinetic, remedy_of(c)});
}

// Impulses by the angles that their normals turned by: much where bodies fly about and strike, little where a few
// impacts do so in a heap that is heavy.
void doubt_turns(const ContactStatistics& c, std::vector<Doubt>& doubts) {
  constexpr double some = 0.05;
  if (!(c.turning > some * c.pushed)) return;
  doubts.push_back({"normals of impacts turned within a step, by degrees on the mean of all impulses",
                    c.turning / c.pushed * 180 / std::numbers::pi,
                    fmt::format("take a step of {:.1e} or shorter", 0.8 * some * c.pushed / c.turning * c.longest)});
}

void doubt_solutions(const ContactStatistics& c, std::vector<Doubt>& doubts) {
  if (c.unconverged > 0 && !(c.velocity_left <= velocity_limit))
    doubts.push_back({fmt::format("contact problems not solved to their tolerance ({} of {}): velocities wrong by, in "
                                  "all, as a part of the largest of each problem",
                                  c.unconverged, c.solves),
                      c.velocity_left, "take a shorter step, or another solver"});
}

}  // namespace

void doubt_contacts(const System& system, const ContactStatistics& c, const std::pair<double, double>& gap,
                    double overlap, std::vector<Doubt>& doubts) {
  doubt_energy(c, doubts);
  doubt_turns(c, doubts);
  doubt_solutions(c, doubts);
  if (c.momentum_balance > balance_limit)
    doubts.push_back(
        {"momentum out of balance, relative", c.momentum_balance, "take a shorter step, or another solver"});
  const double body = smallest_body(system);
  if (overlap > penetration_limit * body)
    doubts.push_back(
        {fmt::format("bodies are inside of each other by more than a hundredth of the smallest one ({:.3g})", body),
         overlap,
         on_both_levels(c) ? "take a shorter step" : "take gap = \"both\", the default of bodies, or a shorter step"});
  if (!std::isfinite(body) && system.structure().pairs == 0 && gap.first > penetration_limit * gap.second)
    doubts.push_back(
        {fmt::format("gaps are negative by more than a hundredth of the size of things ({:.3g})", gap.second),
         gap.first, "take a shorter step, or a gap that is treated by positions, which undoes penetration"});
}

std::vector<std::string> contact_remarks(const ContactStatistics& c) {
  std::vector<std::string> list;
  if (c.unconverged > 0)
    list.push_back(fmt::format(
        "{} of {} contact problems were solved less accurately than asked for (residual up to {:.1e}; in all {:.1e})",
        c.unconverged, c.solves, c.complementarity, c.velocity_left));
  if (c.six_digits > 0)
    list.push_back(fmt::format(
        "{} of {} contact problems were solved to six digits and no further (residual up to {:.1e}), which counts as "
        "solved where no solver_tolerance is given",
        c.six_digits, c.solves, c.six_digits_worst));
  if (c.not_unique > 0)
    list.push_back(
        fmt::format("in {} of {} contact problems the reactions are not unique, since more contacts carry than are "
                    "needed; those of least norm are taken, whatever solver is asked for",
                    c.not_unique, c.solves));
  if (c.unsettled > 0)
    list.push_back(fmt::format(
        "in {} steps forces and contacts were not solved together to rounding (velocities to {:.1e}); a shorter step "
        "settles them",
        c.unsettled, c.unsettled_to));
  if (const long impacts = std::max(c.limited, c.limited_rounds); impacts > 0)
    list.push_back(fmt::format(
        "in {} impacts restitution and friction together would have created energy; bodies rebound with less",
        impacts));
  return list;
}

}  // namespace hinge
