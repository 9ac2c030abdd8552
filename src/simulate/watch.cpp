#include "simulate/watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "simulate/undecided_start.hpp"
#include "simulate/verdict.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/at_rounding.hpp"

namespace hinge {

namespace {
using Q = Quantity;
// of forces times positions: how far solvers of contacts may move at most what rests
constexpr double contacts_at_rest = 1e-8;

// More than a start on the other side leaves of rounding?
bool velocities_jump(std::span<const Stepper::Break> breaks) {
  constexpr double some = 1e-6;
  for (const Stepper::Break& here : breaks) {
    double jump = 0, size = 0;
    for (std::size_t i = 0; i < here.before.z.size(); ++i) {
      jump = std::max(jump, std::abs(here.after.z[i] - here.before.z[i]));
      size = std::max({size, std::abs(here.after.z[i]), std::abs(here.before.z[i])});
    }
    if (jump > some * size) return true;
  }
  return false;
}

}  // namespace

void Watch::begin(const System& system, const Tolerance& tolerance, const Preserves& preserves, int order) {
  system_ = &system;
  tolerance_ = tolerance;
  Quantities wanted{Q::constraint, Q::constraint_rate};
  if (system.structure().has_energy) wanted.insert(Q::energy);
  if (!momenta_.empty()) wanted.insert(Q::momentum);
  step_.begin(system, tolerance.given(), preserves.energy, wanted);
  begin_judging(wanted);
  prescribed_.end();
  if (judges_constraints_ && !tolerance.given() && !system.structure().has_contacts)
    prescribed_.begin(system, preserves, order, wanted);
  reactions_.end();
  if (!tolerance.given()) reactions_.begin(system);
  velocity_rows_.reset();
  if (system.nw() > 0) velocity_rows_ = system.evaluation({Q::constraint_rate_z});
  evaluation_ = system.evaluation(wanted);
  rounding_.emplace(system);
  if (judges_constraints_ && !preserves.position_level) rounding_->prepare();
  gaps_.begin(system);
  overlap_.begin(system);
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (system.structure().is_dae && symbolic && !levels_) levels_ = std::make_unique<DaeLevels>(*symbolic);
  if (levels_) levels_->begin();
  for (Values* values : {&looked_, &seen_, &shown_}) values->momenta.resize(momenta_.size());
  constraint_ = hidden_ = velocity_constraint_ = energy_error_ = discrete_energy_error_ = 0;
  first_ = true;
}

// ---- What the motion is judged by -----------------------------------------------------------------------------------

void Watch::begin_judging(Quantities& wanted) {
  const Structure& has = system_->structure();
  forces_.reset();
  const SymbolicSystem* symbolic = symbolic_part(*system_);
  const bool own_reaction = symbolic && system_->ng() > 0 && !symbolic->equations().ideal;  // which may do work
  const bool closed = has.has_energy && !has.depends_on_time && !has.has_applied_force &&
                      !has.velocity_constraints_do_work && !own_reaction;
  const bool accounted = !closed && WorkAccount::possible(*system_);
  work_ = WorkAccount();
  if (accounted) work_.begin(*system_, tolerance_.given());
  conserves_ = (closed || accounted) && !has.has_contacts;
  dissipates_ = (closed || accounted) && has.has_contacts && !has.gaps_depend_on_time && !has.gaps_have_reactions;
  belts_ = dissipates_ && symbolic && surfaces_move(*symbolic);
  if (conserves_ || dissipates_) {
    wanted.insert(Q::velocity);
    wanted.insert(Q::momentum);
    if (has.has_bodies || has.velocity_is_z) forces_ = system_->evaluation({Q::acceleration_force});
  }
  judges_constraints_ = system_->ng() > 0 && !has.is_dae;
  if (judges_constraints_) rows_ = system_->evaluation({Q::constraint_y});
  velocity_off_ = 0;
  sizes_.assign(static_cast<std::size_t>(system_->ny()), 0);
  paths_.assign(sizes_.size(), 0);
  forces_size_.assign(forces_ && dissipates_ ? static_cast<std::size_t>(system_->nz()) : 0, 0);
  stirred_ = -1;
  size_ = off_ = kinetic_ = energy_size_ = force_ = energy_created_ = energy_lost_ = dripped_ = 0;
  blows_ = own_ = excused_ = time_ = kinetic_time_ = error_time_ = 0;
  discrete_before_.reset();
}

// Energy created: above its first value where it is conserved, above its lowest so far where it may be lost; without
// the work of forces, and without what events give. Compared with p . v/2, the kinetic energy where that is quadratic.
void Watch::measure_energy(const State& s, const Stepper* stepper, double h) {
  if (!conserves_ && !dissipates_) return;
  const double* y_rate = (*evaluation_)[Q::velocity];
  if (!first_ && h == 0) blows_ += seen_.energy - looked_.energy;  // looked: at the state before
  if (work_.active() && h == 0) work_.restart(s, y_rate);
  if (work_.active() && h > 0) work_.add(s, y_rate, stepper);
  if (belts_) add_work_of_belts(stepper, h);
  const double own = seen_.energy - work_.work() - blows_, own_before = std::exchange(own_, own);
  const double* p = (*evaluation_)[Q::momentum];
  const double* v = system_->ny() == system_->nz() ? (*evaluation_)[Q::velocity] : s.z.data();
  double product = 0;
  if (work_.active())
    for (const int i : work_.rows()) product += p[i] * v[i];
  else
    for (int i = 0; i < system_->nz(); ++i) product += p[i] * v[i];
  kinetic_ = std::max(kinetic_, std::abs(product) / 2);
  if (stirred_ < 0 && conserves_ && h > 0 && !tolerance_.given()) {
    const double v = roundings * epsilon * rounding_->reach(s, h) / h;
    stirred_ = rounding_->mass() * v * v / 2;
  }
  energy_size_ = std::max(energy_size_, std::abs(seen_.energy));
  if (first_) lowest_energy_ = own;
  if (first_ && forces_) {
    forces_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    for (int i = 0; i < system_->nz(); ++i) force_ += std::abs((*forces_)[Q::acceleration_force][i]);
  }
  if (first_) excused_ = force_ * overlap_.ways();
  if (overlap_.is_pushed()) {
    const double gained = std::clamp(own - lowest_energy_, 0.0, excused_);
    lowest_energy_ += gained;
    excused_ -= gained;
  }
  measure_rest(s, h);
  lowest_energy_ = std::min(lowest_energy_, own);
  const double from = conserves_ ? energy0_ : lowest_energy_;
  energy_created_ = std::max(energy_created_, own - from);
  energy_lost_ = std::max(energy_lost_, energy0_ - own);
  time_ += h;
  kinetic_time_ += h * std::abs(product) / 2;
  error_time_ += h * std::abs(own - energy0_);
  // a blow takes more at once: one that a corner of the gap gives is none of this
  constexpr double little = 0.01;
  gaps_.compare(size_);
  const double lost = own_before - own;
  if (dissipates_ && !first_ && gaps_.stay && std::abs(lost) < little * kinetic_) dripped_ += lost;
}

// What forces have done to what rests but for rounding and for what solvers of contacts leave: each along the way of
// its own coordinate. A weight that does not move at all has none of it.
void Watch::measure_rest(const State& s, double h) {
  if (forces_size_.empty()) return;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  if (first_ || kinetic_ <= contacts_at_rest * force_ * size_) {
    forces_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    for (std::size_t i = 0; i < forces_size_.size(); ++i)
      forces_size_[i] = std::max(forces_size_[i], std::abs((*forces_)[Q::acceleration_force][i]));
  }
  if (!first_ && h > 0)
    for (std::size_t j = 0; j < paths_.size(); ++j)
      paths_[j] += std::abs(s.y[j] - y_before_[j]) + eps * std::abs(s.y[j]);
  y_before_.assign(s.y.begin(), s.y.end());
}

// Of the energy itself, whose zero is anywhere, and of forces times lengths, which is what energies are made of:
// structures at rest have no kinetic energy to compare with. Where there are contacts, of the ways that were made.
// Without forces, of what velocities are by rounding of positions.
double Watch::rest() const {
  const double rounding = 1e-9, at_rest = 1e-11;
  if (forces_size_.empty())
    return std::max({rounding * energy_size_, (dissipates_ ? contacts_at_rest : at_rest) * force_ * size_, stirred_});
  constexpr double little = 0.03;  // what of the energy that is compared may be missing: here all of it
  const double most = contacts_at_rest * size_;
  double done = 1e-14 * energy_size_;
  if (system_->structure().velocity_is_z) {
    for (std::size_t i = 0; i < forces_size_.size(); ++i) done += forces_size_[i] * std::min(paths_[i], most);
  } else {
    const Pattern& by_z = system_->pattern(Q::velocity_z);
    for (std::size_t j = 0; j < paths_.size(); ++j)
      for (int k = by_z.row_start[j]; k < by_z.row_start[j + 1]; ++k)
        done += forces_size_[at(by_z.column[at(k)])] * std::min(2 * paths_[j], most);
  }
  return std::max(done / little, stirred_);
}

std::string Watch::compared() const {
  return kinetic_ >= rest() ? fmt::format("as a part of the largest kinetic energy ({:.3g})", kinetic_)
                            : fmt::format("as a part of what rounding has where things rest ({:.3g})", rest());
}

void Watch::doubts(long steps, std::vector<Doubt>& doubts) const {
  step_.doubts(doubts);
  if (mass_) doubts.push_back(*mass_);
  if (undecided_) doubts.push_back(*undecided_);
  reactions_.doubts(doubts);
  const bool chosen = tolerance_.given();
  const double tolerance = std::max(tolerance_.relative, tolerance_.absolute);
  // errors add up over the steps, and stiff forces magnify them
  const double allowed = chosen ? std::min(1e-2, tolerance * std::max(1e5, 10 * static_cast<double>(steps))) : 0.1;
  const double scale = std::max(kinetic_, rest()), unsure = work_.unsure() + allowed * work_.exchanged();
  const char* const remedy = chosen ? "take a smaller tolerance" : "take a shorter step";
  const bool created = (conserves_ || dissipates_) && energy_created_ > allowed * scale + unsure;
  const bool lost = conserves_ && energy_lost_ > std::max(allowed * scale + unsure, energy_created_);
  if (created) doubts.push_back({"energy was created, " + compared(), energy_created_ / scale, remedy});
  if (lost) doubts.push_back({"energy was lost that nothing takes, " + compared(), energy_lost_ / scale, remedy});
  // A comet is fast for a short time, and what counts is what is left of its energy when it is slow.
  const double mean = std::max(kinetic_time_, rest() * time_);
  if (conserves_ && !created && !lost && error_time_ > allowed * mean + unsure * time_)
    doubts.push_back({fmt::format("energy is off most of the time, as a part of the mean kinetic energy ({:.3g})",
                                  kinetic_time_ / time_),
                      error_time_ / mean, remedy});
  if (dripped_ > 0.03 * scale)
    doubts.push_back({"energy was lost while contacts stay closed that have no friction and take none, " + compared(),
                      dripped_ / scale, remedy});
  const double allowed_off = chosen ? std::min(1e-3, 1e5 * tolerance) : 1e-3;
  if (off_ > allowed_off)
    doubts.push_back({"constraints are off, as a part of the size of what they constrain", off_,
                      chosen ? "take a smaller tolerance, or project both levels" : "take a shorter step, or project"});
  if (const double off = levels_ ? levels_->off() : 0; off > allowed_off)
    doubts.push_back({"algebraic equations are off, as a part of the terms that they are made of", off,
                      chosen ? "take a smaller tolerance, or bdf" : "take a shorter step, or give a tolerance"});
  prescribed_.doubts(doubts);
  if (velocity_off_ > 1e-2)
    doubts.push_back({"velocity constraints are off at some time, as a part of the velocities in them", velocity_off_,
                      "where what they prescribe jumps, make it change within a short time; else take a shorter step"});
}

void Watch::doubt_losses(double taken, std::vector<Doubt>& doubts) const {
  const double lost = energy0_ - own_ - taken, scale = std::max(kinetic_, rest());
  // a tenth of what was taken: accounts are as accurate as the steps
  if (!dissipates_ || !(taken > 0) || !(lost > 0.03 * scale) || !(lost > 0.1 * taken)) return;
  doubts.push_back(
      {"energy was lost that neither impacts nor friction took, " + compared(), lost / scale, "take a shorter step"});
}

void Watch::evaluate(const State& s, Values& values) {
  evaluation_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  if (system_->structure().has_energy) values.energy = *(*evaluation_)[Q::energy];
  for (std::size_t k = 0; k < momenta_.size(); ++k)
    values.momenta[k] = momenta_[k].motion.momentum(s.y.data(), (*evaluation_)[Q::momentum]);
}

// After evaluate().
void Watch::measure(const State& state) {
  if (levels_) levels_->at(state);
  residual_ = levels_ ? levels_->algebraic : biggest((*evaluation_)[Q::constraint], system_->ng());
  rate_ = levels_ ? levels_->hidden : biggest((*evaluation_)[Q::constraint_rate], system_->ng());
  w_ = biggest((*evaluation_)[Q::constraint_rate] + system_->ng(), system_->nw());
}

// What was measured, into what is reported.
void Watch::take(const Values& values) {
  constraint_ = std::max(constraint_, residual_);
  hidden_ = std::max(hidden_, rate_);
  velocity_constraint_ = std::max(velocity_constraint_, w_);
  if (system_->structure().has_energy) {
    if (first_) energy0_ = values.energy;
    energy_error_ = std::max(energy_error_, std::abs(values.energy - energy0_));
  }
  for (std::size_t k = 0; k < momenta_.size(); ++k) momenta_[k].see(values.momenta[k], first_);
}

const Watch::Values& Watch::show(const State& state) {
  evaluate(state, shown_);
  measure(state);
  if (std::isfinite(residual_ + rate_ + w_) && std::isfinite(shown_.energy) && all_finite(shown_.momenta)) {
    measure_velocity_constraints(state);
    if (levels_) levels_->take(state);
    take(shown_);
  }
  return shown_;
}

const char* Watch::see(const State& state, const Stepper* stepper, double h) {
  if (!all_finite(state.y) || !all_finite(state.z) || !all_finite(state.psi)) return "state";
  evaluate(state, looked_);
  measure(state);
  if (!std::isfinite(residual_) || !std::isfinite(rate_) || !std::isfinite(w_)) return "residual of the constraints";
  if (!std::isfinite(looked_.energy)) return "energy";
  if (const int gap = gaps_.undefined(state); gap >= 0) {
    undefined_gap_ = "gap " + gaps_.finder->name(static_cast<std::uint64_t>(gap));
    return undefined_gap_.c_str();
  }
  if (!all_finite(looked_.momenta)) return "momentum";
  if (first_) mass_ = doubt_mass(*system_, state), undecided_ = doubt_undecided(*system_, state);
  std::swap(looked_, seen_);
  step_.see(state, *evaluation_, h);
  measure_constraints(state, residual_, h);
  gaps_.measure(state, system_->structure().velocity_is_z);
  overlap_.see(state, stepper ? stepper->contact_impulses() : nullptr);
  measure_velocity_constraints(state);
  if (levels_) levels_->take(state);
  const bool broken = stepper && h > 0 && velocities_jump(stepper->breaks());
  prescribed_.see(state, *evaluation_, h, broken);
  reactions_.see(state, h, broken);
  take(seen_);
  if (system_->structure().has_energy) {
    const double* g = (*evaluation_)[Q::constraint];
    const double discrete = stepper ? stepper->discrete_energy(seen_.energy, g) : seen_.energy;
    if (first_) discrete_energy0_ = discrete;
    if (discrete_before_) discrete_energy0_ += discrete - *discrete_before_;  // what the event has given
    discrete_before_.reset();
    discrete_energy_error_ = std::max(discrete_energy_error_, std::abs(discrete - discrete_energy0_));
    measure_energy(state, stepper, h);
  }
  first_ = false;
  return nullptr;
}

void Watch::set_back(const State& state, const Stepper* stepper) {
  const bool discrete = stepper && stepper->discrete_energy_name();
  if (!conserves_ && !dissipates_ && !discrete) return;
  evaluate(state, seen_);
  if (discrete) discrete_before_ = stepper->discrete_energy(seen_.energy, (*evaluation_)[Q::constraint]);
  if (work_.active()) work_.set_back(state, (*evaluation_)[Q::velocity], stepper);
}

void Watch::report(Report& r, const Stepper* stepper) const {
  r.constraint = constraint_;
  r.hidden_constraint = hidden_;
  if (system_ && system_->nw() > 0) r.velocity_constraint = velocity_constraint_;
  r.has_constraints = levels_ ? !levels_->empty() : system_ && system_->ng() > 0;
  if (system_ && system_->structure().has_energy) {
    r.energy = seen_.energy;
    r.energy_error = energy_error_;
    if (const char* name = stepper ? stepper->discrete_energy_name() : nullptr) {
      r.discrete_energy = name;
      r.discrete_energy_error = discrete_energy_error_;
    }
  }
  for (std::size_t k = 0; k < momenta_.size(); ++k)
    r.momentum_maps.push_back({momenta_[k].name, seen_.momenta[k], momenta_[k].error});
}

void Watch::exchange(Memory& memory) {
  memory(first_, residual_, rate_, constraint_, hidden_, velocity_constraint_, velocity_off_, off_, size_, sizes_,
         kinetic_, energy_size_, force_, lowest_energy_, energy_created_, energy_lost_, dripped_, energy0_,
         energy_error_, discrete_energy0_, discrete_energy_error_, gaps_.widest, gaps_.deepest, gaps_.positions,
         forces_size_, paths_, stirred_, seen_.energy, seen_.momenta, blows_, own_, excused_, time_, kinetic_time_,
         error_time_);
  work_.exchange(memory);
  prescribed_.exchange(memory);
  overlap_.exchange(memory);
  reactions_.exchange(memory);
  if (levels_) levels_->exchange(memory);
  for (WatchedMomentum& momentum : momenta_) memory(momentum.first, momentum.error);
}

void Watch::look_again(const State& state) {
  const Values known = seen_;
  y_before_.assign(state.y.begin(), state.y.end());
  evaluate(state, looked_);
  step_.see(state, *evaluation_, 0);
  mass_ = doubt_mass(*system_, state);
  if (work_.active()) work_.restart(state, (*evaluation_)[Q::velocity]);
  seen_ = known;
}

}  // namespace hinge
