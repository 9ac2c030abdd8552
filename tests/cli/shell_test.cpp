// Claims about what shells, man and editors get: it is made from the declarations of the program, and knows all of
// them.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "hinge/method.hpp"

namespace hinge::test::shell_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Shell, CompletionsKnowCommandsOptionsAndMethods) {
  const Folder folder;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Answer answer = hinge(folder, {"completion", shell});
    EXPECT_EQ(answer.status, 0);
    const std::string dashes = std::string(shell) == "fish" ? "-l " : "--";
    for (const char* option : {"report", "tolerance", "reference-step", "facets", "slopes", "port", "theme"})
      EXPECT_TRUE(has(answer.out, dashes + option)) << shell << " " << option;
    for (const char* word : {"view", "movie", "convergence", "integrate.stages=", "parameters.", "mechanism"})
      EXPECT_TRUE(has(answer.out, word)) << shell << " " << word;
    for (const MethodInfo& m : methods()) EXPECT_TRUE(has(answer.out, m.name)) << shell << " " << m.name;
    EXPECT_FALSE(has(answer.out, "--help VALUE"));
  }
  const Answer none = hinge(folder, {"completion", "tcsh"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(has(none.err, "bash, zsh and fish"));
}

// The script does what a shell asks of it.
TEST(Shell, BashCompletesACommandAnOptionAndAMethod) {
  const Folder folder;
  folder.write("complete.sh", hinge(folder, {"completion", "bash"}).out + R"(
compopt() { :; }
propose() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
  COMPREPLY=()
  _hinge
  echo "[${COMPREPLY[*]}]"
}
cd "$1"
propose hinge mov
propose hinge run --tol
propose hinge run m.toml --method gauss
propose hinge run m.toml --set integrate.max_s
propose hinge vie
propose hinge view ''
)");
  folder.write("m.toml", pendulum);
  folder.write("other.txt", "");
  const std::string command =
      "bash " + folder.file("complete.sh") + " " + folder.file(".") + " > " + folder.file("said");
  if (std::system("command -v bash > /dev/null") != 0) GTEST_SKIP() << "there is no bash";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(folder.read("said").substr(0, folder.read("said").rfind('[')),
            "[movie]\n[--tolerance]\n[gauss-lobatto]\n[integrate.max_step=]\n[view]\n");
  const std::string files = folder.read("said").substr(folder.read("said").rfind('['));
  EXPECT_TRUE(has(files, "m.toml")) << files;
  EXPECT_FALSE(has(files, "other.txt")) << files;
}

TEST(Shell, TheManualHasCommandsKeysAndMethods) {
  const Folder folder;
  const Answer answer = hinge(folder, {"man"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.out.rfind(".TH HINGE 1", 0), 0U);
  for (const char* part : {".SS \"hinge run\"", "\\fB\\-\\-report VALUE\\fR", "\\fB\\-\\-strict\\fR\n",
                           ".SS \"integrate\"", "\\fBmax_step\\fR", "\\fBgauss\\-lobatto\\fR"})
    EXPECT_TRUE(has(answer.out, part)) << part;
}

// That models fit it, and misspelt ones do not, is checked with a validator (house.schema).
TEST(Shell, TheSchemaHasTheWordsOfTheTables) {
  const Folder folder;
  const nlohmann::json schema = nlohmann::json::parse(hinge(folder, {"schema"}).out);
  EXPECT_EQ(schema["additionalProperties"], false);
  const nlohmann::json& integrate = schema["definitions"]["integrate"];
  EXPECT_EQ(integrate["properties"]["newton"]["enum"], nlohmann::json({"automatic", "simplified", "full"}));
  EXPECT_EQ(integrate["properties"]["step"]["exclusiveMinimum"], 0);
  EXPECT_TRUE(integrate["properties"].contains("stages"));
  EXPECT_EQ(schema["definitions"]["joint"]["required"], nlohmann::json::array({"type"}));
}

}  // namespace
}  // namespace hinge::test::shell_test
