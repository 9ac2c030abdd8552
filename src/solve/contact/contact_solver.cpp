// The solver objects, and solve_contact by one of them.
#include <cmath>

#include <fmt/format.h>

#include "solve/contact/cone.hpp"
#include "solve/contact/solver.hpp"

namespace hinge {

namespace {

constexpr int most_sweeps = 20000;  // over bodies, where nothing else is asked for

Eigen::Map<const Eigen::VectorXd> vector(std::span<const double> x) { return {x.data(), std::ssize(x)}; }

}  // namespace

// r becomes the start: finite, on the cones.
void ContactWork::begin(const ContactProblem& p) {
  judge.begin(p, options);
  W.reset();
  const bool usable = std::ssize(r) == p.rows() && vector(r).allFinite();
  if (!usable) r.assign(static_cast<std::size_t>(p.rows()), 0.0);
  for (int i = 0; i < p.contacts(); ++i) project_on_model(p, p.mu_of(i), r.data() + i * p.dimension);
}

Delassus& ContactWork::delassus() {
  if (!W) {
    W.emplace(judge.problem(), options.threads);
    W->normalise();
    judge.reactions_in(W->reaction_unit());
  }
  return *W;
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
  if (!nothing_moves || !judge.done(0, vector(work.r))) {
    if (!chosen.solve)
      solve_automatically(work);
    else if (!problem.by_bodies() || chosen.info.name != "block-gauss-seidel")
      work.run(chosen.info.name, vector(work.r));
    else if (!judge.done(0, vector(work.r)))
      sweep(work, true, false, most_sweeps);
  }
  r.swap(work.r);
  return judge.finish(judge.used.empty() ? std::string_view(chosen.info.name) : judge.used, r);
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
  result.r = vector(r);
  result.u = vector(object.contact_velocity());
  result.history = object.history();
  result.seconds = object.seconds();
  return result;
}

}  // namespace hinge
