#include "solve/contact/mass_root.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "solve/index.hpp"
#include "solve/linear/cholesky.hpp"

namespace hinge {

namespace {

std::vector<int> components(const SparseRows& M) {
  std::vector<int> parent(at(M.rows()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  for (int i = 0; i < M.outerSize(); ++i)
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry)
      if (entry.value() != 0) parent[at(root(i))] = root(static_cast<int>(entry.col()));
  std::vector<int> roots;
  for (int i = 0; i < M.outerSize(); ++i) roots.push_back(root(i));
  return roots;
}

}  // namespace

MassRoot::MassRoot(const SparseRows& M)
    : block_(at(M.rows()), -1), place_(at(M.rows()), 0), inverse_root_(Eigen::VectorXd::Zero(M.rows())) {
  const std::vector<int> roots = components(M);
  std::vector<int> size(roots.size(), 0), number(roots.size(), -1);
  for (const int root : roots) ++size[at(root)];
  for (int i = 0; i < M.rows(); ++i) {
    const auto root = at(roots[at(i)]);
    if (size[root] == 1) continue;
    if (number[root] < 0) {
      number[root] = static_cast<int>(blocks_.size());
      blocks_.emplace_back();
    }
    Block& block = blocks_[at(number[root])];
    block_[at(i)] = number[root];
    place_[at(i)] = static_cast<int>(block.rows.size());
    block.rows.push_back(i);
  }
  for (Block& block : blocks_) {
    const auto n = static_cast<Eigen::Index>(block.rows.size());
    block.L.setZero(n, n);
  }
  for (int i = 0; i < M.rows(); ++i)
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry) {
      if (block_[at(i)] >= 0 && entry.value() != 0)
        blocks_[at(block_[at(i)])].L(place_[at(i)], place_[at(entry.col())]) += entry.value();
      else if (entry.col() == i)
        inverse_root_[i] += entry.value();
    }
  for (int i = 0; i < M.rows(); ++i) {
    if (block_[at(i)] >= 0) continue;
    if (!(inverse_root_[i] > 0) && failure_.empty())
      failure_ = fmt::format(
          "M({0}, {0}) = {1}: a mass must be positive; give the body a mass, or leave a body that cannot move out of M",
          i, inverse_root_[i]);
    inverse_root_[i] = 1 / std::sqrt(inverse_root_[i]);
  }
  for (Block& block : blocks_) {
    if (!failure_.empty()) return;
    const Eigen::MatrixXd full = block.L;
    if (!(full - full.transpose()).isZero(1e-10 * full.cwiseAbs().maxCoeff()))
      failure_ = fmt::format("M is not symmetric, in the block with row {}; only symmetric mass matrices are treated",
                             block.rows[0]);
    if (!cholesky(full, block.L))
      failure_ = fmt::format(
          "M is not positive definite, in the block with row {}: some combination of velocities has no inertia",
          block.rows[0]);
  }
}

SparseRows MassRoot::scale(const SparseRows& H) const {
  if (blocks_.empty()) {  // a diagonal M keeps the pattern
    SparseRows A = H;
    A.makeCompressed();
    for (Eigen::Index k = 0; k < A.nonZeros(); ++k) A.valuePtr()[k] *= inverse_root_[A.innerIndexPtr()[k]];
    return A;
  }
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(at(H.nonZeros()));
  std::vector<int> touched;
  for (int i = 0; i < H.outerSize(); ++i) {
    touched.clear();
    for (SparseRows::InnerIterator entry(H, i); entry; ++entry) {
      const int column = static_cast<int>(entry.col()), block = block_[at(column)];
      if (block < 0)
        entries.emplace_back(i, column, entry.value() * inverse_root_[column]);
      else if (std::find(touched.begin(), touched.end(), block) == touched.end())
        touched.push_back(block);
    }
    for (const int number : touched) {
      const Block& block = blocks_[at(number)];
      Eigen::VectorXd x = Eigen::VectorXd::Zero(block.L.rows());
      for (SparseRows::InnerIterator entry(H, i); entry; ++entry)
        if (block_[at(entry.col())] == number) x[place_[at(entry.col())]] += entry.value();
      block.L.triangularView<Eigen::Lower>().solveInPlace(x);
      for (Eigen::Index k = 0; k < x.size(); ++k)
        if (x[k] != 0) entries.emplace_back(i, block.rows[at(k)], x[k]);
    }
  }
  SparseRows A(H.rows(), H.cols());
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

void MassRoot::solve_lower(Eigen::Ref<Eigen::VectorXd> x) const {
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (block_[at(i)] < 0) x[i] *= inverse_root_[i];
  for (const Block& block : blocks_) {
    Eigen::VectorXd part(block.L.rows());
    for (Eigen::Index k = 0; k < part.size(); ++k) part[k] = x[block.rows[at(k)]];
    block.L.triangularView<Eigen::Lower>().solveInPlace(part);
    for (Eigen::Index k = 0; k < part.size(); ++k) x[block.rows[at(k)]] = part[k];
  }
}

void MassRoot::solve(Eigen::Ref<Eigen::VectorXd> x) const {
  solve_lower(x);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (block_[at(i)] < 0) x[i] *= inverse_root_[i];
  for (const Block& block : blocks_) {
    Eigen::VectorXd part(block.L.rows());
    for (Eigen::Index k = 0; k < part.size(); ++k) part[k] = x[block.rows[at(k)]];
    block.L.transpose().triangularView<Eigen::Upper>().solveInPlace(part);
    for (Eigen::Index k = 0; k < part.size(); ++k) x[block.rows[at(k)]] = part[k];
  }
}

}  // namespace hinge
