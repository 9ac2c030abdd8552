#include "simulate/left_tables.hpp"

#include <cmath>

#include <fmt/format.h>

#include "expression/table.hpp"
#include "system/symbolic.hpp"

namespace hinge {

std::string left_tables(const System& system, const State& state, double time) {
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic) return "";
  const Equations& eq = symbolic->equations();
  Graph graph = *eq.graph;
  std::vector<Node> functions = eq.v, arguments;
  for (const auto* more : {&eq.p, &eq.f, &eq.r, &eq.g, &eq.residual})
    functions.insert(functions.end(), more->begin(), more->end());
  std::vector<std::shared_ptr<const Table>> tables;
  for (const Node n : cone_of(graph, functions)) {
    const Graph::Entry e = graph[n];
    if (e.op != Op::table || !graph.table(e)->ends()) continue;
    tables.push_back(graph.table(e));
    arguments.push_back(e.a);
  }
  if (tables.empty()) return "";
  const std::vector<Node> rates = time_derivative(graph, arguments, eq.t, eq.y, eq.v);
  std::vector<Node> both = arguments;
  both.insert(both.end(), rates.begin(), rates.end());
  const auto tape = eq.tape(graph, both);
  std::vector<double> scratch = tape->make_scratch(), x(both.size());
  const double* const inputs[] = {&state.t, state.y.data(), state.z.data(), state.psi.data()};
  tape->evaluate(inputs, scratch.data(), x.data());
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const Interval range = tables[k]->range();
    const double later = x[k] + x[tables.size() + k] * time;
    if (range.contains(x[k]) && range.contains(later)) continue;
    if (tables[k]->name().find(' ') != std::string::npos) return "; " + tables[k]->name();  // no name of a user's
    return fmt::format(
        "; the table '{}' goes from {:g} to {:g}, and its argument leaves it there: give more points, or say what "
        "holds "
        "beyond them, as in beyond = \"constant\"",
        tables[k]->name(), range.low, range.high);
  }
  return "";
}

}  // namespace hinge
