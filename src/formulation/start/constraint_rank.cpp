#include "formulation/start/constraint_rank.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "solve/linear/cholesky.hpp"
#include "solve/linear/rank.hpp"

namespace hinge {

namespace {

// Rows of G are scaled to length one first, so that units do not decide about the rank.
constexpr double rank_tolerance = 1e-10;
// Up to this many constraints QR with column pivoting is cheap.
constexpr int dense_limit = 100;
// Above, L D L^T of G G^T: a pivot this small is a row that the rows before it explain.
constexpr double pivot_tolerance = 1e-11;

using Sparse = Eigen::SparseMatrix<double>;

Sparse scaled_transpose(const System& system, double t, const double* y, const double* z) {
  const Quantity rows = system.nw() > 0 ? Quantity::constraint_rate_z : Quantity::constraint_y;
  const Pattern& p = system.pattern(rows);
  const auto evaluation = system.evaluation({rows});
  const std::vector<double> zero(static_cast<std::size_t>(std::max({system.nz(), system.npsi(), 1})), 0.0);
  evaluation->at(t, y, z ? z : zero.data(), zero.data());
  const double* g = (*evaluation)[rows];
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < p.rows; ++i) {
    const int first = p.row_start[static_cast<std::size_t>(i)], last = p.row_start[static_cast<std::size_t>(i) + 1];
    double length = 0;
    for (int k = first; k < last; ++k) length = std::hypot(length, g[k]);
    if (length == 0 || !std::isfinite(length)) continue;
    for (int k = first; k < last; ++k) entries.emplace_back(p.column[static_cast<std::size_t>(k)], i, g[k] / length);
  }
  Sparse transpose(p.columns, p.rows);
  transpose.setFromTriplets(entries.begin(), entries.end());
  transpose.makeCompressed();
  return transpose;
}

// The columns are split into `rank` independent ones and the rest; the rest is expressed by the independent ones.
void fill(const PivotedQr& qr, ConstraintRank& result) {
  const Eigen::Index rank = result.rank;
  for (Eigen::Index k = rank; k < result.constraints; ++k) {
    ConstraintRank::Dependence d;
    d.constraint = qr.order()[k];
    const Eigen::VectorXd x = qr.combination(k, rank);
    for (Eigen::Index j = 0; j < rank; ++j)
      if (std::abs(x[j]) > 1e-6) d.on.push_back(qr.order()[j]);
    std::sort(d.on.begin(), d.on.end());
    result.dependent.push_back(std::move(d));
  }
}

// Many constraints: P G G^T P^T = L D L^T. Where a pivot vanishes, L^T x = e_k gives the combination of rows that does.
void sparse_rank(const Sparse& transpose, ConstraintRank& result) {
  Sparse gram = Sparse(transpose.transpose()) * transpose;
  for (Eigen::Index k = 0; k < gram.rows(); ++k) gram.coeffRef(k, k) += 1e-14;  // keeps the factorisation going
  gram.makeCompressed();
  SparseCholesky ldlt;
  ldlt.analyse(gram);
  ldlt.factor(gram);
  const Eigen::VectorXd pivots = ldlt.pivots();
  for (Eigen::Index k = 0; k < pivots.size(); ++k) {
    if (pivots[k] > pivot_tolerance) continue;
    --result.rank;
    ConstraintRank::Dependence d;
    d.constraint = ldlt.row(k);
    if (result.dependent.size() < 8) {  // names for the first few are enough
      const Eigen::VectorXd x = ldlt.combination(k);
      for (Eigen::Index j = 0; j < x.size(); ++j)
        if (j != k && std::abs(x[j]) > 1e-6 * x.cwiseAbs().maxCoeff()) d.on.push_back(ldlt.row(j));
      std::sort(d.on.begin(), d.on.end());
    }
    result.dependent.push_back(std::move(d));
  }
}

}  // namespace

ConstraintRank constraint_rank(const System& system, double t, const double* y, const double* z) {
  ConstraintRank result;
  result.constraints = result.rank = system.nrates();
  if (result.constraints == 0) return result;
  const Sparse transpose = scaled_transpose(system, t, y, z);
  if (result.constraints <= dense_limit) {
    const PivotedQr qr(Eigen::MatrixXd(transpose), rank_tolerance);
    result.rank = static_cast<int>(qr.rank());
    if (!result.full()) fill(qr, result);
    return result;
  }
  sparse_rank(transpose, result);
  return result;
}

std::string ConstraintRank::describe(const Layout& layout) const {
  std::string text;
  const std::size_t shown = std::min<std::size_t>(dependent.size(), 4);
  for (std::size_t k = 0; k < shown; ++k) {
    const Dependence& d = dependent[k];
    text += (k ? "; " : "") + layout.rate_name(d.constraint);
    if (d.on.empty()) {
      text += " has no direction of its own here";
      continue;
    }
    text += " is a combination of ";
    for (std::size_t j = 0; j < std::min<std::size_t>(d.on.size(), 4); ++j)
      text += (j ? " and " : "") + layout.rate_name(d.on[j]);
    if (d.on.size() > 4) text += fmt::format(" and {} more", d.on.size() - 4);
  }
  if (dependent.size() > shown) text += fmt::format("; and {} more", dependent.size() - shown);
  return text;
}

}  // namespace hinge
