#include "method/symplectic/spark_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/step_failure.hpp"
#include "solve/linear/lu.hpp"

namespace hinge {

Spark::Spark(std::shared_ptr<const System> system, SparkTableau tableau, const SolverOptions& options)
    : system_(std::move(system)),
      c_(std::move(tableau)),
      options_(options),
      guard_(*system_, options.linear_algebra),
      s_(c_.stages()),
      st_(c_.constraint_stages()),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      small_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi), system_->pattern(Q::constraint_rate_z),
             options.linear_algebra),
      end_small_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
                 system_->pattern(Q::constraint_rate_z), options.linear_algebra),
      guess_v_(static_cast<std::size_t>(s_ * ny_)),
      guess_z_(static_cast<std::size_t>(s_ * nz_)),
      guess_l_(static_cast<std::size_t>(st_ * m_)),
      guess_end_z_(static_cast<std::size_t>(nz_)),
      guess_end_l_(static_cast<std::size_t>(m_)) {
  options_.validate();
  if (!system_->pattern(Q::reaction_z).empty())
    throw UnsuitableMethod(
        fmt::format("{} needs a reaction r(t, y, psi) that does not depend on the velocity or momentum, and this "
                    "system's does; use symplectic-euler, or a composition of it",
                    c_.name));
  velocity_is_z_ = system_->structure().velocity_is_z;
  n_inverse_ = Lu<double>((c_.abar * c_.atilde).block(1, 0, st_, st_)).inverse();

  start_ = system_->evaluation({Q::momentum, Q::velocity});
  stage_ = velocity_is_z_ ? system_->evaluation({Q::momentum, Q::force})
                          : system_->evaluation({Q::velocity, Q::momentum, Q::force});
  first_node_ = {system_->evaluation({Q::reaction}), system_->evaluation({Q::reaction, Q::reaction_psi})};
  inner_node_ = {system_->evaluation({Q::reaction, Q::constraint}),
                 system_->evaluation({Q::reaction, Q::reaction_psi, Q::constraint, Q::constraint_y})};
  last_node_ = {system_->evaluation({Q::constraint}), system_->evaluation({Q::constraint, Q::constraint_y})};
  end_ = system_->evaluation(
      {Q::momentum, Q::momentum_z, Q::reaction, Q::reaction_psi, Q::constraint_rate, Q::constraint_rate_z});
  end_values_ = system_->evaluation({Q::momentum, Q::reaction, Q::constraint_rate});
  reference_ = system_->evaluation({Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z, Q::velocity_z, Q::force});

  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  for (auto* v : {&stage_y_, &stage_v_, &position_change_}) v->resize(size(s_ * ny_));
  for (auto* v : {&stage_z_, &stage_f_, &stage_p_, &increment_z_, &residual_, &mass_residual_})
    v->resize(size(s_ * nz_));
  node_positions_.resize(size((st_ + 1) * ny_));
  node_r_.resize(size((st_ + 1) * nz_));
  multiplier_.resize(size((st_ + 1) * m_));
  multipliers_.resize(size((st_ + 1) * m_));
  branch_from_.resize(size((st_ + 1) * m_));
  for (auto* v : {&increment_l_, &node_g_}) v->resize(size((st_ + 1) * m_));
  node_gy_.resize(size(st_ + 1) * system_->pattern(Q::constraint_y).entries());
  node_rpsi_.resize(size(st_ + 1) * system_->pattern(Q::reaction_psi).entries());
  velocity_z_.resize(system_->pattern(Q::velocity_z).entries());
  for (auto* v : {&p0_, &z1_, &work_, &work2_}) v->resize(size(nz_));
  for (auto* v : {&y1_, &work_y_}) v->resize(size(ny_));
  psi1_.resize(size(m_));
  if (guard_.needed())
    for (auto& [from, to] : kept_unknowns()) to->resize(from->size());
  work_m_.resize(size(m_));
  newton_.resize(size(std::max(nz_ + m_, ny_)));
  force_is_constant_ = system_->is_constant(Q::force);
  if (force_is_constant_) {
    const auto force = system_->evaluation({Q::force});
    force->at(0, y1_.data(), z1_.data(), psi1_.data());
    for (int i = 0; i < s_; ++i) std::copy_n((*force)[Q::force], nz_, f_(i));
  }
}

StepResult Spark::step(State& state, double h) {
  ++counters_.steps;
  if (std::abs(h - last_h_) > 1e-9 * std::abs(h)) {
    forget_guesses();
    last_h_ = h;
  }
  start_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  std::copy_n((*start_)[Q::momentum], nz_, p0_.data());
  fresh_ = false;
  if (code_in_ > 0 && --code_in_ == 0 && !guard_.needed() && small_.applicable() &&
      options_.newton != SolverOptions::Newton::full)
    code_ = SparkCode::make(*system_, c_, n_inverse_, small_);
  first_guess(state);
  if (!small_.factored()) refresh_small_matrix(state, h);
  set_units(state, h);

  StepResult result = guard_.needed() ? follow_branch(state, h) : solve_step(state, h);
  if (!result) return result;

  if (!velocity_is_z_) guess_v_.push(stage_v_.data());
  guess_z_.push(stage_z_.data());
  guess_l_.push(multiplier_.data());
  guess_end_z_.push(z1_.data());
  guess_end_l_.push(psi1_.data());
  state.t += h;
  state.y = y1_;
  state.z = z1_;
  state.psi = psi1_;
  std::copy_n(multiplier_.data(), st_ * m_, multipliers_.data());
  std::copy_n(psi1_.data(), m_, multipliers_.data() + st_ * m_);
  return {};
}

StepResult Spark::solve_step(const State& state, double h) {
  if (StepResult result = solve_stages(state, h); !result) return result;
  sum_end_position(state, h);
  return solve_end(state, h);
}

// y1 = y0 + h sum_j b_j V_j
void Spark::sum_end_position(const State& state, double h) {
  std::copy_n(state.y.data(), ny_, y1_.data());
  for (int j = 0; j < s_; ++j) axpy(h * c_.b[j], v_(j), ny_, y1_.data());
}

// Is S of one sign all through the step?
bool Spark::same_side(const State& state, double h) {
  const int side = guard_.side(state.t, state.y.data(), state.z.data(), state.psi.data());
  for (int k = 0; k < st_; ++k)
    if (guard_.side(state.t + c_.ctilde[k] * h, node_y_(k), state.z.data(), l_(k)) != side) return false;
  return guard_.side(state.t + h, y1_.data(), z1_.data(), psi1_.data()) == side;
}

// Does the guess lie on the branch of the multipliers of the last step?
bool Spark::guess_is_on_branch(const State& state) {
  if (!guess_z_.ready()) return false;
  for (int k = 0; k <= st_; ++k)
    if (guard_.change(state.t, state.y.data(), state.z.data(), multipliers_.data() + k * m_, l_(k)) >
        BranchGuard::allowed)
      return false;
  return true;
}

// Both blocks with exact derivatives from what the unknowns are now: true if solved, and no other solution is near.
bool Spark::solve_safely(const State& state, double h) {
  set_units(state, h);
  std::copy_n(multiplier_.data(), st_ * m_, branch_from_.data());
  std::copy_n(psi1_.data(), m_, branch_from_.data() + st_ * m_);
  if (!full_stages(state, h) || full_newton_.first_contraction() > BranchGuard::safe_contraction) return false;
  sum_end_position(state, h);
  sum_end_momentum(h);
  return full_end(state.t + h, h) && full_newton_.first_contraction() <= BranchGuard::safe_contraction &&
         stayed_on_branch(state, h);
}

// Near the end of a branch, where S is almost singular, Newton's method may leap to another one and converge there at
// once. No multiplier may be further from its first guess than its branch reaches.
bool Spark::stayed_on_branch(const State& state, double h) {
  for (int k = 0; k < st_; ++k)
    if (guard_.change(state.t + c_.ctilde[k] * h, node_y_(k), state.z.data(), branch_from_.data() + k * m_, l_(k)) >
        BranchGuard::allowed)
      return false;
  return guard_.change(state.t + h, y1_.data(), z1_.data(), branch_from_.data() + st_ * m_, psi1_.data()) <=
         BranchGuard::allowed;
}

// The solution on the branch of the consistent multiplier: from the guess if that is certain, else grown from h = 0,
// where Z_i = z0, L_k = psi, in pieces.
StepResult Spark::follow_branch(const State& state, double h) {
  ++counters_.full_newton;
  if (guess_is_on_branch(state)) {
    std::copy_n(l_(st_), m_, psi1_.data());
    if (solve_safely(state, h) && same_side(state, h)) return {};
  }
  forget_guesses();
  first_guess(state);
  psi1_ = state.psi;
  double done = 0, piece = 1;
  while (done < 1) {
    for (auto& [from, to] : kept_unknowns()) *to = *from;
    const double next = std::min(1.0, done + piece);
    if (solve_safely(state, next * h)) {
      done = next;
      piece *= 2;
      continue;
    }
    for (auto& [from, to] : kept_unknowns()) *from = *to;
    piece /= 2;
    if (piece >= BranchGuard::shortest_piece) continue;
    if (!std::isfinite(full_newton_.last()))
      return explain_failure(*system_, state, h, "the stage equations", full_newton_);
    return left_the_branch(*system_, state, h, "a multiplier");
  }
  if (!same_side(state, h)) return left_the_branch(*system_, state, h, "the solution");
  return {};
}

void Spark::set_units(const State& state, double h) {
  unit_ = StepRounding(biggest(state.y.data(), ny_), biggest((*start_)[Q::velocity], ny_), biggest(state.z.data(), nz_),
                       std::abs(h) * acceleration_, biggest(velocity_z_.data(), static_cast<int>(velocity_z_.size())),
                       h, m_);
}

// From rest, by a force that vanishes there as sin(w t) does, the stages are the first to say how fast things are.
// After one increment they are what forces have made of the first guess; multipliers may run away, and say nothing.
void Spark::raise_units(const State& state, double h, const double* v) {
  constexpr double much_faster = 1e12;
  const double speed = biggest(v, s_ * ny_);
  if (m_ > 0 || !(speed > much_faster * unit_.v / std::numeric_limits<double>::epsilon())) return;
  unit_ = StepRounding(biggest(state.y.data(), ny_), speed,
                       std::max(biggest(state.z.data(), nz_), velocity_is_z_ ? speed : 0), 0,
                       biggest(velocity_z_.data(), static_cast<int>(velocity_z_.size())), h, m_);
}

double Spark::velocity_size(const double* dz) { return size_in_velocities(*system_, velocity_z_, dz, work_y_); }

void Spark::first_guess(const State& state) {
  if (guess_z_.ready()) {
    guess_z_.predict(stage_z_.data());
    if (velocity_is_z_)
      stage_v_ = stage_z_;
    else
      guess_v_.predict(stage_v_.data());
    guess_l_.predict(multiplier_.data());
    guess_end_z_.predict(z1_.data());
    guess_end_l_.predict(l_(st_));
  } else {
    for (int i = 0; i < s_; ++i) std::copy_n((*start_)[Q::velocity], ny_, v_(i));
    for (int i = 0; i < s_; ++i) std::copy_n(state.z.data(), nz_, z_(i));
    for (int k = 0; k <= st_; ++k) std::copy_n(state.psi.data(), m_, l_(k));
    z1_ = state.z;
  }
}

// S = g_y v_z p_z^-1 r_psi in the middle of the step as it is now guessed.
void Spark::refresh_small_matrix(const State& state, double h) {
  std::fill(work_.begin(), work_.end(), 0.0);
  std::fill(work_m_.begin(), work_m_.end(), 0.0);
  work_y_ = state.y;
  for (int j = 0; j < s_; ++j) {
    axpy(h / 2 * c_.b[j], v_(j), ny_, work_y_.data());
    axpy(c_.b[j], z_(j), nz_, work_.data());
  }
  for (int k = 0; k <= st_; ++k) axpy(c_.btilde[k], l_(k), m_, work_m_.data());
  reference_->at(state.t + h / 2, work_y_.data(), work_.data(), work_m_.data());
  ++counters_.evaluations;
  std::copy_n((*reference_)[Q::velocity_z], velocity_z_.size(), velocity_z_.data());
  fresh_ = true;
  const double* force = (*reference_)[Q::force];
  if (small_.applicable()) {
    ++counters_.factorisations;
    if (small_.factor((*reference_)[Q::momentum_z], (*reference_)[Q::reaction_psi],
                      (*reference_)[Q::constraint_rate_z])) {
      small_.solve_mass(force, work_.data());
      note_acceleration(velocity_size(work_.data()));
      return;
    }
  }
  const int entries = static_cast<int>(system_->pattern(Q::momentum_z).entries());
  const double mass = biggest((*reference_)[Q::momentum_z], entries);
  const double vz = biggest(velocity_z_.data(), static_cast<int>(velocity_z_.size()));
  note_acceleration(mass > 0 ? biggest(force, nz_) * vz / mass : 0);
}

void Spark::note_acceleration(double a) {
  if (std::isfinite(a)) acceleration_ = a;
}

std::unique_ptr<Stepper> make_spark(std::shared_ptr<const System> system, SparkTableau tableau,
                                    const SolverOptions& options) {
  return std::make_unique<Spark>(std::move(system), std::move(tableau), options);
}

}  // namespace hinge
