// Runs of a sweep side by side, four in the lanes of a processor: every row of every run is the one that it has alone.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "expression/native.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "hinge/sweep.hpp"
#include "places.hpp"
#include "simulate/runs_abreast.hpp"

namespace hinge::sweep_lanes_test {
namespace {

using test::Folder;

std::uint64_t bits(double x) { return std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x); }

SweptRun begun(const Model& model, const AttachRun& attach) {
  SweptRun run{model.simulation_for(""), model.end};
  attach(run.simulation);
  run.simulation.start(model.start);
  return run;
}

// What one run has alone: its rows, its counters, its failure.
struct Alone {
  std::vector<std::uint64_t> rows;
  std::string failure;
  double steps = 0, rejected = 0, evaluations = 0;
};
Alone alone(const std::string& text, const std::vector<Override>& overrides) {
  Alone a;
  try {
    const Model model = parse_model(text, "model", overrides);
    SweptRun run = begun(model, [&](Simulation& s) {
      s.on_row([&](const Row& row) {
        for (const double x : row.values) a.rows.push_back(bits(x));
      });
    });
    run.simulation.until(run.end);
    run.simulation.finish();
    const Report r = run.simulation.report();
    a.steps = static_cast<double>(r.steps);
    a.rejected = static_cast<double>(r.rejected);
    a.evaluations = static_cast<double>(r.counters.evaluations);
  } catch (const Error& e) {
    a.failure = e.what();
  }
  return a;
}

// Returns how many runs came to their end.
int expect_rows_of_runs_alone(const std::string& text, const std::vector<Override>& always, const SweepPlan& plan) {
  const Folder folder;
  const ModelVariants variants(text, "model", always);
  const auto make = [&](std::span<const Setting> settings, const AttachRun& attach) {
    std::vector<Override> values;
    for (const Setting& s : settings) values.push_back({s.key, s.value});
    return begun(variants.with(values), attach);
  };
  SweepOptions options{.out = folder.file("s.h5")};
  options.rows = true;
  options.jobs = 2;
  const SweepOutcome outcome = sweep(plan, make, options);
  const Trajectory all = read_record(options.out);
  const auto column = [&](const std::string& name) {
    const auto& names = all.header.columns;
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t first = column("t");
  std::size_t row = 0;
  int ended = 0;
  for (std::size_t k = 0; k < plan.runs(); ++k) {
    std::vector<Override> overrides = always;
    for (const Setting& s : plan.settings(k)) overrides.push_back({s.key, s.value});
    const Alone own = alone(text, overrides);
    std::vector<std::uint64_t> found;
    const std::size_t begin = row;
    for (; row < all.rows() && all.row(row)[column("run")] == static_cast<double>(k); ++row)
      for (const double x : all.row(row).subspan(first)) found.push_back(bits(x));
    EXPECT_GT(row, begin);
    if (row == begin) return ended;
    if (own.failure.empty()) {
      EXPECT_EQ(found, own.rows) << text << overrides.back().value;
      EXPECT_EQ(all.row(begin)[column("steps")], own.steps);
      EXPECT_EQ(all.row(begin)[column("rejected")], own.rejected);
      EXPECT_EQ(all.row(begin)[column("evaluations")], own.evaluations);
      ++ended;
    } else {
      EXPECT_EQ(all.row(begin)[column("failed")], 1);
      const auto is_this = [&](const auto& r) { return r.run == k && r.text == own.failure; };
      EXPECT_TRUE(std::any_of(outcome.failures.begin(), outcome.failures.end(), is_this)) << own.failure;
    }
  }
  EXPECT_EQ(row, all.rows());
  return ended;
}

const std::string integrate = "[integrate]\nmethod = \"explicit\"\ntolerance = 1e-8\nend = 3\n";

TEST(SweepLanes, RowsOfThePendulumsAreThoseOfRunsAlone) {
  const long before = RunsAbreast::lanes_made();
  const std::string text = load_model(HINGE_EXAMPLES "/double-spherical-pendulum.toml").text;
  const std::vector<Override> always{
      {"integrate.method", "explicit"}, {"integrate.tolerance", "1e-8"}, {"initial.consistent", "project"}};
  SweepPlan plan;
  plan.vary("parameters.m1=0.5:2:7");
  plan.vary("parameters.l2=0.8,1,1.3");
  EXPECT_EQ(expect_rows_of_runs_alone(text, always, plan), 21);
  SweepPlan drawn;
  drawn.sample("parameters.l1=uniform(0.5,2):20");
  drawn.sample("parameters.gravity=normal(9.81,2):20");
  EXPECT_EQ(expect_rows_of_runs_alone(text, always, drawn), 20);
  if (native_use() != NativeUse::off) {
    EXPECT_GT(RunsAbreast::lanes_made(), before);
  }
}

// Rows between steps, events, a tolerance per number, other projections, steps that are limited.
TEST(SweepLanes, RowsOfAllKindsOfRunsAreThoseOfRunsAlone) {
  const std::string pendulum =
      "[parameters]\nl = 1.1\nm = 0.7\ng = 9.81\nc = 0.3\n[lagrangian]\ncoordinates = [\"q[2]\"]\n"
      "kinetic = \"m/2*dot(q',q')\"\npotential = \"g*m*q[1]\"\nconstraints = [\"(dot(q,q) - l^2)/2\"]\n"
      "force = { q = [\"-c*sin(q[0])*q[0]'\", 0] }\n"
      "[initial]\nposition = { q = [\"l\", 0] }\n" +
      integrate;
  SweepPlan plan;
  plan.sample("parameters.l=uniform(0.6,1.6):9");
  plan.sample("parameters.c=uniform(0,1):9");
  const std::vector<std::vector<Override>> kinds{
      {},
      {{"output.interval", "0.05"}},
      {{"integrate.projection", "none"}},
      {{"integrate.projection", "position"}},
      {{"integrate.projection", "velocity"}},
      {{"integrate.order", "5"}},
      {{"integrate.max_step", "0.02"}},
      {{"integrate.formulation", "baumgarte"}, {"integrate.alpha", "5"}, {"integrate.beta", "5"}},
      {{"event",
        "[{ name = \"low\", root = \"q[0] - 0.1\" }, { name = \"end\", root = \"t - c - 1\", action = \"stop\" }]"}}};
  int ended = 0;
  for (const auto& kind : kinds) ended += expect_rows_of_runs_alone(pendulum, kind, plan);
  EXPECT_EQ(ended, 81);
}

// Where some fail, some take other expressions, and some take the way of another branch.
TEST(SweepLanes, RunsThatFailOrDifferFailAndDifferAsTheyDoAlone) {
  const std::string text =
      "[parameters]\na = 1.3\nb = 0.7\n[lagrangian]\ncoordinates = [\"x\", \"y\"]\n"
      "kinetic = \"(a*x'^2 + b*y'^2)/2\"\npotential = \"x^2 - log(b - a*y) + if(a > 1, x^4, y^2)\"\n"
      "[initial]\nposition = { x = 0.5, y = 0.1 }\nvelocity = { x = 0, y = 1 }\n" +
      integrate;
  SweepPlan plan;
  plan.vary("parameters.a=0,0.5,0.9,1,1.05,1.2,1.7");
  plan.vary("parameters.b=-1,0.05,0.7,1,1.3");
  const int ended = expect_rows_of_runs_alone(text, {}, plan);
  EXPECT_GT(ended, 5);
  EXPECT_LT(ended, 30);
}

}  // namespace
}  // namespace hinge::sweep_lanes_test
