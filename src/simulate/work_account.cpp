#include "simulate/work_account.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "expression/derivative.hpp"

namespace hinge {

namespace {

bool depends_on(const std::vector<Node>& nodes, const std::vector<char>& marked) {
  return std::any_of(nodes.begin(), nodes.end(), [&](Node n) { return marked[static_cast<std::size_t>(n)] != 0; });
}

}  // namespace

// Contacts carry what they carry within a step, and multipliers of motors beside them are no forces of an instant.
bool WorkAccount::possible(const System& system) {
  const Structure& has = system.structure();
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic || !has.has_energy || has.is_dae || has.has_noise || !symbolic->equations().samples.empty())
    return false;
  return !has.has_contacts || (!has.depends_on_time && !has.gaps_depend_on_time && !has.gaps_have_reactions);
}

void WorkAccount::begin(const System& system, bool chosen) {
  *this = WorkAccount();
  const auto& symbolic = dynamic_cast<const SymbolicSystem&>(system);
  const Equations& eq = symbolic.equations();
  const Structure& has = system.structure();
  Graph graph = *eq.graph;
  const std::vector<char> by_t = dependence(graph, std::span(&eq.t, 1));
  const bool reactions_work = !eq.ideal || depends_on(eq.g, by_t) || has.velocity_constraints_do_work;
  Node power = time_derivative(graph, std::span(&eq.energy, 1), eq.t, eq.y, eq.v)[0];
  const std::vector<Node> b = acceleration_force(graph, eq);
  const std::vector<Node>& v = system.ny() == system.nz() ? eq.v : eq.z;
  // Rows that the energy depends on, and those without mass, whose forces ideal reactions hand on to the others.
  const SparseExpressions by_z = jacobian(graph, std::span(&eq.energy, 1), eq.z), mass = jacobian(graph, eq.p, eq.z);
  for (int i = 0; i < system.nz(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (mass.row_start[k] == mass.row_start[k + 1] ||
        std::find(by_z.column.begin(), by_z.column.end(), i) != by_z.column.end())
      rows_.push_back(i);
  }
  for (const int i : rows_) {
    const auto k = static_cast<std::size_t>(i);
    const Node force = reactions_work ? graph.add(b[k], eq.r[k]) : b[k];
    power = graph.add(power, graph.multiply(v[k], force));
  }
  power_ = StateFunctions(symbolic, graph, std::span(&power, 1));
  system_ = &system;
  if (reactions_work && !chosen && !has.has_contacts)
    acceleration_ = std::make_unique<Acceleration>(std::shared_ptr<const System>(std::shared_ptr<void>(), &system));
  velocity_.resize(static_cast<std::size_t>(system.ny()));
  rate_.resize(static_cast<std::size_t>(system.nz()));
}

void WorkAccount::restart(const State& state, const double* v) {
  end_.state = state;
  end_.v.assign(v, v + system_->ny());
  if (acceleration_) find_multipliers(end_);
}

void WorkAccount::take(const State& state, End& end) {
  end.state = state;
  at_break_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  const double* v = (*at_break_)[Quantity::velocity];
  end.v.assign(v, v + system_->ny());
  if (acceleration_) find_multipliers(end);
}

// Where there are none, as at singular positions, those of the method stay.
void WorkAccount::find_multipliers(End& end) {
  State& s = end.state;
  multipliers_ = s.psi;
  if (acceleration_->compute(s.t, s.y.data(), s.z.data(), multipliers_.data(), velocity_.data(), rate_.data(), false))
    s.psi = multipliers_;
}

// The state at a part of the step.
void WorkAccount::go_to(double s, const End& begin, const End& end, bool straight) {
  const State &from = begin.state, &to = end.state;
  const double h = to.t - from.t, r = 1 - s;
  const bool velocities = system_->structure().velocity_is_z && !straight;
  within_.t = from.t + s * h;
  for (std::size_t i = 0; i < from.y.size(); ++i) {
    const double v0 = begin.v[i], v1 = end.v[i];
    within_.y[i] = r * r * ((1 + 2 * s) * from.y[i] + s * h * v0) + s * s * ((1 + 2 * r) * to.y[i] - r * h * v1);
    if (velocities) within_.z[i] = 6 * r * s * (to.y[i] - from.y[i]) / h + r * (1 - 3 * s) * v0 + s * (1 - 3 * r) * v1;
  }
  for (std::size_t i = 0; i < from.z.size() && !velocities; ++i) within_.z[i] = r * from.z[i] + s * to.z[i];
  for (std::size_t i = 0; i < from.psi.size(); ++i) within_.psi[i] = r * from.psi[i] + s * to.psi[i];
}

void WorkAccount::add(const State& state, const double* v, const Stepper* stepper) {
  before_ = now_;
  std::swap(begin_, end_);
  restart(state, v);
  within_ = state;
  const End* from = &begin_;
  if (stepper)
    for (const Stepper::Break& here : stepper->breaks()) {
      if (!(here.before.t <= state.t)) break;
      if (!at_break_) at_break_ = system_->evaluation({Quantity::energy, Quantity::velocity});
      take(here.before, broken_[0]);
      const double energy = *(*at_break_)[Quantity::energy];
      pass(*from, broken_[0], stepper, true);
      take(here.after, broken_[1]);
      now_.work += *(*at_break_)[Quantity::energy] - energy;
      from = &broken_[1];
    }
  pass(*from, end_, stepper, from != &begin_);
}

// On the way from one state to another, between which nothing jumps. Part of a step: of methods of order one velocities
// are not what positions do within a blow, and go from one end to the other.
void WorkAccount::pass(const End& begin, const End& end, const Stepper* stepper, bool part_of_step) {
  const double h = end.state.t - begin.state.t, outer = std::sqrt(0.6) / 2;
  if (!(h > 0)) return;
  std::array<double, 3> p{};
  double largest = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double part = 0.5 + (static_cast<double>(k) - 1) * outer, t = begin.state.t + part * h;
    if (stepper && stepper->chooses_steps())
      stepper->sketch(t, within_);
    else
      go_to(part, begin, end, part_of_step);
    within_.t = t;
    p[k] = power_.at(within_)[0];
    largest = std::max(largest, std::abs(p[k]));
  }
  if (!std::isfinite(p[0] + p[1] + p[2])) now_.unsure = HUGE_VAL;
  if (largest == 0 || !std::isfinite(now_.unsure)) return;
  const double mean = (5 * p[0] + 8 * p[1] + 5 * p[2]) / 18, off = std::abs((p[0] + p[2]) / 2 - mean) / largest;
  now_.work += h * mean;
  now_.exchanged += h * (5 * std::abs(p[0]) + 8 * std::abs(p[1]) + 5 * std::abs(p[2])) / 18;
  now_.unsure += h * largest * off * off;
}

void WorkAccount::set_back(const State& state, const double* v, const Stepper* stepper) {
  now_ = before_;
  std::swap(begin_, end_);
  add(state, v, stepper);
}

}  // namespace hinge
