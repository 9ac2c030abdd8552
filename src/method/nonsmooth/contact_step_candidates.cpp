// Which of the contacts nearby a step is solved with. One fast body widens the band in which they are looked for, and
// then most of them are neither closed nor about to close: r = 0 there, and the others' solution is the whole one as
// long as these stay open. So a step begins with those that may close, and those that it would have crossed take part
// when it is made once more.
#include <algorithm>
#include <cmath>

#include "method/nonsmooth/contact_step.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double way_factor = 2;  // times the way that bodies would go

}  // namespace

void ContactStep::keep_candidates(double h, double margin, const double* z0, const double* z1) {
  const ContactList& l = list();
  std::size_t count = 0, old = 0;
  for (const int i : active) {
    double u[2] = {l.drift[at(i * d_)], l.drift[at(i * d_)]};
    for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
      u[0] += l.H[at(k * d_)] * z0[l.column[at(k)]];
      u[1] += l.H[at(k * d_)] * z1[l.column[at(k)]];
    }
    while (old < last_keys_.size() && last_keys_[old] < l.key[at(i)]) ++old;
    const bool carried = old < last_keys_.size() && last_keys_[old] == l.key[at(i)] && last_impulse_[old * at(d_)] > 0;
    if (carried || l.gap[at(i)] + way_factor * h * std::min({0.0, u[0], u[1]}) <= margin) active[count++] = i;
  }
  active.resize(count);
}

bool ContactStep::add_crossed(const std::vector<double>& gap_at_end, double eps, bool all) {
  bool any = false;
  std::size_t next = 0;
  was_active_ = active;
  active.clear();
  for (int i = 0; i < list().count; ++i) {
    const double gap = gap_at_end[at(i)];
    const bool was = next < was_active_.size() && was_active_[next] == i, crossed = !was && gap < -eps;
    if (was) ++next;
    any = any || crossed;
    if (was || crossed || (all && gap < HUGE_VAL)) active.push_back(i);
  }
  if (any)
    solved_ = false;
  else
    active.swap(was_active_);
  return any;
}

}  // namespace hinge
