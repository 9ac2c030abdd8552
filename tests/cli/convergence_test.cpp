// Claims about `hinge convergence`: tables, JSON and CSV, each kind of reference, wrong input, runs that fail.
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "places.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::test::convergence_test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string known = HINGE_EXAMPLES "/known-solution.toml";

Answer study(const Folder& folder, const std::string& model, const Words& options = {}) {
  Words arguments{"convergence", model};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return hinge(folder, arguments);
}

Json study_json(const std::string& model, Words options = {}, int status = 0) {
  const Folder folder;
  options.push_back("--json");
  const Answer answer = study(folder, model, options);
  EXPECT_EQ(answer.status, status) << answer.err;
  EXPECT_EQ(status == 0, answer.err.empty()) << answer.err;
  EXPECT_EQ(answer.out.find("null"), std::string::npos) << answer.out;
  return Json::parse(answer.out);
}

void expect_parts(const std::string& text, const Words& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in\n" << text;
}

/// Status 2, one message with these parts, and no file.
void refuses(const Words& options, const Words& parts, const std::string& text = pendulum) {
  const Folder folder;
  Words all = options;
  all.insert(all.end(), {"--csv", folder.file("orders.csv")});
  const Answer answer = study(folder, folder.write("m.toml", text), all);
  EXPECT_EQ(answer.status, 2) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err.rfind("hinge: ", 0), 0U) << answer.err;
  EXPECT_LT(answer.err.size(), 1000U);
  expect_parts(answer.err, parts);
  EXPECT_FALSE(folder.has("orders.csv"));
}

TEST(ConvergenceCommand, TableShowsErrorsOrdersAndWork) {
  const Folder folder;
  const Answer answer = study(folder, known);
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.err, "");
  expect_parts(answer.out, {"Known solution\n", "Errors at t = 1 against the exact solution", "gauss-lobatto, order 4",
                            "multipliers 2", "step", "order", "psi", "iterations", "evaluations", "seconds", "0.0125",
                            "        80", "fitted", "4 points", "4.00"});
  for (const std::string never : {"nan", "inf", "note", "failed", "*"})
    EXPECT_EQ(answer.out.find(never), std::string::npos) << never << " in\n" << answer.out;
  const Answer words = study(folder, folder.write("m.toml", pendulum));
  expect_parts(words.out,
               {"Pendulum\n", "position", "velocity", "multiplier", "gauss-lobatto(stages=6), step 0.000625"});
  expect_parts(study(folder, folder.write("m.toml", rotor)).out, {"position", "momentum"});
  const Answer quiet = study(folder, known, {"--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST(ConvergenceCommand, JsonHasEveryRun) {
  const Json j =
      study_json(known, {"--methods", "gauss-lobatto(stages=1), gauss-lobatto(stages=3)", "--steps", "0.1,0.05,0.025"});
  EXPECT_EQ(j["title"], "Known solution");
  EXPECT_EQ(j["status"], "finished");
  EXPECT_EQ(j["time"], (Json{{"start", 0.0}, {"end", 1.0}}));
  EXPECT_EQ(j["reference"]["kind"], "exact");
  ASSERT_EQ(j["methods"].size(), 2U);
  for (const int s : {1, 3}) {
    const Json& m = j["methods"][s == 1 ? 0 : 1];
    EXPECT_EQ(m["name"], "gauss-lobatto(stages=" + std::to_string(s) + ")");
    EXPECT_EQ(m["order"], 2 * s);
    EXPECT_EQ(m["multiplier_order"], s);
    ASSERT_EQ(m["points"].size(), 3U);
    EXPECT_EQ(m["points"][1]["step"], 0.05);
    EXPECT_EQ(m["points"][1]["steps"], 20);
    EXPECT_EQ(m["points"][1]["status"], "finished");
    EXPECT_EQ(m["points"][1]["fitted_last_step"], false);
    EXPECT_TRUE(m["points"][1]["evaluations"].is_number_integer());
    EXPECT_TRUE(m["points"][1]["wall_seconds"].is_number());
    EXPECT_TRUE(m["points"][0]["observed_order"].empty());
    for (const char* part : {"y", "z"}) {
      EXPECT_NEAR(m["points"][2]["observed_order"][part], 2 * s, 0.05);  // measured 0.007 at most
      EXPECT_NEAR(m["fitted_order"][part], 2 * s, 0.05);                 // measured 0.018 at most
      EXPECT_EQ(m["fitted_points"][part], 3);
    }
    EXPECT_NEAR(m["points"][2]["observed_order"]["multiplier"], s, 0.15);  // measured -0.08 for s = 1
  }
}

TEST(ConvergenceCommand, CsvHasOneRowPerMethodAndStep) {
  const Folder folder;
  const Answer answer = study(folder, known,
                              {"--methods", "rattle,lobatto-iiia-iiib(stages=2)", "--steps", "0.1,0.05", "--quiet",
                               "--csv", folder.file("orders.csv")});
  EXPECT_EQ(answer.status, 0) << answer.err;
  std::istringstream lines(folder.read("orders.csv"));
  std::vector<Words> rows;
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0][0], "method");
  EXPECT_EQ(rows[0][4], "error_y");
  for (const Words& row : rows) EXPECT_EQ(row.size(), 13U);
  EXPECT_EQ(rows[1][0], "rattle");
  EXPECT_EQ(rows[1][5], "");  // no order from one step
  EXPECT_EQ(rows[4][0], "lobatto-iiia-iiib(stages=2)");
  EXPECT_EQ(rows[4][1], "0.05");
  EXPECT_EQ(rows[4][2], "20");
  EXPECT_EQ(rows[4][3], "finished");
  EXPECT_NEAR(std::stod(rows[4][5]), 2, 0.1);  // measured 2.045
  // the two are one method
  EXPECT_NEAR(std::stod(rows[4][4]), std::stod(rows[2][4]), 1e-12);  // measured 0
}

TEST(ConvergenceCommand, ReferenceIsAMethodOrAFile) {
  const Folder folder;
  const std::string model = folder.write("m.toml", pendulum);
  const Words options{"--end", "0.5", "--steps", "0.05,0.025,0.0125", "--methods", "gauss-lobatto"};
  const auto order = [&](const Words& more, const std::string& kind, const std::string& description) {
    Words all = options;
    all.insert(all.end(), more.begin(), more.end());
    const Json j = study_json(model, all);
    EXPECT_EQ(j["reference"]["kind"], kind);
    EXPECT_EQ(j["reference"]["description"], description);
    EXPECT_EQ(j["methods"][0]["fitted_points"]["y"], 3);
    return j["methods"][0]["fitted_order"]["y"].get<double>();
  };
  // measured 4.002, all of them
  EXPECT_NEAR(order({}, "method", "gauss-lobatto(stages=6), step 0.00625"), 4, 0.05);
  EXPECT_NEAR(order({"--reference-step", "0.05"}, "method", "gauss-lobatto(stages=6), step 0.05"), 4, 0.05);
  EXPECT_NEAR(order({"--reference", "gauss-lobatto(stages=5)"}, "method", "gauss-lobatto(stages=5), step 0.00625"), 4,
              0.05);
  EXPECT_NEAR(order({"--reference", "lobatto-iiia-iiib", "--reference-step", "0.001"}, "method",
                    "lobatto-iiia-iiib, step 0.001"),
              4, 0.05);
  for (const std::string ending : {"csv", "h5"}) {
    if (ending == "h5" && !hdf5_available()) continue;
    const std::string file = folder.file("reference." + ending);
    ASSERT_EQ(
        hinge(folder, {"run", model, "--end", "0.5", "--set", "integrate.stages=6", "--quiet", "--out", file}).status,
        0);
    EXPECT_NEAR(order({"--reference", file}, "file", file), 4, 0.05);
  }
  // The control: a reference of the same accuracy as what is studied
  EXPECT_GT(std::abs(order({"--reference", "gauss-lobatto", "--reference-step", "0.01"}, "method",
                           "gauss-lobatto, step 0.01") -
                     4),
            0.2);  // measured 0.38
}

TEST(ConvergenceCommand, OptionsOfTheModelHoldForMethodsThatKnowThem) {
  const Folder folder;
  const std::string model = folder.write("m.toml", with(pendulum, "step =", "stages = 3\nstep ="));
  const auto names = [&](const Words& options) {
    Words list;
    const Json j = study_json(model, options);
    for (const Json& m : j["methods"]) list.push_back(m["name"]);
    return list;
  };
  EXPECT_EQ(names({}), Words{"gauss-lobatto(stages=3)"});
  EXPECT_EQ(names({"--set", "integrate.stages=1"}), Words{"gauss-lobatto(stages=1)"});
  EXPECT_EQ(names({"--methods", "rattle, gauss-lobatto, gauss-lobatto(stages=1), lobatto-iiia-iiib"}),
            (Words{"rattle", "gauss-lobatto(stages=3)", "gauss-lobatto(stages=1)", "lobatto-iiia-iiib(stages=3)"}));
}

TEST(ConvergenceCommand, StepsDefaultToTheModelsAndNeedNotDivideTheTime) {
  Json steps = Json::array();
  const Json j = study_json(known);
  for (const Json& p : j["methods"][0]["points"]) steps.push_back(p["step"]);
  EXPECT_EQ(steps, (Json{0.1, 0.05, 0.025, 0.0125}));
  EXPECT_TRUE(j["notes"].empty());
  const Json fitted = study_json(known, {"--steps", "0.1,0.3", "--end", "1"});
  EXPECT_EQ(fitted["methods"][0]["points"][0]["fitted_last_step"], true);
  ASSERT_EQ(fitted["notes"].size(), 1U);
  expect_parts(fitted["notes"][0], {"0.3", "last step"});
  const Folder folder;
  expect_parts(study(folder, known, {"--steps", "0.3"}).out, {"note: step 0.3 does not divide"});
}

TEST(ConvergenceCommand, RunThatFailsLosesNoOther) {
  const Folder folder;
  const std::string model = folder.write("m.toml", pendulum);
  const Words options{"--end", "3", "--steps", "3,0.02,0.01", "--methods", "gauss-lobatto,rattle"};
  Words with_csv = options;
  with_csv.insert(with_csv.end(), {"--csv", folder.file("orders.csv")});
  const Answer table = study(folder, model, with_csv);
  EXPECT_EQ(table.status, 1);
  expect_parts(table.out, {"failed\n", "step 3 failed: in the step from t = 0", "2 points", "4.00", "2.00"});
  expect_parts(table.err, {"hinge: 2 of the runs failed"});
  EXPECT_EQ(table.out.find("nan"), std::string::npos);
  expect_parts(folder.read("orders.csv"), {"gauss-lobatto,3,0,failed,,,,,,,", "rattle,0.01,300,finished,"});
  const Json j = study_json(model, options, 1);
  EXPECT_EQ(j["status"], "failed");
  EXPECT_EQ(j["methods"][1]["points"][0]["status"], "failed");
  expect_parts(j["methods"][1]["points"][0]["message"], {"too long"});
  EXPECT_EQ(j["methods"][1]["points"][2]["status"], "finished");
  Words quiet = options;
  quiet.push_back("--quiet");
  const Answer silent = study(folder, model, quiet);
  EXPECT_EQ(silent.status, 1);
  EXPECT_EQ(silent.out, "");
  expect_parts(silent.err, {"hinge: rattle, step 3: in the step"});
  // the reference itself
  const Answer reference = study(folder, model, {"--end", "3", "--reference", "rattle", "--reference-step", "3"});
  EXPECT_EQ(reference.status, 1);
  expect_parts(reference.err, {"hinge: the reference, rattle with step 3, failed", "try a smaller one"});
}

TEST(ConvergenceCommand, WrongInputIsRefused) {
  for (const std::string steps : {"", "x", "0.1,", "0.1,,0.2", "0", "-0.1", "nan", "inf", "0.1;0.2", "1e999"})
    refuses({"--steps", steps}, {"--steps: '", "is not a positive number", "--steps 0.1,0.05,0.025"});
  refuses({"--steps", "0.01,0.010"}, {"--steps: 0.01 is given twice"});
  refuses({"--steps", "1e-30"}, {"too many", "longer step"});
  refuses({}, {"m.toml: integrate: there is no step", "--steps"}, with(pendulum, "step = 0.01\n", ""));
  refuses({}, {"m.toml: integrate: there is no end time", "--end"}, with(pendulum, "end = 0.05\n", ""));
  refuses({"--end", "0"}, {"no end time after the start"});
  refuses({"--end", "-1"}, {"--end", "lies before the start"});
  refuses({"--methods", "ratle"}, {"--methods: there is no method 'ratle'", "did you mean 'rattle'?"});
  refuses({"--methods", ""}, {"--methods: ", "name of a method is missing"});
  refuses({"--methods", "rattle,"}, {"--methods: ", "name of a method is missing"});
  refuses({"--methods", "gauss-lobatto(stages=2"}, {"--methods: ", "'(' is never closed"});
  refuses({"--methods", "gauss-lobatto(stages=99)"}, {"--methods: ", "1 to 12 stages"});
  refuses({"--methods", "gauss-lobatto(stages=two)"}, {"--methods: ", "'stages' takes a whole number"});
  refuses({"--methods", "gauss-lobatto(stage=2)"}, {"--methods: ", "did you mean 'stages'?"});
  refuses({"--methods", "rattle(stages=2)"}, {"--methods: ", "no option 'stages'"});
  refuses({"--reference", "ratle"}, {"--reference: there is no method 'ratle'", "'rattle'?"});
  refuses({"--reference", "rattle,rattle"}, {"--reference: ", "names 2 methods; give one"});
  refuses({"--reference", "here/run.txt"}, {"--reference: there is no method", "a file ends in .csv, .h5 or .hdf5"});
  refuses({"--reference", "nowhere.csv"}, {"--reference: cannot read 'nowhere.csv'", "check the name"});
  refuses({"--reference", "rattle", "--reference-step", "x"}, {"--reference-step: 'x'", "--reference-step 0.001"});
  refuses({"--reference", "r.csv", "--reference-step", "1"},
          {"--reference-step: the reference is a file", "leave it out"});
  refuses({"--reference-step", "0.1", "--set", "exact.position.q=[1,0]"},
          {"--reference-step: the reference is [exact]"});
  refuses({"--set", "exact.position.q=[\"log(0-t)\", 0]"}, {"m.toml: the exact position is not a finite number"});
  refuses({"--set", "integrate.stage=2"}, {"--set integrate.stage", "no option 'stage'"});
  refuses({}, {"m.toml: initial: ", "inconsistent"}, with(pendulum, "[1, 0]", "[1, 1]"));
  refuses({"--step", "0.1"}, {"'hinge convergence' has no option '--step'", "did you mean '--steps'?"});
  const std::string friction =
      with(with(odae, "\"-2*a[0]*force\"", "\"-2*a[0]*force - 0.1*b[0]*force\""), "step", "step");
  refuses({}, {"m.toml: gauss-lobatto: ", "does not depend on the velocity", "--methods"}, friction);

  const Folder folder;
  const Answer nowhere = study(folder, known, {"--csv", folder.file("none/orders.csv")});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_EQ(nowhere.out, "");
  expect_parts(nowhere.err, {"--csv: cannot write", "No such file", "choose another file"});
  expect_parts(study(folder, known, {"--csv", ""}).err, {"--csv needs the name of a file"});
  expect_parts(study(folder, known, {"--csv", "a.csv", "--reference", "a.csv"}).err, {"a file of its own"});
}

TEST(ConvergenceCommand, FilesOfOtherRunsAreRefused) {
  const Folder folder;
  const std::string file = folder.file("other.csv");
  ASSERT_EQ(hinge(folder, {"run", folder.write("m.toml", pendulum), "--quiet", "--out", file}).status, 0);
  refuses({"--reference", file}, {"--reference: cannot read", "no column 'q[0][0]'", "t, q[0], q[1]", "hinge run"},
          chain);
  refuses({"--reference", file, "--end", "0.06"}, {"no row at the end time 0.06", "the nearest is at t = 0.05"});
}

}  // namespace
}  // namespace hinge::test::convergence_test
