// Nothing wrong is called converged, nothing right is called wrong: LCPs without a diagonal, problems without a
// solution, units, limits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "solve/contact/plain_residual.hpp"
#include "solve/contact/random_problems.hpp"

namespace hinge::honesty_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using trial::PileKind;
using trial::random_pile;

constexpr ResidualScaling scalings[] = {ResidualScaling::ours, ResidualScaling::siconos, ResidualScaling::fclib,
                                        ResidualScaling::absolute};

double least(const ContactProblem& lcp, const VectorXd& r) {
  return r.cwiseMin(trial::plain_velocity(lcp, r)).lpNorm<Eigen::Infinity>();
}

/// min c.x, A x >= b, x >= 0 with a solution, as an LCP: M = [eps I, -A^T; A, eps I].
ContactProblem linear_program(int n, double eps) {
  trial::SplitMix64 random(static_cast<std::uint64_t>(n));
  const MatrixXd A = (random.matrix(n, n).array() * 0.5 + 0.6).matrix();
  VectorXd q(2 * n);
  for (int k = 0; k < n; ++k) q[k] = 0.5 + random.u(), q[n + k] = -1 - random.u();
  MatrixXd M = eps * MatrixXd::Identity(2 * n, 2 * n);
  M.topRightCorner(n, n) = -A.transpose();
  M.bottomLeftCorner(n, n) = A;
  return linear_complementarity(M, q);
}

TEST(ContactResidual, SeesWrongReactionsOfLcpsWithoutADiagonal) {
  MatrixXd skew(2, 2);
  const Eigen::Vector2d q(-1, 1), wrong(0.5, 3), right(1, 1);
  for (const double eps : {0.0, 1e-300, 1e-12, 1e-6}) {
    skew << eps, 1, -1, eps;
    const ContactProblem p = linear_complementarity(skew, q);
    EXPECT_NEAR(contact_residual(p, wrong).ours, 0.5, 1e-4);  // u = (2, 0.5): min(r, u) = (0.5, 0.5)
    EXPECT_LT(contact_residual(p, right).ours, 2 * eps + 1e-15);
    ContactOptions o;
    o.start = wrong;
    for (const ContactSolverInfo& info : contact_solvers()) {
      if (!refusal(p, info.name).empty()) continue;
      o.seconds = 1;
      const ContactResult result = solve_contact(p, info.name, o);
      EXPECT_TRUE(!result.converged() || least(p, result.r) < 1e-7) << info.name << " eps " << eps;
    }
    EXPECT_TRUE(solve_contact(p, "auto", o).converged()) << eps;
  }
  // A row and a column of zeros: r does nothing, and must vanish all the same where u > 0.
  MatrixXd empty = MatrixXd::Zero(2, 2);
  empty(0, 0) = 1;
  const ContactProblem p = linear_complementarity(empty, Eigen::Vector2d(-1, 1));
  EXPECT_EQ(contact_residual(p, Eigen::Vector2d(1, 0)).ours, 2.2e-16);
  EXPECT_GT(contact_residual(p, Eigen::Vector2d(1, 10)).ours, 1e-8);
}

TEST(ContactSolvers, SolveLinearPrograms) {
  for (const int n : {3, 8, 40})
    for (const double eps : {0.0, 1e-12, 1e-9}) {
      const ContactProblem p = linear_program(n, eps);
      for (const char* solver : {"lemke", "interior-point", "newton-fb", "auto"}) {
        const ContactResult result = solve_contact(p, solver);
        const bool may_fail = solver == std::string("newton-fb");
        EXPECT_TRUE(result.converged() || may_fail) << solver << n << result.message;
        EXPECT_TRUE(!result.converged() || least(p, result.r) < 1e-6) << solver << " " << n << " " << eps;
      }
    }
}

RC_GTEST_PROP(ContactSolvers, AutoNeverCallsWrongResultsConverged, ()) {
  // Anything: indefinite and infeasible LCPs, skew ones, ones with a zero or tiny diagonal, from any start.
  // (One row with a tiny diagonal is an ordinary problem in other units.)
  const int kind = *rc::gen::inRange(0, 5), n = *rc::gen::inRange(kind == 3 ? 2 : 1, 12);
  trial::SplitMix64 random(*rc::gen::arbitrary<std::uint64_t>());
  MatrixXd M = random.matrix(n, n);
  if (kind == 1) M = (M - M.transpose()).eval();
  if (kind == 2) M.diagonal().setZero();
  if (kind == 3) M.diagonal() *= 1e-12;
  if (kind == 4) M = (M * M.transpose()).eval(), M.row(0).setZero(), M.col(0).setZero();
  VectorXd q(n);
  ContactOptions o;
  o.start.resize(n);
  for (double& x : q) x = random.s();
  for (double& x : o.start) x = 3 * random.u();
  o.seconds = 1;
  o.scaling = *rc::gen::elementOf(std::vector<ResidualScaling>(std::begin(scalings), std::end(scalings)));
  const ContactProblem p = linear_complementarity(M, q);
  const ContactResult result = solve_contact(p, "auto", o);
  if (!result.converged())
    RC_ASSERT(!result.message.empty());
  else if (o.scaling == ResidualScaling::siconos)  // relative to |r|
    RC_ASSERT(least(p, result.r) < 1e-5 * std::max(1.0, result.r.norm()));
  else
    RC_ASSERT(least(p, result.r) < 1e-5);
}

TEST(ContactSolvers, RefuseAnInfeasibleProblemHonestlyInEveryScaling) {
  // Two opposite contacts on one body: u_1 + u_2 = -2 whatever r is.
  MatrixXd W(2, 2);
  W << 1, -1, -1, 1;
  const ContactProblem p = linear_complementarity(W, Eigen::Vector2d(-1, -1));
  for (const ResidualScaling scaling : scalings)
    for (const double tolerance : {1e-3, 1e-8})
      for (const ContactSolverInfo& info : contact_solvers()) {
        ContactOptions o;
        o.seconds = 0.2;
        o.scaling = scaling;
        o.tolerance = tolerance;
        const ContactResult result = solve_contact(p, info.name, o);
        EXPECT_FALSE(result.converged()) << info.name << " |r| = " << result.r.norm();
        EXPECT_FALSE(result.message.empty()) << info.name;
      }
  // And with friction, the body squeezed between two walls.
  MatrixXd F = MatrixXd::Identity(6, 6);
  F.topRightCorner(3, 3) = Eigen::Vector3d(-1, 1, 1).asDiagonal();
  F.bottomLeftCorner(3, 3) = Eigen::Vector3d(-1, 1, 1).asDiagonal();
  VectorXd q = VectorXd::Zero(6);
  q[0] = q[3] = -1;
  const ContactProblem squeezed = trial::from_dense(F, q, 0.3);
  for (const ResidualScaling scaling : scalings) {
    ContactOptions o;
    o.scaling = scaling;
    o.seconds = 0.5;
    EXPECT_FALSE(solve_contact(squeezed, "auto", o).converged());
  }
}

TEST(ContactSolvers, DoNotDependOnUnits) {
  const ContactProblem lcp = trial::golden_lcp("pd", 20, 1);
  ContactProblem contact = trial::written_out(trial::golden_chain(12, 3, 0.3));
  for (const double w : {1e-14, 1.0, 1e14})
    for (const double v : {1e-14, 1.0, 1e14}) {
      ContactProblem p = lcp;
      p.W *= w;
      p.q *= v;
      for (const char* solver : {"lemke", "newton-fb", "interior-point", "newton-ac", "auto"}) {
        const ContactResult result = solve_contact(p, solver);
        ASSERT_TRUE(result.converged()) << solver << " " << w << " " << v << " " << result.message;
        EXPECT_LT(least(lcp, result.r * w / v), 1e-6) << solver;
      }
      p = contact;
      p.W *= w;
      p.q *= v;
      for (const char* solver : {"block-gauss-seidel", "newton-ac", "cone-interior-point", "admm", "apgd", "auto"}) {
        const ContactResult result = solve_contact(p, solver);
        ASSERT_TRUE(result.converged()) << solver << " " << w << " " << v << " " << result.message;
        EXPECT_LT(trial::plain_residual(contact, result.r * w / v), 1e-6) << solver;
      }
    }
}

TEST(ContactResidual, SquaresMayLeaveTheRangeOfDoubles) {
  for (const double size : {1e-200, 1e-170, 1e-150, 1e150, 1e160, 1e200}) {
    const Eigen::Vector3d q = size * Eigen::Vector3d(-1, 1, 0.5);
    for (const auto friction : {FrictionModel::coulomb, FrictionModel::convexified, FrictionModel::polyhedral}) {
      ContactProblem p = trial::from_dense(MatrixXd::Identity(3, 3), q, 0.3);
      p.friction = friction;
      const ContactResidual nothing = contact_residual(p, Eigen::Vector3d::Zero());
      EXPECT_GT(nothing.ours, 0.5) << size;
      EXPECT_GT(nothing.absolute, 0.5 * size) << size;
      EXPECT_LT(nothing.absolute, 10 * size) << size;
      const ContactResult result = solve_contact(p);
      ASSERT_TRUE(result.converged()) << size << result.message;
      p.q /= size;
      EXPECT_LT(trial::plain_violation(p, result.r / size), 1e-6) << size;
    }
  }
  const ContactProblem p = trial::from_dense(MatrixXd::Identity(3, 3), Eigen::Vector3d(-1, 0, 0), 0.3);
  EXPECT_EQ(contact_residual(p, Eigen::Vector3d(1, std::nan(""), 0)).ours, HUGE_VAL);
  EXPECT_EQ(contact_residual(p, Eigen::Vector3d(1, HUGE_VAL, 0)).siconos, HUGE_VAL);
}

TEST(ContactResidual, ScalingsAreThoseOfTheirAuthors) {
  // One contact in the air, by hand: r = (1, 0, 0), W = 2 I, q = (1, 0, 0), so u = (3, 0, 0).
  const ContactProblem p = trial::from_dense(2 * MatrixXd::Identity(3, 3), Eigen::Vector3d(1, 0, 0), 0.5);
  const ContactResidual res = contact_residual(p, Eigen::Vector3d(1, 0, 0));
  EXPECT_EQ(res.absolute, 1);                  // r - u = (-2, 0, 0) projects to 0, so F = r with rho = 1
  EXPECT_DOUBLE_EQ(res.siconos, 1.0 / 3);      // |u| = 3 is the largest of |q|, |r|, |u|
  EXPECT_DOUBLE_EQ(res.fclib, 1.0 / (1 + 1));  // 1 + sqrt(|q|) with |q| = 1
  EXPECT_DOUBLE_EQ(res.ours, 2);               // rho = 1/2: F = r, |F|/rho = 2, |q|_inf = 1
  EXPECT_DOUBLE_EQ(res.signorini, 3);
  EXPECT_EQ(contact_residual(p, Eigen::Vector3d::Zero()).ours, 0);

  // A sliding contact and a bilateral row, W = I, q = (-1, 4, 0 | 3), r = (2, 0, 0 | 1): u = (1, 4, 0 | 4).
  ContactProblem s = frictional_contact(3, SparseRows(MatrixXd::Identity(4, 4).sparseView(1, 0)),
                                        Eigen::Vector4d(-1, 4, 0, 3), VectorXd::Constant(1, 0.5));
  s.bilateral = 1;
  const Eigen::Vector4d r(2, 0, 0, 1);
  // De Saxce: u^_N = 1 + 0.5 * 4 = 3; r - u^ = (-1, -4, 0); n + mu t = 1, so it projects to 0.8 (1, -0.5, 0):
  // F = (1.2, 0.4, 0), |F|^2 = 1.6; the bilateral row adds 16.
  const ContactResidual slides = contact_residual(s, r);
  EXPECT_DOUBLE_EQ(slides.absolute, std::sqrt(17.6));
  EXPECT_DOUBLE_EQ(slides.siconos, std::sqrt(17.6 / 33));  // |u|^2 = 33, |q|^2 = 26, |r|^2 = 5
  EXPECT_DOUBLE_EQ(slides.fclib, std::sqrt(1.6) / (1 + std::pow(17, 0.25)) + 4.0 / (1 + 3));
  EXPECT_DOUBLE_EQ(slides.ours, 4.0 / 4);  // rho = 1: the bilateral row is the worst, |q|_inf = 4
  EXPECT_EQ(slides.penetration, 0);
  EXPECT_EQ(slides.bilateral, 4);
  EXPECT_EQ(slides.dissipation, 4);  // r_T.u_T + mu r_N |u_T| = 0.5 * 2 * 4
  // Convexified: no De Saxce term; r - u = (1, -4, 0): n + mu t = 3, 2.4 (1, -0.5, 0), F = (-0.4, 1.2, 0).
  s.friction = FrictionModel::convexified;
  EXPECT_DOUBLE_EQ(contact_residual(s, r).absolute, std::sqrt(17.6));
  EXPECT_EQ(contact_residual(s, r).penetration, 1);  // mu |u_T| - u_N = 2 - 1
  // The authors' numbers have no rounding added: an exact solution has none left.
  const ContactProblem stiff = trial::from_dense(1e10 * MatrixXd::Identity(3, 3), Eigen::Vector3d(-1e10, 0, 0), 0.3);
  const ContactResidual exact = contact_residual(stiff, Eigen::Vector3d(1, 0, 0));
  EXPECT_EQ(exact.absolute, 0);
  EXPECT_EQ(exact.siconos, 0);
  EXPECT_EQ(exact.fclib, 0);
  EXPECT_GT(exact.noise, 0);
}

TEST(ContactSolvers, BilateralRowsAloneAreALinearSystem) {
  MatrixXd W(2, 2);
  W << 2, 1, 1, 2;
  ContactProblem p;
  p.bilateral = 2;
  p.W = SparseRows(W.sparseView(1, 0));
  p.q = Eigen::Vector2d(1, -1);
  for (const int dimension : {1, 2, 3})
    for (const ContactSolverInfo& info : contact_solvers()) {
      p.dimension = dimension;
      if (!refusal(p, info.name).empty()) continue;
      const ContactResult result = solve_contact(p, info.name);
      ASSERT_TRUE(result.converged()) << info.name << " " << dimension << " " << result.message;
      EXPECT_LT((result.r - Eigen::Vector2d(-1, 1)).norm(), 1e-7) << info.name;
    }
}

TEST(ContactSolvers, ABilateralRowThatNothingMovesIsNoObstacle) {
  PileKind kind;
  kind.bilateral = 2;
  ContactProblem p = trial::written_out(random_pile(1, kind));
  MatrixXd W(p.W);
  const Eigen::Index last = W.rows() - 1;
  W.row(last).setZero();
  W.col(last).setZero();
  p.W = SparseRows(W.sparseView(1, 0));
  p.q[last] = 0;
  for (const char* solver : {"auto", "block-gauss-seidel", "newton-ac", "cone-interior-point", "admm"}) {
    ContactOptions o;
    o.tolerance = 1e-7;
    const ContactResult result = solve_contact(p, solver, o);
    EXPECT_TRUE(result.converged()) << solver << ": " << result.message;
  }
  p.q[last] = 1;  // and one that contradicts itself is not solved
  ContactOptions o;
  o.seconds = 1;
  EXPECT_FALSE(solve_contact(p, "auto", o).converged());
}

TEST(ContactSolvers, WithoutVelocitiesNoReactionsWhateverTheStart) {
  ContactProblem p = trial::written_out(trial::golden_chain(1, 3, 0.3));
  p.q.setZero();
  ContactOptions o;
  o.start = VectorXd::Ones(9);
  for (const ContactSolverInfo& info : contact_solvers()) {
    if (!refusal(p, info.name).empty()) continue;
    const ContactResult result = solve_contact(p, info.name, o);
    EXPECT_TRUE(result.converged()) << info.name;
    EXPECT_EQ(result.r.norm(), 0) << info.name;
  }
}

TEST(ContactSolvers, KeepTheirLimits) {
  // A few hundred contacts that nobody solves to 1e-15 in a twentieth of a second.
  PileKind kind;
  kind.bodies = 40;
  kind.contacts = 150;
  const ContactProblem p = random_pile(5, kind);
  ContactProblem pyramids = p;
  pyramids.friction = FrictionModel::polyhedral;
  for (const ContactSolverInfo& info : contact_solvers())
    for (const ContactProblem* problem : {&p, static_cast<const ContactProblem*>(&pyramids)}) {
      if (!refusal(*problem, info.name).empty()) continue;
      ContactOptions o;
      o.tolerance = 1e-17;
      o.iterations = 3;
      EXPECT_LE(solve_contact(*problem, info.name, o).iterations, 3) << info.name;
      o.iterations = 0;
      o.seconds = 0.02;
      const ContactResult late = solve_contact(*problem, info.name, o);
      EXPECT_FALSE(late.converged());
      EXPECT_LT(late.seconds, 10) << info.name;  // one factorisation more at most; busy machines are slow
      if (late.seconds <= o.seconds) continue;   // it gave up before, at rounding
      EXPECT_EQ(late.status, ContactStatus::iteration_limit) << info.name << " " << late.message;
      EXPECT_NE(late.message.find("seconds were up"), std::string::npos) << info.name << " " << late.message;
    }
}

TEST(ContactSolvers, SayWhyAPyramidIsTooLarge) {
  PileKind kind;
  kind.bodies = 30;
  kind.contacts = 60;
  ContactProblem p = random_pile(1, kind);
  p.friction = FrictionModel::polyhedral;
  p.facets = 80;
  for (const char* solver : {"lemke", "newton-fb"})
    EXPECT_NE(refusal(p, solver).find("4920 rows are more than 4000"), std::string::npos) << refusal(p, solver);
  const ContactResult none = solve_contact(p);
  EXPECT_EQ(none.status, ContactStatus::failed);
  EXPECT_NE(none.message.find("4920 rows"), std::string::npos) << none.message;
}

// Where numbers overflow there is nothing to pivot on. (With sanitizers: nothing is read before the first row either.)
TEST(ContactHonesty, NumbersThatOverflowAreNotCalledSolved) {
  trial::SplitMix64 random(7);
  for (int k = 0; k < 200; ++k) {
    const int n = 1 + k % 3;
    const MatrixXd M = MatrixXd::Identity(n, n) * std::pow(10, -300 + 20 * random.u());
    const ContactProblem lcp = linear_complementarity(M, VectorXd::Constant(n, -std::pow(10, 285 + 20 * random.u())));
    for (const char* const solver : {"lemke", "auto"}) EXPECT_FALSE(solve_contact(lcp, solver).converged()) << solver;
  }
}

}  // namespace
}  // namespace hinge::honesty_test
