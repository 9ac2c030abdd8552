// How the cost of a step grows with the size of a system: a chain of N point masses on massless rods.
//
//   masses 1, rods 1, gravity 9.81 along -y, hung up at the origin, from rest at q_i = (i + 1, 0, 0)
//   g_0 = (q_0.q_0 - 1)/2 = 0,  g_i = ((q_i - q_{i-1}).(q_i - q_{i-1}) - 1)/2 = 0
//
// Each constraint touches two masses, so a step should cost a multiple of N and nothing more. Every chain is followed
// over the same stretch of its motion, because the number of iterations depends on what the chain is doing.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/simulate.hpp"
#include "measure.hpp"

namespace {

constexpr double gravity = 9.81;
constexpr double step = 1e-3;

hinge::Lagrangian chain(int links) {
  hinge::Lagrangian system;
  const auto q = system.coordinates("q", {links, 3});
  const auto v = system.velocity(q);
  const auto point = [&q](int i) { return q.segment(3 * static_cast<std::size_t>(i), 3); };
  hinge::Expression height = 0.0;
  for (int i = 0; i < links; ++i) {
    const hinge::Vector rod = i == 0 ? point(0) : point(i) - point(i - 1);
    height += point(i)[1];
    system.constrain(0.5 * (dot(rod, rod) - 1.0));
  }
  system.kinetic(0.5 * dot(v, v));
  system.potential(gravity * height);
  return system;
}

hinge::Simulation start_chain(int links, const hinge::MethodChoice& method) {
  hinge::Simulation run(chain(links), method, {.step = step});
  std::vector<double> position(3 * static_cast<std::size_t>(links), 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(links); ++i) position[3 * i] = static_cast<double>(i + 1);
  run.start({.position = position});
  return run;
}

struct Cost {
  int links = 0;
  double setup_seconds = 0, step_seconds = 0;
  double iterations = 0, factorisations = 0, full_newton = 0;  // per step
  double constraint = 0, hidden_constraint = 0;
  std::string failure;
};

// Runs of `steps` steps, at least three and until they add up to `seconds`; the median run counts.
Cost measure(int links, const hinge::MethodChoice& method, int steps, double seconds) {
  Cost cost{.links = links, .failure = {}};
  std::vector<double> setup, times;
  double total = 0;
  try {
    while (times.size() < 3 || total < seconds) {
      const double before = bench::cpu_seconds();
      hinge::Simulation run = start_chain(links, method);
      setup.push_back(bench::cpu_seconds() - before);
      times.push_back(bench::time_of([&] {
        for (int k = 0; k < steps; ++k) run.step();
      }));
      total += times.back();
      if (times.size() > 1) continue;
      const hinge::Report report = run.report();
      cost.iterations = static_cast<double>(report.counters.iterations) / steps;
      cost.factorisations = static_cast<double>(report.counters.factorisations) / steps;
      cost.full_newton = static_cast<double>(report.counters.full_newton) / steps;
      cost.constraint = report.constraint;
      cost.hidden_constraint = report.hidden_constraint;
    }
    cost.setup_seconds = bench::median(setup);
    cost.step_seconds = bench::median(times) / steps;
  } catch (const hinge::Error& error) {
    cost.failure = error.what();
  }
  return cost;
}

void print_cost(const std::string& method, const Cost& cost) {
  if (!cost.failure.empty()) {
    fmt::print("{:<18} {:>6}  failed: {}\n", method, cost.links, cost.failure);
    return;
  }
  fmt::print("{:<18} {:>6} {:>9.4f} {:>12.2f} {:>10.3f} {:>8.2f} {:>8.3f} {:>6.2f} {:>9.1e} {:>9.1e}\n", method,
             cost.links, cost.setup_seconds, 1e6 * cost.step_seconds, 1e6 * cost.step_seconds / cost.links,
             cost.iterations, cost.factorisations, cost.full_newton, cost.constraint, cost.hidden_constraint);
}

// Slope of log(time per step) over log(links) between two sizes.
std::string exponent(const std::vector<Cost>& costs, int from, int to) {
  double first = 0, last = 0;
  for (const Cost& cost : costs) {
    if (!cost.failure.empty()) continue;
    if (cost.links == from) first = cost.step_seconds;
    if (cost.links == to) last = cost.step_seconds;
  }
  if (first == 0 || last == 0) return "not measured";
  const double slope = std::log(last / first) / std::log(static_cast<double>(to) / from);
  return fmt::format("{:.3f}: {}", slope, slope <= 1.1 ? "at most 1.1, linear" : "MORE than 1.1");
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come, also into a file
  const int steps = quick ? 20 : 100;
  const int largest = quick ? 1000 : 10000;
  fmt::print(
      "Chain of N links falling from the horizontal, h = {:g}, {} steps from the start for every N,\n"
      "at least three times. Times are processor time: 'setup' makes the system with all its\n"
      "derivatives, checks the start and analyses the matrices; 'step' is the integration with its watch\n"
      "over |g|, |G v| and the energy.\n\n",
      step, steps);
  fmt::print("{:<18} {:>6} {:>9} {:>12} {:>10} {:>8} {:>8} {:>6} {:>9} {:>9}\n", "method", "N", "setup s", "us/step",
             "us/step/N", "Newton", "factor.", "full", "max |g|", "max |Gv|");
  struct Method {
    std::string name;
    hinge::MethodChoice choice;
  };
  const std::vector<Method> methods = {{"rattle", hinge::rattle()},
                                       {"gauss-lobatto(1)", hinge::gauss_lobatto(1)},
                                       {"gauss-lobatto(2)", hinge::gauss_lobatto(2)}};
  std::vector<std::vector<Cost>> all;
  for (const Method& method : methods) {
    auto& costs = all.emplace_back();
    for (int links = 10; links <= largest; links *= 10) {
      costs.push_back(measure(links, method.choice, steps, quick ? 0.1 : 0.5));
      print_cost(method.name, costs.back());
    }
  }
  fmt::print("\nNewton, factor., full: iterations, factorisations and uses of the full matrix per step.\n\n");
  fmt::print("Exponent of the time per step between N = {} and N = {}\n", 100, largest);
  for (std::size_t k = 0; k < methods.size(); ++k)
    fmt::print("  {:<18} {}\n", methods[k].name, exponent(all[k], 100, largest));
}
