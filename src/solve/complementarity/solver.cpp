#include "solve/complementarity/solver.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "solve/complementarity/cone.hpp"

namespace hinge {

Judge::Judge(const ContactProblem& problem, const ContactOptions& options)
    : problem_(problem),
      options_(options),
      residual_(problem),
      start_(std::chrono::steady_clock::now()),
      best_(Eigen::VectorXd::Zero(problem.rows())) {}

double Judge::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Judge::done(int iteration, const Eigen::VectorXd& r) {
  iteration += base_;
  iterations_ = std::max(iterations_, iteration);
  last_ = residual_(r).by(options_.scaling);
  const double now = seconds();
  history_.push_back({iteration, last_, now});
  if (last_ < best_residual_) best_residual_ = last_, best_ = r;
  if (converged()) return true;
  if (options_.seconds > 0 && now > options_.seconds) {
    stop(ContactStatus::iteration_limit, fmt::format("{:.3g} seconds were up", options_.seconds));
    return true;
  }
  return false;
}

void Judge::stop(ContactStatus status, const std::string& reason) {
  status_ = status;
  reason_ = reason;
}

ContactResult Judge::finish(const std::string& solver) {
  ContactResult result;
  result.solver = solver;
  result.r = best_;
  // Judged anew, whatever was said before.
  result.residual = residual_(best_);
  result.u = residual_.velocity();
  result.iterations = iterations_;
  result.factorisations = factorisations;
  result.contact_updates = contact_updates;
  result.history = std::move(history_);
  const double final = result.residual.by(options_.scaling);
  if (final <= options_.tolerance) {
    result.status = ContactStatus::converged;
  } else {
    result.status = status_;
    result.message =
        fmt::format("{} did not reach {:.1e}: residual {:.2e} after {} iterations; {}", solver, options_.tolerance,
                    final, iterations_, reason_.empty() ? "more iterations may help, or another solver" : reason_);
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
