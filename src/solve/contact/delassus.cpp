#include "solve/contact/delassus.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solve/contact/body_rows.hpp"
#include "solve/contact/mass_root.hpp"
#include "solve/parallel.hpp"

namespace hinge {

void multiply_rows(const SparseRows& A, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::VectorXd& y, int threads) {
  y.resize(A.rows());
  const int* start = A.outerIndexPtr();
  const int* column = A.innerIndexPtr();
  const double* value = A.valuePtr();
  parallel_ranges(static_cast<int>(A.rows()), threads, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      double sum = 0;
      for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
  });
}

Delassus::Delassus(const ContactProblem& p, int threads, bool multiplied_out)
    : d_(p.dimension), nc_(p.contacts()), nb_(p.bilateral), n_(p.rows()), threads_(threads) {
  blocks_ = Eigen::VectorXd::Zero(nc_ * d_ * d_);
  if (p.matrix_free()) {
    if (p.by_bodies()) {
      BodyRows rows;
      rows.bind(p);
      A_ = rows.matrix();
      v_free_.setZero(A_.cols());
      w_ = Eigen::Map<const Eigen::VectorXd>(rows.q().data(), n_);
    } else {
      const MassRoot root(p.M);
      A_ = root.scale(p.H);
      v_free_ = p.f;
      root.solve_lower(v_free_);
      w_ = p.w;
    }
    A_.makeCompressed();
    At_ = A_.transpose();
    q_ = A_ * v_free_ + w_;
    diagonal_.resize(n_);
    for (int i = 0; i < n_; ++i) diagonal_[i] = A_.row(i).squaredNorm();
    for (int i = 0; i < nc_; ++i)
      for (int k = 0; k < d_; ++k)
        for (int l = 0; l < d_; ++l)
          blocks_[(i * d_ + k) * d_ + l] = k == l ? diagonal_[i * d_ + k] : A_.row(i * d_ + k).dot(A_.row(i * d_ + l));
    if (multiplied_out) {
      matrix();
      A_.resize(0, 0);
      At_.resize(0, 0);
    }
  } else {
    W_ = p.W;
    W_.makeCompressed();
    q_ = p.q;
    diagonal_ = W_.diagonal();
    for (int i = 0; i < nc_ * d_; ++i)
      for (SparseRows::InnerIterator entry(W_, i); entry; ++entry)
        if (entry.col() / d_ == i / d_ && entry.col() < nc_ * d_) blocks_[i * d_ + entry.col() % d_] += entry.value();
  }
}

void Delassus::normalise() {
  double w = diagonal_.size() > 0 ? diagonal_.cwiseAbs().maxCoeff() : 0;
  for (Eigen::Index k = 0; k < W_.nonZeros(); ++k) w = std::max(w, std::abs(W_.valuePtr()[k]));
  const double q = q_.size() > 0 ? q_.cwiseAbs().maxCoeff() : 0;
  // w = 4^root within a factor of four, q = 2^power within two
  const int root = w > 0 ? std::ilogb(w) / 2 : 0, power = q > 0 ? std::ilogb(q) : 0;
  const double unit = std::ldexp(1.0, power - 2 * root);
  if (!std::isnormal(unit)) return;
  reaction_unit_ = unit;
  const double by_root = std::ldexp(1.0, -root), by_w = by_root * by_root, by_q = std::ldexp(1.0, -power);
  W_ *= by_w;
  diagonal_ *= by_w;
  blocks_ *= by_w;
  q_ *= by_q;
  if (!factored()) return;
  A_ *= by_root;
  At_ *= by_root;
  w_ *= by_q;
  v_free_ *= by_q / by_root;
}

void Delassus::multiply(const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  if (factored()) {
    multiply_rows(At_, x, v_, threads_);
    multiply_rows(A_, v_, y, threads_);
  } else {
    multiply_rows(W_, x, y, threads_);
  }
}

const SparseRows& Delassus::matrix() {
  if (W_.rows() == 0) W_ = A_ * At_;
  W_.makeCompressed();
  return W_;
}

Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 3, 3> Delassus::block(int contact) const {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      blocks_.data() + contact * d_ * d_, d_, d_);
}

BodyFronts& Delassus::fronts() {
  if (!std::exchange(has_fronts_, true)) fronts_.bind(A_, nc_, d_, nb_);
  return fronts_;
}

double Delassus::trace(int contact) const { return diagonal_.segment(contact * d_, d_).sum(); }

}  // namespace hinge
