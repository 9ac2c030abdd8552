// The file of a sweep, and the parts it is made of while the sweep goes on.
//
// Every process writes the runs it finishes to a file of its own in the folder `out`.parts, rank0-1.csv, each run
// by one write of whole lines. Such a file is never opened for writing again, so that whenever a process is killed, the
// runs that it has finished are there. Whoever finds that all runs are there, or is alone, writes the file: beside its
// name, in the order of the runs, and then it takes its name; the folder goes. Processes on several machines therefore
// need one file system, and nothing else.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hinge/sweep.hpp"
#include "simulate/record/output_file.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge {

/// A run in the file: its rows, of which the last has its result, and what is to be said of it.
struct FinishedRun {
  std::vector<double> rows;
  std::string remark;  ///< "failed: ..." or "doubtful: ..."; empty: neither
};
using FinishedRuns = std::map<std::size_t, FinishedRun>;

class SweepFile {
 public:
  /// Looks whether the file can be written, and what is there already; refuses what belongs to another sweep.
  SweepFile(const SweepPlan& plan, const SweepOptions& options, RecordHeader header);

  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;
  /// A sweep that was refused leaves nothing behind.
  ~SweepFile() {
    if (lock_.open() && !part_ && parts().empty()) remove_folder();
  }

  FinishedRuns finished_before();
  /// Before the first add().
  void open_part();
  void add(const FinishedRun& run);
  /// Writes the file, where it is complete or where this process is the only one. False: others still compute, or one
  /// of them has written it.
  bool conclude(FinishedRuns& all);

 private:
  FinishedRuns read_all() const;
  void read_into(FinishedRuns& runs, const std::string& path) const;
  std::string why_other(const RecordHeader& there) const;
  std::vector<std::string> parts() const;
  void write(const FinishedRun& run, Recorder& file) const;
  void write_whole_file(const FinishedRuns& runs) const;
  void remove_folder() const;

  const SweepPlan& plan_;
  const SweepOptions& options_;
  RecordHeader header_;
  std::size_t width_, final_;  // of a row; the place of "final" in it, behind all others where there is none
  std::string folder_;
  bool complete_before_ = false;
  OutputFile lock_;
  std::unique_ptr<Recorder> part_;
  std::map<std::vector<double>, std::size_t> places_;  // of runs by their settings
};

}  // namespace hinge
