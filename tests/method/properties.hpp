// What the property harness measures: functions that take a method and a problem and return numbers. What the numbers
// must be is decided in property_test.cpp, from what the method declares.
//
//   orders               least-squares slope of log |error| over log h, for y, z and psi
//   constraint_levels    max |g| and max |g_t + g_y v| over a run
//   energy_drift         max |H - H0| in the first and the last tenth of a run, and the linear trend of H - H0
//   energy_walk          rms of H - H0 over the first hundredth of a run and over all of it: a random walk grows
//   tenfold symplectic_defect    max |omega(D xi, D eta) - omega(xi, eta)| over tangent vectors xi, eta of
//                        {g = 0, g_q H_p = 0}, with D the derivative of one step and omega = dq ^ dp
//   symmetry_defect      |Phi_{-h}(Phi_h x) - x|
//   reversibility_defect |rho Phi_h(rho Phi_h x) - x|, where the map rho reverses the motion
//   momentum_drift       max |J3 - J3(0)|, J3 = q1 p2 - q2 p1
//   difference_of_forms  distance between a run of the Hamiltonian and one of the Lagrangian form
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "formulation/start/consistent_start.hpp"
#include "method/controls.hpp"
#include "method/problems.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge::properties {

using problems::distance;
using problems::Problem;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A Hamiltonian problem about the third axis: J3 is kept, and `reversal` holds the signs of rho on (q, p).
struct Arena {
  Problem problem;
  std::array<double, 6> reversal;
};
inline Arena s2_arena() { return {problems::s2(), {1, -1, 1, -1, 1, -1}}; }
inline Arena torus_arena() { return {problems::torus(), {1, 1, 1, -1, -1, -1}}; }

/// A method at work on a problem, with equal steps. Throws std::runtime_error where a step fails.
class Run {
 public:
  Run(const Problem& problem, const MethodChoice& method)
      : system_(problem.system),
        stepper_(method.bind(system_, {})),
        watch_(system_->structure().has_energy ? system_->evaluation({Quantity::momentum, Quantity::energy})
                                               : system_->evaluation({Quantity::momentum})),
        state_(consistent_start(*system_, 0, problem.start)) {}

  void step(double h) {
    if (const StepResult result = stepper_->step(state_, h); !result) throw std::runtime_error(result.reason);
  }
  void steps(int n, double h) {
    for (int k = 0; k < n; ++k) step(h);
  }
  const State& state() const { return state_; }
  const Stepper& stepper() const { return *stepper_; }
  double energy() { return *look(Quantity::energy); }
  std::vector<double> momentum() {
    const double* p = look(Quantity::momentum);
    return {p, p + system_->nz()};
  }

 private:
  const double* look(Quantity q) {
    watch_->at(state_.t, state_.y.data(), state_.z.data(), state_.psi.data());
    return (*watch_)[q];
  }
  std::shared_ptr<const System> system_;
  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<Evaluation> watch_;
  State state_;
};

// ---- order ----------------------------------------------------------------------------------------------------

struct Orders {
  double y = nan, z = nan, psi = nan;
};

/// Slope of the least-squares line through the points (x, y).
inline double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, sxy = 0, sxx = 0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) sxy += (x[i] - mx) * (y[i] - my), sxx += (x[i] - mx) * (x[i] - mx);
  return sxy / sxx;
}

/// Errors at step sizes from coarse to fine, and the slope through the finest three of them above the plateau of
/// round-off; NaN where there are fewer.
class Ladder {
 public:
  void add(double h, double error, double plateau) {
    if (!(error > plateau)) below_ = true;
    if (below_) return;
    log_h_.push_back(std::log(h));
    log_error_.push_back(std::log(error));
  }
  double order() const {
    if (log_h_.size() < 3) return nan;
    return slope({log_h_.end() - 3, log_h_.end()}, {log_error_.end() - 3, log_error_.end()});
  }

 private:
  bool below_ = false;
  std::vector<double> log_h_, log_error_;
};

/// Observed orders at time `end` against `exact`. Step sizes too coarse for the method's equations are passed over, and
/// errors below what a method's own tolerance makes: `tolerance` in y, and this divided by h and h^2 in z and psi.
inline Orders orders(const Problem& problem, const MethodChoice& method, double end, const State& exact,
                     double tolerance = 0) {
  Ladder y, z, psi;
  for (const int n :
       {3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096}) {
    if (n > 1024 && method.order > 1) break;  // slow convergence is slow to look like its order, too
    const double h = end / n;
    Run run(problem, method);
    try {
      run.steps(n, h);
    } catch (const std::runtime_error&) {
      continue;
    }
    // round-off of a run is about 2e-16 n, that of psi 1e-14 / h^2; of errors 1 % may be round-off
    y.add(h, distance(run.state().y, exact.y), std::max(tolerance, 2e-14 * n));
    z.add(h, distance(run.state().z, exact.z), std::max(tolerance / h, 2e-14 * n));
    psi.add(h, distance(run.state().psi, exact.psi), std::max(tolerance, 1e-12) / (h * h));
  }
  return {y.order(), z.order(), psi.order()};
}

/// The solution of E1, E1lin, E1aff and S1 at time t.
inline State exponential_solution(double t) {
  return {t, {std::exp(2 * t), std::exp(-t)}, {std::exp(2 * t), std::exp(-t)}, {std::exp(t)}};
}

/// A solution exact to round-off: y and z by Gauss-Lobatto of order 12, psi from the acceleration level.
inline State reference_solution(const Problem& problem, double end, double h) {
  Run run(problem, gauss_lobatto(6));
  run.steps(static_cast<int>(std::lround(end / h)), h);
  State s = run.state();
  s.psi = check_start(*problem.system, s.t, s.y, s.z, s.psi).nearest.psi;
  return s;
}

// ---- constraints, energy, momentum ------------------------------------------------------------------------------

struct ConstraintLevels {
  double position = 0, velocity = 0;
};

inline ConstraintLevels constraint_levels(const Problem& problem, const MethodChoice& method, double h, double end) {
  Simulation run(problem.system, method, {.step = h});
  run.start(problem.start);
  run.until(end);
  return {run.report().constraint, run.report().hidden_constraint};
}

struct EnergyDrift {
  double first = 0, last = 0;  ///< max |H - H0| in the first and the last tenth
  double most = 0;             ///< in the whole run
  double trend = 0;            ///< slope of the least-squares line through H - H0, times the length of the run
};

inline EnergyDrift energy_drift(const Problem& problem, const MethodChoice& method, double h, long steps) {
  Run run(problem, method);
  const double h0 = run.energy();
  EnergyDrift drift;
  double sum_xe = 0, sum_xx = 0;
  for (long k = 1; k <= steps; ++k) {
    run.step(h);
    const double error = run.energy() - h0, size = std::abs(error);
    if (10 * k <= steps) drift.first = larger(drift.first, size);
    if (10 * k > 9 * steps) drift.last = larger(drift.last, size);
    drift.most = larger(drift.most, size);
    const double x = (2 * static_cast<double>(k) - static_cast<double>(steps) - 1) / (2 * static_cast<double>(steps));
    sum_xe += x * error;
    sum_xx += x * x;
  }
  drift.trend = sum_xe / sum_xx;
  return drift;
}

/// Is what adds up a random walk? The run is cut into a hundred parts. If sigma is the rms change over one of them, a
/// random walk gets about 10 sigma far; a steady drift gets 100 sigma far.
class Walk {
 public:
  explicit Walk(long steps) : part_(steps / 100) {}
  void add(double x) {
    most_ = larger(most_, std::abs(x));
    if (++count_ % part_ == 0) {
      squares_ += (x - before_) * (x - before_);
      before_ = x;
    }
  }
  double most() const { return most_; }
  /// 1 is usual for a random walk, 10 is a drift.
  double reach() const { return most_ / std::sqrt(squares_); }

 private:
  long part_, count_ = 0;
  double most_ = 0, before_ = 0, squares_ = 0;
};

inline Walk energy_walk(const Problem& problem, const MethodChoice& method, double h, long steps) {
  Run run(problem, method);
  const double h0 = run.energy();
  Walk walk(steps);
  for (long k = 1; k <= steps; ++k) {
    run.step(h);
    walk.add(run.energy() - h0);
  }
  return walk;
}

inline double momentum_drift(const Problem& problem, const MethodChoice& method, double h, int steps) {
  Run run(problem, method);
  const auto j3 = [&] { return run.state().y[0] * run.state().z[1] - run.state().y[1] * run.state().z[0]; };
  const double start = j3();
  double worst = 0;
  for (int k = 0; k < steps; ++k) {
    run.step(h);
    worst = larger(worst, std::abs(j3() - start));
  }
  return worst;
}

// ---- one step as a map on x = (q, p) ------------------------------------------------------------------------------

/// One step from x with nothing remembered of others; psi is where the solver may start.
inline Eigen::VectorXd step_map(const System& system, Stepper& stepper, const Eigen::VectorXd& x,
                                const std::vector<double>& psi, double h) {
  stepper.reset();
  State s{0, {x.data(), x.data() + system.ny()}, {x.data() + system.ny(), x.data() + x.size()}, psi};
  if (const StepResult result = stepper.step(s, h); !result) throw std::runtime_error(result.reason);
  Eigen::VectorXd out(x.size());
  std::copy(s.y.begin(), s.y.end(), out.data());
  std::copy(s.z.begin(), s.z.end(), out.data() + system.ny());
  return out;
}

inline Eigen::VectorXd phase_point(const State& s) {
  Eigen::VectorXd x(static_cast<Eigen::Index>(s.y.size() + s.z.size()));
  std::copy(s.y.begin(), s.y.end(), x.data());
  std::copy(s.z.begin(), s.z.end(), x.data() + s.y.size());
  return x;
}

/// Orthonormal columns that span the tangent space of {g = 0, g_q v = 0}.
inline Eigen::MatrixXd tangent_basis(const System& system, const State& s) {
  using Q = Quantity;
  const auto e = system.evaluation({Q::constraint_y, Q::constraint_rate_y, Q::constraint_rate_z});
  e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const auto matrix = [&](Q q) { return controls::dense(system.pattern(q), (*e)[q]); };
  const int m = system.ng(), n = system.ny();
  Eigen::MatrixXd normals(2 * m, 2 * n);
  normals << matrix(Q::constraint_y), Eigen::MatrixXd::Zero(m, n), matrix(Q::constraint_rate_y),
      matrix(Q::constraint_rate_z);
  const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(normals.transpose()).householderQ();
  return q.rightCols(2 * (n - m));
}

/// D xi by differences of fourth order. Points beside the constraints are no trouble: the step is defined there, too.
inline double symplectic_defect(const Problem& problem, const MethodChoice& method, double h) {
  const System& system = *problem.system;
  const auto stepper = method.bind(problem.system, {});
  const State start = consistent_start(system, 0, problem.start);
  const Eigen::VectorXd x = phase_point(start);
  const Eigen::MatrixXd xi = tangent_basis(system, start);
  const double delta = 1e-3;
  Eigen::MatrixXd image(xi.rows(), xi.cols());
  for (Eigen::Index k = 0; k < xi.cols(); ++k) {
    const auto at = [&](int i) { return step_map(system, *stepper, x + i * delta * xi.col(k), start.psi, h); };
    image.col(k) = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * delta);
  }
  const Eigen::Index n = x.size() / 2;
  const auto omega = [n](const Eigen::MatrixXd& a) -> Eigen::MatrixXd {
    const Eigen::MatrixXd half = a.topRows(n).transpose() * a.bottomRows(n);
    return half - half.transpose();
  };
  return (omega(image) - omega(xi)).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

/// |Phi*_{-h}(Phi_h x) - x| with Phi* = `back`, the method itself or what is said to be its adjoint.
inline double return_defect(const Problem& problem, const MethodChoice& method, const MethodChoice& back, double h) {
  const State start = Run(problem, method).state();
  const Eigen::VectorXd x = phase_point(start);
  const auto there = method.bind(problem.system, {}), here = back.bind(problem.system, {});
  const Eigen::VectorXd moved = step_map(*problem.system, *there, x, start.psi, h);
  return (step_map(*problem.system, *here, moved, start.psi, -h) - x).norm();
}

inline double symmetry_defect(const Problem& problem, const MethodChoice& method, double h) {
  return return_defect(problem, method, method, h);
}

inline double reversibility_defect(const Arena& arena, const MethodChoice& method, double h) {
  const State start = Run(arena.problem, method).state();
  const Eigen::VectorXd x = phase_point(start);
  const auto stepper = method.bind(arena.problem.system, {});
  const Eigen::Map<const Eigen::VectorXd> rho(arena.reversal.data(), 6);
  const auto half = [&](const Eigen::VectorXd& from) -> Eigen::VectorXd {
    return rho.cwiseProduct(step_map(*arena.problem.system, *stepper, from, start.psi, h));
  };
  return (half(half(x)) - x).norm();
}

// ---- two forms of one problem -------------------------------------------------------------------------------------

struct FormDifference {
  double position = 0, momentum = 0, multiplier = 0;
};

inline FormDifference difference_of_forms(const Problem& one, const Problem& other, const MethodChoice& method,
                                          double h, int steps) {
  Run a(one, method), b(other, method);
  FormDifference worst;
  for (int k = 0; k < steps; ++k) {
    a.step(h), b.step(h);
    worst.position = larger(worst.position, distance(a.state().y, b.state().y));
    worst.momentum = larger(worst.momentum, distance(a.momentum(), b.momentum()));
    worst.multiplier = larger(worst.multiplier, distance(a.state().psi, b.state().psi));
  }
  return worst;
}

}  // namespace hinge::properties
