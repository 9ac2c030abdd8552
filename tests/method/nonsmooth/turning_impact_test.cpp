// Impacts of paoli-schatzman that take two steps: right, or the doubt is said. Without forces the law of impact is
// exact, and a step of moreau-jean has it.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::turning_impact_test {
namespace {

struct Outcome {
  std::vector<double> velocity;
  bool doubtful;
};
Outcome run(const Lagrangian& l, const Start& start, const MethodChoice& method, double h, double end) {
  Simulation simulation(l, method, {.step = h});
  simulation.start(start);
  simulation.until(end);
  const Report r = simulation.report();
  const bool turned = std::any_of(r.doubts.begin(), r.doubts.end(),
                                  [](const Doubt& d) { return d.cause.find("two steps") != std::string::npos; });
  return {simulation.state().z, turned};
}
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

// u = W r + u-, W = [[1, c], [c, w]]: a point of a rod, say.
Lagrangian coupled(double c, double w, double e, double mu) {
  Lagrangian l;
  const Expression n = l.coordinate("n"), t = l.coordinate("t"), vn = l.velocity(n), vt = l.velocity(t);
  l.kinetic(0.5 / (w - c * c) * (w * vn * vn - 2 * c * vn * vt + vt * vt));
  l.unilateral(n, {.name = "wall", .restitution = e, .friction = mu, .slip = {vt}});
  return l;
}

TEST(TurningImpacts, OneContactIsRightOrDoubtful) {
  Draw draw(11);
  int turned = 0, right = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const double w = draw.number(0.5, 4), c = draw.chance(0.3) ? 0 : draw.number(-0.95, 0.95) * std::sqrt(w);
    const Lagrangian l = coupled(c, w, draw.chance(0.2) ? 0 : draw.number(0, 1), draw.number(0.1, 0.6));
    const Start start{.position = {1, 0}, .velocity = {-draw.number(0.5, 2), draw.number(-2, 2)}};
    const double h = draw.number(0.005, 0.02);
    const Outcome exact = run(l, start, moreau_jean(), h, 3), tried = run(l, start, paoli_schatzman(), h, 3);
    const double error = distance(tried.velocity, exact.velocity), size = distance(exact.velocity, start.velocity);
    if (!tried.doubtful) {
      EXPECT_LT(error, 0.02 * size * std::max(1.0, w)) << trial << " c " << c << " w " << w;
    }
    if (c == 0) {
      EXPECT_LT(error, 1e-12) << trial;
      EXPECT_FALSE(tried.doubtful) << trial;
    }
    ++(tried.doubtful ? turned : right);
  }
  EXPECT_GT(turned, 10);
  EXPECT_GT(right, 150);
}

// A point slides along a floor, without friction or with it, into a wall with friction; floor and wall are oblique.
TEST(TurningImpacts, TwoContactsAreRightOrDoubtful) {
  Draw draw(12);
  int turned = 0, right = 0;
  for (int trial = 0; trial < 100; ++trial) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 3), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v));
    const double slope = draw.chance(0.3) ? 0 : draw.number(-0.5, 0.5);
    l.unilateral(q[2] + slope * q[0], {.name = "floor"});
    l.unilateral(1.0 - q[0], {.name = "wall",
                              .restitution = draw.number(0, 1),
                              .friction = draw.chance(0.2) ? 0 : draw.number(0.1, 0.8),
                              .slip = {v[1], v[2]}});
    const double speed = draw.number(0.5, 2);
    const Start start{.position = {0, 0, 0}, .velocity = {speed, draw.number(-2, 2), -slope * speed}};
    const double h = draw.number(0.005, 0.02);
    const Outcome exact = run(l, start, moreau_jean(), h, 3), tried = run(l, start, paoli_schatzman(), h, 3);
    const double error = distance(tried.velocity, exact.velocity), size = distance(exact.velocity, start.velocity);
    if (!tried.doubtful) {
      EXPECT_LT(error, 0.03 * size) << trial << " slope " << slope;
    }
    if (slope == 0) {
      EXPECT_FALSE(tried.doubtful) << trial;
    }
    ++(tried.doubtful ? turned : right);
  }
  EXPECT_GT(turned, 10);
  EXPECT_GT(right, 30);
}

}  // namespace
}  // namespace hinge::turning_impact_test
