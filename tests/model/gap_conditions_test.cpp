// Claims: a gap may have conditions within it, by itself or by a name; what is a condition as a whole is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::test::gap_conditions_test {
namespace {

std::string scene(const std::string& gap, const std::string& define, const std::string& method, double end) {
  return fmt::format(R"toml({}
[lagrangian]
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
unilateral = [{{ gap = "{}", name = "lift" }}]
[initial]
position = {{ x = 0, y = 0 }}
velocity = {{ x = 1, y = 0 }}
[integrate]
method = "{}"
step = 0.005
end = {}
[output]
quantities = {{ height = "y" }}
)toml",
                     define, gap, method, end);
}

// A floor that begins to rise, and what stands on it.
TEST(GapConditions, AreReadWithinAGap) {
  Draw draw(3201);
  for (int trial = 0; trial < 8; ++trial) {
    const double begin = draw.number(0.3, 0.7), speed = draw.number(0.1, 0.5), end = draw.number(1, 1.5);
    const std::vector<std::string> forms = {"if(t < {0}, 0, {1}*(t - {0}))", "if({0} >= t, 0, {1}*(t - {0}))",
                                            "if(t > {0} and y > -1, {1}*(t - {0}), 0)"};
    const std::string floor = fmt::format(fmt::runtime(draw.one_of(forms)), begin, speed);
    const std::string method = trial % 2 == 0 ? "event-driven" : "moreau-jean";
    const double rise = speed * (end - begin), allowed = trial % 2 == 0 ? 1e-6 : 0.01 * speed;
    EXPECT_NEAR(value_of(run_text(scene("y - " + floor, "", method, end)), "height"), rise, allowed) << floor;
    EXPECT_NEAR(value_of(run_text(scene("y - hh", "[define]\nhh = \"" + floor + "\"\n", method, end)), "height"), rise,
                allowed)
        << floor;
  }
}

TEST(GapConditions, AreNoGapsThemselves) {
  for (const char* gap : {"y >= 0", "(y > if(t < 1, 0, 1))", "y = 0", "y == 0", "y >= 0 and x > 0", "not (y < 0)"})
    EXPECT_NE(complaint_about(scene(gap, "", "moreau-jean", 1)).find("write \"a - b\" for a >= b"), std::string::npos)
        << gap;
}

}  // namespace
}  // namespace hinge::test::gap_conditions_test
