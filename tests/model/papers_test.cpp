// Claims about the model files under papers/: they are the test problems of the papers, with their known values.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/model.hpp"
#include "method/problems.hpp"
#include "places.hpp"
#include "system/quantities.hpp"
#include "system/symbolic.hpp"

namespace hinge::papers_test {
namespace {

using Q = Quantity;
using problems::Problem;
using trial::Point;
using trial::values;

/// s2 on the sphere (|q|^2 - 1)/2 = 0.
Problem s2_squared() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  h.hamiltonian((pow(p[0] + q[1], 2.0) + pow(p[1] - q[0], 2.0) + p[2] * p[2]) / 2.0 - q[2]);
  h.constrain((dot(q, q) - 1.0) / 2.0);
  return {h.build(), problems::s2().start};
}

struct Paper {
  std::string file;
  Problem problem;    ///< the same in C++
  double multiplier;  ///< at the start
  bool exact = false;
  /// After the file's own run, for the first-order methods; from tests/data/symplectic.json.
  double error_y = 0, error_z = 0;
};

// S2 at the start
const double lambda0 = 2.87916630466254;
const double energy0 = 0.48083369533745609;

std::vector<Paper> papers() {
  const double b = 0.01, y1 = 10, z1 = -3.6, normal = 1 + 9 * b * b * std::pow(y1, 4);
  return {
      {"symplectic-euler/e1.toml", problems::e1(), 1, true, 3.82352076862, 4.47180003145},
      {"symplectic-euler/e1-linear.toml", problems::e1(problems::E1::linear), 1, true},
      {"symplectic-euler/e1-affine.toml", problems::e1(problems::E1::affine), 1, true},
      {"symplectic-euler/e2.toml", problems::e2(), (9.81 + 6 * b * y1 * z1 * z1) / normal, false, 0.446408339986,
       0.295412568878},
      {"spark/s1.toml", problems::s1(), 1, true},
      {"spark/s2.toml", problems::s2(), lambda0},
      {"spark/s2-lagrangian.toml", problems::s2_lagrangian(), lambda0},
      {"spark/own-tableau.toml", problems::s2(), lambda0},
      {"spark/s2-squared.toml", s2_squared(), lambda0},
      {"spark/pendulum.toml", problems::pendulum(), 0},
      {"spark/relativistic.toml", problems::relativistic(), -0.8290323677347776},  // read off a run
      {"spark/variable-mass.toml", problems::variable_mass(), -0.5},
  };
}

// The files of energy-momentum/, which have several multipliers.
struct EnergyPaper {
  std::string file;
  Problem problem;
  double energy, vertical;  ///< kept: the energy and the angular momentum about the vertical
};

Problem double_pendulum(const std::vector<double>& momentum, double k) {
  Hamiltonian h;
  const Vector q1 = h.coordinates("q1", 3), q2 = h.coordinates("q2", 3);
  const Vector p1 = h.momenta("p1", 3), p2 = h.momenta("p2", 3);
  const Expression spring = k == 0 ? Expression(0.0) : k / 2 * pow(norm(q2) - 1.5, 2.0);
  h.hamiltonian((dot(p1, p1) + dot(p2, p2)) / 2.0 + 9.81 * (q1[1] + q2[1]) + spring);
  h.constrain((dot(q1, q1) - 1.0) / 2.0);
  h.constrain((dot(q2 - q1, q2 - q1) - 1.0) / 2.0);
  return {h.build(), {.position = {1, 0, 0, 2, 0, 0}, .momentum = momentum}};
}

// M = diag(e1 I, e1 I, e3 I), U = weight e3.d3, directors turned by `tilt` about e1, d_i' = omega x d_i.
Problem heavy_top(double e1, double e3, double weight, double tilt, const Eigen::Vector3d& omega) {
  Lagrangian l;
  std::vector<Vector> d;
  Expression kinetic = 0.0;
  Start start;
  const double c = std::cos(tilt), s = std::sin(tilt);
  const Eigen::Vector3d frame[] = {{1, 0, 0}, {0, c, s}, {0, -s, c}};
  for (int k = 0; k < 3; ++k) {
    d.push_back(l.coordinates("d" + std::to_string(k + 1), 3));
    const Vector v = l.velocity(d.back());
    kinetic += 0.5 * (k == 2 ? e3 : e1) * dot(v, v);
    const Eigen::Vector3d rate = omega.cross(frame[k]);
    start.position.insert(start.position.end(), frame[k].begin(), frame[k].end());
    start.velocity.insert(start.velocity.end(), rate.begin(), rate.end());
  }
  l.kinetic(kinetic);
  l.potential(weight * d[2][2]);
  for (const Vector& x : d) l.constrain((dot(x, x) - 1.0) / 2.0);
  l.constrain(dot(d[0], d[1]));
  l.constrain(dot(d[0], d[2]));
  l.constrain(dot(d[1], d[2]));
  return {l.build(), start};
}

std::vector<EnergyPaper> energy_papers() {
  const double mass = 0.706858347057703, length = 0.075, j = 5.30143760293278e-4, gravity = 9.81,
               alpha = std::acos(0.5);
  const double tip = j + mass * length * length, wp = 10;
  const double ws = mass * gravity * length / (j * wp) + (tip - j) / j * wp * std::cos(alpha);
  const Eigen::Vector3d cone(0, -ws * std::sin(alpha), wp + ws * std::cos(alpha));
  const Eigen::Vector3d fast(0, -50 * std::sin(0.3), 50 * std::cos(0.3));
  // energy: omega.J omega/2 + U with J = diag(tip, tip, j) along the directors
  const double across = wp * std::sin(alpha), along = wp * std::cos(alpha) + ws;
  return {
      {"pendulum-planar.toml", double_pendulum({0, 0, 0, 0, 0, 0}, 0), 0, 0},
      {"pendulum-3d.toml", double_pendulum({0, 0, 1, 0, 0, 2.5}, 0), 3.625, -6},
      {"spring-pendulum.toml", double_pendulum({0, 0, 1, 0, 0, 2.5}, 50), 9.875, -6},
      {"top-cone.toml", heavy_top(j / 2, j / 2 + mass * length * length, mass * gravity * length, alpha, cone),
       (tip * across * across + j * along * along) / 2 + mass * gravity * length * std::cos(alpha),
       tip * across * std::sin(alpha) + j * along * std::cos(alpha)},
      {"top-nutating.toml", heavy_top(0.5, 4.5, 20, 0.3, fast), 1250 + 20 * std::cos(0.3), 50 * std::cos(0.3)},
  };
}

Model load(const EnergyPaper& paper, const std::vector<Override>& overrides = {}) {
  return load_model(std::string(HINGE_PAPERS) + "/energy-momentum/" + paper.file, overrides);
}

bool is_euler(const Paper& paper) { return paper.file.rfind("symplectic-euler/", 0) == 0; }

Model load(const Paper& paper) {
  const std::string path = std::string(HINGE_PAPERS) + "/" + paper.file;
  return load_model(path);
}

State start_of(const Model& model) { return consistent_start(*model.system, 0, model.start); }
Point point(const State& s) { return {s.t, s.y, s.z, s.psi}; }

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  return worst;
}

TEST(Papers, EveryFileIsKnownHere) {
  std::set<std::string> found, known;
  const std::filesystem::path root = HINGE_PAPERS;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().extension() == ".toml" && entry.path().filename() != "figures.toml" &&  // see reproduce_test.cpp
        entry.path().parent_path().filename() != "odae" &&                                   // see there, too
        entry.path().parent_path().filename() != "dae" &&                                    // see below
        entry.path().parent_path().filename() != "ivp" &&                                    // see ivp_test.cpp
        entry.path().parent_path().filename() != "survey")                                   // see survey_test.cpp
      found.insert(entry.path().lexically_relative(root).generic_string());
  for (const Paper& paper : papers()) known.insert(paper.file);
  for (const EnergyPaper& paper : energy_papers()) known.insert("energy-momentum/" + paper.file);
  EXPECT_EQ(found, known);
}

// dae/: all of them start, from what the file gives. Their solutions are tested in tests/method/dae_run_test.cpp.
TEST(Papers, DaeFilesStart) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(HINGE_PAPERS) / "dae")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path().filename());
    ++files;
    const Model model = load_model(entry.path().string());
    Simulation run = model.simulation_for("");
    run.start(model.start);
    EXPECT_EQ(run.system().layout().kind, SystemKind::dae);
  }
  EXPECT_EQ(files, 13);
}

TEST(Papers, StartsAreConsistentAndHaveTheKnownMultipliers) {
  for (const Paper& paper : papers()) {
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    const System& system = *model.system;
    const State start = start_of(model);
    const Point x = point(start);
    ASSERT_EQ(start.psi.size(), 1u);
    EXPECT_NEAR(start.psi[0], paper.multiplier, 2e-14);                       // measured 3.6e-15
    EXPECT_LT(trial::largest(values(system, Q::constraint, x)), 1e-15);       // measured 2.2e-16
    EXPECT_LT(trial::largest(values(system, Q::constraint_rate, x)), 1e-14);  // measured 4.4e-16
    // 0 = rate_y v + rate_z z',  p_z z' = f + r - p_y v
    const Eigen::VectorXd v = values(system, Q::velocity, x);
    const Eigen::VectorXd right =
        values(system, Q::force, x) + values(system, Q::reaction, x) - values(system, Q::momentum_y, x) * v;
    const Eigen::VectorXd rate = values(system, Q::momentum_z, x).partialPivLu().solve(right);
    EXPECT_LT(
        trial::largest(values(system, Q::constraint_rate_y, x) * v + values(system, Q::constraint_rate_z, x) * rate),
        1e-14);  // measured 4.4e-16
  }
}

TEST(Papers, EquationsAndStartsAreThoseOfTheCppProblems) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.4, 0.9);  // slower than the light of relativistic.toml
  for (const Paper& paper : papers()) {
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    const State start = start_of(model), expected = consistent_start(*paper.problem.system, 0, paper.problem.start);
    EXPECT_LT(largest_difference(start.y, expected.y), 1e-15);  // measured 0
    EXPECT_LT(largest_difference(start.z, expected.z), 1e-15);  // measured 0
    for (int trial = 0; trial < 20; ++trial) {
      Point x = point(start);
      for (auto* part : {&x.y, &x.z, &x.psi})
        for (double& value : *part) value = uniform(random);
      for (const Q q : {Q::velocity, Q::momentum, Q::force, Q::reaction, Q::constraint, Q::constraint_rate})
        EXPECT_LT(trial::largest(values(*model.system, q, x) - values(*paper.problem.system, q, x)), 1e-14)
            << static_cast<int>(q);  // measured 4.4e-16
    }
  }
}

TEST(Papers, EnergyFilesAreTheProblemsOfThePaper) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0.4, 0.9);
  for (const EnergyPaper& paper : energy_papers()) {
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    EXPECT_EQ(model.method, "energy-momentum");
    const State start = start_of(model), expected = consistent_start(*paper.problem.system, 0, paper.problem.start);
    EXPECT_LT(largest_difference(start.y, expected.y), 1e-14);  // measured 2.2e-16
    EXPECT_LT(largest_difference(start.z, expected.z), 1e-11);  // measured 2.3e-13
    for (int trial = 0; trial < 20; ++trial) {
      Point x = point(start);
      for (auto* part : {&x.y, &x.z, &x.psi})
        for (double& value : *part) value = uniform(random);
      for (const Q q : {Q::velocity, Q::momentum, Q::force, Q::reaction, Q::constraint, Q::constraint_rate})
        EXPECT_LT(trial::largest(values(*model.system, q, x) - values(*paper.problem.system, q, x)), 1e-14)
            << static_cast<int>(q);  // measured 5.6e-16
    }
  }
}

TEST(Papers, EnergyFilesKeepEnergyMomentumAndConstraints) {
  for (const EnergyPaper& paper : energy_papers()) {
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    Simulation run = model.simulation_for("");
    run.start(model.start);
    EXPECT_NEAR(*run.report().energy, paper.energy, 1e-13 * (1 + std::abs(paper.energy)));  // measured 4.5e-13 of 1269
    run.until(model.end);
    const Report report = run.report();
    EXPECT_LT(*report.energy_error, 1e-13 * (1 + std::abs(paper.energy)));  // measured 3.4e-12 of 1269
    EXPECT_LT(report.constraint, 1e-14);                                    // measured 2.2e-16
    for (const auto& quantity : report.quantities) {
      if (quantity.name != "vertical") continue;
      EXPECT_NEAR(quantity.value[0], paper.vertical,
                  1e-13 * (1 + std::abs(paper.vertical)));  // measured 3.6e-14 of 47.8
    }
  }
}

TEST(Papers, ConeHasTheKnownErrorsAgainstItsExactSolution) {
  const EnergyPaper cone = energy_papers()[3];
  const std::vector<double> position = {9.3804e-2, 2.35149e-2, 5.88216e-3, 1.47075e-3};
  for (std::size_t k = 0; k < position.size(); ++k) {
    const Model model = load(cone, {{"integrate.step", std::to_string(1e-3 / std::pow(2, k))}});
    Simulation run = model.simulation_for("");
    run.start(model.start);
    EXPECT_LT(*run.report().exact_error[0], 1e-14);  // measured 0
    EXPECT_LT(*run.report().exact_error[1], 1e-13);  // measured 3.6e-15
    run.until(model.end);
    EXPECT_NEAR(*run.report().exact_error[0] / std::sqrt(3.0), position[k], 1e-7);
    EXPECT_NEAR(run.report().quantities[0].value[0], position[k], 1e-7);
  }
}

// The general discrete derivative keeps the energy and loses the angular momentum.
TEST(Papers, SpringPendulumTellsDiscreteDerivativesApart) {
  const EnergyPaper spring = energy_papers()[2];
  const Model model = load(spring, {{"integrate.derivative", "general"}});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  double worst = 0;
  for (int n = 0; n < 100; ++n) {
    run.step();
    worst = std::max(worst, std::abs(run.report().quantities[1].value[0] - spring.vertical));
  }
  EXPECT_LT(*run.report().energy_error, 1e-12);  // measured 2.1e-14
  EXPECT_NEAR(worst, 2.7e-4, 1e-5);              // measured 2.69e-4
}

TEST(Papers, ExactSolutionsSolveTheEquations) {
  for (const Paper& paper : papers()) {
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    ASSERT_EQ(model.exact.empty(), !paper.exact);
    if (!paper.exact) continue;
    const auto* system = dynamic_cast<const SymbolicSystem*>(model.system.get());
    ASSERT_TRUE(system);
    const auto at = [&](double t) {
      Point x{t, {}, {}, {}};
      const auto evaluate = [&](const Vector& part, std::vector<double>& out) {
        Graph graph;
        const std::vector<Node> nodes = system->nodes_of({part.begin(), part.end()}, graph);
        const auto tape = system->equations().tape(graph, nodes);
        std::vector<double> scratch = tape->make_scratch();
        out.resize(nodes.size());
        const double* const inputs[] = {&t, nullptr, nullptr, nullptr};
        tape->evaluate(inputs, scratch.data(), out.data());
      };
      evaluate(model.exact.position, x.y);
      evaluate(model.exact.velocity, x.z);
      evaluate(model.exact.multiplier, x.psi);
      return x;
    };
    const State start = start_of(model);
    EXPECT_EQ(at(0).y, start.y);
    EXPECT_EQ(at(0).z, start.z);
    const auto vector = [](const std::vector<double>& x) {
      return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())).eval();
    };
    const auto rate = [&](auto part, double t) {  // differences of sixth order
      constexpr double d = 0.01;
      const auto along = [&](int k) { return vector(at(t + k * d).*part); };
      return ((45 * (along(1) - along(-1)) - 9 * (along(2) - along(-2)) + (along(3) - along(-3))) / (60 * d)).eval();
    };
    for (const double t : {0.0, 0.5, 1.0}) {
      const Point x = at(t);
      const auto value = [&](Q q) { return values(*system, q, x); };
      EXPECT_LT(trial::largest(rate(&Point::y, t) - value(Q::velocity)), 1e-10);                    // measured 7e-12
      EXPECT_LT(trial::largest(rate(&Point::z, t) - value(Q::force) - value(Q::reaction)), 1e-10);  // measured 7e-12
      EXPECT_LT(trial::largest(value(Q::constraint)), 1e-14);                                       // measured 0
      EXPECT_LT(trial::largest(value(Q::constraint_rate)), 1e-14);                                  // measured 4.4e-16
    }
  }
}

TEST(Papers, AStepFromTheFileIsTheStepOfTheCppProblem) {
  for (const Paper& paper : papers()) {
    if (is_euler(paper)) continue;  // gauss-lobatto refuses a reaction that depends on z
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    EXPECT_EQ(model.method, paper.file == "spark/own-tableau.toml" ? "spark" : "gauss-lobatto");
    Simulation from_file = model.simulation_for("");
    from_file.start(model.start);
    from_file.step();
    Simulation built(paper.problem.system, gauss_lobatto(2), model.simulation);
    built.start(paper.problem.start);
    built.step();
    EXPECT_LT(largest_difference(from_file.state().y, built.state().y), 1e-15);      // measured 0
    EXPECT_LT(largest_difference(from_file.state().z, built.state().z), 1e-15);      // measured 1.1e-16
    EXPECT_LT(largest_difference(from_file.state().psi, built.state().psi), 1e-13);  // measured 1e-14
  }
}

TEST(Papers, SparkFilesKeepBothConstraintLevels) {
  for (const Paper& paper : papers()) {
    if (is_euler(paper)) continue;
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    Simulation run = model.simulation_for("");
    run.start(model.start);
    if (paper.multiplier == lambda0) {
      EXPECT_NEAR(*run.report().energy, energy0, 1e-15);  // measured 6e-17
    }
    run.until(std::min(model.end, 12.0));
    const Report report = run.report();
    EXPECT_LT(report.constraint, 1e-14);         // measured 5.6e-16
    EXPECT_LT(report.hidden_constraint, 1e-14);  // measured 4.4e-16
    for (const auto& quantity : report.quantities) {
      if (quantity.name != "J3") continue;
      EXPECT_NEAR(quantity.value[0], -0.4, 1e-14);  // measured 4.4e-16
    }
  }
}

// (6.2) in three forms, and once with the coefficients written out.
TEST(Papers, FormsOfS2HaveTheSameMotion) {
  std::vector<Report> reports;
  for (const Paper& paper : papers()) {
    if (paper.multiplier != lambda0) continue;
    const Model model = load(paper);
    Simulation run = model.simulation_for("");
    run.start(model.start);
    run.until(12);
    reports.push_back(run.report());
  }
  ASSERT_EQ(reports.size(), 4u);
  for (const Report& report : reports) {
    EXPECT_LT(largest_difference(report.final.y, reports[0].final.y), 1e-13);      // measured 1.6e-15
    EXPECT_LT(largest_difference(report.momentum, reports[0].momentum), 1e-13);    // measured 4e-15
    EXPECT_LT(largest_difference(report.final.psi, reports[0].final.psi), 1e-12);  // measured 1e-13
  }
}

TEST(Papers, EulerFilesRunWithTheKnownErrors) {
  const std::vector<double> e2_y = {0.47793426019385596745, 0.00109170296715464359828};
  const std::vector<double> e2_z = {-16.632108191110830881, -0.11397376192433608879};
  for (const Paper& paper : papers()) {
    if (!is_euler(paper)) continue;
    SCOPED_TRACE(paper.file);
    const Model model = load(paper);
    Simulation run = model.simulation_for("");
    run.start(model.start);
    run.until(model.end);
    const Report report = run.report();
    EXPECT_LT(report.constraint, 1e-13);
    EXPECT_LT(report.hidden_constraint, 1e-13);
    if (paper.error_y == 0) continue;
    const std::vector<double> solution = {std::exp(2.0), std::exp(-1.0)};
    EXPECT_NEAR(problems::distance(report.final.y, paper.exact ? solution : e2_y), paper.error_y, 1e-10);
    EXPECT_NEAR(problems::distance(report.final.z, paper.exact ? solution : e2_z), paper.error_z, 1e-10);
  }
}

}  // namespace
}  // namespace hinge::papers_test
