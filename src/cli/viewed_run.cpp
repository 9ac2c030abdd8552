#include "cli/viewed_run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/page_template.hpp"
#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "model/given_values.hpp"
#include "simulate/page/page_summary.hpp"
#include "simulate/recording.hpp"

namespace hinge::cli {

namespace {

Json running(const Model& model) {
  return {{"title", model.title},
          {"program", "hinge " + version()},
          {"status", "running"},
          {"method", {{"name", model.method}}},
          {"time", {{"start", model.simulation.start}, {"end", model.end}, {"steps", 0}}}};
}

// Does somebody write this file? Writers of hinge hold a lock.
bool is_written(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool busy = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return busy;
}

}  // namespace

ViewedRun::ViewedRun(Model model, int number)
    : model_(std::move(model)), number_(number), page_(page_options(model_)), summary_(running(model_)) {}

ViewedRun::~ViewedRun() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<ViewedRun> ViewedRun::of_model(Model model, int number) {
  model.picture_file.clear();  // looking writes nothing
  if (!(model.end >= model.simulation.start))
    throw InputError(fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate]", model.path));
  std::unique_ptr<ViewedRun> run(new ViewedRun(std::move(model), number));
  const Model& m = run->model_;
  located(m, [&] {
    run->simulation_ = std::make_unique<Simulation>(m.simulation_for(""));
    run->simulation_->on_row([r = run.get()](const Row& row) {
      const std::lock_guard lock(r->mutex_);
      r->page_.take(row);
    });
    run->simulation_->on_progress([r = run.get()](double) { return !r->stopped_; });
    run->simulation_->start(m.start);
  });
  run->thread_ = std::thread([r = run.get()] { r->compute(); });
  return run;
}

void ViewedRun::compute() {
  std::string unexpected;
  try {
    simulation_->until(model_.end);
    simulation_->finish();
  } catch (const std::exception& e) {  // the report says so, if it is one of ours
    unexpected = e.what();
  }
  try {
    const Report report = simulation_->report();
    Json summary = page_summary(report, model_.method);
    if (!unexpected.empty() && report.status != RunStatus::failed) {
      summary["status"] = "failed";
      summary["message"] = unexpected;
    }
    conclude(std::move(summary), report.final);
  } catch (const std::exception& e) {
    const std::lock_guard lock(mutex_);
    summary_["status"] = "failed";
    summary_["message"] = e.what();
    over_ = true;
  }
}

void ViewedRun::conclude(Json summary, const State& final) {
  const std::lock_guard lock(mutex_);
  page_.end(final);
  summary_ = std::move(summary);
  over_ = true;
}

// ---- Records
// ---------------------------------------------------------------------------------------------------------

RecordedModel recorded_model(const std::string& path) {
  const Trajectory record = read_record(path);
  RecordedModel found{record.header.model, {}, {}};
  if (found.text.empty())
    throw InputError(fmt::format(
        "'{}' has no model text in it, so that nothing is known but numbers: hinge plot draws them; or give "
        "the model: hinge view MODEL.toml",
        path));
  for (const auto& [key, value] : record.header.about)
    if (key == "set") found.overrides = overrides_in(value);
  found.model = parse_model(found.text, path, found.overrides);
  return found;
}

std::unique_ptr<ViewedRun> ViewedRun::of_record(const std::string& path, Model model, int number) {
  std::unique_ptr<ViewedRun> run(new ViewedRun(std::move(model), number));
  const Trajectory record = read_record(path);
  const std::vector<std::string> known = record_columns(*run->model_.system);
  if (record.header.columns.size() < known.size() ||
      !std::equal(known.begin(), known.end(), record.header.columns.begin()))
    throw InputError(
        fmt::format("'{}' has other columns than its model: it has been changed, or is of an older version "
                    "of hinge; run the model again",
                    path));
  run->row_state_ = std::make_unique<State>();
  if (record.status.empty() && is_written(path)) {
    run->take_rows(record, 0);
    run->thread_ = std::thread([r = run.get(), path] { r->follow(path); });
  } else {
    run->stopped_ = true;
    run->follow(path);
  }
  return run;
}

std::size_t ViewedRun::take_rows(const Trajectory& record, std::size_t from) {
  const Layout& l = model_.system->layout();
  State& s = *row_state_;
  const auto part = [&](std::span<const double> row, int first, int count) {
    return std::vector<double>(row.begin() + first, row.begin() + first + count);
  };
  const std::lock_guard lock(mutex_);
  for (; from < record.rows(); ++from) {
    const std::span<const double> row = record.row(from);
    s.t = row[0];
    s.y = part(row, 1, l.ny);
    s.z = part(row, 1 + l.ny, l.nz);
    s.psi = part(row, 1 + l.ny + l.nz, l.npsi);
    page_.take({.values = row, .columns = record.header.columns, .state = &s});
  }
  return from;
}

// Reads the file again while it grows; what takes long to read is read less often.
void ViewedRun::follow(const std::string& path) {
  using Clock = std::chrono::steady_clock;
  std::string trouble;
  Trajectory record;
  std::size_t taken = 0;
  {
    const std::lock_guard lock(mutex_);
    taken = page_.rows();
  }
  while (true) {
    const auto begin = Clock::now();
    const bool written = is_written(path);
    try {
      record = read_record(path);
      taken = take_rows(record, taken);
    } catch (const std::exception& e) {
      trouble = e.what();
    }
    if (!record.status.empty() || !written || !trouble.empty()) break;
    const auto pause = std::max<Clock::duration>(std::chrono::milliseconds(300), 4 * (Clock::now() - begin));
    for (const auto until = Clock::now() + pause; Clock::now() < until && !stopped_;)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (stopped_) return;
  }
  Report report;
  report.title = model_.title;
  report.method = model_.choice.description;
  report.layout = model_.system->layout();
  for (const auto& [key, value] : record.header.about)
    if (key == "method") report.method = value;
  const std::string& said = record.status;
  report.status = said.starts_with("failed") || !trouble.empty() ? RunStatus::failed
                  : said == "finished"                           ? RunStatus::finished
                                                                 : RunStatus::stopped;
  report.message = !trouble.empty()                       ? trouble
                   : said.empty()                         ? "the program was killed before the run was over"
                   : said.find(": ") != std::string::npos ? said.substr(said.find(": ") + 2)
                                                          : "";
  report.start = record.rows() > 0 ? record.row(0)[0] : 0;
  report.end = record.rows() > 0 ? record.row(record.rows() - 1)[0] : 0;
  report.step = model_.simulation.step;
  report.tolerance = model_.simulation.tolerance;
  report.steps = static_cast<long>(record.rows());
  Json summary;
  {
    const std::lock_guard lock(mutex_);
    const double constraint = page_.largest("constraint"), energy = page_.largest("energy-error");
    report.has_constraints = !std::isnan(constraint);
    report.constraint = constraint;
    report.hidden_constraint = page_.largest("hidden-constraint");
    if (!std::isnan(energy)) {
      report.energy_error = energy;
      report.energy = record.row(record.rows() - 1)[record_columns(*model_.system).size() - 1];
    }
    summary = page_summary(report, model_.method);
  }
  for (const char* unknown : {"verdict", "cost", "sections"}) summary.erase(unknown);
  summary["remarks"].push_back(
      fmt::format("From {}, {} rows: what was preserved is what these rows show. The verdict of the run, its cost and "
                  "the forces of "
                  "contacts are not in a record.",
                  path.substr(path.find_last_of('/') + 1), record.rows()));
  conclude(std::move(summary), *row_state_);
}

// ---- What pages ask for
// ----------------------------------------------------------------------------------------------

std::string ViewedRun::name() const { return fmt::format("{}.{}{}", number_, page_.numbering(), over_ ? ".end" : ""); }

std::string ViewedRun::page(std::string_view page, Json live) const {
  const std::lock_guard lock(mutex_);
  if (!live.is_null()) live["run"] = name();
  return page_.fill(page, summary_, live);
}

Json ViewedRun::news(std::size_t rows, std::size_t frames) const {
  const std::lock_guard lock(mutex_);
  Json answer = {{"run", name()}, {"status", summary_.at("status")}};
  answer.update(page_.news(rows, frames));
  return answer;
}

bool ViewedRun::over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

std::string ViewedRun::status() const {
  const std::lock_guard lock(mutex_);
  return summary_.at("status");
}

}  // namespace hinge::cli
