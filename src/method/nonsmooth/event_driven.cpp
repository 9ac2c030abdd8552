#include "method/nonsmooth/event_driven.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "body/shape_gaps.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr int looks = 8;  // at the roots, within a step
constexpr std::size_t most_notes = 10000;
constexpr int most_crowded = 200;  // events without time between them
constexpr int counted_events = 10000;
constexpr const char* dependent_contacts =
    "the closed contacts, or joints that friction holds, depend on each other or on the joints, so that their "
    "reactions are not determined; use moreau-jean, which shares them out, or leave out a contact";
constexpr double no_time = 1e-8;  // of what is left: in which that many events are no way to its end

std::shared_ptr<const System> suitable(std::shared_ptr<const System> system) {
  if (const BodyTable* bodies = bodies_of(*system); bodies && bodies->can_collide())
    system = with_gaps_of_shapes(*system, "event-driven");
  const Structure& s = system->structure();
  if ((!s.velocity_is_z && system->layout().kind != SystemKind::multibody) || (s.has_contacts && !s.is_symbolic))
    throw UnsuitableMethod(
        "event-driven needs a [lagrangian], [mechanical] or [multibody] system, whose contacts are given by "
        "expressions "
        "or by shapes; for others use moreau-jean");
  if (system->ng() > 0 && !s.reaction_is_ideal)
    throw UnsuitableMethod("event-driven treats ideal joints only, whose reaction is -G^T psi");
  return system;
}

}  // namespace

EventDriven::EventDriven(std::shared_ptr<const System> system, const EventDrivenOptions& options,
                         const SolverOptions& solver, const StepOptions& steps)
    : system_(suitable(std::move(system))),
      options_(options),
      solver_(solver),
      steps_(steps),
      base_method_(options.base),
      motion_(system_),
      contacts_(system_, system_->pattern(Q::momentum_z), options.solving, solver.linear_algebra) {
  if (options_.impact != ImpactLaw::newton && motion_.gaps() < motion_.contacts())
    throw OptionError("impact", "friction of joints takes impact = \"newton\" here");
  contacts_.use_dense(true);
  contacts_.use_least_norm(false);
  here_ = system_->evaluation({Q::momentum_z, Q::acceleration_force, Q::constraint_rate_z, Q::constraint_curvature});
  modes_.assign(at(motion_.contacts()), ContactMode::open);
  directions_.resize(modes_.size());
  contacts_.statistics.momentum_balance = -1;  // not measured
}

EventDriven::Base& EventDriven::base() {
  const auto found = bases_.find(modes_);
  if (found != bases_.end()) return found->second;
  Base b;
  b.system = motion_.system(modes_);
  b.stepper = base_method_.bind(b.system, solver_, steps_);
  b.acceleration = std::make_unique<Acceleration>(b.system, solver_.linear_algebra);
  if (b.system->ng() > system_->ng())
    b.projection = std::make_unique<ConstraintProjection>(b.system, Projection::both, solver_.linear_algebra);
  b.velocity.resize(at(b.system->ny()));
  b.rate.resize(at(b.system->nz()));
  return bases_.emplace(modes_, std::move(b)).first->second;
}

void EventDriven::count(Counters& counters) const {
  Counters sum;
  for (const auto& [modes, b] : bases_) sum += b.stepper->counters();
  sum.steps = counters.steps;
  counters = sum;
}

// A run that looks for events of its own repeats steps: what is known already is not noted again.
bool EventDriven::note(double t, const std::string& what) {
  auto& events = contacts_.statistics.events;
  for (std::size_t k = events.size(); k-- > 0 && events.size() - k < 100;)
    if (events[k].what == what && std::abs(events[k].t - t) <= 1e-10 * std::max(1.0, std::abs(t))) return false;
  if (events.size() < most_notes) events.push_back({t, what});
  return true;
}

void EventDriven::to_mode(const State& state, State& s) {
  const System& system = *motion_.system(modes_);
  s.t = state.t;
  s.y.assign(at(system.ny()), 0.0);
  std::copy(state.y.begin(), state.y.end(), s.y.begin());
  const auto& places = motion_.places(modes_);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].direction >= 0) std::copy_n(directions_[i].data(), 2, s.y.data() + places[i].direction);
  s.z = state.z;
  s.psi.assign(at(system.npsi()), 1.0);  // a reaction of one's own may not be defined at zero
  std::copy(state.psi.begin(), state.psi.end(), s.psi.begin());
}

void EventDriven::to_user(const State& s, State& state) const {
  state.t = s.t;
  std::copy_n(s.y.begin(), state.y.size(), state.y.begin());
  std::copy_n(s.z.begin(), state.z.size(), state.z.begin());
  std::copy_n(s.psi.begin(), state.psi.size(), state.psi.begin());
}

bool EventDriven::multipliers(State& s) {
  Base& b = base();
  return b.acceleration->compute(s.t, s.y.data(), s.z.data(), s.psi.data(), b.velocity.data(), b.rate.data());
}

// What a stop leaves of slip, up to v_stop, where a contact sets off from there.
void EventDriven::stop_slip(State& state) {
  if (std::find(modes_.begin(), modes_.end(), ContactMode::set_off) == modes_.end()) return;
  const Modes modes = modes_;
  std::replace(modes_.begin(), modes_.end(), ContactMode::set_off, ContactMode::stick);
  Base& b = base();
  State s;
  to_mode(state, s);
  if (b.projection && b.projection->project(s.t, s.y.data(), s.z.data(), s.psi.data())) to_user(s, state);
  modes_ = modes;
}

// The work of friction from the start of the step that before_ begins to t1, in the present modes.
void EventDriven::count_friction(double t1) {
  const auto slips = [](ContactMode m) {
    return m == ContactMode::forward || m == ContactMode::backward || m == ContactMode::slide ||
           m == ContactMode::set_off;
  };
  const double t0 = std::max(before_.t, counted_until_);
  if (!(t1 > t0)) return;
  counted_until_ = t1;
  if (std::none_of(modes_.begin(), modes_.end(), slips)) return;
  Base& b = base();
  constexpr double node[] = {0.3399810435848563, 0.8611363115940526},
                   weight[] = {0.6521451548625461, 0.3478548451374538};
  for (int k = 0; k < 4; ++k) {  // Gauss
    const double t = (t0 + t1) / 2 + (k % 2 == 0 ? 1 : -1) * node[k / 2] * (t1 - t0) / 2;
    probe_ = before_;
    if (b.stepper->chooses_steps())
      b.stepper->interpolate(t, probe_);
    else if (!propagate(b, before_, t, probe_))
      return;
    probe_.t = t;
    if (!multipliers(probe_)) return;
    to_user(probe_, user_);
    const auto& contact = motion_.at(user_);
    double power = 0;
    for (std::size_t i = 0; i < modes_.size(); ++i)
      if (slips(modes_[i]))
        power += width(i, contact[i], probe_) * (motion_.tangents(static_cast<int>(i)) == 1
                                                     ? std::abs(contact[i].rate[1])
                                                     : std::hypot(contact[i].rate[1], contact[i].rate[2]));
    contacts_.statistics.friction_loss += weight[k / 2] * (t1 - t0) / 2 * power;
  }
}

StepResult EventDriven::restart(State& state) {
  stop_slip(state);
  to_mode(state, mode_state_);
  make_roots();
  Base& b = base();
  // what an event leaves of velocities that its mode forbids, and of gaps
  if (b.projection &&
      !b.projection->project(state.t, mode_state_.y.data(), mode_state_.z.data(), mode_state_.psi.data()))
    return {false, dependent_contacts};
  to_user(mode_state_, state);
  if (!multipliers(mode_state_)) return {false, dependent_contacts};
  if (StepResult started = b.stepper->start(mode_state_); !started) return started;
  user_ = state;
  evaluate_roots(mode_state_, values_);
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    roots_[k].scale = std::abs(values_[k]);
    roots_[k].armed = values_[k] > 1e-9;
    roots_[k].rising = roots_[k].kind == Root::Kind::gap &&
                       motion_.at(user_)[at(roots_[k].contact)].rate[0] > 1e-12 * std::max(speed_, 1e-300);
  }
  begun_ = true;
  return {};
}

StepResult EventDriven::begin(State& state) {
  user_ = state;
  modes_.assign(modes_.size(), ContactMode::open);
  crowded_ = counted_ = 0;
  last_event_ = -HUGE_VAL;
  return choose_modes(state, {});
}

// From a state to a time within the same mode, without disturbing the stepper that goes on from there.
StepResult EventDriven::propagate(Base& b, const State& from, double t, State& to) {
  to = from;
  if (t <= from.t) return {};
  if (!b.second) b.second = base_method_.bind(b.system, solver_, steps_);
  if (StepResult r = b.second->start(to); !r) return r;
  while (to.t < t)
    if (StepResult r = b.second->advance(to, t); !r) return r;
  return {};
}

// The state where a root falls through zero, somewhere in (t_before, t_after] after `from`: first on the interpolation,
// then on the motion itself.
StepResult EventDriven::locate(const State& from, double t_before, double t_after, int root, State& out) {
  const auto k = at(root);
  const double zero = level(roots_[k]);
  Base& b = base();
  State s = mode_state_;
  const auto value = [&](double t) {
    if (b.stepper->chooses_steps()) {
      b.stepper->interpolate(t, s);
      s.t = t;
    } else {
      propagate(b, from, t, s);
    }
    evaluate_roots(s, values_);
    return values_[k] - zero;
  };
  double low = t_before, high = t_after;
  if (roots_[k].rising && low == from.t) {  // from the top of the flight on
    const auto falls = [&](double t) {
      value(t);
      to_user(s, user_);
      return motion_.at(user_)[at(roots_[k].contact)].rate[0] < 0;
    };
    double up = low, down = high;
    while (down - up > 1e-3 * (high - up) && down - up > 1e-15 * std::abs(down)) {
      const double middle = 0.5 * (up + down);
      (falls(middle) ? down : up) = middle;
    }
    low = up > from.t ? up : down;
  }
  double f_low = value(low), f_high = value(high);
  if (f_low > 0)
    for (int count = 0; count < 200 && high - low > 1e-16 * std::abs(high); ++count) {  // Illinois
      double t = high - f_high * (high - low) / (f_high - f_low);
      if (!(t > low && t < high)) t = 0.5 * (low + high);
      if (t == low || t == high) break;
      const double f = value(t);
      if (f == 0) {
        low = high = t;
      } else if (f > 0) {
        low = t;
        f_low = f;
        if (count > 0) f_high *= 0.5;
      } else {
        high = t;
        f_high = f;
        if (count > 1) f_low *= 0.5;
      }
    }
  else
    high = low;
  double t = high, slope = 0;  // of other roots than gaps: on the interpolation
  if (roots_[k].kind != Root::Kind::gap) {
    const double width = 1e-3 * (t_after - from.t), before = std::max(from.t, t - width),
                 after = std::min(t_after, t + width);
    if (after > before) slope = (value(after) - value(before)) / (after - before);
  }
  StepResult result;
  newton(Settling(newton_policy::event_time), [&]() -> Increment {
    result = propagate(b, from, t, out);
    if (!result) return no_increment;
    double rest = 0, rate = slope;
    if (roots_[k].kind == Root::Kind::gap) {
      to_user(out, user_);
      const auto& v = motion_.at(user_)[at(roots_[k].contact)];
      rest = v.gap - zero;
      rate = v.rate[0];
    } else {
      evaluate_roots(out, values_);
      rest = values_[k] - zero;
    }
    if (rate == 0) return already_solved;
    const double change = -rest / rate, size = std::abs(t);
    if (std::abs(change) > 0.1 * (t_after - from.t)) return already_solved;
    t = std::clamp(t + change, from.t, t_after);
    return {std::abs(change), size};
  });
  return result;
}

StepResult EventDriven::advance(State& state, double limit) {
  const double start = state.t;
  for (;;) {
    Base& b = base();
    if (motion_.contacts() == 0 && !b.stepper->chooses_steps()) {
      if (StepResult result = b.stepper->advance(mode_state_, limit); !result) return result;
      to_user(mode_state_, state);
      return {};
    }
    before_ = mode_state_;
    step_modes_ = modes_;
    step_ended_by_event_ = false;
    if (StepResult result = b.stepper->advance(mode_state_, limit); !result) {
      mode_state_ = before_;
      return result;
    }
    for (const double x : mode_state_.z) speed_ = std::max(speed_, std::abs(x));
    // look for the first event
    const double t0 = before_.t, t1 = mode_state_.t;
    State from = before_;
    evaluate_roots(from, start_values_);
    const auto keep_looks = [&](std::vector<Look>& looks_at, double t) {
      looks_at.resize(roots_.size());
      for (std::size_t i = 0; i < roots_.size(); ++i) looks_at[i] = look_at(i, t);
    };
    keep_looks(start_looks_, t0);
    int event = -1;
    double t_low = t0, t_high = t0;
    const int count = b.stepper->chooses_steps() ? looks : 1;
    for (int k = 1; k <= count && event < 0; ++k) {
      t_low = t_high;
      t_high = k == count ? t1 : t0 + (t1 - t0) * k / count;
      probe_ = mode_state_;
      if (k < count) b.stepper->look_within(before_, t_high, probe_);
      evaluate_roots(probe_, end_values_);
      keep_looks(end_looks_, t_high);
      if (const double t = first_dip(); t < t_high) {
        t_high = t;
        look(t);
        end_values_ = values_;
        keep_looks(end_looks_, t_high);
      }
      event = first_event(start_values_, end_values_);
      if (event >= 0) break;
      for (std::size_t i = 0; i < roots_.size(); ++i) {
        roots_[i].scale = std::max(roots_[i].scale, std::abs(end_values_[i]));
        roots_[i].armed = roots_[i].armed || end_values_[i] > 1e-9 * std::max(roots_[i].scale, 1e-3);
        if (roots_[i].kind == Root::Kind::gap && end_values_[i] < 0)
          contacts_.statistics.penetration = std::max(contacts_.statistics.penetration, -end_values_[i]);
      }
      start_values_ = end_values_;
      start_looks_.swap(end_looks_);
    }
    if (event < 0) {
      count_friction(t1);
      to_user(mode_state_, state);
      return {};
    }
    State there;
    for (std::size_t k = 0; k <= roots_.size(); ++k) {
      if (StepResult r = locate(before_, t_low, t_high, event, there); !r) {
        mode_state_ = before_;
        return r;
      }
      const int earlier = overtaken(event, there);
      if (earlier < 0) break;
      event = earlier;
      t_high = there.t;
    }
    step_ended_by_event_ = true;
    count_friction(there.t);
    to_user(there, state);
    const Root root = roots_[at(event)];
    crowded_ = state.t - last_event_ <= 1e-13 * std::max(1.0, std::abs(state.t)) ? crowded_ + 1 : 0;
    last_event_ = state.t;
    if (crowded_ > most_crowded)
      return {false, fmt::format("events accumulate at t = {:g} ({} is the last): no time passes between them; use "
                                 "moreau-jean, whose steps do not stop at events, or a larger v_stop",
                                 state.t, motion_.name(root.contact))};
    if (counted_++ == 0) counted_from_ = state.t;
    if (counted_ > counted_events) {
      counted_ = 0;
      if (state.t - counted_from_ < no_time * (limit - state.t))
        return {false, fmt::format("{} events follow each other within {:g} at t = {:g} ({} is the last), and it does "
                                   "not end; use moreau-jean, whose steps do not stop at events, or a larger v_stop",
                                   counted_events, state.t - counted_from_, state.t, motion_.name(root.contact))};
    }
    std::vector<int> opened;
    if (root.kind == Root::Kind::reaction) opened.push_back(root.contact);
    if (StepResult r = choose_modes(state, opened); !r) return r;
    if (state.t > start) return {};
  }
}

void EventDriven::interpolate(double t, State& state) {
  const auto found = bases_.find(step_modes_);
  if (found == bases_.end() || t <= before_.t) {
    to_user(before_, state);
  } else if (found->second.stepper->chooses_steps() && !step_ended_by_event_) {
    probe_ = before_;
    found->second.stepper->interpolate(t, probe_);
    to_user(probe_, state);
  } else if (propagate(found->second, before_, t, probe_)) {
    to_user(probe_, state);
  }
  state.t = t;
}

}  // namespace hinge
