#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "hinge/contact.hpp"
#include "places.hpp"
#include "simulate/record/recorder.hpp"
#include "solve/contact/random_problems.hpp"

namespace hinge::fclib_test {
namespace {

// A problem with everything, written and read back, has the same u for the same r.
void expect_round_trip(const ContactProblem& p) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const test::Folder folder;
  Eigen::VectorXd r(p.rows());
  for (int k = 0; k < p.rows(); ++k) r[k] = std::sin(1 + k);
  write_contact_file(folder.file("a.hdf5"), p, r, "a test");
  const ContactFile back = read_contact_file(folder.file("a.hdf5"));
  EXPECT_EQ(back.description, "a test");
  EXPECT_EQ(back.problem.title, p.title);
  EXPECT_EQ(back.problem.dimension, p.dimension);
  EXPECT_EQ(back.problem.bilateral, p.bilateral);
  EXPECT_EQ(back.problem.matrix_free(), p.matrix_free());
  EXPECT_EQ(back.solution, r);
  EXPECT_LT((contact_velocity(back.problem, r) - contact_velocity(p, r)).norm(), 1e-13);  // measured 1e-15
}

TEST(Fclib, WritesAndReadsLocalGlobalAndLcpProblems) {
  trial::PileKind kind;
  kind.bilateral = 2;
  ContactProblem p = trial::random_pile(1, kind);
  p.title = "pile";
  expect_round_trip(p);
  expect_round_trip(trial::written_out(p));
  expect_round_trip(trial::golden_lcp("pd", 5, 1));
  kind = {};
  kind.dimension = 2;
  expect_round_trip(trial::random_pile(2, kind));
}

TEST(Fclib, EmptyPartsComeBackEmpty) {
  ContactProblem p;  // bilateral rows only
  p.bilateral = 2;
  p.W = SparseRows((2 * Eigen::MatrixXd::Identity(2, 2)).sparseView(1, 0));
  p.q = Eigen::Vector2d(1, -1);
  expect_round_trip(p);
  expect_round_trip(linear_complementarity(SparseRows(3, 3), Eigen::Vector3d(1, 2, 3)));  // M = 0
  trial::PileKind kind;
  kind.bilateral = 1;
  ContactProblem apart = trial::written_out(trial::random_pile(1, kind));  // V = 0
  Eigen::MatrixXd W(apart.W);
  const Eigen::Index last = W.rows() - 1;
  W.row(last).head(last).setZero();
  W.col(last).head(last).setZero();
  apart.W = SparseRows(W.sparseView(1, 0));
  expect_round_trip(apart);
}

TEST(Fclib, ReadsTheFilesOfOthers) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const std::string folder = HINGE_EXAMPLES "/contact/";
  const ContactFile boxes = read_contact_file(folder + "Box_Stacks-i0122-82-5.hdf5");  // triplets
  EXPECT_EQ(boxes.problem.contacts(), 82);
  EXPECT_EQ(boxes.problem.H.cols(), 450);
  EXPECT_EQ(boxes.guess.size(), 246);
  const ContactFile local = read_contact_file(folder + "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5");  // rows
  EXPECT_EQ(local.problem.contacts(), 60);
  EXPECT_FALSE(local.problem.matrix_free());
  // A stored solution with a residual of 1e-10 or better: H, M, f, w and the components' order are read as meant.
  const ContactFile spheres = read_contact_file(folder + "spheres.hdf5");
  EXPECT_LT(contact_residual(spheres.problem, spheres.solution).siconos, 1e-9);
  Eigen::VectorXd wrong = spheres.solution;
  for (int i = 0; i < 268; ++i) std::swap(wrong[3 * i], wrong[3 * i + 2]);
  EXPECT_GT(contact_residual(spheres.problem, wrong).siconos, 1e-2);
}

TEST(Fclib, PilesAreSolvedToTheVelocitiesOfTheirFiles) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  for (const char* name : {"spheres", "fc3d_N100_dyn", "lcp2d_N100"}) {
    const ContactFile file = read_contact_file(std::string(HINGE_EXAMPLES "/contact/") + name + ".hdf5");
    const ContactResult result = solve_contact(file.problem);
    ASSERT_TRUE(result.converged()) << result.message;
    const Eigen::VectorXd u = contact_velocity(file.problem, file.solution);
    EXPECT_LT((result.u - u).lpNorm<Eigen::Infinity>(), 1e-5) << name;  // forces are not unique, velocities are
  }
}

}  // namespace
}  // namespace hinge::fclib_test
