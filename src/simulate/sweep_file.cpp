#include "simulate/sweep_file.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/record/recorder_formats.hpp"

namespace hinge {

namespace fs = std::filesystem;

namespace {

std::string about(const RecordHeader& header, const std::string& key) {
  for (const auto& [name, value] : header.about)
    if (name == key) return value;
  return {};
}

// The file that a name means, links followed.
std::string target_of(const std::string& path) {
  std::error_code none;
  if (!fs::is_symlink(path, none)) return path;
  const fs::path real = fs::canonical(path, none);
  return none ? path : real.string();
}

void require_usable(const std::string& path, bool force) {
  require_known_ending(path);
  if (ending_of(path) != ".csv" && !hdf5_available())
    throw cannot_write(path, "this build has no HDF5; choose a name that ends in .csv");
  std::error_code none;
  if (fs::is_directory(path, none)) throw cannot_write(path, EISDIR);
  if (fs::exists(path, none) && !fs::is_regular_file(path, none))
    throw cannot_write(path, "a sweep goes to a file that it can read again; choose another file");
  if (!force) require_replaceable(path);
}

}  // namespace

SweepFile::SweepFile(const SweepPlan& plan, const SweepOptions& options, RecordHeader header)
    : plan_(plan),
      options_(options),
      header_(std::move(header)),
      width_(header_.columns.size()),
      final_(options.rows ? 1 + plan.keys().size() : width_),
      folder_(target_of(options.out) + ".parts") {
  require_usable(options.out, options.force);
  for (std::size_t k = 0; k < plan.runs(); ++k) places_.emplace(plan.numbers(k), k);
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) throw_cannot_write(folder_, error.value());
  if (options.ranks == 1) lock_ = OutputFile((fs::path(folder_) / "lock").string(), OutputFile::Writing::behind);
}

std::vector<std::string> SweepFile::parts() const {
  std::vector<std::string> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    std::error_code none;
    if (name.starts_with("rank") && name.ends_with(".csv") && fs::file_size(entry.path(), none) > 0)
      list.push_back(entry.path().string());
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string SweepFile::why_other(const RecordHeader& there) const {
  if (there.model != header_.model) return "it is a sweep of another model, or files of its tables have changed";
  if (there.columns != header_.columns) return "it is a sweep over other keys, or its rows have other columns";
  for (const auto& [key, value] : header_.about)
    if (key != "title" && about(there, key) != value)
      return key == "program" ? fmt::format("it was written by {}", about(there, key))
                              : fmt::format("there '{}' is '{}', and here '{}'", key, about(there, key), value);
  return about(there, "set") == about(header_, "set") ? "" : "it is a sweep with other settings";
}

// Runs are known by their settings: a sweep over more values takes those that it has.
void SweepFile::read_into(FinishedRuns& runs, const std::string& path) const {
  Trajectory there;
  try {
    there = read_record(path);
  } catch (const InputError&) {
    if (options_.force || !fs::exists(path)) return;  // another process has just removed it
    throw;
  }
  if (const std::string why = why_other(there.header); !why.empty()) {
    if (options_.force) return;
    throw cannot_write(options_.out,
                       fmt::format("'{}' is there, and {}; choose another --out, or --force replaces it", path, why));
  }
  std::map<std::size_t, const std::string*> remarks;
  for (const Trajectory::Event& e : there.events) remarks[e.row] = &e.name;
  std::size_t first = 0, strangers = 0;
  for (std::size_t k = 0; k < there.rows(); ++k) {
    const std::span<const double> row = there.row(k);
    if (final_ < width_ && k > first && row[0] != there.row(first)[0]) first = k;
    if (final_ < width_ && row[final_] != 1) continue;
    const auto place = places_.find({row.begin() + 1, row.begin() + 1 + static_cast<long>(plan_.keys().size())});
    if (place != places_.end()) {
      FinishedRun& run = runs[place->second];
      run.rows.assign(there.row(first).begin(), row.end());
      for (std::size_t at = 0; at < run.rows.size(); at += width_) run.rows[at] = static_cast<double>(place->second);
      run.remark = remarks.contains(k) ? *remarks[k] : "";
    } else {
      ++strangers;
    }
    first = k + 1;
  }
  if (strangers > 0 && !options_.force)
    throw cannot_write(options_.out, fmt::format("'{}' has {} runs that this sweep has not; choose another --out, or "
                                                 "--force drops them",
                                                 path, strangers));
}

FinishedRuns SweepFile::read_all() const {
  FinishedRuns runs;
  if (fs::exists(options_.out)) read_into(runs, options_.out);
  for (const std::string& part : parts()) read_into(runs, part);
  return runs;
}

FinishedRuns SweepFile::finished_before() {
  FinishedRuns runs = read_all();
  complete_before_ = runs.size() == plan_.runs();
  return runs;
}

void SweepFile::open_part() {
  std::string path;
  for (int n = 1; path.empty() || fs::exists(path); ++n)
    path = (fs::path(folder_) / fmt::format("rank{}-{}.csv", options_.rank, n)).string();
  part_ = open_recorder(path, header_);
}

void SweepFile::add(const FinishedRun& run) { write(run, *part_); }

void SweepFile::write(const FinishedRun& run, Recorder& file) const {
  for (std::size_t at = 0; at < run.rows.size(); at += width_) {
    const bool last = at + width_ == run.rows.size();
    file.record({.values = std::span(run.rows).subspan(at, width_),
                 .columns = header_.columns,
                 .event = last ? std::string_view(run.remark) : std::string_view()});
  }
}

void SweepFile::write_whole_file(const FinishedRuns& runs) const {
  const std::string beside = (fs::path(folder_) / ("whole" + ending_of(options_.out))).string();
  const std::unique_ptr<Recorder> file = open_recorder(beside, header_);
  for (const auto& [k, run] : runs) write(run, *file);
  const std::size_t wanted = plan_.runs();
  file->finish(runs.size() == wanted ? "finished" : fmt::format("stopped: {} of {} runs", runs.size(), wanted));
  std::error_code error;
  fs::rename(beside, target_of(options_.out), error);
  if (error) throw_cannot_write(options_.out, error.value());
}

// The lock goes last: who takes it anew before the folder is gone finds no parts, and has nothing to do.
void SweepFile::remove_folder() const {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none))
    if (entry.path().filename() != "lock") fs::remove(entry.path(), none);
  fs::remove(fs::path(folder_) / "lock", none);
  fs::remove(folder_, none);
}

bool SweepFile::conclude(FinishedRuns& all) {
  if (part_) part_->finish("finished");
  part_.reset();
  // With several processes one after the other looks; the last to come finds all runs.
  constexpr int patience = 30000;  // times 20 ms
  for (int waited = 0; !lock_.open(); ++waited) {
    if (!fs::exists(folder_)) return false;  // written by another one
    try {
      lock_ = OutputFile((fs::path(folder_) / "lock").string(), OutputFile::Writing::behind);
    } catch (const LostWrite&) {
      throw;
    } catch (const OutputError&) {
      if (waited > patience) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  if (!fs::exists(folder_)) return false;
  const bool news = !parts().empty();
  all = read_all();
  if (options_.ranks > 1 && all.size() < plan_.runs()) {
    lock_.close();
    return false;
  }
  if (news) write_whole_file(all);
  remove_folder();
  lock_.close();
  return news || (options_.rank == 0 && (complete_before_ || options_.ranks == 1));  // one of them tells
}

}  // namespace hinge
