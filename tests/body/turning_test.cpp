// Rates of constraints of bodies: known from how axes turn, and the same as by the chain rule over quaternions.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::turning_test {
namespace {

using Q = Quantity;

std::string scene(unsigned seed) {
  Draw draw(seed);
  const auto point = [&] {
    return fmt::format("[{}, {}, {}]", draw.number(-1, 1), draw.number(-1, 1), draw.number(-1, 1));
  };
  std::string text = "[multibody]\ngravity = [0, 0, -9.81]\n";
  for (int k = 0; k < 8; ++k)
    text += fmt::format(
        "[[body]]\nname = \"b{}\"\nmass = 1\ninertia = [0.2, 0.3, 0.4]\nposition = {}\nrotation = {{ axis = {}, angle "
        "= {} }}\n",
        k, point(), point(), draw.number(0, 3));
  const std::string axis = draw.chance(0.5) ? "axis = [0.36, 0.48, 0.8]" : "axis = [0, 0, -1]";
  const std::string across = axis.find("0.36") != std::string::npos ? "[0.8, -0.6, 0]" : "[1, 0, 0]";
  const auto joint = [&](const char* type, const char* a, const char* b, const std::string& more) {
    text += fmt::format("[[joint]]\nname = \"j{}{}\"\ntype = \"{}\"\nbodies = [\"{}\", \"{}\"]\npoint = {}\n{}\n", a, b,
                        type, a, b, point(), more);
  };
  joint("revolute", "ground", "b0", axis);
  joint("universal", "b0", "b1", axis + "\naxis2 = " + across);
  joint("cylindrical", "b1", "b2", axis);
  joint("spherical", "b2", "b3", "");
  joint("prismatic", "b3", "b4", axis + "\nmotor = { position = \"0.1*sin(3*t)\" }");
  joint("screw", "b4", "b5", axis + "\npitch = 0.3");
  joint("constant-velocity", "b5", "b6", axis);
  joint("point-on-line", "b6", "b7", axis);
  joint("planar", "b7", "ground", axis);
  joint("fixed", "b1", "b7", "");
  text += "[[joint]]\ntype = \"rack\"\njoints = [\"jgroundb0\", \"jb3b4\"]\nradius = 0.2\n";
  text += fmt::format("[[joint]]\ntype = \"rod\"\nbodies = [\"b2\", \"b6\"]\npoints = [{}, {}]\n", point(), point());
  return text + "[integrate]\nmethod = \"radau\"\ntolerance = 1e-6\nend = 1\n";
}

void multiply_add(const Pattern& p, const double* values, const double* x, std::vector<double>& out) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i)
    for (int k = p.row_start[i]; k < p.row_start[i + 1]; ++k)
      out[i] += values[k] * x[p.column[static_cast<std::size_t>(k)]];
}

// Off the constraints and with quaternions of any length: the two are the same function.
TEST(TurningAxes, RatesAndCurvaturesAreThoseOfTheChainRule) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Model m = parse_model(scene(seed), "scene");
    const System& s = *m.system;
    Draw draw(seed + 100);
    std::vector<double> y(static_cast<std::size_t>(s.ny())), z(static_cast<std::size_t>(s.nz())),
        psi(static_cast<std::size_t>(s.npsi()), 0.0);
    for (auto* list : {&y, &z})
      for (double& x : *list) x = draw.number(-1, 1);
    const double t = draw.number(0, 1);
    const auto e = s.evaluation({Q::velocity, Q::constraint_y, Q::constraint_rate, Q::constraint_rate_y,
                                 Q::constraint_rate_t, Q::constraint_curvature, Q::constraint_rate_z, Q::velocity_z});
    e->at(t, y.data(), z.data(), psi.data());
    const auto rows = static_cast<std::size_t>(s.ng());
    std::vector<double> curvature(rows, 0.0), rate(rows, 0.0), without_time(rows, 0.0);
    multiply_add(s.pattern(Q::constraint_rate_y), (*e)[Q::constraint_rate_y], (*e)[Q::velocity], curvature);
    const double one = 1;
    multiply_add(s.pattern(Q::constraint_rate_t), (*e)[Q::constraint_rate_t], &one, curvature);
    multiply_add(s.pattern(Q::constraint_y), (*e)[Q::constraint_y], (*e)[Q::velocity], rate);
    multiply_add(s.pattern(Q::constraint_rate_z), (*e)[Q::constraint_rate_z], z.data(), without_time);
    for (std::size_t i = 0; i < rows; ++i) {
      SCOPED_TRACE(s.layout().constraints[i]);
      EXPECT_NEAR((*e)[Q::constraint_curvature][i], curvature[i], 1e-11 * (1 + std::abs(curvature[i])));
      EXPECT_NEAR(without_time[i], rate[i], 1e-12 * (1 + std::abs(rate[i])));  // linear in z
    }
  }
}

}  // namespace
}  // namespace hinge::turning_test
