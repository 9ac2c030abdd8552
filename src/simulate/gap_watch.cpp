#include "simulate/gap_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_gap_operations = 4000;  // of all gaps together
constexpr std::size_t most_followed = 300;
constexpr int looks_on_way = 128, places_on_way = 2000;  // on the way of a step
constexpr double much_of_rate = 0.02;                    // of the fastest that a gap has changed
constexpr double deep_in_gap = 0.01;                     // of the widest that a gap has been
constexpr double gap_rounding = 1e-9;

}  // namespace

void GapWatch::begin(const System& system, bool chosen_steps) {
  *this = GapWatch();
  const Structure& has = system.structure();
  if (chosen_steps || has.is_dae || !(has.has_contacts || has.gaps > 0)) return;
  system_ = &system;
  strikes_.resize(256);
  table_ = bodies_of(system);
  velocity_is_z_ = has.velocity_is_z;
  const auto n = static_cast<std::size_t>(system.ny());
  y_.resize(n);
  low_.assign(n, INFINITY);
  high_.assign(n, -INFINITY);
  if (table_) {
    length_ = table_->length;
    thin_ = table_->colliders.size() <= most_followed ? table_->thinnest() : HUGE_VAL;
    smallest_ = table_->smallest();
    return;
  }
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic || has.gaps == 0) return;
  const Equations& eq = symbolic->equations();
  std::vector<Node> nodes;
  for (const Equations::Gap& gap : eq.gaps) nodes.push_back(gap.gap);
  gaps_.resize(nodes.size());
  values_.resize(nodes.size());
  finder_ = system.contact_finder();
  for (std::size_t k = 0; k < nodes.size(); ++k) all_.key.push_back(k);
  all_.count = static_cast<int>(nodes.size());
  if (cone_of(*eq.graph, nodes).size() > most_gap_operations) return;
  enclosure_ = std::make_unique<Enclosure>(*eq.graph, nodes);
  for (const Node v : enclosure_->variables()) {
    const auto y = std::find(eq.y.begin(), eq.y.end(), v);
    places_.push_back({y == eq.y.end(), static_cast<std::size_t>(y - eq.y.begin())});
  }
  way_.resize(places_.size());
  variables_.resize(places_.size());
  numbers_.resize(places_.size());
}

// ---- Passed -------------------------------------------------------------------------------------------------------

void GapWatch::lay_way(const State& before, const State& after, bool pushed) {
  const double h = after.t - before.t;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const std::size_t i = places_[p].index;
    const double a = places_[p].is_time ? before.t : before.y[i], b = places_[p].is_time ? after.t : after.y[i];
    const bool bends = !places_[p].is_time && !pushed && velocity_is_z_;
    way_[p] = {a, bends ? a + h / 3 * before.z[i] : a + (b - a) / 3, bends ? b - h / 3 * after.z[i] : b - (b - a) / 3,
               b};
  }
}

// The blossom of a coordinate: with a = b = c its value there.
double GapWatch::on_way(std::size_t place, double a, double b, double c) const {
  std::array<double, 4> q = way_[place];
  const double at[] = {a, b, c};
  for (std::size_t level = 0; level < 3; ++level)
    for (std::size_t k = 0; k + level < 3; ++k) q[k] = (1 - at[level]) * q[k] + at[level] * q[k + 1];
  return q[0];
}

double GapWatch::gap_at(std::size_t k, double s) {
  for (std::size_t p = 0; p < places_.size(); ++p) numbers_[p] = on_way(p, s, s, s);
  return enclosure_->at(numbers_, k);
}

// No gap k on that part of the way is less.
double GapWatch::bound(std::size_t k, double a, double b) {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const double q[] = {on_way(p, a, a, a), on_way(p, a, a, b), on_way(p, a, b, b), on_way(p, b, b, b)};
    const double d[] = {q[1] - q[0], q[2] - q[1], q[3] - q[2]}, rate = 3 / (b - a);
    variables_[p] = {{std::min({q[0], q[1], q[2], q[3]}), std::max({q[0], q[1], q[2], q[3]})},
                     {rate * std::min({d[0], d[1], d[2]}), rate * std::max({d[0], d[1], d[2]})}};
  }
  enclosure_->on(variables_);
  return (*enclosure_)[k].value.low;
}

// Ends of steps inside of a gap that is never pushed.
void GapWatch::follow_inside(const State& before, double h) {
  for (std::size_t k = 0; k < gaps_.size(); ++k) {
    Gap& gap = gaps_[k];
    if (gap.impulse != 0 || (values_[k] < 0 && gap.now < 0 && gap.entry == 0)) {
      gap.entry = 0;
    } else if (values_[k] < 0 && gap.now >= 0) {
      gap.entry = (gap.now - values_[k]) / h;
      gap.inside = h;
    } else if (gap.entry > 0) {
      gap.inside += h;
      if (values_[k] < 0) continue;
      if (gap.entry > much_of_rate * gap.fastest) count_pass(k, before.t, gap.inside);
      gap.entry = 0;
    }
  }
}

void GapWatch::look_for_passes(const State& before, const State& after) {
  const bool pushed = std::any_of(gaps_.begin(), gaps_.end(), [](const Gap& g) { return g.impulse != 0; });
  lay_way(before, after, pushed);
  const double h = after.t - before.t;
  bound(0, 0, 1);  // of all
  for (std::size_t k = 0; k < gaps_.size(); ++k) {
    const Gap& gap = gaps_[k];
    const double least = std::min(gap.now, values_[k]);
    // what carries lies on its gap
    if (!(least >= -gap_rounding * std::max(gap.position, gap.widest)) ||
        (gap.impulse != 0 && least < deep_in_gap * gap.widest))
      continue;
    if ((*enclosure_)[k].value.low > 0) continue;
    double worst = -gap_rounding * std::max(gap.position, gap.widest), where = -1;
    struct Part {
      double a, b;
    };
    std::array<Part, looks_on_way> open;
    std::size_t first = 0, count = 0;
    open[count++] = {0, 1};
    for (; first < count; ++first) {  // wide ones first
      const auto [a, b] = open[first];
      if (first > 0 && bound(k, a, b) > worst) continue;
      const double middle = a + (b - a) / 2, value = gap_at(k, middle);
      if (value < worst) worst = value, where = middle;
      if (count + 2 <= open.size()) open[count++] = {a, middle}, open[count++] = {middle, b};
    }
    if (where >= 0) note_pass(k, where, -worst, before, h);
    bound(0, 0, 1);
  }
}

void GapWatch::note_pass(std::size_t k, double deepest_at, double depth, const State& before, double h) {
  Gap& gap = gaps_[k];
  const auto border = [&](double open, double inside) {
    for (int n = 0; n < 40; ++n) (gap_at(k, (open + inside) / 2) > 0 ? open : inside) = (open + inside) / 2;
    return inside;
  };
  const double from = border(0, deepest_at), to = border(1, deepest_at);
  const double time = std::max((to - from) * h, 1e-12 * h), speed = 4 * depth / time;
  gap.fastest = std::max(gap.fastest, speed);
  // where both ends lie nearer than it is deep, it is what a step cuts off a curve
  const bool cut = std::max(gap.now, values_[k]) < depth;
  // what slides closed leaves its gap by what the step cuts off its curve, and so is seen at both sides
  if (gap.widest < gap.way && depth < deep_in_gap * gap.way) return;
  if (gap.impulse != 0 || cut ? depth < deep_in_gap * std::max(gap.widest, gap.position)
                              : speed < much_of_rate * gap.fastest)
    return;
  count_pass(k, before.t + from * h, time);
}

void GapWatch::count_pass(std::uint64_t key, double t, double time) {
  shortest_pass_ = std::min(shortest_pass_, time);
  if (passes_++ > 0) return;
  first_pass_ = t;
  passed_ = finder_->name(key);
}

// Positions between those of a step, along straight lines.
void GapWatch::follow_bodies(const State& before, const State& after) {
  const double h = after.t - before.t,
               way = h * std::max(table_->fastest(before.z.data()), table_->fastest(after.z.data()));
  if (!(way > thin_)) return;
  if (!finder_) finder_ = system_->contact_finder();
  const int looks = static_cast<int>(std::min<double>(places_on_way, std::ceil(4 * way / thin_)));
  const auto deepest = [&](double s, std::uint64_t& key) {
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = before.y[i] + s * (after.y[i] - before.y[i]);
    finder_->find(before.t + s * h, y_.data(), 0, there_);
    double most = 0;
    for (int i = 0; i < there_.count; ++i) {
      const double gap = there_.gap[at(i)];
      if (JointContacts::has(there_.key[at(i)]) || !(-gap > most)) continue;
      most = -gap;
      key = there_.key[at(i)];
    }
    return most;
  };
  std::uint64_t key = 0;
  const double allowed = std::max(deepest(0, key), deepest(1, key)) + thin_ / 4;
  for (int n = 1; n < looks; ++n) {
    const double s = static_cast<double>(n) / looks;
    if (!(deepest(s, key) > allowed)) continue;
    return count_pass(key, before.t + s * h, h * thin_ / way);
  }
}

// ---- Struck -------------------------------------------------------------------------------------------------------

// The angle between the normals of a gap where a step begins and where it closes, or closed, as the velocities go.
double GapWatch::turn_at_touch(int i, double u0, const State& before, const State& after) {
  const double h = after.t - before.t;
  const double time = std::clamp(-here_.gap[at(i)] / u0, -h, h);
  for (std::size_t k = 0; k < y_.size(); ++k) y_[k] = before.y[k] + time * before.z[k];
  finder_->find(before.t + time, y_.data(), HUGE_VAL, there_);
  const double turn = angle(here_, there_, i);
  if (time < 0) return turn;
  // methods may have that of the end of the step, which then is not about the same place
  constexpr double elsewhere = 0.3;
  finder_->find(after.t, after.y.data(), HUGE_VAL, here_);
  const double later = angle(here_, there_, i);
  finder_->find(before.t, before.y.data(), HUGE_VAL, here_);
  return later > elsewhere ? std::max(turn, later) : turn;
}

double GapWatch::angle(const ContactList& list, const ContactList& other, int i) {
  if (list.count != other.count || list.first != other.first) return 0;
  double both = 0, a2 = 0, b2 = 0;
  for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k) {
    const double a = list.H[at(k * list.dimension)], b = other.H[at(k * list.dimension)];
    both += a * b, a2 += a * a, b2 += b * b;
  }
  return a2 > 0 && b2 > 0 ? std::acos(std::clamp(both / std::sqrt(a2 * b2), -1.0, 1.0)) : 0;
}

// u = H z + drift, of the normal.
double GapWatch::rate(const ContactList& list, int i, const State& s) {
  double u = list.drift[at(i * list.dimension)];
  for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k)
    u += list.H[at(k * list.dimension)] * s.z[at(list.column[at(k)])];
  return u;
}

// Those whose impulse is no force that goes on.
void GapWatch::look_at_struck_gaps(const State& before, const State& after) {
  constexpr double sudden = 3;
  const double h = after.t - before.t;
  bool listed = false;
  for (std::size_t k = 0; k < gaps_.size(); ++k) {
    Gap& gap = gaps_[k];
    if (!(gap.impulse > sudden * gap.last_impulse)) continue;
    if (!std::exchange(listed, true)) finder_->find(before.t, before.y.data(), HUGE_VAL, here_);
    if (here_.count != std::ssize(gaps_)) return;
    const int i = static_cast<int>(k);
    const double u0 = rate(here_, i, before), u1 = rate(here_, i, after);
    if (-u0 < std::max(much_of_rate * gap.fastest, gap_rounding * std::max(1.0, gap.position) / h)) continue;
    if (velocity_is_z_) {
      gap.turning += gap.impulse * turn_at_touch(i, u0, before, after);
      gap.pushed += gap.impulse;
    }
    if (!(u1 > 0)) continue;
    const double expected = std::max(0.0, u1 / -u0 * (-h * u0 - here_.gap[k]));
    gap.misplaced = std::max(gap.misplaced, std::abs(expected - values_[k]));
  }
}

// Does the contact rebound again within some steps, about as fast as ever?
void GapWatch::count_strike(std::uint64_t key, double u0, double u1, double h) {
  constexpr long some_steps = 6, some_times = 3;
  constexpr double much = 0.2;
  Strikes& s = strikes_of(key);
  if (s.key != key) s = {.key = key, .room = JointContacts::has(key) ? HUGE_VAL : 0};
  s.fastest = std::max(s.fastest, -u0);
  if (-u0 < much * s.fastest) {
    s.in_a_row = 0;
    return;
  }
  s.in_a_row = s.last >= 0 && steps_ - s.last <= some_steps ? s.in_a_row + 1 : 0;
  s.last = steps_;
  // from one stop of a joint to the other
  const bool to_and_fro = gaps_.empty() && JointContacts::has(key) && s.room < h * u1;
  if (s.in_a_row < some_times && !to_and_fro) return;
  ++hurried_;
  shortest_flight_ = std::min(shortest_flight_, s.room > 0 && s.room < HUGE_VAL ? s.room / -u0 : h);
}

void GapWatch::look_at_strikes(const State& before, const State& after, const ContactImpulses& impulses) {
  constexpr double rebounds = 0.05;
  const ContactList& list = impulses.contacts;
  const double h = after.t - before.t, size = std::max(length_, extent());
  for (int i = 0; i < list.count; ++i) {
    if (!(list.restitution[at(i)] > 0)) continue;
    const std::uint64_t key = list.key[at(i)];
    Strikes& s = strikes_of(key);
    const double gap = list.gap[at(i)];
    // what is closed already when it is first seen may have come from anywhere
    if (gaps_.empty() && JointContacts::has(key) && s.last < 0 && s.key != key)
      s = {.key = key, .room = gap > gap_rounding * size ? gap : HUGE_VAL};
    if (s.key == key) s.room = std::max(s.room, gap);
    const double r = impulses.impulse[at(i * list.dimension)];
    if (!(r > 0)) continue;
    const double u0 = rate(list, i, before), u1 = rate(list, i, after);
    if (!(-u0 * h > gap_rounding * size)) continue;
    if (gaps_.empty() && !JointContacts::has(key)) misplaced_ = std::max(misplaced_, h * std::max(0.0, u1));
    if (u1 > rebounds * -u0) count_strike(key, u0, u1, h);
  }
}

// How far a body has come around, in its largest coordinate.
double GapWatch::extent() const {
  double most = 0;
  if (table_) {
    for (const BodyPlace& place : table_->places)
      for (int k = 0; k < table_->dimension; ++k) most = std::max(most, high_[at(place.x + k)] - low_[at(place.x + k)]);
  } else {
    for (std::size_t i = 0; i < low_.size(); ++i) most = std::max({most, std::abs(high_[i]), std::abs(low_[i])});
  }
  return most;
}

void GapWatch::see(const State& before, const State& after, const ContactImpulses* impulses) {
  if (!system_ || !impulses || !(after.t > before.t)) return;
  for (const State* s : {&before, &after})
    for (std::size_t i = 0; i < low_.size(); ++i)
      low_[i] = std::min(low_[i], s->y[i]), high_[i] = std::max(high_[i], s->y[i]);
  const double h = after.t - before.t;
  longest_step_ = std::max(longest_step_, h);
  if (!gaps_.empty()) {
    if (steps_ == 0) {
      finder_->gaps(before.t, before.y.data(), all_, values_.data());
      for (std::size_t k = 0; k < gaps_.size(); ++k) gaps_[k].now = gaps_[k].widest = values_[k];
    }
    finder_->gaps(after.t, after.y.data(), all_, values_.data());
    for (std::size_t k = 0; k < gaps_.size(); ++k) {
      gaps_[k].last_impulse = gaps_[k].impulse;
      gaps_[k].impulse = 0;
      gaps_[k].widest = std::max(gaps_[k].widest, values_[k]);
      gaps_[k].fastest = std::max(gaps_[k].fastest, std::abs(values_[k] - gaps_[k].now) / h);
    }
    const ContactList& list = impulses->contacts;
    for (int i = 0; i < list.count; ++i) {
      Gap& gap = gaps_[list.key[at(i)]];
      gap.impulse = impulses->impulse[at(i * list.dimension)];
      double size = 0, way = 0;
      for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k) {
        const double H = list.H[at(k * list.dimension)];
        const std::size_t j = std::min(at(list.column[at(k)]), before.y.size() - 1);
        size += std::abs(H * before.y[j]);
        way += std::abs(H * (after.y[j] - before.y[j]));
      }
      gap.position = std::max(gap.position, size);
      gap.way = std::max(gap.way, way);
    }
  }
  look_at_strikes(before, after, *impulses);
  look_at_struck_gaps(before, after);
  follow_inside(before, h);
  if (enclosure_) look_for_passes(before, after);
  if (table_) follow_bodies(before, after);
  for (std::size_t k = 0; k < gaps_.size(); ++k) gaps_[k].now = values_[k];
  ++steps_;
}

// ---- What is said of it -------------------------------------------------------------------------------------------

void GapWatch::doubts(std::vector<Doubt>& doubts) const {
  constexpr double far = 0.02, late = 0.1, some = 0.05, some_bodies = 5;
  const auto step_of = [](double h) { return fmt::format("take a step of {:.1e} or shorter", h); };
  if (passes_ > 0)
    doubts.push_back(
        {fmt::format("something was passed through within a step, first '{}' at t = {:.6g}; steps of this kind",
                     passed_, first_pass_),
         static_cast<double>(passes_), step_of(shortest_pass_ / 4)});
  if (hurried_ > 0)
    doubts.push_back({"a contact rebounds again and again within a few steps, with no motion in between; such impacts",
                      static_cast<double>(hurried_), step_of(std::min(shortest_flight_ / 10, longest_step_ / 2))});
  double turned = 0, off = 0;
  for (const Gap& gap : gaps_) {
    if (gap.pushed > 0) turned = std::max(turned, gap.turning / gap.pushed);
    const double size = std::max(gap.widest, gap.position);
    if (gap.misplaced > 0) off = std::max(off, gap.misplaced / size);
  }
  if (turned > some)
    doubts.push_back({"normals of impacts turned within a step, by degrees on the mean of all impulses of a contact",
                      turned * 180 / std::numbers::pi, step_of(0.8 * some / turned * longest_step_)});
  double allowed = far;
  if (misplaced_ > 0) {
    off = misplaced_ / std::max(some_bodies * smallest_, extent());
    allowed = late;
  }
  if (off > allowed)
    doubts.push_back(
        {"an impact falls somewhere in its step, and what rebounds is misplaced by up to, as a part of its way", off,
         step_of(0.8 * allowed / off * longest_step_)});
}

}  // namespace hinge
