#include "solve/contact/judge.hpp"

#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "solve/contact/stop.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {
std::atomic<bool (*)()> told_to_stop{nullptr};
}

void stop_contact_solvers_if(bool (*asked)()) { told_to_stop = asked; }

namespace {

constexpr double worst_rounding = 6.25e-8;  // more than this is no rounding but a wrong r
constexpr int least_contacts = 8;           // whose sweeps a budget allows, however few there are

}  // namespace

void Judge::begin(const ContactProblem& problem, const ContactOptions& options) {
  start_ = Clock::now();
  problem_ = &problem;
  options_ = &options;
  residual_.bind(problem, options.threads);
  unit_ = 1;
  tolerance_ = options.tolerance;
  best_.assign(static_cast<std::size_t>(problem.rows()), 0.0);
  best_residual_ = last_ = HUGE_VAL;
  best_is_looked_at_ = false;
  best_noise_ = 0;
  iterations_ = base_ = stage_end_ = factorisations = 0;
  end_ = options.iterations;
  contact_updates = 0;
  work_ = 0;
  look_ =
      problem.matrix_free() ? problem.rows() / 3.0 : static_cast<double>(problem.W.nonZeros()) / operations_per_update;
  budget_ = options.sweeps > 0 ? options.sweeps * std::max(problem.contacts(), least_contacts) : HUGE_VAL;
  history_.clear();
  status_ = ContactStatus::iteration_limit;
  reason_.clear();
  used = {};
}

double Judge::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

bool Judge::done(int iteration, const Eigen::Ref<const Eigen::VectorXd>& r) {
  iteration += base_;
  iterations_ = std::max(iterations_, iteration);
  if (unit_ != 1) scaled_ = unit_ * r;
  const ContactResidual now = unit_ != 1 ? residual_(scaled_) : residual_(r);
  work_ += look_;
  looked_ = now;
  best_is_looked_at_ = false;
  last_ = now.judged(options_->scaling, tolerance_);
  history_.push_back({iteration, last_, seconds()});
  if (last_ < best_residual_) {
    best_residual_ = last_;
    best_noise_ = now.noise;
    best_is_looked_at_ = true;
    const double* x = unit_ != 1 ? scaled_.data() : r.data();
    parallel_ranges(
        static_cast<int>(r.size()), options_->threads,
        [&](int first, int last) { std::copy(x + first, x + last, best_.begin() + first); }, 16384);
  }
  return converged() || out_of_time();
}

double Judge::rounding_level() const {
  const double q = residual_.largest_q();
  return q > 0 ? std::min(best_noise_ / q, worst_rounding) : 0;
}

Eigen::VectorXd Judge::best() const { return best_reaction() / unit_; }
Eigen::VectorXd Judge::best_reaction() const {
  return Eigen::Map<const Eigen::VectorXd>(best_.data(), std::ssize(best_));
}

void Judge::forget_best() {
  earlier_ = best_;
  earlier_residual_ = best_residual_;
  earlier_noise_ = best_noise_;
  best_residual_ = HUGE_VAL;
  best_is_looked_at_ = false;
  next_stage();
}

void Judge::recall_best() {
  if (!(earlier_residual_ < best_residual_)) return;
  best_ = earlier_;
  best_residual_ = earlier_residual_;
  best_noise_ = earlier_noise_;
  best_is_looked_at_ = false;
}

bool Judge::out_of_time() {
  if (const auto asked = told_to_stop.load(); asked && asked()) {
    stop(ContactStatus::iteration_limit, "it was told to stop");
    return true;
  }
  if (work_ > budget_) {
    stop(ContactStatus::iteration_limit, fmt::format("the work of {:.4g} sweeps is used up", options_->sweeps));
    return true;
  }
  if (!(options_->seconds > 0) || seconds() <= options_->seconds) return false;
  stop(ContactStatus::iteration_limit, fmt::format("{:.3g} seconds were up", options_->seconds));
  return true;
}

const ContactResidual& Judge::look_again() {
  if (!best_is_looked_at_) looked_ = residual_(Eigen::Map<const Eigen::VectorXd>(best_.data(), std::ssize(best_)));
  best_is_looked_at_ = true;
  return looked_;
}

bool Judge::exchange_best(const std::vector<double>& r) {
  if (r == best_) return true;
  best_is_looked_at_ = false;
  const ContactResidual now = residual_(Eigen::Map<const Eigen::VectorXd>(r.data(), std::ssize(r)));
  const double value = now.judged(options_->scaling, tolerance_);
  constexpr double rounding = 1e-14, noises = 8, times = 50;
  if (!(value <= std::max({times * best_residual_, rounding, noises * rounding_level()}))) return false;
  if (converged() && !(value <= tolerance_)) return false;
  best_ = r;
  best_residual_ = value;
  best_noise_ = now.noise;
  looked_ = now;
  best_is_looked_at_ = true;
  return true;
}

void Judge::begin_stage(int limit) {
  next_stage();
  stage_end_ = limit > 0 ? base_ + limit : 0;
}

int Judge::limit(int own) const {
  if (!is_limited()) return own;
  const int end = end_ == 0 ? stage_end_ : stage_end_ == 0 ? end_ : std::min(end_, stage_end_);
  return std::max(0, end - base_);
}

void Judge::stop(ContactStatus status, std::string_view reason) {
  status_ = status;
  reason_ = reason;
}

ContactReport Judge::finish(std::string_view solver, std::vector<double>& r) {
  r = best_;
  report_.solver = solver;
  report_.residual = look_again();
  report_.iterations = iterations_;
  report_.factorisations = factorisations;
  report_.contact_updates = contact_updates;
  report_.work = work_;
  const bool good = report_.residual.judged(options_->scaling, tolerance_) <= tolerance_;
  report_.status = good ? ContactStatus::converged : status_;
  return report_;
}

std::string Judge::message() const {
  if (report_.converged()) return "";
  const std::string reason = reason_.empty() ? "more iterations may help, or another solver" : reason_;
  const double plain = report_.residual.by(options_->scaling);
  if (plain > tolerance_)
    return fmt::format("{} did not reach {:.1e}: residual {:.2e} after {} iterations; {}", report_.solver, tolerance_,
                       plain, iterations_, reason);
  return fmt::format(
      "{} reached a residual of {:.2e}, but only because r is large: velocities are wrong by {:.1e} of the largest "
      "|q|, "
      "so the problem may have no solution; {}",
      report_.solver, plain, report_.residual.velocity, reason);
}

}  // namespace hinge
