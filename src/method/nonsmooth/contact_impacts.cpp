// Impacts of a step that are treated apart from its forces, with W = H M^-1 H^T of the active contacts (joints held):
//
//   Poisson      compression  K contains r_c _|_ u_c;  expansion  r_N = e r_cN + x, 0 <= x _|_ u_N >= 0,
//                |r_T| <= mu r_N opposite to u_T; polyhedral: r_T in the polygon; convexified: r in K with r_N >= e
//                r_cN, and u against it in the sense of minimal energy
//   sequential   one approaching contact after the other, u_N+ = -e u_N^-, until none approaches. Gaps written down
//                go in the order of the model. Contacts of bodies have no order that a user knows: those that approach
//                equally fast, to rounding, are struck together, so that a symmetric scene stays symmetric
//   rounds       all contacts that approach now are struck together, u_N+ + e u_N^- >= 0 _|_ r_N >= 0 with friction
//                among these alone, then those that approach after it, until none does. Closed contacts without
//                restitution, u_N = 0, take part in every round. No order is involved: a mirrored scene has the
//                mirrored result.
//
// Poisson's expansion with friction is solved by projected Gauss-Seidel: its friction bound contains e r_cN, which no
// cone does. A sequence that has not come to its end (for e < 1 it may be infinite) is ended by a common impact without
// restitution. In rounds a contact is struck until e^k < 1/100, k the number of its strikes, and left alone below 1e-8
// of the largest approach at the beginning; what still approaches then is stopped by the step, which has no
// restitution.
//
// Rounds give the velocities u_N+ that the contacts struck rebound with; a step demands these of its own impulses, all
// at once: r_N >= 0 _|_ u_N >= u_N+. Without forces and friction the sum of all impulses of the rounds solves that, and
// so does nothing else; and one contact has Newton's law.
//
// Energy of a round: dT = sum r.(u+ + u-)/2, which is sum (1 - e) r_N u_N^-/2 <= 0 without friction. With friction and
// restitution it may be positive; then r = (1 - s) r_0 + s r_e, with the impulses r_0 for e = 0, whose dT <= 0, and the
// largest s for which nothing is created.
//
// Reference for rounds: B. Smith, D. Kaufman, E. Vouga, R. Tamstorf, E. Grinspun, ACM Trans. Graph. 31 (2012) 106,
// whose generalized reflections they are for e = 1.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "method/nonsmooth/contact_step.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

constexpr int most_passes = 100000, most_impacts = 20000, most_rounds = 100;

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
  loosen_held();
  Eigen::VectorXd u(n), total = Eigen::VectorXd::Zero(n);
  velocities(z, u.data());
  Eigen::VectorXd compression;
  if (!solve_dense(dense_problem(W_, u), compression)) return false;
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
    if (!solve_dense(dense_problem(W_, u), more)) return false;
    expansion += more;
  } else {
    const double scale = std::max(u.lpNorm<Eigen::Infinity>(), (W_ * compression).lpNorm<Eigen::Infinity>());
    double change = HUGE_VAL;
    for (int sweep = 0; sweep < most_passes && change > 1e-15 * scale; ++sweep) {
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
    impulse[at(k)] = acts(k) ? total[k] : 0.0;
    axpy(impulse[at(k)], X_.col(k).data(), nz_, z);
  }
  return true;
}

bool ContactStep::sequential(bool last_first, double* z, std::vector<double>& impulse) {
  const int n = rows(), nc = static_cast<int>(active.size());
  const ContactList& l = list();
  impulse.assign(at(n), 0.0);
  loosen_held();
  Eigen::VectorXd u(n), total = Eigen::VectorXd::Zero(n);
  velocities(z, u.data());
  double scale = 0;
  for (int k = 0; k < n; k += d_) scale = std::max(scale, std::abs(u[k]));
  const bool bodies = system_->structure().has_bodies;
  int impacts = 0;
  for (; impacts < most_impacts; ++impacts) {
    std::vector<int> next;  // the first that approaches, and those that do it as fast
    for (int c = 0; c < nc; ++c) {
      const int k = last_first ? nc - 1 - c : c;
      if (!(u[k * d_] < -1e-14 * scale) || idle_[at(k * d_)]) continue;
      if (next.empty() ||
          (bodies && std::abs(u[k * d_] - u[next[0] * d_]) <= 1e-8 * std::abs(u[k * d_]) + 1e-12 * scale))
        next.push_back(k);
    }
    if (next.empty()) break;
    // without friction normals alone, which pivots solve to rounding
    const bool slides = d_ > 1 && std::any_of(next.begin(), next.end(), [&](int k) { return friction(k) > 0; });
    const int d = slides ? d_ : 1;
    std::vector<Eigen::Index> rows_of_next;
    for (const int k : next)
      for (int row = 0; row < d; ++row) rows_of_next.push_back(k * d_ + row);
    Eigen::VectorXd r(std::ssize(rows_of_next));
    if (next.size() == 1 && d == 1) {
      const int k = next[0] * d_;
      const double e = l.restitution[at(active[at(next[0])])];
      r[0] = -(1 + e) * u[k] / W_(k, k);
    } else {
      ContactProblem p;
      p.dimension = d;
      p.friction = options_.friction;
      p.facets = options_.facets;
      p.W = Eigen::MatrixXd(W_(rows_of_next, rows_of_next)).sparseView(1, 0);
      p.W.makeCompressed();
      p.q = u(rows_of_next);
      for (std::size_t k = 0; k < next.size(); ++k) {
        p.q[static_cast<Eigen::Index>(k) * d] += l.restitution[at(active[at(next[k])])] * u[next[k] * d_];
        p.mu.push_back(slides ? friction(next[k]) : 0);
      }
      if (!solve_dense(p, r)) return false;
    }
    total(rows_of_next) += r;
    u += W_(Eigen::all, rows_of_next) * r;
  }
  if (impacts == most_impacts) {
    Eigen::VectorXd common;
    if (!solve_dense(dense_problem(W_, u), common)) return false;
    total += common;
  }
  for (int k = 0; k < n; ++k) {
    impulse[at(k)] = acts(k) ? total[k] : 0.0;
    axpy(impulse[at(k)], X_.col(k).data(), nz_, z);
  }
  return true;
}

// One round: z after the members have been struck, with restitution or without; their impulses are in contact_impulse.
bool ContactStep::strike_members(const Eigen::VectorXd& before, double restitution, Eigen::VectorXd& z) {
  const ContactList& l = list();
  Eigen::VectorXd right = Eigen::VectorXd::Zero(nz_), c = Eigen::VectorXd::Zero(m_), w(rows());
  multiply_add(matrix_, S_.data(), z.data(), 1.0, right.data());
  multiply_add(joints_, C_.data(), z.data(), -1.0, c.data());
  for (int k = 0; k < rows(); ++k) {
    const int i = active[at(k / d_)];
    w[k] = l.drift[at(i * d_ + k % d_)] + (k % d_ == 0 ? restitution * l.restitution[at(i)] * before[k] : 0);
  }
  solved_ = false;
  return solve(right.data(), c.data(), w.data(), z.data());
}

bool ContactStep::rounds(const double* S, const double* C, const double* z_before, std::vector<double>& rebound) {
  const ContactList& l = list();
  rebound.assign(active.size(), 0.0);
  after_rounds.assign(z_before, z_before + nz_);
  if (std::none_of(active.begin(), active.end(), [&](int i) { return l.restitution[at(i)] > 0; })) return true;
  const std::vector<int> all = active;
  Eigen::VectorXd u(rows()), z = Eigen::Map<const Eigen::VectorXd>(z_before, nz_), before, after, z0, z1, r;
  velocities(z.data(), u.data());
  double scale = 0, dust = 0;  // dust: what rounding makes of velocities that are sums
  for (int k = 0; k < rows(); k += d_) {
    const int i = active[at(k / d_)];
    double size = 0;
    for (int c = l.first[at(i)]; c < l.first[at(i) + 1]; ++c) size += std::abs(l.H[at(c * d_)] * z[l.column[at(c)]]);
    dust = std::max(dust, 1e-13 * size);
    scale = std::max(scale, -u[k]);
  }
  const double slow = std::max(1e-8 * scale, dust);
  std::vector<double> left(all.size(), 1.0);  // of each contact: e to the power of its strikes
  std::vector<char> struck(all.size(), 0);
  std::vector<int> members;
  bool good = true;
  const bool least_norm = std::exchange(least_norm_, false);  // velocities are asked for, which are what they are
  for (int round = 0; good && round < most_rounds; ++round) {
    bool approach = false;
    members.clear();
    for (int k = 0; k < static_cast<int>(all.size()); ++k) {
      const double e = l.restitution[at(all[at(k)])];
      const bool closes = u[k * d_] < -slow && left[at(k)] > 0.01;
      approach = approach || closes;
      if (closes) left[at(k)] *= e;
      if (closes || (e == 0 && u[k * d_] <= 1e-12 * scale)) members.push_back(k);
    }
    if (!approach) break;
    active.clear();
    for (const int k : members) active.push_back(all[at(k)]);
    before.resize(rows());
    after.resize(rows());
    velocities(z.data(), before.data());
    z0 = z;
    good = factor(S, C) && strike_members(before, 1, z);
    if (!good) break;
    r = Eigen::Map<const Eigen::VectorXd>(contact_impulse.data(), rows());
    for (std::size_t k = 0; k < members.size(); ++k)
      if (r[static_cast<Eigen::Index>(k) * d_] > 0) struck[at(members[k])] = 1;
    velocities(z.data(), after.data());
    if (const double gain = r.dot(before + after) / 2; gain > 1e-12 * std::abs(r.dot(before))) {
      z1 = z;
      z = z0;
      good = strike_members(before, 0, z);
      // dT(s) = f + b s + a s^2 with dT(0) = f <= 0 and dT(1) = gain
      const Eigen::VectorXd r0 = Eigen::Map<const Eigen::VectorXd>(contact_impulse.data(), rows()), elastic = after;
      velocities(z.data(), after.data());
      const double f = std::min(0.0, r0.dot(before + after) / 2);
      const double a = (r - r0).dot(elastic - after) / 2, b = gain - f - a;
      const double root = std::sqrt(std::max(0.0, b * b - 4 * a * f));
      const double s = b > 0 ? -2 * f / (b + root) : a > 0 ? (root - b) / (2 * a) : 0;
      z += s * (z1 - z);
      ++statistics.limited_rounds;
    }
    active = all;
    velocities(z.data(), u.data());
  }
  active = all;
  least_norm_ = least_norm;
  solved_ = false;
  after_rounds.assign(z.begin(), z.end());
  for (std::size_t k = 0; k < all.size(); ++k)
    if (struck[k]) rebound[k] = std::max(0.0, u[static_cast<Eigen::Index>(k) * d_]);
  return good;
}

}  // namespace hinge
