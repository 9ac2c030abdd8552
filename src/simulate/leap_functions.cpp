#include "simulate/leap_functions.hpp"

#include <algorithm>
#include <cmath>

#include "expression/derivative.hpp"
#include "expression/substitute.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {
constexpr std::size_t most_rows = 200, longest_rows = 4000;  // of a DAE that is looked at
}  // namespace

LeapFunctions::LeapFunctions(const SymbolicSystem& system) : graph_(system.equations().graph) {
  const Equations& eq = system.equations();
  moves_.assign(eq.y.size(), 1);
  if (system.structure().is_dae)
    look_at_dae(system);
  else
    look_at_forces(eq);
}

void LeapFunctions::look_at_forces(const Equations& eq) {
  const std::vector<char> depends = dependence(*graph_, eq.y);
  for (const Node f : eq.f)
    if (depends[hinge::at(f)]) nodes_.push_back(f), shares_.emplace_back();
  for (std::size_t i = 0; i < eq.v.size() && i < eq.y.size(); ++i)
    if (depends[hinge::at(eq.v[i])]) nodes_.push_back(eq.v[i]), shares_.push_back({{i, 1.0, true}});
}

void LeapFunctions::look_at_dae(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  const std::size_t n = eq.y.size();
  if (n > most_rows || cone_of(*graph_, eq.residual).size() > longest_rows) return;
  auto own = std::make_shared<Graph>(*graph_);
  Graph& graph = *own;
  std::vector<Node> unknowns = eq.y;
  unknowns.insert(unknowns.end(), eq.z.begin(), eq.z.end());
  const SparseExpressions slopes = jacobian(graph, eq.residual, unknowns);
  std::vector<Node> factors;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of factors: the function, its share
  moves_.assign(n, 0);
  for (std::size_t i = 0; i < eq.residual.size(); ++i) {
    std::vector<Share> derivatives, linear;
    std::vector<Node> of_derivatives, absent = eq.z;
    for (int k = slopes.row_start[i]; k < slopes.row_start[i + 1]; ++k) {
      const std::size_t j = hinge::at(slopes.column[hinge::at(k)]);
      const Node slope = slopes.entries[hinge::at(k)];
      if (j >= n) {
        moves_[j - n] = 1;
        derivatives.push_back({j - n, graph.is_constant(slope) ? graph[slope].value : NAN, true});
        of_derivatives.push_back(slope);
      } else if (graph.is_constant(slope)) {
        linear.push_back({j, graph[slope].value, false});
        absent.push_back(eq.y[j]);
      }
    }
    if (derivatives.empty() && linear.empty()) continue;
    const std::vector<Node> zeros(absent.size(), graph.constant(0)), row{eq.residual[i]};
    const Node left = substitute(graph, row, absent, zeros, graph).front();
    if (!dependence(graph, eq.y)[hinge::at(left)]) continue;
    for (std::size_t k = 0; k < of_derivatives.size(); ++k)
      if (std::isnan(derivatives[k].factor)) {
        places.emplace_back(nodes_.size(), k);
        factors.push_back(of_derivatives[k]);
      }
    nodes_.push_back(left);
    shares_.push_back(derivatives.empty() ? linear : derivatives);
  }
  graph_ = std::move(own);
  for (const auto& [function, share] : places) changing_.push_back(&shares_[function][share]);
  if (!factors.empty()) factors_ = StateFunctions(system, *graph_, factors);
}

void LeapFunctions::at(const State& state) {
  if (changing_.empty()) return;
  const std::vector<double>& values = factors_.at(state);
  for (std::size_t k = 0; k < changing_.size(); ++k) changing_[k]->factor = values[k];
}

double LeapFunctions::size(std::size_t k, double h, double momentum, std::span<const double> sizes) const {
  if (shares_[k].empty()) return momentum / h;
  double size = 0;
  for (const Share& s : shares_[k])
    size = std::max(size, std::abs(s.factor) * sizes[s.unknown] / (s.derivative ? h : 1.0));
  return size;
}

}  // namespace hinge
