// The same motion in other units: masses (and forces) from 1e-6 to 1e6, lengths and times, and each constraint with a
// factor of its own from 1e-3 to 1e3. What is computed does not depend on them, in any formulation: neither whether it
// is solved, nor how well, nor in how many steps.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "random_draw.hpp"

namespace hinge::units_test {
namespace {

struct Units {
  double mass = 1, length = 1, time = 1;
  std::vector<double> constraint{1, 1, 1};
};

// A constrained Lagrangian with a mass that depends on position, drawn at random.
std::string drawn(unsigned seed, const Units& u, double absolute) {
  Draw draw(seed);
  const int n = draw.integer(2, 4), m = draw.integer(1, n - 1);
  const bool rheonomic = draw.chance(0.5), damped = draw.chance(0.5);
  const auto q = [](int i) { return fmt::format("(q[{}]/ell)", i); };
  const auto v = [](int i) { return fmt::format("(q'[{}]*tau/ell)", i); };
  const auto any = [&] { return q(draw.integer(0, n - 1)); };
  const auto term = [&] {
    const std::string a = any(), b = any(), c = draw.text(-1, 1);
    return draw.one_of<std::string>({fmt::format("({}*sin({} + {}))", c, a, b), fmt::format("({}*tanh({}))", c, a),
                                     fmt::format("({}*{}*{}/(1 + {}^2))", c, a, b, a)});
  };
  std::string kinetic, potential, force, constraints, position, velocity;
  const auto add = [](std::string& list, const char* between, const std::string& more) {
    list += (list.empty() ? "" : between) + more;
  };
  for (int i = 0; i < n; ++i) {
    const double mass = draw.number(0.5, 1.6);
    add(kinetic, " + ", fmt::format("{}*{}^2/2", mass, v(i)));
    add(potential, " + ", fmt::format("{}*{}^2/2", draw.number(0.3, 2), q(i)));
    add(force, ", ", fmt::format("\"-S*{}*{}/ell\"", damped ? 0.3 * mass : 0.0, v(i)));
    add(position, ", ", fmt::format("{}", draw.number(-1, 1) * u.length));
    add(velocity, ", ", fmt::format("{}", draw.number(-1, 1) * u.length / u.time));
  }
  kinetic += fmt::format(" + 0.5*({}*{} + {}*{})^2/2", term(), v(0), term(), v(n - 1));
  potential += " + " + term() + " + " + term();
  for (int k = 0; k < m; ++k) {
    std::string linear;
    for (int i = 0; i < n; ++i) add(linear, " + ", draw.text(-0.8, 0.8) + "*" + q(i));
    std::string g = k == 0 ? fmt::format("{}^2 + 1.3*{}^2 + 0.6*({}) - {}", q(0), q(1), linear, draw.number(0.8, 1.6))
                           : fmt::format("1.5*{} + {} + 0.6*{} - {}", q(k), linear, term(), draw.text(-0.5, 0.5));
    if (rheonomic) g += fmt::format(" + {}*sin(2*t/tau)*{}", draw.text(-0.4, 0.4), q(n - 1));
    add(constraints, ", ", fmt::format("\"{}*({})\"", u.constraint[static_cast<std::size_t>(k)], g));
  }
  return fmt::format(
      "[parameters]\nell = {}\ntau = {}\nS = {}\n[lagrangian]\ncoordinates = [\"q[{}]\"]\nkinetic = \"S*({})\"\n"
      "potential = \"S*({})\"\nforce = [{}]\nconstraints = [{}]\n[initial]\nconsistent = \"project\"\n"
      "position = [{}]\nvelocity = [{}]\n[integrate]\nmethod = \"radau\"\ntolerance = {{ relative = 1e-9, absolute = "
      "{} }}\n",
      u.length, u.time, u.mass, n, kinetic, potential, force, constraints, position, velocity, absolute);
}

struct End {
  std::vector<double> x;  // positions and velocities in units of the drawn model
  long steps = 0;
  std::string trouble;
};

End run(unsigned seed, const Units& u, const std::vector<Override>& overrides) {
  End end;
  try {
    // the absolute tolerance in the smaller of the units of positions and velocities
    const Model model = parse_model(drawn(seed, u, 1e-9 * std::min(u.length, u.length / u.time)), "m.toml", overrides);
    Simulation s = model.simulation_for("");
    s.start(model.start);
    s.until(u.time);
    for (const double y : s.state().y) end.x.push_back(y / u.length);
    for (const double z : s.state().z) end.x.push_back(z * u.time / u.length);
    end.steps = s.report().steps;
  } catch (const std::exception& e) {
    end.trouble = e.what();
  }
  return end;
}

double distance(const End& a, const End& b) {
  double largest = a.x.size() == b.x.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(a.x.size(), b.x.size()); ++i)
    largest = std::max(largest, std::abs(a.x[i] - b.x[i]) / (1 + std::abs(b.x[i])));
  return largest;
}

void compare(const std::string& method, const std::vector<std::string>& forms, double allowed) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    Draw draw(1000 + seed);
    Units u{draw.power(-6, 6), seed % 2 == 0 ? draw.power(-6, 6) : 1, seed % 3 == 0 ? draw.power(-6, 6) : 1, {}};
    for (int k = 0; k < 3; ++k) u.constraint.push_back(draw.power(-3, 3));
    const End exact = run(seed, {}, {{"integrate.method", "explicit"}, {"integrate.tolerance", "1e-12"}});
    ASSERT_EQ(exact.trouble, "");
    for (const std::string& form : forms) {
      SCOPED_TRACE(fmt::format("{} {}, seed {}: mass {:.1e}, length {:.1e}, time {:.1e}, constraint {:.1e}", method,
                               form, seed, u.mass, u.length, u.time, u.constraint[0]));
      const std::vector<Override> how{{"integrate.method", method}, {"integrate.formulation", form}};
      const End plain = run(seed, {}, how), scaled = run(seed, u, how);
      ASSERT_EQ(plain.trouble, "");
      ASSERT_EQ(scaled.trouble, "");
      EXPECT_LT(distance(plain, exact), allowed);
      EXPECT_LT(distance(scaled, exact), allowed);
      EXPECT_LT(static_cast<double>(scaled.steps), 2.0 * static_cast<double>(plain.steps) + 20);
    }
  }
}

TEST(Units, DoNotDecideWhatRadauComputes) {
  compare(
      "radau",
      {"projected-invariants", "ggl", "index-1", "index-2", "baumgarte", "tangent-space", "coordinate-partitioning"},
      1e-7);
}

TEST(Units, DoNotDecideWhatBdfComputes) {
  compare("bdf", {"projected-invariants", "ggl", "index-1", "index-2", "tangent-space", "coordinate-partitioning"},
          3e-7);
}

// Entries of [M G^T; G 0] a factor of 1e12 to 1e20 apart: a pivot was too small to one way of scaling.
TEST(Units, LightMassesBesideSteepConstraintsDoNotStopRadau) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Draw draw(3000 + seed);
    const Units u{draw.power(-14, -9),
                  draw.power(-1, 1),
                  draw.power(-1, 1),
                  {draw.power(3, 6), draw.power(3, 6), draw.power(3, 6)}};
    SCOPED_TRACE(fmt::format("seed {}: mass {:.1e}, constraint {:.1e}", seed, u.mass, u.constraint[0]));
    const End plain = run(seed, {}, {}), scaled = run(seed, u, {});
    ASSERT_EQ(plain.trouble, "");
    ASSERT_EQ(scaled.trouble, "");
    EXPECT_LT(distance(scaled, plain), 1e-7);
  }
}

// A crank with an elastic rod: rounding of lengths times 1e4 to 1e8 is what multipliers are made of, and no tolerance
// can ask for less. The default formulation goes as far as the others.
TEST(Units, OfStiffSpringsDoNotStopBdf) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    Draw draw(seed);
    const double stiffness = draw.power(4, 8), speed = draw.number(0.5, 2);
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"a[2]\", \"b[2]\"]\nkinetic = \"(dot(a', a') + 0.5*dot(b', b'))/2\"\n"
        "potential = \"9.81*(a[1] + 0.5*b[1]) + {}*(sqrt(dot(b - a, b - a)) - 2)^2/2\"\n"
        "constraints = [\"(dot(a, a) - 1)/2\", \"b[1]\"]\n[initial]\nposition = {{ a = [0, 1], b = "
        "[1.7320508075688772, 0] }}\nvelocity = {{ a = [{}, 0], b = [{}, 0] }}\n[integrate]\nmethod = \"bdf\"\n"
        "tolerance = {{ relative = 1e-11, absolute = 1e-13 }}\n",
        stiffness, speed, speed);
    End ends[2];
    for (const int k : {0, 1}) {
      const Model model =
          parse_model(text, "m.toml", {{"integrate.formulation", k == 0 ? "projected-invariants" : "ggl"}});
      Simulation s = model.simulation_for("");
      s.start(model.start);
      ASSERT_NO_THROW(s.until(0.05)) << "stiffness " << stiffness;
      ends[k].x = s.state().y;
      ends[k].steps = s.report().steps;
    }
    EXPECT_LT(distance(ends[0], ends[1]), 1e-9);
    EXPECT_LT(static_cast<double>(ends[0].steps), 1.2 * static_cast<double>(ends[1].steps));
  }
}

}  // namespace
}  // namespace hinge::units_test
