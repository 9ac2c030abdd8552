// Coordinates that move along with bodies: a change of variables, exact, with all derivatives; and steps of radau and
// bdf that no longer follow every turn.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/hinge.hpp"
#include "method/implicit/bdf_coefficients.hpp"
#include "random_draw.hpp"

namespace hinge::moving_bodies_test {
namespace {

// A shaft that turns with `spin` and bodies on it, on each other, by joints of all kinds that have springs; at the
// start everything turns as one.
std::string spinning_tree(unsigned seed, double spin, int bodies) {
  Draw draw(seed);
  std::string text = "[multibody]\ngravity = [0, 0, -9.81]\n", joints;
  std::vector<std::array<double, 3>> place;
  for (int k = 0; k < bodies; ++k) {
    const int parent = k == 0 ? -1 : draw.integer(0, k - 1);
    const std::array<double, 3> base = k == 0 ? std::array{0.0, 0.0, 0.0} : place[static_cast<std::size_t>(parent)];
    const double reach = k == 0 ? 0.2 : 0.5;
    std::array<double, 3> x{};
    for (std::size_t i = 0; i < 3; ++i) x[i] = base[i] + draw.number(-reach, reach);
    place.push_back(x);
    const double round = draw.number(0.08, 0.1);
    text += fmt::format(
        "[[body]]\nname = \"b{}\"\nmass = {}\ninertia = [{}, {}, {}]\nposition = [{}, {}, {}]\nvelocity = [{}, {}, "
        "0]\nangular_velocity = [0, 0, {}]\nrotation = {{ axis = [{}, {}, 1], angle = {} }}\n",
        k, draw.number(0.5, 2), round, k % 2 == 0 ? round : 0.11, 0.12, x[0], x[1], x[2], -spin * x[1], spin * x[0],
        spin, draw.number(-1, 1), draw.number(-1, 1), draw.number(0, 3));
    static const char* const kinds[] = {"revolute", "spherical", "cylindrical", "prismatic"};
    const std::string kind = k == 0 ? "revolute" : kinds[draw.integer(0, 3)];
    joints += fmt::format("[[joint]]\ntype = \"{}\"\nbodies = [\"{}\", \"b{}\"]\npoint = [{}, {}, {}]\n", kind,
                          k == 0 ? "ground" : fmt::format("b{}", parent), k, k == 0 ? 0 : (base[0] + x[0]) / 2,
                          k == 0 ? 0 : (base[1] + x[1]) / 2, k == 0 ? 0 : (base[2] + x[2]) / 2);
    if (kind != "spherical") joints += k == 0 ? "axis = [0, 0, 1]\n" : "axis = [0.36, 0.48, 0.8]\n";
    if (k > 0) joints += kind == "spherical" ? "damping = 20\n" : fmt::format("damping = 200\nstiffness = {}\n", 20000);
  }
  return text + joints +
         "[initial]\nconsistent = \"project\"\n[integrate]\nmethod = \"radau\"\ntolerance = 1e-8\nend = 1\n";
}

const char* const top = R"model(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "top"
mass = 1
inertia = [0.01, 0.01, 0.02]
position = [0.3, 0, 0.4]
rotation = { axis = [0, 1, 0], angle = 0.6435011087932844 }
angular_velocity = [30, 0, 40]
[[joint]]
type = "spherical"
bodies = ["ground", "top"]
point = [0, 0, 0]
[initial]
consistent = "project"
[integrate]
method = "radau"
tolerance = 1e-8
end = 2
)model";

const char* const steady_body = R"model(
[multibody]
[[body]]
name = "b"
mass = 1
inertia = [0.3, 0.4, 0.5]
position = [0.5, 0, 0]
velocity = [0, 6, 0]
angular_velocity = [0, 0, 12]
[[joint]]
type = "revolute"
bodies = ["ground", "b"]
point = [0, 0, 0]
axis = [0, 0, 1]
[integrate]
method = "radau"
tolerance = 1e-8
end = 10
)model";

std::unique_ptr<ImplicitProblem> moving(const Model& m) {
  return formulate_moving(m.system, {Formulation::projected_invariants}, 0.5, Correction::free_of_mass);
}

struct Point {
  std::vector<double> x, rate;
};

// On courses from the start on, which a second choice has made curves of.
Point under_way(ImplicitProblem& problem, const Model& m) {
  SimulationOptions options;
  options.tolerance = {1e-8, 1e-8};
  Simulation s(m.system, radau(), options);
  s.start(m.start);
  Point p{std::vector<double>(static_cast<std::size_t>(problem.size())), {}};
  p.rate = p.x;
  problem.stand_still(0);
  EXPECT_TRUE(problem.from_state(s.state(), p.x.data(), p.rate.data()));
  for (const double t : {0.0, 0.07}) {
    EXPECT_TRUE(problem.aim(t, p.x.data(), p.rate.data()));
    problem.carry(t, p.x.data(), p.rate.data());
    problem.go();
    for (double& r : p.rate) r += 0.1;
  }
  return p;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]) / (1 + std::abs(b[k])));
  return worst;
}

TEST(MovingBodies, ADifferentCourseIsTheSameMotion) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Model m = parse_model(spinning_tree(seed, 9, 4), "drawn");
    const auto problem = moving(m);
    Point p = under_way(*problem, m);
    ASSERT_TRUE(problem->moves());
    State before, after;
    for (State* s : {&before, &after}) {
      s->y.resize(static_cast<std::size_t>(m.system->ny()));
      s->z.resize(static_cast<std::size_t>(m.system->nz()));
      s->psi.resize(static_cast<std::size_t>(m.system->npsi()));
    }
    const double t = 0.31;
    problem->to_state(t, p.x.data(), p.rate.data(), before);
    EXPECT_GT(largest_difference(before.y, p.x), 0.1) << seed;  // the coordinates do move
    ASSERT_TRUE(problem->aim(t, p.x.data(), p.rate.data()));
    std::vector<double> x = p.x;
    problem->carry(t, x.data(), p.rate.data());
    problem->go();
    problem->to_state(t, x.data(), p.rate.data(), after);
    EXPECT_LT(largest_difference(after.y, before.y), 1e-14) << seed;  // measured 5e-16
    EXPECT_LT(largest_difference(after.z, before.z), 1e-13) << seed;
    EXPECT_LT(largest_difference(after.psi, before.psi), 1e-13) << seed;
    problem->set_motion(t, before, x.data());
    problem->to_state(t, x.data(), p.rate.data(), after);
    EXPECT_LT(largest_difference(after.y, before.y), 1e-14) << seed;
  }
}

// c F_x' + F_x against differences; without the turning of coordinates in it the two are far apart.
TEST(MovingBodies, DerivativesAreThoseOfTheEquations) {
  for (const std::string& text : {spinning_tree(4, 7, 4), spinning_tree(5, 7, 3), std::string(top)}) {
    const Model m = parse_model(text, "drawn");
    const auto problem = moving(m);
    Point p = under_way(*problem, m);
    const auto n = static_cast<std::size_t>(problem->size());
    const Pattern& pattern = problem->pattern();
    std::vector<double> f_x(pattern.entries()), f_rate(pattern.entries()), plus(n), minus(n), still(n * n),
        exact(n * n);
    const double t = 0.2, c = 2.5, e = 1e-5;
    const auto fill = [&](double time, std::vector<double>& full) {
      problem->jacobian(time, p.x.data(), p.rate.data(), f_x.data(), f_rate.data());
      std::fill(full.begin(), full.end(), 0.0);
      for (std::size_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(pattern.row_start[i]);
             k < static_cast<std::size_t>(pattern.row_start[i + 1]); ++k)
          full[i * n + static_cast<std::size_t>(pattern.column[k])] = f_x[k] + c * f_rate[k];
    };
    fill(0.07, still);
    fill(t, exact);
    double worst = 0, with_old = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double x0 = p.x[j], r0 = p.rate[j];
      p.x[j] = x0 + e, p.rate[j] = r0 + c * e;
      problem->residual(t, p.x.data(), p.rate.data(), plus.data());
      p.x[j] = x0 - e, p.rate[j] = r0 - c * e;
      problem->residual(t, p.x.data(), p.rate.data(), minus.data());
      p.x[j] = x0, p.rate[j] = r0;
      for (std::size_t i = 0; i < n; ++i) {
        const double difference = (plus[i] - minus[i]) / (2 * e), scale = 1 + std::abs(difference);
        worst = std::max(worst, std::abs(exact[i * n + j] - difference) / scale);
        with_old = std::max(with_old, std::abs(still[i * n + j] - difference) / scale);
      }
    }
    EXPECT_LT(worst, 1e-5);
    EXPECT_GT(with_old, 1e-3);
  }
}

Report run(const Model& m, const char* method, double tolerance, double end, const char* formulation = "automatic") {
  SimulationOptions options;
  options.tolerance = {tolerance, tolerance};
  Simulation s(m.system, make_method(method, {{"formulation", formulation}}), options);
  s.start(m.start);
  s.until(end);
  return s.report();
}

// A rotation that is steady is no motion in such coordinates, whatever its speed; in those of other formulations it is.
TEST(MovingBodies, ASteadyRotationIsOneStep) {
  const Model m = parse_model(steady_body, "steady");
  for (const char* method : {"radau", "bdf"}) {
    const Report r = run(m, method, 1e-8, 10);
    EXPECT_LE(r.steps, 20) << method;  // measured 6 and 10; 99 and 2227 where they rest
    EXPECT_NEAR(r.final.y[0], 0.5 * std::cos(120), 1e-9) << method;
    EXPECT_NEAR(r.final.y[1], 0.5 * std::sin(120), 1e-9) << method;
    EXPECT_LT(r.constraint, 1e-14) << method;
    EXPECT_GT(run(m, method, 1e-8, 10, "index-1").steps, 60) << method;
  }
}

// Mechanisms on shafts, and a top that spins with 8 turns a second and goes round slowly: as many steps as their own
// motion takes, and right.
TEST(MovingBodies, SpinningTreesTakeFewerSteps) {
  std::vector<std::string> models{top};
  for (const unsigned seed : {11u, 12u, 13u, 14u})
    models.push_back(spinning_tree(seed, 15, 2 + static_cast<int>(seed % 3)));
  long with = 0, without = 0;
  for (const std::string& text : models) {
    const Model m = parse_model(text, "drawn");
    const Report exact = run(m, "radau", 1e-12, 1), there = run(m, "radau", 1e-8, 1),
                 rests = run(m, "radau", 1e-8, 1, "index-1"), by_bdf = run(m, "bdf", 1e-8, 1);
    for (const Report& r : {exact, there, rests, by_bdf}) ASSERT_EQ(r.status, RunStatus::finished);
    EXPECT_LT(largest_difference(there.final.z, exact.final.z), 1e-4);
    EXPECT_LT(largest_difference(by_bdf.final.z, exact.final.z), 1e-2);
    EXPECT_LT(there.constraint, 1e-14);
    with += there.steps;
    without += rests.steps;
  }
  EXPECT_LT(2 * with, without) << with << " and " << without;  // measured 137 and 293
}

// The history of bdf: scaled divided differences of values, which change by a function of the time.
TEST(MovingBodies, HistoryOfOtherValues) {
  BdfCoefficients used;
  used.psi = {0.1, 0.25, 0.3, 0.47, 0.6, 0.8, 0.9};
  const auto history = [&](auto&& value) {
    std::array<std::vector<double>, BdfCoefficients::most_order + 2> phi;
    std::vector<double> s{0};
    for (const double psi : used.psi) s.push_back(-psi);
    std::vector<double> d;
    for (std::size_t i = 0; i < phi.size(); ++i) d.push_back(value(s[i]));
    double factor = 1;
    for (std::size_t j = 0; j < phi.size(); ++j) {
      phi[j] = {factor * d[j]};
      for (std::size_t i = phi.size() - 1; i > j; --i) d[i] = (d[i - 1] - d[i]) / (s[i - 1 - j] - s[i]);
      factor *= used.psi[j];
    }
    return phi;
  };
  const auto first = [](double s) { return std::cos(3 * s); };
  const auto second = [](double s) { return std::cos(3 * s) * (1 + s) + s * s; };
  auto phi = history(first), work = phi;
  const auto wanted = history(second);
  used.change_values(phi.size(), phi, work, [](double s, double* x) { x[0] = x[0] * (1 + s) + s * s; });
  for (std::size_t j = 0; j < phi.size(); ++j) EXPECT_NEAR(phi[j][0], wanted[j][0], 1e-11) << j;
  EXPECT_GT(std::abs(history(first)[2][0] - wanted[2][0]), 0.01);
}

}  // namespace
}  // namespace hinge::moving_bodies_test
