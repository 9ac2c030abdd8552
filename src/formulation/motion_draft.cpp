#include "formulation/motion_draft.hpp"

#include "expression/native.hpp"
#include "expression/substitute.hpp"
#include "formulation/project/two_corrections.hpp"

namespace hinge {

namespace {

using Q = Quantity;

// Beyond this functions take so long that nothing is gained, and a copy of them costs something.
constexpr Node most_nodes = 20000;

}  // namespace

bool MotionDraft::suits(const System& system) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  return symbolic && native_use() != NativeUse::off && symbolic->equations().graph->size() <= most_nodes &&
         SaddleElimination::suits(system.pattern(Q::momentum_z), system.pattern(Q::constraint_rate_z));
}

bool MotionDraft::can_project(const System& system) {
  const Structure& s = system.structure();
  const int m = system.npsi();
  return s.velocity_is_z && s.has_mass_metric && m > 0 && system.ng() == m && system.nrates() == m;
}

MotionDraft::MotionDraft(const SymbolicSystem& system, const std::vector<int>& exchanges)
    : eq_(system.equations()),
      exchanges_(exchanges),
      constant_mass_(system.is_constant(Q::momentum_z)),
      elimination_(graph_, system.pattern(Q::momentum_z),
                   system.structure().reaction_is_ideal ? nullptr : &system.pattern(Q::reaction_psi),
                   system.pattern(Q::constraint_rate_z), exchanges_) {
  // what is asked for later has all that was there before with the same numbers
  const auto nodes = [&](Q q) { return system.nodes_of(q, graph_); };
  mass_ = nodes(Q::momentum_z);
  if (!system.structure().reaction_is_ideal) reaction_ = nodes(Q::reaction_psi);
  gradient_ = nodes(Q::constraint_rate_z);
  constraint_ = nodes(Q::constraint);
  rate_ = nodes(Q::constraint_rate);
  force_ = nodes(Q::acceleration_force);
  curvature_ = nodes(Q::constraint_curvature);
  velocity_ = nodes(Q::velocity);
}

Nodes MotionDraft::at(const Nodes& functions, const Point& point) {
  Nodes variables{eq_.t}, images{point.t};
  append(variables, eq_.y);
  append(variables, eq_.z);
  append(images, point.y);
  append(images, point.z);
  return variables == images ? functions : substitute(graph_, functions, variables, images, graph_);
}

MotionDraft::Motion MotionDraft::motion(const Point& point) {
  Motion m{.velocity = at(velocity_, point),
           .acceleration = at(force_, point),
           .multiplier = at(curvature_, point),
           .settled = no_node,
           .mass = at(mass_, point),
           .reaction = at(reaction_, point),
           .gradient = at(gradient_, point)};
  for (Node& n : m.multiplier) n = graph_.negate(n);
  elimination_.factor(m.mass, m.reaction, m.gradient);
  elimination_.solve(m.acceleration, m.multiplier);
  Nodes solution = m.acceleration;
  append(solution, m.multiplier);
  elimination_.demand_all_finite(solution);
  m.settled = elimination_.settled();
  return m;
}

Node MotionDraft::project(Point& point) {
  elimination_.factor(at(mass_, point), at(reaction_, point), at(gradient_, point));
  const Node settled = elimination_.settled();
  // Corrects some of the point, its positions or velocities, twice.
  const auto correct = [&](const Nodes& residual, Nodes& x) {
    Node sizes[2];
    for (Node& size : sizes) {
      Nodes change(x.size(), graph_.constant(0)), multiplier = at(residual, point);
      for (Node& n : multiplier) n = graph_.negate(n);
      elimination_.solve(change, multiplier);
      size = two_corrections::size(graph_, change);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = graph_.add(x[k], change[k]);
    }
    return two_corrections::are_enough(graph_, sizes[0], sizes[1], two_corrections::size(graph_, x));
  };
  const Node position = correct(constraint_, point.y);
  return graph_.multiply(settled, graph_.multiply(position, correct(rate_, point.z)));
}

}  // namespace hinge
