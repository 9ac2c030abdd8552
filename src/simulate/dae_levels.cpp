#include "simulate/dae_levels.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "expression/substitute.hpp"
#include "formulation/implicit/dae_structure.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Nodes = std::vector<Node>;

// Which functions contain none of the variables.
std::vector<char> free_of(const Graph& graph, const Nodes& functions, const Nodes& variables) {
  const std::vector<char> depends = dependence(graph, variables);
  std::vector<char> free;
  for (const Node f : functions) free.push_back(!depends[at(f)]);
  return free;
}

// Those without x'; of a combination, what is left where x' cancels.
Nodes algebraic_equations(Graph& graph, const Nodes& equations, const Nodes& z) {
  const SparseExpressions by_z = jacobian(graph, equations, z);
  Nodes rows;
  for (std::size_t i = 0; i < equations.size(); ++i)
    if (by_z.row_start[i] == by_z.row_start[i + 1]) rows.push_back(equations[i]);
  return substitute(graph, rows, z, Nodes(z.size(), graph.constant(0)), graph);
}

// Second derivatives, and what equations in which one x_j' stands alone, times a number, make of them.
struct SecondDerivatives {
  Nodes variables, known, images;

  explicit SecondDerivatives(DaeStructure& s, const Nodes& z) {
    Graph& graph = s.jet.graph();
    for (int j = 0; j < s.size(); ++j) variables.push_back(s.jet.at(j, 2));
    const SparseExpressions by_z = jacobian(graph, s.direct, z);
    Nodes alone;
    std::vector<int> unknown;
    std::vector<char> found(at(s.size()), 0);
    for (std::size_t i = 0; i < s.direct.size(); ++i) {
      const auto k = at(by_z.row_start[i]);
      if (by_z.row_start[i + 1] != by_z.row_start[i] + 1 || !graph.is_constant(by_z.entries[k])) continue;
      const int j = by_z.column[k];
      if (found[at(j)]) continue;
      found[at(j)] = 1;
      alone.push_back(s.direct[i]);
      unknown.push_back(j);
      images.push_back(by_z.entries[k]);
    }
    const Nodes rates = s.jet.total_derivatives(alone);  // a x_j'' - f_t - f_x x'
    for (const int j : unknown) known.push_back(variables[at(j)]);
    const Nodes zero(known.size(), graph.constant(0));
    const Nodes rest = substitute(graph, rates, known, zero, graph);
    for (std::size_t k = 0; k < rest.size(); ++k) images[k] = graph.negate(graph.divide(rest[k], images[k]));
  }
};

Nodes hidden_constraints(DaeStructure& s, const Nodes& z) {
  Graph& graph = s.jet.graph();
  const SecondDerivatives second(s, z);
  Nodes level, found;
  std::vector<int> equation;
  for (int i = 0; i < s.size(); ++i)
    if (s.c[at(i)] > 0) {
      level.push_back(s.equations[at(i)]);
      equation.push_back(i);
    }
  Nodes higher;  // combined equations may contain x'' and more themselves
  for (std::size_t k = 0; k < s.jet.variables().size(); ++k)
    if (s.jet.places()[k].order > 1) higher.push_back(s.jet.variables()[k]);
  for (int order = 0; !level.empty(); ++order) {
    const std::vector<char> usable = free_of(graph, level, higher);
    Nodes next;
    std::vector<int> next_equation;
    for (std::size_t k = 0; k < level.size(); ++k) {
      if (!usable[k]) continue;
      if (order > 0 && !graph.is_constant(level[k])) found.push_back(level[k]);
      if (s.c[at(equation[k])] <= order) continue;
      next.push_back(level[k]);
      next_equation.push_back(equation[k]);
    }
    level = substitute(graph, s.jet.total_derivatives(next), second.known, second.images, graph);
    equation = std::move(next_equation);
  }
  return found;
}

}  // namespace

DaeLevels::DaeLevels(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  std::optional<DaeStructure> structure;
  if (eq.pairs.empty() && eq.noise.empty()) try {
      structure = analyse_dae(system);
    } catch (const SingularDae&) {  // the run itself says so
    }
  Graph own = structure ? Graph{} : *eq.graph;
  Graph& graph = structure ? structure->jet.graph() : own;
  Nodes rows = algebraic_equations(graph, structure ? structure->direct : eq.residual, eq.z);
  algebraic_count_ = rows.size();
  if (structure && structure->index() > 1)
    for (const Node f : hidden_constraints(*structure, eq.z)) rows.push_back(f);
  if (rows.empty()) return;
  const SparseExpressions slopes = jacobian(graph, std::span(rows).first(algebraic_count_), eq.y);
  rows_ = StateFunctions(system, graph, rows);
  slopes_ = StateFunctions(system, graph, slopes.entries);
  row_start_ = slopes.row_start;
  column_ = slopes.column;
  sizes_.resize(eq.y.size());
  begin();
}

void DaeLevels::begin() {
  for (auto* v : {&worst_, &now_, &before_}) v->assign(algebraic_count_, 0);
  time_ = NAN;
  worst_slopes_.assign(column_.size(), 0);
  std::fill(sizes_.begin(), sizes_.end(), 0.0);
}

void DaeLevels::take(const State& s) {
  for (std::size_t j = 0; j < sizes_.size(); ++j) sizes_[j] = std::max(sizes_[j], std::abs(s.y[j]));
  const std::vector<double>* slopes = nullptr;
  if (s.t != time_) {
    before_ = now_;
    std::fill(now_.begin(), now_.end(), 0.0);
    time_ = s.t;
  }
  for (std::size_t i = 0; i < worst_.size(); ++i) {
    now_[i] = std::max(now_[i], seen_[i]);
    const double twice = std::min(now_[i], before_[i]);
    if (!(twice > worst_[i])) continue;
    worst_[i] = twice;
    if (!slopes) slopes = &slopes_.at(s);
    for (auto k = hinge::at(row_start_[i]); k < hinge::at(row_start_[i + 1]); ++k)
      worst_slopes_[k] = std::abs((*slopes)[k]);
  }
}

double DaeLevels::off() const {
  constexpr double rounding = 1e-12;  // of the largest unknown: those that stay at zero are not measured by theirs
  double most = 0, floor = 0;
  for (const double x : sizes_) floor = std::max(floor, rounding * x);
  for (std::size_t i = 0; i < worst_.size(); ++i) {
    double size = 0;
    for (auto k = hinge::at(row_start_[i]); k < hinge::at(row_start_[i + 1]); ++k)
      size += worst_slopes_[k] * std::max(floor, sizes_[hinge::at(column_[k])]);
    if (size > 0) most = std::max(most, worst_[i] / size);  // not where a slope is none
  }
  return most;
}

void DaeLevels::at(const State& s) {
  algebraic = hidden = 0;
  const std::vector<double>& values = rows_.at(s);
  seen_.resize(algebraic_count_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = std::abs(values[i]);
    if (i < algebraic_count_) {
      seen_[i] = size;
      algebraic = larger(algebraic, size);
    } else if (std::isfinite(size)) {
      hidden = std::max(hidden, size);
    }
  }
}

}  // namespace hinge
