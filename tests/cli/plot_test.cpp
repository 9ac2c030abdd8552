// Claims about `hinge plot`: lines of records and models as SVG, extremes kept; wrong names are answered with the right
// ones.
#include <algorithm>
#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "cli/program.hpp"
#include "random_draw.hpp"

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

// Whatever range it has: two numbers at least, and no long stretch without one (a range of 45 had 0.02, 0.04, 0.06 and
// 0.08 at its upper end and nothing below).
TEST(Plot, LogarithmicAxesHaveNumbersAllAlong) {
  const std::regex mark("x=\"64\" y=\"([-0-9.]+)\" text-anchor=\"end\">([^<]+)<");
  const Folder folder;
  Draw draw(20261119);
  double longest = 0;
  for (int k = 0; k < 40; ++k) {
    const double low = draw.power(-9, 6), high = low * draw.power(0.1, 3.5);
    folder.write("e.csv", fmt::format("t,e\n1,{0:.17g}\n2,{1:.17g}\n3,{1:.17g}\n", low, high));
    const Answer answer = hinge(
        folder, {"plot", folder.file("e.csv"), "--y", "e", "--log", "y", "--out", folder.file("f.svg"), "--force"});
    ASSERT_EQ(answer.status, 0) << answer.err;
    const std::string svg = folder.read("f.svg");
    std::vector<double> at;
    for (std::sregex_iterator m(svg.begin(), svg.end(), mark), end; m != end; ++m) at.push_back(std::stod((*m)[1]));
    ASSERT_GE(at.size(), 2U) << low << " to " << high;
    at.insert(at.end(), {34.0, 274.0});  // the ends of the axis, as far below as numbers stand
    std::sort(at.begin(), at.end());
    for (std::size_t i = 1; i < at.size(); ++i) longest = std::max(longest, (at[i] - at[i - 1]) / 240);
  }
  EXPECT_LT(longest, 0.6);  // measured 0.49
}

TEST(Plot, TitlesOfAnyLengthFitAndCanBeRead) {
  const std::regex line("x=\"240\" y=\"([0-9]+)\" text-anchor=\"middle\" font-size=\"([0-9.]+)\">([^<]*)<");
  const Folder folder;
  Draw draw(7);
  folder.write("e.csv", "t,e\n1,1\n2,2\n");
  for (int k = 0; k < 25; ++k) {
    std::string title;
    for (int words = draw.integer(1, 20); words > 0; --words)
      title += std::string(static_cast<std::size_t>(draw.integer(1, 9)), 'm') + (words > 1 ? " " : "");
    ASSERT_EQ(hinge(folder, {"plot", folder.file("e.csv"), "--y", "e", "--title", title, "--out", folder.file("f.svg"),
                             "--force"})
                  .status,
              0);
    const std::string svg = folder.read("f.svg");
    std::string shown;
    for (std::sregex_iterator m(svg.begin(), svg.end(), line), end; m != end; ++m) {
      shown += (shown.empty() ? "" : " ") + (*m)[3].str();
      EXPECT_LT(static_cast<double>((*m)[3].length()) * std::stod((*m)[2]), 900) << title;  // measured 857
      EXPECT_GE(std::stod((*m)[2]), title.size() <= 120 ? 10.0 : 7.0) << title;
      EXPECT_LT(std::stoi((*m)[1]), 30) << "in the plot";
    }
    EXPECT_EQ(shown, title);
  }
}

}  // namespace
}  // namespace hinge::test::plot_test
