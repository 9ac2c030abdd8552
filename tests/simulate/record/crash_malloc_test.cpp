// Claims about records whose writer comes to grief: killed at any write, refused any write, or out of memory at any
// allocation, it leaves a record that can be read, with every row whose recording was done; and nothing says "finished"
// that is not. The system calls and malloc are replaced here, so that each of them can be the one.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/program.hpp"
#include "hinge/hinge.hpp"
#include "simulate/record/recorder.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "counting_malloc.hpp"

namespace {

enum class Trouble { none, killed, refused };

/// What the next system calls that change a file meet with.
struct Calls {
  long made = 0, at = -1;
  Trouble trouble = Trouble::none;
  bool from_then_on = false;
  /// True: this call fails.
  bool next() {
    ++made;
    if (at < 0 || made < at || (made > at && !from_then_on)) return false;
    if (trouble == Trouble::killed) ::raise(SIGKILL);
    errno = ENOSPC;
    return trouble == Trouble::refused;
  }
} calls;

}  // namespace

extern "C" {
ssize_t write(int file, const void* bytes, std::size_t size) {
  return calls.next() ? -1 : static_cast<ssize_t>(syscall(SYS_write, file, bytes, size));
}
ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  return calls.next() ? -1 : static_cast<ssize_t>(syscall(SYS_pwrite64, file, bytes, size, at));
}
int ftruncate(int file, off_t size) noexcept {
  return calls.next() ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, size));
}
int posix_fallocate(int file, off_t from, off_t size) {
  if (calls.next()) return ENOSPC;
  return syscall(SYS_fallocate, file, 0, from, size) == 0 ? 0 : errno;
}
int rename(const char* from, const char* to) noexcept {
  return calls.next() ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
}

namespace hinge::crash_malloc_test {
namespace {

using test::Folder;

/// A record of a few rows. Wide rows make an HDF5 file grow after few of them.
struct Example {
  int columns, rows;
  RecordHeader header() const {
    RecordHeader h;
    for (int k = 0; k < columns; ++k) h.columns.push_back(k == 0 ? "t" : "q[" + std::to_string(k) + "]");
    h.about = {{"title", "a record"}, {"empty", ""}, {"program", "hinge"}};
    h.model = "[lagrangian]\n";
    return h;
  }
  std::vector<double> row(int k) const {
    std::vector<double> values(static_cast<std::size_t>(columns));
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = k + 1e-5 * static_cast<double>(j);
    return values;
  }
  static bool has_event(int k) { return k % 3 == 1; }
};

/// How far the writer came, in memory that it shares with who looks on.
struct Progress {
  int opened, rows, finished;
};

void write_record(const std::string& path, const Example& example, Progress& progress) {
  progress = {};
  const auto recorder = open_recorder(path, example.header());
  progress.opened = 1;
  for (int k = 0; k < example.rows; ++k) {
    const std::vector<double> values = example.row(k);
    recorder->record({.values = values, .event = Example::has_event(k) ? "bounce" : ""});
    progress.rows = k + 1;
  }
  recorder->finish("finished");
  progress.finished = 1;
}

void expect_sound(const std::string& path, const Example& example, const Progress& progress, const std::string& where) {
  if (!progress.opened) return;
  Trajectory record;
  ASSERT_NO_THROW(record = read_record(path)) << where;
  ASSERT_EQ(record.header.columns, example.header().columns) << where;
  ASSERT_EQ(record.header.about, example.header().about) << where;
  ASSERT_EQ(record.header.model, example.header().model) << where;
  const auto rows = static_cast<int>(record.rows());
  ASSERT_GE(rows, progress.rows) << where;
  ASSERT_LE(rows, progress.rows + 1) << where;
  for (int k = 0; k < rows; ++k) {
    const auto row = record.row(static_cast<std::size_t>(k));
    ASSERT_EQ(std::vector<double>(row.begin(), row.end()), example.row(k)) << where << ", row " << k;
  }
  if (record.status == "finished") {
    ASSERT_EQ(rows, example.rows) << where;
    std::size_t events = 0;
    for (int k = 0; k < rows; ++k) events += Example::has_event(k);
    ASSERT_EQ(record.events.size(), events) << where;
  } else {
    ASSERT_FALSE(progress.finished) << where << ": " << record.status;
  }
  for (const Trajectory::Event& event : record.events) {
    ASSERT_EQ(event.name, "bounce") << where;
    ASSERT_TRUE(Example::has_event(static_cast<int>(event.row))) << where;
  }
}

class Crash : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) != ".csv" && !hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
    path_ = folder_.file(std::string("run") + GetParam());
    progress_ = static_cast<Progress*>(
        ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override { calls = {}; }
  /// The rows that follow a growth of an HDF5 file, and a record with few columns, which are an attribute then.
  static constexpr std::array<Example, 2> examples_{{{12'000, 33}, {4, 7}}};

  Folder folder_;
  std::string path_;
  Progress* progress_ = nullptr;
};

TEST_P(Crash, KilledAtAnyWrite) {
  for (const Example& example : examples_) {
    long survived = 0;
    for (long at = 1; survived == 0; ++at) {
      const pid_t child = ::fork();
      if (child == 0) {
        calls = {.at = at, .trouble = Trouble::killed};
        write_record(path_, example, *progress_);
        ::_exit(0);
      }
      int ending = 0;
      ASSERT_EQ(::waitpid(child, &ending, 0), child);
      if (WIFEXITED(ending)) survived = at;
      expect_sound(path_, example, *progress_, "killed at write " + std::to_string(at));
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(survived, example.rows);
    EXPECT_TRUE(progress_->finished);
  }
}

TEST_P(Crash, AnyWriteIsRefused) {
  for (const Example& example : examples_)
    for (const bool from_then_on : {false, true})
      for (long at = 1;; ++at) {
        calls = {.at = at, .trouble = Trouble::refused, .from_then_on = from_then_on};
        bool told = false;
        try {
          write_record(path_, example, *progress_);
        } catch (const OutputError&) {
          told = true;
        }
        const long made = calls.made;
        calls = {};
        expect_sound(path_, example, *progress_, "no room from write " + std::to_string(at));
        if (HasFatalFailure()) return;
        if (!told && !from_then_on && made > at) continue;  // the space that a finished record gives back
        if (made < at) break;
      }
}

INSTANTIATE_TEST_SUITE_P(Formats, Crash, testing::Values(".csv", ".h5"),
                         [](const auto& tested) { return std::string(tested.param).substr(1); });

/// A run of three steps or more, recorded to `path`: `at` is the allocation that fails. True when there are not so
/// many.
template <typename Make>
bool runs_short_of_memory(const Make& make, const Start& start, const std::string& path, long at) {
  std::filesystem::remove(path);
  bool thrown = false;
  allocations = 0;
  failing = at;
  try {
    Simulation run = make();
    run.record({path, "a run"});
    run.start(start);
    run.until(0.03);
    run.finish();
  } catch (const std::exception&) {
    thrown = true;
  }
  const bool enough = allocations < at;
  failing = -1;
  if (!std::filesystem::exists(path) || std::filesystem::file_size(path) == 0) {
    EXPECT_TRUE(thrown) << at;
    return enough;
  }
  try {
    const Trajectory record = read_record(path);
    EXPECT_EQ(record.status == "finished", !thrown) << path << " allocation " << at << ": " << record.status;
    if (!thrown) {
      EXPECT_EQ(record.times().back(), 0.03) << at;
    }
  } catch (const InputError& e) {
    ADD_FAILURE() << "allocation " << at << ": " << e.what();
  }
  return enough;
}

// A chain that is long enough for sparse matrices; steps of given and of chosen length.
TEST(CrashedRun, OutOfMemoryAtAnyAllocation) {
  const Folder folder;
  for (const int links : {1, 20}) {
    Lagrangian system;
    Vector before = {0.0, 0.0};
    for (int k = 0; k < links; ++k) {
      const Vector q = system.coordinates("q" + std::to_string(k), 2), v = system.velocity(q);
      system.kinetic(0.5 * dot(v, v));
      system.potential(9.81 * q[1]);
      const Vector link = {q[0] - before[0], q[1] - before[1]};
      system.constrain(0.5 * (dot(link, link) - 1));
      before = q;
    }
    const auto shared = system.build();
    Start start;
    for (int k = 0; k < links; ++k) start.position.insert(start.position.end(), {k + 1.0, 0.0});
    const auto fixed = [&] { return Simulation(shared, gauss_lobatto(2), {.step = 0.01}); };
    const auto chosen = [&] { return Simulation(shared, radau(), {.tolerance = {1e-6, 1e-6}}); };
    for (const std::string ending : {".csv", ".h5"}) {
      if (ending == ".h5" && !hdf5_available()) continue;
      const std::string path = folder.file("run" + ending);
      const auto try_all = [&](const auto& make) {
        long at = 1;
        while (!runs_short_of_memory(make, start, path, at) && !HasFailure()) at += links > 1 ? 1 + at / 50 : 1;
      };
      try_all(fixed);
      try_all(chosen);
    }
  }
}

}  // namespace
}  // namespace hinge::crash_malloc_test

#endif
