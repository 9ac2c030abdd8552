// Everyday linkages of random sizes by all kinds of methods, against closed forms; and none of them is doubted.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::linkages_test {
namespace {

using test::run_text;
using test::value_of;

constexpr const char* methods[] = {
    "method = \"explicit\"\ntolerance = 1e-11", "method = \"radau\"\ntolerance = 1e-11",
    "method = \"bdf\"\ntolerance = 1e-10",      "method = \"taylor\"\ntolerance = 1e-11",
    "method = \"gauss-lobatto\"\nstep = 0.001", "method = \"generalized-alpha\"\nstep = 0.001",
    "method = \"rattle\"\nstep = 0.001",        "method = \"moreau-jean\"\nstep = 0.001"};

void expect_sound(const Report& r, const std::string& what) {
  EXPECT_TRUE(r.sound()) << what << (r.doubts.empty() ? "" : "\n" + r.doubts[0].cause);
}

// A crank about z, a rod on two ball joints, a rocker about y: the ends of the rod stay apart by its length.
TEST(Linkages, ACrankAndARockerOnSkewAxes) {
  for (unsigned seed = 1; seed <= 16; ++seed) {
    Draw draw(seed);
    const double r1 = draw.number(0.05, 0.1), r2 = draw.number(0.2, 0.3), x = draw.number(0.25, 0.35),
                 y = draw.number(0.02, 0.1), z = draw.number(-0.05, 0.05), w = draw.number(2, 8), phi0 = 0.9, end = 0.4,
                 bx = x + r2 * std::sin(phi0), bz = z + r2 * std::cos(phi0);
    const std::string method = methods[seed % std::size(methods)];
    const Report r =
        run_text(fmt::format(R"toml(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "crank"
mass = 1
inertia = [0.01, 0.01, 0.01]
[[body]]
name = "rod"
mass = 0.5
inertia = [0.004, 0.004, 0.001]
position = [{}, {}, {}]
[[body]]
name = "rocker"
mass = 1
inertia = [0.02, 0.02, 0.02]
position = [{}, {}, {}]
[[joint]]
name = "drive"
type = "revolute"
bodies = ["ground", "crank"]
point = [0, 0, 0]
axis = [0, 0, 1]
motor = {{ speed = {} }}
[[joint]]
type = "spherical"
bodies = ["crank", "rod"]
point = [{}, 0, 0]
[[joint]]
type = "spherical"
bodies = ["rod", "rocker"]
point = [{}, {}, {}]
[[joint]]
name = "out"
type = "revolute"
bodies = ["ground", "rocker"]
point = [{}, {}, {}]
axis = [0, 1, 0]
[initial]
consistent = "project"
[integrate]
{}
end = {}
[output]
quantities.phi = "out_angle"
)toml",
                             (r1 + bx) / 2, y / 2, bz / 2, x, y, z, w, r1, bx, y, bz, x, y, z, method, end));
    const double phi = phi0 + value_of(r, "phi"), length = std::hypot(bx - r1, y, bz);
    EXPECT_NEAR(
        std::hypot(x + r2 * std::sin(phi) - r1 * std::cos(w * end), y - r1 * std::sin(w * end), z + r2 * std::cos(phi)),
        length, 1e-13)
        << seed << method;  // measured 2e-16
    expect_sound(r, fmt::format("{} {}", seed, method));
  }
}

// A disk between two shafts that are e apart slides on both: it turns with them, and its centre twice as fast on a
// circle.
TEST(Linkages, AnOldhamCoupling) {
  for (unsigned seed = 1; seed <= 16; ++seed) {
    Draw draw(seed);
    const double e = draw.number(0.01, 0.05), w = draw.number(3, 12), load = draw.number(1, 5), end = 0.5;
    const std::string method = methods[seed % std::size(methods)];
    const Report r = run_text(fmt::format(R"toml(
[parameters]
e = {}
w = {}
[multibody]
gravity = [0, 0]
[[body]]
name = "first"
mass = 1
inertia = 0.1
[[body]]
name = "disk"
mass = 0.4
inertia = 0.01
position = ["e", 0]
[[body]]
name = "second"
mass = 1
inertia = 0.1
position = ["e", 0]
[[joint]]
name = "drive"
type = "revolute"
bodies = ["ground", "first"]
point = [0, 0]
motor = {{ speed = "w" }}
[[joint]]
type = "prismatic"
bodies = ["first", "disk"]
axis = [1, 0]
[[joint]]
type = "prismatic"
bodies = ["disk", "second"]
axis = [0, 1]
[[joint]]
name = "load"
type = "revolute"
bodies = ["ground", "second"]
point = ["e", 0]
motor = {{ torque = {} }}
[initial]
consistent = "project"
[integrate]
{}
end = {}
[output]
quantities.turned = "load_angle"
quantities.x = "disk[0]"
quantities.y = "disk[1]"
)toml",
                                          e, w, -load, method, end));
    const double a = w * end;
    EXPECT_NEAR(value_of(r, "turned"), a, 1e-12) << seed << method;
    EXPECT_NEAR(value_of(r, "x"), e * std::cos(a) * std::cos(a), 1e-13) << seed << method;
    EXPECT_NEAR(value_of(r, "y"), e * std::cos(a) * std::sin(a), 1e-13) << seed << method;
    expect_sound(r, fmt::format("{} {}", seed, method));
  }
}

// A follower that its spring holds on the cam: the gap is zero to rounding, and so nothing to compare with.
TEST(Linkages, AFollowerThatStaysOnItsCam) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Draw draw(seed);
    const double lift = draw.number(0.005, 0.02), w = std::sqrt(draw.number(0.2, 0.8) * 9.81 / lift);
    for (const char* method : {"event-driven", "moreau-jean", "paoli-schatzman", "generalized-alpha"}) {
      const Report r = run_text(fmt::format(R"toml(
[lagrangian]
coordinates = ["y"]
kinetic = "0.3/2*y'^2"
potential = "0.3*9.81*y + 20*(y + 0.002)^2"
unilateral = [{{ gap = "y - {}*(1 - cos({}*t))", name = "cam" }}]
[initial]
position = {{ y = 0 }}
[integrate]
method = "{}"
step = 0.0002
end = 0.3
[output]
quantities.height = "y"
)toml",
                                            lift, w, method));
      // moreau-jean goes along the tangent of the cam in a step
      EXPECT_NEAR(value_of(r, "height"), lift * (1 - std::cos(w * 0.3)), 1e-6 * lift * w * w) << seed << method;
      expect_sound(r, fmt::format("{} {}", seed, method));
    }
  }
}

}  // namespace
}  // namespace hinge::linkages_test
