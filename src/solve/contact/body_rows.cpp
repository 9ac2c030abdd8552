#include "solve/contact/body_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "solve/index.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

using Mass = ContactBodies::Mass;

// R with R R^T = A, lower triangular; directions in which A vanishes get a column of zeros. True where it is diagonal.
bool root(const Eigen::Map<const Mass>& A, Eigen::Map<Mass> R) {
  R.setZero();
  bool diagonal = true;
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < j; ++i) diagonal = diagonal && A(i, j) == 0;
  for (int j = 0; j < 6 && diagonal; ++j) R(j, j) = A(j, j) > 0 ? std::sqrt(A(j, j)) : 0;
  for (int j = 0; j < 6 && !diagonal; ++j) {
    const double pivot = A(j, j) - R.row(j).head(j).squaredNorm();
    if (!(pivot > 1e-14 * A(j, j))) continue;
    R(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < 6; ++i) R(i, j) = (A(i, j) - R.row(i).head(j).dot(R.row(j).head(j))) / R(j, j);
  }
  return diagonal;
}

}  // namespace

void BodyRows::bind(const ContactProblem& p, int threads) {
  const ContactBodies& bodies = p.bodies;
  bodies_ = bodies.count();
  roots_.resize(bodies.inverse_mass.size());
  diagonal_root_.resize(at(bodies_));
  parallel_ranges(bodies_, threads, [&](int first, int last) {
    for (int b = first; b < last; ++b)
      diagonal_root_[at(b)] = root(bodies.inverse(b), Eigen::Map<Mass>(roots_.data() + 36 * b));
  });
  blocks_.resize(at(bodies.blocks()));
  q_.resize(at(p.rows()));
  diagonal_.resize(at(p.rows()));
  const int nc = p.contacts();
  for (int i = nc, row = nc * p.dimension; i < bodies.blocks(); ++i) {
    blocks_[at(i)].row = row;
    row += blocks_[at(i)].rows = bodies.bilateral_rows[at(i - nc)];
  }
  std::atomic<bool> idle = false;
  parallel_ranges(bodies.blocks(), threads, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      if (i < nc) blocks_[at(i)].row = i * p.dimension, blocks_[at(i)].rows = p.dimension;
      if (!bind_block(p, i)) idle = true;
    }
  });
  for (int i = 0; i < bodies.blocks() && idle; ++i)
    for (int k = 0; k < blocks_[at(i)].rows; ++k)
      if (!(diagonal_[at(blocks_[at(i)].row + k)] > 0))
        throw InputError(fmt::format("contact problem: row {} of contact {} moves no body; leave it out", k, i));
}

// False where a row moves no body.
bool BodyRows::bind_block(const ContactProblem& p, int i) {
  const ContactBodies& bodies = p.bodies;
  Block& block = blocks_[at(i)];
  const bool first_moves = bodies.body(i, 0) >= 0;
  block.a = bodies.body(i, first_moves ? 0 : 1);
  block.b = first_moves ? bodies.body(i, 1) : -1;
  std::fill(&block.A[0][0], &block.A[0][0] + 36, 0.0);
  for (const int side : {0, 1}) {
    const int body = bodies.body(i, side);
    if (body < 0) continue;
    const auto H = bodies.rows(i, side);
    const double* R = roots_.data() + 36 * body;
    double(*A)[12] = block.A;
    const int first = body == block.a ? 0 : 6;
    for (int k = 0; k < block.rows; ++k)
      for (int j = 0; j < 6; ++j) {
        double sum = H(k, j) * R[7 * j];
        if (!diagonal_root_[at(body)])
          for (int m = j + 1; m < 6; ++m) sum += H(k, m) * R[6 * j + m];
        A[k][first + j] = sum;
      }
  }
  bool moves = true;
  for (int k = 0; k < block.rows; ++k) {
    double diagonal = 0;
    for (int j = 0; j < 12; ++j) diagonal += block.A[k][j] * block.A[k][j];
    diagonal_[at(block.row + k)] = diagonal;
    moves = moves && diagonal > 0;
    double& q = q_[at(block.row + k)];
    q = bodies.w[at(3 * i + k)];
    for (const int side : {0, 1})
      if (const int body = bodies.body(i, side); body >= 0)
        q += bodies.rows(i, side).row(k).dot(
            Eigen::Map<const Eigen::Matrix<double, 6, 1>>(bodies.v_free.data() + 6 * body));
  }
  return moves;
}

SparseRows BodyRows::matrix() const {
  std::vector<Eigen::Triplet<double>> entries;
  for (const Block& block : blocks_)
    for (int k = 0; k < block.rows; ++k)
      for (int j = 0; j < 12; ++j)
        if (block.A[k][j] != 0)
          entries.emplace_back(block.row + k, 6 * (j < 6 ? block.a : block.b) + j % 6, block.A[k][j]);
  SparseRows A(static_cast<Eigen::Index>(q_.size()), 6 * bodies_);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

}  // namespace hinge
