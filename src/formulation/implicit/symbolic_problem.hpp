// An implicit problem made of expressions, compiled to two tapes: F, and F_x with F_x'.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "expression/rounding_bounds.hpp"
#include "formulation/implicit/implicit_rows.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// F(t, x, x') as nodes of a graph, put together piece by piece.
struct SymbolicRows {
  std::shared_ptr<Graph> graph;
  Node t;
  std::vector<Node> x, rate;  // variables; rate[k] belongs to x[k]
  std::vector<ImplicitProblem::Unknown> unknowns;
  std::vector<Node> rows;
  std::vector<int> row_scale;

  SymbolicRows(std::shared_ptr<Graph> own, Node time) : graph(std::move(own)), t(time) {}
  /// F of a DAE, in a graph of its own.
  static SymbolicRows of_dae(const Equations& eq);
  /// Unknowns with derivatives; where `rates` is empty, new variables stand for these.
  void add_unknowns(std::span<const Node> nodes, std::span<const Node> rates, ImplicitProblem::Unknown kind);
  void add_rows(std::span<const Node> nodes, int scale);
};

/// The tapes of F and its derivatives.
class CompiledRows final : public ImplicitRows {
 public:
  CompiledRows() = default;
  explicit CompiledRows(const SymbolicRows& rows);
  void residual(double t, const double* x, const double* rate, double* out) override;
  /// Nothing is allocated from the second call with the same count on.
  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override;
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override;
  void add_rounding(double t, const double* x, const double* rate, double* out) override;

 private:
  std::vector<std::size_t> x_place_, rate_place_;  // of each entry of F_x and F_x' among those of the pattern
  std::unique_ptr<Evaluator> function_, derivative_;
  RoundingBounds rounding_;
  std::vector<double> function_scratch_, derivative_scratch_, lane_scratch_;
  int lanes_ = 0;  // that lane_scratch_ is for
  std::size_t size_ = 0;
};

}  // namespace hinge
