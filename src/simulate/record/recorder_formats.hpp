// The file formats behind recorder.hpp, and the words they share for a file that cannot be written or read.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "hinge/error.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge {

std::unique_ptr<Recorder> open_csv_recorder(const std::string& path, const RecordHeader& header);
Trajectory read_csv_record(const std::string& path);

/// Both throw OutputError in a build without HDF5.
std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader& header);
Trajectory read_hdf5_record(const std::string& path);

/// In small letters: ".csv".
std::string ending_of(const std::string& path);

/// "cannot write 'x/y.csv': No such file or directory; create the folder or choose another file"
OutputError cannot_write(const std::string& path, int system_error);
OutputError cannot_write(const std::string& path, const std::string& reason);
/// The disk is full, or does not work: nothing is wrong with what the user wants.
struct LostWrite : OutputError {
  using OutputError::OutputError;
};
/// Throws one of the two.
[[noreturn]] void throw_cannot_write(const std::string& path, int system_error);
InputError cannot_read(const std::string& path, int system_error);
InputError cannot_read(const std::string& path, const std::string& reason);

/// The place of a column. An InputError, "it has no column 'x' (it has t, y)", where there is none of that name.
std::size_t column_of(std::span<const std::string> columns, std::string_view name);

/// A row of another width would end up in the wrong columns.
void require_row_width(const std::string& path, std::size_t width, std::size_t columns);

}  // namespace hinge
