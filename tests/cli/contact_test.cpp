// hinge contact, as a newcomer meets it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "hinge/contact.hpp"
#include "places.hpp"
#include "simulate/record/recorder.hpp"
#include "solve/contact/random_problems.hpp"

namespace hinge::contact_test {
namespace {

using nlohmann::json;
using test::Answer;
using test::Folder;

const std::string spheres = HINGE_EXAMPLES "/contact/fc3d_N100_dyn.hdf5";

class ContactCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  }
  Answer run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "contact");
    return test::hinge(folder, arguments);
  }
  void refuses(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    const Answer a = run(arguments);
    EXPECT_EQ(a.status, 2) << a.out << a.err;
    EXPECT_EQ(a.out, "");
    for (const std::string& part : parts) EXPECT_NE(a.err.find(part), std::string::npos) << a.err;
  }
  Folder folder;
};

TEST_F(ContactCommand, SolvesAFileAndWritesItsSolution) {
  const Answer a = run({spheres, "--tolerance", "1e-9", "--json", "--history", "--out", folder.file("out.hdf5")});
  ASSERT_EQ(a.status, 0) << a.err;
  const json j = json::parse(a.out);
  for (const char* key : {"solver", "iterations", "residual", "seconds", "history"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_LE(j["residual"].get<double>(), 1e-9);
  EXPECT_LE(j["history"].back()["residual"].get<double>(), 1e-9);
  const ContactFile out = read_contact_file(folder.file("out.hdf5"));
  EXPECT_NEAR(contact_residual(out.problem, out.solution).ours, j["residual"].get<double>(), 1e-15);
}

TEST_F(ContactCommand, ShowsAllSolversAndWhatTheyRefuse) {
  const Answer a = run({spheres, "--solver", "all", "--tolerance", "1e-4", "--seconds", "5", "--scaling", "siconos"});
  EXPECT_EQ(a.status, 0) << a.err;
  for (const ContactSolverInfo& info : contact_solvers())
    EXPECT_NE(a.out.find(info.name), std::string::npos) << info.name;
  EXPECT_NE(a.out.find("refused: it solves LCPs"), std::string::npos) << a.out;
  EXPECT_EQ(run({"--list"}).status, 0);
}

TEST_F(ContactCommand, AnUnconvergedResultHasStatusOneAndSaysSo) {
  const Answer a = run({HINGE_EXAMPLES "/contact/spheres.hdf5", "--solver", "block-gauss-seidel", "--iterations", "3"});
  EXPECT_EQ(a.status, 1);
  EXPECT_NE(a.err.find("did not reach"), std::string::npos) << a.err;
}

TEST_F(ContactCommand, ProfilesAFolder) {
  write_contact_file(folder.file("a.hdf5"), trial::golden_chain(1, 3, 0.3));
  write_contact_file(folder.file("b.h5"), trial::golden_lcp("pd", 10, 2));
  const Answer a = run({folder.file("."), "--solver", "all", "--tolerance", "1e-6", "--seconds", "2", "--json"});
  ASSERT_EQ(a.status, 0) << a.err;
  const json j = json::parse(a.out);
  EXPECT_EQ(j["problems"].size(), 2u);
  EXPECT_EQ(j["profile"]["auto"].back()["share"], 1.0);
  EXPECT_EQ(j["profile"]["lemke"].back()["share"], 0.5);  // refuses round cones
}

TEST_F(ContactCommand, AFolderWithOneBadFileIsProfiledAllTheSame) {
  write_contact_file(folder.file("a.hdf5"), trial::golden_chain(1, 3, 0.3));
  folder.write("b.hdf5", "hello");
  const Answer a = run({folder.file("."), "--tolerance", "1e-6", "--json"});
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_NE(a.err.find("b.hdf5"), std::string::npos) << a.err;
  const json j = json::parse(a.out);
  EXPECT_EQ(j["problems"].size(), 1u);
  EXPECT_EQ(j["unreadable"].size(), 1u);
  // Nothing solved is a failure, as for one file.
  const Answer none = run({folder.file("."), "--solver", "jacobi", "--iterations", "1"});
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("no problem"), std::string::npos) << none.err;
}

TEST_F(ContactCommand, AllSolversHaveTheirOwnNamesInJson) {
  write_contact_file(folder.file("a.hdf5"), trial::golden_chain(1, 3, 0.3));
  const Answer a = run({folder.file("a.hdf5"), "--solver", "all", "--tolerance", "1e-6", "--json"});
  ASSERT_EQ(a.status, 0) << a.err;
  const json j = json::parse(a.out);
  const auto infos = contact_solvers();
  ASSERT_EQ(j["solvers"].size(), infos.size());
  for (std::size_t k = 0; k < infos.size(); ++k) EXPECT_EQ(j["solvers"][k]["solver"], infos[k].name);
}

TEST_F(ContactCommand, NamesWhatIsWrong) {
  refuses({}, {"which file?"});
  refuses({"none.hdf5"}, {"none.hdf5", "No such file"});
  refuses({folder.write("text.hdf5", "hello")}, {"text.hdf5", "no HDF5 file"});
  refuses({spheres, "--solver", "newton"}, {"--solver newton", "newton-ac"});
  refuses({spheres, "--solver", "lemke"}, {"lemke cannot solve this problem", "LCP"});
  refuses({spheres, "--scaling", "siconoss"}, {"--scaling siconoss", "did you mean 'siconos'?"});
  refuses({spheres, "--tolerance", "0"}, {"tolerance 0", "positive"});
  refuses({spheres, "--friction", "polyhedral", "--facets", "5"}, {"5 facets", "even"});
  refuses({spheres, "--facets", "5"}, {"5 facets", "even"});
  refuses({spheres, "--threads", "0"}, {"0 threads"});
  write_contact_file(folder.file("a.hdf5"), trial::golden_chain(1, 3, 0.3));
  refuses({folder.file("."), "--guess"}, {"--guess", "folder"});
  refuses({folder.file("."), "--history"}, {"--history", "folder"});
  refuses({folder.file("..") + "/nowhere"}, {"nowhere"});
}

}  // namespace
}  // namespace hinge::contact_test
