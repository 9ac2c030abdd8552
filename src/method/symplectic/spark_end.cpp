// Block 2 of a SPARK step: z1 and L_st.
#include "method/symplectic/spark_step.hpp"

#include <algorithm>
#include <cmath>

#include "method/step_failure.hpp"

namespace hinge {

// work2_ = p0 + h sum_j bh_j f_j + h sum_{k < st} bt_k r_k
void Spark::sum_end_momentum(double h) {
  if (stages_by_code_) {
    std::copy_n(code_->momentum(), nz_, work2_.data());
    return;
  }
  work2_ = p0_;
  for (int j = 0; j < s_; ++j) axpy(h * c_.bhat[j], f_(j), nz_, work2_.data());
  for (int k = 0; k < st_ && m_ > 0; ++k) axpy(h * c_.btilde[k], r_(k), nz_, work2_.data());
}

StepResult Spark::solve_end(const State& state, double h) {
  sum_end_momentum(h);
  std::copy_n(l_(st_), m_, psi1_.data());
  if (end_small_.applicable() && options_.newton != SolverOptions::Newton::full) {
    std::copy_n(z1_.data(), nz_, increment_z_.data());
    if (simplified_end(state.t + h, h)) return {};
    end_small_.forget();
    std::copy_n(increment_z_.data(), nz_, z1_.data());
    std::copy_n(l_(st_), m_, psi1_.data());
  }
  if (full_end(state.t + h, h)) return {};
  // once more from the start, in units of how fast the stages are, and of the terms of p
  double by_momentum = 0;
  for (const std::vector<double>* p : {&p0_, &work2_})
    if (small_.applicable() && small_.factored()) {
      small_.solve_mass(p->data(), work_.data());
      by_momentum = std::max(by_momentum, velocity_size(work_.data()));
    }
  unit_.raise(std::max(biggest(stage_v_.data(), s_ * ny_), by_momentum),
              std::max(biggest(stage_z_.data(), s_ * nz_), biggest(p0_.data(), nz_)), h);
  z1_ = state.z;
  std::copy_n(l_(st_), m_, psi1_.data());
  if (full_end(state.t + h, h)) return {};
  return explain_failure(*system_, state, h, "the velocity level at the end of the step", full_newton_);
}

double Spark::measure_end(const double* dz, double multiplier_effect) {
  double size = velocity_size(dz) / unit_.end_v;
  if (!velocity_is_z_) size = larger(size, biggest(dz, nz_) / unit_.end_z);
  return larger(size, multiplier_effect / (8 * unit_.end_v));
}

bool Spark::simplified_end(double t1, double h) {
  return solved_by_newton(Booked(end_newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    ++counters_.evaluations;
    const bool renew = !end_small_.factored() || end_newton_.renew();
    const bool derivatives = renew || end_newton_.count() == 0;
    Evaluation& now = derivatives ? *end_ : *end_values_;
    if (derivatives || !code_) now.at(t1, y1_.data(), z1_.data(), psi1_.data());
    if (renew) {
      ++counters_.factorisations;
      if (!end_small_.factor((*end_)[Q::momentum_z], (*end_)[Q::reaction_psi], (*end_)[Q::constraint_rate_z]))
        return no_increment;
      end_newton_.matrix_renewed();
    }
    return code_ ? improve_end_by_code(t1, h) : improve_end(h, now);
  });
}

double Spark::improve_end(double h, const Evaluation& now) {
  const double weight = h * c_.btilde[st_];
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
    multiply_add(system_->pattern(Q::constraint_rate_z), (*end_)[Q::constraint_rate_z], mass_r, 1 / weight,
                 work_m_.data());
    end_small_.solve(work_m_.data());
    axpy(1.0, work_m_.data(), m_, psi1_.data());
    std::fill(work_.begin(), work_.end(), 0.0);
    multiply_add(system_->pattern(Q::reaction_psi), (*end_)[Q::reaction_psi], work_m_.data(), weight, work_.data());
    end_small_.solve_mass(work_.data(), newton_.data());
    effect = velocity_size(newton_.data());
    axpy(-1.0, work_.data(), nz_, r);
    end_small_.solve_mass(r, mass_r);
  }
  axpy(-1.0, mass_r, nz_, z1_.data());
  return measure_end(mass_r, effect);
}

// The same, number by number.
double Spark::improve_end_by_code(double t1, double h) {
  code_->improve_end({t1, h, y1_.data(), z1_.data(), psi1_.data(), work2_.data(), (*end_)[Q::reaction_psi],
                      (*end_)[Q::constraint_rate_z]},
                     end_small_, velocity_z_.data());
  std::copy_n(code_->z1(), nz_, z1_.data());
  std::copy_n(code_->psi1(), m_, psi1_.data());
  return measure_end(code_->end_increment(), biggest(code_->end_effect(), ny_));
}

bool Spark::full_end(double t1, double h) {
  if (!saddle_) {
    saddle_ = std::make_unique<SaddlePoint>(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
                                            system_->pattern(Q::constraint_rate_z), options_.linear_algebra);
  }
  full_newton_.forget();
  const double bt = c_.btilde[st_];
  newton_.resize(std::max(newton_.size(), static_cast<std::size_t>(nz_ + m_)));
  const Evaluation& e = *end_;
  return solved_by_newton(Booked(full_newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    ++counters_.evaluations;
    end_->at(t1, y1_.data(), z1_.data(), psi1_.data());
    if (full_newton_.renew()) {
      ++counters_.factorisations;
      // unknowns (dz1, h dL): [[p_z, -bt r_psi], [g_y v_z, 0]]
      if (!saddle_->factor(e[Q::momentum_z], e[Q::reaction_psi], bt, e[Q::constraint_rate_z])) return no_increment;
      if (full_newton_.count() == 0) full_newton_.matrix_renewed();
    }
    for (int a = 0; a < nz_; ++a)
      newton_[static_cast<std::size_t>(a)] =
          -(e[Q::momentum][a] - work2_[static_cast<std::size_t>(a)] - h * bt * e[Q::reaction][a]);
    for (int a = 0; a < m_; ++a) newton_[static_cast<std::size_t>(nz_ + a)] = -e[Q::constraint_rate][a];
    saddle_->solve(newton_.data());
    for (int a = 0; a < m_; ++a) newton_[static_cast<std::size_t>(nz_ + a)] /= h;
    axpy(1.0, newton_.data(), nz_, z1_.data());
    axpy(1.0, newton_.data() + nz_, m_, psi1_.data());
    return measure_end(newton_.data(), 0);
  });
}

}  // namespace hinge
