// The solver objects, and solve_contact by one of them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "solve/contact/cone.hpp"
#include "solve/contact/solver.hpp"

namespace hinge {

namespace {

constexpr int most_sweeps = 20000;  // over bodies, where nothing else is asked for
constexpr double least_digits = 1e-8;
constexpr double near_choice = 1e-2;  // residual of a choice that is not solved yet
constexpr double six_digits_of_choice = 1e-6;
constexpr int finishing_sweeps = 100, finishing_steps = 9;
constexpr int few_contacts = 20;  // whose springs cost less than sweeps
constexpr int few_rows = 200, few_bodies = 50, small_rows = 60;

Eigen::Map<const Eigen::VectorXd> as_vector(std::span<const double> x) { return {x.data(), std::ssize(x)}; }

}  // namespace

// r becomes the start: finite, on the cones.
void ContactWork::begin(const ContactProblem& p) {
  judge.begin(p, options);
  W.reset();
  has_chosen = false;
  const bool usable = std::ssize(r) == p.rows() && as_vector(r).allFinite();
  if (!usable) r.assign(static_cast<std::size_t>(p.rows()), 0.0);
  for (int i = 0; i < p.contacts(); ++i) project_on_model(p, p.mu_of(i), r.data() + i * p.dimension);
}

bool ContactWork::few() const {
  const ContactProblem& p = judge.problem();
  return options.stepping && (p.by_bodies() ? p.bilateral == 0 : !p.matrix_free()) && p.rows() <= few_rows;
}

Delassus& ContactWork::delassus() {
  if (!W) {
    // of few contacts W is small, and gives the digits that are left
    W.emplace(judge.problem(), options.threads,
              judge.problem().by_bodies() && judge.problem().rows() <= small_rows && few());
    W->normalise();
    judge.reactions_in(W->reaction_unit());
  }
  return *W;
}

bool ContactWork::take_least_norm() {
  const ContactProblem& p = judge.problem();
  if (!options.least_norm || !LeastNorm::treats(p)) return false;
  if (!judge.converged() && (has_chosen || !can_choose() || !choose_velocities(false))) return false;
  // with fewer digits who sticks is not known well enough
  if (judge.best_residual() > std::max(least_digits, 16 * judge.rounding_level())) return false;
  if (!rows.bind(p, judge.residual().body_rows())) return false;
  judge.spend(rows.operations());
  const auto find = [&] {
    // u of the best, and what it is known to
    r = judge.best_found();
    const ContactResidual& now = judge.look_again();
    constexpr double times = 30;
    const double slack = times * (now.ours * judge.residual().largest_q() + now.noise);
    const bool found = least_norm.find(p, rows, judge.residual().velocity(), slack, r);
    judge.spend(least_norm.operations());
    return found;
  };
  bool found = find();
  const auto known = [&] { return std::find(chosen.begin(), chosen.end(), least_norm.kinds()) != chosen.end(); };
  // Sticking is chosen once: it goes on from there. Of motions that differ by how loads are shared out the one that was
  // chosen before leads nowhere in particular.
  const auto undecided = [&] {
    return (least_norm.leaves_motion_open() && !options.same_motion) ||
           (!known() && (!found || least_norm.hyperstatic()));
  };
  if (!has_chosen && can_choose() && undecided() && choose_velocities(least_norm.leaves_motion_open())) found = find();
  if (has_chosen && !known()) chosen[oldest_choice++ % chosen.size()] = least_norm.kinds();
  return found && judge.exchange_best(r) && least_norm.not_unique();
}

bool ContactWork::can_choose() const {
  const ContactProblem& p = judge.problem();
  // without friction velocities are what they are
  if (p.friction != FrictionModel::coulomb || p.frictionless() || !LeastNorm::treats(p)) return false;
  if (!p.by_bodies()) return few();
  // no more rows than velocities: hardly anything depends on anything
  int free = 0;
  for (const double mu : p.mu) free += mu > 0 ? p.dimension : 1;
  const int velocities = p.bodies.count() * (p.dimension == 2 ? 3 : 6);
  return options.stepping && free > velocities && (few() || p.bodies.count() <= few_bodies);
}

bool ContactWork::goes_on_choosing() {
  if (!options.least_norm || options.same_motion || !least_norm.leaves_motion_open()) return false;
  if (judge.problem().contacts() > few_contacts || !can_choose()) return false;
  judge.begin_stage();
  judge.done(0, as_vector(r));
  return true;
}

bool ContactWork::choose_velocities(bool motion_is_open) {
  const ContactProblem& p = judge.problem();
  has_chosen = true;
  if (!rows.bind(p, judge.residual().body_rows())) return false;
  judge.spend(rows.operations());
  judge.reactions_in(1);
  judge.forget_best();
  if (p.by_bodies())
    compliant.solve(rows, judge.residual().body_rows().q(), judge);
  else
    compliant.solve(rows, {p.q.begin(), p.q.end()}, judge);
  const double enough = std::max(1e-13, 4 * judge.rounding_level());
  if (options.polish && judge.best_residual() < near_choice && judge.best_residual() > enough) {
    // where slip is slow its direction takes many steps to turn: from here on others are quick, and go nowhere else
    const double reached = judge.tolerance();
    judge.tolerance(enough);
    if (judge.best_residual() > reached) {
      r = judge.best_found();
      judge.begin_stage();
      sweep(*this, p.by_bodies() && !W, false, finishing_sweeps);
    }
    judge.reactions_in(delassus().reaction_unit());
    if (!judge.converged()) run("newton-ac", judge.best_reaction(), finishing_steps);
    judge.tolerance(reached);
  }
  if (W) judge.reactions_in(W->reaction_unit());
  // an exact solution of those that lead elsewhere is worth less
  if (motion_is_open && options.polish && judge.best_residual() <= six_digits_of_choice)
    judge.tolerance(std::max(judge.tolerance(), six_digits_of_choice));
  const bool good = judge.converged();
  if (good)
    judge.used = "compliant";
  else
    judge.recall_best();
  return good;
}

void ContactWork::run(std::string_view solver, const Eigen::VectorXd& from, int limit) {
  judge.begin_stage(limit);
  contact_solver(solver).solve(delassus(), judge, from / delassus().reaction_unit());
}

struct ContactSolver::Work : ContactWork {
  const SolverEntry* chosen = nullptr;
};

ContactSolver::ContactSolver(std::string_view solver, const ContactOptions& options) : work_(std::make_unique<Work>()) {
  options.validate();
  work_->options = options;
  choose(solver);
}
ContactSolver::~ContactSolver() = default;
ContactSolver::ContactSolver(ContactSolver&&) noexcept = default;
ContactSolver& ContactSolver::operator=(ContactSolver&&) noexcept = default;

void ContactSolver::choose(std::string_view solver) { work_->chosen = &contact_solver(solver); }
ContactOptions& ContactSolver::options() { return work_->options; }
std::span<const double> ContactSolver::contact_velocity() const { return work_->judge.residual().velocity(); }
std::span<const double> ContactSolver::body_velocity() const { return work_->judge.residual().body_velocity(); }
std::string ContactSolver::message() const { return work_->judge.message(); }
const std::vector<ContactResult::Point>& ContactSolver::history() const { return work_->judge.history(); }
double ContactSolver::seconds() const { return work_->judge.seconds(); }

ContactReport ContactSolver::solve(const ContactProblem& problem, std::vector<double>& r) {
  Work& work = *work_;
  const SolverEntry& chosen = *work.chosen;
  validate(problem);
  work.options.validate();
  if (const std::string why = chosen.refuses(problem); !why.empty())
    throw UnsuitableMethod(fmt::format("{} cannot solve this problem: {}", chosen.info.name, why));
  work.r.swap(r);
  work.begin(problem);
  Judge& judge = work.judge;
  // Without q nothing moves, and r = 0 is a solution.
  const bool nothing_moves = judge.residual().largest_q() == 0;
  if (nothing_moves) work.r.assign(work.r.size(), 0.0);
  if (!nothing_moves || !judge.done(0, as_vector(work.r))) {
    if (!chosen.solve && work.goes_on_choosing() && work.choose_velocities(true))
      judge.begin_stage();
    else if (!chosen.solve)
      solve_automatically(work);
    else if (!problem.by_bodies() || chosen.info.name != "block-gauss-seidel")
      work.run(chosen.info.name, as_vector(work.r));
    else if (!judge.done(0, as_vector(work.r)))
      sweep(work, true, false, most_sweeps);
  }
  const bool not_unique = work.take_least_norm();
  r.swap(work.r);
  ContactReport report = judge.finish(judge.used.empty() ? std::string_view(chosen.info.name) : judge.used, r);
  report.not_unique = not_unique;
  return report;
}

ContactResult solve_contact(const ContactProblem& problem, const std::string& solver, const ContactOptions& options) {
  ContactSolver object(solver, options);
  if (options.start.size() != 0 && options.start.size() != problem.rows())
    throw InputError(
        fmt::format("the warm start has {} entries where {} are needed", options.start.size(), problem.rows()));
  if (options.start.size() != 0 && !options.start.allFinite())
    throw InputError("the warm start has entries that are not finite numbers");
  std::vector<double> r(options.start.begin(), options.start.end());
  ContactResult result;
  static_cast<ContactReport&>(result) = object.solve(problem, r);
  result.message = object.message();
  result.r = as_vector(r);
  result.u = as_vector(object.contact_velocity());
  result.history = object.history();
  result.seconds = object.seconds();
  return result;
}

}  // namespace hinge
