// A sweep: threads that take one run after the other, and one file.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "simulate/runs_abreast.hpp"
#include "simulate/sweep_file.hpp"

namespace hinge {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

const std::vector<std::string> own_columns = {"failed",     "doubts",      "steps",         "rejected",
                                              "iterations", "evaluations", "factorisations"};

/// What every row has, in this order: run, settings, (final,) own columns, a row of the run, extremes.
struct SweepColumns {
  std::vector<std::string> all, recorded;
  std::vector<std::size_t> extremes;  ///< columns of the run whose least and largest values follow
  std::size_t keys, first_recorded, first_extreme;

  SweepColumns(const SweepPlan& plan, const SweepOptions& options, std::vector<std::string> of_a_run)
      : recorded(std::move(of_a_run)), keys(plan.keys().size()) {
    const auto own = [&](const std::string& name) {  // a coordinate may be called steps
      const bool taken = std::find(recorded.begin(), recorded.end(), name) != recorded.end();
      all.push_back(taken ? "sweep_" + name : name);
    };
    own("run");
    for (const std::string& key : plan.keys()) all.push_back(key);
    if (options.rows) own("final");
    for (const std::string& name : own_columns) own(name);
    first_recorded = all.size();
    all.insert(all.end(), recorded.begin(), recorded.end());
    first_extreme = all.size();
    for (const std::string& name : options.extremes) {
      const auto at = std::find(recorded.begin(), recorded.end(), name);
      if (at == recorded.end()) continue;
      extremes.push_back(static_cast<std::size_t>(at - recorded.begin()));
      all.push_back(fmt::format("min({})", name));
      all.push_back(fmt::format("max({})", name));
    }
  }
};

// The columns of a run's rows, from the first of a few runs that can be made; where none can, why not.
std::vector<std::string> columns_of(const SweepPlan& plan, const MakeRun& make) {
  std::exception_ptr first;
  const std::size_t last = plan.runs() - 1;
  for (const std::size_t k : {std::size_t{0}, last, last / 2}) {
    std::vector<std::string> columns;
    try {
      make(plan.settings(k), [&](Simulation& s) {
        s.on_row([&](const Row& row) { columns.assign(row.columns.begin(), row.columns.end()); });
      });
      if (columns.empty()) throw InputError("a run of the sweep has no row at its start");
      return columns;
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

RecordHeader header_of(const SweepPlan& plan, const SweepOptions& options, const SweepColumns& columns) {
  RecordHeader header{columns.all, {{"title", options.title}, {"program", "hinge " + version()}}, options.model};
  if (!options.settings.empty()) header.about.emplace_back("set", options.settings);
  for (const VariedKey& v : plan.varied)
    if (v.texts) header.about.emplace_back("values of " + v.key, fmt::format("{}", fmt::join(v.values, ", ")));
  return header;
}

/// One run on its way into the file.
class RunInSweep {
 public:
  RunInSweep(const RunInSweep&) = delete;
  RunInSweep& operator=(const RunInSweep&) = delete;
  RunInSweep(const SweepPlan& plan, const SweepOptions& options, const SweepColumns& columns, std::size_t run)
      : plan_(plan), options_(options), columns_(columns), number_(run), last_(columns.recorded.size(), NAN) {
    least_.assign(columns.extremes.size(), NAN);
    largest_ = least_;
  }

  void begin(const MakeRun& make, const std::atomic<bool>& stop) {
    const Clock::time_point begin = Clock::now();
    guarded([&] {
      run_.emplace(make(plan_.settings(number_), [&](Simulation& s) {
        s.on_row([this](const Row& row) { take(row); });
        s.on_progress([&stop](double) { return !stop; });
      }));
      setup_seconds_ = seconds_since(begin);
      RunsAbreast::begin(run_->simulation, run_->end);
      goes_on_ = true;
    });
  }

  /// Null where it is at its end.
  Simulation* going() { return goes_on_ ? &run_->simulation : nullptr; }
  void go_on() {
    guarded([&] {
      ++steps_;
      goes_on_ = RunsAbreast::go_on(run_->simulation);
      if (!goes_on_) run_->simulation.finish();
    });
  }
  /// Times that it has gone on.
  long steps() const { return steps_; }

  /// Nothing where it was told to stop.
  std::optional<FinishedRun> finished(const std::atomic<bool>& stop) {
    const Report report = run_ ? run_->simulation.report() : Report{};
    if (failure_.empty() && report.status == RunStatus::stopped && stop) return std::nullopt;
    return finished(report);
  }
  double setup_seconds() const { return setup_seconds_; }

 private:
  template <typename Action>
  void guarded(Action action) {
    try {
      action();
    } catch (const std::exception& e) {
      goes_on_ = false;
      failure_ = e.what();
      if (failure_.empty()) failure_ = "for a reason that is not told";
    }
  }

  void take(const Row& row) {
    const bool seen = row.columns.data() == columns_seen_;  // all rows of a run have the same
    if (!seen &&
        !std::equal(row.columns.begin(), row.columns.end(), columns_.recorded.begin(), columns_.recorded.end()))
      throw InputError(
          fmt::format("its rows have {} columns, or others, where those of the sweep have {}; sweep over keys that "
                      "leave the unknowns as they are",
                      row.columns.size(), columns_.recorded.size()));
    columns_seen_ = row.columns.data();
    std::copy(row.values.begin(), row.values.end(), last_.begin());
    if (options_.rows) kept_.insert(kept_.end(), last_.begin(), last_.end());
    for (std::size_t k = 0; k < least_.size(); ++k) {
      const double x = last_[columns_.extremes[k]];
      least_[k] = std::fmin(least_[k], x);
      largest_[k] = std::fmax(largest_[k], x);
    }
  }

  FinishedRun finished(const Report& report) {
    if (kept_.empty()) kept_ = last_;
    std::vector<double> before{static_cast<double>(number_)}, after;
    for (const double x : plan_.numbers(number_)) before.push_back(x);
    if (options_.rows) before.push_back(0);
    const Counters& c = report.counters;
    const auto number = [](auto n) { return static_cast<double>(n); };
    for (const double x :
         {failure_.empty() ? 0.0 : 1.0, number(report.doubts.size()), number(report.steps), number(report.rejected),
          number(c.iterations), number(c.evaluations), number(c.factorisations)})
      before.push_back(x);
    for (std::size_t k = 0; k < least_.size(); ++k) after.insert(after.end(), {least_[k], largest_[k]});
    FinishedRun out;
    const auto width = static_cast<std::ptrdiff_t>(last_.size());
    for (auto row = kept_.begin(); row != kept_.end(); row += width) {
      if (options_.rows) before[1 + columns_.keys] = row + width == kept_.end() ? 1 : 0;
      for (const auto& [from, to] : {std::pair{before.begin(), before.end()}, std::pair{row, row + width},
                                     std::pair{after.begin(), after.end()}})
        out.rows.insert(out.rows.end(), from, to);
    }
    if (!failure_.empty()) {
      out.remark = "failed: " + failure_;
    } else {
      for (const Doubt& d : report.doubts)
        out.remark +=
            fmt::format("{}{}: {:.3g}; {}", out.remark.empty() ? "doubtful: " : "; ", d.cause, d.value, d.remedy);
    }
    return out;
  }

  const SweepPlan& plan_;
  const SweepOptions& options_;
  const SweepColumns& columns_;
  std::size_t number_;
  std::vector<double> last_, kept_, least_, largest_;
  const std::string* columns_seen_ = nullptr;  // the first of those that have been compared
  std::optional<SweptRun> run_;
  bool goes_on_ = false;
  long steps_ = 0;
  std::string failure_;
  double setup_seconds_ = 0;
};

void count(SweepProgress& progress, const FinishedRun& run) {
  ++progress.finished;
  if (run.remark.starts_with("failed")) ++progress.failed;
  if (run.remark.starts_with("doubtful")) ++progress.doubtful;
}

/// The threads, and what they share.
class Workers {
 public:
  Workers(const SweepPlan& plan, const SweepOptions& options, const MakeRun& make, const SweepColumns& columns,
          SweepFile& file, std::vector<std::size_t> todo, SweepProgress progress)
      : plan_(plan),
        options_(options),
        make_(make),
        columns_(columns),
        file_(file),
        todo_(std::move(todo)),
        progress_(progress) {}

  /// Until all is done or told to stop.
  void work() {
    const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
    const std::size_t wanted = options_.jobs > 0 ? static_cast<std::size_t>(options_.jobs) : processors;
    std::vector<std::thread> threads;
    busy_ = std::min(wanted, todo_.size());
    for (std::size_t k = busy_; k-- > 0;) threads.emplace_back([this] { take_runs(); });
    std::exception_ptr complaint;
    try {
      std::unique_lock hold(mutex_);
      while (busy_ > 0) {
        changed_.wait_for(hold, std::chrono::milliseconds(100), [this] { return busy_ == 0; });
        const SweepProgress now = progress_;
        hold.unlock();
        if (options_.progress && !options_.progress(now)) stop_ = true;
        hold.lock();
      }
    } catch (...) {  // of the callback
      complaint = std::current_exception();
      stop_ = true;
    }
    for (std::thread& t : threads) t.join();
    if (!failure_) failure_ = complaint;
    if (failure_) std::rethrow_exception(failure_);
  }
  std::size_t computed() const { return computed_; }
  bool stopped() const { return computed_ < todo_.size(); }
  double setup_seconds() const { return setup_seconds_; }

 private:
  using Place = std::unique_ptr<RunInSweep>;

  void take_runs() {
    try {
      RunsAbreast together;
      std::array<Place, RunsAbreast::most> runs;
      do {
        for (Place& run : runs)
          if (!run) run = next_run();
      } while (go_on(together, runs));
    } catch (...) {  // the file cannot be written
      const std::lock_guard hold(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard hold(mutex_);
    --busy_;
    changed_.notify_one();
  }

  // Null where there is none left, or it is to stop.
  Place next_run() {
    if (stop_) return nullptr;
    const std::size_t k = next_++;
    if (k >= todo_.size()) return nullptr;
    auto run = std::make_unique<RunInSweep>(plan_, options_, columns_, todo_[k]);
    run->begin(make_, stop_);
    return run;
  }

  // A step of each, together where that can be; to its end where nothing can be done together. False where there is
  // none.
  bool go_on(RunsAbreast& together, std::array<Place, RunsAbreast::most>& runs) {
    using Next = RunsAbreast::Next;
    constexpr long some_steps = 3;  // before which a method may not know what it can do
    std::array<Simulation*, RunsAbreast::most> going{};
    for (std::size_t k = 0; k < runs.size(); ++k) going[k] = runs[k] ? runs[k]->going() : nullptr;
    const auto next = together.look_ahead(going);
    bool any = false;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      if (!runs[k]) continue;
      any = true;
      RunInSweep& run = *runs[k];
      if (run.going() && next[k] != Next::wait) run.go_on();
      while (run.going() && next[k] == Next::go_alone && run.steps() > some_steps) run.go_on();
      if (!run.going()) deliver(std::move(runs[k]));
    }
    return any;
  }

  void deliver(Place run) {
    const auto finished = run->finished(stop_);
    if (!finished) return;
    const std::lock_guard hold(mutex_);
    file_.add(*finished);
    count(progress_, *finished);
    ++computed_;
    setup_seconds_ += run->setup_seconds();
  }

  const SweepPlan& plan_;
  const SweepOptions& options_;
  const MakeRun& make_;
  const SweepColumns& columns_;
  SweepFile& file_;
  const std::vector<std::size_t> todo_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  std::size_t busy_ = 0, computed_ = 0;
  SweepProgress progress_;
  std::exception_ptr failure_;
  double setup_seconds_ = 0;
};

void tell(SweepOutcome& outcome, const FinishedRuns& runs) {
  const std::size_t width = outcome.columns.size();
  outcome.finished = runs.size();
  for (const auto& [k, run] : runs) {
    outcome.table.insert(outcome.table.end(), run.rows.end() - static_cast<std::ptrdiff_t>(width), run.rows.end());
    const std::size_t colon = run.remark.find(": ");
    if (run.remark.empty() || colon == std::string::npos) continue;
    auto& list = run.remark.starts_with("failed") ? outcome.failures : outcome.doubts;
    list.push_back({k, run.remark.substr(colon + 2)});
  }
}

void require_plan(const SweepPlan& plan, const SweepOptions& options) {
  if (plan.varied.empty() && plan.sampled.empty())
    throw InputError(
        "sweep: nothing changes from run to run; give --vary parameters.m1=0.5:2:100 or "
        "--sample parameters.m1=normal(1,0.1):1000");
  if (options.jobs < 0) throw InputError("--jobs is the number of threads, at least 1");
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    throw InputError(
        fmt::format("sweep: there is no process {} of {}; they are counted from 0", options.rank, options.ranks));
}

}  // namespace

SweepOutcome sweep(const SweepPlan& plan, const MakeRun& make, const SweepOptions& options) {
  require_plan(plan, options);
  const Clock::time_point begin = Clock::now();
  const SweepColumns columns(plan, options, columns_of(plan, make));
  SweepFile file(plan, options, header_of(plan, options, columns));
  SweepOutcome outcome;
  outcome.plan = plan;
  outcome.title = options.title;
  outcome.out = options.out;
  outcome.columns = columns.all;
  outcome.shown = options.extremes;
  if (outcome.shown.empty()) outcome.shown.assign(columns.recorded.begin() + 1, columns.recorded.end());  // without t
  outcome.runs = plan.runs();

  const FinishedRuns before = file.finished_before();
  SweepProgress progress{outcome.runs, 0, 0, 0};
  for (const auto& [k, run] : before) count(progress, run);
  outcome.found = before.size();
  std::vector<std::size_t> todo;
  for (auto k = static_cast<std::size_t>(options.rank); k < outcome.runs; k += static_cast<std::size_t>(options.ranks))
    if (!before.contains(k)) todo.push_back(k);
  if (!todo.empty()) {
    file.open_part();
    Workers workers(plan, options, make, columns, file, todo, progress);
    workers.work();
    outcome.computed = workers.computed();
    outcome.stopped = workers.stopped();
    outcome.setup_seconds = workers.setup_seconds();
  }
  FinishedRuns all;
  outcome.written = file.conclude(all);
  tell(outcome, all);
  outcome.seconds = seconds_since(begin);
  return outcome;
}

}  // namespace hinge
