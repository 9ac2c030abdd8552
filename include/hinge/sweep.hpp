// Many runs of one model: every combination of values, or values drawn at random, in threads, into one file that
// survives the death of the process.
//
//   hinge::SweepPlan plan;
//   plan.vary("parameters.m1=0.5:2:100");
//   plan.sample("parameters.l=normal(1,0.1):1000");
//   const hinge::ModelVariants variants(text, name);
//   const auto make = [&](std::span<const hinge::Setting> settings, const hinge::AttachRun& attach) {
//     std::vector<hinge::Override> values;
//     for (const hinge::Setting& s : settings) values.push_back({s.key, s.value});
//     const hinge::Model model = variants.with(values);
//     hinge::SweptRun run{model.simulation_for(""), model.end};
//     attach(run.simulation);
//     run.simulation.start(model.start);
//     return run;
//   };
//   const hinge::SweepOutcome outcome = hinge::sweep(plan, make, {.out = "sweep.h5"});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

/// What one run sets: a key of the model and its value as text.
struct Setting {
  std::string key, value;
};

/// A key and the values it takes, one after the other.
struct VariedKey {
  std::string key;
  std::vector<std::string> values;
  std::vector<double> numbers;  ///< the same, or where they are texts their places in the list
  bool texts = false;
};

/// A key whose value is drawn.
struct SampledKey {
  enum class Law { normal, uniform, lognormal, exponential, triangular };
  std::string key;
  Law law = Law::normal;
  std::vector<double> numbers{};  ///< in the brackets behind the law
  /// The draw with this number. Depends on the arguments, the key and the law alone.
  double draw(std::uint64_t seed, std::uint64_t number) const;
};

/// Which runs there are: all combinations of the varied values, the last key fastest; and of each as many as there are
/// draws. Every combination gets the same draws.
struct SweepPlan {
  std::vector<VariedKey> varied;
  std::vector<SampledKey> sampled;
  std::size_t draws = 1;
  std::uint64_t seed = 1;

  /// "parameters.m1=0.5:2:100", from 0.5 to 2 in 100 values; "...:log" with equal ratios; "parameters.l=1,2", a list.
  /// Throws InputError.
  void vary(const std::string& text);
  /// "parameters.m1=normal(1,0.1):1000". Throws InputError.
  void sample(const std::string& text);

  std::size_t runs() const;
  std::vector<std::string> keys() const;
  std::vector<Setting> settings(std::size_t run) const;
  /// The settings as numbers, as they are recorded.
  std::vector<double> numbers(std::size_t run) const;
};

/// A run that has started.
struct SweptRun {
  Simulation simulation;
  double end;
};
using AttachRun = std::function<void(Simulation&)>;
/// Makes the run with these settings: calls `attach` before it starts it. Called by several threads at once. What it
/// throws makes the run a failed one.
using MakeRun = std::function<SweptRun(std::span<const Setting> settings, const AttachRun& attach)>;

struct SweepProgress {
  std::size_t runs, finished, failed, doubtful;  ///< finished: also those found, and those that failed
};

struct SweepOptions {
  std::string out;                      ///< .csv, .h5 or .hdf5
  std::string title{};                  ///< for the file, with the next two
  std::string model{};                  ///< text of the model
  std::string settings{};               ///< what all runs set
  std::vector<std::string> extremes{};  ///< columns whose least and largest value in every run is kept
  bool rows = false;                    ///< keep all recorded rows of every run, not only the last
  bool force = false;                   ///< replace a file of another sweep
  int jobs = 0;             ///< threads; 0: one for each processor that there is. Results do not depend on it.
  int rank = 0, ranks = 1;  ///< this process computes the runs k with k mod ranks = rank
  /// Called about ten times a second by the thread that called sweep(); return false to stop.
  std::function<bool(const SweepProgress&)> progress{};
};

/// What came out. Prints as a table.
struct SweepOutcome {
  struct Remark {
    std::size_t run;
    std::string text;  ///< why it failed, or what is doubtful
  };
  SweepPlan plan;
  std::string title, out;
  std::vector<std::string> columns;  ///< of `table`, and of the file
  std::vector<double> table;         ///< one row for each finished run, its last
  std::vector<Remark> failures, doubts;
  std::vector<std::string> shown;  ///< columns whose smallest and largest values are printed
  std::size_t runs = 0, finished = 0, found = 0, computed = 0;
  bool stopped = false;
  bool written = false;  ///< false in a process of several whose others still compute: the last of them writes the file
  double seconds = 0, setup_seconds = 0;  ///< of the whole; of preparing the runs, all threads together

  std::size_t rows() const { return columns.empty() ? 0 : table.size() / columns.size(); }
};
std::ostream& operator<<(std::ostream& out, const SweepOutcome& outcome);

/// Smallest, largest and mean value of a column over the runs that did not fail.
struct ColumnSpread {
  double smallest, largest, mean, deviation;
  std::size_t smallest_run, largest_run, count;
};
ColumnSpread spread_of(const SweepOutcome& outcome, std::string_view column);

/// Computes the runs that the file, or what a killed sweep has left beside it, does not have yet. While it goes on
/// finished runs are in the folder `out` + ".parts"; in the end the file takes its name as a whole, in the order of the
/// runs, and the folder goes. Throws InputError where no run can be made or the file is of another sweep, OutputError
/// where it cannot be written.
SweepOutcome sweep(const SweepPlan& plan, const MakeRun& make, const SweepOptions& options);

}  // namespace hinge
