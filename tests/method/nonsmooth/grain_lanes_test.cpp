// Sweeps with several contacts at once against one after the other.
#include "method/nonsmooth/grain_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "hinge/multibody.hpp"
#include "method/nonsmooth/grain_host.hpp"

namespace hinge::grain_lanes_test {
namespace {

using grain::Int2;
using grain::Wide4;

// Contacts of one colour, drawn at random: sticking, sliding, open, at walls, without change.
struct Colour {
  std::vector<Int2> pair;
  std::vector<Wide4> normal, data, reaction, last, v, w;
};

Colour colour_of(RandomNumbers& random) {
  Colour c;
  const auto draw = [&] { return random.uniform() < 0.1 ? -0.0 : random.normal(); };
  const int contacts = 1 + static_cast<int>(20 * random.uniform()), grains = 2 * contacts, walls = 2;
  for (int i = 0; i < grains + walls; ++i) {
    const double mass = i < grains ? 0.5 + random.uniform() : 0;
    c.v.push_back({draw(), draw(), draw(), mass});
    c.w.push_back({draw(), draw(), draw(), 2 * mass});
  }
  for (int k = 0; k < contacts; ++k) {
    const bool wall = random.uniform() < 0.2;
    c.pair.push_back({2 * k, wall ? grains + k % walls : 2 * k + 1});
    const Eigen::Vector3d n = Eigen::Vector3d(random.normal(), random.normal(), random.normal()).normalized();
    const double turn = random.uniform(), mass = c.v[at(c.pair.back().x)].w + c.v[at(c.pair.back().y)].w;
    c.normal.push_back({n[0], n[1], n[2], 2 * random.normal()});
    c.data.push_back({random.uniform(), wall ? 0 : random.uniform(), random.uniform() < 0.2 ? 0.0 : random.uniform(),
                      1 / (mass + turn)});
    for (auto* r : {&c.reaction, &c.last}) {
      const bool open = random.uniform() < 0.5;
      const Eigen::Vector3d t = Eigen::Vector3d(random.normal(), random.normal(), random.normal()).cross(n);
      r->push_back(open ? Wide4{0, 0, 0, 0} : Wide4{random.uniform(), 0.1 * t[0], 0.1 * t[1], 0.1 * t[2]});
    }
  }
  return c;
}

bool same_bits(const std::vector<Wide4>& a, const std::vector<Wide4>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Wide4)) == 0;
}

TEST(GrainLanes, HaveTheBitsOfOneContactAfterTheOther) {
  RandomNumbers random(11);
  int changed = 0, kept = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    const Colour start = colour_of(random);
    const int n = static_cast<int>(start.pair.size());
    const double beta = draw % 3 == 0 ? 0 : 0.9 * random.uniform();
    // reactions go to where those before the last sweep are, or are overwritten
    const bool elsewhere = draw % 2 == 0 || beta != 0;
    const auto swept = [&](const grain::Lanes& lanes, double& residual) {
      Colour c = start;
      const grain::LaneSweep s{beta,          c.pair.data(),     c.normal.data(),
                               c.data.data(), c.reaction.data(), elsewhere ? c.last.data() : c.reaction.data(),
                               c.v.data(),    c.w.data()};
      if (lanes.sweep_colour) {
        lanes.sweep_colour(s, 0, n);
        residual = lanes.largest_residual(s, 0, n);
        return c;
      }
      residual = 0;
      for (int k = 0; k < n; ++k)
        grain::update_contact(k, s.beta, s.pair, s.normal, s.data, s.reaction, s.to, s.v, s.w);
      for (int k = 0; k < n; ++k)
        residual = std::max(residual, grain::residual_of(k, s.pair, s.normal, s.data, s.reaction, s.v, s.w));
      return c;
    };
    double residual = 0, in_lanes = 0;
    const Colour one_by_one = swept({}, residual);
    for (const grain::Lanes& lanes : grain::lanes_of_this_machine()) {
      const Colour c = swept(lanes, in_lanes);
      EXPECT_EQ(in_lanes, residual) << draw;
      EXPECT_TRUE(same_bits(c.reaction, one_by_one.reaction) && same_bits(c.last, one_by_one.last)) << draw;
      EXPECT_TRUE(same_bits(c.v, one_by_one.v) && same_bits(c.w, one_by_one.w)) << draw;
    }
    for (int k = 0; k < n; ++k)
      ++(std::memcmp(&start.v[at(2 * k)], &one_by_one.v[at(2 * k)], sizeof(Wide4)) == 0 ? kept : changed);
  }
  EXPECT_GT(changed, 10000);
  EXPECT_GT(kept, 3000);
}

TEST(GrainLanes, SayWhereAResidualIsNoNumber) {
  RandomNumbers random(12);
  for (int draw = 0; draw < 100; ++draw) {
    Colour c = colour_of(random);
    const int n = static_cast<int>(c.pair.size()), bad = static_cast<int>(n * random.uniform());
    c.v[at(2 * bad)].x = NAN;
    const grain::LaneSweep s{
        0, c.pair.data(), c.normal.data(), c.data.data(), c.reaction.data(), c.reaction.data(), c.v.data(), c.w.data()};
    for (const grain::Lanes& lanes : grain::lanes_of_this_machine())
      EXPECT_EQ(lanes.largest_residual(s, 0, n), HUGE_VAL) << draw;
  }
}

}  // namespace
}  // namespace hinge::grain_lanes_test
