// Motions far from the origin, where rounding of positions is all that velocities and forces are known to: steps of
// given length go on, and lead to the same place.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "model/run_text.hpp"
#include "random_draw.hpp"

namespace hinge::far_away_test {
namespace {

const char* const models[] = {
    // a pendulum below a cart on a spring
    R"x([lagrangian]
coordinates = ["x", "a"]
kinetic = "m/2*(x'^2 + 2*x'*a'*cos(a) + a'^2) + m/2*x'^2"
potential = "-m*9.81*cos(a) + m*k/2*(x - c)^2"
[initial]
position = { x = "c", a = 1 }
)x",
    // a stiff spring, and a motion across it that begins at rest
    R"x([lagrangian]
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*9.81*y + 1e3*k*m/2*(sqrt((x - c)^2 + (y - c)^2) - 1)^2"
[initial]
position = { x = "c + 1", y = "c" }
)x",
    R"x([multibody]
gravity = [0, -9.81]
[[body]]
name = "a"
mass = "m"
inertia = "m/12"
position = ["c + 0.5", "c"]
[[joint]]
type = "revolute"
bodies = ["ground", "a"]
point = ["c", "c"]
[output]
quantities = { X = "a[0] - c", Y = "a[1] - c" }
)x"};

struct Case {
  int kind;
  double m, k, step;
  std::string text(double c) const {
    const char* quantities = kind == 0   ? "[output]\nquantities = { X = \"x - c\", Y = \"a\" }\n"
                             : kind == 1 ? "[output]\nquantities = { X = \"x - c\", Y = \"y - c\" }\n"
                                         : "";
    const char* form = kind == 2 && k > 10 ? "formulation = \"ggl\"\n" : "";
    return fmt::format(
        "[parameters]\nc = {}\nm = {}\nk = {}\n{}{}[integrate]\nmethod = \"radau\"\nstep = {}\nend = {}\n{}", c, m, k,
        models[kind], quantities, step, 100 * step, form);
  }
};

Case draw(Draw& d, int kind) { return {kind, d.power(-1, 1), d.number(1, 30), d.power(-2.7, -2)}; }

double apart(const Case& one, double c) {
  const Report here = test::run_text(one.text(1)), there = test::run_text(one.text(c));
  double most = 0;
  for (const char* name : {"X", "Y"})
    most = std::max(most, std::abs(test::value_of(here, name) - test::value_of(there, name)));
  return most;
}

// Measured, of 24 models at 1e5 to 3e6: at most 2.1e-9 apart; rounding of a position there is 1e-11 to 5e-10.
TEST(FarAway, StepsOfGivenLengthGoOn) {
  Draw d(314159);
  for (int n = 0; n < 24; ++n) {
    const Case one = draw(d, n % 3);
    const double c = d.power(5, 6.5);
    SCOPED_TRACE(one.text(c));
    double off = HUGE_VAL;
    ASSERT_NO_THROW(off = apart(one, c));
    EXPECT_LT(off, 1e-7);
  }
}

TEST(FarAway, AnotherMotionIsToldFromIt) {
  Draw d(314159);
  Case one = draw(d, 0);
  const Report here = test::run_text(one.text(1));
  one.k *= 1.01;
  EXPECT_GT(std::abs(test::value_of(here, "X") - test::value_of(test::run_text(one.text(1)), "X")), 1e-4);
}

}  // namespace
}  // namespace hinge::far_away_test
