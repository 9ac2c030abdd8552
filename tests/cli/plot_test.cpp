// Claims about `hinge plot`: lines of records and models as SVG, extremes kept; wrong names are answered with the right
// ones.
#include "cli/program.hpp"

namespace hinge::test::plot_test {
namespace {

TEST(Plot, DrawsRecordsAndModelsInOneFigure) {
  const Folder folder;
  const std::string model = folder.write("pendulum.toml", pendulum), record = folder.file("run.csv"),
                    figure = folder.file("figure.svg");
  ASSERT_EQ(hinge(folder, {"run", model, "--out", record, "--quiet"}).status, 0);
  const Answer answer =
      hinge(folder, {"plot", record, model, "--y", "q[0], energy_error", "--title", "a < b & c", "--out", figure});
  ASSERT_EQ(answer.status, 0) << answer.err;
  const std::string svg = folder.read("figure.svg");
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(svg.find("serif"), std::string::npos);
  std::size_t lines = 0;
  for (std::size_t at = svg.find("class=\"line\""); at != std::string::npos; at = svg.find("class=\"line\"", at + 1))
    ++lines;
  EXPECT_EQ(lines, 4U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(hinge(folder, {"plot", record, "--y", "q[0]", "--out", figure}).status, 2) << "it is there already";
  EXPECT_EQ(hinge(folder,
                  {"plot", record, "--y", "energy_error", "--log", "xy", "--slopes", "2,4", "--out", figure, "--force"})
                .status,
            0);
  EXPECT_NE(folder.read("figure.svg").find("class=\"slope\""), std::string::npos);
}

TEST(Plot, WrongInputIsAnswered) {
  const Folder folder;
  const std::string model = folder.write("pendulum.toml", pendulum), figure = folder.file("figure.svg");
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"plot", model, "--y", "enrgy", "--out", figure}, "did you mean 'energy'?"},
      {{"plot", model, "--y", "energy", "--out", folder.file("figure.gif")}, ".svg"},
      {{"plot", model, "--y", "energy", "--log", "z", "--out", figure}, "--log xy"},
      {{"plot", model, "--y", "energy", "--slopes", "two", "--out", figure}, "not a number"},
      {{"plot", model, "--y", "energy", "--slopes", "2", "--log", "y", "--out", figure}, "add --log xy"},
      {{"plot", folder.file("none.csv"), "--y", "energy", "--out", figure}, "none.csv"},
      {{"plot", model, "--y", ",", "--out", figure}, "--y needs"},
      {{"plot", model, "--out", figure}, "--y"},
  };
  for (const auto& [arguments, word] : wrong) {
    const Answer answer = hinge(folder, arguments);
    EXPECT_EQ(answer.status, 2) << word;
    EXPECT_NE(answer.err.find(word), std::string::npos) << answer.err;
    EXPECT_FALSE(folder.has("figure.svg"));
    EXPECT_FALSE(folder.has("figure.svg.part"));
  }
}

}  // namespace
}  // namespace hinge::test::plot_test
