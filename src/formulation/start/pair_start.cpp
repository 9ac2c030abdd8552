#include "formulation/start/pair_start.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/implicit/complementarity_problem.hpp"
#include "hinge/error.hpp"

namespace hinge {

State consistent_pair_start(const SymbolicSystem& system, double t, const Start& start,
                            std::vector<std::string>* remarks) {
  const auto n = static_cast<std::size_t>(system.ny());
  if (start.position.size() != n)
    throw InputError(fmt::format("the start has {} numbers; there are {} unknowns", start.position.size(), n));
  State state{t, start.position, std::vector<double>(n, 0.0), {}};
  if (start.velocity.size() == n) state.z = start.velocity;
  for (const auto* part : {&state.y, &state.z})
    for (const double x : *part)
      if (!std::isfinite(x)) throw InputError("the initial values contain a number that is not finite");

  // A pair of which one function contains nothing but t and given unknowns.
  const Equations& eq = system.equations();
  ComplementarityProblem problem(system, LinearAlgebra::automatic);
  std::vector<Node> computed = eq.z;
  for (int i = 0; i < system.ny(); ++i)
    if (!problem.differential(i)) computed.push_back(eq.y[static_cast<std::size_t>(i)]);
  const std::vector<char> open = dependence(*eq.graph, computed), moves = dependence(*eq.graph, eq.y);
  std::vector<Node> known;
  std::vector<const Equations::Pair*> owner;
  for (const auto& pair : eq.pairs)
    for (const Node f : {pair.a, pair.b})
      if (!open[static_cast<std::size_t>(f)] && moves[static_cast<std::size_t>(f)]) {
        known.push_back(f);
        owner.push_back(&pair);
      }
  if (!known.empty() && start.consistent == Consistency::check) {
    const auto tape = eq.tape(*eq.graph, known);
    std::vector<double> scratch = tape->make_scratch(), value(known.size());
    const double* const inputs[] = {&t, state.y.data(), state.z.data(), nullptr};
    tape->evaluate(inputs, scratch.data(), value.data());
    double scale = 1e-300;
    for (const double x : state.y) scale = std::max(scale, std::abs(x));
    for (std::size_t k = 0; k < known.size(); ++k)
      if (!(value[k] >= -1e-9 * std::max(1.0, scale)))
        throw InconsistentStart(fmt::format(
            "the pair {} starts with {} = {:g}, which must not be negative; start elsewhere, or set consistent = "
            "\"project\" in [initial], and the first step moves there",
            owner[k]->name, to_text(*eq.graph, known[k], 60), value[k]));
  }

  ComplementarityProblem::Substitution s;
  s.x0 = state.y;
  s.d0.assign(n, 0.0);
  s.x1.assign(n, 0.0);
  s.d1.assign(n, 0.0);
  std::vector<double> X(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (problem.differential(static_cast<int>(i))) {
      s.d1[i] = 1;
      X[i] = state.z[i];
    } else {
      s.x0[i] = 0;
      s.x1[i] = 1;
      X[i] = state.y[i];
    }
  }
  if (problem.solve(t, s, t, s, X.data(), 30) != ComplementarityProblem::Outcome::solved) return state;
  std::string names;
  for (std::size_t i = 0; i < n; ++i) {
    double& place = s.d1[i] != 0 ? state.z[i] : state.y[i];
    if (s.x1[i] != 0 && std::abs(place - X[i]) > 1e-12 * std::max(1.0, std::abs(X[i])))
      names += (names.empty() ? "" : ", ") +
               fmt::format("{} = {:.6g}{}", system.layout().y_name(static_cast<int>(i)), X[i],
                           place != 0 ? fmt::format(" (not {:.6g}, as given: the pairs decide)", place) : "");
    place = X[i];
  }
  if (remarks && !names.empty()) remarks->push_back("computed at the start: " + names);
  return state;
}

}  // namespace hinge
