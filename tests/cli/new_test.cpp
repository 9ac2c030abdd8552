// Claims about `hinge new`: every template runs and is sound; nothing is overwritten.
#include "cli/program.hpp"

namespace hinge::test::new_test {
namespace {

TEST(New, EveryTemplateRunsAndIsSound) {
  const Folder folder;
  for (const char* kind : {"pendulum", "mechanism", "bodies", "pile", "circuit"}) {
    const std::string file = folder.file(kind);
    const Answer made = hinge(folder, {"new", file, "--template", kind});
    ASSERT_EQ(made.status, 0) << kind << made.err;
    EXPECT_NE(made.out.find("hinge run"), std::string::npos);
    const Answer run = hinge(folder, {"run", file + ".toml", "--strict"});
    EXPECT_EQ(run.status, 0) << kind << ": " << run.err << run.out;
    EXPECT_TRUE(run.out.starts_with("sound")) << kind << ": " << run.out;
    EXPECT_EQ(run.err.find("warning"), std::string::npos) << kind << ": " << run.err;
  }
}

TEST(New, TheContactProblemCanBeSolved) {
  const Folder folder;
  ASSERT_EQ(hinge(folder, {"new", folder.file("corner"), "--template", "contact"}).status, 0);
  EXPECT_EQ(hinge(folder, {"contact", folder.file("corner.hdf5")}).status, 0);
}

TEST(New, NothingIsOverwritten) {
  const Folder folder;
  folder.write("mine.toml", "mine");
  const Answer again = hinge(folder, {"new", folder.file("mine.toml")});
  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(folder.read("mine.toml"), "mine");
  const Answer unknown = hinge(folder, {"new", folder.file("x"), "--template", "pendulun"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("did you mean 'pendulum'?"), std::string::npos) << unknown.err;
  EXPECT_EQ(hinge(folder, {"new"}).status, 2);
  EXPECT_EQ(hinge(folder, {"new", "--list"}).status, 0);
  EXPECT_EQ(hinge(folder, {"new", folder.file("nowhere/x")}).status, 2);
}

}  // namespace
}  // namespace hinge::test::new_test
