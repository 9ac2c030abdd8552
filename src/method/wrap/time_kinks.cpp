#include "method/wrap/time_kinks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "method/wrap/smooth_piece.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_kept = 4096;  // times, for going back
constexpr double far_ahead = 16;         // where there is no end: so many times |t|, or units
constexpr int most_stretches = 400;      // looked at for a pulse in one step
constexpr double largest_swing = 0.3;    // in a step, part of all swings: fewer than three steps to a period
constexpr long fewest_looks = 8;
constexpr double jump_tolerance = 1e-9;  // of constraints, relative to the positions

std::size_t at_node(Node n) { return static_cast<std::size_t>(n); }

// All functions that the motion depends on, contacts and noise included.
std::vector<Node> all_functions(const Equations& eq) {
  std::vector<Node> all = functions_of(eq);
  for (const Equations::Gap& gap : eq.gaps) {
    all.push_back(gap.gap);
    all.insert(all.end(), gap.slip.begin(), gap.slip.end());
    all.insert(all.end(), gap.reaction.begin(), gap.reaction.end());
  }
  for (const auto& column : eq.noise) all.insert(all.end(), column.begin(), column.end());
  return all;
}

// For every node: does it contain t and nothing else that moves?
std::vector<char> of_time_alone(const Graph& graph, const Equations& eq) {
  std::vector<Node> others;
  for (int k = 0; k < graph.variable_count(); ++k)
    if (graph.variable_node(k) != eq.t) others.push_back(graph.variable_node(k));
  std::vector<char> alone = dependence(graph, std::span(&eq.t, 1));
  const std::vector<char> moved = dependence(graph, others);
  for (std::size_t k = 0; k < alone.size(); ++k) alone[k] = alone[k] && !moved[k];
  return alone;
}

struct Kink {
  Node root = no_node;
  bool touches = false;  // where the root function comes to zero without passing it, too
};

// Where an operation has its kinks or jumps: at the roots of this function.
Kink kink_of(Graph& graph, const Graph::Entry& e) {
  switch (e.op) {
    case Op::less:
    case Op::less_equal:
    case Op::min:
    case Op::max: return {graph.subtract(e.a, e.b)};
    case Op::abs:
    case Op::sign:
    case Op::atan2: return {e.a};
    case Op::tan: return {graph.make(Op::cos, e.a)};
    case Op::asin:
    case Op::acos: return {graph.subtract(graph.constant(1), graph.multiply(e.a, e.a)), true};
    case Op::sqrt: return {e.a, true};
    case Op::table: return {graph.table(graph.table(e)->wave(), e.a)};
    case Op::power:
      if (graph.is_constant(e.b) && graph.value(e.b) == std::floor(graph.value(e.b))) return {};
      return {e.a, true};
    default: return {};
  }
}

}  // namespace

// ---- Kinks ---------------------------------------------------------------------------------------------------------

TimeKinks::TimeKinks(const Equations& eq)
    : begun_(infinity), origin_(infinity), horizon_(infinity), lost_from_(infinity) {
  Graph graph = *eq.graph;
  const std::vector<char> alone = of_time_alone(graph, eq);
  std::unordered_set<Node> known;
  for (const Node n : cone_of(graph, all_functions(eq))) {
    if (!alone[at_node(n)]) continue;
    const Graph::Entry e = graph[n];  // a copy: the arena may grow below
    const Kink kink = kink_of(graph, e);
    if (kink.root == no_node || graph.is_constant(kink.root) || !known.insert(kink.root).second) continue;
    known.insert(graph.negate(kink.root));
    sequences_.emplace_back(graph, kink.root, kink.touches);
  }
}

double TimeKinks::gap(double t) { return 2 * std::numeric_limits<double>::epsilon() * std::abs(t) + 1e-300; }

Doubt TimeKinks::doubt() const {
  return {"times at which the equations change that may have been missed, from this time on", lost_from_,
          "write the condition on t more simply, or take steps of given length that are short"};
}

double TimeKinks::known_until() const { return sequences_.empty() ? infinity : horizon_; }

void TimeKinks::begin(double t) {
  begun_ = origin_ = horizon_ = t;
  found_.clear();
  ahead_ = {};
  idle_.clear();
  for (std::size_t k = 0; k < sequences_.size(); ++k) {
    sequences_[k].begin(t);
    idle_.push_back(k);
  }
}

void TimeKinks::look(std::size_t k) {
  if (const auto when = sequences_[k].next(horizon_))
    ahead_.emplace(*when, k);
  else
    idle_.push_back(k);
  lost_from_ = std::min(lost_from_, sequences_[k].lost_from());
}

double TimeKinks::next(double t, double limit) {
  if (sequences_.empty()) return infinity;
  if (t < begun_) begin(t - 4 * gap(t));
  if (!(limit < infinity)) limit = t + far_ahead * std::max(1.0, std::abs(t));
  for (;;) {
    const auto known = std::upper_bound(found_.begin(), found_.end(), t + gap(t));
    if (known != found_.end()) return *known <= limit ? *known : infinity;
    if (limit > horizon_) {  // twice as far as before, where one step after the other is asked for
      horizon_ = std::max(limit, origin_ + 2 * (horizon_ - origin_));
      const std::vector<std::size_t> waiting = std::move(idle_);
      idle_.clear();
      for (const std::size_t k : waiting) look(k);
    }
    if (ahead_.empty() || ahead_.top().first > limit) return infinity;
    const auto [when, k] = ahead_.top();
    ahead_.pop();
    if (found_.empty() || when > found_.back()) found_.push_back(when);
    if (found_.size() > most_kept) {
      found_.erase(found_.begin(), found_.begin() + most_kept / 2);
      begun_ = found_.front();
    }
    look(k);
  }
}

// ---- Pulses --------------------------------------------------------------------------------------------------------

namespace {

// The largest expressions of time alone.
std::vector<Node> time_functions(const Equations& eq) {
  const Graph& graph = *eq.graph;
  const std::vector<char> alone = of_time_alone(graph, eq);
  const std::vector<Node> functions = functions_of(eq);
  std::vector<Node> found;
  std::unordered_set<Node> known;
  const auto take = [&](Node n) {
    if (n != no_node && alone[at_node(n)] && graph[n].op != Op::variable && known.insert(n).second) found.push_back(n);
  };
  for (const Node n : cone_of(graph, functions)) {
    const Graph::Entry& e = graph[n];
    if (alone[at_node(n)] || arity(e.op) == 0) continue;
    for (const Node operand : {e.a, e.b, e.c}) take(operand);
  }
  for (const Node f : functions) take(f);
  return found;
}

}  // namespace

TimeFunctions::TimeFunctions(const Equations& eq) : TimeFunctions(*eq.graph, time_functions(eq)) {}

TimeFunctions::TimeFunctions(const Graph& graph, const std::vector<Node>& functions) : enclosure_(graph, functions) {
  open_.reserve(most_stretches + 2);
  for (const Node n : functions) single_.emplace_back(graph, std::span(&n, 1));
  swings_.resize(single_.size());
}

void TimeFunctions::look(double from, double to) {
  if (empty() || !(to > from)) return;
  ++looks_;
  const std::optional<double> pulse = unseen(from, to);
  for (std::size_t k = 0; k < single_.size(); ++k) {
    const auto value = [&](double t) { return single_[k].at(std::span(&t, 1)); };
    const double first = value(from), last = value(to);
    Swing& swing = swings_[k];
    const auto see = [&](double t) {
      const double x = value(t), line = first + (last - first) * (t - from) / (to - from);
      if (!std::isfinite(x)) return;
      swing.all = {std::min(swing.all.low, x), std::max(swing.all.high, x)};
      if (std::abs(x - line) > swing.largest) swing.largest = std::abs(x - line), swing.when = from;
    };
    for (int i = 0; i <= 4; ++i) see(from + (to - from) * i / 4);
    if (pulse) see(*pulse);
  }
}

std::optional<Doubt> TimeFunctions::doubt() const {
  if (looks_ < fewest_looks) return {};
  for (const Swing& swing : swings_)
    if (swing.largest > largest_swing * swing.all.width() && swing.largest > 1e-9 * std::abs(swing.all.high))
      return Doubt{fmt::format("something that changes with time swings within a step, first seen at t = {:.6g}; "
                               "part of all it does",
                               swing.when),
                   swing.largest / swing.all.width(), "take steps that are short beside it, or a tolerance"};
  return {};
}

std::optional<double> TimeFunctions::unseen(double from, double to) {
  if (empty() || !(to > from)) return {};
  const Enclosed stretch{{from, to}, {1, 1}};
  enclosure_.on(std::span(&stretch, 1));
  for (std::size_t k = 0; k < single_.size(); ++k) {
    if (!enclosure_[k].slope.contains(0)) continue;  // one way: the ends are its extremes
    if (const auto when = unseen(k, from, to)) return when;
  }
  return {};
}

std::optional<double> TimeFunctions::unseen(std::size_t k, double from, double to) {
  Enclosure& function = single_[k];
  const auto value = [&](double t) { return function.at(std::span(&t, 1)); };
  Interval seen{infinity, -infinity};
  constexpr int points = 5;
  double rounding = 0;  // of bounds: their width where there is nothing else in it
  for (int i = 0; i < points; ++i) {
    const double t = from + (to - from) * i / (points - 1), x = value(t);
    if (!std::isfinite(x)) return {};
    seen = {std::min(seen.low, x), std::max(seen.high, x)};
    const Enclosed point{{t, t}, {1, 1}};
    function.on(std::span(&point, 1));
    if (const double width = function[0].value.width(); std::isfinite(width)) rounding = std::max(rounding, width);
  }
  // What is further out than all that was seen is wide, and more than rounding.
  const double margin =
      seen.width() + 1e-9 * std::max(std::abs(seen.low), std::abs(seen.high)) + 1e-300 + 10 * rounding;
  const Interval expected{seen.low - margin, seen.high + margin};
  open_.assign(1, {from, to});  // first come, first served: wide ones first
  for (std::size_t i = 0; i < open_.size() && open_.size() < most_stretches; ++i) {
    const Interval part = open_[i];
    const Enclosed stretch{part, {1, 1}};
    function.on(std::span(&stretch, 1));
    const auto [bounds, slope] = function[0];
    if (bounds.low >= expected.low && bounds.high <= expected.high) continue;
    const double middle = part.low + part.width() / 2;
    if (!(middle > part.low && middle < part.high)) continue;
    if (const double x = value(middle); std::isfinite(x) && !expected.contains(x)) return middle;
    open_.push_back({part.low, middle});
    open_.push_back({middle, part.high});
  }
  return {};
}

// ---- Prescribed motion that jumps ----------------------------------------------------------------------------------

PrescribedJumps::PrescribedJumps(std::shared_ptr<const System> system) : system_(std::move(system)) {
  if (system_->nrates() == 0 || system_->structure().is_dae) return;
  before_ = system_->evaluation({Quantity::constraint, Quantity::constraint_rate});
  after_ = system_->evaluation({Quantity::constraint, Quantity::constraint_rate});
}

PrescribedJumps::Jump PrescribedJumps::at(double T, const State& s) {
  Jump jump;
  if (!before_) return jump;
  const double gap = TimeKinks::gap(T);
  before_->at(T - gap, s.y.data(), s.z.data(), s.psi.data());
  after_->at(T + gap, s.y.data(), s.z.data(), s.psi.data());
  double size = 1, speed = 1e-3;
  for (const double x : s.y) size = std::max(size, std::abs(x));
  for (const double x : s.z) speed = std::max(speed, std::abs(x));
  for (int k = 0; k < system_->nrates(); ++k) {
    const bool position = k < system_->ng();
    const double by = position ? (*after_)[Quantity::constraint][k] - (*before_)[Quantity::constraint][k] : 0;
    if (std::abs(by) > jump_tolerance * size) {
      jump.possible = {false, fmt::format("at t = {:.12g} the constraint {} jumps by {:.6g}: no motion follows a "
                                          "position that is prescribed so. Make it continuous, for instance with a "
                                          "ramp, min(1, (t - 1)/0.1), in the place of if(t > 1, 1, 0)",
                                          T, system_->layout().constraints[static_cast<std::size_t>(k)], by)};
      return jump;
    }
    const double faster = std::abs((*after_)[Quantity::constraint_rate][k] - (*before_)[Quantity::constraint_rate][k]);
    if (!(faster > jump_tolerance * speed)) continue;
    if (!jump.velocity && count_++ == 0) first_ = T;
    jump.velocity = true;
    largest_ = std::max(largest_, faster);
  }
  return jump;
}

std::vector<std::string> PrescribedJumps::remarks() const {
  if (count_ == 0) return {};
  return {
      fmt::format("the velocity that a constraint prescribes jumps {} time{}, first at t = {:.10g}, by {:.6g} at "
                  "most: the motion gets an impulse there",
                  count_, count_ == 1 ? "" : "s", first_, largest_)};
}

}  // namespace hinge
