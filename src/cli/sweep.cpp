// hinge sweep: many runs of a model, in threads and processes, into one file.
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/terminal.hpp"
#include "hinge/error.hpp"
#include "hinge/sweep.hpp"

namespace hinge::cli {

namespace {

int number_in(const char* variable, const char* text) {
  int value = -1;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < 0)
    throw InputError(
        fmt::format("{} is '{}' in the environment, where mpirun puts a number; unset it, or start hinge "
                    "by mpirun",
                    variable, text));
  return value;
}

// Which process this is among how many: Open MPI and MPICH tell those that they start in the environment. Nothing else
// of them is needed, since runs do not speak with each other.
std::pair<int, int> rank_and_ranks() {
  const std::pair<const char*, const char*> names[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                       {"PMI_RANK", "PMI_SIZE"}};
  for (const auto& [rank, size] : names) {
    const char* const r = std::getenv(rank);
    const char* const s = std::getenv(size);
    if (!r || !s) continue;
    const std::pair<int, int> found{number_in(rank, r), number_in(size, s)};
    if (found.first >= found.second)
      throw InputError(fmt::format("the environment says process {} ({}) of {} ({}); processes are counted from 0",
                                   found.first, rank, found.second, size));
    return found;
  }
  return {0, 1};
}

SweepPlan plan_of(const SweepArguments& arguments) {
  SweepPlan plan;
  plan.seed = arguments.seed.value_or(1);
  for (const std::string& text : arguments.vary) plan.vary(text);
  for (const std::string& text : arguments.sample) plan.sample(text);
  if (arguments.seed && plan.sampled.empty())
    throw InputError("--seed: nothing is drawn; give --sample parameters.m1=normal(1,0.1):1000, or leave --seed out");
  for (const std::string& key : plan.keys())
    for (const Override& o : arguments.overrides)
      if (o.key == key)
        throw InputError(fmt::format("{} {}: the sweep changes this key from run to run; leave one of them out",
                                     o.option.empty() ? "--set" : o.option, key));
  return plan;
}

std::vector<Override> overrides_of(const SweepPlan& plan, std::span<const Setting> settings) {
  std::vector<Override> list;
  for (std::size_t k = 0; k < settings.size(); ++k)
    list.push_back(
        {settings[k].key, settings[k].value, (k < plan.varied.size() ? "--vary " : "--sample ") + settings[k].key});
  return list;
}

// The columns that are looked at while a run goes on: the quantities, else what describes the motion best.
std::vector<std::string> watched_columns(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, map] : model.momentum_maps) names.push_back(name);
  for (const Model::Quantity& q : model.quantities) {
    const Block block{q.name, q.shape, 0};
    for (int k = 0; k < block.size(); ++k) names.push_back(block.entry_name(k));
  }
  return names;
}

SweptRun make_run(const ModelVariants& variants, const SweepPlan& plan, bool last_row_only,
                  std::span<const Setting> settings, const AttachRun& attach) {
  Model model = variants.with(overrides_of(plan, settings));
  if (!(model.end >= model.simulation.start))
    throw InputError(
        fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate], or use --end", model.path));
  model.picture_file.clear();
  if (last_row_only) {
    model.simulation.every = std::numeric_limits<int>::max();
    model.simulation.interval = 0;
    model.simulation.times.clear();
  }
  return located(model, [&] {
    SweptRun run{model.simulation_for(""), model.end};
    attach(run.simulation);
    run.simulation.start(model.start);
    return run;
  });
}

std::string progress_text(const SweepProgress& p, std::size_t found, double elapsed) {
  std::string text = fmt::format("{} of {} runs", p.finished, p.runs);
  if (p.failed > 0) text += fmt::format(", {} failed", p.failed);
  if (p.doubtful > 0) text += fmt::format(", {} doubtful", p.doubtful);
  const auto computed = static_cast<double>(p.finished - found);
  if (computed > 0 && elapsed > 1)
    text += fmt::format("; {:.0f} s left", elapsed * static_cast<double>(p.runs - p.finished) / computed);
  return text;
}

Json remarks_json(const SweepOutcome& o, const std::vector<SweepOutcome::Remark>& list) {
  Json all = Json::array();
  for (const SweepOutcome::Remark& r : list) {
    Json settings = Json::object();
    for (const Setting& s : o.plan.settings(r.run)) settings[s.key] = s.value;
    all.push_back({{"run", r.run}, {"settings", settings}, {"message", r.text}});
  }
  return all;
}

Json outcome_json(const SweepOutcome& o) {
  Json j = {{"title", o.title},
            {"status", o.stopped ? "stopped" : "finished"},
            {"runs", o.runs},
            {"finished", o.finished},
            {"found", o.found},
            {"computed", o.computed},
            {"failed", remarks_json(o, o.failures)},
            {"doubtful", remarks_json(o, o.doubts)},
            {"columns", Json::object()}};
  for (const std::string& name : o.shown) {
    const ColumnSpread s = spread_of(o, name);
    if (s.count == 0) continue;
    j["columns"][name] = {{"smallest", s.smallest}, {"smallest_run", s.smallest_run},
                          {"largest", s.largest},   {"largest_run", s.largest_run},
                          {"mean", s.mean},         {"deviation", s.deviation}};
  }
  j["output"] = {{"file", o.out}, {"columns", o.columns}};
  j["wall_seconds"] = o.seconds;
  j["setup_seconds"] = o.setup_seconds;
  return j;
}

// With several processes the status is that of the one that writes the file: mpirun ends all of them where one of them
// ends with another status than 0.
int status_of(const SweepOutcome& outcome, const SweepArguments& arguments) {
  const bool failed = !outcome.failures.empty(), doubtful = !outcome.doubts.empty();
  if (failed) std::cerr << fmt::format("hinge: {} of {} runs failed\n", outcome.failures.size(), outcome.runs);
  if (doubtful && arguments.strict)
    std::cerr << fmt::format("hinge: {} of {} runs are doubtful; --strict makes this status 1\n", outcome.doubts.size(),
                             outcome.runs);
  if (outcome.stopped) {
    std::cerr << "hinge: stopped; the same command goes on with the runs that are missing\n";
    return interrupted;
  }
  return failed || (doubtful && arguments.strict) ? numerics_failed : done;
}

}  // namespace

int sweep(const SweepArguments& arguments) {
  const SweepPlan plan = plan_of(arguments);
  const Model base = load_model(arguments.model, arguments.overrides);
  SweepOptions options{.out = arguments.out, .title = base.title, .model = base.text, .settings = base.settings};
  options.extremes = watched_columns(base);
  options.rows = arguments.rows;
  options.force = arguments.force;
  options.jobs = arguments.jobs;
  std::tie(options.rank, options.ranks) = rank_and_ranks();
  const bool last_row_only = !arguments.rows && options.extremes.empty();
  const ModelVariants variants(base.text, base.path, arguments.overrides);
  const auto make = [&](std::span<const Setting> settings, const AttachRun& attach) {
    return make_run(variants, plan, last_row_only, settings, attach);
  };
  catch_interrupts();
  StatusLine status(!arguments.json && !arguments.quiet && options.rank == 0);
  const auto begin = std::chrono::steady_clock::now();
  std::optional<std::size_t> found;
  options.progress = [&](const SweepProgress& p) {
    if (!found) found = p.finished;
    status.show(
        progress_text(p, *found, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    return !stop_asked();
  };
  SweepOutcome outcome = hinge::sweep(plan, make, options);
  status.show("");
  if (!outcome.written) {
    if (!arguments.quiet && !arguments.json)
      std::cout << fmt::format("process {} of {}: {} runs computed; {}\n", options.rank, options.ranks,
                               outcome.computed,
                               outcome.stopped ? "stopped" : "others still compute, or have written the file");
    return outcome.stopped ? interrupted : done;
  }
  if (arguments.json)
    std::cout << json_text(outcome_json(outcome)) << '\n';
  else if (!arguments.quiet)
    std::cout << outcome;
  return status_of(outcome, arguments);
}

}  // namespace hinge::cli
