// What the solvers of contact problems share: one signature, and a judge that watches them.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "hinge/contact.hpp"
#include "solve/contact/delassus.hpp"
#include "solve/contact/residual.hpp"

namespace hinge {

/// Judges iterates by the problem's own residual, keeps the best, writes the history and says when to stop.
class Judge {
 public:
  using Clock = std::chrono::steady_clock;
  /// `start` is when the time began to run.
  Judge(const ContactProblem& problem, const ContactOptions& options, Clock::time_point start = Clock::now());
  /// Solvers hand over r in multiples of `unit` (and get the best in these).
  void reactions_in(double unit) { unit_ = unit; }

  /// Looks at r after `iteration`; true when the solver should return: converged, or out of time.
  bool done(int iteration, const Eigen::VectorXd& r);
  bool converged() const { return best_residual_ <= options_.tolerance; }
  /// By the scaling asked for: of the last iterate looked at, of the best, and relative to which tolerance.
  double last() const { return last_; }
  double best_residual() const { return best_residual_; }
  double tolerance() const { return options_.tolerance; }
  const Eigen::VectorXd& best() const { return best_; }
  double seconds() const;
  /// True, with the reason noted, when the options' seconds are up. For loops that look at no iterate.
  bool out_of_time();
  /// Another solver goes on: its iterations are counted behind those so far.
  void next_stage() { base_ = iterations_; }
  /// What the options leave of their limit to this stage, or the solver's own.
  int limit(int own) const { return options_.iterations > 0 ? std::max(0, options_.iterations - base_) : own; }

  /// Why the solver stops without having converged; the last reason counts.
  void stop(ContactStatus status, const std::string& reason);

  ContactResult finish(const std::string& solver);
  const ContactProblem& problem() const { return problem_; }
  const ContactOptions& options() const { return options_; }

  std::string used;  ///< by `auto`: the solver that found the best iterate
  int factorisations = 0;
  long contact_updates = 0;

 private:
  const ContactProblem& problem_;
  const ContactOptions& options_;
  Clock::time_point start_;
  ResidualOfProblem residual_;
  double unit_ = 1;
  Eigen::VectorXd best_, scaled_;
  double best_residual_ = HUGE_VAL, last_ = HUGE_VAL;
  int iterations_ = 0, base_ = 0;
  std::vector<ContactResult::Point> history_;
  ContactStatus status_ = ContactStatus::iteration_limit;
  std::string reason_;
};

/// r to begin with: the warm start, projected on the cones, or zero.
Eigen::VectorXd first_guess(const ContactProblem& problem, const ContactOptions& options);

using ContactSolve = void (*)(Delassus& W, Judge& judge, Eigen::VectorXd r);

struct SolverEntry {
  ContactSolverInfo info;
  /// Why it cannot treat such problems; empty where it can.
  std::string (*refuses)(const ContactProblem& problem);
  ContactSolve solve;
};

/// Every solver, in the order in which they are listed.
const std::vector<SolverEntry>& registered_contact_solvers();

}  // namespace hinge
