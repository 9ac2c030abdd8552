#include "formulation/implicit/lost_unknown.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/implicit/dae_structure.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

// What a change of the whole unknown makes, as a part of the largest other term, and of what tolerances leave open
// there.
constexpr double drowned = 1e-10, undecided = 1e-3;
constexpr int largest_that_is_looked_at = 200;

struct Terms {
  double own = -1, others = 0;  // terms by the unknowns that it determines, and by the others
  std::size_t unknown = 0;      // of the largest
  double slope = 0;
};

Terms measure(const SymbolicSystem& system, DaeStructure& s, std::size_t i, const State& state, double tolerance) {
  const std::size_t n = at(s.size());
  Graph& graph = s.jet.graph();
  std::vector<Node> unknowns;
  for (std::size_t j = 0; j < n; ++j) unknowns.push_back(s.jet.at(static_cast<int>(j), 0));
  const std::vector<Node> row{s.equations[i]};
  const SparseExpressions slopes = jacobian(graph, row, unknowns);
  const auto tape = system.equations().tape(graph, slopes.entries);
  std::vector<double> scratch = tape->make_scratch(), values(slopes.entries.size());
  const double* const inputs[] = {&state.t, state.y.data(), state.z.data(), state.psi.data()};
  tape->evaluate(inputs, scratch.data(), values.data());
  Terms found;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t j = at(slopes.column[k]);
    const double term = std::abs(values[k] * state.y[j]);
    if (s.d[j] > s.c[i]) {
      found.others = std::max({found.others, drowned * term, undecided * std::abs(values[k]) * tolerance});
    } else if (!(std::abs(state.y[j]) > tolerance)) {  // of which no part can be taken
      return {};
    } else if (!(term <= found.own)) {
      found.own = term;
      found.unknown = j;
      found.slope = values[k];
    }
  }
  return found;
}

}  // namespace

std::string lost_unknown(const System& system, const State& state, double tolerance) {
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic || !system.structure().is_dae || system.structure().pairs > 0 ||
      system.ny() > largest_that_is_looked_at)
    return "";
  try {
    DaeStructure s = analyse_dae(*symbolic);
    std::vector<Node> rates;
    for (std::size_t k = 0; k < s.jet.variables().size(); ++k)
      if (s.jet.places()[k].order > 0) rates.push_back(s.jet.variables()[k]);
    const std::vector<char> moves = dependence(s.jet.graph(), rates);
    for (std::size_t i = 0; i < at(s.size()); ++i) {
      if (moves[at(s.equations[i])]) continue;
      const Terms row = measure(*symbolic, s, i, state, tolerance);
      if (row.own < 0 || !(row.own < row.others)) continue;
      return fmt::format(
          "; equation {} says next to nothing about {} here (its slope is {:.1g}), and nothing else determines it. An "
          "exponential that blocks, as that of a diode in series with a coil, needs something beside it: in a circuit "
          "a small capacitor in parallel, as in ... + 1e-9*u'",
          s.names[i], s.unknown_list({static_cast<int>(row.unknown)}), row.slope);
    }
  } catch (const SingularDae&) {  // said elsewhere
  }
  return "";
}

}  // namespace hinge
