// Where contacts slide in several directions and share their loads in more than one way, Coulomb's law has many
// motions. One of them is taken: that of equal springs in all contacts, whoever is named first in the file.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::open_motion_test {
namespace {

using test::run_text;
using test::values_of;

const std::string floor_alone = R"toml(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = { plane = [0, 0, 1] }
)toml";

// Two or three boxes in a row on hinges, which slide and turn on a floor while one of them is pushed.
struct Row {
  std::vector<std::string> boxes;
  std::string rest;
  std::string text(bool backwards) const {
    std::string text = floor_alone;
    for (std::size_t k = 0; k < boxes.size(); ++k) text += boxes[backwards ? boxes.size() - 1 - k : k];
    return text + rest;
  }
};

Row random_row(Draw& draw) {
  Row row;
  const int n = draw.integer(2, 3);
  const double height = draw.number(0.05, 0.3), vx = draw.number(-2, 2), vy = draw.number(-2, 2);
  const std::string axis = draw.chance(0.6) ? "[0, 0, 1]" : "[0, 1, 0]";
  double x = 0;
  for (int k = 0; k < n; ++k) {
    const double length = draw.number(0.2, 0.5);
    row.boxes.push_back(fmt::format(
        "[[body]]\nname = \"b{}\"\nmass = {}\nshape = {{ box = [{}, {}, {}] }}\nposition = [{}, 0, {}]\nvelocity = "
        "[{}, {}, 0]\n",
        k, draw.number(0.5, 5), length, draw.number(0.1, 0.3), height, x + length / 2, height / 2, vx, vy));
    if (k > 0)
      row.rest +=
          fmt::format("[[joint]]\ntype = \"revolute\"\nbodies = [\"b{}\", \"b{}\"]\npoint = [{}, 0, {}]\naxis = {}\n",
                      k - 1, k, x, height / 2, axis);
    x += length;
  }
  row.rest +=
      fmt::format("[[force]]\nbody = \"b0\"\nforce = [{}, {}, 0]\n", draw.number(-20, 20), draw.number(-20, 20));
  row.rest +=
      fmt::format("[contact]\nfriction = {}\n[integrate]\nstep = 0.002\nend = 0.2\n[output]\n", draw.number(0.2, 0.9));
  for (int k = 0; k < n; ++k) row.rest += fmt::format("quantities.q{0} = \"b{0}\"\n", k);
  return row;
}

TEST(OpenMotion, OfBoxesOnHingesDoesNotDependOnTheirOrder) {
  Draw draw(1611);
  for (int trial = 0; trial < 10; ++trial) {
    const Row row = random_row(draw);
    const Report one = run_text(row.text(false)), other = run_text(row.text(true));
    EXPECT_TRUE(one.sound()) << trial;
    for (std::size_t k = 0; k < row.boxes.size(); ++k) {
      const auto a = values_of(one, fmt::format("q{}", k)), b = values_of(other, fmt::format("q{}", k));
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], 1e-6) << trial << ' ' << k;  // measured 7e-9
    }
  }
}

// A box that touches a ceiling while it slides on a floor: the ceiling carries nothing.
TEST(OpenMotion, ACeilingThatIsJustTouchedDoesNotBrake) {
  Draw draw(1612);
  for (int trial = 0; trial < 6; ++trial) {
    const double mu = draw.number(0.2, 0.6), height = draw.number(0.1, 0.3), speed = draw.number(1, 3),
                 end = draw.number(0.1, 0.15), way = draw.number(0, 6.28);
    const Report r = run_text(floor_alone + fmt::format(R"toml(
[[body]]
name = "ceiling"
fixed = true
position = [0, 0, {0}]
shape = {{ plane = [0, 0, -1] }}
[[body]]
name = "box"
mass = {1}
shape = {{ box = [{2}, {3}, {0}] }}
position = [0, 0, {4}]
velocity = [{5:.17g}, {6:.17g}, 0]
[contact]
friction = {7}
[integrate]
step = {8}
end = {9}
[output]
quantities.v = "box'"
)toml",
                                                        height, draw.number(0.5, 5), draw.number(0.35, 0.6),
                                                        draw.number(0.35, 0.6), height / 2, speed * std::cos(way),
                                                        speed * std::sin(way), mu, draw.number(0.002, 0.005), end));
    const double left = std::max(0.0, speed - mu * 9.81 * end);
    const auto v = values_of(r, "v");
    EXPECT_NEAR(v[0], left * std::cos(way), 1e-10) << trial;  // measured 2e-14
    EXPECT_NEAR(v[1], left * std::sin(way), 1e-10) << trial;
    EXPECT_TRUE(r.sound()) << trial;
  }
}

}  // namespace
}  // namespace hinge::open_motion_test
