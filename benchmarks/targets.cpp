// The times that Hinge aims at, measured in one run of two minutes, each with its target.
//
// Times are processor time. What is compared takes turns: every round measures everything once, and of at least five
// rounds the median counts. Ratios are ours over DOP853 with projection written by hand (dop853_by_hand.hpp,
// andrews_by_hand.hpp), from model files, at equal error at the end; errors as in dae_work_precision.cpp. IDA is the
// one that Debian compiles, which is without optimisation: a tuned build is 2.5 to 4.6 times faster.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "andrews_by_hand.hpp"
#include "dop853_by_hand.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "hinge/sweep.hpp"
#include "measure.hpp"
#include "mechanisms.hpp"
#include "work_precision.hpp"
#ifdef HINGE_HAVE_IDA
#include "ida_by_hand.hpp"
#endif

extern char** environ;

namespace {

const std::string examples = HINGE_EXAMPLES, papers = HINGE_PAPERS;
constexpr int rounds = 5;

void print(const std::string& what, std::optional<double> measured, double target, const std::string& unit,
           const std::string& note = "") {
  fmt::print("{:<58} {:>10} {:>9} {:<3} {:<7} {}\n", what, measured ? fmt::format("{:.3g}", *measured) : "-",
             fmt::format("{:.3g}", target), unit,
             !measured             ? "unknown"
             : *measured <= target ? "met"
                                   : "missed",
             note);
}

// ------------------------------------------------------------------------------------------ work at equal error

/// One method with one tolerance on one problem; `prepare` is not timed.
struct Contender {
  std::function<void()> prepare, run;
  std::function<double()> error_now;
  std::vector<double> times{};
  double ms = 0, error = 0;

  /// One more measurement, long enough for the clock.
  void measure() {
    constexpr double enough = 2e-3;
    double elapsed = 0;
    int runs = 0;
    for (; elapsed < enough; ++runs) {
      prepare();
      elapsed += bench::time_of(run);
    }
    times.push_back(elapsed / runs);
  }
};

struct Problem {
  std::string title, model;
  double end;
  std::vector<double> exact;
};

Contender ours(const Problem& problem, const std::shared_ptr<const hinge::Model>& model, const std::string& method,
               const hinge::Options& options, double tolerance) {
  struct Held {
    std::unique_ptr<hinge::Stepper> stepper;
    hinge::State begin, state;
  };
  const auto held = std::make_shared<Held>();
  const hinge::MethodChoice choice = hinge::make_method(method, options);
  hinge::Simulation start(model->system, choice, {.tolerance = {tolerance, tolerance}});
  start.start(model->start);
  held->begin = start.state();
  // bound once, as for many runs: what is timed is the integration
  held->stepper = choice.bind(model->system, {}, {{tolerance, tolerance}});
  return {[=] { held->state = held->begin; },
          [=, end = problem.end] {
            if (const auto result = held->stepper->start(held->state); !result) throw hinge::Error(result.reason);
            while (held->state.t < end)
              if (const auto result = held->stepper->advance(held->state, end); !result)
                throw hinge::Error(result.reason);
          },
          [=, exact = problem.exact] {
            std::vector<double> x = held->state.y;
            x.insert(x.end(), held->state.z.begin(), held->state.z.end());
            return bench::distance(exact, x.data());
          }};
}

template <class Hand>
Contender by_hand(const Problem& problem, const std::vector<double>& start, double tolerance) {
  const auto held = std::make_shared<bench::ByHand<Hand>>();
  return {[=] {
            *held = {};
            std::copy(start.begin(), start.end(), held->x.begin());
          },
          [=, end = problem.end] { held->run(end, tolerance, end * 1e-4); },
          [=, exact = problem.exact] { return bench::distance(exact, held->x.data()); }};
}

using Series = std::vector<Contender>;

void take_turns(const std::vector<Series*>& all) {
  for (int round = 0; round < rounds; ++round)
    for (Series* series : all)
      for (Contender& c : *series) {
        if (c.error < 0) continue;
        try {
          c.measure();
          c.error = c.error_now();
        } catch (const hinge::Error&) {
          c.error = -1;
        }
      }
  for (Series* series : all) {
    std::erase_if(*series, [](const Contender& c) { return c.error < 0; });
    for (Contender& c : *series) c.ms = 1e3 * bench::median(c.times);
  }
}

std::optional<double> ratio(double error, const Series& above, const Series& below) {
  const auto a = bench::cost_at(error, above), b = bench::cost_at(error, below);
  if (!a || !b || b->at_most) return std::nullopt;
  return a->ms / b->ms;
}

std::string not_reached(double error, const Series& above, const Series& below) {
  if (!bench::cost_at(error, above)) return "no tolerance of ours leads to this error";
  return bench::cost_at(error, below) ? "" : "no tolerance of the one by hand leads to this error";
}

bool known(const std::string& method) {
  for (const hinge::MethodInfo& info : hinge::methods())
    if (info.name == method) return true;
  return false;
}

template <class Hand>
void compare(const Problem& problem, const std::vector<double>& start, double explicit_target,
             [[maybe_unused]] const std::function<Contender(double)>& ida) {
  const auto model = std::make_shared<const hinge::Model>(hinge::load_model(problem.model));
  const auto form = [](const char* name) { return hinge::Options{{"formulation", std::string(name)}}; };
  Series hand, order_8, taylor, bdf, theirs;
  for (int digits = 4; digits <= 14; ++digits) {
    const double tolerance = std::pow(10.0, -digits);
    hand.push_back(by_hand<Hand>(problem, start, tolerance));
    order_8.push_back(ours(problem, model, "explicit", {}, tolerance));
    if (known("taylor")) taylor.push_back(ours(problem, model, "taylor", {}, tolerance));
    if (!ida || digits > 11) continue;
    bdf.push_back(ours(problem, model, "bdf", form("projected-invariants"), tolerance));
    bdf.push_back(ours(problem, model, "bdf", form("ggl"), tolerance));
    theirs.push_back(ida(tolerance));
  }
  take_turns({&hand, &order_8, &taylor, &bdf, &theirs});
  for (const int digits : {6, 10})
    print(fmt::format("{}: explicit / by hand, {} digits", problem.title, digits),
          ratio(std::pow(10.0, -digits), order_8, hand), explicit_target, "");
  for (const auto& [digits, target] : {std::pair{8, 0.7}, std::pair{12, 0.4}})
    if (known("taylor"))
      print(fmt::format("{}: taylor / by hand, {} digits", problem.title, digits),
            ratio(std::pow(10.0, -digits), taylor, hand), target, "",
            not_reached(std::pow(10.0, -digits), taylor, hand));
  if (ida)
    for (const int digits : {4, 6})
      print(fmt::format("{}: bdf / IDA, {} digits", problem.title, digits), ratio(std::pow(10.0, -digits), bdf, theirs),
            1.0 / 12, "", "Debian's IDA is not optimised");
}

#ifdef HINGE_HAVE_IDA
std::function<Contender(double)> ida_of(const Problem& problem, const bench::IdaProblem& ida) {
  return [=](double tolerance) -> Contender {
    const auto held = std::make_shared<std::unique_ptr<bench::Ida>>();
    return {[=] { *held = std::make_unique<bench::Ida>(ida, tolerance); },
            [=] {
              if (const std::string failure = (*held)->run(); !failure.empty()) throw hinge::Error(failure);
            },
            [=, exact = problem.exact] { return bench::distance(exact, (*held)->values()); }};
  };
}
#endif

void compare_all() {
  const Problem one{"pendulum", examples + "/pendulum.toml", bench::pendulum_end, bench::pendulum_solution(1, 2)};
  const Problem two{"double spherical pendulum", examples + "/double-spherical-pendulum.toml", bench::pendulum_end,
                    bench::pendulum_solution(2, 3)};
  const auto& solution = bench::Andrews::solution;
  const Problem andrews{
      "Andrews", papers + "/ivp/andrews.toml", bench::Andrews::end, {solution.begin(), solution.end()}};
  std::vector<double> start(14, 0.0);
  std::copy(bench::Andrews::start.begin(), bench::Andrews::start.end(), start.begin());
  std::function<Contender(double)> ida[3];
#ifdef HINGE_HAVE_IDA
  static bench::Rods rod{1, 2}, rods{2, 3};
  static bench::AndrewsIda mechanism;
  ida[0] = ida_of(one, rod.ida(bench::pendulum_end));
  ida[1] = ida_of(two, rods.ida(bench::pendulum_end));
  ida[2] = ida_of(andrews, mechanism.ida());
#endif
  compare<bench::PendulumByHand>(one, {1, 0, 0, 0}, 1.3, ida[0]);
  compare<bench::DoublePendulumByHand>(two, {1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}, 1.3, ida[1]);
  compare<bench::AndrewsByHand>(andrews, start, 1.1, ida[2]);
  if (!ida[0]) fmt::print("bdf / IDA: not measured, SUNDIALS is not installed (scripts/install-deps bench)\n");
  if (!known("taylor")) fmt::print("taylor / by hand: not measured, there is no method taylor in this build\n");

  const auto model = std::make_shared<const hinge::Model>(hinge::load_model(andrews.model));
  Series radau{ours(andrews, model, "radau", {}, 1e-8)};
  take_turns({&radau});
  if (radau.empty()) throw hinge::Error("radau fails on Andrews' mechanism");
  print("Andrews: radau, tolerance 1e-8", radau[0].ms, 1.6, "ms", fmt::format("error {:.1e}", radau[0].error));
}

// Twenty points on a sphere until t = 10; errors against `taylor` with a tolerance of 1e-15.
void fekete() {
  const auto model = std::make_shared<const hinge::Model>(hinge::load_model(papers + "/ivp/fekete.toml"));
  Problem problem{"Fekete", papers + "/ivp/fekete.toml", 10, {}};
  hinge::Simulation reference(model->system, hinge::make_method("taylor", {}), {.tolerance = {1e-15, 1e-15}});
  reference.start(model->start);
  std::vector<double> start = reference.state().y;
  start.resize(120, 0.0);
  reference.until(problem.end);
  problem.exact = reference.state().y;
  problem.exact.insert(problem.exact.end(), reference.state().z.begin(), reference.state().z.end());
  Series hand, taylor;
  for (int digits = 5; digits <= 14; ++digits) {
    const double tolerance = std::pow(10.0, -digits);
    hand.push_back(by_hand<bench::FeketeByHand>(problem, start, tolerance));
    taylor.push_back(ours(problem, model, "taylor", {}, tolerance));
  }
  take_turns({&hand, &taylor});
  for (const auto& [digits, target] : {std::pair{8, 0.7}, std::pair{12, 0.4}})
    print(fmt::format("Fekete: taylor / by hand, {} digits", digits), ratio(std::pow(10.0, -digits), taylor, hand),
          target, "");
}

// ----------------------------------------------------------------------------------------------------- small steps

void small_steps() {
  struct Stepped {
    std::string what, model, method;
    hinge::Options options;
    double step;
    int steps;
    double target;
    std::unique_ptr<hinge::Stepper> stepper{};
    hinge::State begin{};
    std::vector<double> times{};
  };
  const std::string dsp = examples + "/double-spherical-pendulum.toml";
  std::vector<Stepped> all;
  all.push_back({"S2: gauss-lobatto, 2 stages, a step",
                 papers + "/spark/s2.toml",
                 "gauss-lobatto",
                 {{"stages", 2.0}},
                 0.12,
                 833,
                 2.5});
  all.push_back({"double spherical pendulum: rattle, a step", dsp, "rattle", {}, 0.01, 1000, 0.6});
  all.push_back({"double spherical pendulum: energy-momentum, a step", dsp, "energy-momentum", {}, 0.01, 1000, 1.0});
  for (Stepped& s : all) {
    const hinge::Model model = hinge::load_model(s.model);
    const hinge::MethodChoice choice = hinge::make_method(s.method, s.options);
    hinge::Simulation run(model.system, choice, {.step = s.step});
    run.start(model.start);
    s.begin = run.state();
    s.stepper = choice.bind(model.system, {});
  }
  for (int round = 0; round < 2 * rounds + 1; ++round)
    for (Stepped& s : all) {
      hinge::State state = s.begin;
      s.stepper->reset();
      s.times.push_back(bench::time_of([&] {
        for (int k = 0; k < s.steps; ++k)
          if (const auto result = s.stepper->step(state, s.step); !result) throw hinge::Error(result.reason);
      }));
    }
  for (const Stepped& s : all) print(s.what, 1e6 * bench::median(s.times) / s.steps, s.target, "us");
}

// Bodies that hang on each other by hinges, axes across in turn: so many on each, one in a chain.
hinge::Model hinged(int count, int branches = 1) {
  std::string text = "[multibody]\ngravity = [0, -9.81, 0]\n";
  std::vector<int> depth(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const int parent = (k + branches - 1) / branches - 1;
    int& own = depth[static_cast<std::size_t>(k)];
    own = k == 0 ? 0 : depth[static_cast<std::size_t>(parent)] + 1;
    text += fmt::format(
        "[[body]]\nname = \"b{0}\"\nmass = 0.5\ninertia = [0.001, 0.02, 0.02]\nposition = [{1}, 0, 0]\n"
        "[[joint]]\ntype = \"revolute\"\nbodies = [\"{2}\", \"b{0}\"]\npoint = [{3}, 0, 0]\naxis = {4}\n",
        k, own + 0.5, k == 0 ? "ground" : fmt::format("b{}", parent), own, k % 2 == 0 ? "[0, 0, 1]" : "[0, 1, 0]");
  }
  return hinge::parse_model(text + "[integrate]\nmethod = \"explicit\"\ntolerance = 1e-8\nend = 1\n", "hinged");
}

// Bound once, as for many runs: what is timed are the later ones.
void bodies(const std::string& what, const hinge::Model& model, int count, double end) {
  hinge::Simulation run(model.system, hinge::make_method("explicit", {}), {.tolerance = {1e-8, 1e-8}});
  run.start(model.start);
  const auto stepper = hinge::make_method("explicit", {}).bind(model.system, {}, {{1e-8, 1e-8}});
  std::vector<double> times;
  for (int round = 0; round <= 4 * rounds; ++round) {
    hinge::State state = run.state();
    const long before = stepper->counters().evaluations;
    const double seconds = bench::time_of([&] {
      if (!stepper->start(state)) throw hinge::Error("explicit does not start");
      while (state.t < end)
        if (const auto result = stepper->advance(state, end); !result) throw hinge::Error(result.reason);
    });
    if (round > 0) times.push_back(seconds / static_cast<double>(stepper->counters().evaluations - before) / count);
  }
  print(fmt::format("bodies in space, {}: per body and evaluation", what), 1e6 * bench::median(times), 0.5, "us",
        "explicit; the steps' other work included");
}

long steps(const hinge::Model& model, const std::string& method) {
  hinge::Simulation run(model.system, hinge::make_method(method, {}), {.tolerance = {1e-8, 1e-8}});
  run.start(model.start);
  run.until(10);
  return run.report().steps;
}

// The governor as bodies, and in the angle of its shaft, those of its arms and the place of the collar.
void steps_of_a_governor() {
  const hinge::Model model = hinge::load_model(examples + "/governor.toml");
  const hinge::Model angles = hinge::load_model(examples + "/../tests/data/governor-in-angles.toml");
  for (const char* method : {"radau", "bdf"}) {
    const long as_bodies = steps(model, method), in_angles = steps(angles, method);
    print(fmt::format("governor: {}, steps as bodies / in angles", method),
          static_cast<double>(as_bodies) / static_cast<double>(in_angles), 1.3, "",
          fmt::format("{} and {}; its shaft turns 20 times", as_bodies, in_angles));
  }
}

// At most: those until a time at which it must have changed.
void change_of_auto() {
  const hinge::Model model = hinge::load_model(examples + "/governor.toml");
  hinge::Simulation run(model.system, hinge::automatic(), {.tolerance = {1e-8, 1e-8}});
  run.start(model.start);
  run.until(0.12);
  const hinge::Report report = run.report();
  const bool changed = !report.remarks.empty() && report.remarks[0].find("radau took over") != std::string::npos;
  print("governor: auto, steps until radau takes over",
        changed ? std::optional(static_cast<double>(report.steps)) : std::nullopt, 100, "",
        changed ? "at most" : "it stays explicit");
}

// ---------------------------------------------------------------------------------------------------------- chains

hinge::Model chain(int links) {
  return hinge::parse_model(fmt::format(R"toml([parameters]
N = {0}
l = {1}
[lagrangian]
coordinates = ["q[N][3]"]
kinetic = "sum(i, 0, N-1, dot(q[i]',q[i]'))/2"
potential = "9.81*sum(i, 0, N-1, q[i][1])"
constraints = ["(dot(q[0],q[0]) - l^2)/2",
  {{ for = "i", from = 1, to = "N-1", constraint = "(dot(q[i]-q[i-1],q[i]-q[i-1]) - l^2)/2" }}]
[initial]
position = {{ q = {{ for = "i", value = "[(i+1)*l, 0, 0]" }} }}
[integrate]
method = "explicit"
tolerance = 1e-6
end = 1
)toml",
                                        links, 1.0 / links),
                            "chain");
}

// Of at least five runs, or of as many as half a minute allows.
void one_second_of_a_chain() {
  std::vector<double> times;
  double total = 0;
  const hinge::Model model = chain(1000);
  while (times.size() < rounds && total < 30) {
    hinge::Simulation run = model.simulation_for("");
    run.start(model.start);
    times.push_back(bench::time_of([&] { run.until(1); }));
    total += times.back();
  }
  print("chain of 1000 links in space: one second, 1e-6", bench::median(times), 0.6, "s",
        fmt::format("{} run{}", times.size(), times.size() == 1 ? "" : "s"));
}

// Set-up and ten steps.
void growth_of_chains() {
  std::vector<double> small, large, setup;
  for (int round = 0; round < rounds; ++round)
    for (const int links : {1000, 10000}) {
      double prepared = 0;
      const double before = bench::cpu_seconds();
      const hinge::Model model = chain(links);
      hinge::Simulation run = model.simulation_for("");
      run.start(model.start);
      prepared = bench::cpu_seconds() - before;
      for (int k = 0; k < 10; ++k) run.step();
      (links == 1000 ? small : large).push_back(bench::cpu_seconds() - before);
      if (links == 1000) setup.push_back(prepared);
    }
  print("chain: set-up, per 1000 links", 1e3 * bench::median(setup), 20, "ms");
  print("chain: exponent of set-up and ten steps in the links", std::log10(bench::median(large) / bench::median(small)),
        1.05, "", "from 1000 to 10000");
}

// ------------------------------------------------------------------------------------------------------- many runs

void ensemble() {
  const std::string path = examples + "/double-spherical-pendulum.toml";
  const std::filesystem::path out =
      std::filesystem::temp_directory_path() / fmt::format("hinge_bench_{}.csv", static_cast<long>(getpid()));
  const hinge::Model base = hinge::load_model(path);
  hinge::SweepPlan plan;
  plan.sample("parameters.m1=uniform(0.5,2):200");
  const hinge::ModelVariants variants(base.text, path);
  const auto make = [&](std::span<const hinge::Setting> settings, const hinge::AttachRun& attach) {
    hinge::Model model = variants.with({{settings[0].key, settings[0].value}});
    model.choice = hinge::make_method("explicit", {});
    model.simulation = {.tolerance = {1e-8, 1e-8}, .every = 1'000'000'000};
    hinge::SweptRun run{model.simulation_for(""), 10};
    attach(run.simulation);
    run.simulation.start(model.start);
    return run;
  };
  std::vector<double> times, setup;
  for (int round = 0; round < rounds; ++round) {
    std::filesystem::remove(out);
    const double before = bench::cpu_seconds();
    const hinge::SweepOutcome outcome = hinge::sweep(plan, make, {.out = out.string(), .jobs = 2});
    times.push_back((bench::cpu_seconds() - before) / 2 / static_cast<double>(outcome.runs));
    setup.push_back(outcome.setup_seconds / static_cast<double>(outcome.runs));
  }
  std::filesystem::remove(out);
  print("double spherical pendulum: a run of many, 1e-8, two cores", 1e3 * bench::median(times), 0.06, "ms",
        fmt::format("sweep; set-up of a run {:.3g} ms of one core by the clock", 1e3 * bench::median(setup)));
}

void shell_to_shell(const std::string& program) {
  if (!std::filesystem::exists(program)) {
    fmt::print("hinge run, from shell to shell: not measured, there is no '{}'\n", program);
    return;
  }
  const std::string model = examples + "/pendulum.toml";
  const char* const words[] = {program.c_str(), "run", model.c_str(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  std::vector<double> times;
  for (int k = 0; k < 21; ++k) {
    pid_t child = 0;
    rusage used{};
    int status = 0;
    if (posix_spawn(&child, program.c_str(), &quiet, nullptr, const_cast<char**>(words), environ) != 0) break;
    if (wait4(child, &status, 0, &used) != child || status != 0) break;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    times.push_back(seconds(used.ru_utime) + seconds(used.ru_stime));
  }
  posix_spawn_file_actions_destroy(&quiet);
  if (times.empty()) throw hinge::Error("hinge run examples/pendulum.toml fails");
  print("hinge run examples/pendulum.toml, from shell to shell", 1e3 * bench::median(times), 5, "ms");
}

}  // namespace

int main(int, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come, also into a file
  fmt::print("{:<58} {:>10} {:>9}\n", "processor time, medians of runs that take turns", "measured", "at most");
  compare_all();
  fekete();
  small_steps();
  bodies("one loop", hinge::load_model(examples + "/spatial-four-bar.toml"), 3, 1);
  bodies("a chain of ten", hinged(10), 10, 0.2);
  bodies("a tree of 20, three on each", hinged(20, 3), 20, 0.2);
  steps_of_a_governor();
  change_of_auto();
  ensemble();
  shell_to_shell((std::filesystem::path(argv[0]).parent_path() / "hinge").string());
  growth_of_chains();
  one_second_of_a_chain();
  fmt::print("Not measured here: chains of 100000 links, which take longer than all of this.\n");
} catch (const hinge::Error& error) {
  fmt::print(stderr, "bench_targets: {}\n", error.what());
  return 1;
}
