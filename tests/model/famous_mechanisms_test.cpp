// Mechanisms of the literature as model files, against equations that others have derived.
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <Eigen/Dense>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "places.hpp"
#include "run_text.hpp"

namespace hinge::famous_mechanisms_test {
namespace {

using test::value_of;

Model example(const char* name, const std::vector<Override>& overrides = {}) {
  return load_model(fmt::format("{}/{}.toml", HINGE_EXAMPLES, name), overrides);
}

// The linear equations of lean and steering, M q'' + v C q' + (g K0 + v^2 K2) q = (torque, 0), as Meijaard,
// Papadopoulos, Ruina and Schwab print them, Proc. R. Soc. A 463 (2007) 1955-1982, here by the classical method with
// short steps.
std::array<double, 2> linear_bicycle(double v, double push, double end) {
  constexpr double M[2][2] = {{80.81722, 2.31941332208709}, {2.31941332208709, 0.29784188199686}},
                   C[2][2] = {{0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}},
                   K0[2][2] = {{-80.95, -2.59951685249872}, {-2.59951685249872, -0.80329488458618}},
                   K2[2][2] = {{0, 76.59734589573222}, {0, 2.65431523794604}};
  constexpr double det = M[0][0] * M[1][1] - M[0][1] * M[1][0], g = 9.81;
  using Four = std::array<double, 4>;
  double torque = push;
  const auto rate = [&](const Four& x) {
    double f[2] = {torque, 0};
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j) f[i] -= (g * K0[i][j] + v * v * K2[i][j]) * x[j] + v * C[i][j] * x[2 + j];
    return Four{x[2], x[3], (M[1][1] * f[0] - M[0][1] * f[1]) / det, (M[0][0] * f[1] - M[1][0] * f[0]) / det};
  };
  Four x{};
  const auto advance = [&](double time) {
    constexpr int n = 4000;
    const double h = time / n;
    for (int k = 0; k < n; ++k) {
      const auto shifted = [&](const Four& d, double s) {
        Four y = x;
        for (std::size_t i = 0; i < 4; ++i) y[i] += s * d[i];
        return y;
      };
      const Four a = rate(x), b = rate(shifted(a, h / 2)), c = rate(shifted(b, h / 2)), d = rate(shifted(c, h));
      for (std::size_t i = 0; i < 4; ++i) x[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
  };
  advance(0.1);
  torque = 0;
  advance(end - 0.1);
  return {x[0], x[1]};
}

// Small motions are those of the linear equations at several speeds, stable ones and others; what is left is of second
// order in the push.
TEST(FamousMechanisms, TheBicycleOfTheBenchmark) {
  for (const double v : {3.0, 5.0, 8.0}) {
    const Model m = example("bicycle", {{"parameters.push", "0.02"}, {"parameters.v", fmt::format("{}", v)}});
    Simulation s = m.simulation_for("");
    s.start(m.start);
    s.until(2);
    const Report r = s.report();
    const auto [lean, steer] = linear_bicycle(v, 0.02, 2);
    const double size = std::max(std::abs(lean), std::abs(steer));
    EXPECT_NEAR(value_of(r, "lean"), lean, 1e-6 * size) << v;
    EXPECT_NEAR(value_of(r, "steer"), steer, 1e-6 * size) << v;
    EXPECT_LT(r.constraint, 1e-14);
    ASSERT_TRUE(r.velocity_constraint);
    EXPECT_LT(*r.velocity_constraint, 1e-13);
    EXPECT_TRUE(r.doubts.empty());
  }
}

// The model's own linear motion, from rows of a run after a small push: with x = (lean, steer) at steps of T,
// (x_k+1, x_k+2) = A (x_k, x_k+1), and A has the eigenvalues exp(s T). Sorted by their real parts.
std::array<std::complex<double>, 4> eigenvalues_of_the_model(double v) {
  constexpr double T = 0.05;
  const Model m = example("bicycle", {{"parameters.push", "0.05"},
                                      {"parameters.v", fmt::format("{}", v)},
                                      {"integrate.tolerance", "1e-12"},
                                      {"output.interval", fmt::format("{}", T)},
                                      {"integrate.end", "1.6"}});
  Simulation run = m.simulation_for("");
  run.keep_rows();
  run.start(m.start);
  run.until(m.end);
  const std::vector<double> t = run.trajectory().times(), lean = run.trajectory().column("lean"),
                            steer = run.trajectory().column("steer");
  std::vector<Eigen::Vector2d> x;
  for (std::size_t k = 0; k < t.size(); ++k)
    if (t[k] > 0.0999) x.emplace_back(lean[k], steer[k]);
  const auto n = static_cast<Eigen::Index>(x.size()) - 2;
  Eigen::MatrixXd before(n, 4), after(n, 4);
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto i = static_cast<std::size_t>(k);
    before.row(k) << x[i].transpose(), x[i + 1].transpose();
    after.row(k) << x[i + 1].transpose(), x[i + 2].transpose();
  }
  const Eigen::MatrixXd A = before.colPivHouseholderQr().solve(after);
  const Eigen::VectorXcd values = Eigen::EigenSolver<Eigen::MatrixXd>(A.transpose()).eigenvalues();
  std::array<std::complex<double>, 4> s;
  for (std::size_t k = 0; k < 4; ++k) s[k] = std::log(values(static_cast<Eigen::Index>(k))) / T;
  std::sort(s.begin(), s.end(), [](const auto& a, const auto& b) { return a.real() < b.real(); });
  return s;
}

// Eigenvalues of the paper's Table 2 at 5 m/s, and the speeds where the weave ends and capsizing begins, 4.292 and
// 6.024 m/s, found from the motion of the bodies alone.
TEST(FamousMechanisms, TheBicycleIsStableWhereThePaperSays) {
  const auto at5 = eigenvalues_of_the_model(5);
  EXPECT_NEAR(at5[0].real(), -14.07838969279822, 1e-4);  // measured 1e-6
  EXPECT_NEAR(at5[1].real(), -0.77534188219585, 1e-5);
  EXPECT_NEAR(std::abs(at5[1].imag()), 4.46486771378823, 1e-5);
  EXPECT_NEAR(at5[3].real(), -0.32286642900409, 1e-5);
  const auto most = [](double v) { return eigenvalues_of_the_model(v)[3].real(); };
  EXPECT_GT(most(4.287), 1e-3);  // weave; 0.0134 per m/s/0.01
  EXPECT_LT(most(4.297), -1e-3);
  EXPECT_LT(most(6.019), -1e-4);  // capsize
  EXPECT_GT(most(6.029), 1e-4);
}

// Other methods come to the same motion.
TEST(FamousMechanisms, TheBicycleByOtherMethods) {
  const Model m = example("bicycle");
  const auto end = [&](const MethodChoice& method, SimulationOptions options) {
    Simulation s(m.system, method, std::move(options));
    s.start(m.start);
    s.until(0.8);
    return s.state();
  };
  const State exact = end(explicit_runge_kutta(), {.tolerance = {1e-11, 1e-11}});
  const auto near = [&](const State& s, double allowed, const char* name) {
    for (std::size_t k = 0; k < exact.y.size(); ++k) EXPECT_NEAR(s.y[k], exact.y[k], allowed) << name << k;
  };
  near(end(radau(), {.tolerance = {1e-9, 1e-9}}), 1e-6, "radau");
  near(end(make_method("bdf", {}), {.tolerance = {1e-8, 1e-8}}), 1e-4, "bdf");
  near(end(rattle(), {.step = 0.002}), 2e-3, "rattle");
  near(end(make_method("taylor", {}), {.tolerance = {1e-10, 1e-10}}), 1e-8, "taylor");
}

// While the pin is in the slot, the wheel is where geometry puts it, up to the clearance; what impacts and friction
// take comes from the motor, and nothing is created.
TEST(FamousMechanisms, TheGenevaDrive) {
  const Model m = example("geneva-drive");
  Simulation s = m.simulation_for("");
  s.keep_rows();
  s.start(m.start);
  s.until(m.end);
  const Trajectory& rows = s.trajectory();
  const double a = 0.1, r = a * std::sin(std::numbers::pi / 4);
  int inside = 0;
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    const double b = rows.row(k)[3], wheel = rows.row(k)[6];  // t, crank (2), angle, wheel (2), angle
    const double x = a - r * std::cos(b), y = r * std::sin(b), distance = std::hypot(x, y);
    if (std::abs(b) > 0.6) continue;
    ++inside;
    // from -pi/4 on
    EXPECT_NEAR(wheel, -std::atan2(y, x) - std::numbers::pi / 4, 1.3 * 0.0002 / distance) << rows.row(k)[0];
  }
  EXPECT_GT(inside, 15);
  const Report report = s.report();
  EXPECT_NEAR(value_of(report, "turned"), -89.25, 0.1);
  ASSERT_TRUE(report.contacts);
  EXPECT_GT(report.contacts->impact_loss, 0);
  EXPECT_TRUE(report.doubts.empty());
}

}  // namespace
}  // namespace hinge::famous_mechanisms_test
