// Trajectories as CSV text:
//
//   # title: pendulum            one comment line for each `about` pair
//   # model: |                   a text of several lines, each behind "#   "; `|-` when its last line has no end
//   #   [body]
//   t,q[1],"a, quoted name"
//   0,1,-0.5                     shortest decimal numbers that read back as the same doubles
//   # status: finished           missing when the run was killed
//
// A row is one write(2) of one complete line: once record() has returned the kernel has the row, and the death of the
// process cannot take it away. (A crash of the machine can: nothing is synced to the disk.)
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <fmt/format.h>

#include "simulate/record/recorder_formats.hpp"

namespace hinge {
namespace {

constexpr std::string_view block_prefix = "#   ";

/// "-2.2250738585072014e-308" is the longest shortest double; one more character for the comma or the line's end.
constexpr std::size_t characters_per_number = 25;
static_assert(std::numeric_limits<double>::max_digits10 + std::string_view("-.e-308").size() < characters_per_number);

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  bool open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Zero, or the system's error: some file systems report a failed write only here.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_;
};

void append_block(std::string& out, std::string_view key, std::string_view text) {
  out += fmt::format("# {}: {}\n", key, text.ends_with('\n') ? "|" : "|-");
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += fmt::format("{}{}\n", block_prefix, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Appends "# key: value", as a block when the value has several lines or could be taken for the start of a block.
void append_entry(std::string& out, std::string_view key, std::string_view value) {
  if (value.find('\n') != std::string_view::npos || value.starts_with('|')) {
    append_block(out, key, value);
  } else {
    out += fmt::format("# {}: {}\n", key, value);
  }
}

void append_name(std::string& out, std::string_view name) {
  if (name.find_first_of(",\"#") == std::string_view::npos && name.front() != ' ' && name.back() != ' ') {
    out += name;
    return;
  }
  out += '"';
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

std::string header_text(const RecordHeader& header) {
  std::string out;
  for (const auto& [key, value] : header.about) append_entry(out, key, value);
  if (!header.model.empty()) append_block(out, "model", header.model);
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    if (i > 0) out += ',';
    append_name(out, header.columns[i]);
  }
  return out + '\n';
}

class CsvRecorder final : public Recorder {
 public:
  CsvRecorder(const std::string& path, const RecordHeader& header)
      : path_(path),
        columns_(header.columns.size()),
        line_(columns_ * characters_per_number, '\0'),
        // Appending makes every row land behind the last one, also after a failed row was cut off.
        file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) {
    if (!file_.open()) throw cannot_write(path_, errno);
    write_complete(header_text(header));
  }

  void record(std::span<const double> row) override {
    require_row_width(path_, row.size(), columns_);
    if (!file_.open()) throw cannot_write(path_, "its recording is finished");
    char* end = line_.data();
    for (const double value : row) {
      end = std::to_chars(end, line_.data() + line_.size(), value).ptr;
      *end++ = ',';
    }
    end[-1] = '\n';
    write_complete({line_.data(), end});
  }

  void finish(const std::string& status) override {
    if (!file_.open()) return;
    std::string text;
    append_entry(text, "status", status);
    write_complete(text);
    if (const int error = file_.close(); error != 0) throw cannot_write(path_, error);
  }

 private:
  /// All of `text` or nothing: a piece of a line that a full disk let through is cut off again.
  void write_complete(std::string_view text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = ::write(file_.get(), text.data() + done, text.size() - done);
      if (n >= 0) {
        done += static_cast<std::size_t>(n);
      } else if (errno != EINTR) {
        const int error = errno;
        // Fails on a pipe or a device, where there is nothing to cut; the first error is the one to report.
        [[maybe_unused]] const int cut = done > 0 ? ::ftruncate(file_.get(), complete_bytes_) : 0;
        throw cannot_write(path_, error);
      }
    }
    complete_bytes_ += static_cast<off_t>(text.size());
  }

  std::string path_;
  std::size_t columns_;
  std::string line_;  ///< room for the longest row
  Descriptor file_;
  off_t complete_bytes_ = 0;
};

std::string read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) throw cannot_read(path, errno);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (true) {
    const ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n == 0) return text;
    if (n > 0) {
      text.append(piece.data(), static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      throw cannot_read(path, errno);
    }
  }
}

/// The complete lines of a text, one by one. What follows the last line end was cut off by the death of the writer.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (!peek(line)) return false;
    rest_.remove_prefix(line.size() + 1);
    ++number_;
    return true;
  }
  bool peek(std::string_view& line) const {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return false;
    line = rest_.substr(0, end);
    return true;
  }
  int number() const { return number_; }

 private:
  std::string_view rest_;
  int number_ = 0;
};

/// Reads "# key: value" and the block that may follow; a comment of another form is skipped, as a person may add one.
void read_entry(std::string_view line, Lines& lines, Trajectory& trajectory) {
  const std::size_t colon = line.find(": ");
  if (!line.starts_with("# ") || colon == std::string_view::npos) return;
  const std::string key(line.substr(2, colon - 2));
  std::string value(line.substr(colon + 2));
  if (value == "|" || value == "|-") {
    const bool ended = value == "|";
    value.clear();
    for (std::string_view inner; lines.peek(inner) && inner.starts_with(block_prefix);) {
      lines.next(inner);
      value.append(inner.substr(block_prefix.size())) += '\n';
    }
    if (!ended && !value.empty()) value.pop_back();
  }
  if (key == "model") {
    trajectory.header.model = value;
  } else if (key == "status") {
    trajectory.status = value;
  } else {
    trajectory.header.about.emplace_back(key, value);
  }
}

std::vector<std::string> read_names(std::string_view line) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      names.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

void read_row(const std::string& path, std::string_view line, int number, std::size_t columns,
              std::vector<double>& out) {
  const std::size_t before = out.size();
  const char* position = line.data();
  const char* const end = line.data() + line.size();
  while (true) {
    double value = 0.0;
    const auto [stop, error] = std::from_chars(position, end, value);
    if (error != std::errc() || (stop != end && *stop != ',')) {
      throw cannot_read(path, fmt::format("line {} holds something that is not a number: {}", number, line));
    }
    out.push_back(value);
    if (stop == end) break;
    position = stop + 1;
  }
  if (const std::size_t width = out.size() - before; width != columns) {
    throw cannot_read(path, fmt::format("line {} holds {} numbers for {} columns", number, width, columns));
  }
}

}  // namespace

std::unique_ptr<Recorder> open_csv_recorder(const std::string& path, const RecordHeader& header) {
  return std::make_unique<CsvRecorder>(path, header);
}

Trajectory read_csv_trajectory(const std::string& path) {
  const std::string text = read_file(path);
  Trajectory trajectory;
  Lines lines(text);
  for (std::string_view line; lines.next(line);) {
    if (line.starts_with('#')) {
      read_entry(line, lines, trajectory);
    } else if (trajectory.header.columns.empty()) {
      trajectory.header.columns = read_names(line);
    } else {
      read_row(path, line, lines.number(), trajectory.header.columns.size(), trajectory.values);
    }
  }
  if (trajectory.header.columns.empty()) throw cannot_read(path, "it holds no line of column names");
  return trajectory;
}

}  // namespace hinge
