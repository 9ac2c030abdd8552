// Claims about --checkpoint, --resume and --from: a killed run goes on as if nothing had happened; rows are starts.
#include <chrono>
#include <thread>

#include "cli/program.hpp"
#include "hinge/record.hpp"

namespace hinge::test::checkpoint_cli_test {
namespace {

// Forty disks fall into a box: contacts with their memory.
const std::string pile =
    "[multibody]\ngravity = [0, -9.81]\n[container]\nbox = [[0, 0], [1, 3]]\nopen = [\"top\"]\n[[particles]]\ncount = "
    "40\n"
    "radius = [0.03, 0.06]\ndensity = 1000\nbox = [[0, 0], [1, 1.5]]\n[contact]\nfriction = 0.4\n[integrate]\nmethod = "
    "\"moreau-jean\"\nstep = 0.002\nend = 1\n[output]\nevery = 5\n";

std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(CheckpointProgram, AKilledRunGoesOnWithTheSameBits) {
  const Folder folder;
  const std::string model = folder.write("pile.toml", pile), out = folder.file("run.csv"), file = folder.file("cp");
  const std::vector<std::string> run{"run", model,    "--out", out, "--checkpoint-every", "0", "--checkpoint-steps",
                                     "20",  "--quiet"};
  EXPECT_EQ(Program(folder, with(run, {"--checkpoint", file})).wait().status, 0);
  const std::string whole = folder.read("run.csv");
  std::filesystem::remove(file);
  std::filesystem::remove(out);
  Program killed(folder, with(run, {"--checkpoint", file}));
  for (int k = 0; k < 4000 && !std::filesystem::exists(file); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  killed.send(SIGKILL);
  killed.wait();
  ASSERT_TRUE(std::filesystem::exists(file));
  const auto answer = Program(folder, with(run, {"--resume", file})).wait();
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_TRUE(folder.read("run.csv") == whole);
  // another model
  const std::string other = folder.write("other.toml", pile + "interval = 0.1\n");
  const auto refused = Program(folder, {"run", other, "--out", out, "--resume", file}).wait();
  EXPECT_EQ(refused.status, 2);
}

TEST(CheckpointProgram, ARunStartsFromARecordedRow) {
  const Folder folder;
  const std::string model = folder.write("m.toml",
                                         "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = "
                                         "[\"-x\"]\n[initial]\nposition = { x = 1 }\n[integrate]\n"
                                         "method = \"rattle\"\nstep = 0.25\nend = 1\n");
  const std::string out = folder.file("run.csv"), next = folder.file("next.csv");
  EXPECT_EQ(Program(folder, {"run", model, "--out", out, "--end", "2", "--quiet"}).wait().status, 0);
  const Trajectory whole = read_record(out);
  for (const auto& [row, first] : {std::pair{":4", 4}, {":t=1", 4}, {":last", 8}}) {
    const auto answer =
        Program(folder, {"run", model, "--from", out + row, "--end", "2", "--out", next, "--quiet"}).wait();
    EXPECT_EQ(answer.status, 0) << answer.err;
    const Trajectory part = read_record(next);
    ASSERT_EQ(part.rows(), whole.rows() - static_cast<std::size_t>(first));
    for (std::size_t k = 0; k < part.rows(); ++k)
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_NEAR(part.row(k)[j], whole.row(k + static_cast<std::size_t>(first))[j], 1e-14) << row;
  }
  const std::tuple<std::string, const char*> bad[] = {{out, "say which row"},
                                                      {out + ":99", "the record has the rows 0 to 8"},
                                                      {out + ":t=0.3", "there is no row at t = 0.3"},
                                                      {out + ":first", "'first' is no row"},
                                                      {folder.file("none.csv") + ":last", "cannot read"}};
  for (const auto& [from, words] : bad) {
    const auto answer = Program(folder, {"run", model, "--from", from}).wait();
    EXPECT_EQ(answer.status, 2);
    EXPECT_NE(answer.err.find(words), std::string::npos) << answer.err;
  }
  const auto late = Program(folder, {"run", model, "--from", out + ":last"}).wait();
  EXPECT_NE(late.err.find("after the end of the run, 1; give --end"), std::string::npos) << late.err;
}

// The numbers of a table may change beside an unchanged model: then nothing goes on from what was computed with others.
TEST(CheckpointProgram, AChangedFileOfATableIsAnotherModel) {
  const Folder folder;
  const std::string model = folder.write("m.toml",
                                         "[tables]\npush = { file = \"push.csv\", beyond = \"constant\" "
                                         "}\n[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\n"
                                         "force = [\"push(t) - x\"]\n[initial]\nposition = { x = 1 "
                                         "}\n[integrate]\nmethod = \"rattle\"\nstep = 0.01\nend = "
                                         "1\n");
  const std::string out = folder.file("run.csv"), file = folder.file("cp"), many = folder.file("many.csv");
  const std::vector<std::string> run{"run", model, "--out", out, "--checkpoint-every", "0", "--checkpoint-steps", "20"};
  const std::vector<std::string> sweep{"sweep", model, "--out", many, "--vary"};
  folder.write("push.csv", "0, 1\n1, 2\n");
  ASSERT_EQ(hinge(folder, with(run, {"--checkpoint", file})).status, 0);
  ASSERT_EQ(hinge(folder, with(sweep, {"initial.position.x=1,2"})).status, 0);
  EXPECT_EQ(hinge(folder, with(run, {"--resume", file, "--end", "2"})).status, 0);
  EXPECT_EQ(hinge(folder, with(sweep, {"initial.position.x=1,2,3"})).status, 0);
  folder.write("push.csv", "0, 1\n1, 2.5\n");
  const Answer resumed = hinge(folder, with(run, {"--resume", file, "--end", "3"}));
  EXPECT_EQ(resumed.status, 2);
  EXPECT_NE(resumed.err.find("with the same files of tables"), std::string::npos) << resumed.err;
  const Answer extended = hinge(folder, with(sweep, {"initial.position.x=1,2,3,4"}));
  EXPECT_EQ(extended.status, 2);
  EXPECT_NE(extended.err.find("files of its tables have changed"), std::string::npos) << extended.err;
  // a record says what it was made with, and its text is a model again
  const Trajectory record = read_record(many);
  EXPECT_NE(record.header.model.find("\n# read: tables.push.file \"push.csv\", 10 bytes, sum "), std::string::npos)
      << record.header.model;
}

TEST(CheckpointFile, ReplacesNothingButACheckpoint) {
  const Folder folder;
  const std::string model = folder.write("m.toml", pendulum);
  for (const std::string& path : {model, folder.file("nowhere/a.checkpoint")}) {
    const Answer answer = hinge(folder, {"run", model, "--checkpoint", path});
    EXPECT_EQ(answer.status, 2) << answer.err;
    EXPECT_NE(answer.err.find(path), std::string::npos) << answer.err;
  }
  EXPECT_EQ(folder.read("m.toml"), pendulum);
}

}  // namespace
}  // namespace hinge::test::checkpoint_cli_test
