// Claims about files and the system around the program: what cannot be written is told, with status 1, and nothing that
// is not finished looks so; nothing ends in an abort; a model cannot write where it should not; limits are said before
// memory is taken; a contact solver that is stopped keeps its best r.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "hinge/contact.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::test::files_test {
namespace {

const std::string quick = with(pendulum, "end = 0.05", "end = 50");

/// Runs the program in a shell, after `before` and with `behind` added: limits and redirections.
Answer in_shell(const Folder& folder, const std::string& arguments, const std::string& before = "",
                const std::string& behind = "") {
  const std::string command = before + " " HINGE_PROGRAM " " + arguments + " >" + folder.file("out") + " 2>" +
                              folder.file("err") + " " + behind;
  const int status = std::system(("cd " + folder.file("") + "; " + command).c_str());
  Answer answer{WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", ""};
  if (folder.has("out")) answer.out = folder.read("out");
  if (folder.has("err")) answer.err = folder.read("err");
  return answer;
}

ContactProblem small_problem() {
  ContactProblem p;
  p.dimension = 3;
  p.mu = {0.5, 0.5};
  p.W = Eigen::MatrixXd(Eigen::MatrixXd::Identity(6, 6)).sparseView();
  p.q = -Eigen::VectorXd::Ones(6);
  return p;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// ---- What cannot be written -----------------------------------------------------------------------------------------

TEST(FullDisk, ARunIsToldAndItsRecordIsNotFinished) {
  for (const std::string file : {"o.csv", "o.h5", "o.hdf5"}) {
    if (file != "o.csv" && !hdf5_available()) continue;
    const Folder folder;
    folder.write("m.toml", quick);
    const Answer answer = in_shell(folder, "run m.toml --quiet --out " + file, "ulimit -f 300;");  // times 512 or 1024
    EXPECT_EQ(answer.status, 1) << answer.err;
    EXPECT_TRUE(says(answer.err, "cannot write '" + file + "': File too large")) << answer.err;
    const Trajectory record = read_record(folder.file(file));
    EXPECT_GT(record.rows(), 100U);
    EXPECT_NE(record.status, "finished");
    if (file != "o.csv") {
      EXPECT_TRUE(says(record.status, "failed: cannot write")) << record.status;
    }
  }
}

TEST(FullDisk, AnAnswerThatIsLostGivesStatusOne) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const Folder folder;
  folder.write("m.toml", pendulum);
  for (const std::string arguments : {"run m.toml --json", "run m.toml", "check m.toml", "methods", "methods --json",
                                      "contact --list", "--help", "convergence m.toml --end 0.05"}) {
    const Answer answer = in_shell(folder, arguments, "", ">/dev/full");
    EXPECT_EQ(answer.status, 1) << arguments;
    EXPECT_TRUE(says(answer.err, "cannot write the answer: No space left on device")) << arguments << answer.err;
  }
}

TEST(FullDisk, AContactResultIsWholeOrNotThere) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const std::string problem = HINGE_EXAMPLES "/contact/spheres.hdf5";
  const Folder folder;
  Answer answer = in_shell(folder, "contact " + problem + " --quiet --out o.hdf5", "ulimit -f 2;");
  EXPECT_EQ(answer.status, 1) << answer.err;
  EXPECT_TRUE(says(answer.err, "cannot write 'o.hdf5': File too large")) << answer.err;
  EXPECT_FALSE(folder.has("o.hdf5"));
  EXPECT_FALSE(folder.has("o.hdf5.part"));
  if (std::filesystem::exists("/dev/full")) {
    answer = in_shell(folder, "contact " + problem + " --quiet --out /dev/full");
    EXPECT_EQ(answer.status, 1) << answer.err;
    EXPECT_TRUE(says(answer.err, "No space left on device")) << answer.err;
  }
  EXPECT_EQ(in_shell(folder, "contact " + problem + " --quiet --out o.hdf5").status, 0);
  EXPECT_EQ(in_shell(folder, "contact " + problem + " --quiet --out o.hdf5").status, 0);  // replaces its own
  EXPECT_GT(read_contact_file(folder.file("o.hdf5")).solution.size(), 0);
}

TEST(FullDisk, TwoWritersOfOneFileAreRefused) {
  for (const std::string file : {"two.csv", "two.h5"}) {
    if (file != "two.csv" && !hdf5_available()) continue;
    const Folder folder;
    const std::string model = folder.write("m.toml", quick), out = folder.file(file);
    Program first(folder, {"run", model, "--end", "1e9", "--quiet", "--out", out});
    for (int k = 0; k < 2000 && (!folder.has(file) || std::filesystem::file_size(out) < 100'000); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const Answer second = in_shell(folder, "run m.toml --quiet --out " + file);
    EXPECT_EQ(second.status, 2);
    EXPECT_TRUE(says(second.err, "another program has it open")) << second.err;
    first.send(SIGINT);
    EXPECT_EQ(first.wait().status, 130);
    const std::vector<double> t = read_record(out).times();
    EXPECT_TRUE(std::is_sorted(t.begin(), t.end()));
    EXPECT_GT(t.size(), 1000U);
  }
}

// ---- Nothing ends in an abort
// -----------------------------------------------------------------------------------------

TEST(NoAbort, NamesThatAreNoText) {
  const Folder folder;
  folder.write("m.toml", pendulum);
  Answer answer = in_shell(folder, "run m.toml --json --out $(printf 'a\\377b.csv')");
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_NO_THROW(EXPECT_EQ(nlohmann::json::parse(answer.out)["output"]["file"], "a\uFFFDb.csv"));
  answer = in_shell(folder, "run m.toml --out $(printf 'c\\377\\033d.csv')");
  EXPECT_TRUE(says(answer.out, "c\\xff\\u001bd.csv")) << answer.out;
  EXPECT_EQ(in_shell(folder, "run $(printf 'no\\377.toml') --json").status, 2);
}

TEST(NoAbort, FoldersThatCannotBeRead) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const Folder folder;
  std::filesystem::create_symlink("loop", folder.file("loop"));
  std::filesystem::create_directory(folder.file("closed"));
  std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::none);
  for (const std::string& name : {std::string("loop"), std::string(5000, 'a'), std::string("closed"), std::string("no"),
                                  std::string("''"), std::string("loop/x.hdf5"), std::string("/dev/null")}) {
    for (const std::string command : {"contact ", "run ", "check "}) {
      const Answer answer = in_shell(folder, command + name);
      EXPECT_EQ(answer.status, 2) << command << name << answer.err;
      EXPECT_TRUE(says(answer.err, "hinge: ")) << command << name;
    }
  }
  std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::owner_all);
}

// What HDF5 says of itself at the exit is nobody's business.
TEST(NoAbort, DamagedContactFilesGiveOneMessage) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const Folder folder;
  write_contact_file(folder.file("good.hdf5"), small_problem());
  const std::string good = folder.read("good.hdf5");
  std::mt19937_64 random(1);
  for (int k = 0; k < 60; ++k) {
    std::string bad = good;
    for (int n = 0; n < 1 + k % 8; ++n) bad[random() % bad.size()] = static_cast<char>(random());
    folder.write("bad.hdf5", bad.substr(0, k % 3 == 0 ? random() % bad.size() : bad.size()));
    const Answer answer = in_shell(folder, "contact bad.hdf5 --quiet --seconds 2", "ulimit -t 20;");
    EXPECT_TRUE(answer.status >= 0 && answer.status <= 2) << k << " " << answer.status << answer.err;
    EXPECT_EQ(answer.status != 0, says(answer.err, "hinge: ")) << k << answer.err;
    EXPECT_FALSE(says(answer.err, "HDF5: infinite loop")) << k;
  }
}

// Whatever the limit, it is memory that is missing, not a pivot.
TEST(NoAbort, MissingMemoryIsCalledSo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more memory than these limits";
#endif
  const Folder folder;
  for (const int megabytes : {60, 80, 100, 130, 160, 200}) {
    const Answer answer = in_shell(folder,
                                   "run " HINGE_EXAMPLES
                                   "/chain.toml --set parameters.N=3000 --set parameters.l=0.001 --end 0.002 --quiet",
                                   "ulimit -v " + std::to_string(1000 * megabytes) + ";");
    if (answer.status == 127 || says(answer.err, "error while loading shared libraries")) continue;
    if (answer.status == 0) break;
    EXPECT_EQ(answer.status, 1) << megabytes << answer.err;
    EXPECT_TRUE(says(answer.err, "not enough memory")) << megabytes << answer.err;
  }
}

TEST(NoAbort, ControlCharactersAreShownAsEscapes) {
  const Folder folder;
  folder.write("m.toml", with(pendulum, "\"Pendulum\"", "\"a\\u001b]0;pwned\\u0007\\u001b[2Jb\\u009b\\u202e\""));
  for (const std::string arguments : {"run m.toml", "check m.toml", "run m.toml --json",
                                      "convergence m.toml --end 0.02", "run m.toml --quiet --out o.csv"}) {
    const Answer answer = in_shell(folder, arguments);
    EXPECT_EQ(answer.status, 0) << answer.err;
    for (const char c : answer.out + answer.err + (folder.has("o.csv") ? folder.read("o.csv") : ""))
      ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << arguments;
    EXPECT_FALSE(says(answer.out, "\u009b") || says(answer.out, "\u202e")) << arguments;
    if (!says(arguments, "--quiet")) {
      EXPECT_TRUE(says(answer.out, "u001b]0;pwned")) << answer.out;
    }
  }
}

// ---- A model from an unknown source
// -----------------------------------------------------------------------------------

struct Victim {
  Folder folder;
  Victim() {
    for (const char* name : {"model", "victim"}) std::filesystem::create_directory(folder.file(name));
    folder.write("victim/data.csv", "precious\n");
  }
  Answer run(const std::string& file, const std::string& options = "") const {
    folder.write("model/m.toml", with(pendulum, "[output]", "[output]\nfile = \"" + file + "\""));
    return in_shell(folder, "run m.toml --quiet " + options, "cd model;");
  }
  bool unharmed() const { return folder.read("victim/data.csv") == "precious\n"; }
};

TEST(UnknownModel, StaysInItsFolder) {
  const Victim victim;
  std::filesystem::create_symlink("../victim", victim.folder.file("model/link"));
  std::filesystem::create_symlink("../victim/data.csv", victim.folder.file("model/data.csv"));
  std::filesystem::create_symlink("../victim/new.csv", victim.folder.file("model/new.csv"));
  for (const std::string& file :
       {std::string("../victim/data.csv"), std::string("../victim/new.csv"), std::string("link/data.csv"),
        std::string("link/new.csv"), std::string("data.csv"), std::string("new.csv"), std::string("./../new.csv"),
        victim.folder.file("victim/new.csv")}) {
    const Answer answer = victim.run(file);
    EXPECT_EQ(answer.status, 2) << file << answer.err;
    EXPECT_TRUE(says(answer.err, "output.file")) << answer.err;
    EXPECT_TRUE(victim.unharmed()) << file;
    EXPECT_FALSE(victim.folder.has("victim/new.csv") || victim.folder.has("new.csv")) << file;
  }
  EXPECT_EQ(victim.run("mine.csv").status, 0);
  EXPECT_EQ(victim.run("mine.csv").status, 0);  // a record is replaced
  std::filesystem::create_directory(victim.folder.file("model/sub"));
  EXPECT_EQ(victim.run("sub/../sub/mine.csv").status, 0);
  EXPECT_EQ(victim.run(victim.folder.file("model/sub/other.csv")).status, 0);
  EXPECT_EQ(victim.run("../victim/new.csv", "--force").status, 0);
  EXPECT_EQ(victim.run("../victim/data.csv", "--out chosen.csv").status, 0);
  EXPECT_EQ(victim.run("../victim/data.csv", "--set output.file=../set.csv").status, 0);
  EXPECT_TRUE(victim.folder.has("set.csv"));
  EXPECT_TRUE(victim.unharmed());
}

TEST(UnknownModel, IsRelativeToItsOwnFolder) {
  const Victim victim;
  victim.run("mine.csv");
  std::filesystem::remove(victim.folder.file("model/mine.csv"));
  EXPECT_EQ(in_shell(victim.folder, "run model/m.toml --quiet").status, 0);
  EXPECT_TRUE(victim.folder.has("model/mine.csv"));
}

TEST(UnknownModel, OverwritesRecordsOnly) {
  const Victim victim;
  for (const std::string file : {"notes.csv", "notes.h5"}) {
    if (file != "notes.csv" && !hdf5_available()) continue;
    const std::string inside = "model/" + file;
    victim.folder.write(inside, "t,x\n1,2\n");
    for (const Answer& answer : {victim.run(file), victim.run("other.csv", "--out " + file)}) {
      EXPECT_EQ(answer.status, 2) << answer.err;
      EXPECT_TRUE(says(answer.err, "--force overwrites it")) << answer.err;
      EXPECT_EQ(victim.folder.read(inside), "t,x\n1,2\n");
    }
    EXPECT_EQ(victim.run(file, "--force").status, 0);
    EXPECT_EQ(victim.run(file).status, 0);
    victim.folder.write(inside, "");
    EXPECT_EQ(victim.run(file).status, 0);
  }
}

TEST(UnknownModel, TablesOfStudiesReplaceTablesOnly) {
  const Folder folder;
  folder.write("m.toml", pendulum);
  folder.write("t.csv", "my own\n");
  const std::string study = "convergence m.toml --quiet --csv t.csv";
  EXPECT_EQ(in_shell(folder, study).status, 2);
  EXPECT_EQ(folder.read("t.csv"), "my own\n");
  EXPECT_EQ(in_shell(folder, study + " --force").status, 0);
  EXPECT_EQ(in_shell(folder, study).status, 0);
}

// ---- Limits
// -----------------------------------------------------------------------------------------------------------

/// The answer to a model, which gets so many seconds of the processor and less than a gigabyte.
Answer answered_soon(const std::string& model, int seconds = 2) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::string limits;  // sanitizers take their own time and memory
  (void)seconds;
#else
  const std::string limits = "ulimit -v 800000; ulimit -t " + std::to_string(seconds) + ";";
#endif
  const Folder folder;
  folder.write("m.toml", model);
  return in_shell(folder, "check m.toml", limits);
}

TEST(Limits, AreSaidBeforeMemoryIsTaken) {
  const std::string sums = with(pendulum, "9.81*m*q[1]", "sum(i,0,1000,sum(j,0,1000,sum(k,0,1000,1)))*q[0]");
  Answer answer = answered_soon(sums);
  EXPECT_EQ(answer.status, 2);
  EXPECT_TRUE(says(answer.err, "too many operations")) << answer.err;
  for (const std::string bounds :
       {"sum(i,0,300,sum(j,0,300,sum(k,0,3000,k)))", "sum(i,0,50,sum(j,0,9999,sum(k,0,999,i)))"})
    EXPECT_EQ(answered_soon(with(pendulum, "9.81*m*q[1]", bounds + "*q[0]")).status, 2);

  for (const std::string declared : {"\"q[3000000][3]\"", "\"q[600000]\", \"r[600000]\"", "\"q[1e9]\""}) {
    answer = answered_soon(with(pendulum, "\"q[2]\"", declared));
    EXPECT_EQ(answer.status, 2);
    EXPECT_TRUE(says(answer.err, "at most 1e+06")) << answer.err;
  }
  const std::string scene =
      "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"a{i}\"\nfor = \"i\"\nto = 0\nmass = 1\n"
      "inertia = [1, 1, 1]\nshape = { for = \"k\", to = 9999999, sphere = 0.1, position = [\"k\", 0, 0] }\n"
      "[integrate]\nstep = 0.1\nend = 1\n";
  answer = answered_soon(scene);
  EXPECT_EQ(answer.status, 2);
  EXPECT_TRUE(says(answer.err, "at most a million")) << answer.err;
  EXPECT_EQ(answered_soon(with(scene, "to = 0\n", "to = 99999999\n")).status, 2);
}

TEST(Limits, NestedSumsThatCanBeAffordedAreRead) {
  const std::string triangle = "sum(i,0,300,sum(j,i,300,(i+j)/1e9))";
  for (const std::string& sum : {triangle, std::string("sum(i,0,60,sum(j,i,60,sum(k,j,60,k/1e9)))"),
                                 std::string("sum(i,0,100000,if(i == 1, sum(j,0,5000,j/1e9), i/1e9))")})
    EXPECT_EQ(answered_soon(with(pendulum, "9.81*m*q[1]", sum + "*q[1]"), 10).status, 0) << sum;
}

// The derivative of a long vector takes time in proportion to its length.
TEST(Limits, PrimesOfLongVectorsAreLinear) {
  const std::string dae =
      "[dae]\nunknowns = [\"x[100000]\"]\nequations = [\"x' + x - [t, 0]\"]\n[initial]\nunknowns = { x = [0, 1] }\n"
      "[integrate]\nmethod = \"radau\"\nstep = 0.01\nend = 2.0\n";
  EXPECT_EQ(answered_soon(dae, 3).status, 2);
  EXPECT_EQ(answered_soon(with(dae, "x' + x", "(2*x)' + x"), 3).status, 2);
}

// ---- Stopping
// ---------------------------------------------------------------------------------------------------------

TEST(StoppedContact, KeepsItsBestReaction) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const Folder folder;
  Program program(folder, {"contact", HINGE_EXAMPLES "/contact/spheres.hdf5", "--solver", "jacobi", "--tolerance",
                           "1e-300", "--iterations", "2000000000", "--out", folder.file("o.hdf5")});
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  program.send(SIGINT);
  const Answer answer = program.wait();
  EXPECT_EQ(answer.status, 130) << answer.err;
  EXPECT_TRUE(says(answer.err, "told to stop")) << answer.err;
  const ContactFile file = read_contact_file(folder.file("o.hdf5"));
  EXPECT_LT(contact_residual(file.problem, file.solution).ours, 1e-2);
}

// ---- The binary
// -------------------------------------------------------------------------------------------------------

TEST(Program, IsHardened) {
  if (!HINGE_PROGRAM_IS_HARDENED) GTEST_SKIP() << "not in this build";
  if (std::system("readelf --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no readelf here";
  const Folder folder;
  ASSERT_EQ(std::system(("readelf -W -a " HINGE_PROGRAM " > " + folder.file("elf")).c_str()), 0);
  const std::string elf = folder.read("elf");
  for (const char* part : {"GNU_RELRO", "NOW", "__stack_chk_fail", "_chk@GLIBC"}) EXPECT_TRUE(says(elf, part)) << part;
  const std::size_t stack = elf.find("GNU_STACK");
  ASSERT_NE(stack, std::string::npos);
  EXPECT_FALSE(says(elf.substr(stack, elf.find('\n', stack) - stack), "RWE"));
}

}  // namespace
}  // namespace hinge::test::files_test
