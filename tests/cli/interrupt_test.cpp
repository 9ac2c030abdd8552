// Claims about runs that are cut short: killed, they leave every row that was recorded; interrupted, they end properly.
#include <chrono>
#include <cmath>
#include <thread>

#include "cli/program.hpp"
#include "places.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::test::interrupt_test {
namespace {

constexpr double step = 0.001;

/// A run of the pendulum that would take hours.
class LongRun {
 public:
  explicit LongRun(const std::string& file, std::vector<std::string> options = {}) {
    out = folder.file(file);
    std::vector<std::string> arguments{
        "run", folder.write("m.toml", pendulum), "--step", "0.001", "--end", "1e9", "--out", out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    program = std::make_unique<Program>(folder, arguments);
  }
  /// Waits until the file has this many bytes.
  bool wait_for(std::uintmax_t bytes) const {
    for (int k = 0; k < 2000; ++k) {
      std::error_code missing;
      if (const auto size = std::filesystem::file_size(out, missing); !missing && size >= bytes) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  Folder folder;
  std::string out;
  std::unique_ptr<Program> program;
};

void expect_rows(const Trajectory& trajectory, std::size_t at_least) {
  EXPECT_EQ(trajectory.header.columns,
            (std::vector<std::string>{"t", "q[0]", "q[1]", "q'[0]", "q'[1]", "psi[0]", "energy", "height"}));
  EXPECT_EQ(trajectory.header.model, pendulum);
  EXPECT_GE(trajectory.rows(), at_least);
  const std::size_t width = trajectory.header.columns.size();
  for (std::size_t k = 0; k < trajectory.rows(); ++k) {
    const double* row = &trajectory.values[k * width];
    ASSERT_NEAR(row[0], static_cast<double>(k) * step, 1e-12 * (1 + row[0])) << "row " << k;
    ASSERT_NEAR(std::hypot(row[1], row[2]), 1.0, 1e-14) << "row " << k;
    ASSERT_EQ(row[7], row[2]);
  }
}

TEST(Interrupt, KilledRunLeavesEveryRowThatWasRecorded) {
  LongRun run("out.csv");
  ASSERT_TRUE(run.wait_for(200'000));
  const std::string seen = run.folder.read("out.csv");  // while it is being written
  run.program->send(SIGKILL);
  EXPECT_EQ(run.program->wait().status, 128 + SIGKILL);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < seen.size(); at = seen.find('\n', at) + 1) {
    if (seen.find('\n', at) == std::string::npos) break;
    if (seen[at] != '#') ++lines;
  }
  ASSERT_GT(lines, 100U);
  const Trajectory trajectory = read_record(run.out);
  EXPECT_EQ(trajectory.status, "");
  expect_rows(trajectory, lines - 1);  // one line names the columns
}

TEST(Interrupt, StoppedStudyShowsTheRunsThatAreFinished) {
  const Folder folder;
  Program program(folder,
                  {"convergence", HINGE_EXAMPLES "/pendulum.toml", "--methods", "rattle", "--steps", "0.01,1e-7",
                   "--reference", "rattle", "--reference-step", "0.001", "--csv", folder.file("orders.csv")});
  for (int k = 0; k < 2000 && !folder.has("orders.csv"); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  program.send(SIGINT);
  const Answer answer = program.wait();
  EXPECT_EQ(answer.status, 130);
  EXPECT_NE(answer.out.find("0.01      1000"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("note: the study was stopped"), std::string::npos) << answer.out;
  EXPECT_NE(folder.read("orders.csv").find("rattle,0.01,1000,finished,"), std::string::npos);
}

TEST(Interrupt, KilledRunLeavesAReadableHdf5File) {
  if (!hdf5_available()) GTEST_SKIP() << "built without HDF5";
  LongRun run("out.h5");
  ASSERT_TRUE(run.wait_for(300'000));
  run.program->send(SIGKILL);
  EXPECT_EQ(run.program->wait().status, 128 + SIGKILL);
  const Trajectory trajectory = read_record(run.out);
  EXPECT_EQ(trajectory.status, "");
  expect_rows(trajectory, 100);
}

void expect_clean_stop(const std::string& file, int signal, const std::vector<std::string>& options,
                       const std::string& printed) {
  LongRun run(file, options);
  ASSERT_TRUE(run.wait_for(100'000));
  run.program->send(signal);
  const Answer answer = run.program->wait();
  EXPECT_EQ(answer.status, 130) << answer.err;
  EXPECT_NE(answer.out.find(printed), std::string::npos) << answer.out;
  const Trajectory trajectory = read_record(run.out);
  EXPECT_EQ(trajectory.status.rfind("stopped", 0), 0U) << trajectory.status;
  expect_rows(trajectory, 10);
}

TEST(Interrupt, ControlCEndsTheRunProperly) { expect_clean_stop("out.csv", SIGINT, {}, "Final state"); }
TEST(Interrupt, TerminationEndsTheRunProperly) {
  expect_clean_stop("out.csv", SIGTERM, {"--json"}, "\"status\": \"stopped\"");
}
TEST(Interrupt, ControlCClosesHdf5) {
  if (!hdf5_available()) GTEST_SKIP() << "built without HDF5";
  expect_clean_stop("out.h5", SIGINT, {}, "stopped at t = ");
}

}  // namespace
}  // namespace hinge::test::interrupt_test
