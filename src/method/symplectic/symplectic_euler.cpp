#include "method/symplectic/symplectic_euler.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/step_failure.hpp"
#include "method/symplectic/symplectic_euler_step.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

// Steps along the Newton direction shorter than this mean that a singular matrix is in the way.
constexpr double shortest_length = 1e-4;
// The share of a step that is done first where it is grown in pieces: short, but not so short that rounding, eps
// |y|/h^2, spoils the multipliers.
constexpr double first_piece = 1.0 / 16;

EulerWeights weights_of(const SymplecticEulerOptions& o, bool affine) {
  const double a = o.alpha, b = 1 - a;
  if (!o.natural && !o.adjoint) return {o.conjugate, {a, 0}, {-a, 1}, {0, 1}};
  if (!o.natural) return {!o.conjugate, {1, -a}, {0, a}, {1, 0}};
  const double w = o.adjoint ? b : a;  // the adjoint of natural(a) is natural conjugate(1-a)
  const std::array<double, 2> multiplier = affine ? std::array{w, 1 - w} : std::array{0.0, 1.0};
  return {o.conjugate != o.adjoint, {w, 0}, {0, 1 - w}, multiplier};
}

}  // namespace

SymplecticEuler::SymplecticEuler(std::shared_ptr<const System> system, const EulerWeights& weights,
                                 const SolverOptions& options)
    : system_(std::move(system)),
      w_(weights),
      options_(options),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      offset_{0, ny_, ny_ + nz_, ny_ + nz_ + m_, ny_ + 2 * nz_ + m_, ny_ + 2 * nz_ + 2 * m_},
      identity_(identity_pattern(ny_)),
      guard_(*system_, options.linear_algebra),
      guess_(static_cast<std::size_t>(2 * nz_)),
      guess_psi_(static_cast<std::size_t>(2 * m_)) {
  options_.validate();
  velocity_is_z_ = system_->structure().velocity_is_z;
  const int all = offset_[unknowns], half = offset_[at_z];
  const Convergence newton(options_.max_iterations,
                           guard_.needed() ? newton_policy::full_on_branch : newton_policy::position_level);
  if (w_.coupled()) {
    parts_.push_back({true, true, 0, BlockMatrix(all), "the equations of the step", newton});
  } else {
    parts_.push_back({true, false, 0, BlockMatrix(half), "the position level", newton});
    parts_.push_back({false, true, half, BlockMatrix(all - half), "the velocity level at the end of the step", newton});
  }
  for (Part& part : parts_) {
    lay_out(part);
    part.matrix.finish(options.linear_algebra);
  }
  start_ = system_->evaluation({Q::momentum, Q::velocity, Q::force});
  mid_ = system_->evaluation({Q::momentum, Q::velocity, Q::force});
  mid_derivatives_ = system_->evaluation(
      {Q::velocity_y, Q::velocity_z, Q::momentum_y, Q::momentum_z, Q::force_y, Q::force_z, Q::force});
  position_ = system_->evaluation({Q::constraint});
  position_derivatives_ = system_->evaluation({Q::constraint_y});
  end_ = system_->evaluation({Q::momentum, Q::constraint_rate});
  for (std::size_t k = 0; k < 2; ++k) {
    kick0_[k] = system_->evaluation({Q::reaction});
    kick0_derivatives_[k] = system_->evaluation({Q::reaction_psi});
    kick1_[k] = system_->evaluation({Q::reaction});
    end_derivatives_[k] = system_->evaluation({Q::momentum_y, Q::momentum_z, Q::reaction_y, Q::reaction_z,
                                               Q::reaction_psi, Q::constraint_rate_y, Q::constraint_rate_z});
  }
  const auto n = [](int k) { return static_cast<std::size_t>(k); };
  x_.resize(n(all));
  kept_x_.resize(n(all));
  d_.resize(n(all));
  trial_psi_.resize(n(2 * m_));
  branch_from_.resize(n(2 * m_));
  velocity_z_.resize(system_->pattern(Q::velocity_z).entries());
  velocity_change_.resize(n(ny_));
  ones_.assign(n(ny_), 1.0);
  multipliers_.resize(n(2 * m_));
}

// With Ye = y0 the position follows from Z and is no unknown of its own.
void SymplecticEuler::evaluate_first(const State& state, double h) {
  const double t1 = end_time(state, h);
  mid_->at(w_.at_end ? t1 : state.t, w_.at_end ? x(at_y) : state.y.data(), x(at_z_mid), psi(0));
  if (!w_.at_end) {
    std::copy_n(state.y.data(), ny_, x(at_y));
    axpy(h, (*mid_)[Q::velocity], ny_, x(at_y));
  }
  for (int k = 0; k < 2; ++k)
    if (w_.first[static_cast<std::size_t>(k)] != 0)
      kick0_[static_cast<std::size_t>(k)]->at(state.t, state.y.data(), state.z.data(), psi(k));
  position_->at(t1, x(at_y), x(at_z_mid), psi(0));
  ++counters_.evaluations;
}

void SymplecticEuler::evaluate_second(double t1) {
  end_->at(t1, x(at_y), x(at_z), psi(1));
  for (int k = 0; k < 2; ++k)
    if (w_.second[static_cast<std::size_t>(k)] != 0)
      kick1_[static_cast<std::size_t>(k)]->at(t1, x(at_y), x(at_z), psi(k));
  ++counters_.evaluations;
}

// d = minus the residuals
void SymplecticEuler::residual_first(const State& state, double h) {
  const Evaluation& mid = *mid_;
  for (int i = 0; i < ny_; ++i)
    d(at_y)[i] = w_.at_end ? state.y[static_cast<std::size_t>(i)] + h * mid[Q::velocity][i] - x(at_y)[i] : 0;
  for (int i = 0; i < nz_; ++i)
    d(at_z_mid)[i] = (*start_)[Q::momentum][i] - mid[Q::momentum][i] + (w_.at_end ? 0 : h * mid[Q::force][i]);
  for (std::size_t k = 0; k < 2; ++k)
    if (w_.first[k] != 0) axpy(h * w_.first[k], (*kick0_[k])[Q::reaction], nz_, d(at_z_mid));
  for (int i = 0; i < m_; ++i) d(at_p0)[i] = -(*position_)[Q::constraint][i] / (h * h);
}

// From p0, not from p(Z): what the last increment left in Z enters only through the force.
void SymplecticEuler::residual_second(double h) {
  const Evaluation& end = *end_;
  for (int i = 0; i < nz_; ++i) d(at_z)[i] = (*start_)[Q::momentum][i] - end[Q::momentum][i] + h * (*mid_)[Q::force][i];
  for (std::size_t k = 0; k < 2; ++k) {
    if (w_.first[k] != 0) axpy(h * w_.first[k], (*kick0_[k])[Q::reaction], nz_, d(at_z));
    if (w_.second[k] != 0) axpy(h * w_.second[k], (*kick1_[k])[Q::reaction], nz_, d(at_z));
  }
  for (int i = 0; i < m_; ++i) d(at_p1)[i] = -end[Q::constraint_rate][i] / h;
}

void SymplecticEuler::set_units(const State& state, double h) {
  unit_ = rounding_of_step(*system_, state, *start_, *mid_derivatives_, velocity_z_, h);
}

double SymplecticEuler::velocity_size(const double* dz) {
  return size_in_velocities(*system_, velocity_z_, dz, velocity_change_);
}

// The last increments in units of round-off.
double SymplecticEuler::measure(const Part& part) {
  double size = 0;
  if (part.has_first) {
    if (w_.at_end) size = biggest(d(at_y), ny_) / unit_.y;
    size = larger(size, velocity_size(d(at_z_mid)) / unit_.v);
    if (!velocity_is_z_) size = larger(size, biggest(d(at_z_mid), nz_) / unit_.z);
  }
  if (part.has_second) {
    size = larger(size, velocity_size(d(at_z)) / unit_.end_v);
    if (!velocity_is_z_) size = larger(size, biggest(d(at_z), nz_) / unit_.end_z);
  }
  return size;
}

// How far along the increment the multipliers stay on their branch: 1 if all the way, 0 if a singular S is in the way.
double SymplecticEuler::safe_length(const Part& part, const State& state, double h) {
  const auto m = static_cast<std::size_t>(m_);
  double* trial = trial_psi_.data();
  for (double length = 1; length > shortest_length; length /= 2) {
    bool safe = true;
    for (int k = 0; k < 2; ++k) {
      const bool here = k == 0 ? part.has_first : part.has_second;
      if (!here) continue;
      const double* increment = d(k == 0 ? at_p0 : at_p1);
      for (std::size_t i = 0; i < m; ++i) trial[i] = psi(k)[i] + length * increment[i];
      // where the multiplier acts: P0 at the start of the step, P1 at its end, in the adjoints also at the start
      if (w_.first[static_cast<std::size_t>(k)] != 0)
        safe = safe && guard_.change(state.t, state.y.data(), state.z.data(), psi(k), trial) <= BranchGuard::allowed;
      if (k == 1)
        safe = safe && guard_.change(end_time(state, h), x(at_y), x(at_z), psi(k), trial) <= BranchGuard::allowed;
    }
    if (safe) return length;
  }
  return 0;
}

void SymplecticEuler::move(const Part& part, double length) {
  if (part.has_first) {
    if (w_.at_end) axpy(length, d(at_y), ny_, x(at_y));
    axpy(length, d(at_z_mid), nz_, x(at_z_mid));
    axpy(length, d(at_p0), m_, x(at_p0));
  }
  if (part.has_second) {
    axpy(length, d(at_z), nz_, x(at_z));
    axpy(length, d(at_p1), m_, x(at_p1));
  }
}

// Newton's method with a matrix that is kept while it serves. Where r is nonlinear in psi, it is made anew in the first
// iterations; with `shorten`, increments are shortened so that multipliers cannot jump to another branch: the iterates
// then follow the path  F(x) = (1 - s) F(x0)  from the first guess, which meets no singular matrix.
bool SymplecticEuler::solve(Part& part, const State& state, double h, bool shorten) {
  const bool anew = !part.kept || guard_.needed() || (part.ages_fast && counters_.steps % 32 != 0);
  bool renew = anew;
  int judged = 0, shortenings = 0, renewals = 0;
  const bool solved = solved_by_newton(Booked(part.newton, counters_), [&]() -> Increment {
    ++counters_.iterations;
    if (part.has_first) evaluate_first(state, h), residual_first(state, h);
    if (part.has_second) evaluate_second(end_time(state, h)), residual_second(h);
    if (part.newton.count() > judged) renew = part.newton.renew();
    judged = part.newton.count();
    if (renew) {
      ++counters_.factorisations;
      ++renewals;
      assemble(part, state, h);
      part.kept = part.matrix.factor();
      if (!part.kept) return no_increment;
      if (part.has_first && !raised_) set_units(state, h);
      part.newton.matrix_renewed();
    }
    part.matrix.solve(d_.data() + part.offset);
    const double length = shorten ? safe_length(part, state, h) : 1;
    move(part, length);
    if (length < 1) {
      if (length == 0 || ++shortenings > options_.max_iterations) return no_increment;
      return shortened;
    }
    return measure(part);
  });
  if (!solved) return false;
  if (!anew) part.ages_fast = renewals > 0;
  if (part.has_first) evaluate_first(state, h);  // of the values as accepted
  return true;
}

// Once more where an iteration has come down to what is small beside the speeds that it has found: from rest, by forces
// that vanish there, nothing said how large these are.
bool SymplecticEuler::solve_from_rest(Part& part, const State& state, double h) {
  constexpr double small = 1e-8;
  if (!std::isfinite(part.newton.last())) return false;
  const double speed = std::max({velocity_size(x(at_z_mid)), velocity_size(x(at_z)), momentum_speed()}),
               z = std::max({biggest(x(at_z_mid), nz_), biggest(x(at_z), nz_), biggest((*start_)[Q::momentum], nz_)});
  const double left = part.newton.last() * part.newton.noise();
  if (!(left * (part.has_second ? unit_.end_v : unit_.v) <= small * speed)) return false;
  const StepRounding before = unit_;
  unit_.raise(speed, z, h);
  part.newton.forget();
  raised_ = true;
  const bool solved = solve(part, state, h, false);
  raised_ = false;
  unit_ = before;
  return solved;
}

// |v_z p_z^-1 p|, about
double SymplecticEuler::momentum_speed() {
  const double mass = biggest((*mid_derivatives_)[Q::momentum_z],
                              static_cast<int>(system_->pattern(Q::momentum_z).entries())),
               vz = biggest(velocity_z_.data(), static_cast<int>(velocity_z_.size()));
  return mass > 0 ? biggest((*start_)[Q::momentum], nz_) * vz / mass : 0;
}

// All parts, from what the unknowns are now: true if solved, and no other solution is near. Near the end of a branch,
// where S is almost singular, Newton's method may leap to another one and converge there at once: no multiplier may be
// further from its first guess than its branch reaches.
bool SymplecticEuler::solve_safely(const State& state, double h) {
  for (int k = 0; k < 2; ++k) std::copy_n(psi(k), m_, branch_from_.data() + k * m_);
  for (Part& part : parts_)
    if (!solve(part, state, h, false) || part.newton.first_contraction() > BranchGuard::safe_contraction) return false;
  for (int k = 0; k < 2; ++k) {
    const double* from = branch_from_.data() + k * m_;
    if (w_.first[static_cast<std::size_t>(k)] != 0 &&
        guard_.change(state.t, state.y.data(), state.z.data(), from, psi(k)) > BranchGuard::allowed)
      return false;
    if (k == 1 && guard_.change(end_time(state, h), x(at_y), x(at_z), from, psi(k)) > BranchGuard::allowed)
      return false;
  }
  return true;
}

// Does the guess lie on the branches of the multipliers of the last step?
bool SymplecticEuler::guess_is_on_branch(const State& state) {
  if (!guess_.ready()) return false;
  for (int k = 0; k < 2; ++k)
    if (guard_.change(state.t, state.y.data(), state.z.data(), multipliers_.data() + k * m_, psi(k)) >
        BranchGuard::allowed)
      return false;
  return true;
}

// The solution on the branch of the consistent multiplier: from the guess if that is certain, else grown from a short
// step, in pieces. In that short step the multipliers, which tend to other values than the consistent one as h -> 0,
// are found from it along a path without singular points.
StepResult SymplecticEuler::follow_branch(const State& state, double h) {
  if (guess_is_on_branch(state) && solve_safely(state, h) && same_side(state, h)) return {};
  reset();
  double done = 0, piece = first_piece;
  first_guess(state, piece * h);
  for (Part& part : parts_)
    if (!solve(part, state, piece * h, true)) {
      if (!std::isfinite(part.newton.last())) return explain_failure(*system_, state, h, part.what, part.newton);
      return left_the_branch(*system_, state, h, "a multiplier");
    }
  done = piece;
  while (done < 1) {
    kept_x_ = x_;
    const double next = std::min(1.0, done + piece);
    // y1 belongs to the length of the step
    if (w_.at_end)
      for (int i = 0; i < ny_; ++i) {
        const double y0 = state.y[static_cast<std::size_t>(i)];
        x(at_y)[i] = y0 + next / done * (x(at_y)[i] - y0);
      }
    if (solve_safely(state, next * h)) {
      done = next;
      piece *= 2;
      continue;
    }
    x_ = kept_x_;
    piece /= 2;
    if (piece < BranchGuard::shortest_piece) return left_the_branch(*system_, state, h, "a multiplier");
  }
  return same_side(state, h) ? StepResult{} : left_the_branch(*system_, state, h, "the solution");
}

void SymplecticEuler::first_guess(const State& state, double h) {
  std::copy_n(state.y.data(), ny_, x(at_y));
  axpy(h, (*start_)[Q::velocity], ny_, x(at_y));  // never y0: the curvature of g would be missed
  if (guess_.ready()) {
    guess_.predict(d_.data());
    std::copy_n(d_.data(), nz_, x(at_z_mid));
    std::copy_n(d_.data() + nz_, nz_, x(at_z));
    guess_psi_.predict(trial_psi_.data());
    for (int k = 0; k < 2; ++k) std::copy_n(trial_psi_.data() + k * m_, m_, psi(k));
  } else {
    std::copy_n(state.z.data(), nz_, x(at_z_mid));
    std::copy_n(state.z.data(), nz_, x(at_z));
    for (int k = 0; k < 2; ++k) std::copy_n(state.psi.data(), m_, psi(k));
  }
}

// Is S of one sign at the start, as it was before the step, and at the end?
bool SymplecticEuler::same_side(const State& state, double h) {
  const int side = guard_.side(state.t, state.y.data(), state.z.data(), state.psi.data());
  return guard_.side(state.t, state.y.data(), state.z.data(), psi(0)) == side &&
         guard_.side(end_time(state, h), x(at_y), x(at_z), psi(1)) == side;
}

StepResult SymplecticEuler::step(State& state, double h) {
  ++counters_.steps;
  if (std::abs(h - last_h_) > 1e-9 * std::abs(h)) reset();
  last_h_ = h;
  start_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  first_guess(state, h);
  if (parts_[0].kept && !guard_.needed()) set_units(state, h);
  StepResult result;
  if (guard_.needed()) {
    result = follow_branch(state, h);
  } else {
    for (Part& part : parts_)
      if (result && !solve(part, state, h, false) && !solve_from_rest(part, state, h))
        result = explain_failure(*system_, state, h, part.what, part.newton);
  }
  if (!result) {
    reset();
    return result;
  }
  std::copy_n(x(at_z_mid), nz_, d_.data());
  std::copy_n(x(at_z), nz_, d_.data() + nz_);
  guess_.push(d_.data());
  for (int k = 0; k < 2; ++k) std::copy_n(psi(k), m_, multipliers_.data() + k * m_);
  guess_psi_.push(multipliers_.data());
  state.t += h;
  std::copy_n(x(at_y), ny_, state.y.data());
  std::copy_n(x(at_z), nz_, state.z.data());
  for (int i = 0; i < m_; ++i)
    state.psi[static_cast<std::size_t>(i)] = w_.multiplier[0] * psi(0)[i] + w_.multiplier[1] * psi(1)[i];
  return {};
}

std::unique_ptr<Stepper> make_symplectic_euler(std::shared_ptr<const System> system,
                                               const SymplecticEulerOptions& which, const SolverOptions& options) {
  const EulerWeights weights = weights_of(which, system->structure().reaction_is_affine);
  return std::make_unique<SymplecticEuler>(std::move(system), weights, options);
}

}  // namespace hinge
