// hinge.sweep(): one model with many settings, in threads of its own. Runs are made as those of `hinge sweep`, their
// rows are kept. Python goes on meanwhile.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "core.hpp"
#include "hinge/error.hpp"

namespace hinge::python {

namespace {

using Clock = std::chrono::steady_clock;

class Sweep {
 public:
  Sweep(const std::string& text, const std::string& name, const std::vector<SettingText>& common,
        const std::vector<std::vector<SettingText>>& points, bool rows, bool strict)
      : text_(text),
        name_(name),
        common_(common),
        points_(points),
        rows_(rows),
        strict_(strict),
        results_(points.size()) {}

  /// `tell` is called about ten times a second and at the end by the thread that called, with the number of finished
  /// runs; false stops.
  void compute(int jobs, const std::function<bool(std::size_t)>& tell) {
    busy_ = std::min(static_cast<std::size_t>(jobs), points_.size());
    std::vector<std::thread> threads;
    std::exception_ptr complaint;
    try {
      for (std::size_t k = busy_; k-- > 0;) threads.emplace_back([this] { take_runs(); });
      std::unique_lock hold(mutex_);
      for (bool done = false; !done;) {  // and once more when all of them are finished
        done = changed_.wait_for(hold, std::chrono::milliseconds(100), [this] { return busy_ == 0; });
        hold.unlock();
        if (!tell(finished_)) stop_ = true;
        hold.lock();
      }
    } catch (...) {  // of Python
      complaint = std::current_exception();
      stop_ = true;
    }
    for (std::thread& t : threads) t.join();
    if (complaint) std::rethrow_exception(complaint);
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Without rows where it was told to stop before, and where a run was refused: then `failure` says why.
  std::vector<Result>& results() { return results_; }

 private:
  Result run(std::size_t k) const {
    std::vector<SettingText> settings = common_;
    settings.insert(settings.end(), points_[k].begin(), points_[k].end());
    Model made = parse_model(text_, name_, overrides_of(settings));
    if (!rows_) {
      made.simulation.every = std::numeric_limits<int>::max();
      made.simulation.interval = 0;
      made.simulation.times.clear();
    }
    Result result = completed(kept(std::move(made)).model,
                              [this](Simulation& s) { s.on_progress([this](double) { return !stops(); }); });
    // Rows alone: what the run has worked with goes in its own thread, not later in the one that lets go of all
    // results.
    result.rows = std::make_shared<const Trajectory>(*result.rows);
    result.model.reset();
    return result;
  }

  /// Without rows, but with the sentence, where the settings of this run are refused.
  Result run_or_refuse(std::size_t k) const {
    try {
      return run(k);
    } catch (const InputError& e) {
      Result refused;
      refused.failure = e.what();
      return refused;
    }
  }

  bool stops() const { return stop_ || interpreter_ends(); }

  void take_runs() {
    const Computing computing;
    try {
      for (std::size_t k = next_++; k < points_.size() && !stops(); k = next_++) {
        Result result = run_or_refuse(k);
        if (result.rows && result.report->status == RunStatus::stopped && stops()) break;
        if (strict_ && !result.failure.empty()) stop_ = true;
        results_[k] = std::move(result);
        ++finished_;
      }
    } catch (...) {
      const std::lock_guard hold(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard hold(mutex_);
    --busy_;
    changed_.notify_one();
  }

  const std::string &text_, &name_;
  const std::vector<SettingText>& common_;
  const std::vector<std::vector<SettingText>>& points_;
  const bool rows_, strict_;
  std::vector<Result> results_;  // each written by one thread
  std::atomic<std::size_t> next_ = 0, finished_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  std::size_t busy_ = 0;
  std::exception_ptr failure_;
};

nb::list sweep(const std::string& text, const std::string& name, const std::vector<SettingText>& common,
               const std::vector<std::vector<SettingText>>& points, bool rows, bool strict, int jobs,
               const nb::object& progress) {
  Sweep all(text, name, common, points, rows, strict);
  {
    const WithoutLock free;
    all.compute(jobs, [&](std::size_t finished) {
      const WithLock lock;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return progress.is_none() || !says_stop(nb::object(progress(finished, points.size())));
    });
  }
  nb::list list;
  for (Result& r : all.results()) {
    if (r.rows)
      list.append(nb::cast(std::move(r)));
    else
      list.append(r.failure.empty() ? nb::none() : sentence(r.failure));
  }
  return list;
}

}  // namespace

void bind_sweep(nb::module_& m) {
  m.def("sweep", &sweep, nb::arg("text"), nb::arg("name"), nb::arg("common"), nb::arg("points"), nb::arg("rows"),
        nb::arg("strict"), nb::arg("jobs"), nb::arg("progress").none());
}

}  // namespace hinge::python
