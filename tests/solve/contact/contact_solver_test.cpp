// The solver that a time stepper keeps: same solutions as solve_contact, honest, and warm starts by keys.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hinge/contact_solver.hpp"
#include "solve/contact/body_piles.hpp"
#include "solve/contact/cone.hpp"

namespace hinge {
namespace {

using testing::body_pile;

Eigen::VectorXd as_vector(std::span<const double> x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}
double apart(const std::vector<double>& a, const std::vector<double>& b) {
  return (as_vector(a) - as_vector(b)).norm();
}

// r of the written-out problem, in the order of contacts.
Eigen::VectorXd in_contact_order(const BodyContactProblem& p, const ContactProblem& all, const Eigen::VectorXd& r) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(3 * p.size());
  int contact = 0, bilateral = all.contacts() * all.dimension;
  for (int i = 0; i < p.size(); ++i) {
    const int b = p.contacts[static_cast<std::size_t>(i)].bilateral_rows;
    for (int k = 0; k < (b > 0 ? b : p.dimension); ++k) out[3 * i + k] = r[b > 0 ? bilateral++ : contact++];
  }
  return out;
}

Eigen::VectorXd in_file_order(const BodyContactProblem& p, const ContactProblem& all, const Eigen::VectorXd& r) {
  Eigen::VectorXd out(all.rows());
  int contact = 0, bilateral = all.contacts() * all.dimension;
  for (int i = 0; i < p.size(); ++i) {
    const int b = p.contacts[static_cast<std::size_t>(i)].bilateral_rows;
    for (int k = 0; k < (b > 0 ? b : p.dimension); ++k) out[b > 0 ? bilateral++ : contact++] = r[3 * i + k];
  }
  return out;
}

RC_GTEST_PROP(ContactSolver, SolvesWhatSolveContactSolves, ()) {
  testing::BodyPileKind kind;
  kind.dimension = *rc::gen::inRange(1, 4);
  kind.bodies = *rc::gen::inRange(1, 7);
  kind.contacts = *rc::gen::inRange(1, 12);
  kind.joints = *rc::gen::inRange(0, 3);
  kind.prescribed = *rc::gen::arbitrary<bool>();
  BodyContactProblem p = body_pile(*rc::gen::arbitrary<std::uint64_t>(), kind);
  p.friction = FrictionModel::convexified;  // u is unique
  ContactOptions o;
  o.tolerance = 1e-9;
  ContactSolver solver(o);
  std::vector<double> r;
  const BodyContactReport report = solver.solve(p, r);
  const ContactProblem all = written_out(p);
  const ContactResult other = solve_contact(all, "auto", o);
  RC_ASSERT(report.converged());
  RC_ASSERT(other.converged());
  // One residual: what the solver says is what the written-out problem says of the same r.
  const ContactResidual again = contact_residual(all, in_file_order(p, all, as_vector(r)));
  RC_ASSERT(std::abs(again.ours - report.residual.ours) < 1e-12);
  RC_ASSERT(std::abs(again.siconos - report.residual.siconos) < 1e-12);
  RC_ASSERT(std::abs(again.fclib - report.residual.fclib) < 1e-12);
  // u agree where W is not nearly singular; with tolerance 1e-9 and |q| of order 1
  const Eigen::VectorXd u = in_contact_order(p, all, other.u);
  RC_ASSERT((u - as_vector(solver.contact_velocity())).lpNorm<Eigen::Infinity>() < 1e-5);
  // Momentum: M (v - v_free) = H^T r, in directions that can move.
  Eigen::VectorXd impulse = Eigen::VectorXd::Zero(6 * p.bodies());
  for (int i = 0; i < p.size(); ++i) {
    const BodyContact& c = p.contacts[static_cast<std::size_t>(i)];
    if (c.a >= 0) impulse.segment<6>(6 * c.a) += c.Ha.transpose() * as_vector(r).segment<3>(3 * i);
    if (c.b >= 0) impulse.segment<6>(6 * c.b) += c.Hb.transpose() * as_vector(r).segment<3>(3 * i);
  }
  for (int b = 0; b < p.bodies(); ++b) {
    const Eigen::VectorXd jump =
        p.inverse_mass[static_cast<std::size_t>(b)] * impulse.segment<6>(6 * b) + p.v_free.segment<6>(6 * b);
    RC_ASSERT((jump - as_vector(solver.body_velocity()).segment<6>(6 * b)).norm() <= 1e-13 * (1 + impulse.norm()));
  }
}

TEST(ContactSolver, FromItsOwnSolutionNeedsNoSweep) {
  const BodyContactProblem p = body_pile(3, {});
  ContactSolver solver;
  std::vector<double> r;
  const BodyContactReport cold = solver.solve(p, r);
  ASSERT_TRUE(cold.converged()) << cold.message;
  EXPECT_GT(cold.sweeps, 0);
  const std::vector<double> first = r;
  const BodyContactReport warm = solver.solve(p, r);
  EXPECT_EQ(warm.sweeps, 0);
  EXPECT_LT(apart(r, first), 1e-15);  // measured 1e-17: the start is projected on the cones
}

TEST(ContactSolver, ReusedForOtherSizesGivesTheBitsOfANewOne) {
  testing::BodyPileKind large, small;
  large.bodies = 9, large.contacts = 30, large.joints = 2;
  small.bodies = 2, small.contacts = 3;
  ContactSolver kept;
  for (const auto& kind : {large, small, large}) {
    const BodyContactProblem p = body_pile(5, kind);
    std::vector<double> a, b;
    kept.solve(p, a);
    ContactSolver().solve(p, b);
    EXPECT_GT(as_vector(a).norm(), 0);
    EXPECT_EQ(apart(a, b), 0);
  }
}

TEST(ContactSolver, ThreadsDoNotChangeABit) {
  testing::BodyPileKind kind;
  kind.bodies = 1500, kind.contacts = 4500;
  const BodyContactProblem p = body_pile(7, kind);
  ContactOptions o;
  o.iterations = 40;
  std::vector<double> one, two;
  ContactSolver(o, false).solve(p, one);
  o.threads = 2;
  ContactSolver(o, false).solve(p, two);
  EXPECT_GT(as_vector(one).norm(), 0.1);
  EXPECT_EQ(apart(one, two), 0);
}

TEST(ContactSolver, SaysWhenTheLimitOfSweepsIsReached) {
  const BodyContactProblem p = body_pile(3, {});
  ContactOptions o;
  o.tolerance = 1e-13;
  o.iterations = 2;
  std::vector<double> r;
  const BodyContactReport report = ContactSolver(o, false).solve(p, r);
  EXPECT_FALSE(report.converged());
  EXPECT_FALSE(report.message.empty());
  EXPECT_GT(report.residual.ours, 1e-13);
}

TEST(ContactSolver, AutoTakesOverWhereSweepsWouldTakeTooLong) {
  // A tower: the mass ratio of 1e6 makes sweeps useless.
  BodyContactProblem p;
  const int n = 8;
  for (int b = 0; b < n; ++b) {
    p.inverse_mass.push_back(Eigen::Matrix<double, 6, 6>::Identity() * std::pow(10.0, -6.0 * b / (n - 1)));
    BodyContact c;
    c.a = b;
    c.b = b - 1;
    c.mu = 0.3;
    c.Ha.leftCols<3>().setIdentity();
    c.Hb.leftCols<3>() = -c.Ha.leftCols<3>();
    p.contacts.push_back(c);
  }
  p.v_free = Eigen::VectorXd::Zero(6 * n);
  for (int b = 0; b < n; ++b) p.v_free[6 * b] = -1, p.v_free[6 * b + 1] = 0.01;
  std::vector<double> r;
  ContactSolver solver;
  const BodyContactReport report = solver.solve(p, r);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_TRUE(report.fell_back);
  double weight = 0;  // the floor carries the momentum of all
  for (int b = 0; b < n; ++b) weight += std::pow(10.0, 6.0 * b / (n - 1));
  EXPECT_NEAR(r[0] / weight, 1, 1e-5);
}

TEST(ContactSolver, BadInputIsNamed) {
  const auto message = [](const BodyContactProblem& p) -> std::string {
    std::vector<double> r;
    try {
      ContactSolver().solve(p, r);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const BodyContactProblem good = body_pile(3, {});
  EXPECT_EQ(message(good), "accepted");
  BodyContactProblem bad = good;
  bad.contacts[2].mu = -1;
  EXPECT_NE(message(bad).find("mu of contact 2 is -1"), std::string::npos);
  bad = good;
  bad.contacts[1].a = 77;
  EXPECT_NE(message(bad).find("bodies 77"), std::string::npos);
  bad = good;
  bad.inverse_mass[1](2, 2) = HUGE_VAL;
  EXPECT_NE(message(bad).find("body 1"), std::string::npos);
  bad = good;
  bad.contacts[0].Ha.setZero();
  bad.contacts[0].Hb.setZero();
  EXPECT_NE(message(bad).find("contact 0 moves no body"), std::string::npos);
  bad = good;
  bad.v_free[3] = std::nan("");
  EXPECT_NE(message(bad).find("v_free"), std::string::npos);
}

// ---- Warm start ----------------------------------------------------------------------------------------------

ContactFrame turned_about_z(double angle) {
  return {Eigen::Vector3d::UnitZ(), Eigen::Vector3d(std::cos(angle), std::sin(angle), 0),
          Eigen::Vector3d(-std::sin(angle), std::cos(angle), 0)};
}

struct OneContact {
  BodyContactProblem p;
  std::vector<ContactFrame> frames = {turned_about_z(0.3)};
  ContactMemory memory;
  std::vector<double> r;
  explicit OneContact(std::uint64_t key) {
    p.contacts.resize(1);
    p.contacts[0].mu = 0.5;
    p.contacts[0].key = key;
  }
};

TEST(WarmStart, TurnsAndScalesTheForceOfTheSameKey) {
  OneContact s(42);
  const Eigen::Vector3d old(2, 0.6, -0.3);
  remember(s.p, s.frames, 0.01, {old.data(), 3}, s.memory);
  remember(s.p, s.frames, 0.01, {old.data(), 3}, s.memory);
  s.frames[0] = turned_about_z(1.1);
  EXPECT_EQ(warm_start(s.p, s.frames, 0.005, s.memory, s.r), 1);
  // The same force in space, for half the time.
  const Eigen::Rotation2Dd turn(0.3 - 1.1);
  const Eigen::Vector2d tangential = turn * Eigen::Vector2d(0.6, -0.3) / 2;
  EXPECT_NEAR(s.r[0], 1, 1e-15);
  EXPECT_LT((as_vector(s.r).segment<2>(1) - tangential).norm(), 1e-15);
  s.p.contacts[0].key = 43;
  EXPECT_EQ(warm_start(s.p, s.frames, 0.005, s.memory, s.r), 0);
  EXPECT_EQ(as_vector(s.r).norm(), 0);
}

TEST(WarmStart, IsInsideTheNewCone) {
  OneContact s(1);
  const Eigen::Vector3d old(2, 0.9, 0);
  remember(s.p, s.frames, 0.01, {old.data(), 3}, s.memory);
  s.p.contacts[0].mu = 0.1;
  warm_start(s.p, s.frames, 0.01, s.memory, s.r);
  Eigen::Vector3d expected = old;
  project_on_cone<3>(0.1, expected.data());
  EXPECT_LT((as_vector(s.r) - expected).norm(), 1e-15);
  EXPECT_NEAR(as_vector(s.r).segment<2>(1).norm(), 0.1 * s.r[0], 1e-15);
}

TEST(WarmStart, ForgetsImpacts) {
  OneContact s(1);
  remember(s.p, s.frames, 0.01, std::vector<double>{1, 0, 0}, s.memory);
  EXPECT_EQ(warm_start(s.p, s.frames, 0.01, s.memory, s.r), 1);  // of the first step nothing else is known
  remember(s.p, s.frames, 0.01, std::vector<double>{9, 0, 0}, s.memory);
  EXPECT_EQ(warm_start(s.p, s.frames, 0.01, s.memory, s.r), 1);
  remember(s.p, s.frames, 0.01, std::vector<double>{91, 0, 0}, s.memory);  // more than ten times as much
  EXPECT_EQ(warm_start(s.p, s.frames, 0.01, s.memory, s.r), 0);
  remember(s.p, s.frames, 0.01, std::vector<double>{1, 0, 0}, s.memory);
  EXPECT_EQ(warm_start(s.p, s.frames, 0.01, s.memory, s.r), 1);
  // A step ten times as long has ten times the impulse: no impact.
  remember(s.p, s.frames, 0.1, std::vector<double>{10, 0, 0}, s.memory);
  EXPECT_EQ(warm_start(s.p, s.frames, 0.1, s.memory, s.r), 1);
  // A contact that was not there is new: its first r_N is an impact.
  s.p.contacts[0].key = 2;
  remember(s.p, s.frames, 0.1, std::vector<double>{1, 0, 0}, s.memory);
  EXPECT_EQ(warm_start(s.p, s.frames, 0.1, s.memory, s.r), 0);
}

}  // namespace
}  // namespace hinge
