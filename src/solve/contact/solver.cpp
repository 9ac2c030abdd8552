#include "solve/contact/solver.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "solve/contact/cone.hpp"

namespace hinge {

Judge::Judge(const ContactProblem& problem, const ContactOptions& options, Clock::time_point start)
    : problem_(problem),
      options_(options),
      start_(start),
      residual_(problem),
      best_(Eigen::VectorXd::Zero(problem.rows())) {}

double Judge::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Judge::done(int iteration, const Eigen::VectorXd& r) {
  iteration += base_;
  iterations_ = std::max(iterations_, iteration);
  if (unit_ != 1) scaled_ = unit_ * r;
  last_ = residual_(unit_ != 1 ? scaled_ : r).judged(options_.scaling, options_.tolerance);
  const double now = seconds();
  history_.push_back({iteration, last_, now});
  if (last_ < best_residual_) best_residual_ = last_, best_ = r;
  return converged() || out_of_time();
}

bool Judge::out_of_time() {
  if (!(options_.seconds > 0) || seconds() <= options_.seconds) return false;
  stop(ContactStatus::iteration_limit, fmt::format("{:.3g} seconds were up", options_.seconds));
  return true;
}

void Judge::stop(ContactStatus status, const std::string& reason) {
  status_ = status;
  reason_ = reason;
}

ContactResult Judge::finish(const std::string& solver) {
  ContactResult result;
  result.solver = solver;
  result.r = unit_ * best_;
  // Judged anew, whatever was said before.
  result.residual = residual_(result.r);
  result.u = residual_.velocity();
  result.iterations = iterations_;
  result.factorisations = factorisations;
  result.contact_updates = contact_updates;
  result.history = std::move(history_);
  const double plain = result.residual.by(options_.scaling);
  if (result.residual.judged(options_.scaling, options_.tolerance) <= options_.tolerance) {
    result.status = ContactStatus::converged;
  } else {
    result.status = status_;
    const std::string reason = reason_.empty() ? "more iterations may help, or another solver" : reason_;
    result.message =
        plain > options_.tolerance
            ? fmt::format("{} did not reach {:.1e}: residual {:.2e} after {} iterations; {}", solver,
                          options_.tolerance, plain, iterations_, reason)
            : fmt::format(
                  "{} reached a residual of {:.2e}, but only because r is large: velocities are wrong by {:.1e} "
                  "of the largest |q|, so the problem may have no solution; {}",
                  solver, plain, result.residual.velocity, reason);
  }
  result.seconds = seconds();
  return result;
}

Eigen::VectorXd first_guess(const ContactProblem& p, const ContactOptions& options) {
  if (options.start.size() == 0) return Eigen::VectorXd::Zero(p.rows());
  Eigen::VectorXd r = options.start;
  for (int i = 0; i < p.contacts(); ++i) project_on_model(p, p.mu[i], r.data() + i * p.dimension);
  return r;
}

}  // namespace hinge
