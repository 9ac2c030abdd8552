// BDF and Radau IIA with steps of given length on general DAEs, from exact starting values, against independent
// implementations (tests/data/dae_general.json).
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/hinge.hpp"
#include "hinge/model.hpp"
#include "method/goldens.hpp"
#include "method/implicit/bdf.hpp"
#include "method/implicit/dae_problems.hpp"
#include "places.hpp"

namespace hinge::dae_golden_test {
namespace {

using goldens::json;
using goldens::number;
using goldens::numbers;

const json& data() {
  static const json all = goldens::read("dae_general.json");
  return all;
}

std::shared_ptr<const System> paper(const std::string& name) {
  return load_model(std::string(HINGE_PAPERS) + "/dae/" + name + ".toml").system;
}

using Solution = std::function<State(double)>;

// x at the end of `steps` steps of BDF-k from k exact states.
State fixed_bdf(const std::shared_ptr<const System>& system, const Solution& exact, int k, double h, int steps) {
  std::vector<State> history;
  for (int j = 0; j < k; ++j) history.push_back(exact(j * h));
  BdfOptions options;
  options.order = k;
  options.form.formulation = Formulation::direct;
  const auto stepper = make_fixed_bdf(system, options, {}, history, h);
  State state = history.back();
  for (int n = k; n <= steps; ++n) {
    state.t = (n - 1) * h;
    const StepResult result = stepper->step(state, h);
    EXPECT_TRUE(result) << result.reason;
    if (!result) break;
  }
  return state;
}

void expect_error(double error, double golden, double relative, double rounding, const std::string& what) {
  EXPECT_NEAR(error, golden, relative * golden + rounding) << what;
}

// The nearest consistent values in the mass metric, and the multipliers there.
TEST(DaeGoldens, ConsistentValuesOfMechanicalSystems) {
  struct Case {
    const char* key;
    dae_problems::Problem problem;
    double t;
    std::vector<double> p, v;
  };
  for (const Case& c :
       {Case{"pendulum p*=(1.1,-0.2),v*=(0.3,1)", dae_problems::pendulum(), 0, {1.1, -0.2}, {0.3, 1}},
        Case{"slider_crank p*=(1,-0.5,2.2),v*=(2,-1,0)", dae_problems::slider_crank(), 0, {1, -0.5, 2.2}, {2, -1, 0}},
        Case{"hoop t=0.25 p*=(0.8,0.5,-0.5),v*=(1,1,1)", dae_problems::hoop(), 0.25, {0.8, 0.5, -0.5}, {1, 1, 1}}}) {
    const json& golden = data()["consistent_init"].at(c.key);
    const State s = consistent_start(*c.problem.system, c.t,
                                     {.position = c.p, .velocity = c.v, .consistent = Consistency::project});
    goldens::expect_near(s.y, numbers(golden["p"]), 1e-9, c.key);
    goldens::expect_near(s.z, numbers(golden["v"]), 1e-9, c.key);
    goldens::expect_near(s.psi, numbers(golden["lam"]), 1e-9, c.key);
  }
}

// The index-2 problem of Hairer, Lubich and Roche: the order k in all three unknowns.
TEST(DaeGoldens, BdfOnAGeneralIndexTwoProblem) {
  const Solution exact = [](double t) {
    const double a = std::exp(t), b = std::exp(-2 * t), c = std::exp(2 * t);
    return State{t, {a, b, c}, {a, -2 * b, 2 * c}, {}};
  };
  const auto system = paper("hlr");
  for (int k = 1; k <= 5; ++k) {
    const json& golden = data()["hlr"][fmt::format("BDF{}", k)];
    for (std::size_t i = 0; i < 3; ++i) {
      const int steps = 40 << i;
      const State end = fixed_bdf(system, exact, k, 1.0 / steps, steps);
      const std::vector<double> solution = exact(1).y;
      for (std::size_t j = 0; j < 3; ++j)  // rounding over h is seen in z
        expect_error(std::abs(end.y[j] - solution[j]), number(golden["err"][i][j]), 1e-3, 1e-12,
                     fmt::format("BDF{} N = {} [{}]", k, steps, j));
      if (steps == 80) goldens::expect_near(end.y, numbers(golden["x_N80"]), 1e-11, fmt::format("BDF{}", k));
    }
  }
}

// Van der Pol's equation at epsilon = 0, index 1:  ln z - z^2/2 = t + ln 2 - 2.
TEST(DaeGoldens, BdfOnTheReducedVanDerPolEquation) {
  const Solution exact = [](double t) {
    double z = 2;
    for (int j = 0; j < 50; ++j) z -= (std::log(z) - z * z / 2 - t - std::log(2) + 2) / (1 / z - z);
    return State{t, {z * z * z / 3 - z, z}, {-z, 1 / (1 / z - z)}, {}};
  };
  const auto system = paper("van-der-pol-reduced");
  for (int k = 1; k <= 3; ++k) {
    const json& golden = data()["van_der_pol"][fmt::format("BDF{} DAE err(y,z) N=20,40,80", k)];
    for (std::size_t i = 0; i < 3; ++i) {
      const int steps = 20 << i;
      const State end = fixed_bdf(system, exact, k, 0.5 / steps, steps);
      for (std::size_t j = 0; j < 2; ++j)
        expect_error(std::abs(end.y[j] - exact(0.5).y[j]), number(golden[i][j]), 1e-3, 1e-13,
                     fmt::format("BDF{} N = {} [{}]", k, steps, j));
    }
  }
}

// IL(0) = 0.1 instead of 0: the first step of implicit Euler differentiates the jump, the second has forgotten it.
TEST(DaeGoldens, ImplicitEulerForgetsAnInconsistentCurrent) {
  const auto system = paper("differentiator");
  for (const char* step : {"0.1", "0.01", "0.001"}) {
    const double h = std::stod(step);
    BdfOptions options;
    options.order = 1;
    options.form.formulation = Formulation::direct;
    State state{0, {0, 0, -0.75, 0, 0.1, 0}, {3, 0, 0, -1.5, 1.5, 1.5}, {}};
    const auto stepper = make_fixed_bdf(system, options, {}, {state}, h);
    const auto golden = numbers(data()["differentiator"]["numerics"]
                                      [fmt::format("inconsistent IL(0)=0.1, implicit Euler h={}: V3_1,V3_2", step)]);
    for (const double v3 : golden) {
      ASSERT_TRUE(stepper->step(state, h));
      EXPECT_NEAR(state.y[2], v3, 1e-12 / h) << step;
    }
  }
}

// Stokes flow in the unit square on a staggered grid of n x n cells: M q' + A q + B^T lambda = l, B q = r(t).
struct Stokes {
  static constexpr int n = 8, nq = 2 * n * (n - 1), cells = n * n;
  static constexpr double h = 1.0 / n, nu = 0.1;
  Dae dae;
  std::vector<double> q0 = std::vector<double>(nq);

  static int u(int i, int j) { return (i - 1) * n + j; }
  static int v(int i, int j) { return n * (n - 1) + i * (n - 1) + j - 1; }

  explicit Stokes(double rho) {
    using std::numbers::pi;
    const Vector q = dae.unknowns("q", {nq}), lambda = dae.unknowns("lambda", {cells - 1});
    const Vector rate = dae.derivative(q);
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    std::vector<Expression> gradient(at(nq), Expression(0.0)), divergence(at(cells), Expression(0.0));
    const auto join = [&](int cell, int flow, double weight) {  // an entry of B
      divergence[at(cell)] = divergence[at(cell)] + weight * q[at(flow)];
      if (cell > 0) gradient[at(flow)] = gradient[at(flow)] + weight * lambda[at(cell - 1)];
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        if (i + 1 < n) join(i * n + j, u(i + 1, j), n);
        if (i > 0) join(i * n + j, u(i, j), -n);
        if (j + 1 < n) join(i * n + j, v(i, j + 1), n);
        if (j > 0) join(i * n + j, v(i, j), -n);
      }
    const double k = nu * n * n;
    const auto stream = [](double x, double y) {
      return std::pow(std::sin(std::numbers::pi * x), 2) * std::pow(std::sin(std::numbers::pi * y), 2);
    };
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double x = i * h, y = (j + 0.5) * h;
        Expression friction = 4 * k * q[at(u(i, j))];
        if (i > 1) friction = friction - k * q[at(u(i - 1, j))];
        if (i + 1 < n) friction = friction - k * q[at(u(i + 1, j))];
        friction = friction - k * (j > 0 ? q[at(u(i, j - 1))] : -q[at(u(i, j))]);
        friction = friction - k * (j + 1 < n ? q[at(u(i, j + 1))] : -q[at(u(i, j))]);
        dae.equation(rate[at(u(i, j))] + friction + gradient[at(u(i, j))] -
                     x * std::sin(2 * pi * y) * cos(3.0 * dae.t()));
        q0[at(u(i, j))] = (stream(x, y + h / 2) - stream(x, y - h / 2)) / h;
      }
    for (int i = 0; i < n; ++i)
      for (int j = 1; j < n; ++j) {
        const double x = (i + 0.5) * h, y = j * h;
        Expression friction = 4 * k * q[at(v(i, j))];
        if (j > 1) friction = friction - k * q[at(v(i, j - 1))];
        if (j + 1 < n) friction = friction - k * q[at(v(i, j + 1))];
        friction = friction - k * (i > 0 ? q[at(v(i - 1, j))] : -q[at(v(i, j))]);
        friction = friction - k * (i + 1 < n ? q[at(v(i + 1, j))] : -q[at(v(i, j))]);
        dae.equation(rate[at(v(i, j))] + friction + gradient[at(v(i, j))] - y * std::cos(pi * x) * sin(2.0 * dae.t()));
        q0[at(v(i, j))] = -(stream(x + h / 2, y) - stream(x - h / 2, y)) / h;
      }
    for (int cell = 1; cell < cells; ++cell)
      dae.equation(divergence[at(cell)] - (cell == 63 ? rho : cell == 36 ? -rho : 0.0) * sin(5.0 * dae.t()));
  }

  Start start() const {
    Start s;
    s.position = q0;
    s.position.resize(nq + cells - 1, 0.0);
    s.given.assign(nq, 1);
    s.given.resize(nq + cells - 1, 0);
    return s;
  }
};

double norm(const std::vector<double>& x, int from, int to) {
  double sum = 0;
  for (int i = from; i < to; ++i) sum += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
  return std::sqrt(sum);
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y, int from, int to) {
  double largest = 0;
  for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i)
    largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

State radau(const std::shared_ptr<const System>& system, const Start& start, int stages, double end, int steps) {
  Simulation run(system, make_method("radau", {{"stages", static_cast<double>(stages)}}), {.step = end / steps});
  run.start(start);
  run.until(end);
  return run.state();
}

void expect_values(const std::vector<double>& x, const json& golden, double tolerance, const std::string& what) {
  EXPECT_NEAR(norm(x, 0, Stokes::nq), number(golden["norm_q"]), tolerance) << what;
  EXPECT_NEAR(x[10], number(golden["q10"]), tolerance) << what;
  EXPECT_NEAR(x[Stokes::nq + 20], number(golden["lam20"]), tolerance) << what;
}

// With r = 0 the multipliers of Radau IIA are as good as the velocities, with r(t) they have order s only.
TEST(DaeGoldens, StokesFlowOnAStaggeredGrid) {
  constexpr int nq = Stokes::nq, all = nq + Stokes::cells - 1;
  for (const double rho : {0.0, 1.0}) {
    const Stokes flow(rho);
    const auto system = flow.dae.build();
    const State reference = radau(system, flow.start(), 5, 0.2, 20);
    const json& known = data()["stokes_mac"][fmt::format("reference rho={:g}", rho)];
    expect_values(reference.y, known, 1e-10, "reference");
    EXPECT_NEAR(norm(reference.y, nq, all), number(known["norm_lam"]), 1e-10);
    EXPECT_NEAR(reference.y[70], number(known["q70"]), 1e-12);
    EXPECT_NEAR(reference.y[all - 1], number(known["lam_last"]), 1e-10);
    const auto compare = [&](const std::string& method, const auto& solve) {
      const std::string key = fmt::format("{} rho={:g}", method, rho);
      const json& golden = data()["stokes_mac"][key];
      for (std::size_t k = 0; k < 3; ++k) {
        const int steps = golden["N"][k];
        const std::vector<double> x = solve(steps);
        const std::string what = fmt::format("{} N = {}", key, steps);
        expect_error(largest_difference(x, reference.y, 0, nq), number(golden["err_q_lam"][k][0]), 1e-3, 1e-12, what);
        expect_error(largest_difference(x, reference.y, nq, all), number(golden["err_q_lam"][k][1]), 1e-3, 1e-10, what);
        if (k == 2) expect_values(x, golden["values_finest"], 1e-10, what);
      }
    };
    for (const int stages : {2, 3})
      compare(fmt::format("Radau{}", stages),
              [&](int steps) { return radau(system, flow.start(), stages, 0.2, steps).y; });
    const Solution exact = [&](double t) {
      return t == 0 ? consistent_start(*system, 0, flow.start()) : radau(system, flow.start(), 5, t, 1);
    };
    for (const int order : {1, 2})
      compare(fmt::format("BDF{}", order),
              [&](int steps) { return fixed_bdf(system, exact, order, 0.2 / steps, steps).y; });
  }
}

}  // namespace
}  // namespace hinge::dae_golden_test
