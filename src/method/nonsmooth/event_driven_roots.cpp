// The functions whose falling through zero are the events of contacts.
#include <algorithm>
#include <cmath>

#include "method/nonsmooth/event_driven.hpp"
#include "solve/index.hpp"

namespace hinge {

void EventDriven::make_roots() {
  roots_.clear();
  for (int i = 0; i < motion_.contacts(); ++i) {
    const ContactMode mode = modes_[at(i)];
    if (mode == ContactMode::open) {
      if (!motion_.is_bearing(i)) roots_.push_back({i, Root::Kind::gap});
      continue;
    }
    if (!motion_.is_bearing(i)) roots_.push_back({i, Root::Kind::reaction});
    if (mode == ContactMode::stick || mode == ContactMode::share) roots_.push_back({i, Root::Kind::cone});
    if (mode == ContactMode::forward || mode == ContactMode::backward || mode == ContactMode::slide ||
        mode == ContactMode::set_off)
      roots_.push_back({i, Root::Kind::slip});
    if (mode == ContactMode::set_off) roots_.push_back({i, Root::Kind::grown});
  }
}

double EventDriven::width(std::size_t i, const ContactMotion::Values& value, const State& s) {
  const int normal = motion_.places(modes_)[i].normal;
  return motion_.is_bearing(static_cast<int>(i)) ? value.friction
         : normal < 0                            ? 0.0
                                                 : value.friction * s.psi[at(normal)];
}

void EventDriven::evaluate_roots(State& s, std::vector<double>& out) {
  const auto& places = motion_.places(modes_);
  const bool closed = std::any_of(modes_.begin(), modes_.end(), [](ContactMode m) { return m != ContactMode::open; });
  if (closed) multipliers(s);
  to_user(s, user_);
  const auto& contact = motion_.at(user_);
  out.resize(roots_.size());
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    const auto i = at(roots_[k].contact);
    const double reaction = places[i].normal < 0 ? 0.0 : s.psi[at(places[i].normal)];
    switch (roots_[k].kind) {
      case Root::Kind::gap: out[k] = contact[i].gap; break;
      case Root::Kind::reaction: out[k] = reaction; break;
      case Root::Kind::cone: {
        double t = 0;
        for (const int place : places[i].tangential)
          if (place >= 0) t = std::hypot(t, s.psi[at(place)]);
        out[k] = modes_[i] == ContactMode::share ? 1 - t : width(i, contact[i], s) - t;
        break;
      }
      case Root::Kind::grown: out[k] = 2 * options_.v_stop - std::hypot(contact[i].rate[1], contact[i].rate[2]); break;
      case Root::Kind::slip:
        out[k] = modes_[i] == ContactMode::set_off
                     ? contact[i].rate[1] * directions_[i][0] + contact[i].rate[2] * directions_[i][1]
                 : modes_[i] == ContactMode::forward ? contact[i].rate[1]
                 : modes_[i] == ContactMode::backward
                     ? -contact[i].rate[1]
                     : std::hypot(contact[i].rate[1], contact[i].rate[2]) - options_.v_stop;
        break;
    }
  }
}

// What a root falls through at its event: zero; or, where it began at zero and has not been clearly positive since,
// something clearly negative.
double EventDriven::level(const Root& root) const {
  return root.armed || root.rising ? 0.0 : -1e-9 * std::max(root.scale, 1e-3);
}

// The first root that has fallen through its level between two looks; -1 where none has. A gap that has just begun to
// open may be below zero by rounding, for as long as a short step takes.
int EventDriven::first_event(const std::vector<double>& before, const std::vector<double>& after) const {
  int first = -1;
  double earliest = HUGE_VAL;
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    const double zero = level(roots_[k]);
    if (!(after[k] < zero)) continue;
    if (roots_[k].rising && !roots_[k].armed && before[k] <= zero && end_looks_[k].rate > 0 &&
        after[k] > -1e-9 * std::max(roots_[k].scale, 1e-3))
      continue;
    const double fraction = before[k] > zero ? (before[k] - zero) / (before[k] - after[k]) : 0.0;
    if (fraction < earliest) {
      earliest = fraction;
      first = static_cast<int>(k);
    }
  }
  return first;
}

}  // namespace hinge
