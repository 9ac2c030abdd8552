// Spectral projected gradient: Barzilai and Borwein's steps with a nonmonotone line search.
//
//   d = P_K(r - a G) - r;   r += t d, t by Armijo against the largest of the last 10 values of f;
//   a = s.s/s.y and s.y/y.y in turn, s = t d, y = t W d, in [1e-10, 1e10]
//
// One product with W per iteration; the gradient is refreshed every 50, since it is carried along.
// Solves: what accelerated-gradient solves. Source: Birgin, Martinez, Raydan (2000).
#include <algorithm>
#include <array>

#include "solve/contact/gradient.hpp"
#include "solve/contact/solvers.hpp"

namespace hinge {

namespace {

int descend_spectral(ConvexProblem& f, Eigen::VectorXd& r, double tolerance, int limit,
                     const std::function<bool(int, const Eigen::VectorXd&)>& watch) {
  constexpr int memory = 10;
  std::array<double, memory> values;
  values.fill(-HUGE_VAL);
  Eigen::VectorXd G, d, Wd, best = r;
  f.gradient(r, G);
  // f = 1/2 r.(W r + q + q)
  double value = 0.5 * f.dot(r, Eigen::VectorXd(G + f.q()));
  values[0] = value;
  double a = 1 / std::max(f.largest_eigenvalue(3), 1e-300);
  int check = 1;
  for (int k = 1; k <= limit; ++k) {
    d = r - a * G;
    f.project(d);
    d -= r;
    f.product(d, Wd);
    const double slope = f.dot(G, d), curvature = f.dot(d, Wd), length = f.dot(d, d);
    if (!(length > 0)) return k;
    // f along d is a parabola: its value needs no further product. The best step of it is tried where 1 fails.
    const double ceiling = *std::max_element(values.begin(), values.end());
    double t = 1;
    if (value + slope + 0.5 * curvature > ceiling + 1e-4 * slope + 1e-15 * std::abs(ceiling))
      t = std::clamp(-slope / std::max(curvature, 1e-300), 1e-3, 1.0);
    r += t * d;
    value += t * slope + 0.5 * t * t * curvature;
    G += t * Wd;
    if (k % 50 == 0) {
      f.gradient(r, G);
      value = 0.5 * f.dot(r, Eigen::VectorXd(G + f.q()));
    }
    values[static_cast<std::size_t>(k % memory)] = value;
    a = curvature > 0 ? (k % 2 == 0 ? length / curvature : curvature / f.dot(Wd, Wd)) : 1e10;
    a = std::clamp(a, 1e-10, 1e10);
    if (k < check && k < limit) continue;
    check = k + std::max(5, k / 40);
    if (watch(k, r)) return k;
    if (tolerance > 0 && f.residual(r, G) <= tolerance) return k;
  }
  return limit;
}

}  // namespace

void solve_spectral_gradient(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  solve_by_convex_problems(W, judge, std::move(r), 100000, descend_spectral);
}

}  // namespace hinge
