// Lengths and rates of springs in [define], motors, states and in tensions of other springs, in any order.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::spring_names_test {
namespace {

using test::complaint_about;
using test::run_text;
using test::value_of;

struct Line {
  std::string length, rate;
};

// Three blocks on a rail; springs pull with what follows from lengths and rates of all springs. `named`: these are
// written as names, by [define] or as they are; else as positions of the blocks.
std::string blocks(unsigned seed, bool named) {
  Draw draw(seed);
  std::string bodies, joints;
  std::vector<std::string> springs, defines;
  std::vector<Line> lines;
  for (int i = 0; i < 3; ++i) {
    const std::string motor = i < 2 ? "" : "\nmotor = { force = \"MOTOR\" }";
    bodies += fmt::format("[[body]]\nname = \"b{}\"\nmass = {}\ninertia = 1\nposition = [{}, 0]\n", i,
                          draw.number(0.5, 2), i + 1);
    joints += fmt::format(
        "[[joint]]\nname = \"rail{0}\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"b{0}\"]\naxis = [1, 0]{1}\n", i,
        motor);
    lines.push_back(
        i == 0 ? Line{"b0[0]", "b0'[0]"}
               : Line{fmt::format("(b{}[0] - b{}[0])", i, i - 1), fmt::format("(b{}'[0] - b{}'[0])", i, i - 1)});
  }
  const auto length = [&](int i) -> std::string {
    if (!named) return lines[static_cast<std::size_t>(i)].length;
    if (draw.chance(0.5)) return fmt::format("s{}_length", i);
    defines.push_back(fmt::format("way{} = \"s{}_length\"", defines.size(), i));
    return fmt::format("way{}", defines.size() - 1);
  };
  const auto rate = [&](int i) { return named ? fmt::format("s{}_rate", i) : lines[static_cast<std::size_t>(i)].rate; };
  Draw numbers(seed + 1000);  // the same, however names are drawn
  const auto n = [&](double low, double high) { return numbers.number(low, high); };
  for (int i = 0; i < 3; ++i) {
    const int other = numbers.integer(0, 2);
    springs.push_back(
        fmt::format("[[spring]]\nname = \"s{}\"\nbodies = [\"{}\", \"b{}\"]\npoints = [[{}, 0], [{}, 0]]\ntension = "
                    "\"{}*(length - 1.1) + "
                    "{}*{} + {}*({} - 1) + state\"\n",
                    i, i == 0 ? "ground" : fmt::format("b{}", i - 1), i, i, i + 1, n(1, 9), n(0.1, 0.5), rate(i),
                    n(-2, 2), length(other)));
  }
  if (numbers.chance(0.5)) std::reverse(springs.begin(), springs.end());
  const std::string effort = fmt::format("{}*({} - 1) - {}*{}", n(-3, 3), length(numbers.integer(0, 2)), n(0.1, 1),
                                         rate(numbers.integer(0, 2)));
  joints.replace(joints.find("MOTOR"), 5, effort);
  const std::string law = fmt::format("{}*({} - 1) - state", n(-1, 1), length(numbers.integer(0, 2)));
  std::string text = "[states]\nstate = { rate = \"" + law + "\" }\n[define]\n";
  for (const std::string& d : defines) text += d + "\n";
  text += "[multibody]\ndimension = 2\n" + bodies + joints;
  for (const std::string& s : springs) text += s;
  return text + R"toml(
[integrate]
method = "explicit"
tolerance = 1e-10
end = 1
[output]
quantities = { x = "b0[0]", y = "b1[0]", z = "b2[0]" }
)toml";
}

TEST(SpringNames, StandForLengthsAndRatesWhereverForcesAreWritten) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Report by_name = run_text(blocks(seed, true)), by_position = run_text(blocks(seed, false));
    for (const char* x : {"x", "y", "z"})  // measured 1.8e-15
      EXPECT_NEAR(value_of(by_name, x), value_of(by_position, x), 1e-12) << x;
    EXPECT_TRUE(by_name.doubts.empty());
  }
}

TEST(SpringNames, ThatAreWrongAreNamedWithPlaceAndRemedy) {
  std::string text = blocks(0, true);
  const auto with = [&](const std::string& law) {
    std::string other = text;
    other.replace(other.find("[define]\n"), 9, "[define]\n" + law + "\n");
    return complaint_about(other);
  };
  EXPECT_EQ(with("mine = \"2*s1_length + s2_rate\""), "");
  EXPECT_NE(with("mine = \"s1_lenght\"").find("define.mine: unknown name 's1_lenght'; did you mean 's1_length'?"),
            std::string::npos);
  EXPECT_NE(with("mine = \"s3_length\"").find("define.mine: unknown name 's3_length'; did you mean 's"),
            std::string::npos);
  EXPECT_EQ(with("s1_length = 1"), "");  // a meaning of its own
  const std::size_t name = text.find("name = \"s1\"");
  text.replace(name, 11, "name = \"s0\"");
  EXPECT_NE(complaint_about(text).find("there is a spring 's0' already; choose another name"), std::string::npos);
}

}  // namespace
}  // namespace hinge::spring_names_test
