// Work against error of methods that choose their steps, in one run: Hinge's `explicit`, `radau` and `bdf` from model
// files beside programs written by hand, SUNDIALS' IDA and DOP853 with projection.
//
//   pendulum                   mass 1 in the plane, rod 1, from rest in the horizontal, until t = 10
//   double spherical pendulum  masses 1 in space, rods 1, from rest in the horizontal, until t = 10
//   Andrews                    the squeezing mechanism of the test set for IVP solvers, until t = 0.03
//
// Hinge reads the model files and interprets their expressions. IDA gets residual and dense Jacobian by hand
// (ida_by_hand.hpp), DOP853 the accelerations (dop853_by_hand.hpp, andrews_by_hand.hpp). All are judged by positions
// and velocities at the end: against the equations in one or two angles, which are integrated by an extrapolated
// Runge-Kutta method in long double, and against the published solution of Andrews' mechanism.
//
//   bench_dae_work_precision [--quick] [the beginning of a problem's name]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ida/ida.h>

#include "andrews_by_hand.hpp"
#include "dop853_by_hand.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "ida_by_hand.hpp"
#include "measure.hpp"
#include "work_precision.hpp"

namespace {

struct Row {
  std::string method;
  double tolerance = 0, error = 0, ms = 0, watched_ms = 0;  // the last: Hinge's Simulation, with its watch
  long steps = 0, rejected = 0, iterations = 0, matrices = 0;
  std::string failure{};
};

struct Problem {
  std::string title, model;
  double end;
  std::vector<double> exact;  // positions and velocities
  bench::IdaProblem ida;
  std::function<Row(double tolerance)> dop853;
};

using bench::Cost;
using bench::distance;
using bench::pendulum_end;

std::vector<double> pendulum_solution(const bench::Rods& rods) {
  return bench::pendulum_solution(static_cast<std::size_t>(rods.points), static_cast<std::size_t>(rods.dimension));
}

// --------------------------------------------------------------------------------------------------------- runs

// The shortest of several runs, in ms: what else the machine does can only make them longer.
double shortest(const std::function<void()>& prepare, const std::function<void()>& run) {
  double best = INFINITY, total = 0;
  for (int k = 0; k < 60 && (k < 5 || total < 0.05); ++k) {
    prepare();
    const double time = bench::time_of(run);
    best = std::min(best, time);
    total += time;
  }
  return 1e3 * best;
}

Row run_hinge(const Problem& problem, const std::string& method, const hinge::Options& options, double tolerance) {
  Row row{.method = "Hinge, " + method, .tolerance = tolerance};
  for (const auto& [key, value] : options) row.method += " " + std::get<std::string>(value);
  try {
    const hinge::Model model = hinge::load_model(problem.model);
    const hinge::MethodChoice choice = hinge::make_method(method, options);
    const hinge::SimulationOptions simulation{.tolerance = {tolerance, tolerance}};
    std::optional<hinge::Simulation> watched;
    const auto prepare_watched = [&] {
      watched.emplace(model.system, choice, simulation);
      watched->start(model.start);
    };
    prepare_watched();
    const hinge::State begin = watched->state();
    // the method alone
    std::unique_ptr<hinge::Stepper> stepper;
    hinge::State state;
    row.ms = shortest(
        [&] {
          stepper = choice.bind(model.system, {}, {{tolerance, tolerance}});
          state = begin;
        },
        [&] {
          if (const auto result = stepper->start(state); !result) throw hinge::Error(result.reason);
          while (state.t < problem.end)
            if (const auto result = stepper->advance(state, problem.end); !result) throw hinge::Error(result.reason);
        });
    const hinge::Counters& counters = stepper->counters();
    row.steps = counters.steps;
    row.rejected = counters.rejected + counters.failed;
    row.iterations = counters.iterations;
    row.matrices = counters.factorisations;
    std::vector<double> x = state.y;
    x.insert(x.end(), state.z.begin(), state.z.end());
    row.error = distance(problem.exact, x.data());
    row.watched_ms = shortest(prepare_watched, [&] { watched->until(problem.end); });
  } catch (const hinge::Error& error) {
    row.failure = error.what();
  }
  return row;
}

Row run_ida(const Problem& problem, double tolerance) {
  Row row{.method = "IDA, ggl by hand", .tolerance = tolerance};
  std::unique_ptr<bench::Ida> ida;
  row.ms =
      shortest([&] { ida = std::make_unique<bench::Ida>(problem.ida, tolerance); }, [&] { row.failure = ida->run(); });
  row.error = distance(problem.exact, ida->values());
  const bench::IdaCounts counts = ida->counts();
  row.steps = counts.steps, row.rejected = counts.rejected;
  row.iterations = counts.iterations, row.matrices = counts.matrices;
  return row;
}

template <class Hand>
std::function<Row(double)> dop853(std::vector<double> start, double end, const std::vector<double>& exact) {
  return [=](double tolerance) {
    Row row{.method = "DOP853 by hand", .tolerance = tolerance};
    bench::ByHand<Hand> run;
    row.ms = shortest(
        [&] {
          run = {};
          std::copy(start.begin(), start.end(), run.x.begin());
        },
        [&] { run.run(end, tolerance, end * 1e-4); });
    row.error = distance(exact, run.x.data());
    row.steps = run.steps;
    return row;
  };
}

// ------------------------------------------------------------------------------------------------------- tables

void print(const Row& row) {
  if (!row.failure.empty()) {
    fmt::print("{:<32} {:>8.0e} failed: {}\n", row.method, row.tolerance, row.failure);
    return;
  }
  const auto count = [](long n) { return n > 0 ? std::to_string(n) : "-"; };
  fmt::print("{:<32} {:>8.0e} {:>9.1e} {:>9.3f} {:>9} {:>7} {:>8} {:>9} {:>8}\n", row.method, row.tolerance, row.error,
             row.ms, row.watched_ms > 0 ? fmt::format("{:.3f}", row.watched_ms) : "-", row.steps, row.rejected,
             count(row.iterations), count(row.matrices));
}

std::optional<Cost> cost_at(double error, std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return !row.failure.empty(); });
  return bench::cost_at(error, std::move(rows));
}

enum Method : std::size_t { explicit_8, radau, bdf_projected, bdf_ggl, ida, dop, methods };

void compare(const Problem& problem, bool quick) {
  fmt::print("\n{}\n\n{:<32} {:>8} {:>9} {:>9} {:>9} {:>7} {:>8} {:>9} {:>8}\n", problem.title, "method", "tol",
             "error", "ms", "watched", "steps", "rejected", "Newton", "matrices");
  const auto form = [](const char* name) { return hinge::Options{{"formulation", std::string(name)}}; };
  std::array<std::vector<Row>, methods> all;
  for (int digits = 4; digits <= 12; digits += quick ? 2 : 1) {
    const double tolerance = std::pow(10.0, -digits);
    const auto add = [&](Method method, Row row) {
      print(row);
      all[method].push_back(std::move(row));
    };
    add(explicit_8, run_hinge(problem, "explicit", {}, tolerance));
    add(radau, run_hinge(problem, "radau", {}, tolerance));
    if (digits < 12) {
      add(bdf_projected, run_hinge(problem, "bdf", form("projected-invariants"), tolerance));
      add(bdf_ggl, run_hinge(problem, "bdf", form("ggl"), tolerance));
      add(ida, run_ida(problem, tolerance));
    }
    add(dop, problem.dop853(tolerance));
  }
  fmt::print("\nms at equal error (log-log interpolation on each method's front)\n{:<8}", "error");
  for (const char* name : {"explicit", "radau", "bdf p.-inv.", "bdf ggl", "IDA", "DOP853"}) fmt::print(" {:>12}", name);
  fmt::print(" {:>12} {:>16}\n", "IDA / bdf", "explicit/DOP853");
  for (int digits = 2; digits <= 10; ++digits) {
    const double error = std::pow(10.0, -digits);
    std::array<std::optional<Cost>, methods> cost;
    fmt::print("{:<8.0e}", error);
    for (std::size_t k = 0; k < methods; ++k) {
      cost[k] = cost_at(error, all[k]);
      fmt::print(" {:>12}", cost[k] ? fmt::format("{}{:.3f}", cost[k]->at_most ? "<= " : "", cost[k]->ms) : "-");
    }
    // what a method takes at most may stand in a ratio that it makes look worse
    const auto ratio = [](const std::optional<Cost>& above, bool above_may_be_less, const std::optional<Cost>& below,
                          bool below_may_be_less) {
      const bool known =
          above && below && (above_may_be_less || !above->at_most) && (below_may_be_less || !below->at_most);
      return known ? fmt::format("{:.2f}", above->ms / below->ms) : "-";
    };
    const auto& bdf = !cost[bdf_ggl] || (cost[bdf_projected] && cost[bdf_projected]->ms < cost[bdf_ggl]->ms)
                          ? cost[bdf_projected]
                          : cost[bdf_ggl];
    fmt::print(" {:>12} {:>16}\n", ratio(cost[ida], false, bdf, true), ratio(cost[explicit_8], true, cost[dop], false));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  const std::string only = argc > 1 && argv[argc - 1][0] != '-' ? argv[argc - 1] : "";
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print(
      "Work against error at the end; processor time of the integration alone, the shortest of several runs.\n"
      "Debian compiles SUNDIALS without optimisation: a tuned build of IDA is 2.5 to 4.6 times faster. 'watched' is\n"
      "Hinge's time with the watch over |g|, |G v| and the energy at every step that every run of `hinge` has.\n");
  bench::Rods one{1, 2}, two{2, 3};
  bench::AndrewsIda mechanism;
  const auto& andrews = bench::Andrews::solution;
  std::vector<double> andrews_start(14, 0.0);
  std::copy(bench::Andrews::start.begin(), bench::Andrews::start.end(), andrews_start.begin());
  const std::vector<double> first = pendulum_solution(one), second = pendulum_solution(two),
                            third(andrews.begin(), andrews.end());
  const std::string examples = HINGE_EXAMPLES, papers = HINGE_PAPERS;
  const std::vector<Problem> problems = {
      {"pendulum", examples + "/pendulum.toml", pendulum_end, first, one.ida(pendulum_end),
       dop853<bench::PendulumByHand>({1, 0, 0, 0}, pendulum_end, first)},
      {"double spherical pendulum", examples + "/double-spherical-pendulum.toml", pendulum_end, second,
       two.ida(pendulum_end),
       dop853<bench::DoublePendulumByHand>({1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}, pendulum_end, second)},
      {"Andrews' squeezing mechanism", papers + "/ivp/andrews.toml", bench::Andrews::end, third, mechanism.ida(),
       dop853<bench::AndrewsByHand>(andrews_start, bench::Andrews::end, third)}};
  for (const Problem& problem : problems)
    if (problem.title.rfind(only, 0) == 0) compare(problem, quick);
}
