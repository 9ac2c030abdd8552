// Claims about `hinge reproduce`: every figure of the papers is there and shows what it must; what does not is said and
// is exit status 1; a figure is what its file says, and a file that is wrong is answered.
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace hinge::test::reproduce_test {
namespace {

using Json = nlohmann::json;

const char* const decay = R"toml(
[dae]
unknowns = ["x"]
equations = ["x' = -x"]
[initial]
unknowns = { x = 1 }
[exact]
unknowns = { x = "exp(-t)" }
[integrate]
method = "bdf"
order = 1
step = 0.1
end = 1
)toml";

// A paper of one figure.
std::string paper_with(const Folder& folder, const std::string& figures) {
  std::filesystem::create_directories(folder.file("papers/mine"));
  folder.write("papers/mine/decay.toml", decay);
  folder.write("papers/mine/figures.toml", "paper = \"Mine\"\n" + figures);
  return folder.file("papers");
}

std::string figure_with(const std::string& claim) {
  return R"toml(
[[figure]]
id = "mine/1"
title = "Order of BDF 1"
model = "decay.toml"
vary = { "integrate.step" = [0.02, 0.01, 0.005] }
y = "error(y)"
log = "xy"
curve = [{ name = "BDF 1" }]
claim = [)toml" +
         claim + "]\n";
}

class ReproducePaper : public testing::TestWithParam<const char*> {};

TEST_P(ReproducePaper, FiguresShowWhatTheyMust) {
  const Folder folder;
  const Answer answer = hinge(folder, {"reproduce", GetParam(), "--papers", HINGE_PAPERS, "--check", "--json"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  int claims = 0;
  for (const Json& figure : Json::parse(answer.out))
    for (const Json& claim : figure["claims"]) {
      ++claims;
      EXPECT_TRUE(claim["holds"].get<bool>()) << figure["id"] << ": " << claim["text"];
    }
  EXPECT_GE(claims, 13);
}
INSTANTIATE_TEST_SUITE_P(Papers, ReproducePaper, testing::Values("euler", "spark", "energy", "odae", "survey"));

TEST(Reproduce, StopsWithinARunAndDoesNotJudgeIt) {
  const Folder folder;
  const std::string papers = paper_with(folder, R"toml(
[[figure]]
id = "mine/1"
title = "Without an end"
model = "decay.toml"
set = { "integrate.end" = 1e9 }
y = "final(x)"
cases = [{ name = "long" }]
curve = [{ name = "x" }]
claim = [{ measure = "last", above = 1 }]
)toml");
  Program program(folder, {"reproduce", "--papers", papers, "--out", folder.file("out")});
  for (int k = 0; k < 2000 && !folder.has("out"); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.send(SIGINT);
  const Answer answer = program.wait();
  EXPECT_EQ(answer.status, 130) << answer.err;
  EXPECT_EQ(answer.out.find("FAIL"), std::string::npos) << answer.out;
  EXPECT_FALSE(folder.has("out/mine-1.csv"));
}

TEST(Reproduce, EveryFigureOfThePapersIsThere) {
  const Folder folder;
  const Answer answer = hinge(folder, {"reproduce", "--papers", HINGE_PAPERS, "--list", "--json"});
  ASSERT_EQ(answer.status, 0) << answer.err;
  std::set<std::string> found, slow;
  for (const Json& figure : Json::parse(answer.out)) {
    found.insert(figure["id"]);
    if (figure["slow"]) slow.insert(figure["id"]);
    EXPECT_FALSE(figure["shows"].get<std::string>().empty()) << figure["id"];
  }
  EXPECT_EQ(found, (std::set<std::string>{"euler/4.1",    "euler/4.2",     "euler/4.3", "euler/4.4", "spark/6.1",
                                          "spark/6.2",    "spark/6.3",     "energy/2",  "energy/3",  "energy/4",
                                          "energy/5",     "energy/6",      "energy/7",  "energy/8",  "energy/10",
                                          "energy/11",    "energy/12",     "energy/13", "energy/14", "energy/15",
                                          "energy/16",    "odae/lemmas",   "survey/1",  "survey/3",  "survey/vdp",
                                          "survey/6",     "survey/stokes", "survey/8",  "survey/10", "survey/painleve",
                                          "survey/cradle"}));
  EXPECT_EQ(slow, std::set<std::string>{"survey/10"});
}

TEST(Reproduce, WritesFiguresNumbersAndOnePageWithoutLinksToElsewhere) {
  const Folder folder;
  const Answer answer =
      hinge(folder, {"reproduce", "euler/4.1", "energy/8", "--papers", HINGE_PAPERS, "--out", folder.file("out")});
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(answer.out.find("2 of 2 figures show what they must"), std::string::npos) << answer.out;
  const std::string page = folder.read("out/index.html");
  for (const char* word : {"euler/4.1", "energy/8", "prefers-color-scheme:dark", "<svg", "not reproduced",
                           "paper: 2.6064e-10", "holds", "class=\"mark\"", "class=\"slope\""})
    EXPECT_NE(page.find(word), std::string::npos) << word;
  for (const char* word : {"http://", "https://", "<script", "nan"})
    for (std::size_t at = page.find(word); at != std::string::npos; at = page.find(word, at + 1))
      EXPECT_EQ(page.substr(at, 26), "http://www.w3.org/2000/svg") << "only the name of the language";
  EXPECT_TRUE(folder.has("out/euler-4.1.svg"));
  EXPECT_TRUE(folder.has("out/energy-8.csv"));
  EXPECT_FALSE(folder.has("out/energy-8.svg")) << "a table is no picture";
  EXPECT_EQ(folder.read("out/euler-4.1.csv").rfind("curve,x,y\n\"true\",0.1,3.82352", 0), 0U);
}

TEST(Reproduce, AClaimThatFailsIsSaidAndIsStatusOneWithCheck) {
  const Folder folder;
  const std::string papers = paper_with(
      folder,
      figure_with(R"({ measure = "slope", is = 1, within = 0.02 }, { measure = "slope", is = 2, within = 0.02 })"));
  const Answer lenient = hinge(folder, {"reproduce", "--papers", papers});
  EXPECT_EQ(lenient.status, 0) << lenient.err;
  EXPECT_NE(lenient.out.find("holds slope of BDF 1"), std::string::npos) << lenient.out;
  EXPECT_NE(lenient.out.find("FAILS slope of BDF 1"), std::string::npos);
  const Answer strict = hinge(folder, {"reproduce", "--papers", papers, "--check", "--out", folder.file("out")});
  EXPECT_EQ(strict.status, 1);
  EXPECT_NE(folder.read("out/index.html").find("1 of 2 claims hold"), std::string::npos);
}

TEST(Reproduce, ARunThatStopsFailsItsClaims) {
  const Folder folder;
  const std::string papers = paper_with(folder, figure_with(R"({ measure = "size", below = 1e300 })"));
  std::string blowing = decay;  // x' = x^2 has no solution beyond t = 1
  blowing.replace(blowing.find("-x\"]"), 2, "x^2");
  blowing.replace(blowing.find("end = 1"), 7, "end = 3");
  folder.write("papers/mine/decay.toml", blowing);
  const Answer answer = hinge(folder, {"reproduce", "--papers", papers, "--check"});
  EXPECT_EQ(answer.status, 1) << answer.out << answer.err;
  EXPECT_NE(answer.out.find("     run: "), std::string::npos) << "why it stopped: " << answer.out;
}

TEST(Reproduce, WrongInputIsAnswered) {
  const Folder folder;
  const std::string good = R"({ measure = "slope", is = 1, within = 0.02 })";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string figure = figure_with(good);
    figure.replace(figure.find(from), from.size(), to);
    return figure;
  };
  const std::pair<std::string, const char*> wrong[] = {
      {changed("title =", "titel ="), "did you mean 'title'?"},
      {changed("\"decay.toml\"", "\"none.toml\""), "none.toml"},
      {changed("error(y)", "error(w)"), "say y, z or psi"},
      {changed("error(y)", "constrant"), "did you mean 'constraint'?"},
      {changed("\"slope\"", "\"slop\""), "did you mean 'slope'?"},
      {changed("measure =", "of = \"BDF 2\", measure ="), "did you mean 'BDF 1'?"},
      {changed("is = 1, within = 0.02", "paper = 1"), "needs is, below or above"},
      {changed("[0.02, 0.01, 0.005]", "\"small\""), "list of numbers"},
      {changed("id = \"mine/1\"", ""), "needs an id"},
      {"[[figure]\n", "figures.toml:2"},
  };
  for (const auto& [text, word] : wrong) {
    const Answer answer = hinge(folder, {"reproduce", "--papers", paper_with(folder, text)});
    EXPECT_EQ(answer.status, 2) << word << answer.out;
    EXPECT_NE(answer.err.find(word), std::string::npos) << answer.err;
  }
  const std::string papers = paper_with(folder, figure_with(good));
  const Answer unknown = hinge(folder, {"reproduce", "mine/2", "--papers", papers});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("did you mean 'mine/1'?"), std::string::npos) << unknown.err;
  EXPECT_EQ(hinge(folder, {"reproduce", "--papers", folder.file("nowhere")}).status, 2);
}

}  // namespace
}  // namespace hinge::test::reproduce_test
