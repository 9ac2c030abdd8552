#include "solve/contact/contact_rows.hpp"

#include <cmath>
#include <utility>

#include "solve/index.hpp"
#include "solve/linear/cholesky.hpp"

namespace hinge {

namespace {

constexpr double dependent = 1e-12;  // what is left of a row of W, relative

}  // namespace

bool ContactRows::bind(const ContactProblem& p, const BodyRows& bodies) {
  d_ = p.dimension;
  contacts_ = p.contacts();
  has_fronts_ = false;
  operations_ = 0;
  mu_.assign(p.mu.begin(), p.mu.end());
  delta_.resize(at(contacts_));
  start_.assign(1, 0);
  column_.clear();
  value_.clear();
  if (!p.by_bodies()) return take_root(p);
  take(p, bodies);
  return true;
}

void ContactRows::take(const ContactProblem& p, const BodyRows& bodies) {
  group_ = 6;
  columns_ = 6 * p.bodies.count();
  for (int i = 0; i < contacts_; ++i) {
    const BodyRows::Block& block = bodies.blocks()[at(i)];
    double trace = 0;
    for (int k = 0; k < d_; ++k) {
      for (int j = 0; j < 12; ++j) {
        const int body = j < 6 ? block.a : block.b;
        if (body < 0) continue;
        column_.push_back(6 * body + j % 6);
        value_.push_back(block.A[k][j]);
        if (k == 0 || mu(i) > 0) trace += block.A[k][j] * block.A[k][j];
      }
      start_.push_back(static_cast<int>(column_.size()));
    }
    delta_[at(i)] = trace / (mu(i) > 0 ? d_ : 1);
  }
}

bool ContactRows::take_root(const ContactProblem& p) {
  const Eigen::MatrixXd W(p.W);
  const Eigen::MatrixXd A = semidefinite_root(0.5 * (W + W.transpose()), dependent);
  operations_ = static_cast<double>(W.rows() * A.cols() * A.cols());
  columns_ = static_cast<int>(A.cols());
  group_ = columns_;
  for (int k = 0; k < A.rows(); ++k) {
    for (int j = 0; j < columns_; ++j) {
      column_.push_back(j);
      value_.push_back(A(k, j));
    }
    start_.push_back(static_cast<int>(column_.size()));
  }
  for (int i = 0; i < contacts_; ++i) {
    const int count = mu(i) > 0 ? d_ : 1;
    delta_[at(i)] = W.diagonal().segment(i * d_, count).sum() / count;
    if (!(delta_[at(i)] > 0)) return false;
  }
  return columns_ > 0;
}

void ContactRows::multiply(const Eigen::VectorXd& v, std::vector<double>& u) const {
  u.resize(at(rows()));
  for (int row = 0; row < rows(); ++row) {
    double sum = 0;
    for (int k = start_[at(row)]; k < start_[at(row) + 1]; ++k) sum += value_[at(k)] * v[column_[at(k)]];
    u[at(row)] = sum;
  }
}

void ContactRows::multiply_transposed(const std::vector<double>& r, Eigen::VectorXd& v) const {
  v.setZero(columns_);
  for (int row = 0; row < rows(); ++row)
    if (r[at(row)] != 0)
      for (int k = start_[at(row)]; k < start_[at(row) + 1]; ++k) v[column_[at(k)]] += value_[at(k)] * r[at(row)];
}

void ContactRows::absolute_transposed(const std::vector<double>& r, Eigen::VectorXd& v) const {
  v.setZero(columns_);
  for (int row = 0; row < rows(); ++row)
    for (int k = start_[at(row)]; k < start_[at(row) + 1]; ++k)
      v[column_[at(k)]] += std::abs(value_[at(k)] * r[at(row)]);
}

BodyFronts& ContactRows::fronts() {
  if (!std::exchange(has_fronts_, true)) fronts_.bind(matrix(), contacts_, d_, 0);
  return fronts_;
}

SparseRows ContactRows::matrix() const {
  return Eigen::Map<const SparseRows>(rows(), columns_, std::ssize(value_), start_.data(), column_.data(),
                                      value_.data());
}

}  // namespace hinge
