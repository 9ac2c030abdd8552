#include "formulation/constraint_rank.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseQR>
#include <fmt/format.h>

namespace hinge {

namespace {

// Rows of G are scaled to length one first, so that units do not decide about the rank.
constexpr double rank_tolerance = 1e-10;

using Sparse = Eigen::SparseMatrix<double>;

Sparse scaled_transpose(const System& system, double t, const double* y) {
  const Pattern& p = system.pattern(Quantity::constraint_y);
  const auto evaluation = system.evaluation({Quantity::constraint_y});
  const std::vector<double> zero(static_cast<std::size_t>(std::max({system.nz(), system.npsi(), 1})), 0.0);
  evaluation->at(t, y, zero.data(), zero.data());
  const double* g = (*evaluation)[Quantity::constraint_y];
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

// Columns of `a`: split into `rank` independent ones and the rest, and the rest expressed by the independent ones.
template <class Qr>
void fill(const Qr& qr, const Eigen::MatrixXd& r, ConstraintRank& result) {
  const auto permutation = qr.colsPermutation();
  const Eigen::Index rank = result.rank;
  for (Eigen::Index k = rank; k < result.constraints; ++k) {
    ConstraintRank::Dependence d;
    d.constraint = static_cast<int>(permutation.indices()[k]);
    const Eigen::VectorXd x = r.topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(r.col(k).head(rank));
    for (Eigen::Index j = 0; j < rank; ++j)
      if (std::abs(x[j]) > 1e-6) d.on.push_back(static_cast<int>(permutation.indices()[j]));
    std::sort(d.on.begin(), d.on.end());
    result.dependent.push_back(std::move(d));
  }
}

}  // namespace

ConstraintRank constraint_rank(const System& system, double t, const double* y) {
  ConstraintRank result;
  result.constraints = result.rank = system.ng();
  if (system.ng() == 0) return result;
  const Sparse transpose = scaled_transpose(system, t, y);
  if (system.ng() <= 400) {
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(transpose.rows(), transpose.cols());
    qr.setThreshold(rank_tolerance);
    qr.compute(Eigen::MatrixXd(transpose));
    result.rank = static_cast<int>(qr.rank());
    if (!result.full()) fill(qr, qr.matrixR(), result);
    return result;
  }
  Eigen::SparseQR<Sparse, Eigen::COLAMDOrdering<int>> qr;
  qr.setPivotThreshold(rank_tolerance);
  qr.compute(transpose);
  result.rank = static_cast<int>(qr.rank());
  for (Eigen::Index k = qr.rank(); k < transpose.cols(); ++k)
    result.dependent.push_back({static_cast<int>(qr.colsPermutation().indices()[k]), {}});
  return result;
}

std::string ConstraintRank::describe(const Layout& layout) const {
  std::string text;
  const std::size_t shown = std::min<std::size_t>(dependent.size(), 4);
  for (std::size_t k = 0; k < shown; ++k) {
    const Dependence& d = dependent[k];
    text += fmt::format("{}constraint {}", k ? "; " : "", layout.constraints[static_cast<std::size_t>(d.constraint)]);
    if (d.on.empty()) {
      text += " has no direction of its own here";
      continue;
    }
    text += " is a combination of ";
    for (std::size_t j = 0; j < std::min<std::size_t>(d.on.size(), 4); ++j)
      text += fmt::format("{}constraint {}", j ? " and " : "", layout.constraints[static_cast<std::size_t>(d.on[j])]);
    if (d.on.size() > 4) text += fmt::format(" and {} more", d.on.size() - 4);
  }
  if (dependent.size() > shown) text += fmt::format("; and {} more", dependent.size() - shown);
  return text;
}

}  // namespace hinge
