// Recorded rows: one at the moment it is recorded, all of them in memory, and those of a file read back.
//
//   run.on_row([](const hinge::Row& row) { std::cout << row["t"] << ' ' << row["energy"] << '\n'; });
//   run.keep_rows();                                       // run.trajectory() has them
//   const hinge::Trajectory earlier = hinge::read_record("pendulum.h5");
//   const std::vector<double> height = earlier.column("q[1]");
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

struct ContactImpulses;
struct ContactStatistics;
struct Counters;

/// What a record says about itself.
struct RecordHeader {
  std::vector<std::string> columns;                        ///< one name per number in a row; the first is "t"
  std::vector<std::pair<std::string, std::string>> about;  ///< title, method, step, program version, ...
  std::string model;                                       ///< the model file's text, empty if there is none
};

/// One row at the moment it is recorded. What it refers to is gone after the call: copy what is to stay.
struct Row {
  std::span<const double> values;                         ///< t, the state, the energy, momentum maps, quantities
  std::span<const std::string> columns{};                 ///< what each value is called
  std::string_view event{};                               ///< the event that is recorded with this row; empty: none
  const State* state = nullptr;                           ///< where the motion is
  const ContactImpulses* contacts = nullptr;              ///< of the last step, where the method has any
  double step = 0;                                        ///< length of the last step; 0 at the start
  const Counters* counters = nullptr;                     ///< what all steps so far have cost
  const ContactStatistics* contact_statistics = nullptr;  ///< so far, where the method has any
  /// The value of a column. Throws InputError where there is no such column.
  double operator[](std::string_view column) const;
};

/// All rows of a run: kept in memory, or read from a file.
struct Trajectory {
  RecordHeader header;
  std::vector<double> values;  ///< row by row
  /// "finished", "stopped: ..." or "failed: ..." with the reason; empty while the run goes on, and for ever where it
  /// was killed.
  std::string status;
  struct Event {
    std::string name;
    std::size_t row;  ///< the state at the event, before a change
  };
  std::vector<Event> events;  ///< in order of time

  std::size_t rows() const { return header.columns.empty() ? 0 : values.size() / header.columns.size(); }
  /// The numbers of one row.
  std::span<const double> row(std::size_t k) const;
  /// The numbers of one column, from the first row to the last. Throws InputError where there is no such column.
  std::vector<double> column(std::string_view name) const;
  /// The column "t".
  std::vector<double> times() const { return column("t"); }
};

/// Reads what a run has recorded to a .csv, .h5 or .hdf5 file, also one that has failed, still goes on or was killed.
/// Throws InputError.
Trajectory read_record(const std::string& path);

/// True when this build can write and read HDF5.
bool hdf5_available();

}  // namespace hinge
