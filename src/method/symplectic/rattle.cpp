#include "method/symplectic/rattle.hpp"

#include <algorithm>
#include <cmath>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"
#include "method/symplectic/kick_drift.hpp"
#include "method/symplectic/spark.hpp"
#include "method/vectors.hpp"
#include "solve/newton/extrapolation.hpp"

namespace hinge {

bool is_separable(const System& system) {
  using Q = Quantity;
  return system.pattern(Q::velocity_y).empty() && system.pattern(Q::momentum_y).empty() &&
         system.pattern(Q::momentum_t).empty() && system.pattern(Q::force_z).empty() &&
         system.is_constant(Q::momentum_z) && system.reaction_is_linear() && system.pattern(Q::reaction_z).empty();
}

namespace {

// Contraction above which the matrix of the velocity level is made anew: one factorisation saves several iterations.
constexpr double renew_above = 0.025;

class SeparableRattle final : public Stepper {
 public:
  SeparableRattle(std::shared_ptr<const System> system, const SolverOptions& options);
  StepResult step(State& state, double h) override;
  void reset() override {
    have_start_ = false;
    first_.forget();
    end_small_.forget();
    guess0_.reset();
    guess1_.reset();
    end_noise_ = 1;
  }

 private:
  using Q = Quantity;
  bool solve_velocity(double t1, double h, Convergence& convergence);

  std::shared_ptr<const System> system_;
  SolverOptions options_;
  int nz_, m_;
  KickDrift first_;                // Z, y1 and L0, with the position level
  SchurComplement end_small_;      // of the velocity level at y1
  Extrapolation guess0_, guess1_;  // of L0, which carries more rounding, and of L1
  std::unique_ptr<Evaluation> end_, rate_;
  std::vector<double> half_z_, y1_, z1_, l0_, l1_, increment_;
  double last_h_ = 0, end_time_ = 0, end_noise_ = 1;
  bool have_start_ = false;
};

SeparableRattle::SeparableRattle(std::shared_ptr<const System> system, const SolverOptions& options)
    : system_(std::move(system)),
      options_(options),
      nz_(system_->nz()),
      m_(system_->npsi()),
      first_(*system_, options, counters_),
      end_small_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
                 system_->pattern(Q::constraint_rate_z), options.linear_algebra),
      guess0_(static_cast<std::size_t>(m_)),
      guess1_(static_cast<std::size_t>(m_)) {
  end_ = system_->evaluation({Q::force, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  rate_ = system_->evaluation({Q::constraint_rate});
  const auto n = [](int k) { return static_cast<std::size_t>(k); };
  for (auto* v : {&half_z_, &z1_}) v->resize(n(nz_));
  y1_.resize(n(system_->ny()));
  for (auto* v : {&l0_, &l1_, &increment_}) v->resize(n(m_));
  multipliers_.resize(n(2 * m_));
}

StepResult SeparableRattle::step(State& state, double h) {
  ++counters_.steps;
  if (std::abs(h - last_h_) > 1e-9 * std::abs(h)) {
    guess0_.reset();
    guess1_.reset();
  }
  last_h_ = h;
  if (guess0_.ready()) {
    guess0_.predict(l0_.data());
    guess1_.predict(l1_.data());
  } else {
    l0_ = state.psi;
    l1_ = state.psi;
  }
  // the forces at the end of the last step serve if this one starts there: between substeps of a composition it does
  // not
  if (!have_start_ || state.y != y1_ || std::abs(state.t - end_time_) > 1e-9 * std::abs(h)) first_.begin(state);
  const KickDrift::From from{state.t, state.y.data(), state.z.data()};
  Convergence convergence(0);
  if (!first_.prepare(from, h, l0_.data()) ||
      !first_.solve(from, h / 2, h, l0_.data(), half_z_.data(), y1_.data(), convergence)) {
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
  first_.take_forces(*end_);
  have_start_ = true;
  state.t = end_time_ = t1;
  state.y = y1_;
  state.z = z1_;
  state.psi = l1_;
  std::copy(l0_.begin(), l0_.end(), multipliers_.begin());
  std::copy(l1_.begin(), l1_.end(), multipliers_.begin() + m_);
  return {};
}

bool SeparableRattle::solve_velocity(double t1, double h, Convergence& convergence) {
  convergence = Convergence(options_.max_iterations, end_noise_);
  ++counters_.evaluations;
  end_->at(t1, y1_.data(), half_z_.data(), l1_.data());
  bool renew = !end_small_.factored();
  auto verdict = Convergence::Verdict::go_on;
  first_.kick((*end_)[Q::force], (*end_)[Q::reaction_psi], l1_.data(), h / 2, half_z_.data(), z1_.data());
  if (m_ == 0) return std::isfinite(biggest(z1_.data(), nz_));
  while (verdict == Convergence::Verdict::go_on) {
    ++counters_.iterations;
    ++counters_.evaluations;
    rate_->at(t1, y1_.data(), z1_.data(), l1_.data());
    if (renew) {
      if (convergence.count() > 0 && !first_.velocity_is_z()) end_->at(t1, y1_.data(), z1_.data(), l1_.data());
      ++counters_.factorisations;
      if (!end_small_.factor((*end_)[Q::momentum_z], (*end_)[Q::reaction_psi], (*end_)[Q::constraint_rate_z]))
        return false;
      convergence.matrix_renewed();
    }
    // (S/2) dL1 = -(g_t + g_y v) / h
    for (int a = 0; a < m_; ++a) increment_[static_cast<std::size_t>(a)] = -2 * (*rate_)[Q::constraint_rate][a] / h;
    end_small_.solve(increment_.data());
    axpy(1.0, increment_.data(), m_, l1_.data());
    verdict = convergence.judge(
        first_.kick_by_increment((*end_)[Q::reaction_psi], increment_.data(), h / 2, h, z1_.data(), nullptr) /
        first_.unit_velocity());
    renew = convergence.slower_than(renew_above);
  }
  end_noise_ = convergence.next_noise();
  return verdict == Convergence::Verdict::converged;
}

}  // namespace

std::unique_ptr<Stepper> make_rattle(std::shared_ptr<const System> system, const SolverOptions& options) {
  options.validate();
  require_regular_mass(*system, "rattle");
  if (has_small_constant_mass(*system) && is_separable(*system))
    return std::make_unique<SeparableRattle>(std::move(system), options);
  SparkTableau tableau = lobatto_iiia_iiib_tableau(2);
  tableau.name = "rattle";  // as the user calls it
  return make_spark(std::move(system), std::move(tableau), options);
}

namespace {

MethodInfo rattle_info() {
  return {"rattle",
          "Lobatto IIIA-IIIB with two stages; for separable systems explicit but for the constraints",
          "2",
          "1",
          everything,
          {},
          "H. C. Andersen, J. Comput. Phys. 52 (1983) 24-34; L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368-387"};
}

}  // namespace

MethodChoice rattle() { return {rattle_info(), 2, "rattle, order 2", make_rattle, 1}; }

MethodEntry rattle_entry() {
  return {rattle_info(), [](const Options&) { return rattle(); }};
}

}  // namespace hinge
