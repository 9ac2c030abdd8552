// A motion that a motor prescribes jumps, or it does not: moves there and back that cancel, in any unit, and a control.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::motor_jumps_test {
namespace {

using test::complaint_about;

// From 0 to 1, between `from` and `from + length`, on one of seven ways.
std::string move(Draw& draw, double from, double length) {
  const std::string x = fmt::format("((t - {:.17g})/{:.17g})", from, length);
  switch (draw.integer(0, 6)) {
    case 0: return fmt::format("ramp({})", x);
    case 1: return fmt::format("smooth({})", x);
    case 2: return fmt::format("quintic(ramp({}))", x);
    case 3: return fmt::format("if({0} < 0, 0, if({0} < 1, (1 - cos(pi*{0}))/2, 1))", x);
    case 4: return fmt::format("sin(pi/2*ramp({}))^2", x);
    case 5: return fmt::format("line({})", x);
    default: return fmt::format("curve({})", x);
  }
}

std::string model_with(const std::string& motion, double end) {
  return fmt::format(R"toml(
[functions]
ramp = "x -> min(max(x, 0), 1)"
smooth = "x -> if(x < 0, 0, if(x > 1, 1, x^2*(3 - 2*x)))"
quintic = "x -> x^3*(10 - 15*x + 6*x^2)"
[tables]
line = {{ points = [[-1, 0], [0, 0], [0.3, 0.6], [1, 1], [2, 1]], kind = "linear", beyond = "constant" }}
curve = {{ points = [[-1, 0], [0, 0], [0.3, 0.6], [1, 1], [2, 1]], kind = "monotone", beyond = "constant" }}
[multibody]
dimension = 2
[[body]]
name = "arm"
mass = 1
inertia = 1
position = [0.25, 0]
[[joint]]
name = "shoulder"
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0]
motor = {{ angle = "{}" }}
[integrate]
step = {:.17g}
end = {:.17g}
)toml",
                     motion, end / 300, end);
}

TEST(MotorJumps, AreNotSeenInMovesThereAndBackThatCancel) {
  Draw draw(7);
  for (int k = 0; k < 60; ++k) {
    const double unit = draw.power(-6, 6), from = draw.number(0.1, 1), back = from + draw.number(1.05, 2),
                 end = 5 * unit;
    const double size = draw.power(-4, 1);
    const std::string there = move(draw, from * unit, draw.power(-2.5, 0) * unit),
                      again = move(draw, back * unit, draw.power(-2.5, 0) * unit);
    const std::string motion = fmt::format("{0:.17g}*{1} - {0:.17g}*{2}", size, there, again);
    EXPECT_EQ(complaint_about(model_with(motion, end)), "") << k << ": " << motion;
    // the control: a jump by a millionth of the way, in the middle of the rest
    const std::string jump = fmt::format("{} + if(t < {:.17g}, 0, {:.17g})", motion, 0.05 * unit, 1e-6 * size);
    EXPECT_NE(complaint_about(model_with(jump, end)).find("jumps at t ="), std::string::npos) << k << ": " << jump;
  }
}

TEST(MotorJumps, OfSpeedsAreNotSeenInMovesThereAndBackThatCancel) {
  const auto with = [](const char* speed) {
    std::string text = model_with("0", 3);
    const std::string from = "angle = \"0\"";
    return text.replace(text.find(from), from.size(), fmt::format("speed = \"{}\", jump = \"refuse\"", speed));
  };
  EXPECT_EQ(complaint_about(with("ramp((t - 0.5)/0.5) - ramp((t - 2)/0.5)")), "");
  EXPECT_EQ(complaint_about(with("0.3*min(1, max(0, 3*(t - 0.7))) - 0.3*min(1, max(0, 3*(t - 2.1)))")), "");
  EXPECT_NE(complaint_about(with("ramp((t - 0.5)/0.5) - if(t < 2, 0, 1)")).find("speed jumps at t = 2"),
            std::string::npos);
}

}  // namespace
}  // namespace hinge::motor_jumps_test
