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
  int unknowns = 0;         // that it determines,
  bool all_present = true;  // of each of which a part can be taken
};

// Slopes of the equations without derivatives by their unknowns, as numbers.
struct Slopes {
  std::vector<std::size_t> equation;
  SparseExpressions entries;
  std::vector<double> values;

  Slopes(const SymbolicSystem& system, DaeStructure& s, const State& state) {
    Graph& graph = s.jet.graph();
    std::vector<Node> rates, unknowns, rows;
    for (std::size_t k = 0; k < s.jet.variables().size(); ++k)
      if (s.jet.places()[k].order > 0) rates.push_back(s.jet.variables()[k]);
    const std::vector<char> moves = dependence(graph, rates);
    for (std::size_t i = 0; i < at(s.size()); ++i)
      if (!moves[at(s.equations[i])]) equation.push_back(i), rows.push_back(s.equations[i]);
    for (int j = 0; j < s.size(); ++j) unknowns.push_back(s.jet.at(j, 0));
    entries = jacobian(graph, rows, unknowns);
    const auto tape = system.equations().tape(graph, entries.entries);
    std::vector<double> scratch = tape->make_scratch();
    const double* const inputs[] = {&state.t, state.y.data(), state.z.data(), state.psi.data()};
    values.resize(entries.entries.size());
    tape->evaluate(inputs, scratch.data(), values.data());
  }
};

// `known`: unknowns that other equations determine.
Terms measure(const Slopes& slopes, const DaeStructure& s, std::size_t row, const std::vector<char>& known,
              const State& state, double tolerance) {
  Terms found;
  for (auto k = at(slopes.entries.row_start[row]); k < at(slopes.entries.row_start[row + 1]); ++k) {
    const std::size_t j = at(slopes.entries.column[k]);
    const double slope = slopes.values[k], term = std::abs(slope * state.y[j]);
    if (slope == 0 && known[j]) continue;
    if (s.d[j] > s.c[slopes.equation[row]] || known[j]) {
      found.others = std::max({found.others, drowned * term, undecided * std::abs(slope) * tolerance});
      continue;
    }
    if (slope != 0) ++found.unknowns;
    found.all_present = found.all_present && (std::abs(state.y[j]) > tolerance || slope == 0);
    if (!(term <= found.own) || (slope != 0 && found.slope == 0)) {
      found.own = term;
      found.unknown = j;
      found.slope = slope;
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
    const Slopes slopes(*symbolic, s, state);
    std::vector<char> known(at(s.size()), 0);
    const auto lost = [&](const Terms& row) { return row.all_present && row.own >= 0 && row.own < row.others; };
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < slopes.equation.size(); ++i)
        if (const Terms row = measure(slopes, s, i, known, state, tolerance); row.unknowns == 1 && !lost(row)) {
          known[row.unknown] = 1;
          more = true;
        }
    }
    for (std::size_t i = 0; i < slopes.equation.size(); ++i) {
      const Terms row = measure(slopes, s, i, known, state, tolerance);
      if (!lost(row)) continue;
      return fmt::format(
          "; equation {} says next to nothing about {} here (its slope is {:.1g}), and nothing else determines it. An "
          "exponential that blocks, as that of a diode in series with a coil, needs something beside it: in a circuit "
          "a small capacitor in parallel, as in ... + 1e-9*u'",
          s.names[slopes.equation[i]], s.unknown_list({static_cast<int>(row.unknown)}), row.slope);
    }
  } catch (const SingularDae&) {  // said elsewhere
  }
  return "";
}

}  // namespace hinge
