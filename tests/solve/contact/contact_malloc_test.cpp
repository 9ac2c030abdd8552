// A solver that has seen its largest problem allocates nothing: malloc is replaced here and counts.
#include <algorithm>

#include <gtest/gtest.h>

#include "solve/contact/body_piles.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "counting_malloc.hpp"

namespace hinge {
namespace {

TEST(ContactSolver, AllocatesNothingWhenProblemsDoNotGrow) {
  for (const int contacts : {30, 5000}) {  // natural order; colours
    testing::BodyPileKind kind;
    kind.bodies = contacts / 3;
    kind.contacts = contacts;
    kind.joints = 3;
    std::vector<BodyContactProblem> problems;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      problems.push_back(testing::body_pile(seed, kind));
      for (BodyContact& c : problems.back().contacts) c.mu *= 0.5;
      problems.back().friction = seed % 2 == 0 ? FrictionModel::convexified : FrictionModel::coulomb;
    }
    problems[2].contacts.pop_back();  // smaller
    const std::vector<ContactFrame> frames(
        problems[0].contacts.size(), {Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY(), Eigen::Vector3d::UnitZ()});
    const std::vector<ContactFrame> fewer(frames.begin(), frames.end() - 1);
    ContactOptions o;
    o.iterations = 8;
    ContactSolver solver(o, false);
    ContactMemory memory;
    std::vector<double> r;
    const auto step = [&](const BodyContactProblem& p) {
      const auto& f = p.contacts.size() == frames.size() ? frames : fewer;
      warm_start(p, f, 0.01, memory, r);
      solver.solve(p, r);
      remember(p, f, 0.01, r, memory);
    };
    step(problems[0]);
    step(problems[1]);
    step(problems[1]);  // memory for warm starts has its size now
    const long before = allocations;
    for (const std::size_t k : {2u, 3u, 1u, 2u, 0u}) step(problems[k]);
    EXPECT_EQ(allocations - before, 0) << contacts;
    EXPECT_GT(*std::max_element(r.begin(), r.end()), 0);
  }
}

}  // namespace
}  // namespace hinge

#endif
