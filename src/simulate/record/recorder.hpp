// Where recorded rows go: a CSV or an HDF5 file. A row that was recorded survives the death of the process.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

/// What a trajectory file says about itself.
struct RecordHeader {
  std::vector<std::string> columns;                        ///< one name per number in a row; the first is "t"
  std::vector<std::pair<std::string, std::string>> about;  ///< title, method, step, program version, ...
  std::string model;                                       ///< the model file's text, empty if there is none
};

/// The columns of y, z and the multipliers, which follow "t".
std::vector<std::string> state_columns(const Layout& layout);

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Appends one row; `row.size()` equals the number of columns. Allocates nothing. Throws OutputError.
  virtual void record(std::span<const double> row) = 0;
  /// Called once at the end of a run, also of one that failed or was stopped; `status` says which.
  virtual void finish(const std::string& status) = 0;
};

/// A recorder for `path`, by its ending: .csv, or .h5 / .hdf5 (where built with HDF5). Throws OutputError with the
/// system's reason when the file cannot be written, or for another ending.
std::unique_ptr<Recorder> open_recorder(const std::string& path, const RecordHeader& header);

/// True when this build can write HDF5.
bool hdf5_available();

/// What a trajectory file holds, read back. `complete` is false for the file of a run that was killed.
struct Trajectory {
  RecordHeader header;
  std::vector<double> values;  ///< row by row
  std::string status;          ///< as given to finish(), empty if the run was killed
  std::size_t rows() const { return header.columns.empty() ? 0 : values.size() / header.columns.size(); }
};
Trajectory read_trajectory(const std::string& path);

}  // namespace hinge
