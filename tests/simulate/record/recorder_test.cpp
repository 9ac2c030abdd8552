// Claims about trajectory files: what was recorded is read back bit for bit, with the header and the status; every row
// survives the death of the process by SIGKILL; a file that cannot be written is refused with the system's reason.
#include "simulate/record/recorder.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hinge/error.hpp"

namespace hinge::recorder_test {
namespace {

namespace fs = std::filesystem;

RecordHeader example_header() {
  RecordHeader header;
  header.columns = {"t", "q[1]", "angle, in \"degrees\"", "#lambda"};
  header.about = {{"title", "Pendulum: a first test"},
                  {"method", "gauss-lobatto(2,2)"},
                  {"step", "0.01"},
                  {"empty", ""},
                  {"author", "Zoë Größe"},
                  {"note", "two\n  lines\n"},
                  {"bar", "|-"},
                  {"a", "order is kept"}};
  header.model = "# a pendulum\n[body]\n  mass = 1\n\n   indented, with \"quotes\"\n";
  return header;
}

/// Row i of the example: its number and three doubles with random bits, finite, every exponent equally likely.
std::array<double, 4> example_row(int i) {
  std::mt19937_64 random(static_cast<std::uint64_t>(i));
  std::array<double, 4> row{};
  for (double& x : row) {
    do {
      x = std::bit_cast<double>(random());
    } while (!std::isfinite(x));
  }
  row[0] = i;
  return row;
}

void expect_same_bits(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(actual[i]), std::bit_cast<std::uint64_t>(expected[i])) << "at " << i;
  }
}

std::vector<double> example_rows(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const auto row = example_row(i);
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

void record_example_rows(Recorder& recorder, int count) {
  for (int i = 0; i < count; ++i) recorder.record({example_row(i)});
}

template <typename Action>
std::string output_error(Action action) {
  try {
    action();
  } catch (const OutputError& error) {
    return error.what();
  }
  return "no OutputError";
}

/// Runs `action` in a child process; returns how it ended, as waitpid tells it.
template <typename Action>
int in_child(Action action) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      action();
    } catch (...) {
      ::_exit(99);
    }
    ::_exit(0);
  }
  int ending = 0;
  EXPECT_EQ(::waitpid(child, &ending, 0), child);
  return ending;
}

/// Each test gets an empty folder of its own.
class Recording : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "hinge_recorder_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

/// What holds for both formats; the parameter is the ending.
class RecorderFormat : public Recording, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) != ".csv" && !hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
    Recording::SetUp();
    path_ = in_folder(std::string("run") + GetParam());
  }

  std::string path_;
};

TEST_P(RecorderFormat, ReadsBackEveryBit) {
  using Limits = std::numeric_limits<double>;
  const std::vector<std::array<double, 4>> special = {
      {0.0, -0.0, Limits::denorm_min(), -Limits::denorm_min()},
      {Limits::min(), -Limits::min(), std::nextafter(Limits::min(), 0.0), -2.2250738585072014e-308},
      {Limits::max(), Limits::lowest(), Limits::epsilon(), 1.0 / 3.0},
      {0.1, 1e22, 1e23, 123456789012345680.0},
  };
  std::vector<double> expected;
  const auto recorder = open_recorder(path_, example_header());
  for (const auto& row : special) {
    recorder->record({row});
    expected.insert(expected.end(), row.begin(), row.end());
  }
  record_example_rows(*recorder, 2000);
  const std::vector<double> random = example_rows(2000);
  expected.insert(expected.end(), random.begin(), random.end());
  recorder->finish("finished");
  const Trajectory trajectory = read_record(path_);
  EXPECT_EQ(trajectory.rows(), 2004U);
  expect_same_bits(trajectory.values, expected);
}

TEST_P(RecorderFormat, ReadsBackTheHeaderAndTheStatus) {
  const RecordHeader header = example_header();
  const auto recorder = open_recorder(path_, header);
  recorder->record({example_row(1)});
  recorder->finish("failed at t = 1:\n  Newton's method did not converge");
  const Trajectory trajectory = read_record(path_);
  EXPECT_EQ(trajectory.header.columns, header.columns);
  EXPECT_EQ(trajectory.header.about, header.about);
  EXPECT_EQ(trajectory.header.model, header.model);
  EXPECT_EQ(trajectory.status, "failed at t = 1:\n  Newton's method did not converge");
}

TEST_P(RecorderFormat, KeepsModelTextsOfEveryShape) {
  const std::vector<std::string> models = {"",           "one line", "one line\n",   "\n", "\n\n  two\n\n",
                                           "a\r\nb\r\n", "|",        "# x: |\n#   y"};
  for (const std::string& model : models) {
    RecordHeader header = example_header();
    header.model = model;
    open_recorder(path_, header)->finish("finished");
    EXPECT_EQ(read_record(path_).header.model, model);
  }
  RecordHeader header = example_header();
  header.model = std::string(200'000, 'x') + "\n";  // longer than an HDF5 attribute can be
  open_recorder(path_, header)->finish("finished");
  EXPECT_EQ(read_record(path_).header.model, header.model);
}

TEST_P(RecorderFormat, KeepsManyColumns) {
  RecordHeader header;
  std::vector<double> row;
  for (int i = 0; i < 6000; ++i) {
    header.columns.push_back(i == 0 ? "t" : "q[" + std::to_string(i) + "]");
    row.push_back(std::sqrt(i));
  }
  const auto recorder = open_recorder(path_, header);
  std::vector<double> expected;
  for (int i = 0; i < 50; ++i) {
    recorder->record({row});
    expected.insert(expected.end(), row.begin(), row.end());
  }
  recorder->finish("finished");
  const Trajectory trajectory = read_record(path_);
  EXPECT_EQ(trajectory.header.columns, header.columns);
  expect_same_bits(trajectory.values, expected);
}

TEST_P(RecorderFormat, KilledProcessLosesNoRow) {
  // Around the growth of an HDF5 dataset, which is at 1024, 3072 and 7168 rows.
  for (const int count : {0, 1, 2, 1023, 1024, 1025, 3072, 3073, 10'000}) {
    const int ending = in_child([&] {
      const auto recorder = open_recorder(path_, example_header());
      record_example_rows(*recorder, count);
      ::raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(ending) && WTERMSIG(ending) == SIGKILL);
    const Trajectory trajectory = read_record(path_);
    EXPECT_EQ(trajectory.rows(), static_cast<std::size_t>(count));
    expect_same_bits(trajectory.values, example_rows(count));
    EXPECT_EQ(trajectory.header.columns, example_header().columns);
    EXPECT_EQ(trajectory.header.about, example_header().about);
    EXPECT_EQ(trajectory.header.model, example_header().model);
    EXPECT_EQ(trajectory.status, "");
  }
}

TEST_P(RecorderFormat, ForgottenFinishLeavesAValidFileWithoutStatus) {
  {
    const auto recorder = open_recorder(path_, example_header());
    record_example_rows(*recorder, 1500);
  }
  const Trajectory trajectory = read_record(path_);
  expect_same_bits(trajectory.values, example_rows(1500));
  EXPECT_EQ(trajectory.status, "");
}

TEST_P(RecorderFormat, RunWithoutRowsIsAValidFile) {
  open_recorder(path_, example_header())->finish("stopped before the first step");
  const Trajectory trajectory = read_record(path_);
  EXPECT_EQ(trajectory.rows(), 0U);
  EXPECT_EQ(trajectory.status, "stopped before the first step");
}

TEST_P(RecorderFormat, SameRunWritesTheSameBytes) {
  const auto bytes_of_a_run = [&] {
    {
      const auto recorder = open_recorder(path_, example_header());
      record_example_rows(*recorder, 1500);
      recorder->finish("finished");
    }
    std::ifstream file(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_TRUE(bytes_of_a_run() == bytes_of_a_run());
}

TEST_P(RecorderFormat, OverwritesAnExistingFile) {
  std::ofstream(path_) << std::string(100'000, 'x');
  const auto recorder = open_recorder(path_, example_header());
  recorder->record({example_row(7)});
  recorder->finish("finished");
  EXPECT_EQ(read_record(path_).rows(), 1U);
}

TEST_P(RecorderFormat, RefusesAMissingFolderWithTheReason) {
  const std::string path = in_folder(std::string("missing/run") + GetParam());
  EXPECT_EQ(output_error([&] { open_recorder(path, example_header()); }),
            "cannot write '" + path + "': No such file or directory; create the folder or choose another file");
}

TEST_P(RecorderFormat, RefusesAFolder) {
  fs::create_directory(path_);
  EXPECT_EQ(output_error([&] { open_recorder(path_, example_header()); }),
            "cannot write '" + path_ + "': Is a directory; give the name of a file in that folder");
}

TEST_P(RecorderFormat, RefusesRowsOfTheWrongWidth) {
  const auto recorder = open_recorder(path_, example_header());
  EXPECT_EQ(output_error([&] { recorder->record({std::array<double, 3>{}}); }),
            "cannot write '" + path_ + "': a row of 3 numbers does not fit 4 columns");
  recorder->record({example_row(0)});
  recorder->finish("finished");
  EXPECT_NE(output_error([&] { recorder->record({example_row(1)}); }).find("finished"), std::string::npos);
  EXPECT_EQ(read_record(path_).rows(), 1U);
}

TEST_P(RecorderFormat, RefusesAHeaderItCouldNotGiveBack) {
  const auto refused = [&](auto change) {
    RecordHeader header = example_header();
    change(header);
    return output_error([&] { open_recorder(path_, header); }) != "no OutputError";
  };
  EXPECT_TRUE(refused([](RecordHeader& header) { header.columns.clear(); }));
  EXPECT_TRUE(refused([](RecordHeader& header) { header.columns[1] = "two\nlines"; }));
  EXPECT_TRUE(refused([](RecordHeader& header) { header.about.emplace_back("status", "finished"); }));
  EXPECT_TRUE(refused([](RecordHeader& header) { header.about.emplace_back("title", "a second one"); }));
  EXPECT_TRUE(refused([](RecordHeader& header) { header.about.emplace_back("a: b", "c"); }));
  EXPECT_FALSE(refused([](RecordHeader&) {}));
}

TEST_P(RecorderFormat, FileSizeLimitIsReportedAndKeepsTheRowsBefore) {
  const int ending = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto recorder = open_recorder(path_, example_header());
    const std::string message = output_error([&] { record_example_rows(*recorder, 100'000); });
    const bool explained =
        message == "cannot write '" + path_ + "': File too large; free some space or choose another file";
    ::_exit(explained ? 0 : 1);  // without finish(), as if killed right then
  });
  EXPECT_TRUE(WIFEXITED(ending) && WEXITSTATUS(ending) == 0);
  const Trajectory trajectory = read_record(path_);
  EXPECT_GE(trajectory.rows(), 1024U);
  expect_same_bits(trajectory.values, example_rows(static_cast<int>(trajectory.rows())));
}

INSTANTIATE_TEST_SUITE_P(Formats, RecorderFormat, testing::Values(".csv", ".h5", ".hdf5"),
                         [](const auto& tested) { return std::string(tested.param).substr(1); });

TEST_F(Recording, KnowsItsEndings) {
  const std::string known = hdf5_available() ? ".csv, .h5 and .hdf5" : ".csv";
  for (const char* name : {"run.txt", "run", "csv", ".csv"}) {
    const std::string path = in_folder(name);
    EXPECT_EQ(output_error([&] { open_recorder(path, example_header()); }),
              "cannot write '" + path + "': its ending names no format; known endings are " + known +
                  ", and .pvd for pictures of bodies");
    EXPECT_THROW(read_record(path), InputError);
  }
  EXPECT_NO_THROW(open_recorder(in_folder("RUN.CSV"), example_header()));
}

TEST_F(Recording, BuildWithoutHdf5SaysSo) {
  if (hdf5_available()) GTEST_SKIP() << "this build has HDF5";
  const std::string path = in_folder("run.h5");
  EXPECT_EQ(output_error([&] { open_recorder(path, example_header()); }),
            "cannot write '" + path + "': this build has no HDF5; use .csv");
}

TEST_F(Recording, CsvIsWrittenAsDocumented) {
  const std::string path = in_folder("run.csv");
  RecordHeader header;
  header.columns = {"t", "x, \"y\""};
  header.about = {{"title", "two words"}};
  header.model = "[body]\nmass = 1\n";
  const auto recorder = open_recorder(path, header);
  recorder->record({std::array{0.0, -0.0}});
  recorder->record({std::array{0.1, 5e-324}});
  recorder->finish("finished");
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "# title: two words\n# model: |\n#   [body]\n#   mass = 1\nt,\"x, \"\"y\"\"\"\n0,-0\n0.1,5e-324\n"
            "# status: finished\n");
}

TEST_F(Recording, CsvOnAFullDeviceIsRefusedWithTheReason) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const std::string path = in_folder("full.csv");
  fs::create_symlink("/dev/full", path);
  EXPECT_EQ(output_error([&] { open_recorder(path, example_header()); }),
            "cannot write '" + path + "': No space left on device; free some space or choose another file");
}

TEST_F(Recording, Hdf5ReservesRoomSoThatAFullDiskStillTakesTheStatus) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const std::string path = in_folder("run.h5");
  const int ending = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto recorder = open_recorder(path, example_header());
    EXPECT_THROW(record_example_rows(*recorder, 100'000), OutputError);
    recorder->finish("failed: the disk is full");
  });
  EXPECT_TRUE(WIFEXITED(ending) && WEXITSTATUS(ending) == 0);
  const Trajectory trajectory = read_record(path);
  EXPECT_EQ(trajectory.status, "failed: the disk is full");
  EXPECT_EQ(trajectory.rows(), 3072U);  // two blocks, 1024 + 2048 rows
  expect_same_bits(trajectory.values, example_rows(3072));
}

TEST_F(Recording, CsvDropsALineThatWasCutOff) {
  const std::string path = in_folder("run.csv");
  std::ofstream(path) << "# title: cut\nt,x\n0,1\n1,2.5\n2,3.";
  const Trajectory trajectory = read_record(path);
  expect_same_bits(trajectory.values, {0.0, 1.0, 1.0, 2.5});
  EXPECT_EQ(trajectory.status, "");
}

TEST_F(Recording, DamagedFilesAreRefusedWithTheirPlace) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      read_record(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  };
  const std::string csv = in_folder("run.csv");
  EXPECT_EQ(message(csv), "cannot read '" + csv + "': No such file or directory; check the name of the file");
  std::ofstream(csv) << "t,x\n0,1\n1,two\n";
  EXPECT_EQ(message(csv), "cannot read '" + csv + "': line 3 holds something that is not a number: 1,two");
  std::ofstream(csv) << "t,x\n0,1,2\n";
  EXPECT_EQ(message(csv), "cannot read '" + csv + "': line 2 holds 3 numbers for 2 columns");
  std::ofstream(csv) << "# title: nothing\n";
  EXPECT_EQ(message(csv), "cannot read '" + csv + "': it holds no line of column names");
  if (!hdf5_available()) return;
  const std::string hdf5 = in_folder("run.h5");
  std::ofstream(hdf5) << "this is no HDF5 file";
  EXPECT_EQ(message(hdf5), "cannot read '" + hdf5 + "': HDF5 could not open the file (file signature not found)");
}

}  // namespace
}  // namespace hinge::recorder_test
