// Claims about convergence studies: orders are those of the methods, a wrong reference is seen, round-off is left out.
#include <cmath>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "hinge/hinge.hpp"
#include "method/problems.hpp"
#include "places.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::convergence_test {
namespace {

using Errors = StateErrors;

// S1, with its solution.
Model known_solution() { return load_model(HINGE_EXAMPLES "/known-solution.toml"); }

ConvergenceProblem problem_of(const Model& model, double end = 1) {
  return {model.system, model.start, model.simulation.start, end, model.simulation.solver};
}

ConvergenceStudy study_s1(const std::vector<StudiedMethod>& methods, const std::vector<double>& steps) {
  const Model model = known_solution();
  return convergence_study(problem_of(model), exact_reference(*model.system, model.exact, 1), methods, steps);
}

std::string text_of(const ConvergenceStudy& study) {
  std::ostringstream out;
  out << study;
  return out.str();
}

void refuses(const std::function<void()>& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(ConvergenceStudy, ExactSolutionShowsTheOrdersOfGaussLobatto) {
  for (int s = 1; s <= 3; ++s) {
    const auto study = study_s1({{"method", gauss_lobatto(s)}}, {0.1, 0.05, 0.025});
    ASSERT_EQ(study.series.size(), 1U);
    const ConvergenceSeries& series = study.series[0];
    ASSERT_EQ(series.points.size(), 3U);
    EXPECT_EQ(series.order, 2 * s);
    EXPECT_EQ(series.multiplier_order, s);
    EXPECT_EQ(study.part_names[0], "y");
    EXPECT_EQ(study.part_names[2], "psi");
    for (std::size_t part = 0; part < 2; ++part) {
      EXPECT_NEAR(*series.points[2].order[part], 2 * s, 0.05) << s;  // measured 0.007 at most
      EXPECT_NEAR(*series.fitted[part].order, 2 * s, 0.05) << s;     // measured 0.018 at most
      EXPECT_EQ(series.fitted[part].points, 3);
    }
    EXPECT_NEAR(*series.points[2].order[2], s, 0.15) << s;  // measured -0.08 at s = 1
    for (const Errors& orders : {series.points[0].order}) EXPECT_FALSE(orders[0] || orders[1] || orders[2]);
    EXPECT_EQ(series.points[1].steps, 20);
    EXPECT_GT(series.points[1].counters.evaluations, 0);
    EXPECT_FALSE(series.points[1].fitted);
  }
}

// The control: an observed order is no property of the runs alone.
TEST(ConvergenceStudy, WrongReferenceShowsNoOrder) {
  const Model model = known_solution();
  Reference wrong = exact_reference(*model.system, model.exact, 1);
  wrong.y[0] += 1e-6, wrong.z[1] -= 1e-6, wrong.psi[0] += 0.1;
  const auto study =
      convergence_study(problem_of(model), wrong, {{"method", gauss_lobatto(3)}}, {0.05, 0.025, 0.0125, 0.00625});
  for (std::size_t part = 0; part < 3; ++part) {
    EXPECT_EQ(study.series[0].fitted[part].points, 4) << part;            // no round-off at this height
    EXPECT_NEAR(*study.series[0].fitted[part].order, 0.0, 0.01) << part;  // measured 1e-4 at most
  }
}

TEST(ConvergenceStudy, RoundOffIsLeftOutOfTheFit) {
  const std::vector<double> steps = {0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.001};
  const auto study = study_s1({{"method", gauss_lobatto(3)}}, steps);
  const ConvergenceSeries& series = study.series[0];
  for (std::size_t part = 0; part < 2; ++part) {
    EXPECT_EQ(series.fitted[part].points, 3) << part;
    EXPECT_NEAR(*series.fitted[part].order, 6, 0.05) << part;  // measured 0.011 at most
    EXPECT_FALSE(series.points[2].round_off[part]);
    for (std::size_t k = 3; k < steps.size(); ++k) EXPECT_TRUE(series.points[k].round_off[part]) << k;
  }
  // multipliers are of order 3 and reach it with the shortest step, or not quite
  EXPECT_GE(series.fitted[2].points, 6);
  EXPECT_NE(text_of(study).find("* round-off"), std::string::npos);
  // The control: with all points the slope is another.
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const ConvergencePoint& p : series.points) {
    const double h = std::log(p.step), e = std::log(*p.error[0]), n = static_cast<double>(steps.size());
    x += h / n, y += e / n, xx += h * h / n, xy += h * e / n;
  }
  EXPECT_LT((xy - x * y) / (xx - x * x), 4);  // measured 2.78
}

TEST(ConvergenceStudy, TooFewPointsGiveNoOrder) {
  const auto study = study_s1({{"method", gauss_lobatto(8)}}, {0.1, 0.05, 0.025});
  EXPECT_FALSE(study.series[0].fitted[0].order);
  EXPECT_LT(study.series[0].fitted[0].points, 2);
  const std::string text = text_of(study_s1({{"one", gauss_lobatto(2)}}, {0.1}));
  EXPECT_NE(text.find("1 point       -"), std::string::npos) << text;
  EXPECT_EQ(text_of(study).find("nan"), std::string::npos);
  EXPECT_EQ(text_of(study).find("inf"), std::string::npos);
}

TEST(ConvergenceStudy, OnlyKnownPartsAreCompared) {
  const Model model = known_solution();
  ExactSolution only;
  only.velocity = model.exact.velocity;
  const auto study = convergence_study(problem_of(model), exact_reference(*model.system, only, 1),
                                       {{"method", gauss_lobatto(2)}}, {0.1, 0.05});
  EXPECT_FALSE(study.series[0].points[0].error[0]);
  EXPECT_TRUE(study.series[0].points[0].error[1]);
  EXPECT_FALSE(study.series[0].points[0].error[2]);
  EXPECT_EQ(text_of(study).find("psi"), std::string::npos);
  refuses([&] { exact_reference(*model.system, {}, 1); }, "no parts");
  refuses([&] { exact_reference(*model.system, {.position = Vector{1.0}}, 1); }, "1 entries; the system has 2");
}

// x = cos(w t) as Lagrangian and Hamiltonian, with a mass of 2: velocity and momentum differ.
TEST(ConvergenceStudy, VelocityAndMomentumAreToldApart) {
  Lagrangian lagrangian;
  const Expression x = lagrangian.coordinate("x"), v = lagrangian.velocity(x), t = lagrangian.t();
  lagrangian.kinetic(v * v);
  lagrangian.potential(4.0 * x * x);
  Hamiltonian hamiltonian;
  const Vector q = hamiltonian.coordinates("q", 1), p = hamiltonian.momenta("p", 1);
  hamiltonian.hamiltonian(p[0] * p[0] / 4.0 + 4.0 * q[0] * q[0]);
  const Expression time = hamiltonian.t();
  const auto order_of = [](const std::shared_ptr<const System>& system, const ExactSolution& exact, const char* name) {
    const auto study = convergence_study({system, {.position = {1}}, 0, 1}, exact_reference(*system, exact, 1),
                                         {{"method", gauss_lobatto(2)}}, {0.1, 0.05, 0.025});
    EXPECT_EQ(study.part_names[1], name);
    EXPECT_FALSE(study.series[0].points[0].error[2]);  // no constraints
    return *study.series[0].fitted[1].order;
  };
  // measured 3.998, all four
  EXPECT_NEAR(order_of(lagrangian.build(), {.velocity = {-2.0 * sin(2.0 * t)}}, "velocity"), 4, 0.05);
  EXPECT_NEAR(order_of(lagrangian.build(), {.momentum = {-4.0 * sin(2.0 * t)}}, "momentum"), 4, 0.05);
  EXPECT_NEAR(order_of(hamiltonian.build(), {.velocity = {-2.0 * sin(2.0 * time)}}, "velocity"), 4, 0.05);
  EXPECT_NEAR(order_of(hamiltonian.build(), {.momentum = {-4.0 * sin(2.0 * time)}}, "momentum"), 4, 0.05);
  // The control: the one taken for the other.
  EXPECT_LT(order_of(lagrangian.build(), {.velocity = {-4.0 * sin(2.0 * t)}}, "velocity"),
            0.01);  // measured 1e-6 in size
  EXPECT_LT(order_of(hamiltonian.build(), {.momentum = {-2.0 * sin(2.0 * time)}}, "momentum"), 0.01);  // measured 3e-6
}

TEST(ConvergenceStudy, ComputedReferenceAgreesWithTheExactSolution) {
  const Model model = known_solution();
  const Reference exact = exact_reference(*model.system, model.exact, 1);
  for (const double step : {0.05, 0.0005}) {
    const Reference run = computed_reference(problem_of(model), {"name", gauss_lobatto(6)}, step);
    EXPECT_LT(problems::distance(run.y, exact.y), 2e-13) << step;      // measured 2.7e-14
    EXPECT_LT(problems::distance(run.z, exact.z), 2e-13) << step;      // measured 1.3e-14
    EXPECT_LT(problems::distance(run.psi, exact.psi), 2e-13) << step;  // measured 1.8e-15
    EXPECT_EQ(run.step, step);
  }
  const Reference chosen = default_reference(problem_of(model), {{"rattle", rattle()}}, 0.05);
  EXPECT_EQ(chosen.description, "gauss-lobatto(stages=6), step 0.025");
  EXPECT_EQ(default_reference(problem_of(model), {{"m", gauss_lobatto(8)}}, 0.05).description,
            "gauss-lobatto(stages=10), step 0.025");
  EXPECT_EQ(default_reference(problem_of(model), {{"m", rattle()}}, 0.05, 0.125).step, 0.125);
}

TEST(ConvergenceStudy, ReferenceStepMakesTheReferenceMuchBetter) {
  EXPECT_EQ(reference_step(gauss_lobatto(6), 0.1), 0.05);
  EXPECT_EQ(reference_step(gauss_lobatto(2), 0.1), 0.025);
  EXPECT_EQ(reference_step(rattle(), 0.1), 0.0125);
}

// y1 = z1 = e^2t, y2 = z2 = e^-t by the series of the exponential function, cut after the second order.
class SecondOrderSeries : public Stepper {
 public:
  StepResult step(State& s, double h) override {
    const auto factor = [h](double rate) { return 1 + rate * h + rate * h * rate * h / 2; };
    s.y[0] *= factor(2), s.z[0] *= factor(2), s.y[1] *= factor(-1), s.z[1] *= factor(-1);
    ++counters_.steps;
    return {};
  }
  void reset() override {}
};

TEST(ConvergenceStudy, MethodIsItsOwnReferenceWhereGaussLobattoCannotBe) {
  const problems::Problem e1 = problems::e1();  // its reaction depends on z
  const ConvergenceProblem problem{e1.system, e1.start, 0, 1};
  MethodChoice series;
  series.order = 2;
  series.make = [](auto, const auto&, const auto&) { return std::make_unique<SecondOrderSeries>(); };
  const Reference reference = default_reference(problem, {{"series", series}}, 0.025);
  EXPECT_EQ(reference.description, "series, step 0.003125");
  const auto study = convergence_study(problem, reference, {{"series", series}}, {0.1, 0.05, 0.025});
  EXPECT_NEAR(*study.series[0].fitted[0].order, 2, 0.1);  // measured 1.93
  // and a method that cannot treat the system is refused before the others have run
  EXPECT_THROW(convergence_study(problem, reference, {{"series", series}, {"gauss", gauss_lobatto(2)}}, {0.1, 0.05}),
               UnsuitableMethod);
}

TEST(ConvergenceStudy, RecordedFilesAreReferences) {
  const test::Folder folder;
  const Model model = known_solution();
  for (const std::string name : {"run.csv", "run.h5"}) {
    if (name == "run.h5" && !hdf5_available()) continue;
    Simulation run(model.system, gauss_lobatto(6), {.step = 0.05});
    run.record({folder.file(name), "title"});
    run.start(model.start);
    run.until(1);
    run.finish();
    const Reference end = recorded_reference(*model.system, folder.file(name), 1);
    EXPECT_EQ(end.y, run.state().y);
    EXPECT_EQ(end.z, run.state().z);
    EXPECT_EQ(end.psi, run.state().psi);
    EXPECT_EQ(end.description, folder.file(name));
    EXPECT_NEAR(recorded_reference(*model.system, folder.file(name), 0.35).y[0], std::exp(0.7), 1e-13);  // measured 0
    refuses([&] { recorded_reference(*model.system, folder.file(name), 0.33); }, "no row at the end time 0.33");
    refuses([&] { recorded_reference(*model.system, folder.file(name), 2); }, "the nearest is at t = 1");
    refuses([&] { recorded_reference(*problems::pendulum().system, folder.file(name), 1); }, "no column 'q[0]'");
  }
  refuses([&] { recorded_reference(*model.system, folder.file("none.csv"), 1); }, "check the name");
  const auto file = [&](const std::string& text) { return folder.write("by_hand.csv", text); };
  const std::string names = "lam,z[1],z[0],y[1],y[0],t\n";  // any order of columns will do
  EXPECT_EQ(recorded_reference(*model.system, file(names + "5,4,3,2,1,0.5\n"), 0.5).z, (std::vector<double>{3, 4}));
  refuses([&] { recorded_reference(*model.system, file(names), 0.5); }, "no rows");
  refuses([&] { recorded_reference(*model.system, file("t,y[0],y[1],z[0],z[1]\n1,1,1,1,1\n"), 1); }, "column 'lam'");
  refuses([&] { recorded_reference(*model.system, file(names + "5,nan,3,2,1,0.5\n"), 0.5); }, "not a finite number");
}

TEST(ConvergenceStudy, FailedRunsAreNotedAndTheOthersGoOn) {
  const Model model = load_model(HINGE_EXAMPLES "/pendulum.toml");
  const ConvergenceProblem problem = problem_of(model, 3);
  const Reference reference = default_reference(problem, {{"m", rattle()}}, 0.01);
  const auto study = convergence_study(problem, reference, {{"first", rattle()}, {"second", gauss_lobatto(2)}},
                                       {0.01, 3, 0.02});  // in any order
  EXPECT_EQ(study.failures(), 2);
  for (const ConvergenceSeries& series : study.series) {
    ASSERT_EQ(series.points.size(), 3U);
    EXPECT_EQ(series.points[0].step, 3);
    EXPECT_NE(series.points[0].failure.find("too long"), std::string::npos) << series.points[0].failure;
    EXPECT_FALSE(series.points[0].error[0]);
    EXPECT_FALSE(series.points[1].order[0]);  // there is nothing before it
    EXPECT_TRUE(series.points[2].order[0]);
    EXPECT_EQ(series.fitted[0].points, 2);
  }
  const std::string text = text_of(study);
  EXPECT_NE(text.find("failed\n"), std::string::npos) << text;
  EXPECT_NE(text.find("step 3 failed: in the step from t = 0"), std::string::npos) << text;
}

TEST(ConvergenceStudy, StepsThatDoNotDivideTheTimeAreNoted) {
  const auto study = study_s1({{"method", gauss_lobatto(2)}}, {0.3, 0.1, 0.07});
  EXPECT_TRUE(study.series[0].points[0].fitted);
  EXPECT_FALSE(study.series[0].points[1].fitted);
  ASSERT_EQ(study.notes().size(), 1U);
  EXPECT_NE(study.notes()[0].find("0.3, 0.07"), std::string::npos) << study.notes()[0];
  EXPECT_TRUE(study_s1({{"method", gauss_lobatto(2)}}, {0.1, 1.0 / 3}).notes().empty());
}

TEST(ConvergenceStudy, ProgressCanStopAStudy) {
  const Model model = load_model(HINGE_EXAMPLES "/pendulum.toml");
  const Reference reference = default_reference(problem_of(model), {{"m", rattle()}}, 0.1);
  const auto study = convergence_study(problem_of(model), reference, {{"a", rattle()}, {"b", rattle()}}, {0.01, 1e-8},
                                       [](const std::string&, double, double) { return false; });
  EXPECT_TRUE(study.stopped);
  ASSERT_EQ(study.series.size(), 1U);
  EXPECT_EQ(study.series[0].points.size(), 1U);  // the short one was done before anybody asked
  EXPECT_EQ(study.notes().size(), 1U);
}

TEST(ConvergenceStudy, WhatCannotBeStudiedIsRefused) {
  const std::vector<StudiedMethod> one = {{"method", gauss_lobatto(2)}};
  refuses([&] { study_s1(one, {}); }, "no steps");
  refuses([&] { study_s1(one, {0.1, 0}); }, "positive");
  refuses([&] { study_s1(one, {0.1, NAN}); }, "positive");
  refuses([&] { study_s1(one, {0.1, 0.05, 0.1}); }, "given twice");
  refuses([&] { study_s1(one, {0.1, 1e-20}); }, "too many");
  refuses([&] { study_s1({}, {0.1}); }, "no method");
  const Model model = known_solution();
  const Reference reference = exact_reference(*model.system, model.exact, 1);
  refuses([&] { convergence_study(problem_of(model, 0), reference, one, {0.1}); }, "later end");
  // a solution that ends at t = 1
  const Model bad = parse_model(test::with(model.text, "\"exp(2*t)\"", "\"log(1 - t)\""), "m.toml");
  refuses([&] { exact_reference(*bad.system, bad.exact, 2); }, "not a finite number at t = 2");
}

TEST(Simulation, ReportsTheErrorAgainstTheExactSolution) {
  const Model model = known_solution();
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(1);
  const Report report = run.report();
  EXPECT_NEAR(*report.exact_error[0], problems::distance(report.final.y, {std::exp(2), std::exp(-1)}), 1e-15);
  EXPECT_NEAR(*report.exact_error[2], std::abs(report.final.psi[0] - std::exp(1)), 1e-15);
  EXPECT_LT(*report.exact_error[1], 1e-4);  // measured 9.3e-5
  EXPECT_GT(*report.exact_error[1], 9e-5);
  refuses([&] { run.compare({.position = Vector{1.0}}); }, "the system has 2");
}

}  // namespace
}  // namespace hinge::convergence_test
