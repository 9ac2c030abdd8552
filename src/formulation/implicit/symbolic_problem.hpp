// An implicit problem made of expressions, compiled to two tapes: F, and F_x with F_x'.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "formulation/implicit/implicit_problem.hpp"

namespace hinge {

/// F(t, x, x') as nodes of a graph, put together piece by piece.
struct SymbolicRows {
  std::shared_ptr<Graph> graph;
  Node t = no_node;
  std::vector<Node> x, rate;  // variables; rate[k] belongs to x[k]
  std::vector<ImplicitProblem::Unknown> unknowns;
  std::vector<Node> rows;
  std::vector<int> row_scale;

  /// Unknowns with derivatives; where `rates` is empty, new variables stand for these.
  void add_unknowns(std::span<const Node> nodes, std::span<const Node> rates, ImplicitProblem::Unknown kind);
  void add_rows(std::span<const Node> nodes, int scale);
};

/// The tapes of F and its derivatives.
class CompiledRows {
 public:
  CompiledRows() = default;
  explicit CompiledRows(const SymbolicRows& rows);
  const Pattern& pattern() const { return pattern_; }
  bool rate_matrix_is_constant() const { return rate_matrix_is_constant_; }
  void residual(double t, const double* x, const double* rate, double* out);
  /// At `count` points: t, and x, x' and F of all points one after the other. Nothing is allocated from the second
  /// call with the same count on.
  void residuals(int count, const double* t, const double* x, const double* rate, double* out);
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate);

 private:
  Pattern pattern_;
  std::vector<std::size_t> x_place_, rate_place_;  // of each entry of F_x and F_x' among those of the pattern
  std::unique_ptr<Evaluator> function_, derivative_;
  std::vector<double> function_scratch_, derivative_scratch_, lane_scratch_;
  int lanes_ = 0;  // that lane_scratch_ is for
  std::size_t size_ = 0;
  bool rate_matrix_is_constant_ = false;
};

}  // namespace hinge
