// Impacts whose normal turns within a step with gaps on both levels: round bodies that fly past each other obliquely,
// or edges that turn. Stage one has the normal of y0 and stage two that of y1, and the impact has that of the moment at
// which they touch. Such a step is made in parts: up to where the gap, as it is seen now, would close, from there on
// again (Newton's method for the time of the impact, from before it where bodies are convex), then over the impact, and
// from there on. A gap that turns out not to close is none.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "collide/narrow.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double much = 0.005,
                 little = 0.001;     // radians, by which a normal turns: in a step, and in one over an impact
constexpr double off = 0.02;         // of the smaller body: half the gap before a step, by which arms of friction are
constexpr double grazes = 1e-3;      // of the velocity at a contact: slower approach does not strike
constexpr double nearly = 1 - 1e-3;  // of the way to an impact

}  // namespace

// The angle between the normal of a contact at y0 and the nearest that its two bodies have at y1.
double MoreauJeanBoth::turn_of(int j) const {
  const ContactList& l = contacts_.list();
  const auto pair = [](std::uint64_t key) { return key >> contact::feature_bits; };
  const double* n = before_.frame.data() + 9 * j;
  double least = HUGE_VAL;
  const std::uint64_t own = pair(before_.key[at(j)]);
  const auto end = l.key.end() - extra_;
  for (auto i = std::lower_bound(l.key.begin(), end, own << contact::feature_bits); i != end && pair(*i) == own; ++i) {
    const double* other = l.frame.data() + 9 * (i - l.key.begin());
    least = std::min(least, std::hypot(n[0] - other[0], n[1] - other[1], n[2] - other[2]));
  }
  return std::min(least, 2.0);
}

// What friction stops or turns back goes less far across than it flies: how much further the bodies would go.
double MoreauJeanBoth::further_across(int j, const double* z0) const {
  constexpr double most = 1e4;
  const int d = before_.dimension;
  double flies[3] = {}, goes[3] = {};
  if (before_.friction[at(j)] == 0) return 1;
  for (int k = before_.first[at(j)]; k < before_.first[at(j) + 1]; ++k) {
    const std::size_t column = at(before_.column[at(k)]);
    for (int row = 1; row < d && !is_spin_[column]; ++row) {
      flies[row] += before_.H[at(k * d + row)] * z0[column];
      goes[row] += before_.H[at(k * d + row)] * zh_[column];
    }
  }
  const double far = std::hypot(flies[1], flies[2]), near = std::hypot(goes[1], goes[2]);
  return std::clamp(far / std::max(near, far / most), 1.0, most);
}

// How long a step of length h may be: h, or less where the normal of an impact turns. Counts what is left of that.
double MoreauJeanBoth::impact_lasts(const State& state, double h) {
  const int d = contacts_.dimension();
  turning_now_ = pushed_now_ = 0;
  if (!contacts_.has_contacts() || d == 1 || recovering_ || before_.frame.size() != 9 * at(before_.count)) return h;
  double lasts = h;
  for (int k = 0; k < nz_; ++k) z_new_[at(k)] = f_[at(k)] / mass_[at(k)];
  for (int j = 0; j < before_.count; ++j) {
    const double gap = before_.gap[at(j)], R = R_[at(j * d)], *u = before_u0_.data() + j * d;
    if (!(R > 0)) continue;
    pushed_now_ += R;
    if (!(gap > 0) || !(u[0] < -grazes * std::hypot(u[0], u[1], d == 3 ? u[2] : 0))) continue;
    const double turn = turn_of(j) * further_across(j, state.z.data());
    turning_now_ += R * turn;
    const bool two = before_.first[at(j) + 1] - before_.first[at(j)] > (d == 2 ? 3 : 6);
    const bool wide = two && before_.friction[at(j)] > 0 && gap > 2 * off * smallest_;
    if (!few_at_start_ || !(wide || turn > (whole_ == h ? much : 2 * little))) continue;
    double a[3];
    row_velocity(before_, j, z_new_.data(), a);
    a[0] -= before_.drift[at(j * d)];
    const double closes = 2 * gap / (-u[0] + std::sqrt(std::max(0.0, u[0] * u[0] - 2 * a[0] * gap)));
    if (closes > h) continue;
    const bool near = !wide && turn * closes <= little * h;
    lasts = std::min(lasts, near ? h * 2 * little / turn : std::min(nearly * closes, 0.9 * h));
  }
  return lasts;
}

}  // namespace hinge
