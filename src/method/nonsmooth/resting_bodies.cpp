#include "method/nonsmooth/resting_bodies.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

constexpr int resting_steps = 16;
constexpr double resting_speed = 1e-12;  // of the velocity that a step gives to a free body
constexpr double resting_noise = 0.2;    // times the fastest body: that is what velocities are solved to
constexpr double resting_way = 3.5e-15;  // of coordinates: sixteen times what rounding leaves

// Does the force on each body read numbers of that body alone? Asked of the expressions, and not of their derivatives:
// those of jumps are zero.
bool forces_read_own(const SymbolicSystem& system, const std::vector<int>& body_of_y,
                     const std::vector<int>& body_of_z) {
  constexpr int nobody = -3, several = -2;
  const Equations& eq = system.equations();
  std::vector<int> read(at(eq.graph->size()), nobody);
  for (std::size_t k = 0; k < eq.y.size(); ++k) read[at(eq.y[k])] = body_of_y[k];
  for (std::size_t k = 0; k < eq.z.size(); ++k) read[at(eq.z[k])] = body_of_z[k];
  const auto both = [](int a, int b) { return a == nobody || a == b ? b : b == nobody ? a : several; };
  for (Node n = 0; n < eq.graph->size(); ++n) {
    const Graph::Entry& e = (*eq.graph)[n];
    if (e.op <= Op::variable) continue;
    read[at(n)] = read[at(e.a)];
    for (const Node part : {e.b, e.c})
      if (part >= 0) read[at(n)] = both(read[at(n)], read[at(part)]);
  }
  for (const auto* forces : {&eq.f, &eq.acceleration_force})
    for (std::size_t k = 0; k < forces->size(); ++k)
      if (both(read[at((*forces)[k])], body_of_z[k]) != body_of_z[k]) return false;
  return true;
}

}  // namespace

template <class F>
void RestingBodies::for_positions(std::size_t b, F&& f) const {
  const BodyPlace& place = table_.places[b];
  for (int k = 0; k < table_.dimension; ++k) f(place.x + k, false);
  for (int k = 0; k < (table_.dimension == 2 ? 1 : 4); ++k) f(place.rotation + k, true);
}

template <class F>
void RestingBodies::for_velocities(std::size_t b, F&& f) const {
  const BodyPlace& place = table_.places[b];
  for (int k = 0; k < table_.dimension; ++k) f(place.v + k, false);
  for (int k = 0; k < (table_.dimension == 2 ? 1 : 3); ++k) f(place.spin + k, true);
}

RestingBodies::RestingBodies(const BodyTable& table, const System& system)
    : table_(table),
      count_(table.places.size()),
      size_(std::min(table.smallest(), table.length)),
      body_(at(system.nz()), -1) {
  held_.assign(count_, 0);
  quiet_.assign(count_, 0);
  together_.resize(count_);
  for (std::size_t b = 0; b < count_; ++b) for_velocities(b, [&](int k, bool) { body_[at(k)] = static_cast<int>(b); });
  only_bodies_ = std::find(body_.begin(), body_.end(), -1) == body_.end();
  std::vector<int> owner(at(system.ny()), -1);
  for (std::size_t b = 0; b < count_; ++b) for_positions(b, [&](int k, bool) { owner[at(k)] = static_cast<int>(b); });
  const SymbolicSystem* symbolic = symbolic_part(system);
  apart_ = only_bodies_ && system.nrates() == 0 && symbolic && forces_read_own(*symbolic, owner, body_);
}

bool RestingBodies::all_quiet() const {
  return std::all_of(quiet_.begin(), quiet_.end(), [](int steps) { return steps >= resting_steps; });
}

void RestingBodies::wake_all() {
  if (held_count_ > 0) std::fill(held_.begin(), held_.end(), 0);
  std::fill(quiet_.begin(), quiet_.end(), 0);
  held_count_ = 0;
}

void RestingBodies::begin(const State& state, double h) {
  if (h != step_) wake_all();
  step_ = h;
  if (held_count_ == 0) return;
  bool same = true;
  for (std::size_t b = 0; b < count_ && same; ++b) {
    if (!held_[b]) continue;
    for_velocities(b, [&](int k, bool) { same = same && state.z[at(k)] == 0; });
    for_positions(b, [&](int k, bool) { same = same && state.y[at(k)] == kept_[at(k)]; });
  }
  if (!same) wake_all();
}

bool RestingBodies::holds_contact(const ContactList& l, int i) const {
  for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
    if (!holds(l.column[at(k)])) return false;
  return true;
}

bool RestingBodies::wake_touched(const ContactList& l) {
  if (held_count_ == 0) return false;
  bool woken = false;
  const auto wake = [&](std::size_t b) {
    const int group = together_[b];
    for (std::size_t other = 0; other < count_; ++other)
      if (held_[other] && together_[other] == group) {
        held_[other] = 0;
        quiet_[other] = 0;
        --held_count_;
      }
    woken = true;
  };
  for (bool again = true; again;) {  // who is woken wakes others
    again = false;
    for (int i = 0; i < l.count; ++i) {
      bool held = false, free = false;
      std::size_t who = 0;
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
        const std::size_t b = body(l.column[at(k)]);
        held_[b] ? held = true, who = b : free = true;
      }
      if (!held || !free) continue;
      wake(who);
      again = true;
    }
  }
  return woken;
}

void RestingBodies::note(const State& before, const double* y1, const double* z1, const double* given, double fastest) {
  if (!only_bodies_) return;
  if (from_.empty()) from_ = before.y;
  for (std::size_t b = 0; b < count_; ++b) {
    if (held_[b]) continue;
    const double size = std::max(table_.reach[b], size_);
    double most = resting_noise * fastest, speed = 0;
    for_velocities(b, [&](int k, bool turns) {
      const double unit = turns ? size : 1;
      most = std::max(most, unit * std::abs(given[k]));
      speed = std::max({speed, unit * std::abs(before.z[at(k)]), unit * std::abs(z1[k])});
    });
    bool still = speed <= resting_speed * most;
    for_positions(b, [&](int k, bool turns) {
      const double scale = turns ? 1 : std::max(std::abs(y1[k]), size_);
      still = still && (quiet_[b] == 0 || std::abs(y1[k] - from_[at(k)]) <= resting_way * scale);
    });
    if (still && quiet_[b] == 0) for_positions(b, [&](int k, bool) { from_[at(k)] = y1[k]; });
    quiet_[b] = still ? quiet_[b] + 1 : 0;
  }
}

void RestingBodies::hold(const ContactList& l, State& state) {
  bool any = false;
  for (std::size_t b = 0; b < count_; ++b) any = any || (!held_[b] && quiet_[b] >= resting_steps);
  if (!any) return;
  for (std::size_t b = 0; b < count_; ++b) together_[b] = static_cast<int>(b);
  const auto top = [&](int b) {
    while (together_[at(b)] != b) b = together_[at(b)] = together_[at(together_[at(b)])];
    return b;
  };
  for (int i = 0; i < l.count; ++i)
    for (int k = l.first[at(i)] + 1; k < l.first[at(i) + 1]; ++k)
      together_[at(top(body_[at(l.column[at(k)])]))] = top(body_[at(l.column[at(l.first[at(i)])])]);
  for (std::size_t b = 0; b < count_; ++b) together_[b] = top(static_cast<int>(b));
  std::vector<char>& moves = moves_;  // somebody in the group of this number
  moves.assign(count_, 0);
  for (std::size_t b = 0; b < count_; ++b)
    if (!held_[b] && quiet_[b] < resting_steps) moves[at(together_[b])] = 1;
  for (int i = 0; i < l.count; ++i)
    for (int row = 0; row < l.dimension; ++row)
      if (l.drift[at(i * l.dimension + row)] != 0 && l.first[at(i)] < l.first[at(i) + 1])
        moves[at(together_[body(l.column[at(l.first[at(i)])])])] = 1;
  kept_.resize(state.y.size());
  for (std::size_t b = 0; b < count_; ++b) {
    if (held_[b] || moves[at(together_[b])]) continue;
    held_[b] = 1;
    ++held_count_;
    for_positions(b, [&](int k, bool) { kept_[at(k)] = state.y[at(k)]; });
    for_velocities(b, [&](int k, bool) { state.z[at(k)] = 0; });
  }
}

void RestingBodies::keep_position(const double* from, double* to) const {
  for (std::size_t b = 0; b < count_ && held_count_ > 0; ++b)
    if (held_[b]) for_positions(b, [&](int k, bool) { to[k] = from[k]; });
}

void RestingBodies::clear_velocities(double* z) const {
  for (std::size_t b = 0; b < count_ && held_count_ > 0; ++b)
    if (held_[b]) for_velocities(b, [&](int k, bool) { z[k] = 0; });
}

}  // namespace hinge
