// Claims about --report: a page beside the record, also of a run that failed; refused before anything runs where it
// could not be written; and an explanation where the program was built without the page.
#include <sys/stat.h>

#include "cli/program.hpp"

namespace hinge::test::report_test {
namespace {

/// Names of files are those in the folder.
Answer run_in(const Folder& folder, std::vector<std::string> arguments) {
  for (std::string& a : arguments)
    if (a.find('.') != std::string::npos) a = folder.file(a);
  return hinge(folder, arguments);
}

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("pendulum.toml", pendulum);
    const Answer answer = run_in(folder, {"run", "pendulum.toml", "--report", "try.html"});
    if (answer.status == 0) return;
    EXPECT_EQ(answer.status, 2);
    EXPECT_NE(answer.err.find("scripts/install-deps page"), std::string::npos) << answer.err;
    EXPECT_FALSE(folder.has("try.html"));
    GTEST_SKIP() << "this program was built without the report page";
  }
  Folder folder;
};

TEST_F(ReportTest, IsOnePageBesideTheRecord) {
  const Answer answer = run_in(folder, {"run", "pendulum.toml", "--report", "run.html", "--out", "run.csv"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(answer.out.find("run.html"), std::string::npos);
  EXPECT_TRUE(folder.has("run.csv"));
  const std::string page = folder.read("run.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("id=\"hinge-data\""), std::string::npos);
  EXPECT_EQ(page.find("<!--HINGE-REPORT-DATA-->"), std::string::npos);
  EXPECT_FALSE(folder.has("run.html.part"));
  EXPECT_EQ(run_in(folder, {"run", "pendulum.toml", "--report", "run.html", "--quiet"}).status, 0)
      << "over our own page";
}

TEST_F(ReportTest, OtherFilesAreNotOverwritten) {
  folder.write("mine.html", "<html>my own page</html>");
  const Answer answer = run_in(folder, {"run", "pendulum.toml", "--report", "mine.html"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_NE(answer.err.find("--force"), std::string::npos) << answer.err;
  EXPECT_EQ(folder.read("mine.html"), "<html>my own page</html>");
  EXPECT_EQ(run_in(folder, {"run", "pendulum.toml", "--report", "mine.html", "--force"}).status, 0);
  EXPECT_EQ(run_in(folder, {"run", "pendulum.toml", "--report", "run.csv"}).status, 2);
  EXPECT_EQ(run_in(folder, {"run", "pendulum.toml", "--report", "nowhere/run.html"}).status, 2);
  EXPECT_EQ(run_in(folder, {"run", "pendulum.toml", "--report", ""}).status, 2);
}

TEST_F(ReportTest, ARunThatFailsKeepsItsPage) {
  folder.write("fails.toml", R"([lagrangian]
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "2/3*(1 - x)^1.5"
[initial]
position = { x = 0 }
velocity = { x = 1 }
[integrate]
method = "gauss-lobatto"
step = 0.01
end = 10
)");
  const Answer answer = run_in(folder, {"run", "fails.toml", "--report", "failed.html"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_NE(folder.read("failed.html").find("\"status\":\"failed\""), std::string::npos);
}

TEST(View, ComplaintsSayWhereAndWhatWouldBeRight) {
  const Folder folder;
  const std::pair<const char*, const char*> wrong[] = {
      {"points = { bob = 1 }", "two or three"},
      {"points = { bob = [\"q[0]\", \"zeta\"] }", "zeta"},
      {"rods = [[\"q\"]]", "two ends"},
      {"rods = [[\"q\", \"bob\"]]", "bob"},
      {"trails = [\"height\"]", "height"},
      {"surfaces = [{ radius = 1 }]", "radius"},
      {"surfaces = [{ sphere = -1 }]", "sphere"},
      {"surfaces = [{ sphere = 1, plane = [0, 1] }]", "one of the two"},
      {"surfaces = [{ plane = [0, 0] }]", "direction"},
      {"up = [0, 0, 0]", "direction"},
      {"up = 1", "up"},
      {"colour = \"red\"", "colour"},
  };
  for (const auto& [line, word] : wrong) {
    folder.write("view.toml", pendulum + "\n[view]\n" + line + "\n");
    const Answer answer = run_in(folder, {"run", "view.toml"});
    EXPECT_EQ(answer.status, 2) << line;
    EXPECT_NE(answer.err.find("view.toml:"), std::string::npos) << answer.err;
    EXPECT_NE(answer.err.find(word), std::string::npos) << line << ": " << answer.err;
  }
}

}  // namespace
}  // namespace hinge::test::report_test
