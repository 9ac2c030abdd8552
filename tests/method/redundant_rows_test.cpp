// Constraints that follow from others: every method sees the independent ones, the motion is that of the model without
// the others, and the multipliers of all rows are those of least norm.
#include "method/redundant_rows.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "formulation/start/redundancy.hpp"
#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::redundant_rows_test {
namespace {

struct Way {
  std::string name, options;
};
void PrintTo(const Way& w, std::ostream* out) { *out << w.name; }

// A double pendulum of points; constraints are added to the two rods.
std::string model(const std::string& more, const Way& way, double end = 0.5) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"a[2]\", \"b[2]\"]\nkinetic = \"dot(a', a')/2 + 3*dot(b', b')/2\"\n"
      "potential = \"9.81*(a[1] + 3*b[1])\"\nconstraints = [\"(dot(a,a) - 1)/2\", \"(dot(b-a,b-a) - 4)/2\"{}]\n"
      "[initial]\nposition = {{ a = [0.6, -0.8], b = [2.6, -0.8] }}\nvelocity = {{ a = [0.8, 0.6], b = [0.8, 1] }}\n"
      "[integrate]\nmethod = \"{}\"\nend = {}\n{}",
      more, way.name, end, way.options);
}

struct Result {
  State state;
  Report report;
};
Result run(const std::string& text) {
  const Model m = parse_model(text, "m.toml");
  Simulation s(m.system, m.choice, m.simulation);
  s.start(m.start);
  s.until(m.end);
  return {s.state(), s.report()};
}

std::vector<Way> ways() {
  const std::string step = "step = 0.01\n", tolerance = "tolerance = 1e-9\n";
  std::vector<Way> list{{"gauss-lobatto", step + "stages = 2\n"},
                        {"lobatto-iiia-iiib", step + "stages = 3\n"},
                        {"rattle", step},
                        {"shake", step},
                        {"symplectic-euler", step},
                        {"composition", step + "base = \"symplectic-euler\"\norder = 4\n"},
                        {"energy-momentum", step},
                        {"half-explicit", step},
                        {"generalized-alpha", step},
                        {"moreau-jean", step},
                        {"bdf", step},
                        {"radau", step},
                        {"explicit", step},
                        {"explicit", tolerance},
                        {"half-explicit", tolerance},
                        {"bdf", tolerance},
                        {"radau", tolerance},
                        {"auto", tolerance}};
  for (const char* formulation : {"index-1", "index-2", "index-3", "ggl", "baumgarte", "extended",
                                  "projected-invariants", "coordinate-partitioning", "tangent-space"})
    list.push_back({"radau", step + fmt::format("formulation = \"{}\"\n", formulation)});
  return list;
}

class Redundant : public testing::TestWithParam<Way> {};

// Copies, scaled, and sums of rows, of random sizes: the motion is the same.
TEST_P(Redundant, MovesAsTheModelWithoutTheOthers) {
  const Way way = GetParam();
  Result plain;
  try {
    plain = run(model("", way));
  } catch (const InputError& e) {
    GTEST_SKIP() << e.what();
  }
  for (unsigned seed = 0; seed < 3; ++seed) {
    Draw draw(seed);
    const double c = std::pow(10, draw.number(-3, 3)), d = std::pow(10, draw.number(-3, 3)), e = draw.number(-2, 2);
    const std::string more =
        fmt::format(", \"{}*(dot(a,a) - 1)\", \"{}*((dot(b-a,b-a) - 4)/2 + {}*(dot(a,a) - 1))\"", c, d, e);
    const Result r = run(model(more, way));
    double off = 0;
    for (std::size_t i = 0; i < 4; ++i) off = std::max(off, std::abs(r.state.y[i] - plain.state.y[i]));
    EXPECT_LT(off, way.options.find("tolerance") == 0 ? 1e-7 : 1e-9)
        << way.name << " " << more;  // measured 1.4e-10, other coordinates partitioned
    const auto force = [](const System& system, const State& s) {
      const auto at = system.evaluation({Quantity::reaction});
      at->at(s.t, s.y.data(), s.z.data(), s.psi.data());
      return std::vector<double>((*at)[Quantity::reaction], (*at)[Quantity::reaction] + 4);
    };
    const auto with = force(*parse_model(model(more, way), "m.toml").system, r.state);
    const auto without = force(*parse_model(model("", way), "m.toml").system, plain.state);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(with[i], without[i], 1e-5 * (1 + std::abs(without[i])));
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, Redundant, testing::ValuesIn(ways()), [](const auto& w) {
  std::string name = fmt::format("{}_{}", w.param.name, w.index);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// Least norm, in the metric that is stated: two equal rods carry half each; a copy that is 10 times as steep carries
// the same force with a tenth of the multiplier.
TEST(Redundancy, MultipliersHaveLeastNorm) {
  const Way way{"gauss-lobatto", "step = 0.01\n"};
  const Result one = run(model("", way)), two = run(model(", \"5*(dot(a,a) - 1)\"", way));
  EXPECT_NEAR(two.state.psi[0], one.state.psi[0] / 2, 1e-9);
  EXPECT_NEAR(two.state.psi[2], one.state.psi[0] / 20, 1e-10);
  EXPECT_NEAR(two.state.psi[1], one.state.psi[1], 1e-9);
  bool said = false;
  for (const std::string& remark : two.report.remarks)
    said = said || remark.find("1 of 3 constraints follow from the others (rank 2)") == 0;
  EXPECT_TRUE(said);
}

// Controls: contradictions and positions that are singular for an instant are no redundancy.
TEST(Redundancy, ContradictionsAreNamed) {
  const Way way{"radau", "tolerance = 1e-6\n"};
  const auto refusal = [&](const std::string& more) {
    try {
      run(model(more, way));
    } catch (const RedundantConstraints& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string twice = refusal(", \"dot(a,a) - 1.001\"");
  EXPECT_NE(twice.find("contradict"), std::string::npos) << twice;
  EXPECT_NE(twice.find("constraint 2"), std::string::npos) << twice;
  const std::string moving = refusal(", \"dot(a,a) - 1 - t\"");
  EXPECT_NE(moving.find("changes with time, at the rate"), std::string::npos) << moving;
  EXPECT_EQ(refusal(", \"dot(a,a) - 1\""), "");
}

TEST(Redundancy, ASingularPositionIsNone) {
  // a tangent to the circle touches it at one point
  const Way way{"radau", "tolerance = 1e-6\n"};
  EXPECT_THROW(run(model(", \"0.6*a[0] - 0.8*a[1] - 1\"", way)), RedundantConstraints);
}

}  // namespace
}  // namespace hinge::redundant_rows_test
