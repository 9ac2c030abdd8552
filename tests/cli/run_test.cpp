// Claims about `hinge run`, `check` and `methods`: the JSON object, the table, what is recorded, and what a run that
// fails leaves behind.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "hinge/hinge.hpp"
#include "places.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::test::run_test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

Answer run(const Folder& folder, const std::string& model, const Words& options = {}) {
  Words arguments{"run", folder.write("m.toml", model)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return hinge(folder, arguments);
}

Json run_json(const std::string& model, Words options = {}, int status = 0) {
  const Folder folder;
  options.push_back("--json");
  const Answer answer = run(folder, model, options);
  EXPECT_EQ(answer.status, status) << answer.err;
  EXPECT_EQ(status == 0, answer.err.empty()) << answer.err;
  return Json::parse(answer.out);  // throws unless standard output is exactly one JSON value
}

/// Times of all rows in the CSV file that this run writes.
std::vector<double> recorded_times(const std::string& model, Words options = {}) {
  const Folder folder;
  options.insert(options.end(), {"--quiet", "--out", folder.file("out.csv")});
  const Answer answer = run(folder, model, options);
  EXPECT_EQ(answer.status, 0) << answer.err;
  const Trajectory trajectory = read_record(folder.file("out.csv"));
  EXPECT_EQ(trajectory.status, "finished");
  std::vector<double> times;
  for (std::size_t k = 0; k < trajectory.rows(); ++k)
    times.push_back(trajectory.values[k * trajectory.header.columns.size()]);
  return times;
}

void expect_times(const std::vector<double>& times, const std::vector<double>& expected) {
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(times[k], expected[k], 1e-15) << k;
}

TEST(Run, JsonHasEveryPromisedKey) {
  const Json j = run_json(pendulum);
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j["title"], "Pendulum");
  EXPECT_EQ(j["method"]["name"], "gauss-lobatto");
  EXPECT_EQ(j["method"]["order"], 4);
  EXPECT_EQ(j["time"]["start"], 0.0);
  EXPECT_EQ(j["time"]["end"], 0.05);
  EXPECT_EQ(j["time"]["steps"], 5);
  EXPECT_EQ(j["time"]["rejected"], 0);
  EXPECT_EQ(j["final"]["t"], 0.05);
  for (const char* key : {"position", "velocity", "momentum"}) {
    ASSERT_TRUE(j["final"][key]["q"].is_array()) << key;
    EXPECT_EQ(j["final"][key]["q"].size(), 2U);
  }
  EXPECT_EQ(j["final"]["multiplier"].size(), 1U);
  for (const char* key : {"constraint", "hidden_constraint", "energy_error"}) {
    ASSERT_TRUE(j["diagnostics"][key].is_number_float()) << key;
  }
  EXPECT_LT(j["diagnostics"]["energy_error"], 1e-7);        // measured 3.6e-9
  EXPECT_LT(j["diagnostics"]["constraint"], 1e-14);         // measured 5.6e-17
  EXPECT_LT(j["diagnostics"]["hidden_constraint"], 1e-14);  // measured 0
  EXPECT_TRUE(j["diagnostics"]["newton_iterations"].is_number_integer());
  EXPECT_TRUE(j["diagnostics"]["evaluations"].is_number_integer());
  EXPECT_GT(j["diagnostics"]["evaluations"], 0);
  EXPECT_TRUE(j["wall_seconds"].is_number());
  EXPECT_EQ(j["status"], "finished");
  EXPECT_FALSE(j["final"].contains("y"));
  // p = m v, quantities are expressions of the final state
  EXPECT_NEAR(j["final"]["momentum"]["q"][1], 2.0 * j["final"]["velocity"]["q"][1].get<double>(), 1e-15);
  EXPECT_EQ(j["final"]["quantities"]["height"], j["final"]["position"]["q"][1]);
}

TEST(Run, JsonSpeaksTheWordsOfTheSystem) {
  const Json h = run_json(rotor);
  EXPECT_TRUE(h["final"]["position"].contains("q"));
  EXPECT_TRUE(h["final"]["velocity"].contains("q"));
  EXPECT_TRUE(h["final"]["momentum"].contains("p"));
  EXPECT_FALSE(h["final"]["momentum"].contains("q"));
  EXPECT_TRUE(h["diagnostics"].contains("energy_error"));
  EXPECT_FALSE(h["final"].contains("quantities"));

  const Json m = run_json(mechanism);
  EXPECT_FALSE(m["diagnostics"].contains("energy_error"));
  EXPECT_NEAR(m["final"]["momentum"]["x"][0], 2.0 * m["final"]["velocity"]["x"][0].get<double>(), 1e-15);

  const Json o = run_json(odae);
  EXPECT_FALSE(o["diagnostics"].contains("energy_error"));
  EXPECT_EQ(o["final"]["y"]["a"].size(), 2U);
  EXPECT_EQ(o["final"]["z"]["b"].size(), 2U);
  EXPECT_FALSE(o["final"].contains("position"));
  EXPECT_FALSE(o["final"].contains("momentum"));
  EXPECT_EQ(o["final"]["multiplier"].size(), 1U);
}

TEST(Run, JsonNestsArraysOfVectors) {
  const Json j =
      run_json(chain + "[output]\nquantities = { tip = \"q[N-1]\", ends = \"[dot(q[0],q[0]), 1]\", all = \"2*q\" }\n");
  ASSERT_EQ(j["final"]["position"]["q"].size(), 4U);
  for (const Json& point : j["final"]["position"]["q"]) EXPECT_EQ(point.size(), 3U);
  EXPECT_EQ(j["final"]["quantities"]["tip"], j["final"]["position"]["q"][3]);
  EXPECT_EQ(j["final"]["quantities"]["ends"][1], 1.0);
  EXPECT_EQ(j["final"]["quantities"]["all"][2].size(), 3U);
  const Json scalar = run_json(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\n[initial]\nposition = { x = 1 }\n"
      "[integrate]\nstep = 0.1\nend = 1\n");
  EXPECT_EQ(scalar["final"]["position"]["x"], 1.0);
  EXPECT_EQ(scalar["final"]["multiplier"], Json::array());
  EXPECT_EQ(scalar["title"], "m");  // the file's name
}

TEST(Run, QuantitiesWithoutAValueAreNullInJson) {
  const Json j = run_json(with(pendulum, "\"q[1]\" }", "\"log(q[1])\" }"));
  EXPECT_TRUE(j["final"]["quantities"]["height"].is_null());
}

TEST(Run, SettingsOverrideAnyKey) {
  const double weight = run_json(pendulum)["final"]["multiplier"][0];
  EXPECT_NEAR(run_json(pendulum, {"--set", "parameters.m=4"})["final"]["multiplier"][0], 2 * weight, 1e-12);
  EXPECT_NEAR(run_json(pendulum, {"--set", "parameters.m=2*2"})["final"]["multiplier"][0], 2 * weight, 1e-12);
  EXPECT_EQ(run_json(pendulum, {"--set", "title=Other words"})["title"], "Other words");
  EXPECT_EQ(run_json(pendulum, {"--set", "title=\"Quoted\""})["title"], "Quoted");
  EXPECT_EQ(run_json(pendulum, {"--set", "integrate.stages=3"})["method"]["order"], 6);
  EXPECT_EQ(run_json(pendulum, {"--set", "integrate.step=0.025", "--set", "integrate.end=0.1"})["time"]["steps"], 4);
  EXPECT_EQ(run_json(pendulum, {"--set", "initial.position.q=[0, -1]"})["final"]["position"]["q"], (Json{0.0, -1.0}));
  EXPECT_EQ(run_json(pendulum, {"--set", "initial.velocity={ q = [0, 1] }", "--end", "0"})["final"]["velocity"]["q"],
            (Json{0.0, 1.0}));
  EXPECT_EQ(run_json(pendulum, {"--set", "output.quantities.width=q[0]", "--end", "0"})["final"]["quantities"]["width"],
            1.0);
  EXPECT_EQ(run_json(pendulum, {"--set", "lagrangian.potential=\"0\""})["final"]["position"]["q"], (Json{1.0, 0.0}));
  // a parameter that only another setting uses
  EXPECT_EQ(run_json(pendulum,
                     {"--set", "parameters.k=3", "--set", "output.quantities.three=k"})["final"]["quantities"]["three"],
            3.0);
  // the last one wins
  EXPECT_EQ(run_json(pendulum, {"--step", "0.01", "--set", "integrate.step=0.025"})["time"]["steps"], 5);
}

TEST(Run, MethodOnTheCommandLineLeavesOptionsOfTheOldOneBehind) {
  const Json j = run_json(with(pendulum, "step =", "stages = 3\nstep ="), {"--method", "rattle"});
  EXPECT_EQ(j["method"]["name"], "rattle");
  EXPECT_EQ(j["method"]["order"], 2);
  const Json back = run_json(with(pendulum, "\"gauss-lobatto\"", "\"rattle\""),
                             {"--method", "gauss-lobatto", "--set", "integrate.stages=1"});
  EXPECT_EQ(back["method"]["order"], 2);
  EXPECT_EQ(back["method"]["name"], "gauss-lobatto");
}

TEST(Run, JsonTellsWhatATableauOfOnesOwnIs) {
  const std::string own = with(pendulum, "\"gauss-lobatto\"", "\"spark\"") +
                          "[integrate.tableau]\na = [[\"1/2\"]]\nb = [1]\nabar = [[0], [1]]\nbtilde = [0.5, 0.5]\n";
  const Json j = run_json(own);
  EXPECT_EQ(j["method"]["name"], "spark");
  EXPECT_TRUE(j["method"]["order"].is_null());
  EXPECT_EQ(j["method"]["description"], "spark, 1 stage, order not stated, symplectic, symmetric");
  EXPECT_EQ(j["method"]["facts"][1], "symplecticity: (4.1a), (4.1b), (4.1c) hold");
  EXPECT_EQ(run_json(own, {"--set", "integrate.tableau.order=2"})["method"]["order"], 2);
  const Json euler =
      run_json(own, {"--set", "integrate.tableau.a=[[0]]", "--set", "integrate.tableau.violates=[\"(3.3c)\"]"});
  EXPECT_EQ(euler["method"]["description"], "spark, 1 stage, order not stated, symplectic, not symmetric");
  EXPECT_FALSE(run_json(pendulum)["method"].contains("facts"));
  EXPECT_EQ(run_json(own, {"--method", "rattle"})["method"]["name"], "rattle");
}

TEST(Run, LastStepIsFittedToTheEnd) {
  const auto steps = [](const std::string& step, const std::string& end) {
    const Json j = run_json(pendulum, {"--step", step, "--end", end});
    EXPECT_EQ(j["final"]["t"].get<double>(), std::stod(end));
    EXPECT_EQ(j["time"]["end"].get<double>(), std::stod(end));
    EXPECT_LT(j["diagnostics"]["constraint"], 1e-14);
    return j["time"]["steps"].get<int>();
  };
  EXPECT_EQ(steps("0.01", "0.1"), 10);
  EXPECT_EQ(steps("0.1", "0.3"), 3);  // 0.1 + 0.1 + 0.1 is not 0.3
  EXPECT_EQ(steps("0.03", "0.1"), 4);
  EXPECT_EQ(steps("0.2", "0.1"), 1);
  EXPECT_EQ(steps("0.01", "0.0100001"), 2);
  EXPECT_EQ(steps("0.01", "0"), 0);
  // the fitted step is a true step: the same place as with steps that divide the time
  const Json whole = run_json(pendulum, {"--step", "0.0001", "--end", "0.05"});
  const Json fitted = run_json(pendulum, {"--step", "0.003", "--end", "0.05"});
  EXPECT_NEAR(whole["final"]["position"]["q"][1], fitted["final"]["position"]["q"][1], 1e-9);  // measured 1.2e-12
  const Json later = run_json(with(pendulum, "end = 0.05", "start = 2\nend = 2.05"));
  EXPECT_EQ(later["time"]["start"], 2.0);
  EXPECT_EQ(later["final"]["t"], 2.05);
  EXPECT_EQ(later["time"]["steps"], 5);
}

TEST(Run, RecordsFirstAndLastRowAndThoseAskedFor) {
  expect_times(recorded_times(pendulum), {0, 0.01, 0.02, 0.03, 0.04, 0.05});
  const std::string every = with(pendulum, "[output]", "[output]\nevery = 3");
  expect_times(recorded_times(every, {"--end", "0.1"}), {0, 0.03, 0.06, 0.09, 0.1});
  expect_times(recorded_times(every, {"--end", "0.06"}), {0, 0.03, 0.06});
  expect_times(recorded_times(every, {"--end", "0"}), {0});
  const std::string interval = with(pendulum, "[output]", "[output]\ninterval = 0.025");
  expect_times(recorded_times(interval, {"--end", "0.1"}), {0, 0.03, 0.05, 0.08, 0.1});
  expect_times(recorded_times(interval, {"--end", "0.06"}), {0, 0.03, 0.05, 0.06});
  const std::string dense = with(pendulum, "[output]", "[output]\ninterval = 0.001");
  expect_times(recorded_times(dense, {"--end", "0.03"}), {0, 0.01, 0.02, 0.03});
  const std::string tenth = with(pendulum, "[output]", "[output]\ninterval = 0.1");
  EXPECT_EQ(recorded_times(tenth, {"--end", "10"}).size(), 101U);
  const std::string later =
      with(with(pendulum, "[output]", "[output]\ninterval = 0.02"), "end = 0.05", "start = 7\nend = 7.05");
  expect_times(recorded_times(later), {7, 7.02, 7.04, 7.05});
}

TEST(Run, RecordedFileSaysWhatItHolds) {
  for (const std::string ending : {"csv", "h5"}) {
    if (ending == "h5" && !hdf5_available()) continue;
    const Folder folder;
    const std::string file = folder.file("out." + ending);
    const std::string text =
        with(chain, "N = 4", "N = 2") + "[output]\nquantities = { tip = \"q[1]\", height = \"q[1][2]\" }\n";
    const Answer answer = run(folder, text, {"--out", file, "--json"});
    ASSERT_EQ(answer.status, 0) << answer.err;
    const Json j = Json::parse(answer.out);
    EXPECT_EQ(j["output"]["rows"], 6);
    const Trajectory trajectory = read_record(file);
    EXPECT_EQ(trajectory.status, "finished");
    EXPECT_EQ(trajectory.header.model, text);
    EXPECT_EQ(trajectory.header.columns,
              (Words{"t",        "q[0][0]",  "q[0][1]",  "q[0][2]",  "q[1][0]",  "q[1][1]",  "q[1][2]",
                     "q'[0][0]", "q'[0][1]", "q'[0][2]", "q'[1][0]", "q'[1][1]", "q'[1][2]", "psi[0]",
                     "psi[1]",   "energy",   "tip[0]",   "tip[1]",   "tip[2]",   "height"}));
    ASSERT_EQ(trajectory.rows(), 6U);
    const std::size_t last = 5 * trajectory.header.columns.size();
    EXPECT_EQ(trajectory.values[last], 0.05);
    EXPECT_EQ(trajectory.values[last + 6], j["final"]["position"]["q"][1][2].get<double>());
    EXPECT_EQ(trajectory.values[last + 19], j["final"]["quantities"]["height"].get<double>());
  }
}

TEST(Run, CoordinatesMayHaveTheNamesOfOtherColumns) {
  const Folder folder;
  std::string text = with(pendulum, "\"q[2]\"", "\"q[2]\", \"psi\", \"energy\"");
  text = with(text, "dot(q',q')", "(dot(q',q') + psi'^2 + energy'^2)");
  text = with(text, "{ q = [1, 0] }", "{ q = [1, 0], psi = 0, energy = 0 }");
  ASSERT_EQ(run(folder, text, {"--quiet", "--out", folder.file("out.csv")}).status, 0);
  Words columns = read_record(folder.file("out.csv")).header.columns;
  std::sort(columns.begin(), columns.end());
  EXPECT_EQ(std::adjacent_find(columns.begin(), columns.end()), columns.end());
}

TEST(Run, OutputFileMayStandInTheModel) {
  const Folder folder;
  const std::string file = folder.file("from_model.csv");
  EXPECT_EQ(run(folder, with(pendulum, "[output]", "[output]\nfile = \"" + file + "\""), {"--quiet"}).status, 0);
  EXPECT_EQ(read_record(file).rows(), 6U);
}

TEST(Run, QuietPrintsNothing) {
  const Folder folder;
  const Answer answer = run(folder, pendulum, {"--quiet"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, "");
}

TEST(Run, TableTellsStatePreservationAndCost) {
  const Folder folder;
  const Answer answer = run(folder, pendulum, {"--out", folder.file("out.csv")});
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.err, "");
  for (const std::string part :
       {"Pendulum\n", "gauss-lobatto, 2 stages, order 4", "step 0.01", "t = 0 to 0.05", "Final state", "position",
        "velocity", "multiplier", "height", "Constraints, energy and momenta (largest deviation over all steps)", "|g|",
        "|g_t + G v|", "|H - H0|", "Cost", "5 steps", "Newton iterations", "6 rows recorded in"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << part << " is not in\n" << answer.out;
  EXPECT_EQ(answer.out.find("nan"), std::string::npos);
  const Answer momenta = run(folder, rotor);
  EXPECT_NE(momenta.out.find("momentum"), std::string::npos);
  const Answer own = run(folder, odae);
  EXPECT_EQ(own.out.find("|H - H0|"), std::string::npos);
  EXPECT_NE(own.out.find("psi"), std::string::npos);
}

TEST(Run, ErrorAgainstTheExactSolutionIsReported) {
  const std::string known =
      with(pendulum, "[integrate]", "[exact]\nposition = { q = [0, -1] }\nvelocity = { q = [0, 0] }\n[integrate]");
  const Json j = run_json(with(known, "{ q = [1, 0] }", "{ q = [0, -1] }"));  // it hangs
  EXPECT_EQ(j["diagnostics"]["exact_error"], (Json{{"y", 0.0}, {"z", 0.0}}));
  EXPECT_NEAR(run_json(known, {"--end", "0"})["diagnostics"]["exact_error"]["y"], std::sqrt(2.0), 1e-15);
  EXPECT_FALSE(run_json(pendulum)["diagnostics"].contains("exact_error"));
  // where the solution is not defined nothing is said
  const std::string beyond = with(known, "[0, -1] }", "[\"log(-t)\", -1] }");
  EXPECT_EQ(run_json(beyond)["diagnostics"]["exact_error"].count("y"), 0U);
  const Folder folder;
  const Answer table = run(folder, known);
  EXPECT_NE(table.out.find("Error at t = 0.05 against the exact solution\n  position"), std::string::npos) << table.out;
  EXPECT_EQ(run(folder, pendulum).out.find("exact solution"), std::string::npos);
}

TEST(Run, ProjectUsesTheNearestConsistentValues) {
  const std::string text = with(with(pendulum, "[1, 0]", "[2, 0]"), "[integrate]",
                                "velocity = { q = [1, 1] }\nconsistent = \"project\"\n[integrate]");
  const Json j = run_json(text, {"--end", "0"});
  EXPECT_NEAR(j["final"]["position"]["q"][0], 1.0, 1e-15);
  EXPECT_NEAR(j["final"]["velocity"]["q"][0], 0.0, 1e-15);
  EXPECT_NEAR(j["final"]["velocity"]["q"][1], 1.0, 1e-15);
  EXPECT_LT(run_json(text)["diagnostics"]["hidden_constraint"], 1e-14);
}

// What a run leaves behind that cannot be finished.
void expect_failure(const std::string& text, const std::string& reason, double about) {
  const Folder folder;
  const Answer answer = run(folder, text, {"--json", "--out", folder.file("out.csv")});
  EXPECT_EQ(answer.status, 1) << answer.err;
  EXPECT_NE(answer.err.find(reason), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("are complete and recorded in"), std::string::npos) << answer.err;
  EXPECT_EQ(answer.out.find("null"), std::string::npos) << answer.out;
  EXPECT_EQ(answer.out.find("nan"), std::string::npos) << answer.out;
  const Json j = Json::parse(answer.out);
  EXPECT_EQ(j["status"], "failed");
  EXPECT_NE(j["message"].get<std::string>().find(reason), std::string::npos);
  const double t = j["final"]["t"];
  EXPECT_NEAR(t, about, 0.1);
  const Trajectory trajectory = read_record(folder.file("out.csv"));
  EXPECT_EQ(trajectory.status.rfind("failed: ", 0), 0U) << trajectory.status;
  EXPECT_EQ(trajectory.rows(), j["time"]["steps"].get<std::size_t>() + 1);  // all complete steps, and the start
  EXPECT_TRUE(
      std::all_of(trajectory.values.begin(), trajectory.values.end(), [](double x) { return std::isfinite(x); }));
  EXPECT_EQ(trajectory.values[(trajectory.rows() - 1) * trajectory.header.columns.size()], t);
  const Answer table = run(folder, text);
  EXPECT_EQ(table.status, 1);
  EXPECT_NE(table.out.find("Final state"), std::string::npos);
  EXPECT_NE(table.err.find("--out FILE.csv keeps them"), std::string::npos) << table.err;
}

const std::string flight = R"toml([lagrangian]
coordinates = ["x"]
kinetic = "x'^2/2"
force = { x = "0.001*sqrt(1 - x)" }
[initial]
position = { x = 0 }
velocity = { x = 1 }
[integrate]
step = 0.01
end = 3
)toml";

TEST(Run, FailureOfAForceKeepsWhatWasComputed) { expect_failure(flight, "in the step from t = 1 ", 1.0); }

TEST(Run, FailureOfTheEnergyKeepsWhatWasComputed) {
  expect_failure(with(flight, "force = { x = \"0.001*sqrt(1 - x)\" }", "potential = \"1e-9*log(1 - x)\""), "t = ", 1.0);
}

TEST(Run, LoopThatLocksKeepsWhatWasComputed) {
  // a slider that is pulled by a rod of length 1 from a crank of length 1, at a prescribed speed: at t = 2 it is
  // stretched
  const std::string stretched = R"toml([lagrangian]
coordinates = ["a[2]"]
kinetic = "dot(a',a')/2"
constraints = ["(dot(a,a) - 1)/2", "((a[0] - t)^2 + a[1]^2 - 1)/2"]
[initial]
position = { a = ["1/2", "sqrt(3)/2"] }
velocity = { a = ["1/2", "-1/(2*sqrt(3))"] }
[integrate]
start = 1
step = 0.01
end = 3
)toml";
  expect_failure(stretched, "t = ", 2.0);
}

TEST(Program, VersionAndHelpAreAnswered) {
  const Folder folder;
  const Answer version = hinge(folder, {"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("hinge " + ::hinge::version(), 0), 0U) << version.out;
  for (const Words& arguments : {Words{"--help"}, Words{"run", "--help"}, Words{"check", "--help"},
                                 Words{"convergence", "--help"}, Words{"methods", "--help"}}) {
    const Answer answer = hinge(folder, arguments);
    EXPECT_EQ(answer.status, 0);
    EXPECT_EQ(answer.err, "");
    EXPECT_NE(answer.out.find("xample"), std::string::npos) << answer.out;
  }
  const std::string help = hinge(folder, {"run", "--help"}).out;
  for (const std::string option : {"--set", "--method", "--step", "--end", "--out", "--json", "--quiet"})
    EXPECT_NE(help.find(option), std::string::npos) << option;
  EXPECT_NE(help.find("hinge run examples/pendulum.toml"), std::string::npos);
}

// The model in `hinge --help` runs as it stands.
TEST(Program, ModelInTheHelpRuns) {
  const Folder folder;
  const std::string help = hinge(folder, {"--help"}).out;
  const auto begin = help.find("  [lagrangian]");
  ASSERT_NE(begin, std::string::npos);
  const auto end = help.find('\n', help.find("end = "));
  EXPECT_EQ(run(folder, help.substr(begin, end - begin), {"--quiet"}).status, 0);
}

TEST(Methods, ListHasEveryMethod) {
  const Folder folder;
  const Answer text = hinge(folder, {"methods"});
  const Answer json = hinge(folder, {"methods", "--json"});
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(json.status, 0);
  const Json list = Json::parse(json.out);
  ASSERT_EQ(list.size(), methods().size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    const MethodInfo info = methods()[k];
    EXPECT_EQ(list[k]["name"], info.name);
    EXPECT_EQ(list[k]["order"], info.order);
    EXPECT_EQ(list[k]["preserves"]["symplectic"], info.preserves.symplectic);
    EXPECT_EQ(list[k]["options"].size(), info.options.size());
    EXPECT_FALSE(list[k]["reference"].get<std::string>().empty());
    for (const std::string& part : {info.name + "\n", info.summary, info.reference})
      EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
}

TEST(Check, TellsStructureWithoutIntegrating) {
  const Folder folder;
  const Answer answer = hinge(folder, {"check", folder.write("m.toml", pendulum), "--set", "parameters.m=1"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  for (const std::string part : {"Lagrangian", "2 coordinates", "1 constraint\n", "rank of G", "1 of 1",
                                 "degrees of freedom", "index", "3 as written", "consistent", "gauss-lobatto"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << part << " is not in\n" << answer.out;
  EXPECT_EQ(hinge(folder, {"check", folder.write("m.toml", with(pendulum, "[1, 0]", "[1, 1]"))}).status, 2);
  EXPECT_EQ(hinge(folder, {"check", folder.write("m.toml", with(pendulum, "9.81*m", "log(-q[0])*m"))}).status, 2);
  for (const std::string& text : {chain, rotor, mechanism, odae})
    EXPECT_EQ(hinge(folder, {"check", folder.write("m.toml", text)}).status, 0);
}

TEST(Run, TimesAreRecordedWithTheFirstAndTheLastState) {
  const Folder folder;
  const std::string file = folder.file("t.csv");
  const Answer a = hinge(folder, {"run", folder.write("m.toml", pendulum), "--set", "output.times=[0.25, 0.5]", "--end",
                                  "1", "--method", "explicit", "--tolerance", "1e-8", "--out", file});
  ASSERT_EQ(a.status, 0) << a.err;
  std::ifstream in(file);
  std::string line, times;
  while (std::getline(in, line))
    if (!line.empty() && line[0] != '#' && line[0] != 't') times += line.substr(0, line.find(',')) + " ";
  EXPECT_EQ(times, "0 0.25 0.5 1 ");
}

TEST(Examples, CheckAndRunCleanly) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HINGE_EXAMPLES)) {
    if (entry.path().extension() != ".toml") continue;
    ++seen;
    const std::string path = entry.path().string();
    SCOPED_TRACE(path);
    const Folder folder;
    const Answer check = hinge(folder, {"check", path});
    EXPECT_EQ(check.status, 0) << check.err;
    const Model model = load_model(path);
    const double end = std::min(model.end, model.simulation.start + 20 * model.simulation.step);
    const Answer answer = hinge(folder, {"run", path, "--json", "--end", std::to_string(end)});
    ASSERT_EQ(answer.status, 0) << answer.err;
    const Json j = Json::parse(answer.out);
    EXPECT_LT(j["diagnostics"]["constraint"], 1e-13);
    EXPECT_LT(j["diagnostics"]["hidden_constraint"], 1e-12);
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace hinge::test::run_test
