// hinge sweep as its users see it: the file, whatever happens on the way to it.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "hinge/record.hpp"

namespace hinge::test::sweep_test {
namespace {

// m of a pendulum of length l, at rest at an angle at the start; a step of 3 is too long for anything.
const std::string swept = R"toml(title = "Swept"
[parameters]
l = 1.0
m = 1.0
[lagrangian]
coordinates = ["q[2]"]
kinetic = "m*dot(q',q')/2"
potential = "9.81*m*q[1]"
constraints = ["(dot(q,q) - l^2)/2"]
[initial]
position = { q = ["l", 0] }
[integrate]
method = "gauss-lobatto"
step = 0.01
end = 0.5
[output]
quantities = { height = "q[1]" }
)toml";

std::vector<std::string> command(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> list{"sweep", folder.write("m.toml", swept)};
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

/// Variables of the environment, while this lives.
class Environment {
 public:
  Environment(const std::string& rank, const std::string& size, std::string prefix = "OMPI_COMM_WORLD_")
      : prefix_(std::move(prefix)) {
    setenv((prefix_ + "RANK").c_str(), rank.c_str(), 1);
    setenv((prefix_ + "SIZE").c_str(), size.c_str(), 1);
  }
  ~Environment() {
    unsetenv((prefix_ + "RANK").c_str());
    unsetenv((prefix_ + "SIZE").c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string prefix_;
};

TEST(Sweep, EveryRunIsTheRunOfItsSettings) {
  const Folder folder;
  const Answer answer = hinge(folder, command(folder, {"--vary", "parameters.l=0.5:2:4", "--vary", "parameters.m=1,3",
                                                       "--out", folder.file("s.h5")}));
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(answer.out.find("8 of 8 runs over parameters.l, parameters.m; 0 failed, 0 doubtful"), std::string::npos);
  const Trajectory sweep = read_record(folder.file("s.h5"));
  ASSERT_EQ(sweep.rows(), 8U);
  EXPECT_EQ(sweep.status, "finished");
  EXPECT_EQ(sweep.header.model, swept);
  for (std::size_t k = 0; k < 8; ++k) {
    const double l = 0.5 + 0.5 * static_cast<double>(k / 2), m = k % 2 == 0 ? 1 : 3;
    ASSERT_EQ(sweep.column("run")[k], static_cast<double>(k));
    ASSERT_NEAR(sweep.column("parameters.l")[k], l, 1e-15);
    ASSERT_EQ(sweep.column("parameters.m")[k], m);
    const std::string alone = folder.file("alone.csv");
    ASSERT_EQ(hinge(folder, {"run", folder.file("m.toml"), "--set", "parameters.l=" + std::to_string(l), "--set",
                             "parameters.m=" + std::to_string(m), "--out", alone})
                  .status,
              0);
    const Trajectory one = read_record(alone);
    double least = INFINITY, largest = -INFINITY;
    for (const double h : one.column("height")) least = std::min(least, h), largest = std::max(largest, h);
    for (const std::string& name : one.header.columns)
      EXPECT_EQ(sweep.column(name)[k], one.column(name).back()) << name;
    EXPECT_EQ(sweep.column("min(height)")[k], least);
    EXPECT_EQ(sweep.column("max(height)")[k], largest);
    EXPECT_EQ(sweep.column("steps")[k], 50);
  }
}

TEST(Sweep, FileDoesNotDependOnThreads) {
  const Folder folder;
  const std::vector<std::string> what{"--sample", "parameters.l=uniform(1,2):40", "--seed", "7", "--rows", "--quiet"};
  std::string first;
  for (const std::string jobs : {"1", "4"}) {
    for (const std::string name : {"s.h5", "s.csv"}) {
      std::vector<std::string> more = what;
      more.insert(more.end(), {"--jobs", jobs, "--out", folder.file(jobs + name)});
      ASSERT_EQ(hinge(folder, command(folder, more)).status, 0);
    }
  }
  EXPECT_EQ(folder.read("1s.h5"), folder.read("4s.h5"));
  EXPECT_EQ(folder.read("1s.csv"), folder.read("4s.csv"));
  const Trajectory rows = read_record(folder.file("1s.csv"));
  EXPECT_EQ(rows.rows(), 40U * 51U);
  EXPECT_EQ(rows.values, read_record(folder.file("1s.h5")).values);
  std::vector<std::string> other = what;  // control: another seed, other numbers
  other[3] = "8";
  other.insert(other.end(), {"--out", folder.file("8s.csv")});
  ASSERT_EQ(hinge(folder, command(folder, other)).status, 0);
  EXPECT_NE(folder.read("8s.csv"), folder.read("1s.csv"));
}

TEST(Sweep, FailedRunsAreKeptWithTheirReason) {
  const Folder folder;
  const Answer answer = hinge(
      folder, command(folder, {"--vary", "integrate.step=0.01,3", "--vary", "integrate.method=rattle,gauss-lobatto",
                               "--end", "6", "--out", folder.file("s.h5"), "--json"}));
  EXPECT_EQ(answer.status, 1);
  EXPECT_NE(answer.err.find("2 of 4 runs failed"), std::string::npos) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  ASSERT_EQ(json["failed"].size(), 2U);
  EXPECT_EQ(json["failed"][0]["run"], 2);
  EXPECT_EQ(json["failed"][0]["settings"]["integrate.method"], "rattle");
  const Trajectory sweep = read_record(folder.file("s.h5"));
  EXPECT_EQ(sweep.column("failed"), (std::vector<double>{0, 0, 1, 1}));
  ASSERT_EQ(sweep.events.size(), 2U);
  EXPECT_EQ(sweep.events[0].row, 2U);
  EXPECT_TRUE(sweep.events[0].name.starts_with("failed: in the step from t = 0")) << sweep.events[0].name;
}

TEST(Sweep, DoubtsAreCountedAndStrictMakesThemStatusOne) {
  const Folder folder;
  const auto doubtful = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--vary", "integrate.step=0.01,0.5", "--end", "2", "--set", "parameters.l=1"});
    return hinge(folder, command(folder, more));
  };
  const Answer mild = doubtful({"--out", folder.file("s.csv")}),
               strict = doubtful({"--out", folder.file("s.csv"), "--strict"});
  EXPECT_EQ(mild.status, 0) << mild.err;
  EXPECT_NE(mild.out.find("0 failed, 1 doubtful"), std::string::npos) << mild.out;
  EXPECT_EQ(strict.status, 1);
  EXPECT_NE(strict.err.find("1 of 2 runs are doubtful"), std::string::npos) << strict.err;
}

// Killed again and again at any time: what was finished is not computed again, and the file is that of one go.
TEST(Sweep, KilledSweepGoesOnWhereItWas) {
  const Folder folder;
  const auto arguments = [&](const std::string& out) {
    return command(folder,
                   {"--vary", "parameters.l=0.5:2:60", "--end", "30", "--jobs", "2", "--out", folder.file(out)});
  };
  ASSERT_EQ(hinge(folder, arguments("once.h5")).status, 0);
  std::size_t before = 0;
  for (int k = 1; k <= 2; ++k) {
    Program program(folder, arguments("killed.h5"));
    const std::string part = "killed.h5.parts/rank0-" + std::to_string(k) + ".csv";
    for (int wait = 0; wait < 4000 && !(folder.has(part) && folder.read(part).size() > 4000); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.send(SIGKILL);
    ASSERT_EQ(program.wait().status, 128 + SIGKILL);
    before += read_record(folder.file(part)).rows();
  }
  EXPECT_GT(before, 0U);
  const Answer answer = hinge(folder, arguments("killed.h5"));
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(answer.out.find("; " + std::to_string(before) + " were there already"), std::string::npos) << answer.out;
  EXPECT_EQ(folder.read("killed.h5"), folder.read("once.h5"));
  EXPECT_FALSE(folder.has("killed.h5.parts"));
}

TEST(Sweep, InterruptedSweepKeepsWhatIsFinished) {
  const Folder folder;
  const auto arguments = command(
      folder, {"--vary", "parameters.l=0.5:2:20", "--end", "100", "--jobs", "1", "--out", folder.file("s.csv")});
  Program program(folder, arguments);
  for (int wait = 0; wait < 4000 && !folder.has("s.csv.parts/rank0-1.csv"); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  program.send(SIGINT);
  const Answer stopped = program.wait();
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("the same command goes on"), std::string::npos);
  const Answer rest = hinge(folder, arguments);
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_EQ(read_record(folder.file("s.csv")).rows(), 20U);
}

TEST(Sweep, MoreValuesTakeTheRunsThatAreThere) {
  const Folder folder;
  const std::string out = folder.file("s.csv");
  ASSERT_EQ(hinge(folder, command(folder, {"--vary", "parameters.l=1,2", "--out", out})).status, 0);
  const Answer more = hinge(folder, command(folder, {"--vary", "parameters.l=3,1,2", "--out", out}));
  EXPECT_NE(more.out.find("3 of 3 runs over parameters.l; 2 were there already"), std::string::npos) << more.out;
  ASSERT_EQ(hinge(folder, command(folder, {"--vary", "parameters.l=3,1,2", "--out", folder.file("o.csv")})).status, 0);
  EXPECT_EQ(folder.read("s.csv"), folder.read("o.csv"));
}

TEST(Sweep, ProcessesShareTheRunsAndTheLastOneWritesTheFile) {
  const Folder folder;
  const auto arguments = [&](const std::string& out) {
    return command(folder, {"--vary", "parameters.l=0.5:2:7", "--jobs", "1", "--out", folder.file(out)});
  };
  ASSERT_EQ(hinge(folder, arguments("one.h5")).status, 0);
  for (const std::string prefix : {"OMPI_COMM_WORLD_", "PMI_"}) {
    for (const std::string rank : {"2", "0", "1"}) {
      EXPECT_FALSE(folder.has(prefix + ".h5"));
      const Environment environment(rank, "3", prefix);
      const Answer answer = hinge(folder, arguments(prefix + ".h5"));
      EXPECT_EQ(answer.status, 0) << answer.err;
      if (rank != "1") {
        EXPECT_NE(answer.out.find("process " + rank + " of 3: " + (rank == "0" ? "3" : "2") + " runs computed"),
                  std::string::npos)
            << answer.out;
      }
    }
    EXPECT_EQ(folder.read("one.h5"), folder.read(prefix + ".h5"));
    EXPECT_FALSE(folder.has(prefix + ".h5.parts"));
  }
}

TEST(Sweep, SeveralProcessesOfMpirunMakeTheSameFile) {
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is not installed (openmpi-bin)";
  const Folder folder;
  const std::string model = folder.write("m.toml", swept);
  const std::string arguments = " sweep " + model + " --vary parameters.l=0.5:2:20 --jobs 1 --out ";
  ASSERT_EQ(std::system((HINGE_PROGRAM + arguments + folder.file("one.h5") + " >/dev/null").c_str()), 0);
  const std::string launch = "mpirun --allow-run-as-root --oversubscribe -n 3 ";
  ASSERT_EQ(
      std::system((launch + HINGE_PROGRAM + arguments + folder.file("mpi.h5") + " >" + folder.file("said")).c_str()),
      0);
  EXPECT_EQ(folder.read("one.h5"), folder.read("mpi.h5"));
  EXPECT_FALSE(folder.has("mpi.h5.parts"));
  const std::string said = folder.read("said");
  EXPECT_EQ(said.find("20 of 20 runs"), said.rfind("20 of 20 runs")) << said;  // one of them tells
  EXPECT_NE(said.find("20 of 20 runs"), std::string::npos) << said;
}

TEST(Sweep, SaysWhatIsWrongAndWhatToDo) {
  const Folder folder;
  const std::string out = folder.file("s.csv");
  const auto refused = [&](std::vector<std::string> more, const std::string& cause) {
    const Answer answer = hinge(folder, command(folder, more));
    EXPECT_EQ(answer.status, 2) << answer.err;
    EXPECT_NE(answer.err.find(cause), std::string::npos) << answer.err;
  };
  refused({"--vary", "parameters.l=1,2"}, "--out is required");
  refused({"--out", out}, "nothing changes from run to run; give --vary");
  refused({"--vary", "parameters.l=1:2", "--out", out}, "a range says how many values there are");
  refused({"--vary", "parameters.k=1,2", "--out", out}, "--vary parameters.k: the model has no parameter 'k'");
  refused({"--vary", "integrate.stepp=1,2", "--out", out}, "'stepp'");
  refused({"--vary", "parameters.l=1,2", "--set", "parameters.l=3", "--out", out}, "changes this key from run to run");
  refused({"--vary", "integrate.end=1,2", "--end", "3", "--out", out}, "--end integrate.end");
  refused({"--vary", "parameters.l=1,2", "--seed", "3", "--out", out}, "nothing is drawn");
  refused({"--vary", "parameters.l=1,2", "--jobs", "0", "--out", out}, "--jobs");
  refused({"--sample", "parameters.l=normal(1,0.1):3", "--seed", "-1", "--out", out}, "--seed");
  refused({"--vary", "parameters.l=1,2", "--out", folder.file("s.txt")}, "known endings are");
  refused({"--vary", "parameters.l=1,2", "--out", folder.file("no/such/s.csv")}, "No such file or directory");
  {
    const Environment environment("3", "3");
    refused({"--vary", "parameters.l=1,2", "--out", out}, "processes are counted from 0");
  }
  {
    const Environment environment("x", "3");
    refused({"--vary", "parameters.l=1,2", "--out", out}, "OMPI_COMM_WORLD_RANK is 'x'");
  }
  EXPECT_FALSE(folder.has("s.csv"));
  EXPECT_FALSE(folder.has("s.csv.parts"));

  folder.write("s.csv", "mine\n");
  refused({"--vary", "parameters.l=1,2", "--out", out}, "which hinge has not written");
  EXPECT_EQ(folder.read("s.csv"), "mine\n");
  EXPECT_FALSE(folder.has("s.csv.parts"));
  EXPECT_EQ(hinge(folder, command(folder, {"--vary", "parameters.l=1,2", "--out", out, "--force"})).status, 0);
  refused({"--vary", "parameters.m=1,2", "--out", out}, "it is a sweep over other keys");
  refused({"--vary", "parameters.l=1,2", "--set", "parameters.m=3", "--out", out}, "'set'");
  refused({"--vary", "parameters.l=1,3", "--out", out}, "has 1 runs that this sweep has not");
  EXPECT_FALSE(folder.has("s.csv.parts"));
  EXPECT_EQ(hinge(folder, command(folder, {"--vary", "parameters.l=1,3", "--out", out, "--force"})).status, 0);
  EXPECT_FALSE(folder.has("s.csv.parts"));
}

}  // namespace
}  // namespace hinge::test::sweep_test
