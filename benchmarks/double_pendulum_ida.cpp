// Work against error: Hinge and SUNDIALS' IDA on the double spherical pendulum, in one run.
//
//   masses 1, rods 1, gravity 9.81 along -y, from rest at q1 = (1, 0, 0), q2 = (2, 0, 0), until t = 10
//   g_1 = (q1.q1 - 1)/2 = 0,  g_2 = ((q2 - q1).(q2 - q1) - 1)/2 = 0
//
// Hinge gets the Lagrangian. IDA gets what a careful user would give it (ida_by_hand.hpp): the stabilised index-2 form
// of Gear, Gupta and Leimkuhler, 16 unknowns, with the residual and the dense Jacobian written by hand.
//
// Both are judged by a solution that belongs to neither: the motion is planar, so two angles describe it, and those are
// integrated by the classical Runge-Kutta method in long double.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ida/ida.h>

#include "hinge/error.hpp"
#include "hinge/simulate.hpp"
#include "ida_by_hand.hpp"
#include "measure.hpp"

namespace {

constexpr double gravity = bench::Rods::gravity;
constexpr double end_time = 10.0;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

struct Motion {
  std::array<double, 6> q{}, v{};
};

double largest_difference(const std::array<double, 6>& a, const std::array<double, 6>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

// One line of the table.
struct Row {
  std::string method, setting;
  std::string failure;  // empty when the run reached the end
  double setup_ms = not_known, cpu_ms = not_known;
  long steps = 0;
  double position_error = not_known, velocity_error = not_known;
  double constraint = not_known, hidden_constraint = not_known;
};

// ------------------------------------------------------------------------------------------------- the reference

using Angles = std::array<long double, 4>;  // a, b from the downward vertical, then a', b'

//   2 a'' + cos(a-b) b'' = -sin(a-b) b'^2 - 2 gravity sin a
//   cos(a-b) a'' + b''   =  sin(a-b) a'^2 -   gravity sin b
Angles angle_rates(const Angles& x) {
  const long double s = std::sin(x[0] - x[1]), c = std::cos(x[0] - x[1]);
  const long double g = gravity;
  const long double first = -s * x[3] * x[3] - 2 * g * std::sin(x[0]);
  const long double second = s * x[2] * x[2] - g * std::sin(x[1]);
  const long double determinant = 2 - c * c;
  return {x[2], x[3], (first - c * second) / determinant, (2 * second - c * first) / determinant};
}

Angles runge_kutta(int steps) {
  const long double h = static_cast<long double>(end_time) / steps;
  const auto shifted = [](Angles x, long double by, const Angles& k) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * k[i];
    return x;
  };
  constexpr long double horizontal = std::numbers::pi_v<long double> / 2;
  Angles x{horizontal, horizontal, 0, 0};
  for (int n = 0; n < steps; ++n) {
    const Angles k1 = angle_rates(x);
    const Angles k2 = angle_rates(shifted(x, h / 2, k1));
    const Angles k3 = angle_rates(shifted(x, h / 2, k2));
    const Angles k4 = angle_rates(shifted(x, h, k3));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
  }
  return x;
}

Motion from_angles(const Angles& x) {
  const auto point = [](long double angle, long double rate) {
    return std::array<long double, 4>{std::sin(angle), -std::cos(angle), std::cos(angle) * rate,
                                      std::sin(angle) * rate};
  };
  const auto first = point(x[0], x[2]), rod = point(x[1], x[3]);
  Motion motion;
  for (std::size_t k = 0; k < 2; ++k) {
    motion.q[k] = static_cast<double>(first[k]);
    motion.q[3 + k] = static_cast<double>(first[k] + rod[k]);
    motion.v[k] = static_cast<double>(first[2 + k]);
    motion.v[3 + k] = static_cast<double>(first[2 + k] + rod[2 + k]);
  }
  return motion;
}

struct Reference {
  Motion motion;
  double position_uncertainty = 0, velocity_uncertainty = 0;
};

// Richardson's extrapolation of two step sizes; what it changes at the finer one bounds what is not known.
Reference reference_solution(bool quick) {
  const int steps = quick ? 50'000 : 100'000;
  const Angles coarse = runge_kutta(steps), fine = runge_kutta(2 * steps);
  Angles best = fine;
  for (std::size_t i = 0; i < best.size(); ++i) best[i] += (fine[i] - coarse[i]) / 15;
  const Motion motion = from_angles(best), at_fine = from_angles(fine);
  return {motion, largest_difference(motion.q, at_fine.q), largest_difference(motion.v, at_fine.v)};
}

// --------------------------------------------------------------------------------------------------------- Hinge

hinge::Lagrangian double_pendulum() {
  hinge::Lagrangian pendulum;
  const auto q1 = pendulum.coordinates("q1", 3);
  const auto q2 = pendulum.coordinates("q2", 3);
  const auto v1 = pendulum.velocity(q1), v2 = pendulum.velocity(q2);
  pendulum.kinetic(0.5 * dot(v1, v1) + 0.5 * dot(v2, v2));
  pendulum.potential(gravity * (q1[1] + q2[1]));
  pendulum.constrain(0.5 * (dot(q1, q1) - 1.0));
  pendulum.constrain(0.5 * (dot(q2 - q1, q2 - q1) - 1.0));
  return pendulum;
}

hinge::Simulation start_hinge(const hinge::MethodChoice& method, double step) {
  hinge::Simulation run(double_pendulum(), method, {.step = step});
  run.start({.position = {1, 0, 0, 2, 0, 0}, .velocity = {0, 0, 0, 0, 0, 0}});
  return run;
}

Motion motion_of(const hinge::State& state) {
  Motion motion;
  std::copy_n(state.y.begin(), motion.q.size(), motion.q.begin());
  std::copy_n(state.z.begin(), motion.v.size(), motion.v.begin());
  return motion;
}

Row run_hinge(const std::string& name, const hinge::MethodChoice& method, double step, const Motion& exact,
              int repeats) {
  Row row{.method = name, .setting = fmt::format("h = {:g}", step), .failure = {}};
  std::vector<double> setup, cpu;
  try {
    for (int k = 0; k < repeats; ++k) {
      std::optional<hinge::Simulation> run;
      setup.push_back(1e3 * bench::time_of([&] { run.emplace(start_hinge(method, step)); }));
      cpu.push_back(1e3 * bench::time_of([&] { run->until(end_time); }));
      if (k > 0) continue;  // every repetition computes the same numbers
      const hinge::Report report = run->report();
      const Motion motion = motion_of(run->state());
      row.steps = report.steps;
      row.position_error = largest_difference(motion.q, exact.q);
      row.velocity_error = largest_difference(motion.v, exact.v);
      row.constraint = report.constraint;
      row.hidden_constraint = report.hidden_constraint;
    }
    row.setup_ms = bench::median(setup);
    row.cpu_ms = bench::median(cpu);
  } catch (const hinge::Error& error) {
    row.failure = error.what();
  }
  return row;
}

// ----------------------------------------------------------------------------------------------------------- IDA

constexpr int at_q = 0, at_v = 6;

void note_constraints(const double* x, Row& row) {
  for (int rod = 0; rod < 2; ++rod) {
    double square = 0, product = 0;
    for (int k = 3 * rod; k < 3 * rod + 3; ++k) {
      const double r = rod == 0 ? x[k] : x[k] - x[k - 3], slide = x[at_v + k] - (rod == 0 ? 0.0 : x[at_v + k - 3]);
      square += r * r;
      product += r * slide;
    }
    row.constraint = std::max(row.constraint, std::abs(square - 1) / 2);
    row.hidden_constraint = std::max(row.hidden_constraint, std::abs(product));
  }
}

Row run_ida(double tolerance, const Motion& exact, int repeats) {
  bench::Rods rods{2, 3};
  const bench::IdaProblem problem = rods.ida(end_time);
  Row row{.method = "IDA, GGL", .setting = fmt::format("tol = {:.0e}", tolerance), .failure = {}};
  std::vector<double> setup, cpu;
  for (int k = 0; k < repeats; ++k) {
    std::unique_ptr<bench::Ida> ida;
    setup.push_back(1e3 * bench::time_of([&] { ida = std::make_unique<bench::Ida>(problem, tolerance); }));
    cpu.push_back(1e3 * bench::time_of([&] { row.failure = ida->run(); }));
    row.steps = ida->counts().steps;
    if (!row.failure.empty()) return row;
    if (k > 0) continue;
    Motion motion;
    std::copy_n(ida->values() + at_q, 6, motion.q.begin());
    std::copy_n(ida->values() + at_v, 6, motion.v.begin());
    row.position_error = largest_difference(motion.q, exact.q);
    row.velocity_error = largest_difference(motion.v, exact.v);
  }
  row.setup_ms = bench::median(setup);
  row.cpu_ms = bench::median(cpu);
  // The constraints are watched in a run of its own, so that the timed ones do nothing but integrate.
  row.constraint = row.hidden_constraint = 0;
  bench::Ida watched(problem, tolerance);
  row.failure = watched.run_watching([&](const double* x) { note_constraints(x, row); });
  return row;
}

// -------------------------------------------------------------------------------------------------------- tables

void print_row(const Row& row) {
  if (!row.failure.empty()) {
    fmt::print("{:<18} {:<14} failed: {}\n", row.method, row.setting, row.failure);
    return;
  }
  fmt::print("{:<18} {:<14} {:>9.3f} {:>10.3f} {:>8} {:>10.1e} {:>10.1e} {:>9.1e} {:>9.1e}\n", row.method, row.setting,
             row.setup_ms, row.cpu_ms, row.steps, row.position_error, row.velocity_error, row.constraint,
             row.hidden_constraint);
}

void print_heading(const Reference& reference) {
  fmt::print(
      "Double spherical pendulum from rest, t = 0 .. {:g}: processor time against error\n\n"
      "Measured: processor time of the integration loop alone, median of the repetitions; making the\n"
      "  system and the solver ready is the column 'setup'. Hinge's time includes its watch over |g|,\n"
      "  |G v| and the energy at every step; IDA is called once and watches nothing while it is timed.\n"
      "Hinge is given the Lagrangian and interprets its expressions. IDA is given the stabilised index-2\n"
      "  form with residual and Jacobian written by hand in C++ and compiled with optimisation; lambda\n"
      "  and mu are left out of its error test.\n"
      "Debian compiles SUNDIALS without optimisation: a tuned build of it would be some 2.5 to 4.6 times\n"
      "  faster.\n",
      end_time);
  fmt::print(
      "Errors are maximum norms at t = {:g} against the planar equations in two angles, integrated in long\n"
      "  double by an extrapolated Runge-Kutta method: known to {:.0e} in position, {:.0e} in velocity.\n"
      "  The motion is mildly chaotic and magnifies early errors; that is part of the problem.\n",
      end_time, reference.position_uncertainty, reference.velocity_uncertainty);
}

struct Method {
  std::string name;
  hinge::MethodChoice choice;
  std::vector<double> steps;
};

std::vector<Method> hinge_methods(bool quick) {
  const auto halved = [quick](double first, int count) {
    std::vector<double> steps;
    for (int k = 0; k < count; k += quick ? 2 : 1) steps.push_back(first / (1 << k));
    return steps;
  };
  return {{"rattle", hinge::rattle(), halved(0.01, 7)},
          {"gauss-lobatto(1)", hinge::gauss_lobatto(1), halved(0.01, 7)},
          {"gauss-lobatto(2)", hinge::gauss_lobatto(2), halved(0.08, 8)},
          {"gauss-lobatto(3)", hinge::gauss_lobatto(3), halved(0.1, 7)},
          {"gauss-lobatto(4)", hinge::gauss_lobatto(4), halved(0.1, 6)},
          {"gauss-lobatto(5)", hinge::gauss_lobatto(5), halved(0.1, 5)}};
}

// 1e-4 .. 1e-12, and a little below, where IDA mostly gives up but may still get closer.
std::vector<double> ida_tolerances(bool quick) {
  std::vector<double> tolerances;
  for (int digits = 4; digits <= 12; digits += quick ? 2 : 1) tolerances.push_back(std::pow(10.0, -digits));
  for (const double below : {5e-13, 1e-13}) tolerances.push_back(below);
  return tolerances;
}

// Two step sizes of the most accurate method against each other and against the reference: three solutions that agree.
void print_agreement(const Reference& reference) {
  const auto at = [](double step) {
    auto run = start_hinge(hinge::gauss_lobatto(5), step);
    run.until(end_time);
    return motion_of(run.state());
  };
  const Motion coarse = at(0.01), fine = at(0.005);
  fmt::print("  gauss-lobatto(5) with h = 0.01 and h = 0.005: {:.1e} from each other, the second {:.1e} from it.\n\n",
             largest_difference(coarse.q, fine.q), largest_difference(fine.q, reference.motion.q));
}

struct Cost {
  std::string method;
  double cpu_ms = not_known;
  bool at_most = false;  // even the crudest run was better than asked for
};

// Time of one method at a given error: interpolated, log against log, on the front of its runs that no other run of
// the method beats in both time and error.
std::optional<Cost> cost_at(double error, std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return !row.failure.empty(); });
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.cpu_ms < b.cpu_ms; });
  const Row* previous = nullptr;
  for (const Row& row : rows) {
    if (previous && row.position_error >= previous->position_error) continue;
    if (row.position_error <= error) {
      if (!previous) return Cost{row.method, row.cpu_ms, true};
      const double part =
          std::log(error / previous->position_error) / std::log(row.position_error / previous->position_error);
      return Cost{row.method, previous->cpu_ms * std::pow(row.cpu_ms / previous->cpu_ms, part), false};
    }
    previous = &row;
  }
  return std::nullopt;
}

std::string describe(const std::optional<Cost>& cost) {
  if (!cost) return "not reached";
  return fmt::format("{}{:.3f} ms", cost->at_most ? "<= " : "", cost->cpu_ms);
}

void print_comparison(const std::vector<std::vector<Row>>& of_hinge, const std::vector<Row>& of_ida) {
  fmt::print("\nCPU time at equal error in position (log-log interpolation on each method's front)\n\n");
  fmt::print("{:<8} {:<18} {:>14} {:>14} {:>12}\n", "error", "Hinge's best", "Hinge", "IDA", "IDA/Hinge");
  for (const double error : {1e-3, 1e-6, 1e-9}) {
    std::optional<Cost> best;
    for (const auto& rows : of_hinge) {
      const auto cost = cost_at(error, rows);
      if (cost && (!best || cost->cpu_ms < best->cpu_ms)) best = cost;
    }
    const auto ida = cost_at(error, of_ida);
    const std::string ratio = best && ida ? fmt::format("{:.2f}", ida->cpu_ms / best->cpu_ms) : "-";
    fmt::print("{:<8.0e} {:<18} {:>14} {:>14} {:>12}\n", error, best ? best->method : "-", describe(best),
               describe(ida), ratio);
  }
  fmt::print("\nAgainst a tuned build of SUNDIALS the last column would be 2.5 to 4.6 times smaller.\n");
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  const int repeats = quick ? 3 : 7;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come, also into a file
  const Reference reference = reference_solution(quick);
  print_heading(reference);
  print_agreement(reference);

  fmt::print("{:<18} {:<14} {:>9} {:>10} {:>8} {:>10} {:>10} {:>9} {:>9}\n", "method", "setting", "setup ms", "CPU ms",
             "steps", "error q", "error v", "max |g|", "max |Gv|");
  std::vector<std::vector<Row>> of_hinge;
  for (const Method& method : hinge_methods(quick)) {
    auto& rows = of_hinge.emplace_back();
    for (const double step : method.steps) {
      rows.push_back(run_hinge(method.name, method.choice, step, reference.motion, repeats));
      print_row(rows.back());
    }
  }
  std::vector<Row> of_ida;
  for (const double tolerance : ida_tolerances(quick)) {
    of_ida.push_back(run_ida(tolerance, reference.motion, repeats));
    print_row(of_ida.back());
  }
  print_comparison(of_hinge, of_ida);
}
