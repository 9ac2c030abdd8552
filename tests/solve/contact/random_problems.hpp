// Contact problems for tests: those of the goldens, and random ones of every kind that solvers have to face.
#pragma once

#include <cstdint>
#include <random>

#include <Eigen/Dense>

#include "hinge/contact.hpp"

namespace hinge::trial {

/// The generator behind the goldens.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double u() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double s() { return 2 * u() - 1; }
  Eigen::MatrixXd matrix(int rows, int columns) {
    Eigen::MatrixXd a(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) a(i, j) = s();
    return a;
  }

 private:
  std::uint64_t state_;
};

inline ContactProblem golden_lcp(const std::string& family, int n, std::uint64_t seed) {
  SplitMix64 random(seed);
  Eigen::MatrixXd M;
  Eigen::VectorXd q(n);
  if (family == "pd") {
    const Eigen::MatrixXd B = random.matrix(n, n);
    M = B * B.transpose() / n;
    for (double& x : q) x = random.s();
  } else if (family == "psd") {
    const Eigen::MatrixXd B = random.matrix(n, (n + 1) / 2);
    M = B * B.transpose();
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n), w = z;
    for (int i = 0; i < n; ++i) {
      const double c = random.u(), a = random.u();
      (c < 0.5 ? z : w)[i] = a;
    }
    q = w - M * z;
  } else {
    M.setZero(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j) M(i, j) = -random.u();
    for (int i = 0; i < n; ++i) M(i, i) = 1 + M.row(i).cwiseAbs().sum();
    for (double& x : q) x = random.s();
  }
  return linear_complementarity(M, q);
}

/// Murty's lower triangular matrix: 1 on, 2 below the diagonal, q = -1; Lemke with d = 1 needs 2^n pivots.
inline ContactProblem murty(int n, bool fathi) {
  Eigen::MatrixXd L = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) L(i, j) = i == j ? 1 : 2;
  return linear_complementarity(Eigen::MatrixXd(fathi ? Eigen::MatrixXd(L * L.transpose()) : L),
                                Eigen::VectorXd::Constant(n, -1));
}

inline ContactProblem from_dense(const Eigen::MatrixXd& W, const Eigen::VectorXd& q, double mu, int dimension = 3) {
  return frictional_contact(dimension, SparseRows(W.sparseView(1, 0)), q,
                            Eigen::VectorXd::Constant(q.size() / dimension, mu));
}

inline ContactProblem golden_contact(std::uint64_t seed, double mu) {
  SplitMix64 random(seed);
  const Eigen::MatrixXd A = random.matrix(3, 3);
  Eigen::VectorXd q(3);
  for (double& x : q) x = random.s();
  q[0] = -std::abs(q[0]);
  return from_dense(A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(3, 3), q, mu);
}

/// Bodies in a row, matrix-free: contact i between bodies i and i + 1.
inline ContactProblem golden_chain(std::uint64_t seed, int nc, double mu) {
  SplitMix64 random(seed);
  const int nb = nc + 1;
  Eigen::VectorXd mass(6 * nb);
  for (int b = 0; b < nb; ++b) mass.segment(6 * b, 6).setConstant(0.5 + random.u());
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(3 * nc, 6 * nb);
  for (int i = 0; i < nc; ++i) {
    H.block(3 * i, 6 * i, 3, 6) = random.matrix(3, 6);
    H.block(3 * i, 6 * (i + 1), 3, 6) = random.matrix(3, 6);
  }
  Eigen::VectorXd v(6 * nb);
  for (double& x : v) x = random.s();
  Eigen::VectorXd w = Eigen::VectorXd::Zero(3 * nc);
  const Eigen::VectorXd q = H * v;
  for (int i = 0; i < nc; ++i) w[3 * i] = -std::abs(q[3 * i]) - q[3 * i];
  return frictional_contact(3, SparseRows(Eigen::MatrixXd(mass.asDiagonal()).sparseView(1, 0)),
                            SparseRows(H.sparseView(1, 0)), mass.cwiseProduct(v), w, Eigen::VectorXd::Constant(nc, mu));
}

/// The same problem with W and q written out.
inline ContactProblem written_out(const ContactProblem& p) {
  ContactProblem e = p;
  const Eigen::MatrixXd M(p.M), H(p.H);
  e.W = SparseRows((H * M.ldlt().solve(H.transpose())).sparseView(1, 0));
  e.q = H * M.ldlt().solve(p.f) + p.w;
  e.H = e.M = SparseRows();
  e.f = e.w = Eigen::VectorXd();
  return e;
}

/// What a random pile of `bodies` may have.
struct PileKind {
  int dimension = 3, bodies = 6, contacts = 8, bilateral = 0;
  double mu_low = 0, mu_high = 0.7, mass_ratio = 1;
  bool copies = false;  ///< every contact twice: hyperstatic, W singular
  bool full_mass = false;
};

/// Contacts between random bodies and the ground. There are v with H v inside every dual cone (normals get a common
/// upward part), so the problem has a solution.
inline ContactProblem random_pile(std::uint64_t seed, const PileKind& kind) {
  SplitMix64 random(seed);
  const int d = kind.dimension, m = d == 3 ? 6 : 3, nb = kind.bodies;
  const int distinct = kind.contacts, nc = kind.copies ? 2 * distinct : distinct;
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(m * nb, m * nb);
  for (int b = 0; b < nb; ++b) {
    const double mass = std::pow(kind.mass_ratio, random.u());
    Eigen::MatrixXd block = Eigen::MatrixXd::Identity(m, m);
    if (kind.full_mass) {
      const Eigen::MatrixXd R = random.matrix(m, m);
      block += 0.2 * R * R.transpose();
    }
    M.block(m * b, m * b, m, m) = mass * block;
  }
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(nc * d + kind.bilateral, m * nb);
  const auto between = [&](int row, int rows, int a, int b) {
    H.block(row, m * a, rows, m) = random.matrix(rows, m);
    if (b >= 0) H.block(row, m * b, rows, m) = random.matrix(rows, m);
  };
  for (int i = 0; i < distinct; ++i) {
    const int a = i % nb, b = i < nb ? -1 : static_cast<int>(random.next() % static_cast<unsigned>(nb));
    between(i * d, d, a, b == a ? -1 : b);
    H(i * d, m * a) = 3;  // normals share a direction of escape: the higher body goes up faster
    if (b >= 0 && b != a) H(i * d, m * b) = -1;
  }
  if (kind.copies) H.middleRows(distinct * d, distinct * d) = H.topRows(distinct * d);
  for (int k = 0; k < kind.bilateral; ++k) between(nc * d + k, 1, k % nb, (k + 1) % nb == k % nb ? -1 : (k + 1) % nb);
  Eigen::VectorXd v(m * nb), mu(nc), w = Eigen::VectorXd::Zero(H.rows());
  for (double& x : v) x = random.s();
  for (int b = 0; b < nb; ++b) v[m * b] -= 1;  // falling
  for (double& x : mu) x = kind.mu_low + (kind.mu_high - kind.mu_low) * random.u();
  if (d == 1) mu.setZero();
  if (kind.copies) mu.tail(distinct) = mu.head(distinct);
  ContactProblem p =
      frictional_contact(d, SparseRows(M.sparseView(1, 0)), SparseRows(H.sparseView(1, 0)), M * v, w, mu);
  p.bilateral = kind.bilateral;
  return p;
}

}  // namespace hinge::trial
