// SUNDIALS' IDA as a careful user calls it: the stabilised index-2 form of Gear, Gupta and Leimkuhler,
//
//   q' = v - G^T mu,   M v' = f - G^T lambda,   0 = G(q) v,   0 = g(q),      x = (q, v, lambda, mu)
//
// with residual and dense Jacobian written by hand, and the algebraic unknowns left out of its error test.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "andrews_by_hand.hpp"

namespace bench {

struct IdaProblem {
  IDAResFn residual;
  IDALsJacFn jacobian;
  int differential;             ///< unknowns; they come first
  std::vector<double> x, rate;  ///< at the start
  double end;
  void* data;
  double first_step = 0;         ///< 0: IDA's choice
  double loose_multipliers = 1;  ///< times the absolute tolerance, for lambda and mu
};

struct IdaCounts {
  long steps = 0, rejected = 0, iterations = 0, matrices = 0;
};

/// IDA prepared for one run. Every object of SUNDIALS is freed in the reverse order of its making.
class Ida {
 public:
  Ida(const IdaProblem& problem, double tolerance) : end_(problem.end) {
    const auto n = static_cast<sunindextype>(problem.x.size());
    SUNContext_Create(nullptr, &context_);
    x_ = N_VNew_Serial(n, context_);
    rate_ = N_VClone(x_);
    id_ = N_VClone(x_);
    std::copy(problem.x.begin(), problem.x.end(), N_VGetArrayPointer(x_));
    std::copy(problem.rate.begin(), problem.rate.end(), N_VGetArrayPointer(rate_));
    for (sunindextype k = 0; k < n; ++k) N_VGetArrayPointer(id_)[k] = k < problem.differential ? 1 : 0;
    memory_ = IDACreate(context_);
    IDASetErrHandlerFn(memory_, keep_message, this);
    IDAInit(memory_, problem.residual, 0.0, x_, rate_);
    IDASetUserData(memory_, problem.data);
    absolute_ = N_VClone(x_);
    for (sunindextype k = 0; k < n; ++k)
      N_VGetArrayPointer(absolute_)[k] = tolerance * (k < problem.differential ? 1 : problem.loose_multipliers);
    IDASVtolerances(memory_, tolerance, absolute_);
    IDASetId(memory_, id_);
    IDASetSuppressAlg(memory_, SUNTRUE);
    IDASetMaxNumSteps(memory_, 10'000'000);
    IDASetStopTime(memory_, end_);
    if (problem.first_step > 0) IDASetInitStep(memory_, problem.first_step);
    matrix_ = SUNDenseMatrix(n, n, context_);
    solver_ = SUNLinSol_Dense(x_, matrix_, context_);
    IDASetLinearSolver(memory_, solver_, matrix_);
    IDASetJacFn(memory_, problem.jacobian);
  }
  ~Ida() {
    IDAFree(&memory_);
    SUNLinSolFree(solver_);
    SUNMatDestroy(matrix_);
    for (N_Vector v : {absolute_, id_, rate_, x_}) N_VDestroy(v);
    SUNContext_Free(&context_);
  }
  Ida(const Ida&) = delete;
  Ida& operator=(const Ida&) = delete;

  /// To the end in one call, as a user would. Empty, or why it failed.
  std::string run() { return outcome(IDASolve(memory_, end_, &time_, x_, rate_, IDA_NORMAL)); }

  /// To the end with a look at every step.
  std::string run_watching(const std::function<void(const double*)>& look) {
    int flag = IDA_SUCCESS;
    while (flag == IDA_SUCCESS) {
      flag = IDASolve(memory_, end_, &time_, x_, rate_, IDA_ONE_STEP);
      if (flag >= 0) look(values());
    }
    return outcome(flag);
  }

  const double* values() const { return N_VGetArrayPointer(x_); }
  IdaCounts counts() const {
    IdaCounts c;
    long failures = 0, unsolved = 0;
    IDAGetNumSteps(memory_, &c.steps);
    IDAGetNumErrTestFails(memory_, &failures);
    IDAGetNumNonlinSolvConvFails(memory_, &unsolved);
    IDAGetNumNonlinSolvIters(memory_, &c.iterations);
    IDAGetNumJacEvals(memory_, &c.matrices);
    c.rejected = failures + unsolved;
    return c;
  }

 private:
  static void keep_message(int code, const char*, const char*, char* message, void* self) {
    if (code < 0) static_cast<Ida*>(self)->message_ = message;  // positive codes are warnings
  }
  std::string outcome(int flag) const {
    return flag >= 0 ? "" : fmt::format("IDA's code {} at t = {:.4g}: {}", flag, time_, message_);
  }

  double end_, time_ = 0;
  SUNContext context_ = nullptr;
  N_Vector x_ = nullptr, rate_ = nullptr, id_ = nullptr, absolute_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* memory_ = nullptr;
  std::string message_;
};

// -------------------------------------------------------------------------------------------- masses on rods

/// Unit masses on rods of length 1, one after the other: rod i joins point i - 1 (the origin for i = 0) and point i.
/// G is linear in q, so that d(G(q) v)/dq = G(v).
struct Rods {
  static constexpr double gravity = 9.81;
  int points, dimension;
  int coordinates() const { return points * dimension; }

  static int residual(double, N_Vector vector_x, N_Vector vector_rate, N_Vector vector_out, void* data) {
    const Rods& rods = *static_cast<const Rods*>(data);
    const int n = rods.coordinates(), m = rods.points, d = rods.dimension;
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
  static int jacobian(double, double c, N_Vector vector_x, N_Vector, N_Vector, SUNMatrix matrix, void* data, N_Vector,
                      N_Vector, N_Vector) {
    const Rods& rods = *static_cast<const Rods*>(data);
    const int n = rods.coordinates(), m = rods.points, d = rods.dimension;
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

  // At rest with horizontal rods the multipliers are zero, and the masses begin to fall freely.
  IdaProblem ida(double end) {
    const int n = coordinates();
    const auto size = static_cast<std::size_t>(2 * n + 2 * points);
    IdaProblem p{residual, jacobian, 2 * n, std::vector<double>(size), std::vector<double>(size), end, this};
    for (int k = 0; k < points; ++k) {
      p.x[static_cast<std::size_t>(k * dimension)] = k + 1;
      p.rate[static_cast<std::size_t>(n + k * dimension + 1)] = -gravity;
    }
    return p;
  }
};

// --------------------------------------------------------------------------------------------------- Andrews

/// g_j is a sum of sines and cosines of seven sums of angles; a term's second derivative is minus the term.
struct AndrewsIda : Andrews {
  static constexpr int n = 7, m = 6;
  struct Term {
    int angle;            ///< beta, beta + Theta, gamma, Phi + delta, delta, Omega + eps, eps
    double value, slope;  ///< and the derivative by that angle
  };
  using Rows = std::array<std::array<Term, 3>, 6>;
  static constexpr int first[7] = {0, 0, 2, 3, 4, 5, 6}, second[7] = {-1, 1, -1, 4, -1, 6, -1};
  static double sum_of(int angle, const double* q) {
    return second[angle] < 0 ? q[first[angle]] : q[first[angle]] + q[second[angle]];
  }

  Rows rows(const double* q) const {
    double s[7], c[7];
    for (int k = 0; k < 7; ++k) s[k] = std::sin(sum_of(k, q)), c[k] = std::cos(sum_of(k, q));
    const Term x0{0, rr * c[0], -rr * s[0]}, x1{1, -d * c[1], d * s[1]};
    const Term y0{0, rr * s[0], rr * c[0]}, y1{1, -d * s[1], -d * c[1]};
    return {{{x0, x1, {2, -ss * s[2], -ss * c[2]}},
             {y0, y1, {2, ss * c[2], -ss * s[2]}},
             {x0, x1, {3, -e * s[3], -e * c[3]}},
             {y0, y1, {3, e * c[3], -e * s[3]}},
             {x0, x1, {5, -zf * c[5], zf * s[5]}},
             {y0, y1, {5, -zf * s[5], -zf * c[5]}}}};
  }
  // the fourth terms of the last four rows
  std::array<Term, 6> last_terms(const double* q) const {
    const double sdl = std::sin(q[4]), cdl = std::cos(q[4]), se = std::sin(q[6]), ce = std::cos(q[6]);
    return {{{0, 0, 0},
             {0, 0, 0},
             {4, -zt * cdl, zt * sdl},
             {4, -zt * sdl, -zt * cdl},
             {6, -u * se, -u * ce},
             {6, u * ce, -u * se}}};
  }
  template <class Visit>
  void for_each_term(const double* q, Visit&& visit) const {
    const Rows all = rows(q);
    const auto last = last_terms(q);
    for (int j = 0; j < m; ++j) {
      for (const Term& term : all[static_cast<std::size_t>(j)]) visit(j, term);
      if (j > 1) visit(j, last[static_cast<std::size_t>(j)]);
    }
  }

  // What M and f are made of.
  double k1 = m2 * da * rr, k2 = m4 * zt * (e - ea), k3 = m6 * u * (zf - fa);
  double m00 = m1 * ra * ra + m2 * (rr * rr + da * da) + i1 + i2, m11 = m2 * da * da + i2,
         m22 = m3 * (sa * sa + sb * sb) + i3, m33 = m4 * (e - ea) * (e - ea) + i4,
         m44 = m33 + m4 * zt * zt + m5 * (ta * ta + tb * tb) + i5, m55 = m6 * (zf - fa) * (zf - fa) + i6,
         m66 = m55 + m6 * u * u + m7 * (ua * ua + ub * ub) + i7;
  struct Spring {
    double force, slope;  ///< -c0 (l - l0) l' and its derivative by gamma
  };
  Spring spring(double gamma) const {
    const double s = std::sin(gamma), c = std::cos(gamma);
    const double x = sd * c + sc * s + xb - xc, y = sd * s - sc * c + yb - yc, l = std::sqrt(x * x + y * y);
    const double dx = sc * c - sd * s, dy = sd * c + sc * s, dl = (x * dx + y * dy) / l;
    const double d2l = (dx * dx + dy * dy - x * dy + y * dx - dl * dl) / l;  // x'' = -y', y'' = x'
    return {-c0 * (l - l0) * dl, -c0 * (dl * dl + (l - l0) * d2l)};
  }

  static int residual(double, N_Vector vector_x, N_Vector vector_rate, N_Vector vector_out, void* data) {
    const AndrewsIda& p = *static_cast<const AndrewsIda*>(data);
    const double* q = N_VGetArrayPointer(vector_x);
    const double *v = q + n, *lambda = v + n, *mu = lambda + m, *rate = N_VGetArrayPointer(vector_rate), *w = rate + n;
    double *out = N_VGetArrayPointer(vector_out), *motion = out + n, *level = motion + n, *g = level + m;
    for (int k = 0; k < n; ++k) out[k] = rate[k] - v[k];
    const double st = p.k1 * std::sin(q[1]), ct = p.k1 * std::cos(q[1]), sp = p.k2 * std::sin(q[3]),
                 cp = p.k2 * std::cos(q[3]), so = p.k3 * std::sin(q[5]), co = p.k3 * std::cos(q[5]);
    const double m01 = p.m11 - ct, m34 = p.m33 + sp, m56 = p.m55 - so;
    motion[0] = (p.m00 - 2 * ct) * w[0] + m01 * w[1] - p.mom + st * v[1] * (v[1] + 2 * v[0]);
    motion[1] = m01 * w[0] + p.m11 * w[1] - st * v[0] * v[0];
    motion[2] = p.m22 * w[2] - p.spring(q[2]).force;
    motion[3] = p.m33 * w[3] + m34 * w[4] - cp * v[4] * v[4];
    motion[4] = m34 * w[3] + (p.m44 + 2 * sp) * w[4] + cp * v[3] * (v[3] + 2 * v[4]);
    motion[5] = p.m55 * w[5] + m56 * w[6] + co * v[6] * v[6];
    motion[6] = m56 * w[5] + (p.m66 - 2 * so) * w[6] - co * v[5] * (v[5] + 2 * v[6]);
    const double constant[6] = {p.xb, p.yb, p.xa, p.ya, p.xa, p.ya};
    for (int j = 0; j < m; ++j) g[j] = -constant[j], level[j] = 0;
    p.for_each_term(q, [&](int j, const Term& term) {
      g[j] += term.value;
      level[j] += term.slope * sum_of(term.angle, v);
      for (const int k : {first[term.angle], second[term.angle]}) {
        if (k < 0) continue;
        out[k] += term.slope * mu[j];
        motion[k] += term.slope * lambda[j];
      }
    });
    return 0;
  }

  // dR/dx + c dR/dx'; IDA hands over a matrix of zeros.
  static int jacobian(double, double c, N_Vector vector_x, N_Vector vector_rate, N_Vector, SUNMatrix matrix, void* data,
                      N_Vector, N_Vector, N_Vector) {
    const AndrewsIda& p = *static_cast<const AndrewsIda*>(data);
    const double* q = N_VGetArrayPointer(vector_x);
    const double *v = q + n, *lambda = v + n, *mu = lambda + m, *w = N_VGetArrayPointer(vector_rate) + n;
    const auto at = [matrix](int i, int j) -> double& { return SM_ELEMENT_D(matrix, i, j); };
    const auto by_q = [&](int i, int j) -> double& { return at(n + i, j); };      // rows of the equations of motion
    const auto by_v = [&](int i, int j) -> double& { return at(n + i, n + j); };  // M, and derivatives of f by v
    for (int k = 0; k < n; ++k) at(k, k) = c, at(k, n + k) = -1;
    const double st = p.k1 * std::sin(q[1]), ct = p.k1 * std::cos(q[1]), sp = p.k2 * std::sin(q[3]),
                 cp = p.k2 * std::cos(q[3]), so = p.k3 * std::sin(q[5]), co = p.k3 * std::cos(q[5]);
    by_v(0, 0) = c * (p.m00 - 2 * ct) + 2 * st * v[1];
    by_v(0, 1) = c * (p.m11 - ct) + 2 * st * (v[0] + v[1]);
    by_v(1, 0) = c * (p.m11 - ct) - 2 * st * v[0];
    by_v(1, 1) = c * p.m11;
    by_v(2, 2) = c * p.m22;
    by_v(3, 3) = c * p.m33;
    by_v(3, 4) = c * (p.m33 + sp) - 2 * cp * v[4];
    by_v(4, 3) = c * (p.m33 + sp) + 2 * cp * (v[3] + v[4]);
    by_v(4, 4) = c * (p.m44 + 2 * sp) + 2 * cp * v[3];
    by_v(5, 5) = c * p.m55;
    by_v(5, 6) = c * (p.m55 - so) + 2 * co * v[6];
    by_v(6, 5) = c * (p.m55 - so) - 2 * co * (v[5] + v[6]);
    by_v(6, 6) = c * (p.m66 - 2 * so) - 2 * co * v[5];
    by_q(0, 1) = st * (2 * w[0] + w[1]) + ct * v[1] * (v[1] + 2 * v[0]);
    by_q(1, 1) = st * w[0] - ct * v[0] * v[0];
    by_q(2, 2) = -p.spring(q[2]).slope;
    by_q(3, 3) = cp * w[4] + sp * v[4] * v[4];
    by_q(4, 3) = cp * (w[3] + 2 * w[4]) - sp * v[3] * (v[3] + 2 * v[4]);
    by_q(5, 5) = -co * w[6] - so * v[6] * v[6];
    by_q(6, 5) = -co * (w[5] + 2 * w[6]) + so * v[5] * (v[5] + 2 * v[6]);
    p.for_each_term(q, [&](int j, const Term& term) {
      const int ends[] = {first[term.angle], second[term.angle]};
      const double speed = sum_of(term.angle, v);
      for (const int k : ends) {
        if (k < 0) continue;
        at(k, 2 * n + m + j) += term.slope;
        at(n + k, 2 * n + j) += term.slope;
        at(2 * n + j, n + k) += term.slope;
        at(2 * n + j, k) -= term.value * speed;
        at(2 * n + m + j, k) += term.slope;
        for (const int l : ends) {
          if (l < 0) continue;
          at(k, l) -= term.value * mu[j];
          at(n + k, l) -= term.value * lambda[j];
        }
      }
    });
    return 0;
  }

  IdaProblem ida() {
    IdaProblem p{residual,     jacobian, 2 * n, std::vector<double>(2 * n + 2 * m), std::vector<double>(2 * n + 2 * m),
                 Andrews::end, this};
    std::copy(start.begin(), start.end(), p.x.begin());
    // Its own first step is so short that Newton's iteration for mu drowns in rounding. With arms of 0.03, masses of
    // 1e-5 and steps of 1e-5, q and v feel an error in lambda or mu 10^4 times less.
    p.first_step = 1e-6;
    p.loose_multipliers = 1e4;
    AndrewsByHand hand;
    hand.acceleration(p.x.data(), p.x.data() + n, p.rate.data() + n);
    std::copy_n(hand.lambda, m, p.x.begin() + 2 * n);
    return p;
  }
};

}  // namespace bench
