#include "method/spark.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/branch_guard.hpp"
#include "method/extrapolation.hpp"
#include "method/spark_jacobian.hpp"
#include "method/step_failure.hpp"
#include "method/vectors.hpp"
#include "solve/convergence.hpp"
#include "solve/saddle_point.hpp"

namespace hinge {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
// Contraction above which the small matrix is made anew, once per step, and above which full Newton takes over.
constexpr double renew_above = 0.1, full_above = 0.6;
// Steps along the Newton direction shorter than this mean that a singular matrix is in the way.
constexpr double shortest_length = 1e-4;

class Spark final : public Stepper {
 public:
  Spark(std::shared_ptr<const System> system, SparkTableau tableau, const SolverOptions& options);

  StepResult step(State& state, double h) override;
  void reset() override {
    forget_guesses();
    small_.forget();
    end_small_.forget();
    acceleration_ = 0;
    noise_ = end_noise_ = 1;
    full_steps_left_ = 0;
    full_streak_ = 16;
  }

 private:
  using Q = Quantity;

  void first_guess(const State& state);
  void forget_guesses() {
    for (Extrapolation* g : {&guess_v_, &guess_z_, &guess_l_, &guess_end_z_, &guess_end_l_}) g->reset();
  }
  void note_acceleration(double a);
  StepResult solve_step(const State& state, double h);
  StepResult solve_guarded(const State& state, double h);
  bool same_branch(const State& state, double h);
  bool same_side(const State& state, double h);
  double safe_length(const State& state, double h);
  double safe_end_length(double t1, const double* increment);
  void sum_end_position(const State& state, double h);
  void refresh_small_matrix(const State& state, double h);
  StepResult solve_stages(const State& state, double h);
  Convergence simplified_stages(const State& state, double h, bool& ok);
  Convergence full_stages(const State& state, double h, bool& ok);
  StepResult solve_end(const State& state, double h);
  double measure_end(const double* dz, double multiplier_effect);
  Convergence simplified_end(double t1, double h, bool& ok);
  Convergence full_end(double t1, double h, bool& ok);

  void evaluate_stages(double t, double h);
  void evaluate_nodes(const State& state, double h, bool derivatives);
  void evaluate_final_stages(const State& state, double h);
  void stage_residuals(double h);
  void sum_stage_positions(const State& state, double h);
  double measure_stages(double multiplier_effect);
  void set_units(const State& state, double h);
  double velocity_size(const double* dz);

  double* y_(int i) { return stage_y_.data() + i * ny_; }
  double* z_(int i) { return stage_z_.data() + i * nz_; }
  double* v_(int i) { return stage_v_.data() + i * ny_; }
  double* f_(int i) { return stage_f_.data() + i * nz_; }
  double* p_(int i) { return stage_p_.data() + i * nz_; }
  double* l_(int k) { return multiplier_.data() + k * m_; }
  double* node_y_(int k) { return node_positions_.data() + k * ny_; }
  double* r_(int k) { return node_r_.data() + k * nz_; }
  double* dz_(int i) { return increment_z_.data() + i * nz_; }
  double* dl_(int k) { return increment_l_.data() + k * m_; }

  std::shared_ptr<const System> system_;
  SparkTableau c_;
  SolverOptions options_;
  BranchGuard guard_;
  bool guarded_ = false;  // increments are shortened so that no multiplier leaves its branch
  int s_, st_, ny_, nz_, m_;
  Eigen::MatrixXd n_inverse_;  // N^-1, N = (Abar Atilde)_{1..st, 0..st-1}

  struct NodeEvaluations {
    std::unique_ptr<Evaluation> values, with_derivatives;
  };
  std::unique_ptr<Evaluation> start_, stage_, end_, end_values_, reference_;
  NodeEvaluations first_node_, inner_node_, last_node_;
  SchurComplement small_, end_small_;  // of block 1 (made in the middle of a step) and of block 2 (at its end)
  std::vector<double> velocity_z_;     // v_z where the small matrix was made
  std::unique_ptr<SparkJacobian> jacobian_;
  std::unique_ptr<SaddlePoint> saddle_;
  // First guesses: each kind of unknown has its own, since rounding spoils the inner multipliers (by 1/h^2) first.
  Extrapolation guess_v_, guess_z_, guess_l_, guess_end_z_, guess_end_l_;
  double last_h_ = 0;
  bool fresh_ = false;       // was the small matrix made in this step?
  double acceleration_ = 0;  // size of v_z p_z^-1 f where it was last looked at
  int full_steps_left_ = 0, full_streak_ = 16;

  std::vector<double> stage_y_, stage_z_, stage_v_, stage_f_, stage_p_, node_positions_, node_r_, multiplier_,
      guessed_multiplier_, trial_;
  std::vector<double> increment_z_, increment_l_, node_g_, node_gy_, node_rpsi_, p0_, y1_, z1_, psi1_;
  std::vector<double> residual_, mass_residual_, work_, work2_, work_m_, work_y_, newton_, position_change_;
  double unit_y_ = 1, unit_v_ = 1, unit_z_ = 1, unit_end_v_ = 1, unit_end_z_ = 1, noise_ = 1, end_noise_ = 1;
  bool velocity_is_z_ = false, force_is_constant_ = false;
};

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
    throw UnsuitableMethod(fmt::format(
        "{} needs a reaction r(t, y, psi) that does not depend on the velocity or momentum; this system's does",
        c_.name));
  const SystemKind kind = system_->layout().kind;
  velocity_is_z_ = kind == SystemKind::lagrangian || kind == SystemKind::mechanical;
  n_inverse_ = (c_.abar * c_.atilde).block(1, 0, st_, st_).inverse();

  start_ = system_->evaluation({Q::momentum, Q::velocity, Q::force});
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
  guessed_multiplier_.resize(size((st_ + 1) * m_));
  trial_.resize(size(m_));
  for (auto* v : {&increment_l_, &node_g_}) v->resize(size((st_ + 1) * m_));
  node_gy_.resize(size(st_ + 1) * system_->pattern(Q::constraint_y).entries());
  node_rpsi_.resize(size(st_ + 1) * system_->pattern(Q::reaction_psi).entries());
  velocity_z_.resize(system_->pattern(Q::velocity_z).entries());
  for (auto* v : {&p0_, &z1_, &work_, &work2_}) v->resize(size(nz_));
  for (auto* v : {&y1_, &work_y_}) v->resize(size(ny_));
  psi1_.resize(size(m_));
  work_m_.resize(size(m_));
  newton_.resize(size(std::max(nz_ + m_, ny_)));
  force_is_constant_ = system_->is_constant(Q::force);
  if (force_is_constant_) {
    start_->at(0, y1_.data(), z1_.data(), psi1_.data());
    for (int i = 0; i < s_; ++i) std::copy_n((*start_)[Q::force], nz_, f_(i));
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
  first_guess(state);
  if (!small_.factored()) refresh_small_matrix(state, h);
  set_units(state, h);

  StepResult result = solve_step(state, h);
  if (guard_.needed() && (!result || !same_branch(state, h))) result = solve_guarded(state, h);
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
  std::copy(multiplier_.begin(), multiplier_.end(), guessed_multiplier_.begin());
  if (StepResult result = solve_stages(state, h); !result) return result;
  sum_end_position(state, h);
  return solve_end(state, h);
}

// y1 = y0 + h sum_j b_j V_j
void Spark::sum_end_position(const State& state, double h) {
  std::copy_n(state.y.data(), ny_, y1_.data());
  for (int j = 0; j < s_; ++j) axpy(h * c_.b[j], v_(j), ny_, y1_.data());
}

// Did the multipliers stay on the branch of the guess? The guess continues earlier steps, or is the consistent value.
bool Spark::same_branch(const State& state, double h) {
  for (int k = 0; k <= st_; ++k) {
    const double* found = k < st_ ? l_(k) : psi1_.data();
    const double* y = k < st_ ? node_y_(k) : y1_.data();
    const double* z = k < st_ ? state.z.data() : z1_.data();
    const double* guess = guessed_multiplier_.data() + k * m_;
    if (guard_.change(state.t + c_.ctilde[k] * h, y, z, guess, found) > BranchGuard::allowed) return false;
  }
  return same_side(state, h);
}

// Is S of one sign all through the step?
bool Spark::same_side(const State& state, double h) {
  const int side = guard_.side(state.t, state.y.data(), state.z.data(), state.psi.data());
  for (int k = 0; k < st_; ++k)
    if (guard_.side(state.t + c_.ctilde[k] * h, node_y_(k), state.z.data(), l_(k)) != side) return false;
  return guard_.side(state.t + h, y1_.data(), z1_.data(), psi1_.data()) == side;
}

// From the consistent multiplier by Newton's method with increments so short that S cannot become singular on the way:
// the iterates follow the path  F(x) = (1 - s) F(x0),  which ends at the root of the branch, or where the branch ends.
StepResult Spark::solve_guarded(const State& state, double h) {
  forget_guesses();
  first_guess(state);
  guarded_ = true;
  bool ok = false;
  Convergence last = full_stages(state, h, ok);
  if (ok) {
    sum_end_position(state, h);
    ok = static_cast<bool>(solve_end(state, h)) && same_side(state, h);
  }
  guarded_ = false;
  ++counters_.full_newton;
  if (ok) return {};
  if (!std::isfinite(last.last())) return explain_failure(*system_, state, h, "the stage equations", last);
  return left_the_branch(state, h, "a multiplier");
}

// How far along the increments all multipliers of block 1 stay on their branch.
double Spark::safe_length(const State& state, double h) {
  if (!guarded_) return 1;
  for (double length = 1; length > shortest_length; length /= 2) {
    bool safe = true;
    for (int k = 0; k < st_ && safe; ++k) {
      for (int a = 0; a < m_; ++a) trial_[static_cast<std::size_t>(a)] = l_(k)[a] + length * dl_(k)[a];
      safe = guard_.change(state.t + c_.ctilde[k] * h, node_y_(k), state.z.data(), l_(k), trial_.data()) <=
             BranchGuard::allowed;
    }
    if (safe) return length;
  }
  return 0;
}

double Spark::safe_end_length(double t1, const double* increment) {
  if (!guarded_) return 1;
  for (double length = 1; length > shortest_length; length /= 2) {
    for (int a = 0; a < m_; ++a)
      trial_[static_cast<std::size_t>(a)] = psi1_[static_cast<std::size_t>(a)] + length * increment[a];
    if (guard_.change(t1, y1_.data(), z1_.data(), psi1_.data(), trial_.data()) <= BranchGuard::allowed) return length;
  }
  return 0;
}

// Round-off of each unknown. Increments are judged by what they do to positions and velocities, which does not depend
// on units of mass or on how constraints are scaled: y to eps |y|, stage velocities to eps |y| / h, velocities at the
// end to eps |v|. What a force does within the step counts as well, so that a system at rest has a scale. Components of
// z that no velocity sees are judged by themselves.
void Spark::set_units(const State& state, double h) {
  constexpr double tiny = 1e-200;
  const double size_h = std::abs(h);
  const double v = biggest((*start_)[Q::velocity], ny_) + size_h * acceleration_;
  const double y = std::max(biggest(state.y.data(), ny_), size_h * v) * rounding_growth(m_);
  const double vz = biggest(velocity_z_.data(), static_cast<int>(velocity_z_.size()));
  const double z = biggest(state.z.data(), nz_) + (vz > 0 ? v / vz : 0);
  unit_y_ = epsilon * std::max(y, tiny);
  unit_v_ = epsilon * std::max(v + y / size_h, tiny);
  unit_z_ = epsilon * std::max(z + (vz > 0 ? y / size_h / vz : 0), tiny);
  unit_end_v_ = 2 * epsilon * std::max(v, tiny);
  unit_end_z_ = 2 * epsilon * std::max(z, tiny);
}

// |v_z dz|
double Spark::velocity_size(const double* dz) {
  if (velocity_is_z_) return biggest(dz, nz_);
  std::fill(work_y_.begin(), work_y_.end(), 0.0);
  multiply_add(system_->pattern(Q::velocity_z), velocity_z_.data(), dz, 1.0, work_y_.data());
  return biggest(work_y_.data(), ny_);
}

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

// ------------------------------------------------------------------------------------------- block 1: the stages

StepResult Spark::solve_stages(const State& state, double h) {
  const bool may_simplify = options_.newton != SolverOptions::Newton::full && small_.applicable();
  const bool may_full = options_.newton != SolverOptions::Newton::simplified || !small_.applicable();
  Convergence last(0);
  bool ok = false;
  if (may_simplify && (full_steps_left_ == 0 || !may_full)) {
    if (small_.factored()) last = simplified_stages(state, h, ok);
    if (ok) {
      full_streak_ = 16;
      noise_ = last.next_noise();
      return {};
    }
    small_.forget();
    full_steps_left_ = full_streak_;
    full_streak_ = std::min(2 * full_streak_, 1024);
  }
  if (may_full) {
    ++counters_.full_newton;
    full_steps_left_ = std::max(0, full_steps_left_ - 1);
    for (int attempt = 0; attempt < 2 && !ok; ++attempt) {
      if (attempt == 1) {
        if (!guess_z_.ready()) break;
        forget_guesses();  // a polynomial through a rough past is worse than standing still
      }
      first_guess(state);
      last = full_stages(state, h, ok);
    }
    if (ok) return {};
  }
  return explain_failure(*system_, state, h, "the stage equations", last);
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
  double size = biggest(position_change_.data(), s_ * ny_) / unit_y_;
  for (int i = 0; i < s_; ++i) size = larger(size, velocity_size(dz_(i)) / unit_v_);
  if (!velocity_is_z_) size = larger(size, biggest(increment_z_.data(), s_ * nz_) / unit_z_);
  return larger(size, multiplier_effect / (4 * unit_v_));
}

Convergence Spark::simplified_stages(const State& state, double h, bool& ok) {
  Convergence convergence(options_.max_iterations, noise_);
  const Pattern& gy = system_->pattern(Q::constraint_y);
  const Pattern& rpsi = system_->pattern(Q::reaction_psi);
  const Pattern& vz = system_->pattern(Q::velocity_z);
  auto verdict = Convergence::Verdict::go_on;
  if (fresh_) convergence.matrix_renewed();
  sum_stage_positions(state, h);
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    evaluate_stages(state.t, h);
    evaluate_nodes(state, h, convergence.count() == 0);  // G and r_psi of the first guess serve all iterations
    stage_residuals(h);
    for (int i = 0; i < s_; ++i) small_.solve_mass(residual_.data() + i * nz_, mass_residual_.data() + i * nz_);

    // (N (x) S) dL = -g_i / h^2 + (1/h) G_i v_z sum_j ab_ij p_z^-1 R_Zj
    for (int i = 1; i <= st_ && m_ > 0; ++i) {
      std::fill(work_.begin(), work_.end(), 0.0);
      for (int j = 0; j < s_; ++j) axpy(c_.abar(i, j), mass_residual_.data() + j * nz_, nz_, work_.data());
      std::fill(work_y_.begin(), work_y_.end(), 0.0);
      multiply_add(vz, velocity_z_.data(), work_.data(), 1.0, work_y_.data());
      double* g = node_g_.data() + i * m_;
      for (int a = 0; a < m_; ++a) g[a] *= -1 / (h * h);
      multiply_add(gy, node_gy_.data() + static_cast<std::size_t>(i) * gy.entries(), work_y_.data(), 1 / h, g);
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
      multiply_add(vz, velocity_z_.data(), dz_(i), 1.0, v_(i));
    }
    sum_stage_positions(state, h);
    for (std::size_t a = 0; a < stage_y_.size(); ++a) position_change_[a] -= stage_y_[a];
    verdict = convergence.judge(measure_stages(effect));
    if (verdict != Convergence::Verdict::go_on) break;
    if (convergence.slower_than(renew_above) && !fresh_) {
      refresh_small_matrix(state, h);
      if (!small_.factored()) break;
      convergence.matrix_renewed();
    } else if (convergence.theta() > full_above && convergence.last() > 1e6 && convergence.count() > 4 &&
               options_.newton == SolverOptions::Newton::automatic) {
      break;
    }
  }
  ok = verdict == Convergence::Verdict::converged;
  if (ok) evaluate_final_stages(state, h);
  return convergence;
}

// Forces and reactions at the stages as accepted. Without this, what the last increment changed would be missing from
// the momentum balance of block 2: tiny, but always in the same direction, and momentum maps would drift.
void Spark::evaluate_final_stages(const State& state, double h) {
  evaluate_stages(state.t, h);
  evaluate_nodes(state, h, false);
}

Convergence Spark::full_stages(const State& state, double h, bool& ok) {
  if (!jacobian_) jacobian_ = std::make_unique<SparkJacobian>(*system_, c_, options_.linear_algebra);
  Convergence convergence(options_.max_iterations);
  convergence.matrix_renewed();
  std::vector<double>& x = newton_;
  x.resize(static_cast<std::size_t>(std::max(jacobian_->size(), nz_ + m_)));
  auto verdict = Convergence::Verdict::go_on;
  bool factor_now = true;
  int shortened = 0;
  sum_stage_positions(state, h);
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    evaluate_stages(state.t, h);
    evaluate_nodes(state, h, false);
    stage_residuals(h);
    if (factor_now) {
      ++counters_.factorisations;
      counters_.evaluations += s_ + st_ + 1;
      if (!jacobian_->factor(state.t, h, stage_y_.data(), stage_z_.data(), node_positions_.data(),
                             multiplier_.data())) {
        verdict = Convergence::Verdict::failed;
        break;
      }
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
    const double length = safe_length(state, h);
    axpy(length, position_change_.data(), s_ * ny_, stage_y_.data());
    axpy(length, increment_z_.data(), s_ * nz_, stage_z_.data());
    axpy(length, increment_l_.data(), st_ * m_, multiplier_.data());
    if (length < 1) {
      if (length == 0 || ++shortened > options_.max_iterations) break;
      continue;
    }
    verdict = convergence.judge(measure_stages(0));  // exact Newton: multipliers converge with the rest
    factor_now = convergence.count() < 2 || convergence.theta() > 0.05;
  }
  ok = verdict == Convergence::Verdict::converged;
  if (ok) evaluate_final_stages(state, h);
  return convergence;
}

// ------------------------------------------------------------------------------------------ block 2: z1 and L_st

StepResult Spark::solve_end(const State& state, double h) {
  // work2_ = p0 + h sum_j bh_j f_j + h sum_{k < st} bt_k r_k
  work2_ = p0_;
  for (int j = 0; j < s_; ++j) axpy(h * c_.bhat[j], f_(j), nz_, work2_.data());
  for (int k = 0; k < st_ && m_ > 0; ++k) axpy(h * c_.btilde[k], r_(k), nz_, work2_.data());
  std::copy_n(l_(st_), m_, psi1_.data());
  bool ok = false;
  Convergence last(0);
  if (end_small_.applicable() && options_.newton != SolverOptions::Newton::full && !guarded_) {
    std::copy_n(z1_.data(), nz_, increment_z_.data());
    last = simplified_end(state.t + h, h, ok);
    if (ok) end_noise_ = last.next_noise();
    if (!ok) {
      end_small_.forget();
      std::copy_n(increment_z_.data(), nz_, z1_.data());
      std::copy_n(l_(st_), m_, psi1_.data());
    }
  }
  if (!ok) last = full_end(state.t + h, h, ok);
  if (ok) return {};
  return explain_failure(*system_, state, h, "the velocity level at the end of the step", last);
}

double Spark::measure_end(const double* dz, double multiplier_effect) {
  double size = velocity_size(dz) / unit_end_v_;
  if (!velocity_is_z_) size = larger(size, biggest(dz, nz_) / unit_end_z_);
  return larger(size, multiplier_effect / (8 * unit_end_v_));
}

Convergence Spark::simplified_end(double t1, double h, bool& ok) {
  Convergence convergence(options_.max_iterations, end_noise_);
  const double weight = h * c_.btilde[st_];
  const Pattern& rpsi = system_->pattern(Q::reaction_psi);
  const Pattern& rate_z = system_->pattern(Q::constraint_rate_z);
  auto verdict = Convergence::Verdict::go_on;
  bool renew = !end_small_.factored();
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    ++counters_.evaluations;
    const bool derivatives = renew || convergence.count() == 0;
    Evaluation& now = derivatives ? *end_ : *end_values_;
    now.at(t1, y1_.data(), z1_.data(), psi1_.data());
    if (renew) {
      ++counters_.factorisations;
      if (!end_small_.factor((*end_)[Q::momentum_z], (*end_)[Q::reaction_psi], (*end_)[Q::constraint_rate_z])) break;
      convergence.matrix_renewed();
    }
    // R = p(y1, z1) - p0 - h sum bh f - h sum bt r
    double* r = residual_.data();
    for (int a = 0; a < nz_; ++a)
      r[a] = now[Q::momentum][a] - work2_[static_cast<std::size_t>(a)] - weight * now[Q::reaction][a];
    double* mass_r = mass_residual_.data();
    double effect = 0;
    end_small_.solve_mass(r, mass_r);
    if (m_ > 0) {
      // bt_st S dL = (-(g_t + g_y v) + g_y v_z p_z^-1 R) / h
      for (int a = 0; a < m_; ++a) work_m_[static_cast<std::size_t>(a)] = -now[Q::constraint_rate][a] / weight;
      multiply_add(rate_z, (*end_)[Q::constraint_rate_z], mass_r, 1 / weight, work_m_.data());
      end_small_.solve(work_m_.data());
      axpy(1.0, work_m_.data(), m_, psi1_.data());
      std::fill(work_.begin(), work_.end(), 0.0);
      multiply_add(rpsi, (*end_)[Q::reaction_psi], work_m_.data(), weight, work_.data());
      end_small_.solve_mass(work_.data(), newton_.data());
      effect = velocity_size(newton_.data());
      axpy(-1.0, work_.data(), nz_, r);
      end_small_.solve_mass(r, mass_r);
    }
    axpy(-1.0, mass_r, nz_, z1_.data());
    verdict = convergence.judge(measure_end(mass_r, effect));
    renew = convergence.slower_than(renew_above / 4);  // one factorisation here saves several iterations
  }
  ok = verdict == Convergence::Verdict::converged;
  return convergence;
}

Convergence Spark::full_end(double t1, double h, bool& ok) {
  if (!saddle_) {
    saddle_ = std::make_unique<SaddlePoint>(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
                                            system_->pattern(Q::constraint_rate_z), options_.linear_algebra);
  }
  Convergence convergence(options_.max_iterations);
  convergence.matrix_renewed();
  const double bt = c_.btilde[st_];
  newton_.resize(std::max(newton_.size(), static_cast<std::size_t>(nz_ + m_)));
  auto verdict = Convergence::Verdict::go_on;
  const Evaluation& e = *end_;
  int shortened = 0;
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    ++counters_.evaluations;
    end_->at(t1, y1_.data(), z1_.data(), psi1_.data());
    if (convergence.count() < 2 || convergence.theta() > 0.05) {
      ++counters_.factorisations;
      // unknowns (dz1, h dL): [[p_z, -bt r_psi], [g_y v_z, 0]]
      if (!saddle_->factor(e[Q::momentum_z], e[Q::reaction_psi], bt, e[Q::constraint_rate_z])) break;
    }
    for (int a = 0; a < nz_; ++a)
      newton_[static_cast<std::size_t>(a)] =
          -(e[Q::momentum][a] - work2_[static_cast<std::size_t>(a)] - h * bt * e[Q::reaction][a]);
    for (int a = 0; a < m_; ++a) newton_[static_cast<std::size_t>(nz_ + a)] = -e[Q::constraint_rate][a];
    saddle_->solve(newton_.data());
    for (int a = 0; a < m_; ++a) newton_[static_cast<std::size_t>(nz_ + a)] /= h;
    const double length = safe_end_length(t1, newton_.data() + nz_);
    axpy(length, newton_.data(), nz_, z1_.data());
    axpy(length, newton_.data() + nz_, m_, psi1_.data());
    if (length < 1) {
      if (length == 0 || ++shortened > options_.max_iterations) break;
      continue;
    }
    verdict = convergence.judge(measure_end(newton_.data(), 0));
  }
  ok = verdict == Convergence::Verdict::converged;
  return convergence;
}

}  // namespace

std::unique_ptr<Stepper> make_spark(std::shared_ptr<const System> system, SparkTableau tableau,
                                    const SolverOptions& options) {
  return std::make_unique<Spark>(std::move(system), std::move(tableau), options);
}

}  // namespace hinge
