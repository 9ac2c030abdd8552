// Claims about runs of DAEs: the derivative array keeps every constraint level, index 1 and 2 run as they stand, and
// noise is what it should be.
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formulation/implicit/array_problem.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "method/goldens.hpp"
#include "places.hpp"
#include "random_draw.hpp"

namespace hinge::dae_run_test {
namespace {

const goldens::json& data() {
  static const goldens::json all = goldens::read("dae_general.json");
  return all;
}

Model paper(const std::string& name, std::vector<Override> overrides = {}) {
  return load_model(std::string(HINGE_PAPERS) + "/dae/" + name + ".toml", overrides);
}

Report run(const Model& model, double end) {
  Simulation s = model.simulation_for("");
  s.start(model.start);
  s.until(end);
  return s.report();
}

Report run(const std::string& name, std::vector<Override> overrides = {}) {
  const Model model = paper(name, std::move(overrides));
  return run(model, model.end);
}

std::vector<Override> with(const std::string& method, const std::string& tolerance) {
  return {{"integrate.method", method}, {"integrate.tolerance", tolerance}};
}

double largest_error(const std::vector<double>& x, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst = std::max(worst, std::abs(x[i] - exact[i]) / std::max(1.0, std::abs(exact[i])));
  return worst;
}

const std::vector<double> pendulum_at_1 = {0.8673486406004393173, 0.4977010504796729371, -0.03374801806095451643,
                                           0.05881301146525000079, -0.4931031514390187968};

// The derivative array integrates the coordinate that moves; where that changes, so does the pattern of its matrix.
TEST(DerivativeArray, StartsBdfAnewWhereOtherUnknownsAreIntegrated) {
  Dae pendulum;
  const Expression x = pendulum.unknown("x"), y = pendulum.unknown("y"), u = pendulum.unknown("u"),
                   v = pendulum.unknown("v"), l = pendulum.unknown("L");
  pendulum.equation(pendulum.derivative(x) - u);
  pendulum.equation(pendulum.derivative(y) - v);
  pendulum.equation(pendulum.derivative(u) + x * l);
  pendulum.equation(pendulum.derivative(v) + y * l + 9.81);
  pendulum.equation(x * x + y * y - 1.0);
  const MethodChoice method = make_method("bdf", {{"order", 5.0}});
  const auto end = [&](double x0, double speed, double h, double t) {
    Simulation run(pendulum, method, {.step = h});
    const double y0 = -std::sqrt(1 - x0 * x0);
    Start start;
    start.position = {x0, y0, -speed * y0, speed * x0, 0};
    start.given = {1, 1, 1, 1, 0};
    run.start(start);
    run.until(t);
    const auto& s = run.state().y;
    EXPECT_LT(std::abs(s[0] * s[0] + s[1] * s[1] - 1), 1e-12);
  };
  end(1, 0, 0.01, 1.006);                                             // the last step has another length
  for (const double x0 : {0.7, 0.705, 0.71}) end(x0, 3, 0.002, 0.1);  // |x| and |y| change their order at once
}

TEST(DerivativeArray, IntegratesIndexThreeAndKeepsAllLevels) {
  for (const char* method : {"radau", "bdf"}) {
    SCOPED_TRACE(method);
    const Report r = run("pendulum-index3", with(method, "1e-9"));
    const auto& x = r.final.y;
    EXPECT_LT(largest_error(x, pendulum_at_1), 2e-7);
    EXPECT_LT(std::abs(x[0] * x[0] + x[1] * x[1] - 1), 1e-10);
    EXPECT_LT(std::abs(x[0] * x[2] + x[1] * x[3]), 1e-10);
    EXPECT_LT(std::abs(x[2] * x[2] + x[3] * x[3] - x[4] - x[1]), 1e-10);
  }
  // a control: the index-2 form drifts off the length
  const Report drift = run("pendulum-index2", with("bdf", "1e-6"));
  EXPECT_GT(std::abs(drift.final.y[0] * drift.final.y[0] + drift.final.y[1] * drift.final.y[1] - 1), 1e-9);
}

// Around the circle every coordinate becomes a bad one somewhere. (For fast motions both velocities are integrated:
// they determine the position, and are good everywhere.)
TEST(DerivativeArray, ChangesWhatItIntegrates) {
  const Model model = paper("pendulum-index3");
  const auto system = std::dynamic_pointer_cast<const SymbolicSystem>(model.system);
  DaeStructure structure = analyse_dae(*system);
  ArrayProblem problem(structure);
  std::vector<double> x(static_cast<std::size_t>(problem.size())), rate = x;
  int changes = 0;
  bool begun = false;
  for (int k = 0; k <= 100; ++k) {
    const double angle = 2 * std::numbers::pi * k / 100;
    const double c = std::cos(angle), s = std::sin(angle), w = 0.3;
    const State state = consistent_start(*system, 0, {.position = {c, s, -w * s, w * c, 0}, .given = {1, 1, 1, 1, 0}});
    if (!begun) {
      ASSERT_TRUE(problem.from_state(state, x.data(), rate.data()));
      begun = true;
      EXPECT_EQ(problem.integrated().size(), 2u);
      continue;
    }
    ArrayProblem other(structure);
    ASSERT_TRUE(other.from_state(state, x.data(), rate.data()));
    if (problem.accepted(0, x.data()) != ImplicitProblem::Change::none) ++changes;
    // the chosen set is always good: unknowns and their rows make a regular matrix
    EXPECT_EQ(problem.pattern().rows, problem.size());
  }
  EXPECT_GE(changes, 4);
  EXPECT_LE(changes, 12);
}

TEST(DerivativeArray, RunsRoundTheCircleManyTimes) {
  Model model = paper("pendulum-index3",
                      {{"initial.unknowns", "{ x = 1, y = 0, u = 0, v = 2.5 }"}, {"integrate.tolerance", "1e-8"}});
  const Report r = run(model, 20);
  const auto& x = r.final.y;
  const double energy = (x[2] * x[2] + x[3] * x[3]) / 2 + x[1];
  EXPECT_LT(std::abs(energy - 3.125), 2e-6);
  // as far as Newton's iteration goes: a part of the tolerance, measured 3.3e-10 and 2.0e-10
  EXPECT_LT(std::abs(x[0] * x[0] + x[1] * x[1] - 1), 1e-9);
  EXPECT_LT(std::abs(x[0] * x[2] + x[1] * x[3]), 1e-9);
}

TEST(Dae, HighIndexChainIsDifferentiatedExactly) {
  for (const char* method : {"radau", "bdf"}) {
    const Report r = run("linear-index4", with(method, "1e-8"));
    ASSERT_TRUE(r.exact_error[0]);
    EXPECT_NEAR(r.final.y[3], -8 * std::cos(2.0), 5e-10) << method;  // measured 2e-15, 6.0e-11
    EXPECT_LT(*r.exact_error[0], 1e-7) << method;                    // measured 3.3e-10, 3.7e-8
  }
}

TEST(Dae, IndexOneAndTwoRunAsTheyStand) {
  for (const char* method : {"radau", "bdf"}) {
    SCOPED_TRACE(method);
    const Report robertson = run("robertson", with(method, "{ relative = 1e-7, absolute = 1e-13 }"));
    const auto golden = goldens::numbers(data()["robertson"]["40"]);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(robertson.final.y[i] / golden[i], 1, 2e-5) << i;
    const Report reduced = run("van-der-pol-reduced", with(method, "1e-8"));
    EXPECT_NEAR(reduced.final.y[1], 1.5967683944573744783, 2e-6);
    EXPECT_NEAR(reduced.final.y[0], -0.23969127332366393568, 2e-6);
    const Report hlr = run("hlr", with(method, "1e-8"));
    // measured 6e-9 and 1.9e-7
    EXPECT_LT(largest_error({hlr.final.y[0], hlr.final.y[1]}, {std::exp(1.0), std::exp(-2.0)}), 5e-7);
    const Report transistor = run("transistor", with(method, "1e-7"));
    const std::vector<double> published = {-0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1,
                                           0.2926422536206241e1,   0.2704617865010554e1, 0.2761837778393145e1,
                                           0.4770927631616772e1,   0.1236995868091548e1};
    EXPECT_LT(largest_error(transistor.final.y, published), 1e-4);
  }
}

// Index 2 through the array: the same solution, with the multiplier as accurate as the rest.
TEST(DerivativeArray, AlsoTakesIndexTwo) {
  for (const char* method : {"radau", "bdf"}) {
    std::vector<Override> overrides = with(method, "1e-6");
    overrides.push_back({"integrate.formulation", "derivative-array"});
    const Report r = run("hlr", overrides);
    ASSERT_TRUE(r.exact_error[0]);
    EXPECT_LT(*r.exact_error[0], 3e-5) << method;                                         // measured 1.3e-7, 9.9e-6
    EXPECT_LT(std::abs(r.final.y[0] * r.final.y[0] * r.final.y[1] - 1), 1e-8) << method;  // measured 2.7e-9
  }
}

// BDF-k gives V3_n = -(L/R) rho V_n to round-off.
TEST(Dae, TheDifferentiatorDifferentiatesByTheFormula) {
  const std::vector<std::vector<double>> alpha = {{1, -1}, {1.5, -2, 0.5}, {11. / 6, -3, 1.5, -1. / 3}};
  for (std::size_t k = 1; k <= 3; ++k) {
    Model model =
        paper("differentiator",
              {{"integrate.method", "bdf"}, {"integrate.step", "0.05"}, {"integrate.order", std::to_string(k)}});
    const Report r = run(model, 1);
    double rho = 0;
    for (std::size_t i = 0; i <= k; ++i) rho += alpha[k - 1][i] * std::sin(3 * (1 - 0.05 * static_cast<double>(i)));
    EXPECT_NEAR(r.final.y[2], -0.25 * rho / 0.05, 2e-12) << k;
  }
}

std::vector<double> fixed_radau(const std::string& name, int stages, int steps, double end) {
  const Model model = paper(name, {{"integrate.method", "radau"},
                                   {"integrate.stages", std::to_string(stages)},
                                   {"integrate.step", std::to_string(end / steps)}});
  return run(model, end).final.y;
}

// Radau IIA with fixed steps: index 2 in general, index 1, and a circuit.
TEST(Dae, RadauFollowsTheGoldens) {
  for (const int stages : {2, 3}) {
    const std::string method = "RadauIIA" + std::to_string(stages);
    goldens::expect_near(fixed_radau("hlr", stages, 20, 1), goldens::numbers(data()["hlr"][method]["x_N20"]), 1e-9,
                         method + " on hlr");
    const auto& circuit = data()["differentiator"]["numerics"][method + ": [V3(1), error] N=10,20,40"];
    const auto& reduced = data()["van_der_pol"][method + " DAE eps=0 err(y,z) N=5,10,20"];
    for (std::size_t k = 0; k < 3; ++k) {
      const int n = 10 << k;
      EXPECT_NEAR(fixed_radau("differentiator", stages, n, 1)[2], goldens::number(circuit[k][0]), 1e-11) << method;
      const std::vector<double> x = fixed_radau("van-der-pol-reduced", stages, n / 2, 0.5);
      EXPECT_NEAR(std::abs(x[0] + 0.23969127332366393568), goldens::number(reduced[k][0]), 1e-12) << method;
      EXPECT_NEAR(std::abs(x[1] - 1.5967683944573744783), goldens::number(reduced[k][1]), 1e-12) << method;
    }
  }
}

TEST(Dae, StiffProblemsOverDecadesOfTimeAndStiffness) {
  for (const auto& [end, golden] : data()["robertson"].items()) {
    const Report r = run(paper("robertson"), std::stod(end));
    const std::vector<double> y = goldens::numbers(golden);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(r.final.y[i] / y[i], 1, 1e-6) << end << " " << i;
  }
  for (const char* epsilon : {"0.1", "0.01", "0.001", "0.0001", "1e-05", "1e-06"}) {
    const Report r = run("van-der-pol", {{"parameters.epsilon", epsilon}, {"integrate.tolerance", "1e-9"}});
    const auto& golden = data()["van_der_pol"]["eps=" + std::string(epsilon)];
    EXPECT_NEAR(r.final.y[0], goldens::number(golden["y"]), 1e-7) << epsilon;
    EXPECT_NEAR(r.final.y[1], goldens::number(golden["z"]), 1e-7) << epsilon;
  }
}

// ---- noise
// -----------------------------------------------------------------------------------------------------------

TEST(EulerMaruyama, FollowsTheGoldenPath) {
  const Model model = paper("noise");
  const auto increments = [](long k, double h, double* dw) {  // the golden counts steps from 1
    *dw = std::sqrt(h) * static_cast<double>((7 * (k + 1) + 3) % 11 - 5) / std::sqrt(10.0);
  };
  Simulation s(model.system, euler_maruyama({.seed = 1, .increments = increments}), {.step = 0.05});
  s.start(model.start);
  s.until(2);
  EXPECT_NEAR(s.state().y[0], data()["sdae"]["X_T"], 1e-14);
  EXPECT_NEAR(s.state().y[1], data()["sdae"]["y_T"], 1e-14);
}

// One equation with an exponential whose slope changes by a hundred powers of ten within a step of where it does not
// conduct: every row satisfies it, and the end is that of a method of another kind.
TEST(DaeRun, ADiodeThatBeginsToConductWithinAStepIsSeen) {
  Draw draw(8);
  for (int i = 0; i < 12; ++i) {
    const double resistance = draw.number(50, 400), capacity = draw.power(-4.3, -3.7);
    const std::string text = fmt::format(
        "[dae]\nunknowns = [\"v\"]\nequations = [\"{}*v' = 1e-12*(exp((10*sin(2*pi*50*t) - v)/0.026) - 1) - v/{}\"]\n"
        "[initial]\nunknowns = {{ v = 0 }}\n[integrate]\nend = 0.1\n",
        capacity, resistance);
    const double exact = run(parse_model(text + "method = \"bdf\"\ntolerance = 1e-10\n", "m.toml"), 0.1).final.y[0];
    for (const double tolerance : {1e-4, 1e-5, 1e-6}) {
      const std::string method = fmt::format("method = \"radau\"\ntolerance = {}\n", tolerance);
      EXPECT_NEAR(run(parse_model(text + method, "m.toml"), 0.1).final.y[0], exact, 30 * tolerance) << text << method;
    }
  }
}

TEST(EulerMaruyama, HasTheMeanAndVarianceOfTheScheme) {
  const double mean = data()["sdae"]["mean_T_numeric"], variance = data()["sdae"]["var_T_numeric"];
  double sum = 0, squares = 0;
  constexpr int paths = 4000;
  const Model model = paper("noise");
  for (int k = 0; k < paths; ++k) {
    const auto stepper = euler_maruyama({.seed = static_cast<double>(k)}).bind(model.system, {});
    State s{0, {1, 0}, {0, 0}, {}};
    for (int n = 0; n < 40; ++n) ASSERT_TRUE(stepper->step(s, 0.05));
    sum += s.y[0];
    squares += s.y[0] * s.y[0];
  }
  const double m = sum / paths, v = squares / paths - m * m;
  EXPECT_NEAR(m, mean, 3 * std::sqrt(variance / paths));  // three standard deviations
  EXPECT_NEAR(v, variance, 3 * variance * std::sqrt(2. / paths));
}

TEST(EulerMaruyama, ASeedIsAPath) {
  const Report a = run("noise"), b = run("noise"), c = run("noise", {{"integrate.seed", "8"}});
  EXPECT_EQ(a.final.y, b.final.y);
  EXPECT_GT(std::abs(a.final.y[0] - c.final.y[0]), 1e-3);
  EXPECT_NEAR(a.final.y[0] + a.final.y[1] - std::cos(2.0), 0, 1e-15);
}

std::string refusal(const std::string& dae) {
  try {
    const Model model =
        parse_model(dae + "\n[initial]\n[integrate]\nmethod = \"euler-maruyama\"\nstep = 0.1\nend = 1\n", "m.toml");
    run(model, 1);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(EulerMaruyama, RefusesNoiseWhereItMakesNoSense) {
  const std::string index1 = "[dae]\nunknowns = [\"x\", \"y\"]\nequations = [\"x' = -x + y\", \"y + x = 1\"]\n";
  EXPECT_EQ(refusal(index1 + "noise = [1, 0]"), "");
  EXPECT_TRUE(has(refusal(index1 + "noise = [0, 1]"), "algebraic equations (1 \"y + x = 1\")"));
  EXPECT_TRUE(has(refusal(index1), "has none"));
  EXPECT_TRUE(
      has(refusal("[dae]\nunknowns = [\"x\", \"y\"]\nequations = [\"x' = y\", \"x = 1\"]\nnoise = [1, 0]"), "index 2"));
  EXPECT_TRUE(has(refusal("[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x^2\"]\nnoise = [1]"), "linear"));
  EXPECT_TRUE(has(refusal("[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x\"]\nnoise = [1, 2]"), "2 entries"));
}

}  // namespace
}  // namespace hinge::dae_run_test
