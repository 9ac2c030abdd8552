#include "simulate/events.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

void EventWatch::compile(const System& system) {
  if (events_.empty()) return;
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic) throw InputError("events are expressions; this system is made of functions and has none");
  const Equations& eq = symbolic->equations();
  Graph graph;
  std::vector<Expression> functions;
  for (const Event& e : events_) functions.push_back(e.root);
  const std::vector<Node> roots = symbolic->nodes_of(functions, graph);
  velocities_.clear();
  for (const Event& e : events_) {
    if (graph.is_constant(roots[velocities_.size()]))
      throw InputError(
          fmt::format("the root function of the event '{}' is a number; it has to depend on t or the "
                      "motion",
                      e.name));
    velocities_.emplace_back();
    if (e.action != Event::Action::change) continue;
    const int wanted = system.structure().is_dae ? system.ny() : system.nz();
    if (static_cast<int>(e.velocity.size()) != wanted)
      throw InputError(
          fmt::format("the event '{}' gives {} new values; there are {}", e.name, e.velocity.size(), wanted));
    Graph own;
    const std::vector<Node> nodes = symbolic->nodes_of({e.velocity.begin(), e.velocity.end()}, own);
    velocities_.back() = StateFunctions(*symbolic, own, nodes);
  }
  std::vector<Node> others = eq.z;
  others.insert(others.end(), eq.psi.begin(), eq.psi.end());
  const std::vector<char> moving = dependence(graph, others);
  has_slope_.assign(roots.size(), 0);
  std::vector<Node> slopes;
  for (std::size_t k = 0; k < roots.size(); ++k) {
    has_slope_[k] = !moving[static_cast<std::size_t>(roots[k])];
    slopes.push_back(has_slope_[k] ? time_derivative(graph, std::span(&roots[k], 1), eq.t, eq.y, eq.v)[0]
                                   : graph.constant(0));
  }
  slopes_ = StateFunctions(*symbolic, graph, slopes);
  roots_ = StateFunctions(*symbolic, graph, roots);
  bounds_.emplace(*symbolic, graph, roots);
}

void EventWatch::start(const State& state) {
  occurred_.clear();
  crowded_ = 0;
  if (events_.empty()) return;
  unclear_ = 0;
  restarted_.reset();
  again_ = false;
  sizes_.assign(events_.size(), 0);
  side_.assign(events_.size(), 0);
  held_.assign(events_.size(), 0);
  through_.clear();
  through_count_ = 0;
  fresh_.assign(events_.size(), 0);
  const std::vector<double>& values = roots_.at(state);
  for (std::size_t k = 0; k < events_.size(); ++k) take_side(k, values[k]);  // starting on a root is no event
}

void EventWatch::take_side(std::size_t k, double value) {
  side_[k] = sign_of(value);
  fresh_[k] = side_[k] == 0;
}

// The next look after a root that a change has left without a velocity.
void EventWatch::go_on(std::size_t k, const Look& look) {
  if (k == restarted_) restarted_.reset();
  if (const double held = std::exchange(held_[k], 0); held != 0 && sign_of(look.values[k]) == held) {
    if (through_count_++ == 0) through_ = events_[k].name, first_through_ = look.state.t;
  }
  take_side(k, look.values[k]);
}

bool EventWatch::crosses(std::size_t k, double from, double to) const {
  if (from == 0 || to == from) return false;
  return events_[k].direction == Event::Direction::both ||
         (events_[k].direction == Event::Direction::rising) == (from < 0);
}

// Might a function vanish more than once between this look and the one before? Rounding about zero does not count.
bool EventWatch::may_return(std::size_t look) {
  constexpr double rounding = 1e-9;
  const auto state = [&](std::size_t k) { return k < looks_.size() ? &looks_[k].state : nullptr; };
  bounds_->on(look > 1 ? state(look - 2) : nullptr, looks_[look - 1].state, looks_[look].state, state(look + 1));
  for (std::size_t k = 0; k < events_.size(); ++k)
    if (bounds_->may_return(k) && bounds_->largest(k) > rounding * sizes_[k]) return true;
  return false;
}

// A look in the middle before looks_[after]; false where there is no time between, or no motion.
bool EventWatch::look_between(std::size_t after, const Within& within) {
  const double low = looks_[after - 1].state.t, t = low + (looks_[after].state.t - low) / 2;
  if (!(t > low && t < looks_[after].state.t)) return false;
  Look look = looks_[after];
  look.exact = false;
  if (!within.sketch(t, look.state)) return false;
  look.values = roots_.at(look.state);
  looks_.insert(looks_.begin() + static_cast<std::ptrdiff_t>(after), std::move(look));
  return true;
}

void EventWatch::look_at(const State& before, const State& after, int looks, const Within& within) {
  constexpr std::size_t most_looks = 500;
  constexpr double shortest = 1.0 / 1024;  // of the step
  looks_.clear();
  looks_.push_back({before, roots_.at(before), true});
  for (int look = 1; look < looks; ++look) {
    State sample = after;
    if (within.sketch(before.t + (after.t - before.t) * look / looks, sample))
      looks_.push_back({sample, roots_.at(sample), false});
  }
  looks_.push_back({after, roots_.at(after), within.end_is_exact});
  for (const Look& look : looks_)
    for (std::size_t k = 0; k < events_.size(); ++k)
      if (std::isfinite(look.values[k])) sizes_[k] = std::max(sizes_[k], std::abs(look.values[k]));
  for (std::size_t k = 1; k < looks_.size();) {
    const bool wide = looks_[k].state.t - looks_[k - 1].state.t > shortest * (after.t - before.t);
    if (!wide || !may_return(k)) {
      ++k;
    } else if (looks_.size() >= most_looks) {
      if (unclear_++ == 0) first_unclear_ = before.t;
      return;
    } else if (!look_between(k, within)) {
      ++k;
    }
  }
}

void EventWatch::doubts(std::vector<Doubt>& doubts) const {
  if (unclear_ > 0)
    doubts.push_back(
        {fmt::format("steps in which events may have been missed, since their functions vanish too often or cannot "
                     "be told from zero, first at t = {:.6g}",
                     first_unclear_),
         unclear_, "give a max_step, or a shorter step"});
  if (through_count_ > 0)
    doubts.push_back(
        {fmt::format("the event '{}' left no velocity away from its root, and the motion went on through it: an event "
                     "changes velocities and holds nothing; first at t",
                     through_),
         first_through_, "end the run there (action = \"stop\"), or give a contact ([[unilateral]], shapes)"});
}

// Near a root the sketch of the motion is not trusted.
void EventWatch::look_closely(const Look& last, Look& look, const Within& within) {
  constexpr double near = 1e-3;
  bool doubtful = false;
  for (std::size_t k = 0; k < events_.size(); ++k)
    doubtful =
        doubtful || sign_of(look.values[k]) != side_[k] || std::abs(look.values[k]) <= near * std::abs(last.values[k]);
  if (!doubtful || look.exact || !within.exactly(look.state.t, look.state)) return;
  look.values = roots_.at(look.state);
  look.exact = true;
}

// Within rounding its function may have either sign.
bool EventWatch::has_just_happened(std::size_t k, double t) const {
  for (auto at = occurred_.rbegin(); at != occurred_.rend() && t - at->state.t <= 1e-13 * std::abs(t); ++at)
    if (at->name == events_[k].name) return true;
  return false;
}

bool EventWatch::find(const State& before, const State& after, int looks, const Within& within, Found& found) {
  if (std::count(fresh_.begin(), fresh_.end(), 1) > 0) looks = std::max(looks, 4);
  look_at(before, after, looks, within);
  for (std::size_t k = 0; k < events_.size() && again_; ++k) {
    const double sign = sign_of(looks_[0].values[k]);
    if (fresh_[k] || k == restarted_ || sign == 0 || sign == side_[k] || has_just_happened(k, before.t)) continue;
    if (crosses(k, side_[k], sign)) {
      found = {k, before};
      return true;
    }
    take_side(k, looks_[0].values[k]);
  }
  again_ = false;
  for (std::size_t at = 1; at < looks_.size(); ++at) {
    Look &low = looks_[at - 1], &high = looks_[at];
    look_closely(low, high, within);
    bool any = false;
    for (std::size_t k = 0; k < events_.size(); ++k) {
      if (fresh_[k] || std::isnan(high.values[k])) continue;  // where it ends there is no root
      if (!crosses(k, side_[k], sign_of(high.values[k]))) continue;
      Found root = locate(k, low.state, high.state, high.values[k], within.exactly);
      if (any && !(root.state.t < found.state.t)) continue;
      found = std::move(root);
      any = true;
    }
    if (any) return true;
    for (std::size_t k = 0; k < events_.size(); ++k)
      if (sign_of(high.values[k]) != 0) go_on(k, high);
  }
  return false;
}

// The interval [low, high] holds the root: halved, or cut where the chord says, until it is two neighbours.
EventWatch::Found EventWatch::locate(std::size_t k, const State& from, const State& to, double at_high,
                                     const Probe& probe) {
  State low = from, high = to, middle = to;
  double at_low = roots_.at(low)[k];
  // After a change the motion begins a little beyond the root and comes back at first: for a time that may be short.
  for (bool back = k == restarted_ && sign_of(at_low) == -side_[k]; back;) {
    const double t = low.t + (high.t - low.t) / 2;
    if (!(t > low.t && t < high.t) || !probe(t, middle)) return {k, high, true};
    middle.t = t;
    const double value = roots_.at(middle)[k];
    back = sign_of(value) != side_[k];
    (back ? high : low) = middle;
    (back ? at_high : at_low) = value;
  }
  if (sign_of(at_low) != side_[k]) at_low = side_[k] * std::abs(at_high);
  for (int n = 0; n < 200 && at_high != 0; ++n) {
    const double width = high.t - low.t;
    if (!(std::nextafter(low.t, high.t) < high.t)) break;
    double t = n % 3 == 2 ? low.t + width / 2 : low.t + width * at_low / (at_low - at_high);
    const double margin = n % 3 == 2 ? 0 : 1e-3 * width;  // never on the ends
    t = std::min(std::max(t, low.t + margin), high.t - margin);
    if (!(t > low.t && t < high.t)) t = low.t + width / 2;
    if (!(t > low.t && t < high.t) || !probe(t, middle)) break;
    middle.t = t;
    const double value = roots_.at(middle)[k];
    const bool before = sign_of(value) == side_[k];
    (before ? low : high) = middle;
    (before ? at_low : at_high) = value;
  }
  return {k, high};
}

bool EventWatch::note(const Found& found) {
  const double t = found.state.t;
  const bool close = !occurred_.empty() && t - occurred_.back().state.t <= 1e-10 * std::abs(t);
  crowded_ = close ? crowded_ + 1 : 0;
  occurred_.push_back({events_[found.event].name, found.state});
  return crowded_ >= 8 || found.stuck;
}

void EventWatch::passed(const Found& found) {
  take_side(found.event, roots_.at(found.state)[found.event]);
  again_ = true;
}

// Where the function goes from its root decides on which side the motion now is; where that is not known, the next
// look does. A crossing whose velocity pointed back and points on when it is turned round is no crossing: what is left
// of the motion is below the error of a step.
bool EventWatch::restart(const State& at, const State& changed, std::size_t event) {
  constexpr double none = 1e-9;  // of the velocity before
  const double beyond = -side_[event], arriving = slopes_.at(at)[event];
  const std::vector<double>&slopes = slopes_.at(changed), &values = roots_.at(changed);
  const double leaving = std::abs(slopes[event]) > none * std::abs(arriving) ? slopes[event] : 0;
  if (has_slope_[event] && sign_of(arriving) != beyond && sign_of(slopes[event]) == beyond) return false;
  for (std::size_t k = 0; k < events_.size(); ++k)
    if (k == event)
      take_side(k, has_slope_[k] ? leaving : 0);
    else if (!has_slope_[k] && sign_of(values[k]) != 0)  // velocities have jumped
      side_[k] = sign_of(values[k]);
  held_[event] = has_slope_[event] && leaving == 0 ? beyond : 0;
  restarted_ = event;
  again_ = true;
  return true;
}

State EventWatch::changed(const System& system, std::size_t event, const State& at) {
  const std::vector<double>& velocity = velocities_[event].at(at);
  for (const double v : velocity)
    if (!std::isfinite(v))
      throw StepFailure(fmt::format("the new velocity of the event '{}' at t = {:.15g} is not a finite number",
                                    events_[event].name, at.t),
                        at.t);
  Start start;
  start.consistent = Consistency::project;
  start.position = at.y;
  start.multiplier = at.psi;
  const Structure& s = system.structure();
  (s.is_dae ? start.position : s.z_is_momentum ? start.momentum : start.velocity) = velocity;
  try {
    return consistent_start(system, at.t, start);
  } catch (const InputError& e) {
    throw StepFailure(fmt::format("after the event '{}' at t = {:.15g} there is no consistent motion: {}",
                                  events_[event].name, at.t, e.what()),
                      at.t);
  }
}

void EventWatch::exchange(Memory& memory) {
  long restarted = restarted_ ? static_cast<long>(*restarted_) : -1;
  memory(side_, fresh_, occurred_, crowded_, sizes_, unclear_, first_unclear_, again_, restarted, held_, through_,
         through_count_, first_through_);
  if (memory.reading())
    restarted_ = restarted < 0 ? std::nullopt : std::optional<std::size_t>(static_cast<std::size_t>(restarted));
}

}  // namespace hinge
