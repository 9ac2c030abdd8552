// Where the solver is called: warm starts, tolerances, what counts as solved; and what is kept of a step.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "method/nonsmooth/contact_step.hpp"
#include "method/stopwatch.hpp"
#include "solve/contact/cone.hpp"

namespace hinge {

namespace {

constexpr double useless = 1e-2;     // a relative residual above this is no solution
constexpr int most_for_auto = 1000;  // contacts between bodies

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// The one place where a solver is called; reaction_ is where it begins, and becomes the solution. False where that is
// none.
bool ContactStep::solve_problem(const ContactProblem& p) {
  const Stopwatch watch(statistics.solver_seconds);
  // Between bodies sweeps reach few digits in large piles, and what would take over then grows too dear.
  const bool free = options_.tolerance == 0, large = p.by_bodies() && p.bodies.blocks() > most_for_auto;
  ContactOptions& o = solver_.options();
  o.tolerance = !free ? options_.tolerance : few_ ? 1e-10 : !p.by_bodies() ? 1e-8 : large ? 1e-4 : 1e-6;
  o.polish = free && few_;
  solver_.choose(free && large ? std::string_view("block-gauss-seidel") : options_.solver);
  const ContactReport report = solver_.solve(p, reaction_);
  ++statistics.solves;
  statistics.solver_iterations += report.iterations;
  if (report.solver != "auto" || statistics.solver.empty())
    statistics.solver = report.solver;  // else: the start was it
  if (!report.converged()) ++statistics.unconverged;
  statistics.complementarity = std::max(statistics.complementarity, report.residual.ours);
  double largest = 0;
  for (int k = 0; k < p.contact_rows(); ++k) largest = std::max(largest, std::abs(reaction_[at(k)]));
  if (p.dimension > 1 && largest > 0 && options_.friction != FrictionModel::polyhedral)
    statistics.cone = std::max(statistics.cone, report.residual.cone / largest);
  if (report.converged() || report.residual.ours <= std::max(useless, 10 * options_.tolerance)) return true;
  failure = fmt::format("the contact problem with {} contacts is not solved: {}", p.contacts(), solver_.message());
  return false;
}

bool ContactStep::solve_dense(const ContactProblem& p, Eigen::VectorXd& r) {
  reaction_.clear();
  if (!solve_problem(p)) return false;
  r = Eigen::Map<const Eigen::VectorXd>(reaction_.data(), p.rows());
  return true;
}

bool ContactStep::solve_explicit(Eigen::MatrixXd W, Eigen::VectorXd q, int dimension, const std::vector<char>& asleep,
                                 Eigen::VectorXd& out) {
  const double largest = W.diagonal().maxCoeff();
  std::vector<char> off(active.size() * static_cast<unsigned>(dimension), 0);
  for (int k = 0; k < q.size(); ++k) {
    const int first = k - k % dimension;
    const double scale = k == first ? largest : W(first, first);
    off[at(k)] = (!asleep.empty() && asleep[at(k / dimension)]) || !(W(k, k) > 1e-13 * scale);
    if (!off[at(k)]) continue;
    W.row(k).setZero();
    W.col(k).setZero();
    W(k, k) = scale > 0 ? scale : 1;
    q[k] = 0;
  }
  ContactProblem p = dimension == 1 ? linear_complementarity(W, q) : dense_problem(q);
  if (dimension > 1) {
    p.W = W.sparseView(1, 0);
    p.W.makeCompressed();
  }
  if (!solve_dense(p, out)) return false;
  for (int k = 0; k < q.size(); ++k)
    if (off[at(k)]) out[k] = 0;
  return true;
}

// By keys, in turned tangents, longer or shorter with the step, on the cones of now. Not after an impact, whose impulse
// is not that of a force.
void ContactStep::warm_start() {
  const ContactList& l = list();
  const int n = rows();
  if (solved_ && contact_impulse.size() == at(n)) {  // again in the same step
    start_.assign(contact_impulse.begin(), contact_impulse.end());
    start_.insert(start_.end(), joint_impulse.begin(), joint_impulse.end());
    return;
  }
  start_.clear();
  if (last_keys_.empty() || n == 0) return;
  start_.assign(at(n + m_), 0.0);
  const double scale = last_h_ != 0 && h_ != 0 ? h_ / last_h_ : 1;
  std::size_t old = 0;
  for (std::size_t a = 0; a < active.size(); ++a) {
    const std::size_t i = at(active[a]);
    while (old < last_keys_.size() && last_keys_[old] < l.key[i]) ++old;
    if (old == last_keys_.size()) break;
    if (last_keys_[old] != l.key[i] || last_struck_[old]) continue;
    const double* from = last_impulse_.data() + old * at(d_);
    double* to = start_.data() + a * at(d_);
    to[0] = scale * from[0];
    if (d_ == 3 && l.frame.size() == 9 * at(l.count) && last_frame_.size() == 9 * last_keys_.size()) {
      const double *before = last_frame_.data() + 9 * old, *now = l.frame.data() + 9 * i;
      for (int row = 1; row < 3; ++row) {
        to[row] = 0;
        for (int k = 0; k < 3; ++k)
          to[row] += scale * now[3 * row + k] * (from[1] * before[3 + k] + from[2] * before[6 + k]);
      }
    } else {
      for (int row = 1; row < d_; ++row) to[row] = scale * from[row];
    }
    project_on_cone(d_, l.friction[i], to);
  }
  for (std::size_t k = 0; k < last_joints_.size(); ++k) start_[at(n) + k] = scale * last_joints_[k];
}

void ContactStep::count_energy(const double* impulse, const double* z0, const double* z1) {
  const int n = rows();
  gaps_.resize(at(2 * n));
  double *u0 = gaps_.data(), *u1 = u0 + n;
  velocities(z0, u0);
  velocities(z1, u1);
  if (end_drift_)
    for (int k = 0; k < n; ++k) {
      const std::size_t row = at(active[at(k / d_)] * d_ + k % d_);
      u1[k] += (*end_drift_)[row] - list().drift[row];
    }
  for (int k = 0; k < n; ++k)
    (k % d_ == 0 ? statistics.impact_loss : statistics.friction_loss) -= impulse[k] * (u0[k] + u1[k]) / 2;
}

void ContactStep::count_balance(double defect, double scale) {
  if (scale > 0) statistics.momentum_balance = std::max(statistics.momentum_balance, defect / scale);
}

void ContactStep::finish(const double* total, const double* before, double h, double t1, const double* y1) {
  if (!finder_) return;
  const ContactList& l = list();
  // who struck: compared with the impulse of the last step
  struck_.assign(active.size(), 0);
  std::size_t old = 0;
  statistics.loaded = 0;
  double largest = 0;
  for (std::size_t a = 0; a < active.size(); ++a) largest = std::max(largest, total[a * at(d_)]);
  for (std::size_t a = 0; a < active.size(); ++a) {
    const double now = total[a * at(d_)];
    if (now > 1e-14 * largest) ++statistics.loaded;
    while (old < last_keys_.size() && last_keys_[old] < l.key[at(active[a])]) ++old;
    const bool known = old < last_keys_.size() && last_keys_[old] == l.key[at(active[a])];
    const double last = known ? last_impulse_[old * at(d_)] : 0;
    struck_[a] = now > 0 && now > 10 * last;
    if (struck_[a] && before[a * at(d_)] < 0) ++statistics.impacts;
  }
  last_keys_.clear();
  last_frame_.clear();
  for (const int i : active) {
    last_keys_.push_back(l.key[at(i)]);
    if (l.frame.size() == 9 * at(l.count))
      last_frame_.insert(last_frame_.end(), l.frame.begin() + 9 * i, l.frame.begin() + 9 * i + 9);
  }
  last_impulse_.assign(total, total + rows());
  last_joints_.assign(joint_impulse.begin(), joint_impulse.end());
  last_struck_.swap(struck_);
  last_h_ = h;
  impulses_.impulse.assign(at(l.count * d_), 0.0);
  for (std::size_t a = 0; a < active.size(); ++a)
    std::copy_n(total + a * at(d_), d_, impulses_.impulse.data() + at(active[a] * d_));
  impulses_.step = h;
  end_time_ = t1;
  end_position_.assign(y1, y1 + system_->ny());
  end_is_open_ = true;
}

const ContactStatistics& ContactStep::measured() const {
  if (!std::exchange(end_is_open_, false)) return statistics;
  gaps_.resize(at(list().count));
  finder_->gaps(end_time_, end_position_.data(), list(), gaps_.data());
  for (const double gap : gaps_) statistics.penetration = std::max(statistics.penetration, -gap);
  return statistics;
}

void ContactStep::reset() {
  last_keys_.clear();
  last_impulse_.clear();
  last_frame_.clear();
  last_joints_.clear();
  last_struck_.clear();
}

}  // namespace hinge
