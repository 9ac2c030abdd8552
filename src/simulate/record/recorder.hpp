// Where recorded rows go: a file, pictures, memory, a function of the user's. A row that a file has got survives the
// death of the process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hinge/record.hpp"

namespace hinge {

/// The columns of y, z and the multipliers, which follow "t".
std::vector<std::string> state_columns(const Layout& layout);

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// The run goes on from `now` to `end`: for those who choose which rows they take.
  virtual void expect(double /*now*/, double /*end*/) {}
  /// Is a row at this time wanted?
  virtual bool due(double /*t*/) const { return true; }
  /// Appends one row of as many values as there are columns. Files allocate nothing. Throws OutputError.
  virtual void record(const Row& row) = 0;
  /// Called once at the end of a run, also of one that failed or was stopped; `status` says which. Without it there is
  /// no status.
  virtual void finish(const std::string& status) = 0;
};

/// A recorder for `path`, by its ending: .csv, or .h5 / .hdf5 (where built with HDF5). Throws OutputError with the
/// system's reason when the file cannot be written, or for another ending.
std::unique_ptr<Recorder> open_recorder(const std::string& path, const RecordHeader& header);
/// Throws OutputError for another ending.
void require_known_ending(const std::string& path);
/// Throws OutputError where there is a file of this name that is neither empty nor a record or contact result of ours.
void require_replaceable(const std::string& path);
/// For the program itself, before anything else: HDF5 does not clean up when it exits. All its files are closed by
/// then, and damaged ones make it go round in circles.
void spare_hdf5_cleanup();
/// Fills a trajectory that outlives the recorder.
std::unique_ptr<Recorder> keep_in_memory(Trajectory& trajectory, const RecordHeader& header);
/// Calls a function that outlives the recorder.
std::unique_ptr<Recorder> tell(const std::function<void(const Row&)>& callback);

}  // namespace hinge
