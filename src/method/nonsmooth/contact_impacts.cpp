// Impacts of a step that are treated apart from its forces, with W = H M^-1 H^T of the active contacts (joints held):
//
//   Poisson      compression  K contains r_c _|_ u_c;  expansion  r_N = e r_cN + x, 0 <= x _|_ u_N >= 0,
//                |r_T| <= mu r_N opposite to u_T; polyhedral: r_T in the polygon; convexified: r in K with r_N >= e
//                r_cN, and u against it in the sense of minimal energy
//   sequential   one approaching contact after the other, u_N+ = -e u_N^-, until none approaches
//
// Poisson's expansion with friction is solved by projected Gauss-Seidel: its friction bound contains e r_cN, which no
// cone does. A sequence that has not come to its end (for e < 1 it may be infinite) is ended by a common impact without
// restitution.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "method/nonsmooth/contact_step.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

constexpr int most_sweeps = 100000, most_impacts = 20000;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The nearest point of the polygon with corners at angles 2 pi k/facets and distance `bound`.
void project_on_polygon(double bound, int facets, double* t) {
  const double half = std::numbers::pi / facets;
  const double middle = (2 * std::floor(std::atan2(t[1], t[0]) / (2 * half)) + 1) * half;
  const double c = std::cos(middle), s = std::sin(middle), reach = bound * std::cos(half);
  const double out = c * t[0] + s * t[1];
  if (out <= reach) return;
  const double along = std::clamp(c * t[1] - s * t[0], -bound * std::sin(half), bound * std::sin(half));
  t[0] = reach * c - along * s;
  t[1] = reach * s + along * c;
}

void shorten(double bound, double* t) {
  const double size = std::hypot(t[0], t[1]);
  if (size <= bound) return;
  for (int k = 0; k < 2; ++k) t[k] *= bound / size;
}

// The nearest point of { x_N >= least, |x_T| <= mu x_N }: that of the cone, or it lies in the plane.
void project_above(double mu, double least, double* x) {
  const double n = x[0], size = std::hypot(x[1], x[2]);
  const double on_cone = mu * size <= -n ? 0 : size <= mu * n ? n : (n + mu * size) / (1 + mu * mu);
  x[0] = std::max(on_cone, least);
  shorten(mu * x[0], x + 1);
}

}  // namespace

bool ContactStep::poisson(double* z, std::vector<double>& impulse) {
  const int n = rows();
  const ContactList& l = list();
  impulse.assign(at(n), 0.0);
  Eigen::VectorXd u(n), total = Eigen::VectorXd::Zero(n);
  velocities(z, u.data());
  Eigen::VectorXd compression;
  if (!solve_dense(dense_problem(u), compression)) return false;
  Eigen::VectorXd expansion = Eigen::VectorXd::Zero(n);
  bool friction_somewhere = false;
  for (int k = 0; k < n; k += d_) {
    expansion[k] = l.restitution[at(active[at(k / d_)])] * compression[k];
    friction_somewhere = friction_somewhere || (d_ > 1 && friction(k / d_) > 0);
  }
  const Eigen::VectorXd least = expansion;
  u += W_ * (compression + expansion);
  if (!friction_somewhere) {
    Eigen::VectorXd more;
    if (!solve_dense(dense_problem(u), more)) return false;
    expansion += more;
  } else {
    const double scale = std::max(u.lpNorm<Eigen::Infinity>(), (W_ * compression).lpNorm<Eigen::Infinity>());
    double change = HUGE_VAL;
    for (int sweep = 0; sweep < most_sweeps && change > 1e-15 * scale; ++sweep) {
      change = 0;
      for (int k = 0; k < n; k += d_) {
        const auto update = [&](int row, double value) {
          const double step = value - expansion[row];
          if (step == 0) return;
          expansion[row] = value;
          u += step * W_.col(row);
          change = std::max(change, std::abs(step) * W_(row, row));
        };
        const bool whole = options_.friction == FrictionModel::convexified;  // normal and tangents at once
        if (!whole) update(k, std::max(least[k], expansion[k] - u[k] / W_(k, k)));
        const int first = whole ? 0 : 1;
        double stiffness = 0, x[3] = {};
        for (int row = first; row < d_; ++row) stiffness += W_(k + row, k + row);
        for (int row = first; row < d_; ++row) x[row] = expansion[k + row] - u[k + row] / stiffness;
        if (whole)
          project_above(friction(k / d_), least[k], x);
        else if (options_.friction == FrictionModel::polyhedral && d_ == 3)
          project_on_polygon(friction(k / d_) * expansion[k], options_.facets, x + 1);
        else
          shorten(friction(k / d_) * expansion[k], x + 1);
        for (int row = first; row < d_; ++row) update(k + row, x[row]);
      }
    }
  }
  total = compression + expansion;
  for (int k = 0; k < n; ++k) {
    impulse[at(k)] = idle_[at(k)] ? 0.0 : total[k];
    axpy(impulse[at(k)], X_.col(k).data(), nz_, z);
  }
  return true;
}

bool ContactStep::sequential(bool last_first, double* z, std::vector<double>& impulse) {
  const int n = rows(), nc = static_cast<int>(active.size());
  const ContactList& l = list();
  impulse.assign(at(n), 0.0);
  Eigen::VectorXd u(n), total = Eigen::VectorXd::Zero(n);
  velocities(z, u.data());
  double scale = 0;
  for (int k = 0; k < n; k += d_) scale = std::max(scale, std::abs(u[k]));
  int impacts = 0;
  for (; impacts < most_impacts; ++impacts) {
    int next = -1;
    for (int c = 0; c < nc && next < 0; ++c) {
      const int k = last_first ? nc - 1 - c : c;
      if (u[k * d_] < -1e-14 * scale && !idle_[at(k * d_)]) next = k;
    }
    if (next < 0) break;
    const int first = next * d_;
    const double e = l.restitution[at(active[at(next)])];
    Eigen::VectorXd r(d_);
    if (d_ == 1) {
      r[0] = -(1 + e) * u[first] / W_(first, first);
    } else {
      ContactProblem p;
      p.dimension = d_;
      p.friction = options_.friction;
      p.facets = options_.facets;
      p.W = W_.block(first, first, d_, d_).sparseView(1, 0);
      p.W.makeCompressed();
      p.q = u.segment(first, d_);
      p.q[0] += e * u[first];
      p.mu = {friction(next)};
      if (!solve_dense(p, r)) return false;
    }
    total.segment(first, d_) += r;
    u += W_.middleCols(first, d_) * r;
  }
  if (impacts == most_impacts) {
    Eigen::VectorXd common;
    if (!solve_dense(dense_problem(u), common)) return false;
    total += common;
  }
  for (int k = 0; k < n; ++k) {
    impulse[at(k)] = idle_[at(k)] ? 0.0 : total[k];
    axpy(impulse[at(k)], X_.col(k).data(), nz_, z);
  }
  return true;
}

}  // namespace hinge
