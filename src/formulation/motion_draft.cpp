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

void collect(const SymbolicSystem& system, Graph& graph, const std::vector<NodesOfQuantity>& lists) {
  std::vector<Q> quantities;
  for (const auto& [quantity, list] : lists) quantities.push_back(quantity);
  std::vector<Nodes> nodes = system.nodes_of(quantities, graph);
  for (std::size_t k = 0; k < lists.size(); ++k) *lists[k].second = std::move(nodes[k]);
}

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
      hash_(system.hash()),
      exchanges_(exchanges),
      constant_mass_(system.is_constant(Q::momentum_z)),
      elimination_(graph_, system.pattern(Q::momentum_z),
                   system.structure().reaction_is_ideal ? nullptr : &system.pattern(Q::reaction_psi),
                   system.pattern(Q::constraint_rate_z), exchanges_) {
  std::vector<NodesOfQuantity> lists{{Q::momentum_z, &mass_}};
  if (!system.structure().reaction_is_ideal) lists.push_back({Q::reaction_psi, &reaction_});
  lists.insert(lists.end(), {{Q::constraint_rate_z, &gradient_},
                             {Q::constraint, &constraint_},
                             {Q::constraint_rate, &rate_},
                             {Q::acceleration_force, &force_},
                             {Q::constraint_curvature, &curvature_},
                             {Q::velocity, &velocity_}});
  collect(system, graph_, lists);
}

GraphLibrary::Key MotionDraft::key(GraphLibrary::Making making) const {
  GraphLibrary::Key key(making);
  for (const Nodes* list :
       {&eq_.y, &eq_.z, &mass_, &reaction_, &gradient_, &constraint_, &rate_, &force_, &curvature_, &velocity_})
    key.with(*list);
  key.with(hash_.one).with(hash_.other);  // where the entries stand
  return key.with(static_cast<std::uint64_t>(eq_.t)).with(exchanges_).with(std::uint64_t{constant_mass_});
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
