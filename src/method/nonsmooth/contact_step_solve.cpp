// Where the solver is called: warm starts, tolerances, what counts as solved; and what is kept of a step.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "method/nonsmooth/contact_step.hpp"
#include "method/stopwatch.hpp"
#include "solve/contact/cone.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr double useless = 1e-2;       // above this relative residual sweeps go on alone
constexpr double no_solution = 0.1;    // and above this there is none to speak of; below it the verdict has its doubt
constexpr double eight_digits = 1e-8;  // fewer are said
constexpr int most_for_auto = 1000;    // contacts between bodies
constexpr int most_joint_turns = 5;    // of contacts and joints
constexpr int least_norm_bodies = 50;
constexpr double most_of_problem = 8000;                     // sweeps
constexpr double share = 0.75;                               // of what is left to a step, for one problem
constexpr double always_allowed = 3e5, to_a_solution = 1e6;  // contact updates, of heaps and where nothing is solved

}  // namespace

// The one place where a solver is called; reaction_ is where it begins, and becomes the solution. False where that is
// none.
bool ContactStep::solve_problem(const ContactProblem& p) {
  const Stopwatch watch(statistics.solver_seconds);
  return accept(p, call_solver(p));
}

ContactReport ContactStep::call_solver(const ContactProblem& p) {
  // Between bodies sweeps reach few digits in large piles, and what would take over then grows too dear.
  const bool free = options_.tolerance == 0, large = p.by_bodies() && p.bodies.blocks() > most_for_auto;
  ContactOptions& o = solver_.options();
  o.tolerance = !free ? options_.tolerance : few_ ? 1e-10 : !p.by_bodies() ? 1e-8 : large ? 1e-4 : 1e-6;
  o.tolerance = std::max(o.tolerance, rounding_);
  o.polish = free && few_;
  const bool few_bodies = p.by_bodies() && p.bodies.count() <= least_norm_bodies;
  o.least_norm = least_norm_ && o.tolerance <= (few_ || few_bodies ? 1e-6 : 1e-8) && p.contacts() <= most_for_auto;
  o.same_motion = solved_;
  // What sweeps cannot treat is not compared with them.
  const bool pyramids = options_.friction == FrictionModel::polyhedral && p.dimension == 3;
  const bool heap = p.contacts() > most_for_auto;
  const double contacts = std::max<double>(p.contacts(), least_contacts);
  const double least = std::max(least_sweeps, always_allowed / contacts);
  o.sweeps = pyramids ? 0
             : automatic_ && !heap
                 ? std::max(plain_solution, std::min(most_of_problem, share * work_left() / contacts))
                 : std::clamp(sweeps_left_, least, std::max(least, heap ? most_at_once : most_sweeps));
  solver_.choose(free && large ? std::string_view(plain_sweeps) : options_.solver);
  if (separating_ && refusal(p, plain_sweeps).empty()) {
    o.sweeps = sweeps_to_separate;
    solver_.choose(plain_sweeps);
    return solver_.solve(p, reaction_);
  }
  ContactReport report = solver_.solve(p, reaction_);
  spend(report.work);
  sweeps_left_ = std::max(0.0, sweeps_left_ - report.work / contacts);
  statistics.solver_iterations += report.iterations;
  if (report.converged() || report.residual.ours <= useful() || refusal(p, plain_sweeps).size() > 0) return report;
  o.same_motion = true;
  // What is no solution to speak of goes on, at first by sweeps alone; where there is none at all, whatever that takes.
  const auto go_on = [&](std::string_view solver, double sweeps) {
    o.sweeps = sweeps;
    solver_.choose(solver);
    report = solver_.solve(p, reaction_);
    spend(report.work);
    statistics.solver_iterations += report.iterations;
    return report.converged() || report.residual.ours <= no_solution;
  };
  if (go_on(plain_sweeps, automatic_ && !heap ? plain_solution : sweeps_per_step)) return report;
  if (automatic_ && few_ && go_on(options_.solver, std::max(sweeps_per_step, to_a_solution / contacts))) return report;
  go_on(plain_sweeps, sweeps_per_step);
  return report;
}

double ContactStep::useful() const { return std::max(useless, 10 * options_.tolerance); }

bool ContactStep::accept(const ContactProblem& p, const ContactReport& report) {
  ++statistics.solves;
  if (report.solver != "auto" || statistics.solver.empty())
    statistics.solver = report.solver;  // else: the start was it
  if (!report.converged()) {
    ++statistics.unconverged;
    statistics.velocity_left += report.residual.ours;
  }
  if (report.not_unique) ++statistics.not_unique;
  if (options_.tolerance == 0 && few_ && report.converged() && report.residual.ours > eight_digits) {
    ++statistics.six_digits;
    statistics.six_digits_worst = std::max(statistics.six_digits_worst, report.residual.ours);
  }
  residual_left = report.residual.ours;
  statistics.complementarity = std::max(statistics.complementarity, report.residual.ours);
  double largest = 0;
  for (int k = 0; k < p.contact_rows(); ++k) largest = std::max(largest, std::abs(reaction_[at(k)]));
  if (p.dimension > 1 && largest > 0 && options_.friction != FrictionModel::polyhedral)
    statistics.cone = std::max(statistics.cone, report.residual.cone / largest);
  if (report.converged() || report.residual.ours <= std::max(no_solution, useful()) || separating_) return true;
  failure = fmt::format("the contact problem with {} contacts is not solved: {}", p.contacts(), solver_.message());
  return false;
}

// Contacts and joints by turns, until closing the joints leaves the contacts solved.
bool ContactStep::solve_with_joints(const ContactProblem& p, const double* right, const double* c, double* v) {
  const Stopwatch watch(statistics.solver_seconds);
  ContactReport report;
  for (int turn = 0; turn < most_joint_turns; ++turn) {
    report = call_solver(p);
    if (turn > 0 && report.iterations == 0) break;  // as the joints left it
    if (!close_joints(right, c, v)) break;
  }
  return accept(p, report) && close_joints(right, c, v);
}

// [S C^T; C 0] (v, -s) = (right + H^T r, -c)
bool ContactStep::close_joints(const double* right, const double* c, double* v) {
  std::copy_n(right, nz_, x_.data());
  add_reaction(reaction_.data(), 1, x_.data());
  for (int k = 0; k < m_; ++k) x_[at(nz_ + k)] = -c[k];
  kernel_.solve(x_.data());
  if (!all_finite(x_.data(), nz_ + m_)) return false;
  std::copy_n(x_.data(), nz_, v);
  for (int k = 0; k < m_; ++k) reaction_[at(rows() + k)] = -x_[at(nz_ + k)];
  return true;
}

// The largest |u|, u = H v + w of the active contacts, and of what it is a sum of; residuals are relative to the first,
// and rounding to the second. Where bodies roll along each other without forces, or rest behind an impact, u is nothing
// but what rounding leaves of its parts: then a problem that is not solved need not be, since relative to such numbers
// no solution is one.
std::pair<double, double> ContactStep::velocity_and_parts(const double* v, const double* w) const {
  const ContactList& l = list();
  double largest = 0, parts = 0;
  for (const int i : active)
    for (int row = 0; row < d_; ++row, ++w) {
      double u = *w, size = std::abs(*w);
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
        const double part = l.H[at(k * d_ + row)] * v[l.column[at(k)]];
        u += part;
        size += std::abs(part);
      }
      largest = std::max(largest, std::abs(u));
      parts = std::max(parts, size);
    }
  return {largest, parts};
}

std::vector<std::string> ContactStep::remarks() const {
  if (has_contacts() || statistics.unsettled == 0) return {};
  return {fmt::format(
      "in {} steps forces and joints were not solved together to rounding (velocities to {:.1e}); a shorter step "
      "settles them",
      statistics.unsettled, statistics.unsettled_to)};
}

bool ContactStep::solve_dense(const ContactProblem& p, Eigen::VectorXd& r) {
  reaction_.clear();
  if (!solve_problem(p)) return false;
  r = Eigen::Map<const Eigen::VectorXd>(reaction_.data(), p.rows());
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

void ContactStep::velocities(const double* z, double* u) const {
  const ContactList& l = list();
  shared_loop(static_cast<int>(active.size()), [&](int a) {
    const int i = active[at(a)];
    double* ua = u + a * d_;
    for (int row = 0; row < d_; ++row) ua[row] = l.drift[at(i * d_ + row)];
    for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
      for (int row = 0; row < d_; ++row) ua[row] += l.H[at(k * d_ + row)] * z[l.column[at(k)]];
  });
}

void ContactStep::add_reaction(const double* r, double factor, double* z) const {
  const ContactList& l = list();
  for (const int i : active) {
    for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
      for (int row = 0; row < d_; ++row) z[l.column[at(k)]] += factor * l.H[at(k * d_ + row)] * r[row];
    r += d_;
  }
}

void ContactStep::count_energy(const double* impulse, const double* z0, const double* z1) {
  const int n = rows();
  gaps_.resize(at(2 * n));
  double *u0 = gaps_.data(), *u1 = u0 + n;
  velocities(z0, u0);
  velocities(z1, u1);
  add_end_drift(u1);
  count_work(impulse, u0, u1);
}

void ContactStep::add_end_drift(double* u) const {
  if (!end_drift_) return;
  for (int k = 0; k < rows(); ++k) {
    const std::size_t row = at(active[at(k / d_)] * d_ + k % d_);
    u[k] += (*end_drift_)[row] - list().drift[row];
  }
}

void ContactStep::count_work(const double* impulse, const double* u0, const double* u1) {
  double normal = 0, tangential = 0, given = 0;
  for (int k = 0; k < rows(); k += d_) {
    double slid = 0;
    normal += impulse[k] * (u0[k] + u1[k]) / 2;
    for (int row = k + 1; row < k + d_; ++row) slid += impulse[row] * (u0[row] + u1[row]) / 2;
    tangential += slid;
    given += std::max(0.0, slid);
  }
  // where impacts turn the slip that friction opposes, what it seems to give is theirs
  if (!(std::abs(normal) > std::abs(tangential))) given = 0;
  count_work(normal + given, tangential - given);
}

void ContactStep::count_work(double normal, double tangential) {
  statistics.impact_loss -= normal;
  statistics.friction_loss -= tangential;
  if (std::abs(normal) <= std::abs(tangential)) statistics.sliding_work += tangential;
  statistics.work.add(normal + tangential);
}

void ContactStep::count_balance(double defect, double scale) {
  if (scale > 0) statistics.momentum_balance = std::max(statistics.momentum_balance, defect / scale);
}

// What contacts did, for the record and the next warm start. Those that are kept do what they did before, for as long
// as this step lasts.
void ContactStep::remember(const double* total, double h) {
  const ContactList& l = list();
  const bool frames = l.frame.size() == 9 * at(l.count);
  older_keys_.swap(last_keys_);
  older_impulse_.swap(last_impulse_);
  older_frame_.swap(last_frame_);
  last_keys_.clear();
  last_impulse_.clear();
  last_frame_.clear();
  last_struck_.clear();
  impulses_.impulse.assign(at(l.count * d_), 0.0);
  const auto take = [&](int i, const double* r, const double* frame, char struck) {
    last_keys_.push_back(l.key[at(i)]);
    last_impulse_.insert(last_impulse_.end(), r, r + d_);
    if (frame) last_frame_.insert(last_frame_.end(), frame, frame + 9);
    last_struck_.push_back(struck);
    std::copy_n(r, d_, impulses_.impulse.data() + at(i * d_));
  };
  std::size_t a = 0, old = 0;
  for (int i = 0; i < l.count; ++i) {
    if (a < active.size() && active[a] == i) {
      take(i, total + a * at(d_), frames ? l.frame.data() + 9 * i : nullptr, struck_[a]);
      ++a;
    } else if (at(i) < kept.size() && kept[at(i)]) {
      while (old < older_keys_.size() && older_keys_[old] < l.key[at(i)]) ++old;
      if (old == older_keys_.size() || older_keys_[old] != l.key[at(i)]) continue;
      if (older_impulse_[old * at(d_)] > 0) ++statistics.loaded;
      double as_before[3];
      for (std::size_t k = 0; k < at(d_); ++k)
        as_before[k] = (last_h_ > 0 ? h / last_h_ : 1) * older_impulse_[old * at(d_) + k];
      take(i, as_before, frames ? older_frame_.data() + 9 * old : nullptr, 0);
    }
  }
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
  const double longer = last_h_ > 0 && h > last_h_ ? h / last_h_ : 1;  // than the step before
  for (std::size_t a = 0; a < active.size(); ++a) {
    const double now = total[a * at(d_)];
    if (now > 1e-14 * largest) ++statistics.loaded;
    while (old < last_keys_.size() && last_keys_[old] < l.key[at(active[a])]) ++old;
    const bool known = old < last_keys_.size() && last_keys_[old] == l.key[at(active[a])];
    const double last = known ? longer * last_impulse_[old * at(d_)] : 0;
    struck_[a] = now > 0 && now > 10 * last;
    if (struck_[a] && before[a * at(d_)] < 0) ++statistics.impacts;
  }
  remember(total, h);
  last_joints_.assign(joint_impulse.begin(), joint_impulse.end());
  last_h_ = h;
  impulses_.step = h;
  end_time_ = t1;
  end_position_.assign(y1, y1 + system_->ny());
  end_is_open_ = true;
}

const ContactStatistics& ContactStep::measured() const {
  if (!std::exchange(end_is_open_, false)) return statistics;
  gaps_.resize(at(list().count));
  const UseThreads threads(options_.threads);
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

SparseRows ContactStep::contact_and_joint_rows() const {
  const ContactList& l = list();
  const int nc = static_cast<int>(active.size());
  std::size_t entries = C_.size();
  for (const int i : active) entries += at((l.first[at(i) + 1] - l.first[at(i)]) * d_);
  SparseRows H(rows() + m_, nz_);
  H.reserve(static_cast<Eigen::Index>(entries));
  for (int a = 0; a < nc; ++a) {
    const int i = active[at(a)];
    for (int row = 0; row < d_; ++row) {
      H.startVec(a * d_ + row);
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
        if (const double value = l.H[at(k * d_ + row)]; value != 0) H.insertBack(a * d_ + row, l.column[at(k)]) = value;
    }
  }
  for (int j = 0; j < m_; ++j) {
    H.startVec(rows() + j);
    for (int k = joints_.row_start[at(j)]; k < joints_.row_start[at(j) + 1]; ++k)
      H.insertBack(rows() + j, joints_.column[at(k)]) = C_[at(k)];
  }
  H.finalize();
  return H;
}

}  // namespace hinge
