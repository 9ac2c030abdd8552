#include "formulation/start/constraint_rank.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/start/scaled_rows.hpp"
#include "solve/linear/cholesky.hpp"
#include "solve/linear/rank.hpp"

namespace hinge {

namespace {

// Pivots below `zero` count as zero; those below `small` do where a gap separates them from the others.
constexpr double zero = 1e-10, small = 1e-7, clear_gap = 1e-3;
// Up to this many constraints QR with column pivoting is cheap.
constexpr int dense_limit = 300;
// Above, L D L^T of A A^T: a pivot this small is a row that the rows before it explain.
constexpr double pivot_tolerance = 1e-11;

using Sparse = Eigen::SparseMatrix<double>;

Sparse scaled_transpose(const System& system, double t, const double* y, const double* z) {
  ScaledRows rows(system, system.nw() > 0 ? ConstraintLevel::velocity : ConstraintLevel::position);
  const std::vector<double> rest(static_cast<std::size_t>(std::max(system.nz(), 1)), 0.0);
  Sparse transpose(rows.columns(), rows.rows());
  if (!rows.at(t, y, z ? z : rest.data())) return transpose;
  const Pattern& p = rows.pattern();
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      entries.emplace_back(p.column[static_cast<std::size_t>(k)], i, rows.values()[static_cast<std::size_t>(k)]);
  transpose.setFromTriplets(entries.begin(), entries.end());
  transpose.makeCompressed();
  return transpose;
}

// How many pivots, in decreasing order, are none of rounding.
Eigen::Index count_pivots(const Eigen::VectorXd& pivots) {
  const Eigen::Index n = pivots.size();
  Eigen::Index rank = 0;
  while (rank < n && std::abs(pivots[rank]) > small) ++rank;
  // among the small ones: where the gap is largest
  Eigen::Index cut = rank;
  double least = clear_gap;
  for (Eigen::Index k = std::max<Eigen::Index>(rank, 1); k < n; ++k) {
    const double ratio = std::abs(pivots[k]) / std::abs(pivots[k - 1]);
    if (std::abs(pivots[k - 1]) > zero && ratio < least) least = ratio, cut = k;
  }
  if (least < clear_gap) return cut;
  while (rank < n && std::abs(pivots[rank]) > zero) ++rank;
  return rank;
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
    if (pivots[k] > pivot_tolerance) {
      result.smallest = std::min(result.smallest, std::sqrt(pivots[k]));
      result.kept.push_back(ldlt.row(k));
      continue;
    }
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
  std::sort(result.kept.begin(), result.kept.end());
}

}  // namespace

ConstraintRank constraint_rank(const System& system, double t, const double* y, const double* z) {
  ConstraintRank result;
  result.constraints = result.rank = system.nrates();
  if (result.constraints == 0) return result;
  const Sparse transpose = scaled_transpose(system, t, y, z);
  if (result.constraints <= dense_limit) {
    const PivotedQr qr{Eigen::MatrixXd(transpose)};
    const Eigen::VectorXd pivots = qr.pivots();
    result.rank = static_cast<int>(count_pivots(pivots));
    if (result.rank > 0) result.smallest = std::abs(pivots[result.rank - 1]);
    result.kept.assign(qr.order().data(), qr.order().data() + result.rank);
    std::sort(result.kept.begin(), result.kept.end());
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
