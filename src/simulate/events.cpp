#include "simulate/events.hpp"

#include <algorithm>
#include <cmath>

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
  Graph& graph = *symbolic->equations().graph;
  std::vector<Node> roots;
  velocities_.clear();
  for (Event& e : events_) {
    roots.push_back(e.root.node_in(graph));
    if (graph.is_constant(roots.back()))
      throw InputError(
          fmt::format("the root function of the event '{}' is a number; it has to depend on t or the "
                      "motion",
                      e.name));
    velocities_.emplace_back();
    if (e.action != Event::Action::change) continue;
    const int wanted = system.layout().kind == SystemKind::dae ? system.ny() : system.nz();
    if (static_cast<int>(e.velocity.size()) != wanted)
      throw InputError(
          fmt::format("the event '{}' gives {} new values; there are {}", e.name, e.velocity.size(), wanted));
    std::vector<Node> nodes;
    for (const Expression& v : e.velocity) nodes.push_back(v.node_in(graph));
    velocities_.back() = symbolic->tape(nodes);
  }
  const Equations& eq = symbolic->equations();
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
  slopes_ = symbolic->tape(slopes);
  slope_scratch_ = slopes_->make_scratch();
  roots_ = symbolic->tape(roots);
  scratch_ = roots_->make_scratch();
  values_.resize(roots.size());
}

void EventWatch::evaluate(const State& s, std::vector<double>& values) {
  const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
  roots_->evaluate(inputs, scratch_.data(), values.data());
}

void EventWatch::start(const State& state) {
  if (events_.empty()) return;
  sample_ = low_ = high_ = state;
  evaluate(state, values_);
  side_.assign(events_.size(), 0);
  fresh_.assign(events_.size(), 0);
  for (std::size_t k = 0; k < events_.size(); ++k) {
    side_[k] = sign_of(values_[k]);
    fresh_[k] = side_[k] == 0;  // starting on a root is no event
  }
}

bool EventWatch::crosses(std::size_t k, double from, double to) const {
  if (from == 0 || to == from) return false;
  return events_[k].direction == Event::Direction::both ||
         (events_[k].direction == Event::Direction::rising) == (from < 0);
}

bool EventWatch::find(const State& before, const State& after, int looks, const Probe& probe, Found& found) {
  low_ = before;
  if (std::count(fresh_.begin(), fresh_.end(), 1) > 0) looks = std::max(looks, 4);
  for (int look = 1; look <= looks; ++look) {
    if (look == looks) {
      sample_ = after;
    } else {
      if (!probe(before.t + (after.t - before.t) * look / looks, sample_)) continue;
    }
    evaluate(sample_, values_);
    bool any = false;
    double first = INFINITY;
    for (std::size_t k = 0; k < events_.size(); ++k) {
      const double now = sign_of(values_[k]);
      if (fresh_[k]) continue;  // its side is taken below
      if (!crosses(k, side_[k], now)) continue;
      // The interval [low, high] holds the root: halved, or cut where the chord says, until it is two neighbours.
      State low = low_, high = sample_, middle = sample_;
      std::vector<double> values(events_.size());
      evaluate(low, values);
      double at_low = values[k], at_high = values_[k];
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
        evaluate(middle, values);
        if (sign_of(values[k]) == side_[k]) {
          low = middle;
          at_low = values[k];
        } else {
          high = middle;
          at_high = values[k];
        }
      }
      if (high.t < first) {
        first = high.t;
        found.event = k;
        found.state = high;
        any = true;
      }
    }
    if (any) return true;
    for (std::size_t k = 0; k < events_.size(); ++k) {
      if (const double now = sign_of(values_[k]); now != 0) {
        side_[k] = now;
        fresh_[k] = 0;
      }
    }
    low_ = sample_;
  }
  return false;
}

void EventWatch::passed(const Found& found) {
  evaluate(found.state, values_);
  for (std::size_t k = 0; k < events_.size(); ++k)
    if (const double now = sign_of(values_[k]); now != 0) side_[k] = now;
  side_[found.event] = sign_of(values_[found.event]);
  fresh_[found.event] = side_[found.event] == 0;
}

// Where the function goes from its root decides on which side the motion now is; where that is not known, the next
// look does.
void EventWatch::restart(const State& state, std::size_t event) {
  std::vector<double> slopes(events_.size());
  const double* const inputs[] = {&state.t, state.y.data(), state.z.data(), state.psi.data()};
  slopes_->evaluate(inputs, slope_scratch_.data(), slopes.data());
  evaluate(state, values_);
  for (std::size_t k = 0; k < events_.size(); ++k) {
    if (k == event) {
      side_[k] = has_slope_[k] ? sign_of(slopes[k]) : 0;
      fresh_[k] = side_[k] == 0;
    } else if (const double now = sign_of(values_[k]); now != 0) {
      side_[k] = now;
    }
  }
}

State EventWatch::changed(const System& system, std::size_t event, const State& at) {
  const Evaluator& tape = *velocities_[event];
  std::vector<double> scratch = tape.make_scratch(), velocity(tape.output_count());
  const double* const inputs[] = {&at.t, at.y.data(), at.z.data(), at.psi.data()};
  tape.evaluate(inputs, scratch.data(), velocity.data());
  for (const double v : velocity)
    if (!std::isfinite(v))
      throw StepFailure(fmt::format("the new velocity of the event '{}' at t = {:.15g} is not a finite number",
                                    events_[event].name, at.t),
                        at.t);
  Start start;
  start.consistent = Consistency::project;
  start.position = at.y;
  start.multiplier = at.psi;
  switch (system.layout().kind) {
    case SystemKind::dae: start.position = velocity; break;
    case SystemKind::hamiltonian: start.momentum = velocity; break;
    default: start.velocity = velocity;
  }
  try {
    return consistent_start(system, at.t, start);
  } catch (const InputError& e) {
    throw StepFailure(fmt::format("after the event '{}' at t = {:.15g} there is no consistent motion: {}",
                                  events_[event].name, at.t, e.what()),
                      at.t);
  }
}

}  // namespace hinge
