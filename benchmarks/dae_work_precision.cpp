// Work against error of methods that choose their steps: Hinge's `bdf` on two formulations and SUNDIALS' IDA, in one
// run.
//
//   pendulum                   mass 1 in the plane, rod 1, from rest in the horizontal, until t = 10
//   double spherical pendulum  masses 1 in space, rods 1, from rest in the horizontal, until t = 10
//
// Hinge gets expressions and interprets them. IDA gets residual and dense Jacobian of the stabilised index-2 form of
// Gear, Gupta and Leimkuhler, written by hand,
//
//   q' = v - G^T mu,   v' = F - G^T lambda,   0 = G(q) v,   0 = g(q)
//
// with the algebraic unknowns left out of its error test. Both are judged by the equations in one or two angles, which
// are integrated by an extrapolated Runge-Kutta method in long double.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "hinge/error.hpp"
#include "hinge/simulate.hpp"
#include "measure.hpp"

namespace {

constexpr double gravity = 9.81, end_time = 10;

// Masses on rods, one after the other: rod i joins point i - 1 (the origin for i = 0) and point i.
struct Chain {
  std::string title;
  int points, dimension;
  int coordinates() const { return points * dimension; }
};

// ------------------------------------------------------------------------------------------------- the reference

using Angles = std::array<long double, 4>;

Angles rates_of_one(const Angles& x) { return {x[2], 0, -static_cast<long double>(gravity) * std::sin(x[0]), 0}; }

//   2 a'' + cos(a-b) b'' = -sin(a-b) b'^2 - 2 gravity sin a,   cos(a-b) a'' + b'' = sin(a-b) a'^2 - gravity sin b
Angles rates_of_two(const Angles& x) {
  const long double s = std::sin(x[0] - x[1]), c = std::cos(x[0] - x[1]), g = gravity;
  const long double first = -s * x[3] * x[3] - 2 * g * std::sin(x[0]);
  const long double second = s * x[2] * x[2] - g * std::sin(x[1]);
  const long double determinant = 2 - c * c;
  return {x[2], x[3], (first - c * second) / determinant, (2 * second - c * first) / determinant};
}

Angles runge_kutta(Angles (*rates)(const Angles&), int steps) {
  const long double h = static_cast<long double>(end_time) / steps;
  const auto shifted = [](Angles x, long double by, const Angles& k) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * k[i];
    return x;
  };
  constexpr long double horizontal = std::numbers::pi_v<long double> / 2;
  Angles x{horizontal, horizontal, 0, 0};
  for (int n = 0; n < steps; ++n) {
    const Angles k1 = rates(x), k2 = rates(shifted(x, h / 2, k1)), k3 = rates(shifted(x, h / 2, k2));
    const Angles k4 = rates(shifted(x, h, k3));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
  }
  return x;
}

std::vector<double> reference_positions(const Chain& chain) {
  Angles (*rates)(const Angles&) = chain.points == 1 ? rates_of_one : rates_of_two;
  const Angles coarse = runge_kutta(rates, 50'000), fine = runge_kutta(rates, 100'000);
  std::vector<double> q(static_cast<std::size_t>(chain.coordinates()));
  long double x = 0, y = 0;
  for (int k = 0; k < chain.points; ++k) {
    const auto at = static_cast<std::size_t>(k), first = at * static_cast<std::size_t>(chain.dimension);
    const long double angle = fine[at] + (fine[at] - coarse[at]) / 15;
    q[first] = static_cast<double>(x += std::sin(angle));
    q[first + 1] = static_cast<double>(y -= std::cos(angle));
  }
  return q;
}

// --------------------------------------------------------------------------------------------------------- tables

struct Row {
  std::string method;
  double tolerance = 0, error = 0, cpu_ms = 0;
  long steps = 0, rejected = 0, iterations = 0, matrices = 0;
  std::string failure{};
};

double distance(const std::vector<double>& exact, const double* q) {
  double largest = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) largest = std::max(largest, std::abs(exact[k] - q[k]));
  return largest;
}

// --------------------------------------------------------------------------------------------------------- Hinge

std::shared_ptr<const hinge::System> build(const Chain& chain) {
  hinge::Lagrangian system;
  const auto dimension = static_cast<std::size_t>(chain.dimension);
  const auto q = system.coordinates("q", {chain.points, chain.dimension});
  const auto v = system.velocity(q);
  system.kinetic(0.5 * dot(v, v));
  hinge::Expression height = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(chain.points); ++k) {
    const auto point = q.segment(k * dimension, dimension);
    height += point[1];
    const auto rod = k == 0 ? point : point - q.segment((k - 1) * dimension, dimension);
    system.constrain(0.5 * (dot(rod, rod) - 1.0));
  }
  system.potential(gravity * height);
  return system.build();
}

std::vector<double> start_positions(const Chain& chain) {
  std::vector<double> q(static_cast<std::size_t>(chain.coordinates()));
  for (int k = 0; k < chain.points; ++k) q[static_cast<std::size_t>(k * chain.dimension)] = k + 1;
  return q;
}

Row run_hinge(const Chain& chain, const std::string& method, const hinge::Options& options, double tolerance,
              const std::vector<double>& exact, int repeats) {
  Row row{.method = "Hinge, " + method, .tolerance = tolerance};
  for (const auto& [key, value] : options) row.method += " " + std::get<std::string>(value);
  std::vector<double> cpu;
  try {
    for (int k = 0; k < repeats; ++k) {
      hinge::Simulation run(build(chain), hinge::make_method(method, options), {.tolerance = {tolerance, tolerance}});
      run.start({.position = start_positions(chain)});
      cpu.push_back(1e3 * bench::time_of([&] { run.until(end_time); }));
      const hinge::Report report = run.report();
      row.error = distance(exact, run.state().y.data());
      row.steps = report.steps;
      row.rejected = report.rejected;
      row.iterations = report.counters.iterations;
      row.matrices = report.counters.factorisations;
    }
    row.cpu_ms = bench::median(cpu);
  } catch (const hinge::Error& error) {
    row.failure = error.what();
  }
  return row;
}

// ----------------------------------------------------------------------------------------------------------- IDA

// x = (q, v, lambda, mu). G is linear in q, so that d(G(q) v)/dq = G(v).
int residual(double, N_Vector vector_x, N_Vector vector_rate, N_Vector vector_out, void* data) {
  const Chain& chain = *static_cast<const Chain*>(data);
  const int n = chain.coordinates(), m = chain.points, d = chain.dimension;
  const double* q = N_VGetArrayPointer(vector_x);
  const double *v = q + n, *lambda = v + n, *mu = lambda + m, *rate = N_VGetArrayPointer(vector_rate);
  double* out = N_VGetArrayPointer(vector_out);
  for (int k = 0; k < n; ++k) {
    out[k] = rate[k] - v[k];
    out[n + k] = rate[n + k] + (k % d == 1 ? gravity : 0.0);
  }
  for (int i = 0; i < m; ++i) {
    double square = 0, product = 0;
    for (int k = i * d; k < (i + 1) * d; ++k) {
      const double rod = i == 0 ? q[k] : q[k] - q[k - d], slide = i == 0 ? v[k] : v[k] - v[k - d];
      square += rod * rod;
      product += rod * slide;
      out[k] += rod * mu[i];
      out[n + k] += rod * lambda[i];
      if (i == 0) continue;
      out[k - d] -= rod * mu[i];
      out[n + k - d] -= rod * lambda[i];
    }
    out[2 * n + i] = product;
    out[2 * n + m + i] = (square - 1) / 2;
  }
  return 0;
}

// dR/dx + c dR/dx'; IDA hands over a matrix of zeros.
int jacobian(double, double c, N_Vector vector_x, N_Vector, N_Vector, SUNMatrix matrix, void* data, N_Vector, N_Vector,
             N_Vector) {
  const Chain& chain = *static_cast<const Chain*>(data);
  const int n = chain.coordinates(), m = chain.points, d = chain.dimension;
  const double* q = N_VGetArrayPointer(vector_x);
  const double *v = q + n, *lambda = v + n, *mu = lambda + m;
  const auto at = [matrix](int i, int j) -> double& { return SM_ELEMENT_D(matrix, i, j); };
  for (int k = 0; k < n; ++k) {
    at(k, k) += c;
    at(k, n + k) -= 1;
    at(n + k, n + k) += c;
  }
  for (int i = 0; i < m; ++i)
    for (int k = i * d; k < (i + 1) * d; ++k)
      for (const int end : {k, k - d}) {
        if (end < 0) continue;
        const double sign = end == k ? 1 : -1;
        const double rod = sign * (i == 0 ? q[k] : q[k] - q[k - d]), slide = sign * (i == 0 ? v[k] : v[k] - v[k - d]);
        at(end, 2 * n + m + i) += rod;
        at(n + end, 2 * n + i) += rod;
        at(2 * n + i, n + end) += rod;
        at(2 * n + i, end) += slide;
        at(2 * n + m + i, end) += rod;
        for (const int other : {k, k - d}) {
          if (other < 0) continue;
          const double both = sign * (other == k ? 1 : -1);
          at(end, other) += both * mu[i];
          at(n + end, other) += both * lambda[i];
        }
      }
  return 0;
}

class Ida {
 public:
  Ida(const Chain& chain, double tolerance) : chain_(chain), n_(chain.coordinates()) {
    const int unknowns = 2 * n_ + 2 * chain.points;
    SUNContext_Create(nullptr, &context_);
    x_ = N_VNew_Serial(unknowns, context_);
    rate_ = N_VClone(x_);
    id_ = N_VClone(x_);
    for (N_Vector v : {x_, rate_, id_}) N_VConst(0.0, v);
    const std::vector<double> q = start_positions(chain);
    std::copy(q.begin(), q.end(), N_VGetArrayPointer(x_));
    for (int k = 0; k < n_; ++k)  // at rest with horizontal rods the masses begin to fall freely
      if (k % chain.dimension == 1) N_VGetArrayPointer(rate_)[n_ + k] = -gravity;
    for (int k = 0; k < 2 * n_; ++k) N_VGetArrayPointer(id_)[k] = 1;
    memory_ = IDACreate(context_);
    IDASetErrHandlerFn(memory_, keep_message, this);
    IDAInit(memory_, residual, 0.0, x_, rate_);
    IDASetUserData(memory_, &chain_);
    IDASStolerances(memory_, tolerance, tolerance);
    IDASetId(memory_, id_);
    IDASetSuppressAlg(memory_, SUNTRUE);
    IDASetMaxNumSteps(memory_, 10'000'000);
    IDASetStopTime(memory_, end_time);
    matrix_ = SUNDenseMatrix(unknowns, unknowns, context_);
    solver_ = SUNLinSol_Dense(x_, matrix_, context_);
    IDASetLinearSolver(memory_, solver_, matrix_);
    IDASetJacFn(memory_, jacobian);
  }
  ~Ida() {
    IDAFree(&memory_);
    SUNLinSolFree(solver_);
    SUNMatDestroy(matrix_);
    for (N_Vector v : {id_, rate_, x_}) N_VDestroy(v);
    SUNContext_Free(&context_);
  }
  Ida(const Ida&) = delete;
  Ida& operator=(const Ida&) = delete;

  std::string run() {
    double t = 0;
    const int flag = IDASolve(memory_, end_time, &t, x_, rate_, IDA_NORMAL);
    return flag >= 0 ? "" : fmt::format("IDA's code {} at t = {:.4g}: {}", flag, t, message_);
  }
  const double* values() const { return N_VGetArrayPointer(x_); }
  void count(Row& row) const {
    long failures = 0, unsolved = 0;
    IDAGetNumSteps(memory_, &row.steps);
    IDAGetNumErrTestFails(memory_, &failures);
    IDAGetNumNonlinSolvConvFails(memory_, &unsolved);
    IDAGetNumNonlinSolvIters(memory_, &row.iterations);
    IDAGetNumJacEvals(memory_, &row.matrices);
    row.rejected = failures + unsolved;
  }

 private:
  static void keep_message(int code, const char*, const char*, char* message, void* self) {
    if (code < 0) static_cast<Ida*>(self)->message_ = message;
  }
  Chain chain_;
  int n_;
  SUNContext context_ = nullptr;
  N_Vector x_ = nullptr, rate_ = nullptr, id_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* memory_ = nullptr;
  std::string message_;
};

Row run_ida(const Chain& chain, double tolerance, const std::vector<double>& exact, int repeats) {
  Row row{.method = "IDA, ggl by hand", .tolerance = tolerance};
  std::vector<double> cpu;
  for (int k = 0; k < repeats && row.failure.empty(); ++k) {
    Ida ida(chain, tolerance);
    cpu.push_back(1e3 * bench::time_of([&] { row.failure = ida.run(); }));
    row.error = distance(exact, ida.values());
    ida.count(row);
  }
  row.cpu_ms = bench::median(cpu);
  return row;
}

void print(const Row& row) {
  if (!row.failure.empty()) {
    fmt::print("{:<32} {:>8.0e} failed: {}\n", row.method, row.tolerance, row.failure);
    return;
  }
  fmt::print("{:<32} {:>8.0e} {:>10.1e} {:>9.3f} {:>7} {:>8} {:>9} {:>8}\n", row.method, row.tolerance, row.error,
             row.cpu_ms, row.steps, row.rejected, row.iterations, row.matrices);
}

// Time at a given error: interpolated, log against log, on the front of a method's runs that no other run of it beats.
std::optional<double> cost_at(double error, std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return !row.failure.empty(); });
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.cpu_ms < b.cpu_ms; });
  const Row* previous = nullptr;
  for (const Row& row : rows) {
    if (previous && row.error >= previous->error) continue;
    if (row.error <= error) {
      if (!previous) return std::nullopt;
      const double part = std::log(error / previous->error) / std::log(row.error / previous->error);
      return previous->cpu_ms * std::pow(row.cpu_ms / previous->cpu_ms, part);
    }
    previous = &row;
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  const int repeats = quick ? 3 : 7;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print(
      "Work against error at t = {:g}; processor time of the integration alone, median of {} runs.\n"
      "Debian compiles SUNDIALS without optimisation: a tuned build of IDA is 2.5 to 4.6 times faster. Hinge's time\n"
      "includes its watch over |g|, |G v| and the energy at every step.\n",
      end_time, repeats);
  const auto form = [](const char* name) { return hinge::Options{{"formulation", std::string(name)}}; };
  for (const Chain& chain : {Chain{"pendulum", 1, 2}, Chain{"double spherical pendulum", 2, 3}}) {
    const std::vector<double> exact = reference_positions(chain);
    fmt::print("\n{}\n\n{:<32} {:>8} {:>10} {:>9} {:>7} {:>8} {:>9} {:>8}\n", chain.title, "method", "tol", "error",
               "CPU ms", "steps", "rejected", "Newton", "matrices");
    std::vector<std::vector<Row>> all(3);
    for (int digits = 4; digits <= 11; digits += quick ? 2 : 1) {
      const double tolerance = std::pow(10.0, -digits);
      all[0].push_back(run_hinge(chain, "bdf", form("projected-invariants"), tolerance, exact, repeats));
      all[1].push_back(run_hinge(chain, "bdf", form("ggl"), tolerance, exact, repeats));
      all[2].push_back(run_ida(chain, tolerance, exact, repeats));
    }
    for (const auto& rows : all)
      for (const Row& row : rows) print(row);
    fmt::print("\nCPU ms at equal error (log-log interpolation on each method's front)\n{:<8}", "error");
    for (const auto& rows : all) fmt::print(" {:>32}", rows.front().method);
    fmt::print(" {:>16}\n", "IDA / best Hinge");
    for (const double error : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
      std::array<std::optional<double>, 3> cost;
      fmt::print("{:<8.0e}", error);
      for (std::size_t k = 0; k < 3; ++k) {
        cost[k] = cost_at(error, all[k]);
        fmt::print(" {:>32}", cost[k] ? fmt::format("{:.3f}", *cost[k]) : "-");
      }
      const double own = std::min(cost[0].value_or(INFINITY), cost[1].value_or(INFINITY));
      fmt::print(" {:>16}\n", cost[2] && std::isfinite(own) ? fmt::format("{:.2f}", *cost[2] / own) : "-");
    }
  }
}
