// Trajectories as CSV text:
//
//   # title: pendulum            one comment line for each `about` pair
//   # model: |                   a text of several lines, each behind "#   "; `|-` when its last line has no end
//   #   [body]
//   t,q[1],"a, quoted name"
//   0,1,-0.5                     shortest decimal numbers that read back as the same doubles
//   # event: floor               the next row is the state at this event
//   0.5,0,-1
//   # status: finished           missing while the run goes on, and for ever when it was killed
//
// A row is one write(2) of one complete line: once record() has returned the kernel has the row, and the death of the
// process cannot take it away. (A crash of the machine can: nothing is synced to the disk.)
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "simulate/record/output_file.hpp"
#include "simulate/record/recorder_formats.hpp"

namespace hinge {
namespace {

constexpr std::string_view block_prefix = "#   ";

/// "-2.2250738585072014e-308" is the longest shortest double; one more character for the comma or the line's end.
constexpr std::size_t characters_per_number = 25;
static_assert(std::numeric_limits<double>::max_digits10 + std::string_view("-.e-308").size() < characters_per_number);

std::string block(std::string_view key, std::string_view text) {
  std::string out = fmt::format("# {}: {}\n", key, text.ends_with('\n') ? "|" : "|-");
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += fmt::format("{}{}\n", block_prefix, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

/// "# key: value", as a block when the value has several lines or could be taken for the start of a block.
std::string entry(std::string_view key, std::string_view value) {
  const bool plain = value.find('\n') == std::string_view::npos && !value.starts_with('|');
  return plain ? fmt::format("# {}: {}\n", key, value) : block(key, value);
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
  for (const auto& [key, value] : header.about) out += entry(key, value);
  if (!header.model.empty()) out += block("model", header.model);
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    if (i > 0) out += ',';
    append_name(out, header.columns[i]);
  }
  return out + '\n';
}

class CsvRecorder final : public Recorder {
 public:
  CsvRecorder(const std::string& path, const RecordHeader& header)
      : columns_(header.columns.size()),
        line_(columns_ * characters_per_number, '\0'),
        file_(path, OutputFile::Writing::behind) {
    file_.append(header_text(header));
  }

  void record(const Row& row) override {
    require_row_width(file_.path(), row.values.size(), columns_);
    if (!file_.open()) throw cannot_write(file_.path(), "its recording is finished");
    char* end = line_.data();
    for (const double value : row.values) {
      end = std::to_chars(end, line_.data() + line_.size(), value).ptr;
      *end++ = ',';
    }
    end[-1] = '\n';
    const std::string_view line(line_.data(), end);
    if (row.event.empty())
      file_.append(line);
    else
      file_.append(entry("event", row.event).append(line));
  }

  void finish(const std::string& status) override {
    if (!file_.open()) return;
    file_.append(entry("status", status));
    file_.close();
  }

 private:
  std::size_t columns_;
  std::string line_;  ///< room for the longest row
  OutputFile file_;
};

/// Takes "# key: value"; a comment of another form is skipped, as a person may add one.
void take_entry(std::string_view key, std::string value, Trajectory& trajectory) {
  if (key == "model")
    trajectory.header.model = std::move(value);
  else if (key == "status")
    trajectory.status = std::move(value);
  else if (key == "event" && !trajectory.header.columns.empty())
    trajectory.events.push_back({std::move(value), trajectory.rows()});
  else
    trajectory.header.about.emplace_back(key, std::move(value));
}

/// The next complete line. What follows the last line end was cut off by the death of the writer.
bool next_line(std::istream& in, std::string& line) { return std::getline(in, line) && !in.eof(); }

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

Trajectory read_csv_record(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw cannot_read(path, errno);
  Trajectory trajectory;
  std::string line;
  int number = 1;
  for (bool more = next_line(in, line); more; ++number) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("# ") && colon != std::string::npos) {
      const std::string key = line.substr(2, colon - 2), first = line.substr(colon + 2);
      std::string value = first;
      if (first == "|" || first == "|-") value.clear();
      while ((more = next_line(in, line)) && (first == "|" || first == "|-") && line.starts_with(block_prefix)) {
        value.append(line, block_prefix.size()) += '\n';
        ++number;
      }
      if (first == "|-" && !value.empty()) value.pop_back();
      take_entry(key, std::move(value), trajectory);
      continue;
    }
    if (trajectory.header.columns.empty() && !line.starts_with('#'))
      trajectory.header.columns = read_names(line);
    else if (!line.starts_with('#'))
      read_row(path, line, number, trajectory.header.columns.size(), trajectory.values);
    more = next_line(in, line);
  }
  if (in.bad()) throw cannot_read(path, errno);
  if (trajectory.header.columns.empty()) throw cannot_read(path, "it holds no line of column names");
  std::erase_if(trajectory.events, [&](const auto& event) { return event.row >= trajectory.rows(); });  // cut off
  return trajectory;
}

}  // namespace hinge
