// The solver that a time stepper keeps, on contacts between bodies: what it solves is what solve_contact solves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "solve/contact/body_piles.hpp"

namespace hinge::contact_solver_test {
namespace {

using trial::body_pile;

Eigen::VectorXd as_vector(std::span<const double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}
double apart(const std::vector<double>& a, const std::vector<double>& b) {
  return (as_vector(a) - as_vector(b)).norm();
}

RC_GTEST_PROP(ContactSolver, SolvesWhatSolveContactSolves, ()) {
  trial::BodyPileKind kind;
  kind.dimension = *rc::gen::inRange(1, 4);
  kind.bodies = *rc::gen::inRange(1, 7);
  kind.contacts = *rc::gen::inRange(1, 12);
  kind.joints = *rc::gen::inRange(0, 3);
  kind.prescribed = *rc::gen::arbitrary<bool>();
  ContactProblem p = body_pile(*rc::gen::arbitrary<std::uint64_t>(), kind);
  p.friction = FrictionModel::convexified;  // u is unique
  ContactOptions o;
  o.tolerance = 1e-9;
  ContactSolver solver("auto", o);
  std::vector<double> r;
  const ContactReport report = solver.solve(p, r);
  const ContactProblem all = written_out(p);
  const ContactResult other = solve_contact(all, "auto", o);
  RC_ASSERT(report.converged());
  RC_ASSERT(other.converged());
  // One residual: what the solver says is what the written-out problem says of the same r.
  const ContactResidual again = contact_residual(all, as_vector(r));
  RC_ASSERT(std::abs(again.ours - report.residual.ours) < 1e-12);
  RC_ASSERT(std::abs(again.siconos - report.residual.siconos) < 1e-12);
  RC_ASSERT(std::abs(again.fclib - report.residual.fclib) < 1e-12);
  // u agree where W is not nearly singular; with tolerance 1e-9 and |q| of order 1
  RC_ASSERT((other.u - as_vector(solver.contact_velocity())).lpNorm<Eigen::Infinity>() < 1e-5);
  // Momentum: M (v - v_free) = H^T r, in directions that can move.
  const ContactBodies& bodies = p.bodies;
  Eigen::VectorXd impulse = Eigen::VectorXd::Zero(6 * bodies.count());
  for (int i = 0, row = 0; i < bodies.blocks(); ++i) {
    const int rows = i < p.contacts() ? p.dimension : bodies.bilateral_rows[static_cast<std::size_t>(i - p.contacts())];
    for (const int side : {0, 1})
      if (const int b = bodies.body(i, side); b >= 0)
        impulse.segment<6>(6 * b) += bodies.rows(i, side).topRows(rows).transpose() * as_vector(r).segment(row, rows);
    row += rows;
  }
  for (int b = 0; b < bodies.count(); ++b) {
    const Eigen::VectorXd jump =
        bodies.inverse(b) * impulse.segment<6>(6 * b) + as_vector(bodies.v_free).segment<6>(6 * b);
    RC_ASSERT((jump - as_vector(solver.body_velocity()).segment<6>(6 * b)).norm() <= 1e-13 * (1 + impulse.norm()));
  }
}

TEST(ContactSolver, EverySolverTakesBodies) {
  trial::BodyPileKind kind;
  kind.joints = 2;
  ContactProblem p = body_pile(4, kind);
  p.friction = FrictionModel::convexified;
  ContactOptions o;
  o.tolerance = 1e-7;
  const ContactResult best = solve_contact(p, "auto", o);
  ASSERT_TRUE(best.converged()) << best.message;
  int solved = 0;
  for (const ContactSolverInfo& info : contact_solvers()) {
    if (!refusal(p, info.name).empty()) continue;
    const ContactResult result = solve_contact(p, info.name, o);
    EXPECT_TRUE(result.converged()) << result.message;
    EXPECT_LT((result.u - best.u).norm(), 1e-4) << info.name;
    ++solved;
  }
  EXPECT_GE(solved, 9);
}

TEST(ContactSolver, FromItsOwnSolutionNeedsNoSweep) {
  const ContactProblem p = body_pile(3, {});
  ContactSolver solver;
  std::vector<double> r;
  const ContactReport cold = solver.solve(p, r);
  ASSERT_TRUE(cold.converged()) << solver.message();
  EXPECT_GT(cold.iterations, 0);
  const std::vector<double> first = r;
  const ContactReport warm = solver.solve(p, r);
  EXPECT_EQ(warm.iterations, 0);
  EXPECT_LT(apart(r, first), 1e-15);  // measured 1e-17: the start is projected on the cones
}

TEST(ContactSolver, ReusedForOtherSizesGivesTheBitsOfANewOne) {
  trial::BodyPileKind large, small;
  large.bodies = 9, large.contacts = 30, large.joints = 2;
  small.bodies = 2, small.contacts = 3;
  ContactSolver kept;
  for (const auto& kind : {large, small, large}) {
    const ContactProblem p = body_pile(5, kind);
    std::vector<double> a, b;
    kept.solve(p, a);
    ContactSolver().solve(p, b);
    EXPECT_GT(as_vector(a).norm(), 0);
    EXPECT_EQ(apart(a, b), 0);
  }
}

// Step after step sweeps over many contacts go further in the direction they come from: the same problems are solved,
// to the same tolerance, by fewer of them.
TEST(ContactSolver, StepAfterStepSweepsOverManyContactsAreFewer) {
  long plain = 0, further = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    trial::BodyPileKind kind;
    kind.bodies = 60 + static_cast<int>(seed * 17 % 60);
    kind.contacts = 2 * kind.bodies;
    kind.mu = 0.1 * static_cast<double>(seed % 7);
    const ContactProblem p = body_pile(seed, kind);
    for (const bool stepping : {false, true}) {
      ContactOptions o;
      o.tolerance = 1e-6;
      o.stepping = stepping;
      ContactSolver solver("block-gauss-seidel", o);
      std::vector<double> r;
      const ContactReport report = solver.solve(p, r);
      EXPECT_TRUE(report.converged()) << seed << " " << stepping << " " << report.residual.ours;
      EXPECT_LE(contact_residual(p, as_vector(r)).ours, 1e-6);
      (stepping ? further : plain) += report.iterations;
    }
  }
  EXPECT_LT(further, 0.5 * static_cast<double>(plain));  // measured 460 and 1217 sweeps
}

TEST(ContactSolver, ThreadsDoNotChangeABit) {
  trial::BodyPileKind kind;
  kind.bodies = 1500, kind.contacts = 4500;
  const ContactProblem p = body_pile(7, kind);
  ContactOptions o;
  o.iterations = 40;
  for (const bool stepping : {false, true}) {
    o.stepping = stepping;
    std::vector<double> one, two;
    o.threads = 1;
    ContactSolver("block-gauss-seidel", o).solve(p, one);
    o.threads = 2;
    ContactSolver("block-gauss-seidel", o).solve(p, two);
    EXPECT_GT(as_vector(one).norm(), 0.1);
    EXPECT_EQ(apart(one, two), 0);
  }
}

TEST(ContactSolver, SaysWhenTheLimitOfSweepsIsReached) {
  const ContactProblem p = body_pile(3, {});
  ContactOptions o;
  o.tolerance = 1e-13;
  o.iterations = 2;
  std::vector<double> r;
  ContactSolver solver("block-gauss-seidel", o);
  const ContactReport report = solver.solve(p, r);
  EXPECT_FALSE(report.converged());
  EXPECT_FALSE(solver.message().empty());
  EXPECT_GT(report.residual.ours, 1e-13);
}

TEST(ContactSolver, AutoTakesOverWhereSweepsWouldTakeTooLong) {
  // A tower: the mass ratio of 1e6 makes sweeps useless.
  ContactProblem p;
  const int n = 8;
  p.bodies.resize(n, n, 0);
  p.mu.assign(n, 0.3);
  for (int b = 0; b < n; ++b) {
    p.bodies.inverse(b).setIdentity();
    p.bodies.inverse(b) *= std::pow(10.0, -6.0 * b / (n - 1));
    p.bodies.pair[static_cast<std::size_t>(2 * b)] = b;
    p.bodies.pair[static_cast<std::size_t>(2 * b + 1)] = b - 1;
    p.bodies.rows(b, 0).leftCols<3>().setIdentity();
    p.bodies.rows(b, 1).leftCols<3>() = -p.bodies.rows(b, 0).leftCols<3>();
    p.bodies.v_free[static_cast<std::size_t>(6 * b)] = -1;
    p.bodies.v_free[static_cast<std::size_t>(6 * b + 1)] = 0.01;
  }
  std::vector<double> r;
  ContactSolver solver;
  const ContactReport report = solver.solve(p, r);
  EXPECT_TRUE(report.converged()) << solver.message();
  EXPECT_NE(report.solver, "block-gauss-seidel");
  double weight = 0;  // the floor carries the momentum of all
  for (int b = 0; b < n; ++b) weight += std::pow(10.0, 6.0 * b / (n - 1));
  EXPECT_NEAR(r[0] / weight, 1, 1e-5);
}

TEST(ContactSolver, BadInputIsNamed) {
  const auto message = [](const ContactProblem& p) -> std::string {
    std::vector<double> r;
    try {
      ContactSolver().solve(p, r);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const ContactProblem good = body_pile(3, {});
  EXPECT_EQ(message(good), "accepted");
  ContactProblem bad = good;
  bad.mu[2] = -1;
  EXPECT_NE(message(bad).find("mu of contact 2 is -1"), std::string::npos);
  bad = good;
  bad.bodies.pair[2] = 77;
  EXPECT_NE(message(bad).find("bodies 77"), std::string::npos);
  bad = good;
  bad.bodies.inverse(1)(2, 2) = HUGE_VAL;
  EXPECT_NE(message(bad).find("body 1"), std::string::npos);
  bad = good;
  bad.bodies.rows(0, 0).setZero();
  bad.bodies.rows(0, 1).setZero();
  EXPECT_NE(message(bad).find("contact 0 moves no body"), std::string::npos);
  bad = good;
  bad.bodies.v_free[3] = std::nan("");
  EXPECT_NE(message(bad).find("v_free"), std::string::npos);
  bad = good;
  bad.bodies.w.pop_back();
  EXPECT_NE(message(bad).find("8 contacts"), std::string::npos);
}

}  // namespace
}  // namespace hinge::contact_solver_test
