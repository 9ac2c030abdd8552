// The comparison of three ways to treat constraints in energy-momentum steps, computed: unknowns, constraint
// fulfilment, condition number and cost, as in the closing table of Leyendecker, Betsch and Steinmann, beside
// gauss-lobatto(1).
//
//   pendulum   the double spherical pendulum in R^6, two constraints, started out of the plane
//   top        a heavy symmetric top in steady precession, three directors in R^9, six constraints
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "measure.hpp"

namespace {

struct Problem {
  std::string title;
  std::shared_ptr<const hinge::System> system;
  hinge::Start start;
  std::vector<double> axis;
  double step = 1e-3;
  int steps = 0;
};

Problem pendulum() {
  hinge::Lagrangian l;
  const hinge::Vector a = l.coordinates("q1", 3), b = l.coordinates("q2", 3);
  l.kinetic(0.5 * (dot(l.velocity(a), l.velocity(a)) + dot(l.velocity(b), l.velocity(b))));
  l.potential(9.81 * (a[1] + b[1]));
  l.constrain((dot(a, a) - 1.0) / 2.0);
  l.constrain((dot(b - a, b - a) - 1.0) / 2.0);
  return {"pendulum: double spherical pendulum, 6 coordinates, 2 constraints",
          l.build(),
          {.position = {1, 0, 0, 2, 0, 0}, .velocity = {0, 0, 1, 0, 0, 2.5}},
          {0, 1, 0},
          1e-3,
          1000};
}

// A cone on its tip: E_i = (J_j + J_k - J_i)/2 with J1 = J2 = J3 here, centre of mass at length d3.
Problem top() {
  const double density = 2700, height = 0.1, radius = 0.05, gravity = 9.81;
  const double length = 0.75 * height, mass = density * std::numbers::pi * radius * radius * height / 3;
  const double j1 = 3.0 / 80 * mass * (4 * radius * radius + height * height), j3 = 0.3 * mass * radius * radius;
  const double e1 = j3 / 2, e3 = j1 - j3 / 2;
  const double tilt = std::numbers::pi / 3, precession = 10;
  const double spin = mass * gravity * length / (j3 * precession) +
                      (j1 + mass * length * length - j3) / j3 * precession * std::cos(tilt);
  hinge::Lagrangian l;
  const hinge::Vector d = l.coordinates("d", {3, 3}), v = l.velocity(d);
  const auto row = [](const hinge::Vector& x, std::size_t i) { return x.segment(3 * i, 3); };
  const double inertia[] = {e1, e1, e3 + mass * length * length};
  hinge::Expression kinetic = 0.0;
  for (std::size_t i = 0; i < 3; ++i) kinetic += 0.5 * inertia[i] * dot(row(v, i), row(v, i));
  l.kinetic(kinetic);
  l.potential(mass * gravity * length * d[8]);
  for (std::size_t i = 0; i < 3; ++i) l.constrain((dot(row(d, i), row(d, i)) - 1.0) / 2.0);
  l.constrain(dot(row(d, 0), row(d, 1)));
  l.constrain(dot(row(d, 0), row(d, 2)));
  l.constrain(dot(row(d, 1), row(d, 2)));
  const double c = std::cos(tilt), s = std::sin(tilt);
  const std::vector<double> position = {1, 0, 0, 0, c, s, 0, -s, c};
  const double omega[] = {0, -s * spin, precession + c * spin};
  std::vector<double> velocity;
  for (std::size_t i = 0; i < 3; ++i) {
    const double* x = position.data() + 3 * i;
    velocity.push_back(omega[1] * x[2] - omega[2] * x[1]);
    velocity.push_back(omega[2] * x[0] - omega[0] * x[2]);
    velocity.push_back(omega[0] * x[1] - omega[1] * x[0]);
  }
  return {"top: heavy symmetric top, 9 coordinates, 6 constraints",
          l.build(),
          {.position = position, .velocity = velocity, .consistent = hinge::Consistency::project},
          {0, 0, 1},
          1e-3,
          500};
}

struct Row {
  std::string label;
  hinge::MethodChoice method;
  std::optional<hinge::EnergyMomentumOptions> options{};
};

std::vector<Row> rows() {
  using T = hinge::ConstraintTreatment;
  std::vector<Row> list;
  const auto add = [&](std::string label, const hinge::EnergyMomentumOptions& o) {
    list.push_back({std::move(label), hinge::energy_momentum(o), o});
  };
  add("multiplier", {});
  add("penalty 1e5", {.constraints = T::penalty, .penalty = 1e5});
  add("penalty 1e7", {.constraints = T::penalty, .penalty = 1e7});
  add("augmented 1e7", {.constraints = T::augmented, .penalty = 1e7});
  add("augmented 1e7, warm", {.constraints = T::augmented, .penalty = 1e7, .warm_start = true});
  list.push_back({"gauss-lobatto(1)", hinge::gauss_lobatto(1)});
  return list;
}

void compare(const Problem& problem, double seconds) {
  fmt::print("{}, h = {:g}, {} steps\n\n", problem.title, problem.step, problem.steps);
  fmt::print("{:<20} {:>8} {:>5} {:>8} {:>8} {:>9} {:>9} {:>9} {:>10} {:>7} {:>6} {:>8}\n", "constraints by",
             "unknowns", "full", "max |g|", "max |g'|", "max|H-H0|", "max|E-E0|", "max|L-L0|", "condition", "Newton",
             "augm.", "us/step");
  const int n = problem.system->ny(), m = problem.system->npsi();
  for (const Row& row : rows()) {
    hinge::Simulation run(problem.system, row.method, {.step = problem.step});
    run.observe_momentum("L", {.axis = problem.axis});
    if (row.method.condition) run.observe_condition();
    run.start(problem.start);
    const hinge::State start = run.state();
    for (int k = 0; k < problem.steps; ++k) run.step();
    const hinge::Report report = run.report();

    const auto stepper = row.method.bind(problem.system, {});
    const double once = bench::time_of_short(
        [&] {
          hinge::State state = start;
          stepper->reset();
          for (int k = 0; k < problem.steps; ++k) stepper->step(state, problem.step);
        },
        seconds, 5);
    const bool multiplier = row.options && row.options->constraints == hinge::ConstraintTreatment::multiplier;
    const std::string reduced = row.options ? fmt::format("{}", multiplier ? n + m : n) : "-";
    const std::string full = row.options ? fmt::format("{}", multiplier ? 2 * n + m : 2 * n) : "-";
    const auto number = [](const std::optional<double>& x, const char* format) {
      return x ? fmt::format(fmt::runtime(format), *x) : "-";
    };
    const double steps = problem.steps;
    fmt::print("{:<20} {:>8} {:>5} {:>8.1e} {:>8.1e} {:>9.1e} {:>9} {:>9.1e} {:>10} {:>7.2f} {:>6} {:>8.2f}\n",
               row.label, reduced, full, report.constraint, report.hidden_constraint, *report.energy_error,
               number(report.discrete_energy_error, "{:.1e}"), report.momentum_maps[0].error,
               number(report.condition, "{:.4e}"), static_cast<double>(report.counters.iterations) / steps,
               report.counters.augmentations > 0
                   ? fmt::format("{:.2f}", static_cast<double>(report.counters.augmentations) / steps)
                   : "-",
               1e6 * once / steps);
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print(
      "Three treatments of constraints in energy-momentum steps, and gauss-lobatto(1), which solves its equations\n"
      "otherwise. unknowns: of the linear systems as solved (the momentum eliminated) and in full; g' the velocity\n"
      "level; E what the scheme conserves in the place of H; L the angular momentum about the vertical;\n"
      "condition: 2-norm, of the full iteration matrix of the first step, equations of motion times h; Newton:\n"
      "iterations per step; augm.: solutions with given multipliers per step; us/step: processor time, median.\n\n");
  const double seconds = bench::quick(argc, argv) ? 0.01 : 0.1;
  compare(pendulum(), seconds);
  compare(top(), seconds);
  return 0;
} catch (const hinge::Error& error) {
  fmt::print(stderr, "bench_energy_comparison: {}\n", error.what());
  return 1;
}
