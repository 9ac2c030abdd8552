#include "system/velocity_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "system/builders.hpp"

namespace hinge {

void SystemBuilder::constrain_velocity(const Expression& w, std::string name) {
  velocity_constraints_.push_back(w);
  velocity_constraint_names_.push_back(
      name.empty() ? fmt::format("{} ({} = 0)", velocity_constraints_.size() - 1, w.text()) : std::move(name));
}

void add_ideal_reactions(Graph& graph, Layout& layout, Equations& eq) {
  eq.psi = declare_multipliers(graph, eq.g.size() + eq.w.size(), layout);
  const std::span<const Node> psi = eq.psi;
  eq.r = ideal_reaction(graph, eq.g, psi.first(eq.g.size()), eq.y);
  const std::vector<Node> more = ideal_reaction(graph, eq.w, psi.subspan(eq.g.size()), eq.z);
  for (std::size_t k = 0; k < eq.r.size(); ++k) eq.r[k] = graph.add(eq.r[k], more[k]);
  eq.ideal = true;
}

void refuse_as_velocity_constraints(const Graph& graph, const Layout& layout, const Equations& eq) {
  if (eq.w.empty()) return;
  const SystemKind kind = layout.kind;
  if (kind != SystemKind::lagrangian && kind != SystemKind::mechanical && kind != SystemKind::multibody)
    throw InputError(
        "velocity constraints belong to Lagrangian, mechanical and multibody systems, whose velocities have names; "
        "write the system as one of these");
  const std::vector<char> moves = dependence(graph, eq.z);
  for (std::size_t k = 0; k < eq.w.size(); ++k)
    if (!moves[static_cast<std::size_t>(eq.w[k])])
      throw InputError(fmt::format(
          "velocity constraint {} contains no velocity; a function of t and the coordinates alone is a constraint "
          "(constraints, constrain()), whose velocity level is kept as well",
          layout.velocity_constraints[k]));
}

bool velocity_constraints_are_affine(const System& system) {
  if (system.nw() == 0) return true;
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic) return false;
  Graph graph = *symbolic->equations().graph;
  const std::vector<Node> entries = symbolic->nodes_of(Quantity::constraint_rate_z, graph);
  const std::vector<char> bends = dependence(graph, symbolic->equations().z);
  return std::none_of(entries.begin(), entries.end(), [&](Node n) { return bends[static_cast<std::size_t>(n)] != 0; });
}

bool rates_are_homogeneous(const Equations& eq) {
  if (eq.w.empty()) return true;
  Graph graph = *eq.graph;
  // states become variables of the system later
  std::vector<Node> others, own = eq.y;
  own.insert(own.end(), eq.z.begin(), eq.z.end());
  own.push_back(eq.t);
  for (int k = 0; k < graph.variable_count(); ++k)
    if (const Node n = graph.variable_node(k); std::find(own.begin(), own.end(), n) == own.end()) others.push_back(n);
  const std::vector<char> foreign = dependence(graph, others);
  if (std::any_of(eq.w.begin(), eq.w.end(), [&](Node w) { return foreign[static_cast<std::size_t>(w)] != 0; }))
    return false;
  std::vector<Node> outputs = eq.w;
  for (const Node w : eq.w) outputs.push_back(dot_product(graph, gradient(graph, w, eq.z), eq.z));
  const auto tape = eq.tape(graph, outputs);
  std::vector<double> scratch = tape->make_scratch();
  std::mt19937 draw(1);
  const auto fill = [&](std::size_t n) {
    std::vector<double> x(n);
    for (double& value : x) value = 0.3 + static_cast<double>(draw()) / 4294967296.0;
    return x;
  };
  const std::size_t m = eq.w.size();
  std::vector<double> degree(m, NAN);
  for (int trial = 0; trial < 4; ++trial) {
    const std::vector<double> t = fill(1), y = fill(eq.y.size()), z = fill(eq.z.size());
    const std::vector<double> psi(eq.psi.size() + 1, 0.0);
    const double* const inputs[] = {t.data(), y.data(), z.data(), psi.data()};
    tape->evaluate(inputs, scratch.data());
    const double *w = scratch.data() + tape->first_output(), *along = w + m;
    for (std::size_t k = 0; k < m; ++k) {
      const double k_here = along[k] / w[k];
      if (!std::isfinite(k_here)) return false;
      if (std::isnan(degree[k])) degree[k] = k_here;
      if (std::abs(k_here - degree[k]) > 1e-9 * (1 + std::abs(degree[k]))) return false;
    }
  }
  return true;
}

}  // namespace hinge
