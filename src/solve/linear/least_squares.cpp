#include "solve/linear/least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/rank.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

namespace {

constexpr double rank_threshold = 1e-11;

void dense(const Pattern& a, const double* values, const double* b, double* x) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(a.rows, a.columns);
  Eigen::VectorXd right(a.rows);
  for (int i = 0; i < a.rows; ++i) {
    double size = 0;
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) size = std::max(size, std::abs(values[k]));
    const double factor = size > 0 ? 1 / size : 1.0;  // equations of very different size
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) m(i, a.column[at(k)]) = factor * values[k];
    right[i] = factor * b[i];
  }
  Eigen::Map<Eigen::VectorXd>(x, a.columns) = ShortestSolution(m, rank_threshold).of(right);
}

}  // namespace

bool least_squares(const Pattern& a, const double* values, const double* b, double* x, int largest_dense) {
  if (a.columns == 0) return true;
  if (std::max(a.rows, a.columns) <= largest_dense) {
    dense(a, values, b, x);
    return true;
  }
  const bool wide = a.columns >= a.rows;
  const int first = wide ? a.columns : a.rows;  // size of the identity
  PatternBuilder builder(a.rows + a.columns, a.rows + a.columns);
  std::vector<double> entries;
  const auto add = [&](int i, int j, double v) {
    builder.add(i, j);
    entries.push_back(v);
  };
  for (int i = 0; i < first; ++i) add(i, i, 1.0);
  for (int i = 0; i < a.rows; ++i)
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) {
      const int row = wide ? first + i : i, column = wide ? a.column[at(k)] : first + a.column[at(k)];
      add(row, column, values[k]);
      add(column, row, values[k]);
    }
  std::vector<int> place;
  const Pattern whole = builder.build(place);
  std::vector<double> sorted(whole.entries(), 0.0), unknown(at(a.rows + a.columns), 0.0);
  for (std::size_t k = 0; k < place.size(); ++k) sorted[at(place[k])] = entries[k];
  const auto solver = make_linear_solver(whole, LinearAlgebra::sparse);
  if (!solver->factor(sorted.data())) return false;
  std::copy_n(b, a.rows, unknown.begin() + (wide ? first : 0));
  solver->solve(unknown.data());
  std::copy_n(unknown.begin() + (wide ? 0 : first), a.columns, x);
  return std::all_of(x, x + a.columns, [](double v) { return std::isfinite(v); });
}

}  // namespace hinge
