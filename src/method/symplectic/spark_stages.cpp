// Block 1 of a SPARK step: the stages (Y_i, Z_i) and the multipliers L_0..L_{st-1}.
#include "method/symplectic/spark_step.hpp"

#include <algorithm>
#include <cmath>

#include "method/step_failure.hpp"
#include "solve/newton/at_rounding.hpp"

namespace hinge {

namespace {
// Contraction above which full Newton takes over, where increments are still so large, in units of round-off.
constexpr double full_above = 0.6, still_large = 1e6;
}  // namespace

StepResult Spark::solve_stages(const State& state, double h) {
  const bool may_simplify = options_.newton != SolverOptions::Newton::full && small_.applicable();
  const bool may_full = options_.newton != SolverOptions::Newton::simplified || !small_.applicable();
  if (may_simplify && (full_steps_left_ == 0 || !may_full)) {
    if (!small_.factored()) stages_newton_.begin();  // nothing is known about this step
    if (small_.factored() && simplified_stages(state, h)) {
      full_streak_ = 16;
      return {};
    }
    small_.forget();
    full_steps_left_ = full_streak_;
    full_streak_ = std::min(2 * full_streak_, 1024);
  }
  if (may_full) {
    ++counters_.full_newton;
    full_steps_left_ = std::max(0, full_steps_left_ - 1);
    first_guess(state);
    if (full_stages(state, h)) return {};
    if (guess_z_.ready()) {
      forget_guesses();  // a polynomial through a rough past is worse than standing still
      first_guess(state);
      if (full_stages(state, h)) return {};
    }
  }
  return explain_failure(*system_, state, h, "the stage equations", may_full ? full_newton_ : stages_newton_);
}

void Spark::sum_stage_positions(const State& state, double h) {
  for (int i = 0; i < s_; ++i) {
    std::copy_n(state.y.data(), ny_, y_(i));
    for (int j = 0; j < s_; ++j)
      if (c_.a(i, j) != 0) axpy(h * c_.a(i, j), v_(j), ny_, y_(i));
  }
}

void Spark::evaluate_stages(double t, double h) {
  for (int i = 0; i < s_; ++i) {
    stage_->at(t + c_.c[i] * h, y_(i), z_(i), l_(0));
    std::copy_n(velocity_is_z_ ? z_(i) : (*stage_)[Q::velocity], ny_, v_(i));
    std::copy_n((*stage_)[Q::momentum], nz_, p_(i));
    if (!force_is_constant_) std::copy_n((*stage_)[Q::force], nz_, f_(i));
  }
  counters_.evaluations += s_;
}

// Yt_k = y0 + h sum_j ab_kj V_j; r there for k < st, g there for k > 0.
void Spark::evaluate_nodes(const State& state, double h, bool derivatives) {
  if (m_ == 0) {
    std::fill(node_r_.begin(), node_r_.end(), 0.0);
    return;
  }
  const std::size_t gy_size = system_->pattern(Q::constraint_y).entries();
  const std::size_t rpsi_size = system_->pattern(Q::reaction_psi).entries();
  for (int k = 0; k <= st_; ++k) {
    std::copy_n(state.y.data(), ny_, node_y_(k));
    if (k > 0)
      for (int j = 0; j < s_; ++j)
        if (c_.abar(k, j) != 0) axpy(h * c_.abar(k, j), v_(j), ny_, node_y_(k));
    const NodeEvaluations& kind = k == 0 ? first_node_ : k < st_ ? inner_node_ : last_node_;
    Evaluation& node = derivatives ? *kind.with_derivatives : *kind.values;
    node.at(state.t + c_.ctilde[k] * h, node_y_(k), state.z.data(), l_(k));
    if (k < st_) std::copy_n(node[Q::reaction], nz_, r_(k));
    if (k > 0) std::copy_n(node[Q::constraint], m_, node_g_.data() + k * m_);
    if (derivatives && k < st_)
      std::copy_n(node[Q::reaction_psi], rpsi_size, node_rpsi_.data() + static_cast<std::size_t>(k) * rpsi_size);
    if (derivatives && k > 0)
      std::copy_n(node[Q::constraint_y], gy_size, node_gy_.data() + static_cast<std::size_t>(k) * gy_size);
  }
  counters_.evaluations += st_ + 1;
}

// R_Zi = p(Y_i, Z_i) - p0 - h sum_j ah_ij f_j - h sum_{k < st} at_ik r_k
void Spark::stage_residuals(double h) {
  for (int i = 0; i < s_; ++i) {
    double* r = residual_.data() + i * nz_;
    for (int a = 0; a < nz_; ++a) r[a] = p_(i)[a] - p0_[static_cast<std::size_t>(a)];
    for (int j = 0; j < s_; ++j)
      if (c_.ahat(i, j) != 0) axpy(-h * c_.ahat(i, j), f_(j), nz_, r);
    for (int k = 0; k < st_ && m_ > 0; ++k) axpy(-h * c_.atilde(i, k), r_(k), nz_, r);
  }
}

// The last increments in units of round-off; `multiplier_effect` is |v_z p_z^-1 r_psi h dL|.
double Spark::measure_stages(double multiplier_effect) {
  double size = biggest(position_change_.data(), s_ * ny_) / unit_.y;
  for (int i = 0; i < s_; ++i) size = larger(size, velocity_size(dz_(i)) / unit_.v);
  if (!velocity_is_z_) size = larger(size, biggest(increment_z_.data(), s_ * nz_) / unit_.z);
  return larger(size, multiplier_effect / (4 * unit_.v));
}

bool Spark::simplified_stages(const State& state, double h) {
  sum_stage_positions(state, h);
  stages_by_code_ = false;
  const bool solved = solved_by_newton(Booked(stages_newton_, counters_), [&]() -> Increment {
    if (stages_newton_.count() == 1) raise_units(state, h, stages_by_code_ ? code_->moved_v() : stage_v_.data());
    if (stages_newton_.renew() && !fresh_) {  // once per step
      if (stages_by_code_) std::copy_n(code_->moved_v(), stage_v_.size(), stage_v_.data());
      refresh_small_matrix(state, h);
      if (!small_.factored()) return no_increment;
      stages_newton_.matrix_renewed();
    } else if (stages_newton_.theta() > full_above && stages_newton_.last() > still_large &&
               stages_newton_.count() > 4 && options_.newton == SolverOptions::Newton::automatic) {
      return no_increment;
    }
    const bool first = stages_newton_.count() == 0;
    if (first && fresh_) stages_newton_.matrix_renewed();
    ++counters_.iterations;
    return code_ ? improve_stages_by_code(state, h, first) : improve_stages(state, h, first);
  });
  if (solved) evaluate_final_stages(state, h);
  return solved;
}

// G and r_psi of the first guess serve all iterations.
double Spark::improve_stages(const State& state, double h, bool first) {
  const Pattern& gy = system_->pattern(Q::constraint_y);
  const Pattern& rpsi = system_->pattern(Q::reaction_psi);
  const Pattern& vz = system_->pattern(Q::velocity_z);
  evaluate_stages(state.t, h);
  evaluate_nodes(state, h, first);
  stage_residuals(h);
  for (int i = 0; i < s_; ++i) small_.solve_mass(residual_.data() + i * nz_, mass_residual_.data() + i * nz_);

  // (N (x) S) dL = -g_i / h^2 + (1/h) G_i v_z sum_j ab_ij p_z^-1 R_Zj
  for (int i = 1; i <= st_ && m_ > 0; ++i) {
    std::fill(work_.begin(), work_.end(), 0.0);
    for (int j = 0; j < s_; ++j) axpy(c_.abar(i, j), mass_residual_.data() + j * nz_, nz_, work_.data());
    const double* change = work_.data();
    if (!velocity_is_z_) {
      std::fill(work_y_.begin(), work_y_.end(), 0.0);
      multiply_add(vz, velocity_z_.data(), work_.data(), 1.0, work_y_.data());
      change = work_y_.data();
    }
    double* g = node_g_.data() + i * m_;
    for (int a = 0; a < m_; ++a) g[a] *= -1 / (h * h);
    multiply_add(gy, node_gy_.data() + static_cast<std::size_t>(i) * gy.entries(), change, 1 / h, g);
  }
  double effect = 0;
  for (int k = 0; k < st_ && m_ > 0; ++k) {
    std::fill_n(dl_(k), m_, 0.0);
    for (int i = 0; i < st_; ++i) axpy(n_inverse_(k, i), node_g_.data() + (i + 1) * m_, m_, dl_(k));
    small_.solve(dl_(k));
    axpy(1.0, dl_(k), m_, l_(k));
    std::fill(work_.begin(), work_.end(), 0.0);
    multiply_add(rpsi, node_rpsi_.data() + static_cast<std::size_t>(k) * rpsi.entries(), dl_(k), 1.0, work_.data());
    small_.solve_mass(work_.data(), newton_.data());
    effect = larger(effect, std::abs(h) * velocity_size(newton_.data()));
    // p_z^-1 (h at_ik r_psi dL_k), collected over k in residual_ with the opposite sign
    for (int i = 0; i < s_; ++i) axpy(-h * c_.atilde(i, k), work_.data(), nz_, residual_.data() + i * nz_);
  }
  // dZ_i = -p_z^-1 (R_Zi - h sum_k at_ik r_psi dL_k);  V_i += v_z dZ_i;  Y = y0 + h A V
  std::swap(position_change_, stage_y_);
  for (int i = 0; i < s_; ++i) {
    small_.solve_mass(residual_.data() + i * nz_, dz_(i));
    for (int a = 0; a < nz_; ++a) dz_(i)[a] = -dz_(i)[a];
    axpy(1.0, dz_(i), nz_, z_(i));
    if (velocity_is_z_)
      axpy(1.0, dz_(i), nz_, v_(i));
    else
      multiply_add(vz, velocity_z_.data(), dz_(i), 1.0, v_(i));
  }
  sum_stage_positions(state, h);
  for (std::size_t a = 0; a < stage_y_.size(); ++a) position_change_[a] -= stage_y_[a];
  return measure_stages(effect);
}

// The same, number by number.
double Spark::improve_stages_by_code(const State& state, double h, bool first) {
  stages_by_code_ = true;
  counters_.evaluations += s_ + st_ + 1;
  const SparkCode::Stages at = stages_from(state, h);
  if (first) code_->derive(at);
  code_->improve(at, small_, velocity_z_.data());
  std::copy_n(code_->y(), stage_y_.size(), stage_y_.data());
  std::copy_n(code_->z(), stage_z_.size(), stage_z_.data());
  std::copy_n(code_->l(), st_ * m_, multiplier_.data());
  double size = biggest(code_->position_change(), s_ * ny_) / unit_.y;
  size = larger(size, biggest(velocity_is_z_ ? code_->increment() : code_->velocity_change(), s_ * ny_) / unit_.v);
  if (!velocity_is_z_) size = larger(size, biggest(code_->increment(), s_ * nz_) / unit_.z);
  return larger(size, std::abs(h) * biggest(code_->multiplier_effect(), code_->effect_size()) / (4 * unit_.v));
}

// Forces and reactions at the stages as accepted. Without this, what the last increment changed would be missing from
// the momentum balance of block 2: tiny, but always in the same direction, and momentum maps would drift.
void Spark::evaluate_final_stages(const State& state, double h) {
  if (stages_by_code_) {
    counters_.evaluations += s_ + st_ + 1;
    code_->accept(stages_from(state, h));
    std::copy_n(code_->v(), stage_v_.size(), stage_v_.data());
    return;
  }
  evaluate_stages(state.t, h);
  evaluate_nodes(state, h, false);
}

bool Spark::full_stages(const State& state, double h) {
  stages_by_code_ = false;
  if (!jacobian_) {
    jacobian_ = std::make_unique<SparkJacobian>(*system_, c_, options_.linear_algebra);
    prepare_rounding();
  }
  full_newton_.forget();
  std::vector<double>& x = newton_;
  x.resize(static_cast<std::size_t>(std::max(jacobian_->size(), nz_ + m_)));
  sum_stage_positions(state, h);
  const bool solved = solved_by_newton(Booked(full_newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    evaluate_stages(state.t, h);
    if (full_newton_.count() == 1) raise_units(state, h, stage_v_.data());
    evaluate_nodes(state, h, false);
    stage_residuals(h);
    if (stalls_for_long(full_newton_) && stages_left_rounding(state, h)) return already_solved;
    if (full_newton_.renew()) {
      ++counters_.factorisations;
      counters_.evaluations += s_ + st_ + 1;
      if (!jacobian_->factor(state.t, h, stage_y_.data(), stage_z_.data(), node_positions_.data(), multiplier_.data()))
        return no_increment;
      if (full_newton_.count() == 0) full_newton_.matrix_renewed();
    }
    // right-hand side: -R_Y = y0 + h A V - Y,  -R_Z,  -g / h^2
    for (int i = 0; i < s_; ++i) {
      double* r = x.data() + i * ny_;
      for (int a = 0; a < ny_; ++a) r[a] = state.y[static_cast<std::size_t>(a)] - y_(i)[a];
      for (int j = 0; j < s_; ++j) axpy(h * c_.a(i, j), v_(j), ny_, r);
    }
    for (int a = 0; a < s_ * nz_; ++a)
      x[static_cast<std::size_t>(s_ * ny_ + a)] = -residual_[static_cast<std::size_t>(a)];
    for (int a = 0; a < st_ * m_; ++a)
      x[static_cast<std::size_t>(s_ * (ny_ + nz_) + a)] = -node_g_[static_cast<std::size_t>(m_ + a)] / (h * h);
    jacobian_->solve(x.data());
    const double* dx = x.data();
    std::copy_n(dx, s_ * ny_, position_change_.data());
    std::copy_n(dx + s_ * ny_, s_ * nz_, increment_z_.data());
    std::copy_n(dx + s_ * (ny_ + nz_), st_ * m_, increment_l_.data());
    axpy(1.0, position_change_.data(), s_ * ny_, stage_y_.data());
    axpy(1.0, increment_z_.data(), s_ * nz_, stage_z_.data());
    axpy(1.0, increment_l_.data(), st_ * m_, multiplier_.data());
    return measure_stages(0);  // exact Newton: multipliers converge with the rest
  });
  if (solved) evaluate_final_stages(state, h);
  return solved;
}

}  // namespace hinge
