// What the contact problem of a very short step says about each closed contact: its mode.
#include <algorithm>
#include <cmath>

#include "method/nonsmooth/event_driven.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double inside = 1 - 1e-8;    // of the cone
constexpr double stands_still = 1e-6;  // of what friction at its limit would move
constexpr double cancelled = 1e-4;
constexpr double one_motion = 1e-9;

double length(int tangents, const double* x) { return tangents == 1 ? std::abs(x[0]) : std::hypot(x[0], x[1]); }

}  // namespace

double EventDriven::slow() const { return 1e-10 * std::max(speed_, 1e-6); }

bool EventDriven::slides(int contact, const ContactMotion::Values& v) const {
  return std::hypot(v.rate[1], v.rate[2]) > (motion_.tangents(contact) == 2 ? options_.v_stop : slow());
}

// After the solution for z_: of contacts that carry, and of friction in joints. u_ has the velocities before.
void EventDriven::read_outcomes(const std::vector<int>& closed, double h,
                                const std::vector<ContactMotion::Values>& value) {
  const int d = contacts_.dimension();
  const ContactList& l = contacts_.list();
  double most = 0;
  for (std::size_t i = 0; i < closed.size(); ++i) most = std::max(most, contacts_.contact_impulse[i * at(d)]);
  std::vector<double> after(u_.size());
  contacts_.velocities(z_.data(), after.data());
  outcomes_.clear();
  for (std::size_t i = 0; i < closed.size(); ++i) {
    Outcome o;
    o.row = static_cast<int>(i) * d;
    o.contact = contact_of(l.key[at(closed[i])]);
    o.tangents = motion_.tangents(o.contact);
    o.slides = slides(o.contact, value[at(o.contact)]);
    const double* r = contacts_.contact_impulse.data() + o.row;
    const bool bearing = motion_.is_bearing(o.contact);
    if (!bearing && !(r[0] > 1e-9 * most)) continue;
    o.limit = l.friction[at(closed[i])] * (bearing ? contacts_.bearing_width(o.row) : r[0]);
    // Slip behind the step, of what stood still. Zero where it sticks, up to a small part of what friction could do;
    // or, where friction cannot move it at all, of what it is made of.
    for (int k = 0; k < o.tangents; ++k) {
      o.r[k] = r[1 + k];
      const double change = after[at(o.row + 1 + k)] - u_[at(o.row + 1 + k)],
                   bend = h * value[at(o.contact)].curvature[1 + k];
      const double could = contacts_.compliance(o.row + 1 + k, o.row + 1 + k) * o.limit;
      const double least = could > 0 ? stands_still * could : cancelled * (std::abs(change) + std::abs(bend));
      o.slip[k] = std::abs(change + bend) > least ? change + bend : 0.0;
    }
    outcomes_.push_back(o);
  }
}

ContactMode EventDriven::mode_of(const Outcome& o, double rate) {
  if (o.tangents == 0) return ContactMode::closed;
  if (o.slides) return o.tangents == 2 ? ContactMode::slide : rate > 0 ? ContactMode::forward : ContactMode::backward;
  const double size = length(o.tangents, o.r), speed = length(o.tangents, o.slip);
  const bool held = size < o.limit * inside || size == 0;
  if (held && speed == 0) return ContactMode::stick;
  // What nothing presses on goes where it is pushed, and so does what friction cannot hold in this position.
  const double sign = held ? 1 : -1;
  const double* way = held ? o.slip : o.r;
  if (o.tangents == 1) return sign * way[0] > 0 ? ContactMode::forward : ContactMode::backward;
  directions_[at(o.contact)] = {sign * way[0] / (held ? speed : size), sign * way[1] / (held ? speed : size)};
  return ContactMode::set_off;
}

// Where a closed stop holds the one motion of a joint at rest, friction there has nothing to hold, and which part it
// would carry is not determined: the stop carries all, until it opens.
void EventDriven::leave_to_stops(Modes& modes) {
  const auto one_motion_of = [&](const Outcome& stop, const Outcome& o) {
    const double own = contacts_.compliance(stop.row, stop.row) * contacts_.compliance(o.row + 1, o.row + 1),
                 both = contacts_.compliance(stop.row, o.row + 1);
    return own > 0 && std::abs(both * both - own) <= one_motion * own;
  };
  for (const Outcome& o : outcomes_) {
    if (!motion_.is_bearing(o.contact) || o.tangents != 1 || o.slides) continue;
    for (const Outcome& stop : outcomes_)
      if (!motion_.is_bearing(stop.contact) && one_motion_of(stop, o)) modes[at(o.contact)] = ContactMode::open;
  }
}

// Joints at rest that all turn or slide in one motion of a closed chain: friction holds it where any of them has some
// left, and they share the load in proportion to what they can carry.
void EventDriven::share_out(Modes& modes) {
  std::vector<const Outcome*> rest;
  for (const Outcome& o : outcomes_)
    if (motion_.is_bearing(o.contact) && o.tangents == 1 && !o.slides && modes[at(o.contact)] != ContactMode::open)
      rest.push_back(&o);
  for (std::size_t first = 0; first < rest.size(); ++first) {
    const auto compliance = [&](const Outcome* a, const Outcome* b) {
      return contacts_.compliance(a->row + 1, b->row + 1);
    };
    std::vector<const Outcome*> group;
    for (const Outcome* o : rest) {
      const double own = compliance(rest[first], rest[first]) * compliance(o, o), both = compliance(rest[first], o);
      if (own > 0 && std::abs(both * both - own) <= one_motion * own) group.push_back(o);
    }
    if (group.size() < 2) continue;
    const auto has_some_left = [](const Outcome* o) {
      return std::abs(o->r[0]) < o->limit * inside && o->slip[0] == 0;
    };
    if (std::none_of(group.begin(), group.end(), has_some_left)) return;
    const Outcome* lead = *std::max_element(group.begin(), group.end(), [&](const Outcome* a, const Outcome* b) {
      return compliance(a, a) * a->limit * a->limit < compliance(b, b) * b->limit * b->limit;
    });
    for (const Outcome* o : group)
      modes[at(o->contact)] = o == lead                 ? ContactMode::share
                              : compliance(lead, o) > 0 ? ContactMode::share_with
                                                        : ContactMode::share_against;
    return;  // one such chain
  }
}

}  // namespace hinge
