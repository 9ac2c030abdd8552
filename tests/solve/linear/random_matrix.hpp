// Random sparse matrices for tests, and their dense form.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "hinge/solve.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge::trial {

inline double uniform(std::mt19937& random, double low = -1, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

inline std::vector<int> random_permutation(std::mt19937& random, int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// About `per_row` entries in each row; with `regular`, a permutation is among them, so that a square matrix is
/// structurally regular.
inline Pattern random_pattern(std::mt19937& random, int rows, int columns, int per_row, bool regular = false) {
  PatternBuilder builder(rows, columns);
  const std::vector<int> permutation = random_permutation(random, columns);
  for (int i = 0; i < rows; ++i) {
    if (regular) builder.add(i, permutation[static_cast<std::size_t>(i)]);
    for (int k = 0; k < per_row; ++k) builder.add(i, static_cast<int>(random() % static_cast<unsigned>(columns)));
  }
  std::vector<int> place;
  return builder.build(place);
}

inline std::vector<double> random_values(std::mt19937& random, const Pattern& pattern) {
  std::vector<double> values(pattern.entries());
  for (double& x : values) x = uniform(random);
  return values;
}

inline Eigen::MatrixXd dense(const Pattern& p, const std::vector<double>& values) {
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(p.rows, p.columns);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      full(i, p.column[static_cast<std::size_t>(k)]) += values[static_cast<std::size_t>(k)];
  return full;
}

inline Eigen::VectorXd random_vector(std::mt19937& random, int n) {
  Eigen::VectorXd x(n);
  for (double& entry : x) entry = uniform(random);
  return x;
}

}  // namespace hinge::trial
