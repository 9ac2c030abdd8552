// What happens at an event: impacts, and the modes of all contacts after it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "method/nonsmooth/event_driven.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Q = Quantity;

}  // namespace

// Impacts at contacts that are closed and approach. Changes the velocities; true where there was one.
bool EventDriven::strike(State& state, bool& failed) {
  failed = false;
  const int d = contacts_.dimension(), nz = system_->nz();
  u_.resize(at(contacts_.rows()));
  contacts_.velocities(state.z.data(), u_.data());
  for (const double x : state.z) speed_ = std::max(speed_, std::abs(x));
  const double rounding = 1e-12 * std::max(speed_, 1e-300);
  std::vector<int> approaching;
  for (int i = 0; i < static_cast<int>(contacts_.active.size()); ++i)
    if (u_[at(i * d)] < -rounding) approaching.push_back(i);
  if (approaching.empty()) return false;
  here_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  if (!contacts_.factor((*here_)[Q::momentum_z], (*here_)[Q::constraint_rate_z])) {
    failed = true;
    return false;
  }
  contacts_.step_length(0);
  std::vector<double> impulse;
  bool solved = true;
  const auto apply = [&](const std::vector<double>& restitution) {
    z_ = state.z;
    if (options_.impact != ImpactLaw::newton) {
      for (std::size_t i = 0; i < restitution.size(); ++i)
        contacts_.set_restitution(static_cast<int>(i), restitution[i]);
      solved = options_.impact == ImpactLaw::poisson ? contacts_.poisson(z_.data(), impulse)
                                                     : contacts_.sequential(options_.last_first, z_.data(), impulse);
      return;
    }
    right_.assign(at(nz), 0.0);
    multiply_add(system_->pattern(Q::momentum_z), (*here_)[Q::momentum_z], state.z.data(), 1, right_.data());
    c_.assign(at(system_->ng()), 0.0);
    multiply_add(system_->pattern(Q::constraint_rate_z), (*here_)[Q::constraint_rate_z], state.z.data(), -1, c_.data());
    w_.assign(at(contacts_.rows()), 0.0);
    const ContactList& l = contacts_.list();
    for (std::size_t i = 0; i < contacts_.active.size(); ++i) {
      for (int k = 0; k < d; ++k) w_[i * at(d) + at(k)] = l.drift[at(contacts_.active[i] * d + k)];
      w_[i * at(d)] += restitution[i] * std::min(0.0, u_[i * at(d)]);
    }
    solved = contacts_.solve(right_.data(), c_.data(), w_.data(), z_.data());
    impulse = contacts_.contact_impulse;
  };
  std::vector<double> e;
  for (const int i : contacts_.active) e.push_back(contacts_.list().restitution[at(i)]);
  apply(e);
  if (!solved) {
    failed = true;
    return false;
  }
  // Zeno's rule: what rebounds slowly and is pressed back closes now
  std::vector<double> after(u_.size());
  contacts_.velocities(z_.data(), after.data());
  bool closes = false;
  std::vector<double> none = e;
  State trial = state;
  trial.z = z_;
  for (const int i : approaching) {
    const double up = after[at(i * d)];
    const int contact = contact_of(contacts_.list().key[at(contacts_.active[at(i)])]);
    if (!(up > 0 && up < options_.v_stop && e[at(i)] > 0 && e[at(i)] < 1)) continue;
    // the acceleration of the gap while it is open
    Modes modes = modes_;
    modes[at(contact)] = ContactMode::open;
    std::swap(modes, modes_);
    State open;
    to_mode(trial, open);
    Base& b = base();
    const bool known = multipliers(open);
    double press = 0;
    if (known) {
      const auto& values = motion_.at(trial);
      press = -values[at(contact)].curvature[0];
      const ContactList& l = contacts_.list();
      const auto c = at(contacts_.active[at(i)]);
      for (int k = l.first[c]; k < l.first[c + 1]; ++k) press -= l.H[at(k) * at(d)] * b.rate[at(l.column[at(k)])];
    }
    std::swap(modes, modes_);
    if (!(press > 0)) continue;
    closes = true;
    none[at(i)] = 0;
    note(state.t + 2 * up / (press * (1 - e[at(i)])),
         fmt::format("impacts of {} have accumulated", motion_.name(contact)));
  }
  bool fresh = true;
  for (const int i : approaching) {
    const int contact = contact_of(contacts_.list().key[at(contacts_.active[at(i)])]);
    fresh = note(state.t, fmt::format("impact of {}", motion_.name(contact)));
    contacts_.statistics.impacts += fresh ? 1 : 0;
  }
  if (closes) {  // the same law for all, without the rebound of those that close
    apply(none);
    for (std::size_t i = 0; i < e.size(); ++i) contacts_.set_restitution(static_cast<int>(i), e[i]);
  }
  if (!solved) {
    failed = true;
    return false;
  }
  if (fresh) contacts_.count_energy(impulse.data(), state.z.data(), z_.data());
  std::copy(z_.begin(), z_.end(), state.z.begin());
  return true;
}

// The modes that follow, from the contact problem of a very short step.
bool EventDriven::decide(const State& state, const std::vector<int>& opened, Modes& modes) {
  const int d = contacts_.dimension(), nz = system_->nz();
  modes.assign(at(motion_.contacts()), ContactMode::open);
  const auto& value = motion_.at(state);
  const double rounding = slow();
  const ContactList& l = contacts_.list();
  std::vector<int> closed;
  for (int i = 0; i < l.count; ++i) {
    const int contact = contact_of(l.key[at(i)]);
    const bool forced = std::find(opened.begin(), opened.end(), contact) != opened.end();
    if (!forced && value[at(contact)].rate[0] <= rounding) closed.push_back(i);
  }
  contacts_.active = closed;
  if (closed.empty()) return true;
  here_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  const Pattern &mass = system_->pattern(Q::momentum_z), &joints = system_->pattern(Q::constraint_rate_z);
  if (!contacts_.factor((*here_)[Q::momentum_z], (*here_)[Q::constraint_rate_z])) return false;
  // short beside everything that moves, long beside rounding
  double force = 0, momentum = 0;
  right_.assign(at(nz), 0.0);
  multiply_add(mass, (*here_)[Q::momentum_z], state.z.data(), 1, right_.data());
  for (int k = 0; k < nz; ++k) {
    force = std::max(force, std::abs((*here_)[Q::acceleration_force][k]));
    momentum = std::max(momentum, std::abs(right_[at(k)]));
  }
  const double h = 1e-6 * (force > 0 && momentum > 0 ? std::clamp(momentum / force, 1e-3, 1e3) : 1.0);
  contacts_.step_length(h);
  axpy(h, (*here_)[Q::acceleration_force], nz, right_.data());
  c_.assign(at(system_->ng()), 0.0);
  multiply_add(joints, (*here_)[Q::constraint_rate_z], state.z.data(), -1, c_.data());
  axpy(h, (*here_)[Q::constraint_curvature], system_->ng(), c_.data());
  u_.resize(at(contacts_.rows()));
  contacts_.velocities(state.z.data(), u_.data());
  w_.assign(at(contacts_.rows()), 0.0);
  const auto sliding = [&](int contact) { return slides(contact, value[at(contact)]); };
  for (std::size_t i = 0; i < closed.size(); ++i) {
    const int contact = contact_of(l.key[at(closed[i])]);
    for (int k = 0; k < d; ++k) {
      const auto row = i * at(d) + at(k);
      const bool zero = k == 0 || (k <= motion_.tangents(contact) && !sliding(contact));
      w_[row] = l.drift[at(closed[i] * d + k)] + h * value[at(contact)].curvature[k] - (zero ? u_[row] : 0.0);
    }
  }
  z_.resize(at(nz));
  if (!contacts_.solve(right_.data(), c_.data(), w_.data(), z_.data())) return false;
  read_outcomes(closed, h, value);
  for (const Outcome& o : outcomes_) modes[at(o.contact)] = mode_of(o, value[at(o.contact)].rate[1]);
  leave_to_stops(modes);
  share_out(modes);
  return true;
}

StepResult EventDriven::choose_modes(State& state, const std::vector<int>& opened) {
  if (motion_.contacts() == 0) return restart(state);
  const Modes old = modes_;
  double size = contacts_.finder().length_scale();
  for (const double x : state.y) size = std::max(size, std::abs(x));
  contacts_.find(state.t, state.y.data(), 1e-9 * size);
  contacts_.renew_work();
  contacts_.active.clear();
  for (int i = 0; i < contacts_.list().count; ++i) contacts_.active.push_back(i);
  bool failed = false;
  for (int repeat = 0; repeat < 50 && strike(state, failed); ++repeat) {
  }
  Modes modes;
  if (failed || !decide(state, opened, modes))
    return {false, fmt::format("the contact problem of the event at t = {:g} has no solution: {}", state.t,
                               contacts_.failure.empty() ? "its matrix is singular" : contacts_.failure)};
  modes_ = modes;
  static const char* const words[] = {"opens",  "closes", "sticks", "slips forward", "slips backward",
                                      "slides", "slides", "sticks", "sticks",        "sticks"};
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i] != old[i] && !(modes[i] == ContactMode::open && motion_.is_bearing(static_cast<int>(i))) &&
        !(old[i] == ContactMode::set_off && modes[i] == ContactMode::slide))
      note(state.t, fmt::format("{} {}", motion_.name(static_cast<int>(i)), words[static_cast<int>(modes[i])]));
  contacts_.statistics.contacts = static_cast<int>(std::count_if(modes.begin(), modes.begin() + motion_.gaps(),
                                                                 [](ContactMode m) { return m != ContactMode::open; }));
  contacts_.statistics.loaded = contacts_.statistics.contacts;
  contacts_.statistics.most_contacts = std::max(contacts_.statistics.most_contacts, contacts_.statistics.contacts);
  return restart(state);
}

}  // namespace hinge
