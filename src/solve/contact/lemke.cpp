// Lemke's complementary pivoting, lexicographic, so that it cannot cycle.
//
//   w - M z - d z0 = q,   d > 0
//
// z0 enters first, for the row with the lexicographically least (q, I)/d; then the complement of what left enters, and
// the row with the least (B^-1 q, B^-1)/column over positive pivots leaves, z0 where it may. No positive pivot: a
// secondary ray. Kept is B^-1 alone (dense); it is made anew from the basis now and then, and at the end the active set
// is solved once more.
//
// Solves: LCPs that are positive semidefinite, P or copositive-plus; friction in 2D and pyramids, as LCPs. A ray means
// that there is no solution (or, outside those classes, that this method does not find one). At worst 2^n pivots
// (Murty, Fathi with d = 1): after too many, other d are tried. Bilateral rows are eliminated. Not for: round cones in
// 3D, thousands of rows. Source: Cottle, Pang, Stone (1992), chapter 4.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "solve/contact/pyramid.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/linear/lu.hpp"

namespace hinge {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

enum class Ending { solved, ray, too_many, no_time };

class Tableau {
 public:
  Tableau(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const Eigen::VectorXd& d)
      : M_(M), q_(q), d_(d), n_(q.size()), inverse_(RowMatrix::Identity(n_, n_)), solution_(q) {
    for (Eigen::Index i = 0; i < n_; ++i) basis_.push_back(static_cast<int>(i));  // w_i; z_i is n + i, z0 is 2n
  }

  Ending run(Judge& judge, int limit, int& pivots, Eigen::VectorXd& z) {
    z = Eigen::VectorXd::Zero(n_);
    if (n_ == 0 || q_.minCoeff() >= 0) return Ending::solved;
    const int z0 = static_cast<int>(2 * n_);
    Eigen::Index row = least_row(d_, false);
    if (row < 0) return Ending::ray;  // q is not a number: the problem has overflown
    int entering = z0;
    Eigen::VectorXd column = -d_;
    for (; pivots < limit; ++pivots) {
      if (judge.out_of_time()) return Ending::no_time;
      judge.spend(4.0 * static_cast<double>(n_ * n_));
      const int leaving = basis_[static_cast<std::size_t>(row)];
      pivot(row, entering, column);
      if (leaving == z0) {
        ++pivots;
        refactor();
        read(z);
        return Ending::solved;
      }
      entering = leaving < n_ ? leaving + static_cast<int>(n_) : leaving - static_cast<int>(n_);
      if ((pivots + 1) % std::max<Eigen::Index>(50, n_ / 2) == 0) refactor();
      column = inverse_ * original(entering);
      row = least_row(column, true);
      if (row < 0) return Ending::ray;
    }
    return Ending::too_many;
  }

 private:
  Eigen::VectorXd original(int variable) const {
    if (variable == 2 * n_) return -d_;
    if (variable < n_) return Eigen::VectorXd::Unit(n_, variable);
    return -M_.col(variable - n_);
  }

  // Lexicographically least (B^-1 q, B^-1)_i / column_i over positive entries. In the first step (`ratio` false) every
  // row counts and the least is the most negative (q, I)_i / d_i.
  Eigen::Index least_row(const Eigen::VectorXd& column, bool ratio) const {
    const double small = 1e-11 * std::max(1.0, column.lpNorm<Eigen::Infinity>());
    std::vector<Eigen::Index> tied;
    double least = HUGE_VAL;
    for (Eigen::Index i = 0; i < n_; ++i) {
      if (ratio && column[i] <= small) continue;
      const double value = solution_[i] / column[i];
      const double slack = 1e-12 * (1 + std::abs(least));
      if (value < least - (least == HUGE_VAL ? 0 : slack)) {
        tied.assign(1, i);
        least = value;
      } else if (value <= least + slack) {
        tied.push_back(i);
      }
    }
    for (const Eigen::Index i : tied)
      if (basis_[static_cast<std::size_t>(i)] == 2 * n_) return i;
    for (Eigen::Index j = 0; j < n_ && tied.size() > 1; ++j) {
      double smallest = HUGE_VAL;
      for (const Eigen::Index i : tied) smallest = std::min(smallest, inverse_(i, j) / column[i]);
      std::erase_if(tied, [&](Eigen::Index i) {
        return inverse_(i, j) / column[i] > smallest + 1e-12 * (1 + std::abs(smallest));
      });
    }
    return tied.empty() ? -1 : tied[0];
  }

  void pivot(Eigen::Index row, int entering, const Eigen::VectorXd& column) {
    const double value = column[row];
    inverse_.row(row) /= value;
    solution_[row] /= value;
    for (Eigen::Index i = 0; i < n_; ++i) {
      if (i == row || column[i] == 0) continue;
      inverse_.row(i) -= column[i] * inverse_.row(row);
      solution_[i] -= column[i] * solution_[row];
    }
    basis_[static_cast<std::size_t>(row)] = entering;
  }

  void refactor() {
    Eigen::MatrixXd B(n_, n_);
    for (Eigen::Index i = 0; i < n_; ++i) B.col(i) = original(basis_[static_cast<std::size_t>(i)]);
    const Lu<double> factor(B);
    factor.inverse(inverse_);
    solution_ = factor.solve(q_);
    solution_ += factor.solve(q_ - B * solution_);
  }

  void read(Eigen::VectorXd& z) const {
    for (Eigen::Index i = 0; i < n_; ++i) {
      const int variable = basis_[static_cast<std::size_t>(i)];
      if (variable >= n_ && variable < 2 * n_) z[variable - n_] = std::max(0.0, solution_[i]);
    }
  }

  const Eigen::MatrixXd& M_;
  const Eigen::VectorXd &q_, &d_;
  Eigen::Index n_;
  RowMatrix inverse_;
  Eigen::VectorXd solution_;
  std::vector<int> basis_;
};

// Scales M to D M E and q to D q with positive diagonal D and E, so that the largest entry of every row and column is
// near 1 and that of q is 1; returns E, by which the solution is to be multiplied.
Eigen::VectorXd equilibrate(Eigen::MatrixXd& M, Eigen::VectorXd& q) {
  const Eigen::Index n = q.size();
  Eigen::VectorXd columns = Eigen::VectorXd::Ones(n);
  // Entries within a factor of sixteen are left alone.
  const auto factor = [](double largest) {
    return largest > 0 && (largest < 1.0 / 16 || largest > 16) ? std::exp2(-std::round(0.5 * std::log2(largest))) : 1;
  };
  for (int round = 0; round < 5; ++round)
    for (Eigen::Index i = 0; i < n; ++i) {
      const double row = factor(M.row(i).cwiseAbs().maxCoeff());
      M.row(i) *= row;
      q[i] *= row;
      const double column = factor(M.col(i).cwiseAbs().maxCoeff());
      M.col(i) *= column;
      columns[i] *= column;
    }
  const double largest = n > 0 ? q.cwiseAbs().maxCoeff() : 0;
  if (largest > 0) {
    const double unit = std::exp2(std::ilogb(largest));
    q /= unit;
    columns *= unit;
  }
  return columns;
}

}  // namespace

void solve_lemke(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  if (judge.done(0, r)) return;
  PyramidLcp lcp = pyramid_lcp(W, judge.problem());
  const Eigen::Index n = lcp.q.size();
  // Rows and columns in units of their own, so that thresholds mean the same for each: z = columns z', and z0 in w's.
  const Eigen::VectorXd columns = equilibrate(lcp.M, lcp.q);
  const int own = static_cast<int>(100 + 20 * n), most = judge.limit(3 * own);
  int pivots = 0;
  bool ray = false;
  for (int attempt = 0; attempt < 3 && pivots < most; ++attempt) {
    // Dependent rows leave a matrix whose rank rounding decides, and a ray may be that rounding's: a little is added to
    // the diagonal. Whether the result is a solution is judged without it.
    if (std::exchange(ray, false)) lcp.M.diagonal().array() += 1e-13;
    Eigen::VectorXd d = Eigen::VectorXd::Ones(n), z;
    if (attempt == 1) d = Eigen::VectorXd::LinSpaced(n, 1, static_cast<double>(n));
    if (attempt == 2)
      for (Eigen::Index i = 0; i < n; ++i) d[i] = 1 + static_cast<double>((i * 7919) % 101) / 101;
    int here = 0;
    const Ending ending = Tableau(lcp.M, lcp.q, d).run(judge, std::min(own, most - pivots), here, z);
    pivots += here;
    if (ending == Ending::no_time) return;
    if (ending == Ending::solved) {
      if (judge.done(pivots, lcp.reaction * columns.cwiseProduct(z) + lcp.offset)) return;
      judge.stop(ContactStatus::failed, "pivoting ended, but rounding spoilt its result; take newton-fb");
    } else if (ending == Ending::ray) {
      ray = true;
      judge.stop(
          ContactStatus::failed,
          "it ended in a secondary ray: a positive semidefinite problem has no solution then (it is infeasible), "
          "unless its rows depend on each other and rounding has decided; newton-ac or interior-point tell");
    } else {
      judge.stop(ContactStatus::iteration_limit, "too many pivots; take newton-fb or interior-point");
    }
  }
}

}  // namespace hinge
