// A solver that has seen its largest problem allocates nothing: malloc is replaced here and counts.
#include <algorithm>

#include <gtest/gtest.h>

#include "solve/contact/body_piles.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "counting_malloc.hpp"

namespace hinge::contact_malloc_test {
namespace {

TEST(ContactSolver, AllocatesNothingWhenProblemsDoNotGrow) {
  for (const int contacts : {30, 5000}) {  // natural order; colours
    trial::BodyPileKind kind;
    kind.bodies = contacts / 3;
    kind.contacts = contacts;
    kind.joints = 3;
    std::vector<ContactProblem> problems;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      kind.contacts = seed == 3 ? contacts - 1 : contacts;  // smaller
      problems.push_back(trial::body_pile(seed, kind));
      for (double& mu : problems.back().mu) mu *= 0.5;
      problems.back().friction = seed % 2 == 0 ? FrictionModel::convexified : FrictionModel::coulomb;
    }
    ContactOptions o;
    o.iterations = 8;
    ContactSolver solver("block-gauss-seidel", o);
    std::vector<double> r;
    solver.solve(problems[0], r);
    solver.solve(problems[1], r);
    const long before = allocations;
    for (const std::size_t k : {2u, 3u, 1u, 2u, 0u}) solver.solve(problems[k], r);
    EXPECT_EQ(allocations - before, 0) << contacts;
    EXPECT_GT(*std::max_element(r.begin(), r.end()), 0);
  }
}

}  // namespace
}  // namespace hinge::contact_malloc_test

#endif
