// Contacts in a step of moreau-jean: impacts that are treated apart from forces, velocities without what pushes bodies
// out of each other, and what is counted of a step.
#include <algorithm>
#include <cmath>

#include "body/body_table.hpp"
#include "method/nonsmooth/moreau_jean.hpp"
#include "method/nonsmooth/rebound_part.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

// z0 after the impacts of a law that treats them apart from the forces; of rounds what they demand
bool MoreauJean::strike(const State& state) {
  std::copy_n(state.z.data(), nz_, z0_.data());
  struck_.assign(at(contacts_.rows()), 0.0);
  rebound_.assign(contacts_.active.size(), 0.0);
  const bool apart = options_.impact == ImpactLaw::poisson || options_.impact == ImpactLaw::sequential ||
                     options_.impact == ImpactLaw::rounds;
  if (!apart || options_.gap != GapTreatment::velocity || contacts_.active.empty()) return true;
  const int d = contacts_.dimension();
  if (std::none_of(contacts_.active.begin(), contacts_.active.end(),
                   [&, k = 0](int) mutable { return u0_[at(d * k++)] < 0; }))
    return true;
  matrix_.mass(M_.data(), S_.data());
  if (options_.impact == ImpactLaw::rounds) return contacts_.rounds(S_.data(), G0_.data(), state.z.data(), rebound_);
  if (!contacts_.factor(S_.data(), G0_.data())) return false;
  return options_.impact == ImpactLaw::poisson ? contacts_.poisson(z0_.data(), struck_)
                                               : contacts_.sequential(options_.last_first, z0_.data(), struck_);
}

// Restitution and friction together may create energy, sum r.(u0 + u1)/2 > 0. Then as much of the rebound is taken as
// creates none.
bool MoreauJean::limit_rebound(const State& state, double h) {
  if (contacts_.dimension() == 1 || biggest(rebound_.data(), static_cast<int>(rebound_.size())) == 0) return true;
  const auto created = [&] {
    w_.resize(std::max(w_.size(), at(contacts_.rows())));
    contacts_.velocities(z1_.data(), w_.data());
    contacts_.add_end_drift(w_.data());
    double gain = 0, size = 0;
    for (int k = 0; k < contacts_.rows(); ++k) {
      const double r = contacts_.contact_impulse[at(k)];
      gain += r * (u0_[at(k)] + w_[at(k)]) / 2;
      size += std::abs(r * u0_[at(k)]);
    }
    return gain - 1e-10 * size;
  };
  const double gained = created();
  if (!(gained > 0)) return true;
  ++contacts_.statistics.limited;
  const std::vector<double> whole = rebound_;
  const auto take = [&](double part) {
    for (std::size_t k = 0; k < whole.size(); ++k) rebound_[k] = part * whole[k];
    return solve(state, h);
  };
  const std::optional<double> part =
      largest_rebound(gained, [&](double some) { return take(some) ? std::optional(created()) : std::nullopt; });
  return part && take(*part);
}

// Penetration has been pushed out by positions: velocities as if there were none. After the last problem of the step.
bool MoreauJean::velocities_alone(const State& state, double h) {
  if (options_.recover >= 0 || !bodies_ || options_.gap == GapTreatment::velocity || contacts_.active.empty())
    return true;
  const ContactList& l = contacts_.list();
  const int d = contacts_.dimension();
  // What problems leave that are not solved to rounding, and what gaps of curves leave of a step, is no penetration.
  const double way = h * bodies_of(*system_)->fastest(state.z.data()), size = recover_ / pushed_out_per_step;
  const double deep = std::max(1e-9 * contacts_.finder().length_scale(), 0.01 * recover_ + way * way / (2 * size));
  bool any = false;
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int i = contacts_.active[a];
    if (l.gap[at(i)] >= -deep || !(contacts_.contact_impulse[a * at(d)] > 0)) continue;
    any = true;
    w_[a * at(d)] = l.drift[at(i * d)];
  }
  if (!any) return true;
  if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z_new_.data())) return false;
  z1_.swap(z_new_);
  // what turns with bodies in space, of the impulses as they are now
  for (int again = 0; again < 3 && spins_ && m_ > 0 && implicit_; ++again) {
    std::copy_n(given_.data(), nz_, z_new_.data());
    give(state, h, true);
    for (int k = 0; k < nz_; ++k) right_[at(k)] += given_[at(k)] - z_new_[at(k)];
    if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z_new_.data())) return false;
    z1_.swap(z_new_);
  }
  return true;
}

// Does the step lead through a contact that took no part in it? Then it does, when the step is made once more.
bool MoreauJean::crosses(const State& state, double h, bool all) {
  const ContactList& l = contacts_.list();
  if (!bodies_ || options_.gap == GapTreatment::velocity || static_cast<int>(contacts_.active.size()) == l.count)
    return false;
  const int d = contacts_.dimension();
  end_gaps_.resize(at(l.count));
  if (options_.gap == GapTreatment::nonlinear) {
    contacts_.finder().gaps(state.t + h, y1_.data(), l, end_gaps_.data());
  } else {
    for (int i = 0; i < l.count; ++i) {
      double u = l.drift[at(i * d)];
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
        u += l.H[at(k * d)] * (z1_[at(l.column[at(k)])] + (spins_ ? offset_[at(l.column[at(k)])] : 0));
      end_gaps_[at(i)] = l.gap[at(i)] + h * u;
    }
  }
  if (!contacts_.add_crossed(end_gaps_, 1e-12 * contacts_.finder().length_scale(), all)) return false;
  u0_.resize(at(contacts_.rows()));
  contacts_.velocities(state.z.data(), u0_.data());
  return true;
}

// Of explicit steps and of those that do not settle, whose velocities (z_new_) are put onto the joints of y1: that is
// an impulse of the joints, too, along their rows there. It becomes a part of s and of what is given.
bool MoreauJean::give_to_joints(const State& state, double t1) {
  const Pattern& joints = system_->pattern(Q::constraint_rate_z);
  next_->at(t1, y1_.data(), z_new_.data(), state.psi.data());
  ++counters_.evaluations;
  const double* G1 = (*next_)[Q::constraint_rate_z];
  std::copy_n((*next_)[Q::constraint_rate], m_, c_.data());
  multiply_add(joints, G1, z_new_.data(), -1.0, c_.data());
  std::fill(right_.begin(), right_.end(), 0.0);
  multiply_add(system_->pattern(Q::momentum_z), M_.data(), z_new_.data(), 1.0, right_.data());
  const std::vector<int> all = contacts_.active;
  const std::vector<double> r = contacts_.contact_impulse, s = contacts_.joint_impulse;
  contacts_.again();
  matrix_.mass(M_.data(), S_.data());
  const bool good = contacts_.factor(S_.data(), G1) && contacts_.solve(right_.data(), c_.data(), w_.data(), z1_.data());
  contacts_.active = all;
  contacts_.contact_impulse = r;
  for (int j = 0; j < m_; ++j) {
    const double more = contacts_.joint_impulse[at(j)];
    for (int k = joints.row_start[at(j)]; k < joints.row_start[at(j) + 1]; ++k)
      given_[at(joints.column[at(k)])] += (G1[k] - C_[at(k)]) * more;
    contacts_.joint_impulse[at(j)] = s[at(j)] + more;
  }
  return good;
}

// What the contacts did, and |M (z1 - z0) - h f - H^T r - C^T s|
void MoreauJean::account(const State& state, double h) {
  if (!contacts_.has_contacts()) return;
  std::vector<double>& defect = middle_;
  double scale = 0;
  for (int k = 0; k < nz_; ++k) z_new_[at(k)] = z1_[at(k)] - z0_[at(k)];
  std::fill(defect.begin(), defect.end(), 0.0);
  multiply_add(system_->pattern(Q::momentum_z), M_.data(), z_new_.data(), 1.0, defect.data());
  scale = biggest(defect.data(), nz_);
  for (int k = 0; k < nz_; ++k) {
    scale = std::max(scale, std::abs(given_[at(k)]));
    defect[at(k)] -= given_[at(k)];
  }
  contacts_.add_reaction(contacts_.contact_impulse.data(), -1.0, defect.data());
  const Pattern& p = system_->pattern(Q::constraint_rate_z);
  for (int j = 0; j < m_; ++j)
    for (int k = p.row_start[at(j)]; k < p.row_start[at(j) + 1]; ++k) {
      scale = std::max(scale, std::abs(C_[at(k)] * contacts_.joint_impulse[at(j)]));
      defect[at(p.column[at(k)])] -= C_[at(k)] * contacts_.joint_impulse[at(j)];
    }
  // of a step that gives nothing, rounding of the momenta is all there is
  constexpr double rounding = 1e-14;
  double off = 0;
  const Pattern& mass = system_->pattern(Q::momentum_z);
  for (int i = 0; i < nz_; ++i) {
    double size = 0;
    for (int k = mass.row_start[at(i)]; k < mass.row_start[at(i) + 1]; ++k)
      size += std::abs(M_[at(k)]) * (std::abs(z0_[at(mass.column[at(k)])]) + std::abs(z1_[at(mass.column[at(k)])]));
    if (!(std::abs(defect[at(i)]) <= rounding * size)) off = larger(off, std::abs(defect[at(i)]));
  }
  contacts_.count_balance(off, scale);
  total_.assign(contacts_.contact_impulse.begin(), contacts_.contact_impulse.end());
  for (std::size_t k = 0; k < struck_.size(); ++k) total_[k] += struck_[k];
  // positions move with the velocity before all impulses of the step, and so these work together
  w_.resize(std::max(w_.size(), at(contacts_.rows())));
  contacts_.velocities(z1_.data(), w_.data());
  contacts_.add_end_drift(w_.data());
  contacts_.count_work(total_.data(), u0_.data(), w_.data());
  if (bodies_) {
    double kinetic = 0;
    for (int k = 0; k < nz_; ++k)  // mass: diagonal for bodies
      kinetic += M_[at(mass.row_start[at(k)])] * state.z[at(k)] * state.z[at(k)] / 2;
    double force = 0;
    for (int k = 0; k < nz_; ++k) force += std::abs(b1_[at(k)]);
    contacts_.count_kinetic(kinetic, force * contacts_.finder().length_scale());
  }
  contacts_.finish(total_.data(), u0_.data(), h, state.t + h, y1_.data());
}

}  // namespace hinge
