#include "formulation/implicit/linear_pencil.hpp"

#include <algorithm>
#include <cmath>

#include "solve/linear/lu.hpp"
#include "solve/linear/rank.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

constexpr double pencil_rank_threshold = 1e-11;
constexpr int largest_pencil = 300;

// Rows of [E H] to size one; a row's size is no property of the equation.
void scale_rows(Eigen::MatrixXd& e, Eigen::MatrixXd& h) {
  for (Eigen::Index i = 0; i < e.rows(); ++i) {
    const double size = std::max(e.row(i).cwiseAbs().maxCoeff(), h.row(i).cwiseAbs().maxCoeff());
    if (size > 0) e.row(i) /= size, h.row(i) /= size;
  }
}

// A unit of time in which E and H are of the same size.
double time_unit(const Eigen::MatrixXd& e, const Eigen::MatrixXd& h) {
  const double e_size = e.cwiseAbs().maxCoeff(), h_size = h.cwiseAbs().maxCoeff();
  return e_size > 0 && h_size > 0 ? e_size / h_size : 1.0;
}

void shuffle(LinearPencil& p) {
  const Eigen::Index n = p.e.rows();
  const double unit = time_unit(p.e, p.h);
  Eigen::MatrixXd e = p.e / unit, h = p.h;
  p.degrees_of_freedom = static_cast<int>(n);
  for (p.index = 0; p.index <= n; ++p.index) {
    scale_rows(e, h);
    const PivotedQr qr(e, pencil_rank_threshold);
    const Eigen::Index rank = qr.rank();
    if (rank == n) return;
    p.degrees_of_freedom -= static_cast<int>(n - rank);
    const Eigen::MatrixXd u = qr.q_transposed();
    e = u * e;
    h = u * h;
    e.bottomRows(n - rank).setZero();
    // 0 = 0: rows were of size one, so that what is left of them is rounding
    for (Eigen::Index i = rank; i < n; ++i)
      if (h.row(i).cwiseAbs().maxCoeff() < pencil_rank_threshold) {
        p.regular = false;
        return;
      }
    e.bottomRows(n - rank) = h.bottomRows(n - rank);  // U_2 E = 0 gives way to the derivative of U_2 H x
    h.bottomRows(n - rank).setZero();
    if (p.degrees_of_freedom < 0) break;
  }
  p.regular = false;
}

// The s of a few for which the pivots of A - s B differ least: far from every eigenvalue.
double regular_shift(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  double best = 0, most = -1;
  for (const double s : {0.737, -0.737, 2.173, -2.173, 0.271, -0.271}) {
    const double pivots = Lu<double>(a - s * b).pivot_ratio();
    if (pivots > most) most = pivots, best = s;
  }
  return best;
}

}  // namespace

LinearPencil analyse_pencil(Eigen::MatrixXd e, Eigen::MatrixXd h) {
  LinearPencil p{std::move(e), std::move(h), true, 0, 0, {}};
  shuffle(p);
  if (!p.regular || p.degrees_of_freedom == 0) return p;
  Eigen::MatrixXd a = -p.h, b = p.e;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const double size = std::max(a.row(i).cwiseAbs().maxCoeff(), b.row(i).cwiseAbs().maxCoeff());
    if (size > 0) a.row(i) /= size, b.row(i) /= size;
  }
  const double unit = time_unit(b, a);
  b /= unit;
  // (A - s B)^-1 B has the eigenvalues mu = 1/(lambda - s): zero for the infinite ones, so the largest are those asked
  // for
  const double s = regular_shift(a, b);
  Eigen::MatrixXd inverted = b;
  const Lu<double> lu(a - s * b);
  for (Eigen::Index j = 0; j < inverted.cols(); ++j) lu.solve(inverted.col(j).data());
  const Eigen::VectorXcd mu = eigenvalues(inverted);
  std::vector<std::complex<double>> all(mu.begin(), mu.end());
  std::stable_sort(all.begin(), all.end(), [](auto x, auto y) { return std::abs(x) > std::abs(y); });
  all.resize(static_cast<std::size_t>(p.degrees_of_freedom));
  for (auto& lambda : all) lambda = (s + 1.0 / lambda) / unit;
  std::stable_sort(all.begin(), all.end(), [](auto x, auto y) { return std::abs(x) < std::abs(y); });
  p.eigenvalues = std::move(all);
  return p;
}

std::optional<LinearPencil> linear_pencil(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  const auto n = static_cast<Eigen::Index>(eq.residual.size());
  if (n == 0 || n > largest_pencil) return std::nullopt;
  Graph graph = *eq.graph;
  Eigen::MatrixXd e = Eigen::MatrixXd::Zero(n, n), h = e;
  for (auto [matrix, variables] : {std::pair{&e, &eq.z}, std::pair{&h, &eq.y}}) {
    const SparseExpressions f = jacobian(graph, eq.residual, *variables);
    for (int i = 0; i < f.rows; ++i)
      for (auto k = static_cast<std::size_t>(f.row_start[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(f.row_start[static_cast<std::size_t>(i) + 1]); ++k) {
        if (!graph.is_constant(f.entries[k])) return std::nullopt;
        (*matrix)(i, f.column[k]) = graph.value(f.entries[k]);
      }
  }
  return analyse_pencil(std::move(e), std::move(h));
}

}  // namespace hinge
