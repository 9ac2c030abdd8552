// Spins of bodies in space in a step of moreau-jean: the turn that a body makes by itself, angular momentum, and rows
// of contacts that turn along.
#include <algorithm>

#include "method/nonsmooth/moreau_jean.hpp"
#include "solve/index.hpp"

namespace hinge {

void MoreauJean::prepare(const State& state, double h) {
  for (int k = 0; k < nz_; ++k) offset_[at(k)] = (1 - theta_) * state.z[at(k)];
  if (!spins_) return;
  for (const SpinBalance::Body& b : spins_->bodies())
    for (int k = 0; k < 3; ++k) start_[at(b.spin + k)] = b.J[k] * state.z[at(b.spin + k)];
  spins_->midpoint(start_.data(), h, free_.data());
  spins_->turn_back(free_.data(), h, start_.data());
  for (const SpinBalance::Body& b : spins_->bodies()) {
    if (!b.wobbles(state.z.data() + b.spin)) continue;
    for (int k = 0; k < 3; ++k)
      offset_[at(b.spin + k)] = free_[at(b.spin + k)] - theta_ * start_[at(b.spin + k)] / b.J[k];
  }
}

// h ((1 - theta) b0 + theta b1), torques without the gyroscopic one, and what turning does to the momentum of spins.
// For the turn from y0 to y1. `struck`: rows of contacts are those of the start, and so their impulses of the last
// iteration turn with the body.
void MoreauJean::give(const State& state, double h, bool struck) {
  for (int k = 0; k < nz_; ++k) given_[at(k)] = h * ((1 - theta_) * b0_[at(k)] + theta_ * b1_[at(k)]);
  if (!spins_) return;
  std::fill(reaction_.begin(), reaction_.end(), 0.0);
  if (struck) contacts_.add_reaction(contacts_.contact_impulse.data(), 1.0, reaction_.data());
  std::copy_n(reaction_.data(), nz_, start_.data());
  for (const SpinBalance::Body& b : spins_->bodies())
    for (int k = b.spin; k < b.spin + 3; ++k)
      start_[at(k)] += b.J[k - b.spin] * z0_[at(k)] + h * (1 - theta_) * b0_[at(k)];
  spins_->turn_between(state.y.data(), y1_.data(), start_.data());
  for (const SpinBalance::Body& b : spins_->bodies())
    for (int k = b.spin; k < b.spin + 3; ++k)
      given_[at(k)] = start_[at(k)] - b.J[k - b.spin] * z0_[at(k)] - reaction_[at(k)] + h * theta_ * b1_[at(k)];
}

// The rows of contacts over spins, in the axes of the end, for the turn from y0 to y1. Gaps by positions do without:
// they change by what bodies move by, and the axis of a turn is the same at both of its ends.
bool MoreauJean::turn_rows(const State& state) {
  if (!spin_rows_ || options_.gap != GapTreatment::velocity || contacts_.active.empty()) return false;
  contacts_.found().H = unturned_;
  return spin_rows_->turn_between(state.y.data(), y1_.data(), contacts_.found());
}

// Where the iteration ended before rounding: angular momentum all the same.
void MoreauJean::balance_spins(const State& state, double h) {
  const bool velocity = options_.gap == GapTreatment::velocity, any = !contacts_.active.empty();
  give(state, h, any && !velocity);
  if (any && velocity) contacts_.add_reaction(contacts_.contact_impulse.data(), 1.0, reaction_.data());
  for (const SpinBalance::Body& b : spins_->bodies())
    for (int k = b.spin; k < b.spin + 3; ++k)
      z1_[at(k)] = z0_[at(k)] + (given_[at(k)] + reaction_[at(k)]) / b.J[k - b.spin];
}

// give() with the forces in the middle, for the turn of the body that nothing touches
void MoreauJean::give_explicit(double h) {
  for (const SpinBalance::Body& b : spins_->bodies())
    for (int k = b.spin; k < b.spin + 3; ++k) start_[at(k)] = b.J[k - b.spin] * z0_[at(k)];
  spins_->turn_back(free_.data(), h, start_.data());
  for (const SpinBalance::Body& b : spins_->bodies())
    for (int k = b.spin; k < b.spin + 3; ++k)
      given_[at(k)] = start_[at(k)] - b.J[k - b.spin] * z0_[at(k)] + h * b1_[at(k)];
}

}  // namespace hinge
