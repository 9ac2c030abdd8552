// Rows in memory: a trajectory, its columns by name, and the recorder that fills it.
#include <algorithm>

#include <fmt/format.h>

#include "simulate/record/recorder_formats.hpp"

namespace hinge {

namespace {

class Memory final : public Recorder {
 public:
  Memory(Trajectory& trajectory, const RecordHeader& header) : trajectory_(trajectory) {
    trajectory_ = {};
    trajectory_.header = header;
  }
  void record(const Row& row) override {
    if (!row.event.empty()) trajectory_.events.push_back({std::string(row.event), trajectory_.rows()});
    trajectory_.values.insert(trajectory_.values.end(), row.values.begin(), row.values.end());
  }
  void finish(const std::string& status) override { trajectory_.status = status; }

 private:
  Trajectory& trajectory_;
};

class Callback final : public Recorder {
 public:
  explicit Callback(const std::function<void(const Row&)>& callback) : callback_(callback) {}
  void record(const Row& row) override { callback_(row); }
  void finish(const std::string&) override {}

 private:
  const std::function<void(const Row&)>& callback_;
};

}  // namespace

std::unique_ptr<Recorder> keep_in_memory(Trajectory& trajectory, const RecordHeader& header) {
  return std::make_unique<Memory>(trajectory, header);
}

std::unique_ptr<Recorder> tell(const std::function<void(const Row&)>& callback) {
  return std::make_unique<Callback>(callback);
}

std::size_t column_of(std::span<const std::string> columns, std::string_view name) {
  const auto at = std::find(columns.begin(), columns.end(), name);
  if (at != columns.end()) return static_cast<std::size_t>(at - columns.begin());
  std::string list;
  for (std::size_t k = 0; k < std::min<std::size_t>(columns.size(), 8); ++k) list += (k ? ", " : "") + columns[k];
  throw InputError(fmt::format("it has no column '{}' (it has {}{})", name, list, columns.size() > 8 ? ", ..." : ""));
}

double Row::operator[](std::string_view column) const { return values[column_of(columns, column)]; }

std::span<const double> Trajectory::row(std::size_t k) const {
  const std::size_t width = header.columns.size();
  return std::span(values).subspan(k * width, width);
}

std::vector<double> Trajectory::column(std::string_view name) const {
  const std::size_t place = column_of(header.columns, name);
  std::vector<double> numbers(rows());
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = row(k)[place];
  return numbers;
}

}  // namespace hinge
