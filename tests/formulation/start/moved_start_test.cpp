// Start values that are moved onto the constraints are said, each with how far, and nothing else is.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/model.hpp"
#include "random_draw.hpp"

namespace hinge::moved_start_test {
namespace {

std::string said(const Model& model, State& state) {
  std::vector<std::string> remarks;
  state = consistent_start(*model.system, 0, model.start, &remarks);
  std::string all;
  for (const std::string& r : remarks) all += r + ", ";
  return all;
}

// Rods of a chain, whose lengths are off by as much as is drawn, and velocities that stretch them.
std::string chain(Draw& draw, int n, double off, double stretch, const char* kind) {
  std::string position, velocity, rods;
  double x = 0, y = 0;
  for (int i = 0; i < n; ++i) {
    const double angle = 6.28 * draw.unit(), length = 1 + off * (draw.unit() - 0.5);
    x += length * std::cos(angle), y += length * std::sin(angle);
    position += fmt::format("{}{}, {}", i ? ", " : "", x, y);
    velocity += fmt::format("{}{}, {}", i ? ", " : "", stretch * draw.number(-1, 1), stretch * draw.number(-1, 1));
    const auto difference = [&](int k) {
      return i == 0 ? fmt::format("q[{}]", k) : fmt::format("(q[{}] - q[{}])", 2 * i + k, 2 * i - 2 + k);
    };
    rods += fmt::format("{}\"({}^2 + {}^2 - 1)/2\"", i ? ", " : "", difference(0), difference(1));
  }
  const bool momentum = std::string(kind) == "hamiltonian";
  return fmt::format(
      "[{}]\ncoordinates = [\"q[{}]\"]\n{}\nconstraints = [{}]\n[initial]\nposition = [{}]\n{} = [{}]\nconsistent = "
      "\"project\"\n[integrate]\nmethod = \"radau\"\n",
      kind, 2 * n,
      momentum ? fmt::format("momenta = [\"p[{}]\"]\nhamiltonian = \"dot(p, p)/2\"", 2 * n)
               : "kinetic = \"dot(q', q')/2\"",
      rods, position, momentum ? "momentum" : "velocity", velocity);
}

TEST(MovedStart, EveryMovedValueIsSaidAndNoOther) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const char* kind = seed % 2 == 0 ? "lagrangian" : "hamiltonian";
    const double off = seed % 4 < 2 ? 0.2 : 0, stretch = seed % 8 < 6 ? 1 : 0;
    const Model model = parse_model(chain(draw, draw.integer(1, 4), off, stretch, kind), "m.toml");
    State state;
    const std::string text = said(model, state);
    const std::vector<double>& z = seed % 2 == 0 ? model.start.velocity : model.start.momentum;
    const Layout& layout = model.system->layout();
    const auto look = [&](const std::string& name, double from, double to) {
      const std::string one = fmt::format("{} {:.10g} -> {:.10g}, ", name, from, to);
      EXPECT_EQ(text.find(one) != std::string::npos, std::abs(to - from) > 1e-8) << one << "\n in " << text;
    };
    for (int i = 0; i < layout.ny; ++i) {
      const auto at = static_cast<std::size_t>(i);
      look(layout.y_name(i), model.start.position[at], state.y[at]);
      look(layout.z_name(i), z[at], state.z[at]);
    }
    EXPECT_EQ(text.empty(), off == 0 && stretch == 0) << text;
  }
}

// Values right to the digits that were typed are taken without a word.
TEST(MovedStart, RoundingOfTypedValuesIsNoMove) {
  const Model model = parse_model(
      "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q', q')/2\"\nconstraints = [\"dot(q, q) - 1\"]\n"
      "[initial]\nposition = [0.7071067812, 0.7071067812]\nvelocity = [1, -1]\nconsistent = \"project\"\n"
      "[integrate]\nmethod = \"rattle\"\n",
      "m.toml");
  State state;
  EXPECT_EQ(said(model, state), "");
}

}  // namespace
}  // namespace hinge::moved_start_test
