#include "solve/linear/frontal_lu.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include <Eigen/Dense>

#include "solve/linear/random_matrix.hpp"
#include "solve/parallel.hpp"

namespace hinge::frontal_lu_test {
namespace {

RC_GTEST_PROP(FrontalLu, SolvesSumsOfUnsymmetricElements, ()) {
  const int nodes = *rc::gen::inRange(1, 40), size = *rc::gen::element(1, 3, 6), count = *rc::gen::inRange(0, 80);
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  std::vector<std::vector<int>> elements;
  std::vector<Eigen::MatrixXd> matrices;
  Eigen::MatrixXd K = Eigen::MatrixXd::Identity(nodes * size, nodes * size);
  for (int e = 0; e < count; ++e) {
    const std::vector<int> order = trial::random_permutation(random, nodes);
    elements.emplace_back(order.begin(), order.begin() + std::min<int>(nodes, 1 + static_cast<int>(random() % 3)));
    const auto rows = static_cast<Eigen::Index>(elements.back().size()) * size;
    Eigen::MatrixXd B(rows, rows), C(rows, rows);
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < rows; ++j) B(i, j) = trial::uniform(random), C(i, j) = trial::uniform(random);
    matrices.push_back(B * B.transpose() + 0.5 * (C - C.transpose()));  // positive, not symmetric
    for (std::size_t a = 0; a < elements.back().size(); ++a)
      for (std::size_t b = 0; b < elements.back().size(); ++b)
        K.block(elements.back()[a] * size, elements.back()[b] * size, size, size) +=
            matrices.back().block(static_cast<Eigen::Index>(a) * size, static_cast<Eigen::Index>(b) * size, size, size);
  }
  FrontalLu lu(nodes, size, elements);
  for (int again = 0; again < 2; ++again)  // the second reuses the analysis
    RC_ASSERT(lu.factor(1, [&](int e, Eigen::MatrixXd& matrix) { matrix = matrices[static_cast<std::size_t>(e)]; }));
  const Eigen::VectorXd b = trial::random_vector(random, nodes * size);
  Eigen::VectorXd x = b;
  lu.solve(x);
  RC_ASSERT((K * x - b).norm() < 1e-11 * b.norm() * (1 + K.norm()));  // measured 1e-15
}

TEST(FrontalLu, SolvesNodesThatAreNotCoupled) {
  FrontalLu lu(3, 2, {{0}, {1}});
  Eigen::Matrix2d K;
  K << 2, 1, -1, 3;
  ASSERT_TRUE(lu.factor(1, [&](int e, Eigen::MatrixXd& matrix) { matrix = (e + 1) * K; }));
  Eigen::VectorXd x = Eigen::VectorXd::Ones(6), b = x;
  lu.solve(x);
  b.segment(0, 2) -= x.segment(0, 2) + K * x.segment(0, 2);
  b.segment(2, 2) -= x.segment(2, 2) + 2 * K * x.segment(2, 2);
  b.segment(4, 2) -= x.segment(4, 2);
  EXPECT_LT(b.norm(), 1e-15);  // measured 2e-16
}

// A front that is large enough for its products to be shared out.
TEST(FrontalLu, HasTheSameBitsForAnyNumberOfThreads) {
  std::mt19937 random(5);
  const int nodes = 250, size = 3;
  std::vector<std::vector<int>> elements(1);
  for (int k = 0; k < nodes; ++k) elements[0].push_back(k);
  Eigen::MatrixXd B(nodes * size, nodes * size);
  for (Eigen::Index i = 0; i < B.size(); ++i) B.data()[i] = trial::uniform(random);
  const Eigen::VectorXd b = trial::random_vector(random, nodes * size);
  Eigen::VectorXd alone;
  for (const int threads : {1, 2, 5}) {
    const UseThreads here(threads);
    FrontalLu lu(nodes, size, elements);
    ASSERT_TRUE(lu.factor(1, [&](int, Eigen::MatrixXd& matrix) { matrix = B; }));
    Eigen::VectorXd x = b;
    lu.solve(x);
    if (threads == 1) alone = x;
    EXPECT_EQ((x - alone).cwiseAbs().maxCoeff(), 0) << threads;
  }
  EXPECT_LT((alone + B * alone - b).norm(), 1e-10 * b.norm());
}

}  // namespace
}  // namespace hinge::frontal_lu_test
