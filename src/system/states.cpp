#include "system/states.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge {

namespace {

// What must not change with a state: d/dt of it would have terms that nobody has derived.
void refuse_uses(const Graph& graph, const Equations& eq, std::span<const AddedState> states) {
  for (const AddedState& state : states) {
    const Node variables[] = {state.value, state.integral};
    const std::vector<char> depends = dependence(graph, variables);
    const auto uses = [&](Node n) { return n != no_node && depends[static_cast<std::size_t>(n)]; };
    const auto refuse = [&](const char* what) {
      throw InputError(
          fmt::format("{} depends on the state '{}'; states act by forces: use it there", what, state.name));
    };
    if (std::any_of(eq.p.begin(), eq.p.end(), uses)) refuse("the kinetic energy, the mass or a momentum");
    if (uses(eq.energy)) refuse("an energy");
    if (std::any_of(eq.g.begin(), eq.g.end(), uses)) refuse("a constraint");
    if (state.update != no_node && std::any_of(eq.w.begin(), eq.w.end(), uses))
      throw InputError(
          fmt::format("a velocity constraint depends on the sampled state '{}', and would jump with it; give "
                      "it a state with a rate that follows this one",
                      state.name));
    for (const Equations::Gap& gap : eq.gaps)
      if (uses(gap.gap) || std::any_of(gap.slip.begin(), gap.slip.end(), uses)) refuse("a contact");
  }
}

}  // namespace

std::string integral_name(const std::string& state) { return state + "_integral"; }

int count_states(const Layout& layout) {
  int count = 0;
  for (auto y = layout.y.rbegin(), z = layout.z.rbegin(); y != layout.y.rend() && z != layout.z.rend(); ++y, ++z) {
    if (y->name != integral_name(z->name)) break;
    ++count;
  }
  return count;
}

std::shared_ptr<const SymbolicSystem> with_states(const SymbolicSystem& system, std::span<const AddedState> states) {
  Equations eq = system.equations();
  Layout layout = system.layout();
  eq.graph = std::make_shared<const Graph>(*eq.source);  // rates were read after the system was built
  refuse_uses(*eq.graph, eq, states);
  Graph graph = *eq.graph;
  // The reaction of a velocity constraint acts on what moves, not on a state in it: it is not -C^T psi then.
  std::vector<Node> values;
  for (const AddedState& state : states) values.push_back(state.value);
  const std::vector<char> of_states = dependence(graph, values);
  for (const Node w : eq.w)
    if (of_states[static_cast<std::size_t>(w)]) eq.ideal = false;
  const Node zero = graph.constant(0);
  std::vector<Node> applied = eq.applied_force ? eq.applied : std::vector<Node>(eq.f.size(), zero);
  const bool known = !eq.applied_force || !eq.applied.empty();
  const int first_y = layout.ny, first_z = layout.nz, count = static_cast<int>(states.size());
  for (const AddedState& state : states) {
    layout.y.push_back({integral_name(state.name), {}, layout.ny++});
    layout.z.push_back({state.name, {}, layout.nz++});
    if (state.update != no_node)
      eq.samples.push_back({state.name, state.every, state.offset, eq.z.size(), state.update});
    const Node rate = state.update != no_node ? zero : state.rate;
    eq.y.push_back(state.integral);
    eq.z.push_back(state.value);
    eq.v.push_back(state.value);
    eq.p.push_back(state.value);
    eq.f.push_back(rate);
    eq.r.push_back(zero);
    applied.push_back(rate);
    if (!eq.acceleration_force.empty()) eq.acceleration_force.push_back(rate);
    for (Equations::Gap& gap : eq.gaps)
      if (!gap.reaction.empty()) gap.reaction.push_back(zero);
  }
  eq.applied_force = true;
  eq.applied = known ? std::move(applied) : std::vector<Node>{};
  eq.graph = std::make_shared<const Graph>(std::move(graph));
  SystemHooks hooks = system.hooks();
  if (hooks.move)
    hooks.move = [inner = hooks.move, first_y, first_z, count](const double* y, const double* z, double h,
                                                               double* out) {
      inner(y, z, h, out);
      for (int k = 0; k < count; ++k) out[first_y + k] = y[first_y + k] + h * z[first_z + k];
    };
  return std::make_shared<const SymbolicSystem>(std::move(layout), std::move(eq), std::move(hooks));
}

}  // namespace hinge
