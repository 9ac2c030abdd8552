// What a step of each method costs, and what it keeps, on two systems:
//
//   S2   a charged particle on a sphere (papers/spark/s2.toml), h = 0.12: H mixes q and p, every method is implicit
//   DSP  the double spherical pendulum (examples/), started out of the plane, h = 0.01: separable, two constraints
//
// Every method that the library lists must have an instance here.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "measure.hpp"

namespace {

/// A method with options. Where there is a note, it is not measured, and the note says why.
struct Instance {
  std::string label, method;
  hinge::Options options{};
  std::string note{};
};

const std::string reference = "rattle";
const std::string target = "gauss-lobatto(2)";

// An instance whose method the library does not have is ignored; the other way round is an error.
std::vector<Instance> all_instances() {
  const auto word = [](const char* text) { return hinge::OptionValue(std::string(text)); };
  const std::string euler = "symplectic-euler";
  return {
      {reference, "rattle"},
      {"shake", "shake"},
      {"gauss-lobatto(1)", "gauss-lobatto", {{"stages", 1.0}}},
      {target, "gauss-lobatto", {{"stages", 2.0}}},
      {"gauss-lobatto(3)", "gauss-lobatto", {{"stages", 3.0}}},
      {"gauss-lobatto(4)", "gauss-lobatto", {{"stages", 4.0}}},
      {"lobatto-iiia-iiib(2)", "lobatto-iiia-iiib", {{"stages", 2.0}}},
      {"lobatto-iiia-iiib(3)", "lobatto-iiia-iiib", {{"stages", 3.0}}},
      {"lobatto-iiia-iiib(4)", "lobatto-iiia-iiib", {{"stages", 4.0}}},
      {"spark", "spark", {}, "needs coefficients of one's own; the code is that of gauss-lobatto"},
      {"euler, true", euler, {{"variant", word("true")}, {"alpha", 0.5}}},
      {"euler, true adjoint", euler, {{"variant", word("true")}, {"alpha", 0.5}, {"adjoint", true}}},
      {"euler, true conjugate", euler, {{"variant", word("true")}, {"alpha", 0.5}, {"conjugate", true}}},
      {"euler, natural", euler, {{"variant", word("natural")}, {"alpha", 0.5}}},
      {"composition 4 of euler",
       "composition",
       {{"base", word("symplectic-euler")}, {"order", 4.0}, {"scheme", word("suzuki")}}},
      {"composition 4 of rattle",
       "composition",
       {{"base", word("rattle")}, {"order", 4.0}, {"scheme", word("suzuki")}}},
      {"radau(2)", "radau", {{"stages", 2.0}}},
      {"radau(3)", "radau", {{"stages", 3.0}}},
      {"energy, multiplier", "energy-momentum"},
      {"energy, penalty 1e6", "energy-momentum", {{"constraints", word("penalty")}, {"penalty", 1e6}}},
      {"energy, augmented 1e6", "energy-momentum", {{"constraints", word("augmented")}, {"penalty", 1e6}}},
      {"euler-maruyama", "euler-maruyama", {}, "for linear DAEs with noise"},
      {"bdf(2)", "bdf", {{"order", 2.0}}},
      {"bdf(5)", "bdf", {{"order", 5.0}}},
      {"explicit(5)", "explicit", {{"order", 5.0}}},
      {"explicit(8)", "explicit", {{"order", 8.0}}},
      {"half-explicit(3)", "half-explicit", {{"order", 3.0}}},
      {"half-explicit(4)", "half-explicit", {{"order", 4.0}}},
      {"half-explicit(5)", "half-explicit", {{"order", 5.0}}},
      {"generalized-alpha", "generalized-alpha"},
      {"moreau-jean", "moreau-jean"},
      {"paoli-schatzman", "paoli-schatzman"},
      {"event-driven", "event-driven", {{"base", word("rattle")}}},
      {"auto", "auto", {}, "chooses its steps; its steps are those of explicit(8)"},
  };
}

std::vector<std::string> registered() {
  std::vector<std::string> names;
  for (const hinge::MethodInfo& info : hinge::methods()) names.push_back(info.name);
  return names;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

struct Problem {
  std::string title;
  hinge::Model model;
  double step;
  int steps;  ///< of one run
};

/// One method on one problem. Numbers are per step.
class Cell {
 public:
  Cell(const Instance& instance, const Problem& problem) : problem_(problem), failure_(instance.note) {
    if (!failure_.empty()) return;
    const hinge::MethodChoice method = hinge::make_method(instance.method, instance.options);
    try {
      look(method);
      stepper_ = method.bind(problem.model.system, {});
      run_once();  // caches and branch predictors get warm
    } catch (const hinge::UnsuitableMethod& refusal) {
      failure_ = refusal.what();
    } catch (const hinge::StepFailure& failed) {
      failure_ = failed.what();
    }
  }

  const std::string& failure() const { return failure_; }
  double iterations = 0, evaluations = 0, factorisations = 0;
  double steps_with_factorisation = 0;  ///< share of all
  double constraint = 0, hidden_constraint = 0;
  std::optional<double> energy_error;

  /// One more measurement, as long as they are few or cheap.
  void measure(double batch_seconds, double seconds) {
    if (!failure_.empty() || (times_.size() >= 3 && total_ > seconds)) return;
    long runs = 0;
    double elapsed = 0;
    for (; elapsed < batch_seconds; ++runs) elapsed += bench::time_of([this] { run_once(); });
    times_.push_back(elapsed / static_cast<double>(runs * problem_.steps));
    total_ += elapsed;
  }
  double step_seconds() const { return bench::median(times_); }

 private:
  // A run that is watched but not timed.
  void look(const hinge::MethodChoice& method) {
    hinge::Simulation run(problem_.model.system, method, {.step = problem_.step});
    run.start(problem_.model.start);
    start_ = run.state();
    const auto stepper = method.bind(problem_.model.system, {});
    hinge::State state = start_;
    int refactored = 0;
    for (int k = 0; k < problem_.steps; ++k) {
      run.step();
      const long before = stepper->counters().factorisations;
      if (const auto result = stepper->step(state, problem_.step); !result)
        throw hinge::StepFailure(result.reason, state.t);
      refactored += stepper->counters().factorisations > before;
    }
    const hinge::Report report = run.report();
    const auto per_step = [&](long count) { return static_cast<double>(count) / problem_.steps; };
    iterations = per_step(report.counters.iterations);
    evaluations = per_step(report.counters.evaluations);
    factorisations = per_step(report.counters.factorisations);
    steps_with_factorisation = per_step(refactored);
    constraint = report.constraint;
    hidden_constraint = report.hidden_constraint;
    energy_error = report.energy_error;
  }

  void run_once() {
    hinge::State state = start_;
    stepper_->reset();
    for (int k = 0; k < problem_.steps; ++k)
      if (const auto result = stepper_->step(state, problem_.step); !result)
        throw hinge::StepFailure(result.reason, state.t);
  }

  const Problem& problem_;
  std::string failure_;
  hinge::State start_;
  std::unique_ptr<hinge::Stepper> stepper_;
  std::vector<double> times_;
  double total_ = 0;
};

void print_table(const Problem& problem, const std::vector<Instance>& instances, const std::vector<Cell>& cells) {
  double unit = 0;
  for (std::size_t k = 0; k < cells.size(); ++k)
    if (instances[k].label == reference && cells[k].failure().empty()) unit = cells[k].step_seconds();
  fmt::print("{}, h = {:g}, {} steps\n\n", problem.title, problem.step, problem.steps);
  fmt::print("{:<24} {:>9} {:>8} {:>7} {:>7} {:>7} {:>7} {:>9} {:>8} {:>8}\n", "method", "steps/s", "us/step",
             "/rattle", "Newton", "eval.", "factor.", "max|H-H0|", "max |g|", "max |g'|");
  std::vector<std::string> footnotes;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const Cell& cell = cells[k];
    if (!cell.failure().empty()) {
      auto note = std::find(footnotes.begin(), footnotes.end(), cell.failure());
      if (note == footnotes.end()) note = footnotes.insert(note, cell.failure());
      fmt::print("{:<24} {:>9} [{}]\n", instances[k].label, "-", note - footnotes.begin() + 1);
      continue;
    }
    const double seconds = cell.step_seconds();
    fmt::print("{:<24} {:>9.0f} {:>8.2f} {:>7} {:>7.2f} {:>7.1f} {:>7.3f} {:>9} {:>8.1e} {:>8.1e}\n",
               instances[k].label, 1 / seconds, 1e6 * seconds, unit > 0 ? fmt::format("{:.2f}", seconds / unit) : "-",
               cell.iterations, cell.evaluations, cell.factorisations,
               cell.energy_error ? fmt::format("{:.2e}", *cell.energy_error) : "-", cell.constraint,
               cell.hidden_constraint);
  }
  fmt::print("\n");
  for (std::size_t k = 0; k < footnotes.size(); ++k) fmt::print("[{}] {}\n", k + 1, footnotes[k]);
  if (!footnotes.empty()) fmt::print("\n");
}

void print_target(const std::string& what, double limit, double measured, bool reached) {
  fmt::print("  {:<44} target {:>5}   measured {:>6.3f}   {}\n", what, fmt::format("{:g}", limit), measured,
             reached ? "reached" : "MISSED");
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = bench::quick(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come, also into a file

  const std::vector<std::string> names = registered();
  std::vector<Instance> instances = all_instances();
  for (const std::string& name : names) {
    if (std::any_of(instances.begin(), instances.end(), [&](const Instance& i) { return i.method == name; })) continue;
    fmt::print(stderr, "bench_methods: the method '{}' has no instance in benchmarks/methods.cpp; add one\n", name);
    return 1;
  }
  std::erase_if(instances, [&](const Instance& i) { return !contains(names, i.method); });

  const std::vector<Problem> problems = {
      {"S2: charged particle on a sphere", hinge::load_model(HINGE_PAPERS "/spark/s2.toml"), 0.12, 833},
      {"DSP: double spherical pendulum, out of the plane",
       hinge::load_model(HINGE_EXAMPLES "/double-spherical-pendulum.toml", {{"initial.velocity.q2", "[0, 0, 1]"}}),
       0.01, 1000},
  };
  fmt::print(
      "Every method on two systems. Times are processor time of the steps alone, the median of several\n"
      "runs that take turns; '/rattle' is the time over that of rattle. Newton, eval., factor.:\n"
      "Newton iterations, passes over the system's functions and factorisations, per step. g' is the velocity level, "
      "g_t + G v.\n\n");

  const int rounds = quick ? 3 : 11;
  for (const Problem& problem : problems) {
    std::vector<Cell> cells;
    for (const Instance& instance : instances) cells.emplace_back(instance, problem);
    for (int round = 0; round < rounds; ++round)
      for (Cell& cell : cells) cell.measure(quick ? 0.01 : 0.04, 0.8);
    print_table(problem, instances, cells);
    if (&problem != &problems.front()) continue;
    fmt::print("Targets, for {} on S2 with h = {:g}\n", target, problem.step);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (instances[k].label != target || !cells[k].failure().empty()) continue;
      const Cell& cell = cells[k];
      print_target("Newton iterations per step, at most", 4, cell.iterations, cell.iterations <= 4);
      print_target("share of steps with a factorisation, below", 0.1, cell.steps_with_factorisation,
                   cell.steps_with_factorisation < 0.1);
    }
    fmt::print("\n");
  }
  return 0;
} catch (const hinge::Error& error) {
  fmt::print(stderr, "bench_methods: {}\n", error.what());
  return 1;
}
