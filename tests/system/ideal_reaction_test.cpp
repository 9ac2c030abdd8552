// What multipliers do in large systems with ideal reactions is read off the rows, not derived.
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::ideal_reaction_test {
namespace {

using Q = Quantity;

// Points in space, rods between random ones, some driven: more than 5000 nodes.
std::shared_ptr<const System> random_net(std::mt19937& random) {
  Lagrangian l;
  const auto n = 150 + static_cast<int>(random() % 100);
  const Vector q = l.coordinates("q", {n, 3}), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[1]);
  const auto point = [&](std::size_t i) { return q.segment(3 * i, 3); };
  for (int i = 1; i < n; ++i) {
    const auto other = random() % static_cast<std::size_t>(i);
    const Vector d = point(static_cast<std::size_t>(i)) - point(other);
    const Expression length = random() % 4 == 0 ? 1.0 + 0.1 * sin(l.t()) : Expression(1.0 + 0.01 * i);
    l.constrain(0.5 * (dot(d, d) - length * length));
  }
  return l.build();
}

TEST(IdealReaction, OfLargeSystemsIsMinusTheRowsTransposed) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int k = 0; k < 3; ++k) {
    const auto system = random_net(random);
    const auto numbers = [&](int count) {
      std::vector<double> x(static_cast<std::size_t>(count));
      for (double& entry : x) entry = uniform(random);
      return x;
    };
    const std::vector<double> y = numbers(system->ny()), z = numbers(system->nz()), psi = numbers(system->npsi());
    const auto e = system->evaluation({Q::reaction_psi, Q::constraint_rate_z, Q::reaction});
    e->at(0.3, y.data(), z.data(), psi.data());
    std::map<std::pair<int, int>, double> rows;
    const Pattern &h = system->pattern(Q::constraint_rate_z), &r = system->pattern(Q::reaction_psi);
    for (int i = 0; i < h.rows; ++i)
      for (int at = h.row_start[static_cast<std::size_t>(i)]; at < h.row_start[static_cast<std::size_t>(i) + 1]; ++at)
        rows[{h.column[static_cast<std::size_t>(at)], i}] = (*e)[Q::constraint_rate_z][at];
    ASSERT_EQ(r.rows, system->nz());
    ASSERT_EQ(r.columns, system->npsi());
    ASSERT_EQ(r.entries(), rows.size());
    double off = 0;
    for (int i = 0; i < r.rows; ++i) {
      double sum = 0, size = 0;
      for (int at = r.row_start[static_cast<std::size_t>(i)]; at < r.row_start[static_cast<std::size_t>(i) + 1]; ++at) {
        const int j = r.column[static_cast<std::size_t>(at)];
        const double entry = (*e)[Q::reaction_psi][at];
        EXPECT_EQ(entry, -rows.at({i, j}));
        sum += entry * psi[static_cast<std::size_t>(j)];
        size += std::abs(entry * psi[static_cast<std::size_t>(j)]);
      }
      off = std::max(off, std::abs(sum - (*e)[Q::reaction][i]) / (size + 1e-300));
    }
    EXPECT_LT(off, 1e-14);  // measured 3.4e-16
  }
}

}  // namespace
}  // namespace hinge::ideal_reaction_test
