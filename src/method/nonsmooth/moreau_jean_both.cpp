#include "method/nonsmooth/moreau_jean_both.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/nonsmooth/moreau_jean.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"
#include "solve/parallel.hpp"
#include "system/velocity_constraints.hpp"

namespace hinge {

namespace {

constexpr double same_force = 1e-14;                             // but for rounding
constexpr int most_mixes = 2;                                    // of rows of impacts
constexpr int most_tries = 8;                                    // of parts of a step
constexpr int most_turns = 100;                                  // of parts that impacts make
constexpr double near_the_end = 1 - 1e-5, near_nothing = 1e-12;  // of a step

// Velocities at the end are solved for once.
std::shared_ptr<const System> with_affine_rates(std::shared_ptr<const System> system) {
  if (!velocity_constraints_are_affine(*system))
    throw UnsuitableMethod(
        "moreau-jean with gap = \"both\" takes velocity constraints that are linear in the velocities, and one of "
        "these, of a motor whose speed depends on velocities, say, is not; use gap = \"velocity\"");
  return system;
}

}  // namespace

void add_joint_reaction(const Pattern& p, const double* C, const double* s, double factor, double* z) {
  for (int j = 0; j < p.rows; ++j)
    for (int k = p.row_start[at(j)]; k < p.row_start[at(j) + 1]; ++k) z[p.column[at(k)]] += factor * C[k] * s[j];
}

MoreauJeanBoth::MoreauJeanBoth(std::shared_ptr<const System> system, const MoreauJeanOptions& options,
                               const SolverOptions& solver)
    : system_(with_affine_rates(std::move(system))),
      table_(*bodies_of(*system_)),
      options_(options),
      max_iterations_(solver.max_iterations),
      implicit_(options.forces == MoreauJeanOptions::Forces::implicit ||
                (options.forces == MoreauJeanOptions::Forces::automatic && system_->nz() <= implicit_limit)),
      force_varies_(!system_->pattern(Q::force_y).empty() || !system_->pattern(Q::force_z).empty()),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->nrates()),
      spins_(SpinBalance::of(*system_)),
      matrix_(system_, implicit_, spins_ ? &*spins_ : nullptr),
      contacts_(system_, matrix_.pattern(), options.solving, solver.linear_algebra),
      projection_(system_, position_part(options.projection), solver.linear_algebra),
      resting_(table_, *system_) {
  force_ = system_->evaluation({Q::acceleration_force});
  joints_ = system_->evaluation({Q::constraint});
  rates_ = system_->evaluation({Q::constraint_rate, Q::constraint_rate_z});
  const Pattern& mass = system_->pattern(Q::momentum_z);
  M_.resize(mass.entries());
  S_.resize(matrix_.pattern().entries());
  for (auto* v : {&p0_, &f_, &zh_, &z1_, &z_new_, &right_, &turned_, &free_, &mass_}) v->resize(at(nz_));
  for (auto* v : {&y_middle_, &y1_}) v->resize(at(ny_));
  G0_.resize(system_->pattern(Q::constraint_rate_z).entries());
  c_.resize(at(m_));
  joint_.resize(at(m_));
  spin_rows_.emplace(table_, nz_);
  is_spin_.assign(at(nz_), 0);
  for (const BodyPlace& place : table_.places)
    std::fill_n(is_spin_.begin() + place.spin, table_.dimension == 2 ? 1 : 3, 1);
  // of bodies constant and diagonal
  const auto once = system_->evaluation({Q::momentum_z});
  const std::vector<double> psi(at(system_->npsi()));
  once->at(0, y1_.data(), z1_.data(), psi.data());
  std::copy_n((*once)[Q::momentum_z], M_.size(), M_.data());
  for (int i = 0; i < nz_; ++i)
    for (int k = mass.row_start[at(i)]; k < mass.row_start[at(i) + 1]; ++k)
      if (mass.column[at(k)] == i) mass_[at(i)] = M_[at(k)];
  const double smallest = smallest_ = table_.smallest();
  recover_ = std::isfinite(smallest) ? pushed_out_per_step * smallest : HUGE_VAL;
  lever_.assign(at(nz_), 0.0);
  for (const BodyPlace& place : table_.places)
    for (int k = place.spin; k < place.spin + (table_.dimension == 2 ? 1 : 3); ++k)
      if (mass_[at(k)] > 0) lever_[at(k)] = std::sqrt(mass_[at(place.v)] / mass_[at(k)]) / 2;
  options_.impact = law_of(options.impact, *system_);
}

void MoreauJeanBoth::reset() {
  contacts_.reset();
  resting_.wake_all();
  rest_.t = NAN;
  listed_reach_ = -1;
}

// zh of the motion that nothing touches, and what the step begins with
void MoreauJeanBoth::begin(const State& state, double h) {
  for (int k = 0; k < nz_; ++k) p0_[at(k)] = mass_[at(k)] * state.z[at(k)];
  std::copy_n(state.z.data(), nz_, zh_.data());
  if (spins_) spins_->midpoint(p0_.data(), h, zh_.data());
  fastest_ = table_.fastest(zh_.data());
  if (m_ > 0) {
    rates_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    ++counters_.evaluations;
    std::copy_n((*rates_)[Q::constraint_rate_z], G0_.size(), G0_.data());
  }
  force_at_middle(state, h);
  for (int k = 0; k < nz_; ++k) free_[at(k)] = state.z[at(k)] + h * f_[at(k)] / mass_[at(k)];
}

// f at the middle for zh; torques in the axes of the start, without the gyroscopic one
void MoreauJeanBoth::force_at_middle(const State& state, double h) {
  system_->move(state.y.data(), zh_.data(), h / 2, y_middle_.data());
  force_->at(state.t + h / 2, y_middle_.data(), zh_.data(), state.psi.data());
  ++counters_.evaluations;
  std::copy_n((*force_)[Q::acceleration_force], nz_, f_.data());
  resting_.clear_velocities(f_.data());
  if (!spins_) return;
  spins_->take_gyroscopic(zh_.data(), f_.data());
  spins_->turn_back(zh_.data(), -h / 2, f_.data());
}

// w(t + h/2, y0 (+) h/2 zh, zh). A spin is the same along the axes of the start and of the middle.
void MoreauJeanBoth::velocity_constraints_at_middle(const State& state, double h) {
  if (system_->nw() == 0) return;
  system_->move(state.y.data(), zh_.data(), h / 2, y_middle_.data());
  rates_->at(state.t + h / 2, y_middle_.data(), zh_.data(), state.psi.data());
  ++counters_.evaluations;
  for (int k = system_->ng(); k < m_; ++k) c_[at(k)] = (*rates_)[Q::constraint_rate][k];
}

// Pairs that are farther apart do not touch in a step with these velocities.
double MoreauJeanBoth::band(double h) const {
  const double fastest = std::max(table_.fastest(zh_.data()), table_.fastest(free_.data()));
  return 2 * std::abs(h) * fastest + 1e-6 * table_.length;
}

bool MoreauJeanBoth::factor_positions(double h) {
  ++counters_.factorisations;
  if (matrix_.has_forces() && !without_forces_) {
    matrix_.assemble(M_.data(), h / 2, true, S_.data());
    if (spins_) matrix_.middle_inertias(zh_.data(), h, S_.data());
    if (contacts_.factor(S_.data(), G0_.data()) && contacts_.definite()) return true;
    without_forces_ = true;
    ++counters_.factorisations;
  }
  matrix_.mass(M_.data(), S_.data());
  if (spins_) matrix_.middle_inertias(zh_.data(), h, S_.data());
  return contacts_.factor(S_.data(), G0_.data());
}

// Stage one: zh, R and S
bool MoreauJeanBoth::positions(const State& state, double h) {
  const double t1 = state.t + h;
  const bool repeats = implicit_ && force_varies_;
  if (matrix_.has_forces()) {
    matrix_.forces_at(state.t + h / 2, y_middle_.data(), zh_.data(), state.psi.data());
    ++counters_.evaluations;
  }
  contacts_.step_length(h / 2);
  if (!factor_positions(h)) return false;
  const double scale = std::max(biggest(zh_.data(), nz_), biggest(free_.data(), nz_));
  const double noise = rounding_of_joints(state, h);
  demand_of_positions(h);
  Settling rule(newton_policy::contacts_on_velocities, m_ > 0 || repeats ? max_iterations_ : 1);
  double left = 0;
  bool loose = false;
  const NewtonTrouble trouble = newton(Booked(rule, counters_), [&]() -> Increment {
    if (rule.count() > 0 && repeats) {
      std::copy_n(f_.data(), nz_, z_new_.data());
      force_at_middle(state, h);
      double change = 0;
      for (int k = 0; k < nz_; ++k) change = larger(change, std::abs(f_[at(k)] - z_new_[at(k)]));
      if (m_ == 0 && change <= same_force * biggest(f_.data(), nz_)) return already_solved;
    }
    // S zh + p0 + h/2 f - M zh, spins of M zh in the axes of the start
    for (int k = 0; k < nz_; ++k) turned_[at(k)] = mass_[at(k)] * zh_[at(k)];
    if (spins_) spins_->turn_back(zh_.data(), -h / 2, turned_.data());
    for (int k = 0; k < nz_; ++k) right_[at(k)] = p0_[at(k)] + h / 2 * f_[at(k)] - turned_[at(k)];
    multiply_add(matrix_.pattern(), S_.data(), zh_.data(), 1.0, right_.data());
    // G0 z + c = 0 where c = g(t1, y1)/h - G0 zh
    if (m_ > 0) {
      system_->move(state.y.data(), zh_.data(), h, y1_.data());
      joints_->at(t1, y1_.data(), zh_.data(), state.psi.data());
      ++counters_.evaluations;
      for (int k = 0; k < system_->ng(); ++k) c_[at(k)] = (*joints_)[Q::constraint][k] / h;
      velocity_constraints_at_middle(state, h);
      multiply_add(system_->pattern(Q::constraint_rate_z), G0_.data(), zh_.data(), -1.0, c_.data());
    }
    ++counters_.iterations;
    if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z_new_.data())) return no_increment;
    double change = 0;
    for (int k = 0; k < nz_; ++k) change = larger(change, std::abs(z_new_[at(k)] - zh_[at(k)]));
    zh_.swap(z_new_);
    if (m_ == 0 && !repeats) return already_solved;
    const double size = std::max({biggest(zh_.data(), nz_), scale, 1e-200});
    const double before = std::exchange(left, change / size);
    if ((rule.count() > 1 && as_left_by_contacts(left, before, contacts_.residual_left)) ||
        (rule.count() > 0 && left <= eight_digits_left && !contacts_.few() && contacts_.worn_out())) {
      loose = true;
      return already_solved;
    }
    if (change <= noise) return {change, std::max(size, noise / newton_policy::contacts_on_velocities.stagnation)};
    return {change, size};
  });
  // What contact problems leave that are not solved to rounding does not get less: the report says so.
  const bool harmless = trouble == NewtonTrouble::slow && left <= harmless_rest;
  if (trouble == NewtonTrouble::slow && !harmless) contacts_.failure = does_not_settle(max_iterations_);
  if (rule.unsettled() || harmless || loose) {
    ++contacts_.statistics.unsettled;
    contacts_.statistics.unsettled_to = std::max(contacts_.statistics.unsettled_to, left);
  }
  if (trouble != NewtonTrouble::none && !harmless) return false;
  R_.assign(at(contacts_.list().count * contacts_.dimension()), 0.0);
  add_first(contacts_.contact_impulse);
  std::copy_n(contacts_.joint_impulse.data(), m_, joint_.data());
  if (contacts_.has_contacts() && !contacts_.few() && !close_gaps(h)) return false;
  system_->move(state.y.data(), zh_.data(), h, y1_.data());
  resting_.keep_position(state.y.data(), y1_.data());
  return !projection_.active() || projection_.project(t1, y1_.data(), zh_.data(), state.psi.data());
}

// right_: M z1 but for what contacts and joints at y1 give;  free_: z0 in the axes of y1
void MoreauJeanBoth::momentum_at_end(const State& state, double h) {
  for (int k = 0; k < nz_; ++k) right_[at(k)] = p0_[at(k)] + h * f_[at(k)];
  add_first_impulses(right_.data());
  add_joint_reaction(system_->pattern(Q::constraint_rate_z), G0_.data(), joint_.data(), 1.0, right_.data());
  if (spins_) spins_->turn_between(state.y.data(), y1_.data(), right_.data());
  contacts_.add_reaction(R_at_end_.data(), -1.0, right_.data());
  add_joint_reaction(system_->pattern(Q::constraint_rate_z), (*rates_)[Q::constraint_rate_z], joint_.data(), -1.0,
                     right_.data());
}

void MoreauJeanBoth::joint_rates_at_end(const State& state, double t1) {
  if (m_ == 0) return;
  rates_->at(t1, y1_.data(), zh_.data(), state.psi.data());
  ++counters_.evaluations;
}

// Stage two: z1, r and s
bool MoreauJeanBoth::velocities(const State& state, double h) {
  const double t1 = state.t + h;
  if (contacts_.has_contacts()) {
    list_contacts_at_end(state, h);
    if (!separate(state, h)) return false;
    contacts_.count_gaps();
  }
  joint_rates_at_end(state, t1);
  std::copy_n(p0_.data(), nz_, free_.data());
  if (spins_) spins_->turn_between(state.y.data(), y1_.data(), free_.data());
  for (int k = 0; k < nz_; ++k) free_[at(k)] /= mass_[at(k)];
  if (contacts_.has_contacts()) {
    recovering_ = is_recovering();
    pair_contacts();
    mix_rows(state);
  }
  momentum_at_end(state, h);
  contacts_.step_length(h);
  matrix_.mass(M_.data(), S_.data());
  ++counters_.factorisations;
  const double* G1 = (*rates_)[Q::constraint_rate_z];
  for (int k = 0; k < m_; ++k) c_[at(k)] = (*rates_)[Q::constraint_rate][k];
  multiply_add(system_->pattern(Q::constraint_rate_z), G1, zh_.data(), -1.0, c_.data());
  const bool mixes =
      rebounding_ && contacts_.few() && (options_.impact == ImpactLaw::rounds || options_.impact == ImpactLaw::newton);
  kept_u0_ = u0_;
  for (int turn = 0; turn < (mixes ? most_mixes : 1); ++turn) {
    if (turn > 0) {
      if (!mix_again()) break;
      free_ = start_z_;
      u0_ = kept_u0_;
    }
    if (!strike(state, h, G1)) return false;
    demand_of_velocities(1);
    if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z1_.data())) return false;
  }
  return match_energy(h) && limit_rebound() && keep_momentum(G1);
}

// All of a step but its end: y1, z1 and what contacts did. Empty where it succeeds.
StepResult MoreauJeanBoth::attempt(const State& state, double h) {
  without_forces_ = false;
  begin(state, h);
  double reach = 0;
  for (int look = 0; look < most_looks; ++look) {
    if (contacts_.has_contacts()) {
      reach = std::max(reach, band(h));
      list_contacts(state, reach);
      if (resting_.wake_touched(contacts_.list())) begin(state, h);
      list_active(state, h);
    }
    for (int tries = 1;; ++tries) {
      if (!positions(state, h)) return contacts_.explain(state, h, "the step");
      if (!contacts_.has_contacts() || !crosses(h, tries >= most_looks / 2)) break;
    }
    // Forces and impulses may have made bodies faster than expected: who else could they have reached?
    if (!contacts_.has_contacts() || !(band(h) > reach_)) break;
    reach = 1.5 * band(h);
  }
  reach_before_ = reach_;
  if (!velocities(state, h)) return contacts_.explain(state, h, "the velocities after the step");
  return {};
}

void MoreauJeanBoth::take(State& state, double h) {
  account(state, h);
  state.t += h;
  std::copy_n(y1_.data(), ny_, state.y.data());
  std::copy_n(z1_.data(), nz_, state.z.data());
  for (int k = 0; k < m_; ++k) state.psi[at(k)] = -contacts_.joint_impulse[at(k)] / h;
  if (!contacts_.has_contacts()) return;
  ContactStatistics& all = contacts_.statistics;
  all.turning += turning_now_;
  all.pushed += pushed_now_;
  all.longest = std::max(all.longest, whole_);
  listed_time_ = state.t;
  listed_reach_ = extra_ > 0 ? -1 : reach_;
  listed_position_ = state.y;
  drift_.swap(next_drift_);
}

// Where slip ends within a step, or a normal turns before an impact, the step is made in parts: friction that stops a
// body has no mean over a step that leads to where it stops.
StepResult MoreauJeanBoth::step(State& state, double h) {
  const UseThreads threads(options_.solving.threads);
  ++counters_.steps;
  contacts_.renew_work();
  if (h < 0 && contacts_.has_contacts())
    return {false, "a motion with contacts cannot be followed backwards in time; take a positive step"};
  if (rests_still(state, h)) {
    state.t += h;
    listed_time_ = state.t;
    return {};
  }
  resting_.begin(state, h);
  const double end = state.t + h;
  double length = whole_ = h;
  bool divided = false;
  int turns = 0;
  for (int tries = 0;; ++tries) {
    const StepResult result = attempt(state, length);
    if (!result) {
      if (!divided) return result;
      state = start_;  // as a whole, then
      contacts_.forget_parts();
      listed_reach_ = -1;
      divided = false;
      tries = most_tries;
      turns = most_turns;
      length = h;
      continue;
    }
    double lasts = impact_lasts(state, length);
    if (lasts < length) {
      --tries;
      if (turns++ >= most_turns || contacts_.worn_out()) lasts = length;
    } else if (tries < most_tries) {
      lasts = slip_lasts(length);
    }
    if (lasts < near_the_end * length) {
      if (!divided) start_ = state;
      divided = true;
      list_again(state);
      length = lasts;
      continue;
    }
    if (!divided) note_rest(state, h);
    take(state, length);
    if (!divided) hold_resting(state, h);
    if (!divided || !(end - state.t > near_nothing * h)) break;
    contacts_.keep_part();
    length = end - state.t;
  }
  if (divided) contacts_.join_parts(h);
  state.t = end;
  listed_time_ = end;
  multipliers_ = state.psi;
  return {};
}

}  // namespace hinge
