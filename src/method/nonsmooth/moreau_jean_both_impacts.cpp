// Impacts of a step with gaps on both levels.
//
// A contact that closes within a step does so at t0 + s h, with a velocity that forces have changed since t0:
//
//   gap + s h u0 + (s h)^2 a/2 = 0,     u- = u0 + s h a,     so that  u-^2 = u0^2 - 2 a gap
//
// where h a is what forces, joints and contacts that carry already do to it in a step. The way of the step, h zh, ends
// where the gap is closed, and forces do the work a gap on it: with u1 = -e u- an impact takes (1 - e^2) u-^2/2 per
// mass, and with e = 1 nothing. With u0 in the place of u- each impact would take a gap more, which falls with the
// step, but has one sign. The law of impacts is about all contacts at once, so that z- is needed: z0 + s h a, with one
// s for bodies that touch each other, the mean of their impacts, weighted by what it changes in their energies.
#include <algorithm>
#include <cmath>

#include "body/body_table.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "method/nonsmooth/rebound_part.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

// h a in z_new_: what a step does to z0 with contacts that do not strike. Of joints, which turn z0 anyway, what it does
// more than without forces. False where it is not found.
bool MoreauJeanBoth::carried(const State& state, double h, const double* G1) {
  const int d = contacts_.dimension();
  for (int k = 0; k < nz_; ++k) turned_[at(k)] = h * f_[at(k)];
  if (spins_) spins_->turn_between(state.y.data(), y1_.data(), turned_.data());
  const std::vector<int>& all = struck_active_ = contacts_.active;
  contacts_.again();
  for (std::size_t a = 0; a < all.size(); ++a)
    if (!(u0_[a * at(d)] < -slow_[a])) contacts_.active.push_back(all[a]);
  bool good = true;
  if (m_ == 0 && contacts_.active.empty()) {
    for (int k = 0; k < nz_; ++k) z_new_[at(k)] = turned_[at(k)] / mass_[at(k)];
  } else {
    w_.resize(std::max(w_.size(), at(contacts_.rows())));
    for (int k = 0; k < contacts_.rows(); ++k)
      w_[at(k)] = contacts_.list().drift[at(contacts_.active[at(k / d)] * d + k % d)];
    const auto solve = [&](double forces, std::vector<double>& z) {
      std::vector<double>& p = p_of_impact_;
      p.resize(at(nz_));
      for (int k = 0; k < nz_; ++k) p[at(k)] = mass_[at(k)] * free_[at(k)] + forces * turned_[at(k)];
      return contacts_.solve(p.data(), c_.data(), w_.data(), z.data());
    };
    std::copy_n(free_.data(), nz_, z1_.data());
    contacts_.use_least_norm(false);
    good = contacts_.factor(S_.data(), G1) && (m_ == 0 || solve(0, z1_)) && solve(1, z_new_);
    for (int k = 0; k < nz_; ++k) z_new_[at(k)] -= z1_[at(k)];
    contacts_.use_least_norm(true);
    contacts_.failure.clear();
  }
  contacts_.again();
  contacts_.active = all;
  return good && all_finite(z_new_.data(), nz_);
}

// Velocities that move bodies which touch or are joined have one number.
void MoreauJeanBoth::find_islands() {
  island_.resize(at(nz_));
  for (int k = 0; k < nz_; ++k) island_[at(k)] = k;
  const auto top = [&](int k) {
    while (island_[at(k)] != k) k = island_[at(k)] = island_[at(island_[at(k)])];
    return k;
  };
  const auto join = [&](int a, int b) { island_[at(top(a))] = top(b); };
  const int spins = table_.dimension == 2 ? 1 : 3;
  for (const BodyPlace& place : table_.places) {
    for (int k = 1; k < table_.dimension; ++k) join(place.v + k, place.v);
    for (int k = 0; k < spins; ++k) join(place.spin + k, place.v);
  }
  const ContactList& l = contacts_.list();
  for (const int i : contacts_.active)
    for (int k = l.first[at(i)] + 1; k < l.first[at(i) + 1]; ++k) join(l.column[at(k)], l.column[at(l.first[at(i)])]);
  const Pattern& joints = system_->pattern(Q::constraint_rate_z);
  for (int i = 0; i < m_; ++i)
    for (int k = joints.row_start[at(i)] + 1; k < joints.row_start[at(i) + 1]; ++k)
      join(joints.column[at(k)], joints.column[at(joints.row_start[at(i)])]);
  for (int k = 0; k < nz_; ++k) island_[at(k)] = top(k);
}

// free_ <- z0 on the joints of y1, where carried() has put it into z1_, with the kinetic energy that it had.
void MoreauJeanBoth::turn_with_joints() {
  share_.assign(at(2 * nz_), 0.0);
  for (int k = 0; k < nz_; ++k) {
    share_[at(2 * island_[at(k)])] += mass_[at(k)] * free_[at(k)] * free_[at(k)];
    share_[at(2 * island_[at(k)] + 1)] += mass_[at(k)] * z1_[at(k)] * z1_[at(k)];
  }
  for (int k = 0; k < nz_; ++k) {
    const double *energy = share_.data() + 2 * island_[at(k)], before = energy[0], now = energy[1];
    if (now > 0) free_[at(k)] = std::sqrt(before / now) * z1_[at(k)];
  }
}

// free_ <- z-, and u0_ with it
void MoreauJeanBoth::approach(const State& state, double h, const double* G1) {
  const ContactList& l = contacts_.list();
  const int d = contacts_.dimension(), n = static_cast<int>(contacts_.active.size());
  bool rebounds = false;
  for (int a = 0; a < n; ++a)
    rebounds = rebounds || (u0_[at(a * d)] < -slow_[at(a)] && l.restitution[at(contacts_.active[at(a)])] > 0);
  if (!rebounds || !carried(state, h, G1)) return;
  find_islands();
  if (m_ > 0) turn_with_joints();
  share_.assign(at(2 * nz_), 0.0);
  for (int a = 0; a < n; ++a) {
    const int i = contacts_.active[at(a)];
    if (!(u0_[at(a * d)] < -slow_[at(a)])) continue;
    double u = l.drift[at(i * d)], way = u, ha = 0, lightness = 0;
    for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
      const double H = l.H[at(k * d)];
      const int column = l.column[at(k)];
      u += H * free_[at(column)];
      way += H * zh_[at(column)];
      ha += H * z_new_[at(column)];
      lightness += H * H / mass_[at(column)];
    }
    if (!(u < 0)) continue;  // along these rows
    const int j = partners_[at(i)].before;
    const double rate = std::max(0.0, j < 0 ? l.gap[at(i)] / h - way : before_.gap[at(j)] / h);  // the gap at y0
    const double s = std::min(1.0, 2 * rate / (std::sqrt(std::max(0.0, u * u - 2 * ha * rate)) - u));
    const double weight = lightness > 0 ? std::abs(u * ha) / lightness : 0;
    const int island = island_[at(l.column[at(l.first[at(i)])])];
    share_[at(2 * island)] += weight * s;
    share_[at(2 * island + 1)] += weight;
  }
  for (int k = 0; k < nz_; ++k) {
    const double *sum = share_.data() + 2 * island_[at(k)], weight = sum[1];
    if (weight > 0) free_[at(k)] += sum[0] / weight * z_new_[at(k)];
  }
  contacts_.velocities(free_.data(), u0_.data());
}

// Impacts apart from the forces, with z- as the velocity before them: Poisson's or sequential ones are given to right_,
// of rounds it is what they demand. Where nothing strikes there is no restitution: surfaces that curve towards a body
// that slides along them do not kick it. S and G1 are factorised then.
bool MoreauJeanBoth::strike(const State& state, double h, const double* G1) {
  const int d = contacts_.dimension(), n = static_cast<int>(contacts_.active.size());
  struck_.assign(at(contacts_.rows()), 0.0);
  rebound_.assign(at(n), 0.0);
  // What approaches more slowly than forces on its two bodies make it in a thousandth of the step rests: its rebound is
  // not seen, and every step of a heap at rest would take as many problems as an impact.
  const ContactList& l = contacts_.list();
  const double least = slow_approach * table_.fastest(free_.data());
  slow_.resize(at(n));
  bool any = false;
  for (int a = 0; a < n; ++a) {
    const auto i = at(contacts_.active[at(a)]);
    double given = 0;
    for (int k = l.first[i]; k < l.first[i + 1]; ++k) {
      const auto column = at(l.column[at(k)]);
      given += std::abs(l.H[at(k * d)] * f_[column] / mass_[column]);
    }
    slow_[at(a)] = std::max(least, resting_approach * h * given);
    any = any || u0_[at(a * d)] < -slow_[at(a)];
  }
  strikes_ = any;
  start_z_ = free_;
  start_u0_.resize(u0_.size());
  contacts_.velocities(free_.data(), start_u0_.data());
  if (any) approach(state, h, G1);
  if (any && options_.impact == ImpactLaw::rounds && !contacts_.rounds(S_.data(), G1, free_.data(), rebound_))
    return false;
  const bool poisson = options_.impact == ImpactLaw::poisson;
  const bool at_once = any && (poisson || options_.impact == ImpactLaw::sequential);
  contacts_.use_dense(at_once);
  const bool factored = contacts_.factor(S_.data(), G1);
  contacts_.use_dense(false);
  if (!factored || !at_once) return factored;
  std::copy_n(free_.data(), nz_, z1_.data());
  if (!(poisson ? contacts_.poisson(z1_.data(), struck_)
                : contacts_.sequential(options_.last_first, z1_.data(), struck_)))
    return false;
  for (int k = 0; k < nz_; ++k) right_[at(k)] += mass_[at(k)] * (z1_[at(k)] - free_[at(k)]);
  return true;
}

// Joints have impulses of an impact along rows of y0 and of y1, too, G0^T S + G1^T (s - S), but hold along rows of y1.
// So that the energy of a mechanism is that of the law, T0 + h f.zh and what rounds take, its rebound is a little
// faster or slower.
bool MoreauJeanBoth::match_energy(double h) {
  constexpr int most = 4;
  constexpr double enough = 1e-9, furthest = 0.5;
  if (m_ == 0 || !rebounding_ || options_.impact != ImpactLaw::rounds || island_.empty()) return true;
  const ContactList& l = contacts_.list();
  const int d = contacts_.dimension(), n = static_cast<int>(contacts_.active.size());
  struct Island {
    double target = 0, size = 0, rate = 0, scale = 1, last = 0;
  };
  std::vector<Island> islands(at(nz_));
  for (int k = 0; k < nz_; ++k) {
    Island& one = islands[at(island_[at(k)])];
    const double z0 = start_z_[at(k)], z2 = contacts_.after_rounds[at(k)], z = free_[at(k)];
    one.target += mass_[at(k)] / 2 * (z0 * z0 + z2 * z2 - z * z) + h * f_[at(k)] * zh_[at(k)];
    one.size += mass_[at(k)] / 2 * z0 * z0;
  }
  const auto island_of = [&](int a) -> Island& {
    return islands[at(island_[at(l.column[at(l.first[at(contacts_.active[at(a)])])])])];
  };
  for (int a = 0; a < n; ++a) {
    const double e = l.restitution[at(contacts_.active[at(a)])];
    island_of(a).rate += rebound_[at(a)] * contacts_.contact_impulse[at(a * d)] * e / (1 + e);
  }
  const std::vector<double> rebound = rebound_;
  for (int turn = 0; turn < most; ++turn) {
    bool changes = false;
    for (Island& one : islands) one.last = -one.target;
    for (int k = 0; k < nz_; ++k) islands[at(island_[at(k)])].last += mass_[at(k)] / 2 * z1_[at(k)] * z1_[at(k)];
    for (Island& one : islands) {
      if (!(one.rate > 0) || !(std::abs(one.last) > enough * one.size)) continue;
      one.scale = std::clamp(one.scale - one.last / one.rate, 1 - furthest, 1 + furthest);
      changes = true;
    }
    if (!changes) return true;
    for (int a = 0; a < n; ++a) rebound_[at(a)] = island_of(a).scale * rebound[at(a)];
    demand_of_velocities(1);
    if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z1_.data())) return false;
  }
  return true;
}

// `part` of the rebound that rounds of impacts demand
void MoreauJeanBoth::demand_of_velocities(double part) {
  const ContactList& l = contacts_.list();
  const int d = l.dimension;
  w_.resize(std::max(w_.size(), at(contacts_.rows())));
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int i = contacts_.active[a], k = static_cast<int>(a) * d;
    const double e = l.restitution[at(i)];
    for (int row = 0; row < d; ++row) w_[at(k + row)] = l.drift[at(i * d + row)];
    for (int row = 1; row < d; ++row) w_[at(k + row)] += slip_[at(k + row)];
    w_[at(k)] -= part * rebound_[a];
    if (u0_[at(k)] >= 0) continue;
    if (options_.impact == ImpactLaw::newton) w_[at(k)] += e * u0_[at(k)];
    if (options_.impact == ImpactLaw::moreau)
      for (int row = 0; row < d; ++row) w_[at(k + row)] += e * u0_[at(k + row)];
  }
}

// Restitution and friction together may create energy, sum r.(u0 + u1)/2 > 0. Then as much of the rebound is taken as
// creates none.
bool MoreauJeanBoth::limit_rebound() {
  const int rows = contacts_.rows();
  if (contacts_.dimension() == 1 || biggest(rebound_) == 0) return true;
  const std::vector<double>& friction = contacts_.list().friction;
  if (std::none_of(contacts_.active.begin(), contacts_.active.end(), [&](int i) { return friction[at(i)] > 0; }))
    return true;
  uh_.resize(at(rows));
  const auto created = [&] {
    contacts_.velocities(z1_.data(), uh_.data());
    double gain = 0, size = 0;
    for (int k = 0; k < rows; ++k) {
      const double r = contacts_.contact_impulse[at(k)];
      gain += r * (u0_[at(k)] + uh_[at(k)]) / 2;
      size += std::abs(r * u0_[at(k)]);
    }
    return gain - 1e-10 * size;
  };
  const double whole = created();
  if (!(whole > 0)) return true;
  ++contacts_.statistics.limited;
  const auto take = [&](double part) {
    demand_of_velocities(part);
    return contacts_.solve(right_.data(), c_.data(), w_.data(), z1_.data());
  };
  const std::optional<double> part =
      largest_rebound(whole, [&](double some) { return take(some) ? std::optional(created()) : std::nullopt; });
  return part && take(*part);
}

}  // namespace hinge
