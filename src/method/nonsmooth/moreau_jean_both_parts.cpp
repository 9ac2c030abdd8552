// What a step with gaps on both levels does beside its two stages: overlap that stage one could not know of is taken
// back by positions, and steps are made in parts where slip ends.
#include <algorithm>
#include <cmath>
#include <utility>

#include "body/body_table.hpp"
#include "collide/narrow.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

constexpr int most_rounds = 6;                          // of separation
constexpr double rounding_of_points = 4e-15;            // of lengths, in a sum of some
constexpr double slow_rest = 1e-12, same_rest = 2e-14;  // of the velocities that forces give in a step
constexpr double slow_slip = 1e-12;                     // of the smallest body in a step: where it ends does not matter

}  // namespace

// What rounding of the points that joints hold together, g/h, makes of velocities. Where nothing else moves, it is all
// there is, and does not get less. A spin has it over the lever at which it does most, the body's radius of gyration.
double MoreauJeanBoth::rounding_of_joints(const State& state, double h) const {
  if (system_->ng() == 0) return 0;
  double size = 0, turns = 0;
  for (const BodyPlace& place : table_.places)
    size = std::max(size, biggest(state.y.data() + place.x, table_.dimension));
  const Pattern& joints = system_->pattern(Q::constraint_rate_z);
  for (int k = 0; k < joints.row_start[at(system_->ng())]; ++k) {
    const int column = joints.column[at(k)];
    if (!is_spin_[at(column)]) continue;
    size = std::max(size, std::abs(G0_[at(k)]));
    turns = std::max(turns, lever_[at(column)]);
  }
  return rounding_of_points * size / h * std::max(1.0, turns);
}

// What sweeps over many contacts left of H0 zh + gap/h >= 0: pushed apart without friction, as a part of R.
bool MoreauJeanBoth::close_gaps(double h) {
  const int d = contacts_.dimension(), n = static_cast<int>(contacts_.active.size());
  uh_.resize(at(contacts_.rows()));
  contacts_.velocities(zh_.data(), uh_.data());
  missing_.resize(at(n));
  double worst = 0;
  for (int a = 0; a < n; ++a) {
    const int i = contacts_.active[at(a)];
    missing_[at(a)] = uh_[at(a * d)] + w_[at(a * d)] - contacts_.list().drift[at(i * d)];
    worst = std::max(worst, -missing_[at(a)]);
  }
  if (!(worst * h > separation_level * smallest_)) return true;
  if (!contacts_.separate(missing_, z_new_.data())) return true;  // as it was
  for (int k = 0; k < nz_; ++k) zh_[at(k)] += z_new_[at(k)];
  add_first(contacts_.contact_impulse);
  for (int k = 0; k < m_; ++k) joint_[at(k)] += contacts_.joint_impulse[at(k)];
  return true;
}

// How far gaps at y1 are below what the step may leave: zero, and of pairs that overlapped before what is pushed out in
// a step. The rates that are missing; returns the largest length that is.
double MoreauJeanBoth::find_overlap(double h) {
  const ContactList& l = contacts_.list();
  const auto pair = [](std::uint64_t key) { return key >> contact::feature_bits; };
  missing_.resize(at(l.count));
  double worst = 0;
  int j = 0;
  for (int i = 0; i < l.count;) {
    int last = i;
    while (last < l.count && pair(l.key[at(last)]) == pair(l.key[at(i)])) ++last;
    while (j < before_.count && pair(before_.key[at(j)]) < pair(l.key[at(i)])) ++j;
    double old = 0;
    for (; j < before_.count && pair(before_.key[at(j)]) == pair(l.key[at(i)]); ++j)
      old = std::min(old, before_.gap[at(j)]);
    const double allowed = std::min(0.0, old + recover_);
    for (; i < last; ++i) {
      missing_[at(i)] = (l.gap[at(i)] - allowed) / h;
      worst = std::max(worst, allowed - l.gap[at(i)]);
    }
  }
  return worst;
}

// A normal that separates two convex bodies goes on to do so while these do not turn: gaps along it are linear.
void MoreauJeanBoth::hold_spins(ContactList& l) const {
  const int d = l.dimension;
  for (std::size_t k = 0; k < l.column.size(); ++k)
    if (is_spin_[at(l.column[k])]) std::fill_n(l.H.begin() + static_cast<std::ptrdiff_t>(k) * d, d, 0.0);
}

// Contacts at y1 are listed. Not what gaps of curves leave of a step, O(h^2): that is motion; and not what the next
// step pushes out, since angular momentum is kept to the overlap only where bodies are moved.
bool MoreauJeanBoth::separate(const State& state, double h) {
  separated_ = false;
  if (options_.recover >= 0) return true;
  const double t1 = state.t + h, way = whole_ * std::max(fastest_, table_.fastest(zh_.data()));
  const double deep = way * way / (2 * smallest_) + 0.5 * recover_;
  for (int round = 0; round < most_rounds; ++round) {
    if (!(find_overlap(h) > (round == 0 ? deep : 0.01 * deep))) return true;
    const int count = contacts_.list().count;
    for (int i = 0; i < count; ++i) contacts_.active.push_back(i);
    if (m_ == 0) hold_spins(contacts_.found());
    joint_rates_at_end(state, t1);
    matrix_.mass(M_.data(), S_.data());
    ++counters_.factorisations;
    if (!contacts_.factor(S_.data(), (*rates_)[Q::constraint_rate_z])) return false;
    if (!contacts_.separate(missing_, z_new_.data())) {
      contacts_.active.clear();
      return true;
    }
    separated_ = true;
    y_middle_ = y1_;
    system_->move(y_middle_.data(), z_new_.data(), h, y1_.data());
    if (projection_.active() && !projection_.project(t1, y1_.data(), zh_.data(), state.psi.data())) return false;
    contacts_.look(t1, y1_.data(), reach_);
    act_on_surfaces(y1_.data());
    found_position_ = y1_;
  }
  return true;
}

// Has the step changed nothing but rounding, as the one before? Velocities compare with those that a step gives to a
// free body.
void MoreauJeanBoth::note_rest(const State& state, double h) {
  rest_.t = NAN;
  const bool rested = std::exchange(rested_, false);
  if (system_->structure().depends_on_time) return;
  double given = 0;
  for (int k = 0; k < nz_; ++k) {
    z_new_[at(k)] = h * f_[at(k)] / mass_[at(k)];
    given = std::max(given, std::abs(z_new_[at(k)]));
  }
  if (contacts_.has_contacts()) resting_.note(state, y1_.data(), z1_.data(), z_new_.data(), fastest_);
  for (int k = 0; k < nz_; ++k)
    if (!(std::abs(state.z[at(k)]) <= slow_rest * given && std::abs(z1_[at(k)] - state.z[at(k)]) <= same_rest * given))
      return;
  const double same = 2e-16 * std::min(1.0, table_.length);
  for (int k = 0; k < ny_; ++k)
    if (!(std::abs(y1_[at(k)] - state.y[at(k)]) <= same)) return;
  rested_ = true;
  if (!rested) return;
  y1_ = state.y;
  z1_ = state.z;
  rest_ = state;
  rest_.t = h;
}

// Bodies that a step has left where they were, as those before it: joints and forces between bodies let all rest, or
// nobody.
void MoreauJeanBoth::hold_resting(State& state, double h) {
  if (!contacts_.has_contacts() || system_->structure().depends_on_time) return;
  if (resting_.apart())
    resting_.hold(contacts_.list(), state);
  else if (resting_.all_quiet())
    std::fill(state.z.begin(), state.z.end(), 0.0);
  if (!(resting_.apart() ? resting_.all_held() : resting_.all_quiet())) return;
  rest_ = state;
  rest_.t = h;
}

bool MoreauJeanBoth::rests_still(const State& state, double h) const {
  return rest_.t == h && state.z == rest_.z && state.y == rest_.y;
}

// The contacts at y0 once more, for a shorter step.
void MoreauJeanBoth::list_again(const State& state) {
  std::swap(before_, contacts_.found());
  listed_time_ = state.t;
  listed_position_ = found_position_ = state.y;
  listed_reach_ = reach_before_;
}

// How long slip lasts in the step as it was found: h, or the time of the first contact whose slip ends before. Friction
// until then is that of sliding, and so slip falls linearly, but for what forces change within a step. Steps in which
// something strikes have order 1 whatever they do, and are left whole.
double MoreauJeanBoth::slip_lasts(double h) {
  const int d = contacts_.dimension();
  if (!contacts_.has_contacts() || d == 1 || !contacts_.few()) return h;
  const double slow = slow_slip * smallest_ / h, strikes = -1e-6 * std::max(fastest_, slow);
  double lasts = h;
  struct {
    double taken = 0, possible = 0, speed = 0, pull = 0;
  } stuck;
  for (int k = 0; k < nz_; ++k) z_new_[at(k)] = f_[at(k)] / mass_[at(k)];
  uh_.resize(at(contacts_.rows()));
  contacts_.velocities(z1_.data(), uh_.data());
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int k = static_cast<int>(a) * d, i = contacts_.active[a], j = partners_[at(i)].before;
    if (u0_[at(k)] < strikes) return h;
    if (j < 0 || !(contacts_.contact_impulse[at(k)] > 0) || contacts_.list().friction[at(i)] == 0) continue;
    double square = 0, along = 0, all = 0, middle = 0, uh[3];
    row_velocity(before_, j, zh_.data(), uh);
    for (int row = 1; row < d; ++row) {
      const double u0 = before_u0_[at(j * d + row)];
      square += u0 * u0;
      along += u0 * uh_[at(k + row)];
      all += uh_[at(k + row)] * uh_[at(k + row)];
      middle += u0 * (uh[row] + drift_[at(j * d + row)] / 2);
    }
    const double speed = std::sqrt(square);
    if (!(speed > slow)) continue;
    along /= speed, middle /= speed;
    // it slides on, or has turned aside
    if (along > 1e-9 * speed || all - along * along > 0.01 * square) continue;
    const bool slides = middle > 0.05 * speed || middle < -1e-9 * speed;
    if (slides && middle < speed) lasts = std::min(lasts, h / 2 * speed / (speed - middle));
    if (slides) continue;
    row_velocity(before_, j, z_new_.data(), uh);
    double pull = 0;
    for (int row = 1; row < d; ++row) {
      pull += (uh[row] - before_.drift[at(j * d + row)]) * before_u0_[at(j * d + row)] / speed;
      stuck.taken -= R_[at(j * d + row)] * before_u0_[at(j * d + row)] / speed;
    }
    stuck.possible += before_.friction[at(j)] * R_[at(j * d)];
    stuck.speed = speed;
    stuck.pull = pull;
  }
  // Over before the middle: what friction did until then is known, and what it can do.
  const double stopped = stuck.speed + h / 2 * stuck.pull;
  if (stuck.possible > 0) {
    const double slowing = stopped / (h / 2) * (stuck.possible / stuck.taken) - stuck.pull;
    const double found = stopped > 0 && stuck.taken > 0 && slowing > 0 ? stuck.speed / slowing : 0.4 * h;
    lasts = std::min(lasts, std::clamp(found, 0.01 * h, 0.5 * h));
  }
  return lasts;
}

}  // namespace hinge
