#include "simulate/dae_singularity.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "formulation/implicit/dae_structure.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {
constexpr int most_unknowns = 24;
constexpr double vanished = 1e-4;  // of what it is at the ends of the step
}  // namespace

void DaeSingularity::begin(const System& system, bool resolved) {
  *this = DaeSingularity();
  resolved_ = resolved;
  const Structure& has = system.structure();
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!has.is_dae || !symbolic || system.ny() > most_unknowns || has.pairs > 0 || has.has_noise) return;
  try {
    DaeStructure s = analyse_dae(*symbolic);
    Graph& graph = s.jet.graph();
    const std::size_t n = at(s.size());
    std::vector<Node> entries;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<Node> variables;
      std::vector<std::size_t> columns;
      for (std::size_t j = 0; j < n; ++j)
        if (const int order = s.d[j] - s.c[i]; order >= 0) {
          variables.push_back(s.jet.at(static_cast<int>(j), order));
          columns.push_back(j);
        }
      const SparseExpressions row = jacobian(graph, std::vector<Node>{s.equations[i]}, variables);
      for (std::size_t k = 0; k < row.entries.size(); ++k) {
        entries.push_back(row.entries[k]);
        places_.push_back(i * n + columns[at(row.column[k])]);
      }
    }
    if (std::all_of(entries.begin(), entries.end(), [&](Node e) { return graph.is_constant(e); })) return;
    std::vector<Node> higher;
    for (std::size_t k = 0; k < s.jet.variables().size(); ++k)
      if (s.jet.places()[k].order > 1) higher.push_back(s.jet.variables()[k]);
    const std::vector<char> depends = dependence(graph, higher);
    for (const Node e : entries)
      if (depends[at(e)]) return;
    entries_ = StateFunctions(*symbolic, graph, entries);
    size_ = s.size();
    matrix_.resize(n * n);
  } catch (const SingularDae&) {  // the run itself says so
  }
}

// Gauss with pivots.
double DaeSingularity::determinant(const State& state) {
  const auto n = static_cast<std::size_t>(size_);
  const std::vector<double>& values = entries_.at(state);
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) matrix_[places_[k]] += values[k];
  double det = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(matrix_[i * n + k]) > std::abs(matrix_[pivot * n + k])) pivot = i;
    const double p = matrix_[pivot * n + k];
    if (!std::isfinite(p) || p == 0) return 0;
    if (pivot != k) {
      for (std::size_t j = k; j < n; ++j) std::swap(matrix_[k * n + j], matrix_[pivot * n + j]);
      det = -det;
    }
    det *= p;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = matrix_[i * n + k] / p;
      if (factor == 0) continue;
      for (std::size_t j = k + 1; j < n; ++j) matrix_[i * n + j] -= factor * matrix_[k * n + j];
    }
  }
  return std::isfinite(det) ? det : 0;
}

void DaeSingularity::see(const State& state, double h) {
  changed_ = false;
  if (size_ == 0) return;
  const double now = determinant(state);
  if (h == 0) last_ = slope_ = 0;
  changed_ = now * last_ < 0;
  const bool thrown_back = !resolved_ && now * last_ > 0 && (last_ + slope_ * h) * last_ < 0;
  if (thrown_back && count_++ == 0) first_ = state.t;
  slope_ = h > 0 && last_ != 0 && !thrown_back && !changed_ ? (now - last_) / h : 0;
  if (now != 0) last_ = now;
}

void DaeSingularity::locate(const State& before, const State& after,
                            const std::function<void(double t, State& out)>& within) {
  State middle = after;
  double low = before.t, high = after.t, at_high = determinant(after), at_low = determinant(before);
  const double size = std::max(std::abs(at_low), std::abs(at_high));
  for (int n = 0; n < 40 && high - low > 1e-13 * (after.t - before.t); ++n) {
    const double t = low + (high - low) / 2;
    if (!(t > low && t < high)) break;
    within(t, middle);
    const double value = determinant(middle);
    if (value * at_high > 0)
      high = t, at_high = value;
    else
      low = t, at_low = value;
  }
  if (std::abs(at_high) > vanished * size || std::abs(at_low) > vanished * size) return;  // it jumps
  if (count_++ == 0) first_ = high;
}

void DaeSingularity::doubts(std::vector<Doubt>& doubts) const {
  if (count_ > 0)
    doubts.push_back(
        {fmt::format("the system Jacobian of the DAE is singular {}: solutions meet there, or there are many, "
                     "and the motion went on along one of them, first at t",
                     count_ == 1 ? "once" : fmt::format("{} times", count_)),
         first_, "end the run before, or write equations that have one solution there"});
}

}  // namespace hinge
