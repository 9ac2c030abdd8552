#include "method/nonsmooth/moreau_jean.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr ContactDemands moreau_jean_demands{
    .method = "moreau-jean",
    .form =
        "systems whose unknowns are positions and velocities: write the system as [lagrangian], [mechanical] or "
        "[multibody]",
    .bodies = true,
    .other_joints = "; for other reactions use symplectic-euler, radau or bdf"};

}  // namespace

MoreauJean::MoreauJean(std::shared_ptr<const System> system, const MoreauJeanOptions& options,
                       const SolverOptions& solver)
    : system_(suitable(std::move(system), moreau_jean_demands)),
      options_(options),
      max_iterations_(solver.max_iterations),
      implicit_(options.forces == MoreauJeanOptions::Forces::implicit ||
                (options.forces == MoreauJeanOptions::Forces::automatic && system_->nz() <= implicit_limit)),
      constant_mass_(system_->is_constant(Q::momentum_z)),
      bodies_(system_->structure().has_bodies),
      walls_move_(!bodies_ && system_->structure().gaps_depend_on_time),
      theta_(options.theta),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->nrates()),
      spins_(SpinBalance::of(*system_)),
      matrix_(system_, implicit_, spins_ ? &*spins_ : nullptr),
      contacts_(system_, matrix_.pattern(), options.solving, solver.linear_algebra),
      projection_(system_, implicit_ ? position_part(options.projection) : options.projection, solver.linear_algebra) {
  here_ = system_->evaluation({Q::momentum_z, Q::acceleration_force, Q::constraint_rate_z});
  next_ = system_->evaluation({Q::acceleration_force, Q::constraint_rate, Q::constraint_rate_z});
  mass_ = system_->evaluation({Q::momentum_z});
  M_.resize(system_->pattern(Q::momentum_z).entries());
  S_.resize(matrix_.pattern().entries());
  for (auto* v : {&b0_, &b1_, &right_, &z0_, &z1_, &z_new_, &middle_, &offset_, &free_, &given_, &start_, &reaction_})
    v->resize(at(nz_));
  for (auto* v : {&G0_, &C_}) v->resize(system_->pattern(Q::constraint_rate_z).entries());
  c_.resize(at(m_));
  y1_.resize(at(ny_));
  if (const BodyTable* table = bodies_of(*system_)) {
    spin_rows_.emplace(*table, nz_);
    thin_ = table->thinnest();
  }
  options_.impact = law_of(options.impact, *system_);
  if (const BodyTable* table = bodies_of(*system_)) recover_ = pushed_out_per_step * table->smallest();
  contacts_.use_dense(options.impact == ImpactLaw::poisson || options.impact == ImpactLaw::sequential);
}

// Pairs that are farther apart than this do not touch in a step with the velocities z.
double MoreauJean::band(const double* z, double h) {
  const BodyTable* table = bodies_of(*system_);
  // in generalised coordinates a gap may change at any rate: all are looked at
  if (!table) return std::numeric_limits<double>::infinity();
  return 2 * std::abs(h) * table->fastest(z) + 1e-6 * contacts_.finder().length_scale();
}

// z_new_: those that bodies have after the step where nothing touches them
void MoreauJean::free_velocities(const State& state, double h) {
  const Pattern& mass = system_->pattern(Q::momentum_z);  // diagonal for bodies
  for (int i = 0; i < nz_; ++i) {
    const double m = M_[at(mass.row_start[at(i)])];
    z_new_[at(i)] = state.z[at(i)] + (m > 0 ? h * b0_[at(i)] / m : 0);
  }
}

// Gaps by positions: of the free step, too. Closed contacts are found by their velocities now.
double MoreauJean::free_band(const State& state, double h) {
  if (!bodies_ || options_.gap == GapTreatment::velocity) return band(state.z.data(), h);
  free_velocities(state, h);
  return std::max(band(state.z.data(), h), band(z_new_.data(), h));
}

// The contacts of the step at (t0, y0), which are active, and their velocities u0.
void MoreauJean::choose_contacts(const State& state, double h, double band) {
  if (!contacts_.has_contacts()) return;
  contacts_.find(state.t, state.y.data(), band);
  shared_copy(contacts_.list().H, unturned_);
  if (walls_move_) {
    contacts_.finder().find(state.t + h, state.y.data(), band, ends_);
    contacts_.end_drift(ends_.drift);
  }
  const ContactList& l = contacts_.list();
  for (int i = 0; i < l.count; ++i) contacts_.active.push_back(i);
  u0_.resize(at(contacts_.rows()));
  contacts_.velocities(state.z.data(), u0_.data());
  if (options_.gap != GapTreatment::velocity) {
    for (int i = 0; i < l.count; ++i)
      if (l.restitution[at(i)] > 0)
        throw UnsuitableMethod(
            fmt::format("a gap that is treated by positions has no restitution, but the contact {} has {:g}; use gap = "
                        "\"velocity\" or restitution = 0",
                        contacts_.finder().name(l.key[at(i)]), l.restitution[at(i)]));
    // (convexified friction pushes open contacts apart, gaps that turn are not known before, and of many contacts open
    // ones cost sweeps little)
    if (!bodies_ || options_.gap != GapTreatment::linearised ||
        options_.solving.friction == FrictionModel::convexified || !contacts_.few())
      return;
    const double margin = 1e-3 * std::min(recover_ / pushed_out_per_step, bodies_of(*system_)->length);
    free_velocities(state, h);
    contacts_.keep_candidates(h, margin, state.z.data(), z_new_.data());
    u0_.resize(at(contacts_.rows()));
    contacts_.velocities(state.z.data(), u0_.data());
    return;
  }
  const int d = contacts_.dimension();
  const double eps = 1e-12 * std::max(contacts_.finder().length_scale(), bodies_ ? 0.0 : biggest(state.y.data(), ny_));
  std::size_t kept = 0;
  for (int i = 0; i < l.count; ++i) {
    // Not in the next step where that would lead halfway through the thinnest body, from where it is seen from its
    // other side: positions go on with (1 - theta) of the velocity before.
    const double next = l.gap[at(i)] + (2 - theta_) * h * u0_[at(i * d)];
    if (l.gap[at(i)] + options_.activation * h * u0_[at(i * d)] <= eps || next < -thin_) {
      std::copy_n(u0_.begin() + i * d, d, u0_.begin() + static_cast<std::ptrdiff_t>(kept) * d);
      contacts_.active[kept++] = i;
    }
  }
  contacts_.active.resize(kept);
  u0_.resize(at(contacts_.rows()));
}

// y1 for z1, on the joints
void MoreauJean::move(const State& state, double h) {
  for (int k = 0; k < nz_; ++k) middle_[at(k)] = offset_[at(k)] + theta_ * z1_[at(k)];
  system_->move(state.y.data(), middle_.data(), h, y1_.data());
}

void MoreauJean::middle_mass(const State& state, double h) {
  if (constant_mass_) return;
  std::vector<double>& y = w_;  // free between solutions
  y.resize(std::max(w_.size(), at(ny_)));
  for (int k = 0; k < nz_; ++k) middle_[at(k)] = (state.z[at(k)] + z1_[at(k)]) / 2;
  system_->move(state.y.data(), middle_.data(), h / 2, y.data());
  mass_->at(state.t + h / 2, y.data(), middle_.data(), state.psi.data());
  ++counters_.evaluations;
  std::copy_n((*mass_)[Q::momentum_z], M_.size(), M_.data());
}

// S with the derivatives of the forces where that is of use: symmetric for bodies in space and for many contacts, and
// without them where it is not definite.
bool MoreauJean::factor(double h) {
  ++counters_.factorisations;
  if (matrix_.has_forces() && !without_forces_) {
    symmetric_part_ = !system_->structure().velocity_is_z || !contacts_.few();
    matrix_.assemble(M_.data(), h * theta_, symmetric_part_, S_.data());
    if (contacts_.factor(S_.data(), C_.data()) && contacts_.definite()) return true;
    without_forces_ = true;
    symmetric_part_ = false;
    ++counters_.factorisations;
  }
  matrix_.mass(M_.data(), S_.data());
  return contacts_.factor(S_.data(), C_.data());
}

// w: what the laws add to H z1
void MoreauJean::demand(const State& state, double h) {
  const ContactList& l = contacts_.list();
  const int d = contacts_.dimension();
  w_.resize(std::max(w_.size(), at(contacts_.rows())));
  std::vector<double>& u1 = total_;
  const double speed = options_.recover < 0 && std::isfinite(recover_) ? recover_ / h : options_.recover;
  if (options_.gap == GapTreatment::nonlinear && !contacts_.active.empty()) {
    u1.resize(at(contacts_.rows() + l.count));
    contacts_.velocities(z1_.data(), u1.data());
    contacts_.finder().gaps(state.t + h, y1_.data(), l, u1.data() + contacts_.rows());
  }
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int i = contacts_.active[a], k = static_cast<int>(a) * d;
    const double* drift = (options_.gap == GapTreatment::velocity ? contacts_.end_drift() : l.drift).data() + i * d;
    for (int row = 0; row < d; ++row) w_[at(k + row)] = drift[row];
    const double e = l.restitution[at(i)];
    // of an old penetration, what need not be undone now
    const double left = speed > 0 ? std::max(0.0, -l.gap[at(i)] / h - speed) : 0;
    switch (options_.gap) {
      case GapTreatment::automatic:
      case GapTreatment::both: break;  // of another stepper
      case GapTreatment::velocity:
        if (options_.impact == ImpactLaw::newton) w_[at(k)] += e * u0_[at(k)];
        if (options_.impact == ImpactLaw::rounds) w_[at(k)] -= rebound_[a];
        if (options_.impact == ImpactLaw::moreau)
          for (int row = 0; row < d; ++row) w_[at(k + row)] += e * u0_[at(k + row)];
        break;
      case GapTreatment::linearised:
        w_[at(k)] = walls_move_ ? ends_.gap[at(i)] / h : w_[at(k)] + l.gap[at(i)] / h;
        w_[at(k)] += left;
        // gaps change by what bodies move by, which is not z1 alone where they wobble
        if (spins_)
          for (int c = l.first[at(i)]; c < l.first[at(i) + 1]; ++c)
            w_[at(k)] += l.H[at(c * d)] * offset_[at(l.column[at(c)])];
        break;
      case GapTreatment::nonlinear: w_[at(k)] += u1[at(contacts_.rows() + i)] / h - u1[at(k)] + left; break;
    }
  }
}

bool MoreauJean::solve_implicit(const State& state, double h) {
  const double t1 = state.t + h;
  const Pattern &mass = system_->pattern(Q::momentum_z), &rate_z = system_->pattern(Q::constraint_rate_z);
  std::copy_n(z0_.data(), nz_, z1_.data());
  if (spins_)
    for (const SpinBalance::Body& b : spins_->bodies())
      if (b.wobbles(state.z.data() + b.spin))  // begins with what it does by itself
        for (int k = b.spin; k < b.spin + 3; ++k)
          z1_[at(k)] += (free_[at(k)] - offset_[at(k)]) / theta_ - state.z[at(k)];
  // Rounding is that of the forces even where everything rests.
  double free = 0, last_given = 0, left = 0;
  bool loose = false;
  for (int i = 0; i < nz_; ++i)
    for (int k = mass.row_start[at(i)]; k < mass.row_start[at(i) + 1]; ++k)
      if (mass.column[at(k)] == i && M_[at(k)] > 0) free = std::max(free, std::abs(h * b0_[at(i)] / M_[at(k)]));
  bool factored = false;
  const auto move_to_end = [&] {
    move(state, h);
    return !projection_.active() || projection_.project(t1, y1_.data(), z1_.data(), state.psi.data());
  };
  Settling rule(newton_policy::contacts_on_velocities, max_iterations_);
  const NewtonTrouble trouble = newton(Booked(rule, counters_), [&]() -> Increment {
    if (!move_to_end()) return no_increment;
    middle_mass(state, h);
    next_->at(t1, y1_.data(), z1_.data(), state.psi.data());
    ++counters_.evaluations;
    const Evaluation& e = *next_;
    // Where force and mass are those of the last solution, that was it; but a part of S expects another force.
    std::copy_n(e[Q::acceleration_force], nz_, b1_.data());
    if (spins_) spins_->take_gyroscopic(z1_.data(), b1_.data());
    std::copy_n(given_.data(), nz_, z_new_.data());
    give(state, h, rule.count() > 0 && options_.gap != GapTreatment::velocity);
    const bool turned = turn_rows(state);
    double change_given = 0;
    for (int k = 0; k < nz_; ++k) change_given = larger(change_given, std::abs(given_[at(k)] - z_new_[at(k)]));
    if (rule.count() > 0 && m_ == 0 && constant_mass_ && !symmetric_part_ && options_.gap != GapTreatment::nonlinear &&
        change_given <= 1e-15 * last_given)
      return already_solved;
    last_given = biggest(given_.data(), nz_);
    for (std::size_t k = 0; k < C_.size(); ++k) C_[k] = (1 - theta_) * G0_[k] + theta_ * e[Q::constraint_rate_z][k];
    if (rule.count() == 0 && matrix_.has_forces()) {
      matrix_.forces_at(t1, y1_.data(), z1_.data(), state.psi.data());
      ++counters_.evaluations;
    }
    if (!factored || m_ > 0 || !constant_mass_ || turned) {
      if (!factor(h)) return no_increment;
      factored = true;
    }
    // S z1 + M (z0 - z1) + h ((1 - theta) b0 + theta b1)
    std::fill(right_.begin(), right_.end(), 0.0);
    multiply_add(matrix_.pattern(), S_.data(), z1_.data(), 1.0, right_.data());
    for (int k = 0; k < nz_; ++k) middle_[at(k)] = z0_[at(k)] - z1_[at(k)];
    multiply_add(mass, M_.data(), middle_.data(), 1.0, right_.data());
    axpy(1.0, given_.data(), nz_, right_.data());
    // C z + c = 0 where c = (g_t + G z1) - C z1
    std::copy_n(e[Q::constraint_rate], m_, c_.data());
    multiply_add(rate_z, C_.data(), z1_.data(), -1.0, c_.data());
    demand(state, h);
    ++counters_.iterations;
    if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z_new_.data())) return no_increment;
    const double change = take_new_velocity();
    const double size = std::max({biggest(z1_.data(), nz_), biggest(z_new_.data(), nz_), free, 1e-200});
    const double before = std::exchange(left, change / size);
    if ((rule.count() > 1 && as_left_by_contacts(left, before, contacts_.residual_left)) ||
        (rule.count() > 0 && left <= eight_digits_left && !contacts_.few() && contacts_.worn_out())) {
      loose = true;
      return already_solved;
    }
    return {change, size};
  });
  // What contact problems leave that are not solved to rounding does not get less: the report says so.
  const bool harmless = trouble == NewtonTrouble::slow && left <= harmless_rest;
  if (trouble == NewtonTrouble::slow && !harmless) contacts_.failure = does_not_settle(max_iterations_);
  if (trouble != NewtonTrouble::none && !harmless) return false;
  const bool unsettled = rule.unsettled() || harmless || loose;
  if (unsettled) {
    ++contacts_.statistics.unsettled;
    contacts_.statistics.unsettled_to = std::max(contacts_.statistics.unsettled_to, left);
  }
  if (!move_to_end() || !velocities_alone(state, h)) return false;
  if (spins_ && m_ == 0) balance_spins(state, h);
  if (!unsettled || m_ == 0) return true;
  // joints hold all the same
  std::copy_n(z1_.data(), nz_, z_new_.data());
  return give_to_joints(state, t1);
}

// z1 <- z_new; how far that is
double MoreauJean::take_new_velocity() {
  double change = 0;
  for (int k = 0; k < nz_; ++k) change = larger(change, std::abs(z_new_[at(k)] - z1_[at(k)]));
  z1_.swap(z_new_);
  return change;
}

// Forces in the middle, as predicted; one contact problem; then onto the joints.
bool MoreauJean::solve_explicit(const State& state, double h) {
  const double t1 = state.t + h, tm = state.t + theta_ * h;
  system_->move(state.y.data(), z0_.data(), theta_ * h, y1_.data());
  here_->at(tm, y1_.data(), z0_.data(), state.psi.data());
  std::copy_n((*here_)[Q::acceleration_force], nz_, b1_.data());
  if (spins_) spins_->take_gyroscopic(z0_.data(), b1_.data());
  std::copy_n((*here_)[Q::momentum_z], M_.size(), M_.data());
  std::copy_n(b1_.data(), nz_, b0_.data());
  std::copy_n(z0_.data(), nz_, z1_.data());
  system_->move(state.y.data(), z0_.data(), h, y1_.data());
  next_->at(t1, y1_.data(), z0_.data(), state.psi.data());
  counters_.evaluations += 2;
  shared_copy(unturned_, contacts_.found().H);
  if (spin_rows_) spin_rows_->turn(state.z.data(), (1 - theta_) * h, contacts_.found());
  std::copy_n((*next_)[Q::constraint_rate_z], C_.size(), C_.data());
  if (!factor(h)) return false;
  std::fill(right_.begin(), right_.end(), 0.0);
  multiply_add(system_->pattern(Q::momentum_z), M_.data(), z0_.data(), 1.0, right_.data());
  for (int k = 0; k < nz_; ++k) given_[at(k)] = h * b1_[at(k)];
  if (spins_) give_explicit(h);
  axpy(1.0, given_.data(), nz_, right_.data());
  std::copy_n((*next_)[Q::constraint_rate], m_, c_.data());
  multiply_add(system_->pattern(Q::constraint_rate_z), C_.data(), z0_.data(), -1.0, c_.data());
  const int rounds = options_.gap == GapTreatment::nonlinear ? max_iterations_ : 1;
  const NewtonTrouble trouble =
      newton(Booked(Settling(newton_policy::nonlinear_gaps, rounds), counters_), [&]() -> Increment {
        demand(state, h);
        ++counters_.iterations;
        if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z_new_.data())) return no_increment;
        const double change = take_new_velocity();
        move(state, h);
        return {change, biggest(z1_.data(), nz_)};
      });
  if (trouble == NewtonTrouble::singular || !velocities_alone(state, h)) return false;
  if (!projection_.active()) return true;
  std::copy_n(z1_.data(), nz_, z_new_.data());
  if (!projection_.project(t1, y1_.data(), z1_.data(), state.psi.data())) return false;
  return z1_ == z_new_ || give_to_joints(state, t1);
}

StepResult MoreauJean::step(State& state, double h) {
  const UseThreads threads(options_.solving.threads);
  ++counters_.steps;
  contacts_.renew_work();
  if (h < 0 && contacts_.has_contacts())
    return {false, "a motion with contacts cannot be followed backwards in time; take a positive step"};
  here_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  std::copy_n((*here_)[Q::momentum_z], M_.size(), M_.data());
  std::copy_n((*here_)[Q::acceleration_force], nz_, b0_.data());
  if (spins_) spins_->take_gyroscopic(state.z.data(), b0_.data());
  std::copy_n((*here_)[Q::constraint_rate_z], G0_.size(), G0_.data());
  prepare(state, h);
  contacts_.step_length(h);
  without_forces_ = symmetric_part_ = false;
  double reach = contacts_.has_contacts() ? free_band(state, h) : 0;
  choose_contacts(state, h, reach);
  for (int look = 0;; ++look) {
    if (!strike(state)) return contacts_.explain(state, h, "the impacts");
    if (!solve(state, h) || !limit_rebound(state, h)) return contacts_.explain(state, h, "the step");
    if (crosses(state, h, look >= most_looks / 2)) continue;
    // Forces and impulses may have made bodies faster than expected: who else could they have reached?
    if (options_.gap == GapTreatment::velocity || !bodies_ || !contacts_.has_contacts() || look == most_looks) break;
    const double needed = band(z1_.data(), h);
    if (!(needed > reach)) break;
    reach = 1.5 * needed;
    const int before = contacts_.list().count;
    const std::vector<int> active = contacts_.active;  // some of which may have been added when they were crossed
    const std::vector<double> u0 = u0_;
    choose_contacts(state, h, reach);
    if (contacts_.list().count > before) continue;
    contacts_.active = active;  // nobody else: that was the step
    u0_ = u0;
    break;
  }
  account(state, h);
  state.t += h;
  std::copy_n(y1_.data(), ny_, state.y.data());
  std::copy_n(z1_.data(), nz_, state.z.data());
  for (int k = 0; k < m_; ++k) state.psi[at(k)] = -contacts_.joint_impulse[at(k)] / h;
  multipliers_ = state.psi;
  return {};
}

bool MoreauJean::solve(const State& state, double h) {
  return implicit_ ? solve_implicit(state, h) : solve_explicit(state, h);
}

}  // namespace hinge
