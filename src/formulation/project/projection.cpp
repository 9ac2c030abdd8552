#include "formulation/project/projection.hpp"

#include <algorithm>
#include <cmath>

#include "formulation/acceleration.hpp"
#include "formulation/motion_draft.hpp"
#include "formulation/project/two_corrections.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

// Corrections below this, relative to the state, may use the matrix of a point nearby: its error enters squared.
constexpr double small_correction = 1e-8;
// The matrix that a method hands over is that of the same time: corrections below this may use it from the start.
constexpr double nearby_correction = two_corrections::nearby;
// Where the first correction, with a matrix of the point itself, is below this, nothing is left but rounding.
constexpr double last_correction = 1e-9;
// A matrix that contracts by less than this is that of another point.
constexpr double slow = 0.1;
// Increments that have not settled by then and do not shrink may be rounding of more than the unknowns.
constexpr int patience = 5;
// Less than that is zero, and has no digits of its own.
constexpr double tiny = 1e-200;

}  // namespace

ConstraintProjection::ConstraintProjection(std::shared_ptr<const System> system, Projection which, LinearAlgebra choice)
    : system_(std::move(system)),
      position_(which == Projection::position || which == Projection::both),
      velocity_(which == Projection::velocity || which == Projection::both),
      euclidean_(!system_->structure().has_mass_metric),
      velocity_is_z_(system_->structure().velocity_is_z),
      ideal_(system_->structure().reaction_is_ideal),
      ny_(system_->ny()),
      nz_(system_->nz()),
      ng_(system_->ng()),
      m_(system_->nrates()),
      rounding_(*system_) {
  if (ng_ == 0) position_ = false;
  if (m_ == 0) velocity_ = false;
  twice_ = position_ && velocity_ && MotionDraft::can_project(*system_) &&
           SaddleElimination::suits(system_->pattern(Q::momentum_z), system_->pattern(Q::constraint_rate_z));
  if (!active()) return;
  const auto n = static_cast<std::size_t>(std::max(ny_, nz_));
  g_ = system_->evaluation({Q::constraint});
  rate_ = system_->evaluation({Q::constraint_rate});
  if (euclidean_) {
    all_ = system_->evaluation({Q::constraint, Q::constraint_y, Q::constraint_rate, Q::constraint_rate_z});
    const Pattern &g_y = system_->pattern(Q::constraint_y), &rate_z = system_->pattern(Q::constraint_rate_z);
    position_matrix_ = std::make_unique<SaddleKernel>(identity_pattern(ny_), g_y, true, choice);
    velocity_matrix_ = std::make_unique<SaddleKernel>(identity_pattern(nz_), rate_z, true, choice);
    ones_.assign(n, 1.0);
  } else {
    Quantities wanted{Q::constraint, Q::constraint_rate, Q::momentum_z, Q::constraint_rate_z};
    if (!velocity_is_z_) wanted.insert(Q::velocity_z);
    if (!ideal_) wanted.insert(Q::reaction_psi);
    all_ = system_->evaluation(wanted);
    position_matrix_ = std::make_unique<SaddleKernel>(
        ng_ == m_
            ? acceleration_kernel(*system_, choice)
            : SaddleKernel(system_->pattern(Q::momentum_z), row_range(system_->pattern(Q::constraint_rate_z), 0, ng_),
                           system_->is_constant(Q::momentum_z), choice));
    velocity_matrix_ = std::make_unique<SaddleKernel>(acceleration_kernel(*system_, choice));
  }
  for (auto* v : {&y0_, &w_}) v->resize(n);
  mu_.resize(static_cast<std::size_t>(ng_));
  right_.resize(n + static_cast<std::size_t>(m_));
}

bool ConstraintProjection::project(double t, double* y, double* z, const double* psi, Acceleration* near) {
  if (near && twice_) {
    if (near->project(t, y, z)) return evaluations_ += 4, true;
    if (correct_twice(t, y, z, psi)) return true;
  }
  SaddleKernel* nearby = near && !twice_ && !euclidean_ ? &near->matrix() : nullptr;
  if (nearby && !nearby->factored()) nearby = nullptr;
  const bool all_rows = ng_ == m_;  // else the matrix of the one level is not that of the other
  if (position_) {
    position_matrix_->forget();
    if (!project_position(t, y, z, psi, velocity_is_z_ && all_rows ? nearby : nullptr)) return false;
    if (position_matrix_->factored() && !euclidean_ && all_rows) nearby = position_matrix_.get();  // that of the result
  }
  return !velocity_ || project_velocity(t, y, z, psi, nearby);
}

// What MotionCode does, number by number. Where two corrections are not enough, y and z are as they were.
bool ConstraintProjection::correct_twice(double t, double* y, double* z, const double* psi) {
  std::copy_n(y, ny_, y0_.data());
  std::copy_n(z, nz_, w_.data());
  SaddleKernel& matrix = *position_matrix_;
  double size[2];
  const auto correct = [&](int k, const double* residual, double* x, int n) {
    solve_for(matrix, residual, m_);
    size[k] = two_corrections::size(right_.data(), n);
    for (int i = 0; i < n; ++i) x[i] += right_[static_cast<std::size_t>(i)];
  };
  evaluate(t, y, z, psi);
  if (!factor(matrix, false)) return false;
  evaluations_ += 3;
  correct(0, (*all_)[Q::constraint], y, ny_);
  g_->at(t, y, z, psi);
  correct(1, (*g_)[Q::constraint], y, ny_);
  bool enough = two_corrections::are_enough(size[0], size[1], two_corrections::size(y, ny_));
  for (const int k : {0, 1}) {
    rate_->at(t, y, z, psi);
    correct(k, (*rate_)[Q::constraint_rate], z, nz_);
  }
  enough = enough && two_corrections::are_enough(size[0], size[1], two_corrections::size(z, nz_));
  if (enough) return true;
  std::copy_n(y0_.data(), ny_, y);
  std::copy_n(w_.data(), nz_, z);
  return false;
}

void ConstraintProjection::evaluate(double t, const double* y, const double* z, const double* psi) {
  ++evaluations_;
  all_->at(t, y, z, psi);
}

bool ConstraintProjection::factor(SaddleKernel& matrix, bool euclidean_position) {
  const Evaluation& e = *all_;
  if (euclidean_)
    return matrix.factor(ones_.data(), nullptr, e[euclidean_position ? Q::constraint_y : Q::constraint_rate_z]);
  // beside velocity constraints, those on positions have ideal reactions
  const bool ideal = ideal_ || (ng_ != m_ && &matrix == position_matrix_.get());
  return matrix.factor(e[Q::momentum_z], ideal ? nullptr : e[Q::reaction_psi], e[Q::constraint_rate_z]);
}

// right_ = the least change with C right_ = -residual; its size
double ConstraintProjection::solve_for(SaddleKernel& matrix, const double* residual, int rows) {
  const int n = &matrix == position_matrix_.get() && euclidean_ ? ny_ : nz_;
  std::fill_n(right_.data(), n, 0.0);
  for (int i = 0; i < rows; ++i) right_[static_cast<std::size_t>(n + i)] = -residual[i];
  matrix.solve(right_.data());
  return biggest(right_.data(), n);
}

// y <- y + right_ until g = 0, with one matrix
bool ConstraintProjection::descend(double t, double* y, const double* z, const double* psi, SaddleKernel& matrix,
                                   double change) {
  Settling rule(newton_policy::projection);
  return solved_by_newton(rule, [&]() -> Increment {
    if (rule.count() > 0) {
      ++evaluations_;
      g_->at(t, y, z, psi);
      if (rule.slower_than(slow) && change > small_correction * biggest(y, ny_))
        return rounding_.covers(Q::constraint, (*g_)[Q::constraint], t, y, z, psi) ? already_solved : no_increment;
      change = solve_for(matrix, (*g_)[Q::constraint], ng_);
    }
    for (int i = 0; i < ny_; ++i) y[i] += right_[static_cast<std::size_t>(i)];
    return {change, std::max(biggest(y, ny_), tiny)};
  });
}

bool ConstraintProjection::project_position(double t, double* y, const double* z, const double* psi,
                                            SaddleKernel* nearby) {
  const auto n = static_cast<std::size_t>(ny_);
  std::copy_n(y, n, y0_.data());
  if (nearby) {
    ++evaluations_;
    g_->at(t, y, z, psi);
    const double change = solve_for(*nearby, (*g_)[Q::constraint], ng_);
    if (change <= nearby_correction * biggest(y, ny_)) {
      if (descend(t, y, z, psi, *nearby, change)) return true;
      std::copy_n(y0_.data(), n, y);
    }
  }
  const int size = euclidean_ ? ny_ : nz_;
  std::fill(w_.begin(), w_.end(), 0.0);
  std::fill(mu_.begin(), mu_.end(), 0.0);
  Settling rule(newton_policy::projection);
  const Pattern& c = system_->pattern(euclidean_ ? Q::constraint_y : Q::constraint_rate_z);
  return solved_by_newton(rule, [&]() -> Increment {
    evaluate(t, y, z, psi);
    const Evaluation& e = *all_;
    if (rule.count() >= patience && rule.slower_than(slow) &&
        rounding_.covers(Q::constraint, e[Q::constraint], t, y, z, psi))
      return already_solved;
    if (!factor(*position_matrix_, true)) return no_increment;
    // -(p_z w - r_psi mu), with r_psi = -C^T where it is not asked for
    std::fill_n(right_.data(), size, 0.0);
    if (euclidean_)
      for (int i = 0; i < size; ++i) right_[static_cast<std::size_t>(i)] = -w_[static_cast<std::size_t>(i)];
    else
      multiply_add(system_->pattern(Q::momentum_z), e[Q::momentum_z], w_.data(), -1.0, right_.data());
    if (euclidean_ || ideal_ || ng_ != m_) {
      const double* value = e[euclidean_ ? Q::constraint_y : Q::constraint_rate_z];
      for (std::size_t i = 0; i < static_cast<std::size_t>(ng_); ++i)
        for (auto k = static_cast<std::size_t>(c.row_start[i]); k < static_cast<std::size_t>(c.row_start[i + 1]); ++k)
          right_[static_cast<std::size_t>(c.column[k])] -= value[k] * mu_[i];
    } else {
      multiply_add(system_->pattern(Q::reaction_psi), e[Q::reaction_psi], mu_.data(), 1.0, right_.data());
    }
    for (int i = 0; i < ng_; ++i) right_[static_cast<std::size_t>(size + i)] = -e[Q::constraint][i];
    position_matrix_->solve(right_.data());
    for (int i = 0; i < size; ++i) w_[static_cast<std::size_t>(i)] += right_[static_cast<std::size_t>(i)];
    for (int i = 0; i < ng_; ++i) mu_[static_cast<std::size_t>(i)] += right_[static_cast<std::size_t>(size + i)];
    double change = 0;
    // y = y0 + v_z w
    std::copy(y, y + ny_, right_.data());
    std::copy_n(y0_.data(), n, y);
    if (euclidean_ || velocity_is_z_)
      for (std::size_t i = 0; i < n; ++i) y[i] += w_[i];
    else
      multiply_add(system_->pattern(Q::velocity_z), e[Q::velocity_z], w_.data(), 1.0, y);
    for (std::size_t i = 0; i < n; ++i) {
      const double d = std::abs(y[i] - right_[i]);
      change = d <= change ? change : d;
    }
    const double scale = std::max(biggest(y, ny_), tiny);
    if (rule.count() == 0 && change <= last_correction * scale) return already_solved;
    return {change, scale};
  });
}

bool ConstraintProjection::project_velocity(double t, const double* y, double* z, const double* psi,
                                            SaddleKernel* nearby) {
  ++evaluations_;
  rate_->at(t, y, z, psi);
  double change = 0;
  SaddleKernel* matrix = nearby;
  if (nearby) {
    change = solve_for(*nearby, (*rate_)[Q::constraint_rate], m_);
    if (!(change <= nearby_correction * biggest(z, nz_))) matrix = nullptr;
  }
  Settling rule(newton_policy::projection);
  double scale = std::max(biggest(z, nz_), tiny);
  return solved_by_newton(rule, [&]() -> Increment {
    const bool first = rule.count() == 0;
    // where v is not linear in z, the matrix of this point
    const bool anew = first ? !matrix : rule.slower_than(slow) && change > small_correction * scale;
    if (anew) {
      evaluate(t, y, z, psi);
    } else if (!first) {
      ++evaluations_;
      rate_->at(t, y, z, psi);
    }
    const double* residual = (*(anew ? all_ : rate_))[Q::constraint_rate];
    if (rule.count() >= patience && rule.slower_than(slow) &&
        rounding_.covers(Q::constraint_rate, residual, t, y, z, psi))
      return already_solved;
    if (anew) {
      matrix = velocity_matrix_.get();
      if (!factor(*matrix, false)) return no_increment;
    }
    if (anew || !first) change = solve_for(*matrix, residual, m_);
    for (int i = 0; i < nz_; ++i) z[i] += right_[static_cast<std::size_t>(i)];
    scale = std::max(scale, biggest(z, nz_));
    const bool at_this_point = matrix == position_matrix_.get() || matrix == velocity_matrix_.get();
    if (first && at_this_point && change <= last_correction * scale) return already_solved;
    return {change, scale};
  });
}

}  // namespace hinge
