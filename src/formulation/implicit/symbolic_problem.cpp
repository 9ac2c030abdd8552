#include "formulation/implicit/symbolic_problem.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "formulation/implicit/auxiliary.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

SymbolicRows SymbolicRows::of_dae(const Equations& eq) {
  SymbolicRows rows(std::make_shared<Graph>(*eq.graph), eq.t);
  rows.add_unknowns(eq.y, eq.z, {});
  rows.add_rows(eq.residual, 0);
  return rows;
}

void SymbolicRows::add_unknowns(std::span<const Node> nodes, std::span<const Node> rates,
                                ImplicitProblem::Unknown kind) {
  AuxiliaryVariables variable(*graph);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    x.push_back(nodes[k]);
    rate.push_back(rates.empty() ? variable(fmt::format("rate of {}", nodes[k])) : rates[k]);
    unknowns.push_back(kind);
  }
}

void SymbolicRows::add_rows(std::span<const Node> nodes, int scale) {
  rows.insert(rows.end(), nodes.begin(), nodes.end());
  row_scale.insert(row_scale.end(), nodes.size(), scale);
}

CompiledRows::CompiledRows(const SymbolicRows& rows) {
  unknowns_ = rows.unknowns;
  row_scale_ = rows.row_scale;
  Graph& graph = *rows.graph;
  const SparseExpressions f_x = newton_matrix(graph, rows.rows, rows.x);
  const SparseExpressions f_rate = newton_matrix(graph, rows.rows, rows.rate);
  PatternBuilder builder(static_cast<int>(rows.rows.size()), static_cast<int>(rows.x.size()));
  for (const SparseExpressions* d : {&f_x, &f_rate})
    for (int i = 0; i < d->rows; ++i)
      for (int k = d->row_start[static_cast<std::size_t>(i)]; k < d->row_start[static_cast<std::size_t>(i) + 1]; ++k)
        builder.add(i, d->column[static_cast<std::size_t>(k)]);
  std::vector<int> place;
  pattern_ = builder.build(place);
  x_place_.assign(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(f_x.entries.size()));
  rate_place_.assign(place.begin() + static_cast<std::ptrdiff_t>(f_x.entries.size()), place.end());
  rate_matrix_is_constant_ =
      std::all_of(f_rate.entries.begin(), f_rate.entries.end(), [&](Node n) { return graph.is_constant(n); });

  const std::vector<Node> blocks[] = {{rows.t}, rows.x, rows.rate};
  function_ = make_tape(graph, blocks, rows.rows);
  std::vector<Node> outputs = f_x.entries;
  outputs.insert(outputs.end(), f_rate.entries.begin(), f_rate.entries.end());
  derivative_ = make_tape(graph, blocks, outputs);
  size_ = rows.x.size();
  function_scratch_ = function_->make_scratch();
  derivative_scratch_ = derivative_->make_scratch();
  rounding_ = RoundingBounds(rows.graph, {{rows.t}, rows.x, rows.rate}, rows.rows);
}

void CompiledRows::add_rounding(double t, const double* x, const double* rate, double* out) {
  const double* const inputs[] = {&t, x, rate};
  rounding_.add(inputs, out);
}

void CompiledRows::residual(double t, const double* x, const double* rate, double* out) {
  const double* const inputs[] = {&t, x, rate};
  function_->evaluate(inputs, function_scratch_.data(), out);
}

void CompiledRows::residuals(int count, const double* t, const double* x, const double* rate, double* out) {
  if (count > Evaluator::most_lanes) {
    for (int i = 0; i < count; ++i)
      residual(t[i], x + static_cast<std::size_t>(i) * size_, rate + static_cast<std::size_t>(i) * size_,
               out + static_cast<std::size_t>(i) * size_);
    return;
  }
  if (lanes_ != count) {
    lane_scratch_ = function_->make_scratch(count);
    lanes_ = count;
  }
  std::array<std::array<const double*, 3>, Evaluator::most_lanes> inputs{};
  std::array<const double* const*, Evaluator::most_lanes> lanes{};
  std::array<double*, Evaluator::most_lanes> outputs{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    inputs[i] = {t + i, x + i * size_, rate + i * size_};
    lanes[i] = inputs[i].data();
    outputs[i] = out + i * size_;
  }
  function_->evaluate(count, lanes.data(), lane_scratch_.data(), outputs.data());
}

void CompiledRows::jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) {
  const double* const inputs[] = {&t, x, rate};
  derivative_->evaluate(inputs, derivative_scratch_.data());
  const double* value = derivative_scratch_.data() + derivative_->first_output();
  std::fill_n(f_x, pattern_.entries(), 0.0);
  std::fill_n(f_rate, pattern_.entries(), 0.0);
  for (const std::size_t at : x_place_) f_x[at] = *value++;
  for (const std::size_t at : rate_place_) f_rate[at] = *value++;
}

}  // namespace hinge
