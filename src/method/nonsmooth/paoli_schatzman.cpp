#include "method/nonsmooth/paoli_schatzman.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

constexpr ContactDemands paoli_schatzman_demands{
    .method = "paoli-schatzman",
    .form =
        "coordinates that add up, with velocities as unknowns: write the system as [lagrangian] or [mechanical], or "
        "use moreau-jean",
    .other_joints = "; use symplectic-euler"};

// A gap that two bodies may close, or leave, in a time h with velocities, accelerations of at least 10 and a margin. In
// generalised coordinates a gap may change at any rate: all are looked at.
double contact_band(const System& system, const double* velocity, double h, const double* acceleration) {
  const BodyTable* table = bodies_of(system);
  if (!table) return std::numeric_limits<double>::infinity();
  const double faster = std::max(10.0, table->fastest(acceleration));
  return 2 * std::abs(h) * (table->fastest(velocity) + faster * std::abs(h)) + 1e-6 * table->length;
}

}  // namespace

PaoliSchatzman::PaoliSchatzman(std::shared_ptr<const System> system, const PaoliSchatzmanOptions& options,
                               const SolverOptions& solver)
    : system_(suitable(std::move(system), paoli_schatzman_demands)),
      max_iterations_(solver.max_iterations),
      n_(system_->ny()),
      m_(system_->ng()),
      contacts_(system_, system_->pattern(Q::momentum_z), options.solving, solver.linear_algebra),
      acceleration_(system_, solver.linear_algebra) {
  here_ = system_->evaluation({Q::momentum_z, Q::acceleration_force, Q::constraint_rate_z});
  next_ = system_->evaluation({Q::constraint});
  for (auto* v : {&before_, &y1_, &v0_, &v1_, &v_new_, &b_, &right_, &y_bar_, &a_, &velocity_}) v->resize(at(n_));
  M_.resize(system_->pattern(Q::momentum_z).entries());
  C_.resize(system_->pattern(Q::constraint_rate_z).entries());
  for (auto* v : {&c_, &psi_}) v->resize(at(m_));
  contacts_.statistics.momentum_balance = -1;  // not measured
}

// y_{-1} = y_0 - h z_0 + h^2/2 a_0, so that y_1 of the scheme is that of the start
bool PaoliSchatzman::begin(const State& state, double h) {
  std::copy(state.psi.begin(), state.psi.end(), psi_.begin());
  if (!acceleration_.compute(state.t, state.y.data(), state.z.data(), psi_.data(), velocity_.data(), a_.data()))
    return false;
  ++counters_.evaluations;
  for (int k = 0; k < n_; ++k) before_[at(k)] = state.y[at(k)] - h * state.z[at(k)] + h * h / 2 * a_[at(k)];
  return true;
}

// w such that H v + w is (1 + e) gap / h, to first order about v1
void PaoliSchatzman::demand(const State& state, double h) {
  const ContactList& l = contacts_.list();
  const int d = contacts_.dimension();
  w_.resize(at(contacts_.rows()));
  u_.resize(at(contacts_.rows()));
  contacts_.velocities(v1_.data(), u_.data());
  gap_.resize(at(l.count));
  double known = -1;  // the e that gap_ belongs to
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int i = contacts_.active[a];
    const double e = l.restitution[at(i)];
    if (e != known) {
      for (int k = 0; k < n_; ++k) y_bar_[at(k)] = (y1_[at(k)] + e * before_[at(k)]) / (1 + e);
      contacts_.finder().gaps(state.t + (1 - e) / (1 + e) * h, y_bar_.data(), l, gap_.data());
      known = e;
    }
    const std::size_t first = a * at(d);
    for (int row = 0; row < d; ++row) w_[first + at(row)] = l.drift[at(i * d + row)];
    w_[first] += (1 + e) * gap_[at(i)] / h - u_[first];
  }
}

bool PaoliSchatzman::solve(const State& state, double h) {
  const Pattern& rate_z = system_->pattern(Q::constraint_rate_z);
  const auto move = [&] {
    for (int k = 0; k < n_; ++k) y1_[at(k)] = state.y[at(k)] + h * v1_[at(k)];
  };
  std::copy(v0_.begin(), v0_.end(), v1_.begin());
  contacts_.step_length(h);
  ++counters_.factorisations;
  if (!contacts_.factor(M_.data(), C_.data())) return false;
  std::fill(right_.begin(), right_.end(), 0.0);
  multiply_add(system_->pattern(Q::momentum_z), M_.data(), v0_.data(), 1.0, right_.data());
  axpy(h, b_.data(), n_, right_.data());
  const NewtonTrouble trouble =
      newton(Booked(Settling(newton_policy::contacts_on_positions, max_iterations_), counters_), [&]() -> Increment {
        move();
        next_->at(state.t + h, y1_.data(), nullptr, nullptr);
        ++counters_.evaluations;
        // C v + c = 0 where c = g(y1)/h - C v1
        for (int j = 0; j < m_; ++j) c_[at(j)] = (*next_)[Q::constraint][j] / h;
        multiply_add(rate_z, C_.data(), v1_.data(), -1.0, c_.data());
        demand(state, h);
        ++counters_.iterations;
        if (!contacts_.solve(right_.data(), c_.data(), w_.data(), v_new_.data())) return no_increment;
        double change = 0;
        for (int k = 0; k < n_; ++k) change = larger(change, std::abs(v_new_[at(k)] - v1_[at(k)]));
        v1_.swap(v_new_);
        if (std::isfinite(change) && m_ == 0 && contacts_.active.empty()) return already_solved;
        return {change, std::max(biggest(v1_.data(), n_), biggest(state.y.data(), n_) / std::abs(h))};
      });
  if (trouble == NewtonTrouble::slow)
    contacts_.failure =
        fmt::format("joints and contacts do not settle within {} iterations; shorten the step", max_iterations_);
  move();
  return trouble == NewtonTrouble::none;
}

StepResult PaoliSchatzman::step(State& state, double h) {
  ++counters_.steps;
  contacts_.renew_work();
  contacts_.failure.clear();
  if (h < 0 && contacts_.has_contacts())
    return {false, "a motion with contacts cannot be followed backwards in time; take a positive step"};
  const bool continued =
      begun_ && std::abs(h - last_h_) <= 1e-9 * std::abs(h) && std::abs(state.t - end_time_) <= 1e-9 * std::abs(h);
  if (!continued && !begin(state, h)) return contacts_.explain(state, h, "the step");
  begun_ = false;
  here_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  std::copy_n((*here_)[Q::momentum_z], M_.size(), M_.data());
  std::copy_n((*here_)[Q::acceleration_force], n_, b_.data());
  std::copy_n((*here_)[Q::constraint_rate_z], C_.size(), C_.data());
  for (int k = 0; k < n_; ++k) v0_[at(k)] = (state.y[at(k)] - before_[at(k)]) / h;
  if (contacts_.has_contacts()) {
    // an impact may double a speed
    contacts_.find(state.t, state.y.data(), 2 * contact_band(*system_, v0_.data(), h, a_.data()));
    for (int i = 0; i < contacts_.list().count; ++i) contacts_.active.push_back(i);
  }
  if (!solve(state, h)) return contacts_.explain(state, h, "the step");
  const std::vector<double>& r = contacts_.contact_impulse;
  const bool loaded = std::any_of(r.begin(), r.end(), [](double x) { return x != 0; });
  const double t1 = state.t + h;
  multipliers_.resize(at(m_));
  for (int k = 0; k < m_; ++k) multipliers_[at(k)] = psi_[at(k)] = -contacts_.joint_impulse[at(k)] / h;
  ++counters_.evaluations;
  if (!acceleration_.compute(t1, y1_.data(), v1_.data(), psi_.data(), velocity_.data(), a_.data()))
    return contacts_.explain(state, h, "the step");
  u_.resize(at(contacts_.rows()));
  contacts_.velocities(v0_.data(), u_.data());
  if (!contacts_.active.empty()) {  // all that are listed
    const std::size_t rows = at(contacts_.rows());
    looked_.resize(2 * rows);
    contacts_.velocities(v1_.data(), looked_.data());
    contacts_.velocities(a_.data(), looked_.data() + rows);
    contacts_.subtract_drift(looked_.data() + rows);
    for (std::size_t k = 0; k < rows; ++k) looked_[rows + k] *= h;
    turning_.add(contacts_.list(), contacts_.dimension(), r.data(), u_.data(), looked_.data(), looked_.data() + rows);
  } else {
    turning_.forget();
  }
  contacts_.count_energy(r.data(), v0_.data(), v1_.data());
  contacts_.finish(r.data(), u_.data(), h, t1, y1_.data());
  before_ = state.y;
  state.y = y1_;
  for (int k = 0; k < n_; ++k) state.z[at(k)] = v1_[at(k)] + (loaded ? 0.0 : h / 2 * a_[at(k)]);
  if (!loaded) multipliers_ = psi_;  // else with what contacts press on joints
  state.psi = multipliers_;
  state.t = end_time_ = t1;
  last_h_ = h;
  begun_ = true;
  return {};
}

std::vector<Doubt> PaoliSchatzman::doubts() const {
  constexpr double allowed = 0.01;
  if (!(turning_.worst() > allowed)) return {};
  return {
      {"impacts take two steps here, and their impulse turned between these: the result depends on where in a step "
       "they "
       "fall; velocities are off by, as a part of the largest impact",
       turning_.worst(), "use moreau-jean or event-driven: a shorter step does not help"}};
}

namespace {

MethodInfo paoli_schatzman_info() {
  return {.name = "paoli-schatzman",
          .summary = "Paoli's and Schatzman's scheme for impacts, on positions alone; v = z",
          .order = "2, 1 with impacts",
          .multiplier_order = "not stated",
          .preserves = {.position_level = true, .symplectic = true, .momentum_maps = true},  // where nothing strikes
          .options = contact_options(),
          .reference = "L. Paoli, M. Schatzman, SIAM J. Numer. Anal. 40 (2002) 702-733",
          .can = {.contacts = true, .touching_bodies = 2, .particles = true, .joint_friction = true}};
}

}  // namespace

MethodChoice paoli_schatzman(const PaoliSchatzmanOptions& options) {
  options.solving.validate();
  MethodChoice choice{paoli_schatzman_info(), 2, "Paoli-Schatzman, order 2 between impacts", {}, 1};
  choice.description += describe(options.solving);
  choice.warnings = energy_warnings;
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
    return std::make_unique<PaoliSchatzman>(std::move(system), options, solver);
  };
  return choice;
}

MethodEntry paoli_schatzman_entry() {
  return {paoli_schatzman_info(), [](const GivenOptions& o) { return paoli_schatzman({contact_solving(o)}); }};
}

}  // namespace hinge
