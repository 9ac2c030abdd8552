// Every solver on every problem that it claims: converged by the independent residual, or an honest failure.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fmt/format.h>

#include "solve/contact/cone.hpp"
#include "solve/contact/plain_residual.hpp"
#include "solve/contact/random_problems.hpp"

namespace hinge::solver_test {
namespace {

using trial::PileKind;
using trial::plain_residual;
using trial::plain_violation;
using trial::random_pile;

// Solves with every solver that does not refuse; those in `may_fail` need not converge, but must say so. What is wrong
// comes back as text, empty where nothing is.
std::string solve_with_all(const ContactProblem& p, double tolerance, const std::vector<std::string>& may_fail,
                           double velocity_tolerance = HUGE_VAL) {
  std::string wrong;
  Eigen::VectorXd u;
  for (const ContactSolverInfo& info : contact_solvers()) {
    if (!refusal(p, info.name).empty()) continue;
    ContactOptions o;
    o.tolerance = tolerance;
    o.seconds = 2;
    const ContactResult result = solve_contact(p, info.name, o);
    const bool round = p.dimension < 3 || p.friction != FrictionModel::polyhedral;
    const double plain = round ? plain_residual(p, result.r) : 0;
    const ContactResidual again = contact_residual(p, result.r);
    if (result.converged() != (again.ours <= tolerance)) wrong += info.name + ": status and residual differ\n";
    if (round && std::abs(again.absolute - plain) > 1e-9 * std::max(1.0, result.r.norm()))
      wrong += info.name + ": another residual\n";
    // Converged is what the laws say, not what the library's residual says.
    const double size = std::max(1.0, result.r.norm());
    if (result.converged() && (plain > 1e3 * tolerance * size || plain_violation(p, result.r) > 1e3 * tolerance * size))
      wrong += fmt::format("{}: called converged, and the laws are violated by {:.1e}, {:.1e}\n", info.name, plain,
                           plain_violation(p, result.r));
    if (!result.converged() && result.message.empty()) wrong += info.name + ": no message\n";
    const bool excused = std::find(may_fail.begin(), may_fail.end(), info.name) != may_fail.end();
    if (!result.converged() && !excused) wrong += result.message + "\n";
    if (!result.converged()) continue;
    if (u.size() == 0) u = result.u;
    const double apart = (u - result.u).lpNorm<Eigen::Infinity>() / std::max(1.0, u.norm());
    if (apart > velocity_tolerance) wrong += info.name + ": other velocities\n";
  }
  return wrong;
}

// Which solvers must converge is a matter of counting: every method converges on convex problems, but at rates that may
// take longer than its limits on a few of them, and then it has to say so. Whatever converged has to agree.
RC_GTEST_PROP(ContactSolvers, ThatConvergeAgreeOnTheVelocitiesOfConvexProblems, ()) {
  PileKind kind;
  kind.dimension = *rc::gen::inRange(1, 4);
  kind.bodies = *rc::gen::inRange(1, 6);
  kind.contacts = *rc::gen::inRange(1, 9);
  kind.full_mass = *rc::gen::arbitrary<bool>();
  ContactProblem p = random_pile(*rc::gen::arbitrary<std::uint64_t>(), kind);
  p.friction = FrictionModel::convexified;
  std::vector<std::string> all_but_auto;
  for (const ContactSolverInfo& info : contact_solvers())
    if (info.name != "auto") all_but_auto.push_back(info.name);
  RC_ASSERT(solve_with_all(p, 1e-8, all_but_auto, 1e-5) == "");
}

TEST(ContactSolvers, ConvergeOnNearlyAllConvexProblems) {
  // Least share of 60 problems that each must solve to 1e-8 within its limits; the second-order methods and auto: all.
  const std::map<std::string, double> least = {{"auto", 1},           {"lemke", 1},
                                               {"interior-point", 1}, {"cone-interior-point", 1},
                                               {"newton-ac", 0.97},   {"newton-fb", 0.97},
                                               {"apgd", 0.95},        {"spectral-gradient", 0.95},
                                               {"admm", 0.8},         {"block-gauss-seidel", 0.9},
                                               {"gauss-seidel", 0.8}, {"sor", 0.8},
                                               {"jacobi", 0.5}};
  std::map<std::string, int> tried, converged;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    PileKind kind;
    kind.dimension = 1 + static_cast<int>(seed % 3);
    kind.bodies = 1 + static_cast<int>(seed % 5);
    kind.contacts = 1 + static_cast<int>(seed % 8);
    kind.full_mass = seed % 2 == 0;
    ContactProblem p = random_pile(seed, kind);
    p.friction = FrictionModel::convexified;
    for (const auto& [name, share] : least) {
      if (!refusal(p, name).empty()) continue;
      ContactOptions o;
      o.seconds = 2;
      ++tried[name];
      if (solve_contact(p, name, o).converged()) ++converged[name];
    }
  }
  for (const auto& [name, share] : least) {
    ASSERT_GT(tried[name], 10) << name;
    EXPECT_GE(converged[name], share * tried[name]) << name << ": " << converged[name] << " of " << tried[name];
  }
}

RC_GTEST_PROP(ContactSolvers, ReachTheToleranceWithExactFriction, ()) {
  PileKind kind;
  kind.dimension = *rc::gen::inRange(2, 4);
  kind.bodies = *rc::gen::inRange(1, 6);
  kind.contacts = *rc::gen::inRange(1, 9);
  kind.mu_high = 0.5;
  kind.bilateral = *rc::gen::inRange(0, 3);
  const ContactProblem p = random_pile(*rc::gen::arbitrary<std::uint64_t>(), kind);
  // Proven for convex problems only: with exact friction first-order methods may fail, and must say so; newton-fb too,
  // whose merit function has other stationary points (one problem of some hundreds). lemke, newton-ac and auto must
  // not.
  RC_ASSERT(solve_with_all(p, 1e-7,
                           {"jacobi", "gauss-seidel", "sor", "block-gauss-seidel", "apgd", "spectral-gradient",
                            "cone-interior-point", "admm", "newton-fb"}) == "");
}

RC_GTEST_PROP(ContactSolvers, SolvePyramidsWithBilateralRows, ()) {
  PileKind kind;
  kind.dimension = *rc::gen::inRange(2, 4);
  kind.bodies = *rc::gen::inRange(2, 5);
  kind.contacts = *rc::gen::inRange(1, 6);
  kind.mu_high = 0.5;
  kind.bilateral = *rc::gen::inRange(0, 3);
  ContactProblem p = random_pile(*rc::gen::arbitrary<std::uint64_t>(), kind);
  p.friction = FrictionModel::polyhedral;
  p.facets = *rc::gen::element(4, 8);
  RC_ASSERT(refusal(p, "lemke") == "" && refusal(p, "newton-fb") == "");
  RC_ASSERT(solve_with_all(p, 1e-7,
                           {"jacobi", "gauss-seidel", "sor", "block-gauss-seidel", "apgd", "spectral-gradient",
                            "cone-interior-point", "admm", "newton-fb"}) == "");
}

RC_GTEST_PROP(ContactSolvers, AutoSolvesHyperstaticProblemsWithFriction, ()) {
  PileKind kind;
  kind.dimension = *rc::gen::inRange(1, 4);
  kind.copies = true;
  kind.bodies = *rc::gen::inRange(1, 4);
  kind.contacts = *rc::gen::inRange(1, 10);
  kind.mu_high = *rc::gen::element(0.0, 0.3, 0.7);
  const ContactProblem p = random_pile(*rc::gen::arbitrary<std::uint64_t>(), kind);
  const ContactResult result = solve_contact(p);
  RC_ASSERT(result.converged());
  RC_ASSERT(plain_residual(p, result.r) < 1e-5);
}

TEST(ContactSolvers, MassRatiosOfAMillionAndLargeFriction) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    PileKind kind;
    kind.mass_ratio = 1e6;
    ContactProblem p = random_pile(seed, kind);
    EXPECT_TRUE(solve_contact(p).converged()) << "mass ratio, seed " << seed;
    kind.mass_ratio = 1;
    kind.mu_low = kind.mu_high = 3;
    p = random_pile(seed, kind);
    p.friction = FrictionModel::convexified;
    EXPECT_TRUE(solve_contact(p).converged()) << "mu = 3, seed " << seed;
    kind.mu_low = kind.mu_high = 0;
    const ContactResult frictionless = solve_contact(random_pile(seed, kind));
    ASSERT_TRUE(frictionless.converged()) << "mu = 0, seed " << seed;
    for (int i = 0; i < kind.contacts; ++i) EXPECT_EQ(frictionless.r.segment(3 * i + 1, 2).norm(), 0);
  }
}

TEST(ContactSolvers, BilateralRowsStayClosed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    PileKind kind;
    kind.bilateral = 3;
    const ContactProblem p = random_pile(seed, kind);
    for (const char* solver : {"auto", "block-gauss-seidel", "newton-ac", "cone-interior-point", "admm"}) {
      ContactOptions o;
      o.tolerance = 1e-7;
      o.seconds = 5;
      const ContactResult result = solve_contact(p, solver, o);
      EXPECT_TRUE(result.converged()) << solver << ", seed " << seed << ": " << result.message;
      EXPECT_LT(result.u.tail(3).norm(), 1e-6) << solver;
    }
  }
}

TEST(ContactSolvers, ThreadsDoNotChangeABit) {
  PileKind kind;
  kind.bodies = 1500;
  kind.contacts = 4500;  // above the size from which block Gauss-Seidel colours
  // Contacts among neighbours, sparse: built by hand, since random_pile is dense.
  trial::SplitMix64 random(7);
  std::vector<Eigen::Triplet<double>> H, M;
  for (int k = 0; k < 6 * kind.bodies; ++k) M.emplace_back(k, k, 1 + random.u());
  for (int i = 0; i < kind.contacts; ++i) {
    const int a = i % kind.bodies, b = (a + 1 + i / kind.bodies * 7) % kind.bodies;
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 6; ++j) {
        H.emplace_back(3 * i + k, 6 * a + j, random.s() + (k == 0 && j == 0 ? 2 : 0));
        if (i >= kind.bodies) H.emplace_back(3 * i + k, 6 * b + j, random.s());
      }
  }
  SparseRows mass(6 * kind.bodies, 6 * kind.bodies), rows(3 * kind.contacts, 6 * kind.bodies);
  mass.setFromTriplets(M.begin(), M.end());
  rows.setFromTriplets(H.begin(), H.end());
  Eigen::VectorXd f(6 * kind.bodies);
  for (double& x : f) x = random.s() - 0.5;
  const ContactProblem p = frictional_contact(3, mass, rows, f, Eigen::VectorXd::Zero(3 * kind.contacts),
                                              Eigen::VectorXd::Constant(kind.contacts, 0.3));
  for (const char* solver : {"block-gauss-seidel", "apgd", "spectral-gradient", "jacobi"}) {
    ContactOptions o;
    o.iterations = 30;
    const Eigen::VectorXd one = solve_contact(p, solver, o).r;
    o.threads = 2;
    const Eigen::VectorXd two = solve_contact(p, solver, o).r;
    EXPECT_GT(one.norm(), 0.1) << solver;
    EXPECT_EQ((one - two).cwiseAbs().maxCoeff(), 0) << solver;
  }
}

TEST(ContactSolvers, WarmStartNeedsFewerIterations) {
  PileKind kind;
  kind.bodies = 5;
  kind.contacts = 12;
  ContactProblem p = random_pile(3, kind);
  p.friction = FrictionModel::convexified;
  for (const char* solver : {"block-gauss-seidel", "gauss-seidel", "apgd", "spectral-gradient"}) {
    ContactOptions o;
    o.tolerance = 1e-8;
    const ContactResult cold = solve_contact(p, solver, o);
    ASSERT_TRUE(cold.converged()) << solver << cold.message;
    // As from one step to the next: the solution, wrong by one per mille.
    o.start = cold.r;
    for (Eigen::Index k = 0; k < o.start.size(); ++k) o.start[k] *= 1 + 1e-3 * std::sin(1.0 + static_cast<double>(k));
    const ContactResult warm = solve_contact(p, solver, o);
    ASSERT_TRUE(warm.converged()) << solver << warm.message;
    EXPECT_GT(warm.iterations, 0) << solver;
    EXPECT_LT(warm.iterations, 0.9 * cold.iterations) << solver;
    o.start = cold.r;
    EXPECT_EQ(solve_contact(p, solver, o).iterations, 0) << solver;
  }
}

TEST(ContactSolvers, JacobiWithStepsOfTheDiagonalWouldCycle) {
  // A = 1 1^T + 0.1 I: steps 1/A_ii go 0, 10/11, 0, ... for ever; ours are shorter and converge to 10/31.
  const Eigen::MatrixXd A = Eigen::MatrixXd::Ones(3, 3) + 0.1 * Eigen::MatrixXd::Identity(3, 3);
  const ContactResult result = solve_contact(linear_complementarity(A, Eigen::Vector3d::Constant(-1)), "jacobi");
  ASSERT_TRUE(result.converged()) << result.message;
  EXPECT_LT((result.r - Eigen::Vector3d::Constant(10.0 / 31)).norm(), 1e-7);
}

TEST(ContactProjection, PyramidIsNearestAndApproachesTheCone) {
  trial::SplitMix64 random(5);
  for (int round = 0; round < 200; ++round) {
    const double mu = 1.5 * random.u();
    const Eigen::Vector3d x(2 * random.s(), 2 * random.s(), 2 * random.s());
    Eigen::Vector3d fine = x, cone = x, coarse = x;
    project_on_pyramid(mu, 512, fine.data());
    project_on_pyramid(mu, 6, coarse.data());
    project_on_cone<3>(mu, cone.data());
    EXPECT_LT((fine - cone).norm(), 2e-2);
    // No corner of the pyramid is nearer than the projection.
    for (int j = 0; j < 6; ++j)
      for (const double t : {0.1, 0.5, 1.0, 2.0}) {
        const double angle = 2 * 3.141592653589793 * j / 6;
        const Eigen::Vector3d point = t * Eigen::Vector3d(1, mu * std::cos(angle), mu * std::sin(angle));
        EXPECT_LE((x - coarse).norm(), (x - point).norm() + 1e-12);
      }
    // What is left is orthogonal to the projection, as for every cone.
    EXPECT_NEAR((x - coarse).dot(coarse), 0, 1e-12);
  }
}

TEST(ContactProblem, BadInputIsNamed) {
  const auto message = [](const std::function<void()>& action) -> std::string {
    try {
      action();
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const auto has = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const ContactProblem good = trial::golden_chain(1, 3, 0.3);
  ContactProblem bad = good;
  bad.mu[1] = -0.1;
  has(message([&] { solve_contact(bad); }), {"mu of contact 1", "-0.1"});
  bad = good;
  bad.f[4] = std::nan("");
  has(message([&] { solve_contact(bad); }), {"f[4]", "nan", "finite"});
  bad = good;
  bad.M.coeffRef(7, 7) = 0;
  has(message([&] { solve_contact(bad); }), {"M(7, 7) = 0", "mass"});
  bad = good;
  bad.M.coeffRef(7, 7) = HUGE_VAL;
  has(message([&] { solve_contact(bad); }), {"M(7, 7)", "inf"});
  bad = good;
  bad.w.conservativeResize(8);
  has(message([&] { solve_contact(bad); }), {"w has 8 entries where 9"});
  bad = good;
  bad.H = SparseRows(9, 23);
  has(message([&] { solve_contact(bad); }), {"H is 9 x 23 where 9 x 24"});
  bad = good;
  for (int j = 0; j < 24; ++j)
    for (int k = 3; k < 6; ++k)
      if (bad.H.coeff(k, j) != 0) bad.H.coeffRef(k, j) = 0;
  has(message([&] { solve_contact(bad); }), {"contact 1", "no body moves"});
  bad = trial::written_out(good);
  bad.W.coeffRef(3, 3) = -1;
  has(message([&] { solve_contact(bad); }), {"contact 1 (normal row)", "negative"});
  has(message([&] { solve_contact(ContactProblem()); }), {"nothing to solve"});
  has(message([&] { solve_contact(good, "gauss-sidel"); }), {"gauss-sidel", "gauss-seidel"});
  ContactOptions o;
  o.tolerance = 0;
  has(message([&] { solve_contact(good, "auto", o); }), {"tolerance 0"});
  o = {};
  o.start = Eigen::VectorXd::Zero(5);
  has(message([&] { solve_contact(good, "auto", o); }), {"warm start has 5 entries where 9"});
  EXPECT_EQ(message([&] { solve_contact(good); }), "accepted");
}

}  // namespace
}  // namespace hinge::solver_test
