// Claims about initial values of DAEs: what is given is kept where it can be, the rest is computed, and what cannot be
// is refused with a reason.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "random_draw.hpp"

namespace hinge::dae_start_test {
namespace {

const std::string pendulum =
    "[dae]\nunknowns = [\"x\", \"y\", \"u\", \"v\", \"L\"]\n"
    "equations = [\"x' = u\", \"y' = v\", \"u' = -2*x*L\", \"v' = -2*y*L - 9.81\", \"x^2 + y^2 = 1\"]\n"
    "[integrate]\nmethod = \"rattle\"\n[initial]\n";

struct Found {
  State state;
  std::string remarks, complaint;
};

Found start(const std::string& text) {
  Found found;
  try {
    const Model model = parse_model(text, "m.toml");
    std::vector<std::string> remarks;
    found.state = consistent_start(*model.system, 0, model.start, &remarks);
    for (const std::string& r : remarks) found.remarks += r + "\n";
  } catch (const InputError& e) {
    found.complaint = e.what();
  }
  return found;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(DaeStart, ComputesWhatIsNotGiven) {
  // x = 0.6, u = -0.8 w: the rest follows, up to the branch of y
  const Found f = start(pendulum + "unknowns = { x = 0.6, v = 0.9 }\nguess = { y = 1 }\n");
  ASSERT_EQ(f.complaint, "");
  const auto& x = f.state.y;
  EXPECT_EQ(x[0], 0.6);
  EXPECT_EQ(x[3], 0.9);
  EXPECT_NEAR(x[1], 0.8, 1e-14);
  EXPECT_NEAR(x[2], -0.8 * 0.9 / 0.6, 1e-14);
  const double lambda = (x[2] * x[2] + x[3] * x[3] - 9.81 * x[1]) / 2;  // 2 L |p|^2 = |v|^2 - g y
  EXPECT_NEAR(x[4], lambda, 1e-13);
  // and the derivatives, also that of L:  L' = -3 g v / 2, from differentiating once more
  EXPECT_NEAR(f.state.z[0], x[2], 1e-14);
  EXPECT_NEAR(f.state.z[3], -2 * x[1] * x[4] - 9.81, 1e-12);
  EXPECT_NEAR(f.state.z[4], -1.5 * 9.81 * x[3], 1e-11);
  EXPECT_TRUE(has(f.remarks, "computed: y, u, L")) << f.remarks;
  EXPECT_FALSE(has(f.remarks, "free")) << f.remarks;
}

TEST(DaeStart, SaysWhatWasFree) {
  const Found f = start(pendulum + "unknowns = { x = 0.6 }\nguess = { y = 1 }\n");
  ASSERT_EQ(f.complaint, "");
  EXPECT_TRUE(has(f.remarks, "1 more may be given")) << f.remarks;
  EXPECT_TRUE(has(f.remarks, "free: u, v")) << f.remarks;
  EXPECT_NEAR(f.state.y[1], 0.8, 1e-13);  // measured 2.6e-14
  EXPECT_NEAR(0.6 * f.state.y[2] + 0.8 * f.state.y[3], 0, 1e-13);
}

// As for the mechanical system, whose golden this is but for the metric: p is projected radially, v onto the tangent.
TEST(DaeStart, RefusesInconsistentValuesAndProjectsOnRequest) {
  const std::string values = "unknowns = { x = 1.1, y = -0.2, u = 0.3, v = 1 }\n";
  const Found refused = start(pendulum + values);
  EXPECT_TRUE(has(refused.complaint, "inconsistent")) << refused.complaint;
  EXPECT_TRUE(has(refused.complaint, "equation 4 \"x^2 + y^2 = 1\" is violated by 0.25")) << refused.complaint;
  EXPECT_TRUE(has(refused.complaint, "nearest consistent values")) << refused.complaint;
  const Found used = start(pendulum + values + "consistent = \"project\"\n");
  ASSERT_EQ(used.complaint, "");
  const auto& x = used.state.y;
  EXPECT_NEAR(x[0] * x[0] + x[1] * x[1], 1, 1e-14);
  EXPECT_NEAR(x[0] * x[2] + x[1] * x[3], 0, 1e-14);
  EXPECT_TRUE(has(used.remarks, "changed: x 1.1 -> ")) << used.remarks;
  const Found fixed = start(pendulum + "unknowns = { x = 0.9, y = -0.2, u = 0.3, v = 1 }\nfixed = [\"x\", \"v\"]\n" +
                            "consistent = \"project\"\n");
  ASSERT_EQ(fixed.complaint, "");
  EXPECT_EQ(fixed.state.y[0], 0.9);
  EXPECT_EQ(fixed.state.y[3], 1);
  EXPECT_NEAR(fixed.state.y[1], -std::sqrt(1 - 0.81), 1e-14);
}

TEST(DaeStart, RefusesTheImpossible) {
  const Found f = start(pendulum + "unknowns = { x = 2, y = 0.5 }\nfixed = [\"x\"]\nconsistent = \"project\"\n");
  EXPECT_TRUE(has(f.complaint, "no consistent values were found with x fixed")) << f.complaint;
  EXPECT_TRUE(has(f.complaint, "x^2 + y^2 = 1")) << f.complaint;
}

TEST(DaeStart, NamesSingularPoints) {
  // the impasse of the reduced van der Pol equation: z = 1
  const std::string model =
      "[dae]\nunknowns = [\"y\", \"z\"]\nequations = [\"y' = -z\", \"y - z^3/3 + z\"]\n"
      "[integrate]\nmethod = \"rattle\"\n[initial]\n";
  const Found impasse = start(model + "unknowns = { z = 1 }\n");
  EXPECT_TRUE(has(impasse.complaint, "singular at the initial values")) << impasse.complaint;
  EXPECT_TRUE(has(impasse.complaint, "z")) << impasse.complaint;
  const Found regular = start(model + "unknowns = { z = 2 }\n");
  EXPECT_EQ(regular.complaint, "");
  EXPECT_NEAR(regular.state.y[0], 2.0 / 3, 1e-15);
  EXPECT_NEAR(regular.state.z[1], -2.0 / 3, 1e-14);  // y' = (z^2 - 1) z'
}

// A number that vanishes carries the rounding of large ones beside it; that is no contradiction.
TEST(DaeStart, TakesRoundingForWhatItIs) {
  const Found f = start(
      "[dae]\nunknowns = [\"a\", \"b\", \"c\", \"d\"]\nequations = [\"a' = -1000*a + b\", \"b' = -a - 2e6*b + c\", "
      "\"c' = d + a\", \"c = sin(t)\"]\n[integrate]\nmethod = \"radau\"\n[initial]\nunknowns = { a = 1, b = 0 }\n");
  ASSERT_EQ(f.complaint, "");
  EXPECT_NEAR(f.state.y[2], 0, 1e-12);
  EXPECT_NEAR(f.state.y[3], 0, 1e-12);  // d = cos(0) - a
}

TEST(DaeStart, NamesEquationsThatAreNoNumbers) {
  const Found f = start(
      "[dae]\nunknowns = [\"x\"]\nequations = [\"x' + sqrt(x)\"]\n[integrate]\nmethod = \"rattle\"\n"
      "[initial]\nunknowns = { x = -1 }\n");
  EXPECT_TRUE(has(f.complaint, "\"x' + sqrt(x)\" is not a number")) << f.complaint;
}

// Digits that were typed are right where the equations hold for numbers that round to them, however much an equation
// magnifies the rest.
TEST(DaeStart, TakesValuesThatAreRightToTheDigitsTyped) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const double small = draw.power(-6, 0), level = draw.power(-3, 3), off = draw.power(-16, -11) * level;
    const std::string model = fmt::format(
        "[dae]\nunknowns = [\"a\", \"b\", \"u\", \"v\"]\nequations = [\"a' = -(u - {0})/{1}\", \"b' = -(v - "
        "{0})/{1}\", \"a = 0.6*(u - v)\", \"b = 0.6*(v - u)\"]\n[integrate]\nmethod = \"radau\"\n[initial]\n",
        level, small);
    const Found f = start(model + fmt::format("unknowns = {{ u = {}, v = {} }}\n", level, level + off));
    ASSERT_EQ(f.complaint, "");
    EXPECT_FALSE(has(f.remarks, "changed")) << f.remarks;
    EXPECT_NEAR(f.state.y[2], level, 1e-9 * level);
    EXPECT_NEAR(f.state.y[3], level, 1e-9 * level);
    EXPECT_NEAR(f.state.y[2] + f.state.y[3], 2 * level, 1e-13 * level);
    // more than that is no rounding
    const Found wrong = start(model + fmt::format("unknowns = {{ u = {}, v = {} }}\n", level, 1.001 * level));
    EXPECT_TRUE(has(wrong.complaint, "inconsistent")) << wrong.complaint;
  }
}

// w has to go far, and does not draw a and b with it; c need not move, and stays to the last bit.
TEST(DaeStart, MovesGivenValuesNoFurtherThanTheyMust) {
  const Found f = start(
      "[dae]\nunknowns = [\"a\", \"b\", \"c\", \"w\"]\nequations = [\"a' = -a\", \"a - b\", \"c' = w\", "
      "\"w - 50*a - 20\"]\n[integrate]\nmethod = \"radau\"\n[initial]\nunknowns = { a = 1, b = 1.2, c = 0.3 }\n"
      "consistent = \"project\"\n");
  ASSERT_EQ(f.complaint, "");
  EXPECT_NEAR(f.state.y[0], 1.1, 1e-12);
  EXPECT_NEAR(f.state.y[1], 1.1, 1e-12);
  EXPECT_EQ(f.state.y[2], 0.3);
  EXPECT_NEAR(f.state.y[3], 75, 1e-10);
  EXPECT_TRUE(has(f.remarks, "changed: a 1 -> 1.1, b 1.2 -> 1.1\n")) << f.remarks;
}

}  // namespace
}  // namespace hinge::dae_start_test
