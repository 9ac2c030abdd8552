// Pairs of methods that theorems of Petzold and Potra make equal agree to round-off, step by step.
//
// One of each pair is the library's. The other is written down here, row by row, from M, f, G, g_t + G v, c of the
// system, and solved by Newton's iteration with differences: it shares neither equations nor derivatives nor iteration.
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "method/implicit/bdf_runs.hpp"

namespace hinge::bdf_equivalence_test {
namespace {

using namespace bdf_runs;
using Q = Quantity;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const std::vector<std::vector<double>> alpha = {{1, -1},
                                                {3. / 2, -2, 1. / 2},
                                                {11. / 6, -3, 3. / 2, -1. / 3},
                                                {25. / 12, -4, 3, -4. / 3, 1. / 4},
                                                {137. / 60, -5, 5, -10. / 3, 5. / 4, -1. / 5}};

// The functions of a mechanical system at a point, dense.
struct Functions {
  explicit Functions(const Problem& problem)
      : system(problem.system),
        at_(system->evaluation({Q::momentum_z, Q::acceleration_force, Q::constraint, Q::constraint_y,
                                Q::constraint_rate, Q::constraint_curvature})),
        n(system->ny()),
        m(system->ng()) {}
  void at(double t, const VectorXd& p, const VectorXd& v) {
    at_->at(t, p.data(), v.data(), zero.data());
    M = matrix(Q::momentum_z, n);
    G = matrix(Q::constraint_y, n);
    f = Eigen::Map<const VectorXd>((*at_)[Q::acceleration_force], n);
    g = Eigen::Map<const VectorXd>((*at_)[Q::constraint], m);
    rate = Eigen::Map<const VectorXd>((*at_)[Q::constraint_rate], m);
    z = Eigen::Map<const VectorXd>((*at_)[Q::constraint_curvature], m);
  }
  // a and lambda of the saddle point problem
  std::pair<VectorXd, VectorXd> eta_zeta() const {
    MatrixXd saddle = MatrixXd::Zero(n + m, n + m);
    saddle << M, G.transpose(), G, MatrixXd::Zero(m, m);
    VectorXd right(n + m);
    right << f, -z;
    const VectorXd solution = saddle.partialPivLu().solve(right);
    return {solution.head(n), solution.tail(m)};
  }

  std::shared_ptr<const System> system;
  std::unique_ptr<Evaluation> at_;
  Index n, m;
  VectorXd zero = VectorXd::Zero(64);
  MatrixXd M, G;
  VectorXd f, g, rate, z;

 private:
  MatrixXd matrix(Q q, Index columns) const {
    const Pattern& pattern = system->pattern(q);
    MatrixXd out = MatrixXd::Zero(pattern.rows, columns);
    for (int i = 0; i < pattern.rows; ++i)
      for (int k = pattern.row_start[std::size_t(i)]; k < pattern.row_start[std::size_t(i) + 1]; ++k)
        out(i, pattern.column[std::size_t(k)]) = (*at_)[q][k];
    return out;
  }
};

using Residual = std::function<VectorXd(const VectorXd&)>;

// Newton's iteration with central differences, until increments no longer shrink.
VectorXd solve(const Residual& residual, VectorXd x) {
  double last = INFINITY;
  for (int k = 0; k < 60; ++k) {
    const VectorXd r = residual(x);
    static thread_local MatrixXd jacobian;
    if (k % 4 == 0) {
      jacobian.resize(r.size(), x.size());
      for (Index j = 0; j < x.size(); ++j) {
        const double d = 1e-5 * std::max(1.0, std::abs(x[j]));
        VectorXd up = x, down = x;
        up[j] += d;
        down[j] -= d;
        jacobian.col(j) = (residual(up) - residual(down)) / (2 * d);
      }
    }
    const VectorXd d = jacobian.partialPivLu().solve(r);
    x -= d;
    const double size = d.cwiseAbs().maxCoeff();
    if (k > 3 && size >= 0.5 * last && size < 1e-9) return x;
    last = size;
  }
  ADD_FAILURE() << "no convergence, increment " << last;
  return x;
}

VectorXd vector(const std::vector<double>& x) { return Eigen::Map<const VectorXd>(x.data(), Index(x.size())); }
std::vector<double> list(const VectorXd& x) { return {x.data(), x.data() + x.size()}; }

struct Step {
  double t;
  VectorXd p_known, v_known;  // rho p = c p + p_known
  double c;
  const State& last;
};

// BDF on rows that are given: unknowns of a step -> state. `rows` are for x = (p, v, more).
using Rows = std::function<VectorXd(const Step&, const VectorXd&)>;
std::vector<State> run_rows(const Problem& problem, int k, double h, int steps, Index more, const Rows& rows,
                            const std::function<VectorXd(const VectorXd&)>& lambda) {
  std::vector<State> states = exact_states(problem, k, h);
  const Index n = problem.system->ny();
  VectorXd x = VectorXd::Zero(2 * n + more);
  for (int i = k; i <= steps; ++i) {
    const auto& a = alpha[std::size_t(k - 1)];
    Step step{i * h, VectorXd::Zero(n), VectorXd::Zero(n), a[0] / h, states.back()};
    for (int j = 1; j <= k; ++j) {
      const State& s = states[states.size() - std::size_t(j)];
      step.p_known += a[std::size_t(j)] / h * vector(s.y);
      step.v_known += a[std::size_t(j)] / h * vector(s.z);
    }
    x.head(n) = vector(states.back().y);
    x.segment(n, n) = vector(states.back().z);
    x = solve([&](const VectorXd& u) { return rows(step, u); }, x);
    states.push_back({i * h, list(x.head(n)), list(x.segment(n, n)), list(lambda(x))});
  }
  return states;
}

MatrixXd kernel(const MatrixXd& g) {
  const Eigen::HouseholderQR<MatrixXd> qr(g.transpose());
  return MatrixXd(qr.householderQ()).rightCols(g.cols() - g.rows());
}

struct Limits {
  double p, v, lambda;
};
void expect_equal(const std::vector<State>& a, const std::vector<State>& b, Limits limits, const std::string& what) {
  const Triple d = difference(a, b);
  EXPECT_LT(d[0], limits.p) << what;
  EXPECT_LT(d[1], limits.v) << what;
  EXPECT_LT(d[2], limits.lambda) << what;
}

constexpr double h = 1 / 80.0;
constexpr int steps = 40;

template <class Test>
void for_each_problem(Test&& test) {
  using namespace dae_problems;
  for (const Problem& problem : {pendulum(), pivot(), hoop(), slider_crank()})
    for (const int k : {1, 2, 3, 5}) test(problem, k, fmt::format("{} BDF{}", problem.name, k));
}

// A^T (rho p - v) = 0, A^T (rho v - w) = 0 with A a basis of ker G(t_n, p_n)
TEST(BdfEquivalence, ProjectedInvariantsIsTheStateSpaceFormInTheTangentSpaceAtTheNewPoint) {
  for_each_problem([](const Problem& problem, int k, const std::string& what) {
    Functions e(problem);
    const Index n = e.n, m = e.m;
    const Rows rows = [&](const Step& s, const VectorXd& x) {
      const VectorXd p = x.head(n), v = x.segment(n, n), w = x.segment(2 * n, n), lambda = x.tail(m);
      e.at(s.t, vector(s.last.y), vector(s.last.z));
      const MatrixXd a = kernel(e.G);
      e.at(s.t, p, v);
      const MatrixXd gg = (e.G * e.G.transpose()).inverse();
      const auto tangent = [&](const VectorXd& r) { return a.transpose() * (r - e.G.transpose() * (gg * (e.G * r))); };
      VectorXd r(3 * n + m);
      r << tangent(s.c * p + s.p_known - v), tangent(s.c * v + s.v_known - w), e.M * w + e.G.transpose() * lambda - e.f,
          e.G * w + e.z, e.rate, e.g;
      return r;
    };
    const auto state_space = run_rows(problem, k, h, steps, n + m, rows, [&](const VectorXd& x) { return x.tail(m); });
    expect_equal(run(problem, named("pi332", k), h, steps), state_space, {1e-13, 1e-12, 1e-11}, what);
  });
}

// the same with ker G(t_{n-1}, p_{n-1}), and G_{n-1}^T in the place of G^T beside mu and tau
TEST(BdfEquivalence, TangentSpaceIsProjectedInvariantsWithTheLastGradient) {
  for_each_problem([](const Problem& problem, int k, const std::string& what) {
    Functions e(problem), before(problem);
    const Index n = e.n, m = e.m;
    const Rows rows = [&](const Step& s, const VectorXd& x) {
      const VectorXd p = x.head(n), v = x.segment(n, n), lambda = x.segment(2 * n, m), mu = x.segment(2 * n + m, m),
                     tau = x.tail(m);
      before.at(s.last.t, vector(s.last.y), vector(s.last.z));
      e.at(s.t, p, v);
      const VectorXd w = s.c * v + s.v_known + before.G.transpose() * tau;
      VectorXd r(2 * n + 3 * m);
      r << s.c * p + s.p_known - v + before.G.transpose() * mu, e.M * w + e.G.transpose() * lambda - e.f, e.G * w + e.z,
          e.rate, e.g;
      return r;
    };
    const auto projected =
        run_rows(problem, k, h, steps, 3 * m, rows, [&](const VectorXd& x) { return x.segment(2 * n, m); });
    expect_equal(run(problem, named("lssPrev", k), h, steps), projected, {1e-13, 1e-12, 1e-11}, what);
  });
}

// u' = s, s' = A^T eta(t, phi_1(u), phi_2(u, s)): an ODE whose right-hand side solves the constraints
TEST(BdfEquivalence, CoordinatePartitioningIsBdfOnTheStateSpaceOde) {
  for_each_problem([](const Problem& problem, int k, const std::string& what) {
    Functions e(problem);
    const Index n = e.n, m = e.m, own = n - 1;  // the coordinate that pivoting leaves over
    ASSERT_EQ(n - m, 1);
    const auto place = [&](double t, double u, VectorXd p) {
      for (int j = 0; j < 50; ++j) {
        e.at(t, p, VectorXd::Zero(n));
        MatrixXd all(n, n);
        all << e.G, MatrixXd::Identity(n, n).row(own);
        VectorXd r(n);
        r << e.g, p[own] - u;
        const VectorXd d = all.partialPivLu().solve(r);
        p -= d;
        if (d.cwiseAbs().maxCoeff() < 1e-15) break;
      }
      return p;
    };
    const auto speed = [&](double t, double s, const VectorXd& p) {
      e.at(t, p, VectorXd::Zero(n));
      MatrixXd all(n, n);
      all << e.G, MatrixXd::Identity(n, n).row(own);
      VectorXd r(n);
      r << -e.rate, s;  // at v = 0 the rate is g_t
      return VectorXd(all.partialPivLu().solve(r));
    };
    std::vector<State> states = exact_states(problem, k, h);
    for (int i = k; i <= steps; ++i) {
      const auto& a = alpha[std::size_t(k - 1)];
      double u_known = 0, s_known = 0;
      for (int j = 1; j <= k; ++j) {
        u_known += a[std::size_t(j)] / h * states[states.size() - std::size_t(j)].y[std::size_t(own)];
        s_known += a[std::size_t(j)] / h * states[states.size() - std::size_t(j)].z[std::size_t(own)];
      }
      VectorXd p = vector(states.back().y), v;
      VectorXd x(2);
      x << p[own], states.back().z[std::size_t(own)];
      x = solve(
          [&](const VectorXd& us) {
            p = place(i * h, us[0], p);
            v = speed(i * h, us[1], p);
            e.at(i * h, p, v);
            VectorXd r(2);
            r << a[0] / h * us[0] + u_known - us[1], a[0] / h * us[1] + s_known - e.eta_zeta().first[own];
            return r;
          },
          x);
      p = place(i * h, x[0], p);
      v = speed(i * h, x[1], p);
      e.at(i * h, p, v);
      states.push_back({i * h, list(p), list(v), list(e.eta_zeta().second)});
    }
    expect_equal(run(problem, named("gcp", k), h, steps), states, {1e-12, 1e-11, 1e-10}, what);
  });
}

TEST(BdfEquivalence, TheSsfIterationSolvesTheExtendedSystem) {
  for_each_problem([](const Problem& problem, int k, const std::string& what) {
    expect_equal(run(problem, named("e317", k), h, steps), run(problem, named("ssf34", k), h, steps),
                 {1e-13, 1e-12, 1e-11}, what);
  });
}

// rho p - v + G^T mu,  M rho v + G^T (lambda + tau) - f,  G M^-1 (f - G^T lambda) + z, V, C
TEST(BdfEquivalence, GglIsTheExtendedSystemWithoutItsSecondGradient) {
  for_each_problem([](const Problem& problem, int k, const std::string& what) {
    Functions e(problem);
    const Index n = e.n, m = e.m;
    std::vector<VectorXd> lambdas;
    const Rows rows = [&](const Step& s, const VectorXd& x) {
      const VectorXd p = x.head(n), v = x.segment(n, n), lambda = x.segment(2 * n, m), mu = x.segment(2 * n + m, m),
                     tau = x.tail(m);
      e.at(s.t, p, v);
      VectorXd r(2 * n + 3 * m);
      r << s.c * p + s.p_known - v + e.G.transpose() * mu,
          e.M * (s.c * v + s.v_known) + e.G.transpose() * (lambda + tau) - e.f,
          e.G * e.M.inverse() * (e.f - e.G.transpose() * lambda) + e.z, e.rate, e.g;
      return r;
    };
    const auto sum = run_rows(problem, k, h, steps, 3 * m, rows, [&](const VectorXd& x) {
      lambdas.push_back(x.segment(2 * n, m));
      return x.segment(2 * n, m) + x.tail(m);
    });
    expect_equal(run(problem, named("ggl", k), h, steps), sum, {1e-13, 1e-12, 1e-11}, what);  // lambda + tau
    for (std::size_t i = 0; i < lambdas.size(); ++i) {                                        // lambda = zeta(p, v)
      const State& s = sum[i + std::size_t(k)];
      e.at(s.t, vector(s.y), vector(s.z));
      EXPECT_LT((lambdas[i] - e.eta_zeta().second).cwiseAbs().maxCoeff(), 1e-11) << what;
    }
  });
}

TEST(BdfEquivalence, GglIsProjectedInvariantsWhereAllMassesAreTheSame) {
  using namespace dae_problems;
  for (const int k : {1, 2, 3, 5}) {
    for (const Problem& problem : {pendulum(), pivot(), hoop()}) {
      const Triple d = difference(run(problem, named("ggl", k), h, steps), run(problem, named("pi332", k), h, steps));
      EXPECT_LT(d[0], 1e-13) << problem.name << k;
      EXPECT_LT(d[1], 1e-12) << problem.name << k;
      EXPECT_GT(d[2], 1e-9) << problem.name << k;  // multipliers are another matter
    }
    const Problem uneven = slider_crank();  // the control
    EXPECT_GT(difference(run(uneven, named("ggl", k), h, steps), run(uneven, named("pi332", k), h, steps))[0], 1e-9);
  }
}

}  // namespace
}  // namespace hinge::bdf_equivalence_test
