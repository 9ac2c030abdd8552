#include "method/rattle.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/extrapolation.hpp"
#include "method/spark.hpp"
#include "method/step_failure.hpp"
#include "method/vectors.hpp"
#include "solve/convergence.hpp"
#include "solve/saddle_point.hpp"

namespace hinge {

bool is_separable(const System& system) {
  using Q = Quantity;
  return system.pattern(Q::velocity_y).empty() && system.pattern(Q::momentum_y).empty() &&
         system.pattern(Q::momentum_t).empty() && system.pattern(Q::force_z).empty() &&
         system.is_constant(Q::momentum_z) && system.reaction_is_linear() && system.pattern(Q::reaction_z).empty();
}

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
// Contraction above which the small matrix is made anew.
constexpr double renew_above = 0.1;

class SeparableRattle final : public Stepper {
 public:
  SeparableRattle(std::shared_ptr<const System> system, const SolverOptions& options);
  StepResult step(State& state, double h) override;
  void reset() override {
    have_start_ = false;
    small_.forget();
    end_small_.forget();
    guess0_.reset();
    guess1_.reset();
    noise_ = end_noise_ = 1;
  }

 private:
  using Q = Quantity;
  void set_units(double h, const State& state);
  double velocity_size(const double* dz);
  bool renew_small(double t1, const double* y1, const double* z);
  void kick_and_drift(const State& state, double h);
  double kick_by_increment(const double* reaction_psi, double h, double* z, double* y);
  bool solve_position(const State& state, double h, Convergence& convergence);
  bool solve_velocity(double t1, double h, Convergence& convergence);
  void half_kick(const double* force, const double* reaction_psi, const double* psi, double h, const double* from,
                 double* to);

  std::shared_ptr<const System> system_;
  SolverOptions options_;
  int ny_, nz_, m_;
  std::unique_ptr<Evaluation> start_, velocity_, position_, end_, rate_, reference_;
  SchurComplement small_, end_small_;  // of the position level (between y0 and y1) and of the velocity level (at y1)
  Extrapolation guess0_, guess1_;      // of L0, which carries more rounding, and of L1
  std::vector<double> f0_, rpsi0_, half_z_, y1_, z1_, l0_, l1_, increment_, kick_, change_, v0_, velocity_z_,
      velocity_change_;
  double last_h_ = 0, unit_y_ = 0, unit_v_ = 0, noise_ = 1, end_noise_ = 1;
  bool have_start_ = false, velocity_is_z_;
};

SeparableRattle::SeparableRattle(std::shared_ptr<const System> system, const SolverOptions& options)
    : system_(std::move(system)),
      options_(options),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      small_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi), system_->pattern(Q::constraint_rate_z),
             options.linear_algebra),
      end_small_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
                 system_->pattern(Q::constraint_rate_z), options.linear_algebra),
      guess0_(static_cast<std::size_t>(m_)),
      guess1_(static_cast<std::size_t>(m_)) {
  const SystemKind kind = system_->layout().kind;
  velocity_is_z_ = kind == SystemKind::lagrangian || kind == SystemKind::mechanical;
  start_ = system_->evaluation({Q::force, Q::reaction_psi});
  velocity_ = system_->evaluation({Q::velocity});
  position_ = system_->evaluation({Q::constraint});
  end_ = system_->evaluation({Q::force, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  rate_ = system_->evaluation({Q::constraint_rate});
  reference_ = system_->evaluation({Q::momentum_z, Q::constraint_rate_z, Q::velocity_z});
  velocity_z_.resize(system_->pattern(Q::velocity_z).entries());
  velocity_change_.resize(static_cast<std::size_t>(ny_));
  const auto n = [](int k) { return static_cast<std::size_t>(k); };
  for (auto* v : {&f0_, &half_z_, &z1_, &kick_, &change_}) v->resize(n(nz_));
  for (auto* v : {&y1_, &v0_}) v->resize(n(ny_));
  for (auto* v : {&l0_, &l1_, &increment_}) v->resize(n(m_));
  multipliers_.resize(n(2 * m_));
  rpsi0_.resize(system_->pattern(Q::reaction_psi).entries());
}

// As in the general SPARK step: increments are judged by what they do, y to eps |y| and v at the end to eps |v|.
void SeparableRattle::set_units(double h, const State& state) {
  constexpr double tiny = 1e-200;
  const double size_h = std::abs(h);
  small_.solve_mass(f0_.data(), change_.data());
  const double a = velocity_size(change_.data());
  const double v = biggest(v0_.data(), ny_) + (std::isfinite(a) ? size_h * a : 0);
  unit_y_ = epsilon * rounding_growth(m_) * std::max({biggest(state.y.data(), ny_), size_h * v, tiny});
  unit_v_ = 2 * epsilon * std::max(v, tiny);
}

// |v_z dz|, with v_z as it was at the last renewal of the small matrix
double SeparableRattle::velocity_size(const double* dz) {
  if (velocity_is_z_) return biggest(dz, nz_);
  std::fill(velocity_change_.begin(), velocity_change_.end(), 0.0);
  multiply_add(system_->pattern(Q::velocity_z), velocity_z_.data(), dz, 1.0, velocity_change_.data());
  return biggest(velocity_change_.data(), ny_);
}

// S = g_y v_z (y1) p_z^-1 r_psi (y0), the exact Newton matrix of the position level
bool SeparableRattle::renew_small(double t1, const double* y1, const double* z) {
  reference_->at(t1, y1, z, l0_.data());
  ++counters_.factorisations;
  ++counters_.evaluations;
  std::copy_n((*reference_)[Q::velocity_z], velocity_z_.size(), velocity_z_.data());
  return small_.factor((*reference_)[Q::momentum_z], rpsi0_.data(), (*reference_)[Q::constraint_rate_z]);
}

// to = from + p_z^-1 (h/2) (f + r_psi psi)
void SeparableRattle::half_kick(const double* force, const double* reaction_psi, const double* psi, double h,
                                const double* from, double* to) {
  for (int a = 0; a < nz_; ++a) kick_[static_cast<std::size_t>(a)] = h / 2 * force[a];
  multiply_add(system_->pattern(Q::reaction_psi), reaction_psi, psi, h / 2, kick_.data());
  small_.solve_mass(kick_.data(), to);
  axpy(1.0, from, nz_, to);
}

// Z from L0, and y1 = y0 + (h/2) (v(t0, Z) + v(t1, Z))
void SeparableRattle::kick_and_drift(const State& state, double h) {
  half_kick(f0_.data(), rpsi0_.data(), l0_.data(), h, state.z.data(), half_z_.data());
  y1_ = state.y;
  if (velocity_is_z_) {
    axpy(h, half_z_.data(), ny_, y1_.data());
    v0_ = half_z_;
    return;
  }
  for (const double t : {state.t, state.t + h}) {
    velocity_->at(t, state.y.data(), half_z_.data(), l0_.data());
    ++counters_.evaluations;
    axpy(h / 2, (*velocity_)[Q::velocity], ny_, y1_.data());
  }
  std::copy_n((*velocity_)[Q::velocity], ny_, v0_.data());
}

StepResult SeparableRattle::step(State& state, double h) {
  ++counters_.steps;
  if (std::abs(h - last_h_) > 1e-9 * std::abs(h)) {
    guess0_.reset();
    guess1_.reset();
  }
  last_h_ = h;
  if (!have_start_) {
    start_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    ++counters_.evaluations;
    std::copy_n((*start_)[Q::force], nz_, f0_.data());
    std::copy_n((*start_)[Q::reaction_psi], rpsi0_.size(), rpsi0_.data());
    velocity_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    std::copy_n((*velocity_)[Q::velocity], ny_, v0_.data());
  }
  if (!small_.factored()) renew_small(state.t, state.y.data(), state.z.data());
  set_units(h, state);
  if (guess0_.ready()) {
    guess0_.predict(l0_.data());
    guess1_.predict(l1_.data());
  } else {
    l0_ = state.psi;
    l1_ = state.psi;
  }
  Convergence convergence(0);
  if (!small_.factored() || !solve_position(state, h, convergence)) {
    reset();
    return explain_failure(*system_, state, h, "the position level", convergence);
  }
  const double t1 = state.t + h;
  if (!solve_velocity(t1, h, convergence)) {
    reset();
    return explain_failure(*system_, state, h, "the velocity level at the end of the step", convergence);
  }
  guess0_.push(l0_.data());
  guess1_.push(l1_.data());
  std::copy_n((*end_)[Q::force], nz_, f0_.data());
  std::copy_n((*end_)[Q::reaction_psi], rpsi0_.size(), rpsi0_.data());
  have_start_ = true;
  state.t = t1;
  state.y = y1_;
  state.z = z1_;
  state.psi = l1_;
  std::copy(l0_.begin(), l0_.end(), multipliers_.begin());
  std::copy(l1_.begin(), l1_.end(), multipliers_.begin() + m_);
  return {};
}

// z += dz with dz = p_z^-1 (h/2) r_psi dL, and y += h dz where v = z; returns |v_z dz|. For point masses in one pass:
// long chains are limited by memory, not by arithmetic.
double SeparableRattle::kick_by_increment(const double* reaction_psi, double h, double* z, double* y) {
  const Pattern& p = system_->pattern(Q::reaction_psi);
  const double* inverse = small_.diagonal_inverse();
  if (!inverse || !velocity_is_z_) {
    std::fill(kick_.begin(), kick_.end(), 0.0);
    multiply_add(p, reaction_psi, increment_.data(), h / 2, kick_.data());
    small_.solve_mass(kick_.data(), change_.data());
    axpy(1.0, change_.data(), nz_, z);
    if (y && velocity_is_z_) axpy(h, change_.data(), nz_, y);
    return velocity_size(change_.data());
  }
  double size = 0;
  bool nan = false;
  int k = 0;
  for (int i = 0; i < nz_; ++i) {
    double sum = 0;
    for (const int end = p.row_start[static_cast<std::size_t>(i) + 1]; k < end; ++k)
      sum += reaction_psi[k] * increment_[static_cast<std::size_t>(p.column[static_cast<std::size_t>(k)])];
    const double dz = h / 2 * inverse[i] * sum, a = std::abs(dz);
    z[i] += dz;
    if (y) y[i] += h * dz;
    size = size < a ? a : size;
    nan |= a != a;
  }
  return nan ? std::numeric_limits<double>::quiet_NaN() : size;
}

bool SeparableRattle::solve_position(const State& state, double h, Convergence& convergence) {
  convergence = Convergence(options_.max_iterations, noise_);
  const double t1 = state.t + h;
  bool renewed = false;
  auto verdict = Convergence::Verdict::go_on;
  kick_and_drift(state, h);
  if (m_ == 0) return std::isfinite(biggest(y1_.data(), ny_));
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    ++counters_.evaluations;
    position_->at(t1, y1_.data(), half_z_.data(), l0_.data());
    // (S/2) dL0 = -g(y1) / h^2
    for (int a = 0; a < m_; ++a)
      increment_[static_cast<std::size_t>(a)] = -2 * (*position_)[Q::constraint][a] / (h * h);
    small_.solve(increment_.data());
    axpy(1.0, increment_.data(), m_, l0_.data());
    // y1 moves by h v_z dZ; at the end the sums are made anew, so that rounding does not add up
    verdict =
        convergence.judge(std::abs(h) * kick_by_increment(rpsi0_.data(), h, half_z_.data(), y1_.data()) / unit_y_);
    if (!velocity_is_z_ || verdict != Convergence::Verdict::go_on) kick_and_drift(state, h);
    if (verdict == Convergence::Verdict::go_on && convergence.slower_than(renew_above) && !renewed) {
      renewed = true;
      if (!renew_small(t1, y1_.data(), half_z_.data())) return false;
      convergence.matrix_renewed();
    }
  }
  if (verdict != Convergence::Verdict::converged) return false;
  noise_ = convergence.next_noise();
  return true;
}

bool SeparableRattle::solve_velocity(double t1, double h, Convergence& convergence) {
  convergence = Convergence(options_.max_iterations, end_noise_);
  ++counters_.evaluations;
  end_->at(t1, y1_.data(), half_z_.data(), l1_.data());
  bool renew = !end_small_.factored();
  auto verdict = Convergence::Verdict::go_on;
  half_kick((*end_)[Q::force], (*end_)[Q::reaction_psi], l1_.data(), h, half_z_.data(), z1_.data());
  if (m_ == 0) return std::isfinite(biggest(z1_.data(), nz_));
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    ++counters_.evaluations;
    rate_->at(t1, y1_.data(), z1_.data(), l1_.data());
    if (renew) {
      if (convergence.count() > 0 && !velocity_is_z_) end_->at(t1, y1_.data(), z1_.data(), l1_.data());
      ++counters_.factorisations;
      if (!end_small_.factor((*end_)[Q::momentum_z], (*end_)[Q::reaction_psi], (*end_)[Q::constraint_rate_z]))
        return false;
      convergence.matrix_renewed();
    }
    // (S/2) dL1 = -(g_t + g_y v) / h
    for (int a = 0; a < m_; ++a) increment_[static_cast<std::size_t>(a)] = -2 * (*rate_)[Q::constraint_rate][a] / h;
    end_small_.solve(increment_.data());
    axpy(1.0, increment_.data(), m_, l1_.data());
    verdict = convergence.judge(kick_by_increment((*end_)[Q::reaction_psi], h, z1_.data(), nullptr) / unit_v_);
    renew = convergence.slower_than(renew_above / 4);  // one factorisation here saves several iterations
  }
  end_noise_ = convergence.next_noise();
  return verdict == Convergence::Verdict::converged;
}

}  // namespace

std::unique_ptr<Stepper> make_rattle(std::shared_ptr<const System> system, const SolverOptions& options) {
  options.validate();
  if (!system->is_constant(Quantity::momentum_z))
    return make_spark(std::move(system), lobatto_iiia_iiib_tableau(2), options);
  // p_z is constant here: look at it once
  const Pattern& pattern = system->pattern(Quantity::momentum_z);
  const auto mass = system->evaluation({Quantity::momentum_z});
  const std::vector<double> zero(static_cast<std::size_t>(std::max({system->ny(), system->nz(), system->npsi(), 1})),
                                 0.0);
  mass->at(0, zero.data(), zero.data(), zero.data());
  BlockInverse inverse(pattern);
  std::vector<double> values(inverse.pattern().entries());
  if (inverse.largest() <= SchurComplement::largest_mass_block &&
      !inverse.compute((*mass)[Quantity::momentum_z], values.data()))
    throw UnsuitableMethod(
        fmt::format("rattle needs a regular mass matrix, but nothing resists a change of {} except the constraints; "
                    "use gauss-lobatto, "
                    "which can treat that",
                    system->layout().z_name(inverse.singular_row())));
  if (inverse.largest() <= SchurComplement::largest_mass_block && is_separable(*system))
    return std::make_unique<SeparableRattle>(std::move(system), options);
  return make_spark(std::move(system), lobatto_iiia_iiib_tableau(2), options);
}

}  // namespace hinge
