// Watches solvers: judges iterates by the problem's own residual, keeps the best, and says when to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "hinge/contact.hpp"
#include "solve/contact/residual.hpp"

namespace hinge {

class Judge {
 public:
  Judge() { history_.reserve(256); }
  /// Time begins to run. Both must live as long as the solution.
  void begin(const ContactProblem& problem, const ContactOptions& options);
  /// Solvers hand over r in multiples of `unit` (and get the best in these).
  void reactions_in(double unit) { unit_ = unit; }

  /// Looks at r after `iteration`; true when the solver should return: converged, or out of time.
  bool done(int iteration, const Eigen::Ref<const Eigen::VectorXd>& r);
  bool converged() const { return best_residual_ <= tolerance_; }
  // By the scaling asked for: of the last iterate looked at, of the best, and relative to which tolerance.
  double last() const { return last_; }
  double best_residual() const { return best_residual_; }
  double tolerance() const { return tolerance_; }
  void tolerance(double accepted) { tolerance_ = accepted; }
  /// Below this the residual of the best says nothing: what rounding may hide in u, relative to the largest |q|.
  double rounding_level() const;
  Eigen::VectorXd best() const;           ///< in the units of the solvers
  Eigen::VectorXd best_reaction() const;  ///< in those of the problem
  const std::vector<double>& best_found() const { return best_; }
  /// Begins anew, as if nothing had been found; then the better of both is the best.
  void forget_best();
  void recall_best();
  /// True, with the reason noted, when the options' seconds or sweeps are up. For loops that look at no iterate.
  bool out_of_time();

  /// Another solver goes on: its iterations are counted behind those so far, and it gets `limit` of them (0: its own).
  void begin_stage(int limit = 0);
  /// The iterations of this stage were against rounding only.
  void do_not_count() { iterations_ = base_; }
  /// The same solver goes on in another way.
  void next_stage() { base_ = iterations_; }
  /// All that come get so many iterations together.
  void allow(int iterations) { end_ = iterations_ + iterations; }
  /// What is left to this stage; the solver's own where nobody limits it.
  int limit(int own) const;
  bool is_limited() const { return end_ > 0 || stage_end_ > 0; }

  /// Why the solver stops without having converged; the last reason counts.
  void stop(ContactStatus status, std::string_view reason);

  /// Judged anew, whatever was said before; r becomes the best.
  ContactReport finish(std::string_view solver, std::vector<double>& r);
  std::string message() const;

  const ContactProblem& problem() const { return *problem_; }
  const ContactOptions& options() const { return *options_; }
  const ResidualOfProblem& residual() const { return residual_; }
  const std::vector<ContactResult::Point>& history() const { return history_; }
  double seconds() const;

  // What was done, in contact updates between bodies.
  void swept(long updates, double cost_of_one = 1) {
    contact_updates += updates;
    work_ += cost_of_one * static_cast<double>(updates);
  }
  /// Operations of dense linear algebra.
  void spend(double operations) { work_ += operations / operations_per_update; }
  void factorised(double operations) {
    ++factorisations;
    spend(operations);
  }
  double work() const { return work_; }
  bool has_budget() const { return options_->sweeps > 0; }

  /// The residual of the best, whose velocities residual() has then.
  const ContactResidual& look_again();
  /// r takes the place of the best, where that loses nothing to speak of.
  bool exchange_best(const std::vector<double>& r);

  std::string_view used;  ///< by `auto`: the solver that found the best iterate
  int factorisations = 0;
  long contact_updates = 0;

 private:
  static constexpr double operations_per_update = 150;
  using Clock = std::chrono::steady_clock;
  const ContactProblem* problem_ = nullptr;
  const ContactOptions* options_ = nullptr;
  Clock::time_point start_;
  ResidualOfProblem residual_;
  double unit_ = 1, tolerance_ = 0;
  std::vector<double> best_, earlier_;
  Eigen::VectorXd scaled_;
  double best_residual_ = HUGE_VAL, last_ = HUGE_VAL, best_noise_ = 0;
  double earlier_residual_ = HUGE_VAL, earlier_noise_ = 0;
  double work_ = 0, budget_ = HUGE_VAL, look_ = 0;           // in contact updates; `look_` of a residual
  int iterations_ = 0, base_ = 0, end_ = 0, stage_end_ = 0;  // an end of 0: none
  std::vector<ContactResult::Point> history_;
  ContactStatus status_ = ContactStatus::iteration_limit;
  std::string reason_;
  ContactReport report_;
  ContactResidual looked_;
  bool best_is_looked_at_ = false;  // residual_ has the velocities of the best
};

}  // namespace hinge
