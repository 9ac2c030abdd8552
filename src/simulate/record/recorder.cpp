// Opens and reads records: chooses the format by the ending, and refuses a header that no format could give
// back as it was.
#include "simulate/record/recorder.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "simulate/record/recorder_formats.hpp"

namespace hinge {
namespace {

enum class Format { csv, hdf5, unknown };

Format format_of(const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending == ".csv") return Format::csv;
  if (ending == ".h5" || ending == ".hdf5") return Format::hdf5;
  return Format::unknown;
}

std::string known_endings() { return hdf5_available() ? ".csv, .h5 and .hdf5" : ".csv"; }

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// Names are written by the program and by the model file; a bad one would make the file unreadable only later.
void require_recordable(const std::string& path, const RecordHeader& header) {
  if (header.columns.empty()) throw cannot_write(path, "there is nothing to record: no columns");
  for (const std::string& column : header.columns) {
    if (column.empty() || has_control_character(column)) {
      throw cannot_write(path, fmt::format("'{}' cannot be the name of a column", column));
    }
  }
  std::set<std::string_view> seen{"model", "status"};
  for (const auto& [key, value] : header.about) {
    const bool plain =
        !key.empty() && key.front() != ' ' && key.find(':') == std::string::npos && !has_control_character(key);
    if (!plain || !seen.insert(key).second) {
      throw cannot_write(path, fmt::format("'{}' cannot be a key of the file's header, or appears twice", key));
    }
  }
}

const char* hint_for(int system_error) {
  switch (system_error) {
    case ENOENT:
    case ENOTDIR: return "create the folder or choose another file";
    case EISDIR: return "give the name of a file in that folder";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free some space or choose another file";
    case EAGAIN: return "another program has it open; close it there or choose another file";
    default: return "choose another file";
  }
}

}  // namespace

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

OutputError cannot_write(const std::string& path, int system_error) {
  const std::string reason = std::generic_category().message(system_error);
  return cannot_write(path, fmt::format("{}; {}", reason, hint_for(system_error)));
}

OutputError cannot_write(const std::string& path, const std::string& reason) {
  return OutputError(fmt::format("cannot write '{}': {}", path, reason));
}

void throw_cannot_write(const std::string& path, int system_error) {
  const OutputError error = cannot_write(path, system_error);
  for (const int lost : {ENOSPC, EDQUOT, EFBIG, EIO, EPIPE})
    if (system_error == lost) throw LostWrite(error.what());
  throw error;
}

InputError cannot_read(const std::string& path, int system_error) {
  const char* hint = system_error == EAGAIN   ? "; it is still being written"
                     : system_error == ENOENT ? "; check the name of the file"
                                              : "";
  return cannot_read(path, std::generic_category().message(system_error) + hint);
}

InputError cannot_read(const std::string& path, const std::string& reason) {
  return InputError(fmt::format("cannot read '{}': {}", path, reason));
}

void require_row_width(const std::string& path, std::size_t width, std::size_t columns) {
  if (width == columns) return;
  throw cannot_write(path, fmt::format("a row of {} numbers does not fit {} columns", width, columns));
}

std::vector<std::string> state_columns(const Layout& layout) {
  std::vector<std::string> columns;
  for (int k = 0; k < layout.ny; ++k) columns.push_back(layout.y_name(k));
  for (int k = 0; k < layout.nz; ++k) columns.push_back(layout.z_name(k));
  for (Block b : layout.psi) {
    // a coordinate may be called psi, too
    if (std::ranges::any_of(layout.y, [&](const Block& y) { return y.name == b.name; })) b.name = "multiplier";
    for (int k = 0; k < b.size(); ++k) columns.push_back(b.entry_name(k));
  }
  return columns;
}

void require_known_ending(const std::string& path) {
  if (format_of(path) != Format::unknown) return;
  throw cannot_write(
      path, "its ending names no format; known endings are " + known_endings() + ", and .pvd for pictures of bodies");
}

std::unique_ptr<Recorder> open_recorder(const std::string& path, const RecordHeader& header) {
  require_known_ending(path);
  require_recordable(path, header);
  return format_of(path) == Format::csv ? open_csv_recorder(path, header) : open_hdf5_recorder(path, header);
}

namespace {

/// What all of ours say near their beginning. A record that is being written cannot be opened by HDF5, so its bytes are
/// looked at.
bool is_ours(std::string_view start) {
  const auto says = [&](std::string_view text) { return start.find(text) != std::string_view::npos; };
  if (start.starts_with("\x89HDF")) return says("program") && says("hinge ");
  if (start.starts_with("# ")) return says("\n# program: hinge ") || start.starts_with("# program: hinge ");
  return says("<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n");
}

}  // namespace

void require_replaceable(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  std::ifstream in(path, std::ios::binary);
  if (!in) return;  // whether it can be written is told then
  std::string start(1 << 16, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  if (start.empty() || is_ours(start)) return;
  throw cannot_write(path,
                     "there is such a file, which hinge has not written; choose another --out, or --force "
                     "overwrites it");
}

Trajectory read_record(const std::string& path) {
  switch (format_of(path)) {
    case Format::csv: return read_csv_record(path);
    case Format::hdf5: return read_hdf5_record(path);
    case Format::unknown: break;
  }
  throw cannot_read(path, "its ending names no format; known endings are " + known_endings());
}

}  // namespace hinge
