// Where solvers are called: warm starts, tolerances, and what counts as solved.
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "method/nonsmooth/contact_step.hpp"
#include "method/stopwatch.hpp"
#include "solve/contact/cone.hpp"

namespace hinge {

namespace {

constexpr int most_pivots = 50;              // contacts in the plane that lemke is asked for
constexpr double useless = 1e-2;             // a relative residual above this is no solution
constexpr double rounding = 2.3e-16;         //
constexpr double sought = 4, accepted = 16;  // times the level of rounding
constexpr double worst_rounding = 1e-6;      // more than this is no rounding but a wrong r

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Below this a residual relative to |q| says nothing; `noise` is eps max_i sum_j |W_ij r_j|.
double rounding_level(const ContactProblem& p, double noise) {
  const double q = p.q.size() > 0 ? p.q.lpNorm<Eigen::Infinity>() : 0;
  return q > 0 ? std::min(noise / q, worst_rounding / accepted) : 0;
}

double noise_of(const ContactProblem& p, const Eigen::VectorXd& r) {
  double largest = 0;
  for (int i = 0; i < p.W.rows(); ++i) {
    double sum = 0;
    for (SparseRows::InnerIterator entry(p.W, i); entry; ++entry) sum += std::abs(entry.value() * r[entry.col()]);
    largest = std::max(largest, sum);
  }
  return rounding * largest;
}

struct Stage {
  const char* solver;
  int iterations;       // 0: the solver's own limit
  bool last = false;    // all but what is slow has been tried: what is left may be rounding
  bool afresh = false;  // from the first start, not from the best r so far
};
// Sweeps where these settle it; else pivots or interior points, which know the size of r; then what is slow and sure.
constexpr Stage cones[] = {{"auto", 100},
                           {"lemke", 0},
                           {"cone-interior-point", 0},
                           {"newton-ac", 9},
                           {"block-gauss-seidel", 1000, true},
                           {"block-gauss-seidel", 20000},
                           {"admm", 2000, true},
                           {"auto", 0, true, true}};
constexpr Stage complementarity[] = {{"lemke", 0},
                                     {"interior-point", 0},
                                     {"newton-fb", 0, true},
                                     {"block-gauss-seidel", 20000, true},
                                     {"auto", 0, true, true}};

}  // namespace

// Keeps the worst residuals; false where the solution is none.
bool ContactStep::judge(int contacts, int dimension, bool converged, const ContactResidual& residual, double largest,
                        std::string_view message) {
  if (!converged) ++statistics.unconverged;
  statistics.complementarity = std::max(statistics.complementarity, residual.ours);
  if (dimension > 1 && largest > 0 && options_.friction != FrictionModel::polyhedral)
    statistics.cone = std::max(statistics.cone, residual.cone / largest);
  if (converged || residual.ours <= std::max(useless, 10 * options_.tolerance)) return true;
  failure = fmt::format("the contact problem with {} contacts is not solved: {}", contacts, message);
  return false;
}

// `auto` for few contacts, with an eye on rounding. The tolerance of `o` becomes what was accepted.
ContactResult ContactStep::solve_in_stages(const ContactProblem& problem, ContactOptions& o) {
  const double asked = o.tolerance;
  if (o.start.size() == problem.rows())
    o.tolerance = std::max(asked, sought * rounding_level(problem, noise_of(problem, o.start)));
  const bool linear =
      problem.dimension == 1 || (problem.dimension == 3 && problem.friction == FrictionModel::polyhedral);
  const std::span<const Stage> stages =
      linear ? std::span<const Stage>(complementarity) : std::span<const Stage>(cones);
  const Eigen::VectorXd first = o.start;
  ContactResult best;
  std::string tried;
  int iterations = 0;
  for (const Stage& stage : stages) {
    const bool pivots = std::string_view(stage.solver) == "lemke";
    if (pivots && problem.dimension == 2 && problem.contacts() > most_pivots) continue;
    if (!refusal(problem, stage.solver).empty()) continue;
    o.iterations = stage.iterations;
    if (stage.afresh) o.start = first;
    ContactResult result = solve_contact(problem, stage.solver, o);
    iterations += result.iterations;
    tried += (tried.empty() ? "" : ", ") + result.solver;
    if (best.r.size() == 0 || result.residual.ours < best.residual.ours) best = std::move(result);
    const double level = rounding_level(problem, best.residual.noise);
    o.tolerance = std::max(asked, sought * level);
    if (best.residual.ours <= o.tolerance || (stage.last && best.residual.ours <= accepted * level)) {
      o.tolerance = std::max(asked, accepted * level);
      best.status = ContactStatus::converged;
      break;
    }
    o.start = best.r;
  }
  best.iterations = iterations;
  if (!best.converged())
    best.message =
        fmt::format("the residual is {:.2e} after {}; the problem may have no solution", best.residual.ours, tried);
  o.iterations = 0;
  return best;
}

// The one place where a solver is called.
bool ContactStep::solve_problem(const ContactProblem& problem, bool warm) {
  const Stopwatch watch(statistics.solver_seconds);
  ContactOptions o;
  o.threads = options_.threads;
  const bool automatic = options_.solver == "auto" && few_, polish = options_.tolerance == 0 && automatic;
  o.tolerance = options_.tolerance > 0 ? options_.tolerance : few_ ? 1e-10 : 1e-8;
  // without friction few contacts are solved by pivoting, which ends at rounding and needs no start
  if (warm && !(few_ && problem.dimension == 1) && at(problem.rows()) <= start_.size())
    o.start = Eigen::Map<const Eigen::VectorXd>(start_.data(), problem.rows());
  const bool stages = automatic && !problem.matrix_free() && problem.rows() <= few_rows;
  ContactResult result = stages ? solve_in_stages(problem, o) : solve_contact(problem, options_.solver, o);
  ++statistics.solves;
  statistics.solver_iterations += result.iterations;
  if (polish && problem.dimension > 1 && result.converged() &&
      result.residual.ours > std::max(1e-13, sought * rounding_level(problem, result.residual.noise)) &&
      refusal(problem, "newton-ac").empty()) {
    ContactOptions finer = o;
    finer.tolerance = 1e-13;
    finer.iterations = 4;
    finer.start = result.r;
    ContactResult better = solve_contact(problem, "newton-ac", finer);
    statistics.solver_iterations += better.iterations;
    if (better.residual.ours < result.residual.ours) {
      better.solver = result.solver;
      result = std::move(better);
      if (result.residual.ours <= o.tolerance) result.status = ContactStatus::converged;
    }
  }
  if (result.solver != "auto" || statistics.solver.empty())
    statistics.solver = result.solver;  // else: the start was it
  const double largest = result.r.head(problem.contacts() * problem.dimension).lpNorm<Eigen::Infinity>();
  const bool good =
      judge(problem.contacts(), problem.dimension, result.converged(), result.residual, largest, result.message);
  reaction_ = std::move(result.r);
  velocity_ = std::move(result.u);
  return good;
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

}  // namespace hinge
