// RATTLE: the two-stage Lobatto IIIA-IIIB pair for constrained systems. Order 2, symmetric, symplectic, both
// constraint levels at round-off.
//
// For separable systems (v and p depend on z alone with p_z constant, f on y alone) the step is explicit but for the
// multipliers:
//   p(Z)    = p0 + (h/2) (f(y0) + r(y0, L0))
//   y1      = y0 + h v(Z),                      0 = g(y1)                  for L0
//   p(z1)   = p(Z) + (h/2) (f(y1) + r(y1, L1)), 0 = g_t + g_y v(y1, z1)    for L1
// One evaluation of the force per step: f(y1) is the next step's f(y0). Other systems go through the general SPARK
// step with the same coefficients, those with velocity constraints through nonholonomic_rattle.cpp.
//
// Not preserved: the energy (bounded error of second order, no drift). Reference: H. C. Andersen, J. Comput. Phys. 52
// (1983); L. O. Jay, SIAM J. Numer. Anal. 33 (1996).
#include "method/symplectic/rattle.hpp"

#include <algorithm>
#include <cmath>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"
#include "method/symplectic/kick_drift.hpp"
#include "method/symplectic/nonholonomic_rattle.hpp"
#include "method/symplectic/spark.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/extrapolation.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

bool is_separable(const System& system) {
  using Q = Quantity;
  if (system.structure().is_separable) return true;
  return system.pattern(Q::velocity_y).empty() && system.pattern(Q::momentum_y).empty() &&
         system.pattern(Q::momentum_t).empty() && system.pattern(Q::force_z).empty() &&
         system.is_constant(Q::momentum_z) && system.structure().reaction_is_linear &&
         system.pattern(Q::reaction_z).empty();
}

namespace {

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
    end_newton_.forget();
  }

 private:
  using Q = Quantity;
  bool solve_velocity(double t1, double h);
  double begin_velocity(double t1, double h);
  double improve_velocity(double t1, double h);

  std::shared_ptr<const System> system_;
  SolverOptions options_;
  int nz_, m_;
  KickDrift first_;                // Z, y1 and L0, with the position level
  SchurComplement end_small_;      // of the velocity level at y1
  Extrapolation guess0_, guess1_;  // of L0, which carries more rounding, and of L1
  std::unique_ptr<Evaluation> end_, rate_;
  std::vector<double> half_z_, y1_, z1_, l0_, l1_, increment_;
  Convergence end_newton_{options_.max_iterations, newton_policy::velocity_level};
  const double *end_force_ = nullptr, *end_reaction_ = nullptr;  // f and r_psi at y1
  double last_h_ = 0, end_time_ = 0;
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
  const auto fail = [&](const char* what, const Convergence& newton) {
    StepResult result = explain_failure(*system_, state, h, what, newton);
    reset();
    return result;
  };
  if (!first_.prepare(from, h, l0_.data()) || !first_.solve(from, h / 2, h, l0_.data(), half_z_.data(), y1_.data()))
    return fail("the position level", first_.newton());
  const double t1 = state.t + h;
  if (!solve_velocity(t1, h)) {
    first_.raise_unit_velocity(end_force_, h / 2);
    end_newton_.forget();
    l1_ = state.psi;
    if (!solve_velocity(t1, h)) return fail("the velocity level at the end of the step", end_newton_);
  }
  guess0_.push(l0_.data());
  guess1_.push(l1_.data());
  first_.take_forces(end_force_, end_reaction_);
  have_start_ = true;
  state.t = end_time_ = t1;
  state.y = y1_;
  state.z = z1_;
  state.psi = l1_;
  std::copy(l0_.begin(), l0_.end(), multipliers_.begin());
  std::copy(l1_.begin(), l1_.end(), multipliers_.begin() + m_);
  return {};
}

// The forces at y1, z1 from them and L1, and where a matrix is cheap that and two increments; the size of the last one.
double SeparableRattle::begin_velocity(double t1, double h) {
  double size = 0;
  const bool begins = first_.renews_always();
  ++counters_.evaluations;
  if (begins) ++counters_.factorisations;
  KickCode* const code = first_.code();
  if (code &&
      code->begin_velocity({t1, h / 2, h, y1_.data(), half_z_.data(), l1_.data(), z1_.data()}, first_.small(), size)) {
    end_force_ = code->force();
    end_reaction_ = code->reaction_psi();
    end_small_.forget();
    counters_.evaluations += 2;
    counters_.iterations += 2;
    return size;
  }
  end_->at(t1, y1_.data(), half_z_.data(), l1_.data());
  end_force_ = (*end_)[Q::force];
  end_reaction_ = (*end_)[Q::reaction_psi];
  first_.kick(end_force_, end_reaction_, l1_.data(), h / 2, half_z_.data(), z1_.data());
  if (!begins) return size;
  if (!end_small_.factor_in_order((*end_)[Q::momentum_z], end_reaction_, (*end_)[Q::constraint_rate_z]))
    return no_increment;
  for (int k = 0; k < 2; ++k) size = improve_velocity(t1, h);
  return size;
}

double SeparableRattle::improve_velocity(double t1, double h) {
  ++counters_.iterations;
  ++counters_.evaluations;
  if (KickCode* const code = first_.code())
    return code->improve_velocity({t1, h / 2, h, y1_.data(), z1_.data(), l1_.data(), end_reaction_}, end_small_);
  rate_->at(t1, y1_.data(), z1_.data(), l1_.data());
  // (S/2) dL1 = -(g_t + g_y v) / h
  for (int a = 0; a < m_; ++a) increment_[static_cast<std::size_t>(a)] = -2 * (*rate_)[Q::constraint_rate][a] / h;
  end_small_.solve(increment_.data());
  axpy(1.0, increment_.data(), m_, l1_.data());
  return first_.kick_by_increment(end_reaction_, increment_.data(), h / 2, h, z1_.data(), nullptr);
}

bool SeparableRattle::solve_velocity(double t1, double h) {
  const bool begins = first_.renews_always();
  if (!begins) begin_velocity(t1, h);
  if (m_ == 0) return std::isfinite(biggest(z1_.data(), nz_));
  const auto factor = [&] {
    return end_small_.factor_in_order((*end_)[Q::momentum_z], (*end_)[Q::reaction_psi], (*end_)[Q::constraint_rate_z]);
  };
  return solved_by_newton(Booked(end_newton_, counters_), [&]() -> Increment {
    if (begins && end_newton_.count() == 0) {
      const double size = begin_velocity(t1, h);
      end_newton_.matrix_renewed();
      return size == no_increment ? size : size / first_.unit_velocity();
    }
    if (!end_small_.factored() && begins) {  // the code has made it, and has not kept it
      end_->at(t1, y1_.data(), z1_.data(), l1_.data());
      if (!factor()) return no_increment;
      end_reaction_ = (*end_)[Q::reaction_psi];
    }
    if (!end_small_.factored() || end_newton_.renew()) {
      if (end_newton_.count() > 0 && !first_.velocity_is_z()) end_->at(t1, y1_.data(), z1_.data(), l1_.data());
      ++counters_.factorisations;
      if (!factor()) return no_increment;
      end_newton_.matrix_renewed();
    }
    return improve_velocity(t1, h) / first_.unit_velocity();
  });
}

std::unique_ptr<Stepper> bind_rattle(std::shared_ptr<const System> system, const RattleOptions& which,
                                     const SolverOptions& solver) {
  require_regular_mass(*system, "rattle");
  if (system->nw() > 0) return make_nonholonomic_rattle(std::move(system), which, solver);
  if (which.leapfrog)
    throw UnsuitableMethod(
        "velocity_constraints = \"leapfrog\" says how velocity constraints are kept, and this system has none; leave "
        "it out");
  if (has_small_constant_mass(*system) && is_separable(*system))
    return std::make_unique<SeparableRattle>(std::move(system), solver);
  SparkTableau tableau = lobatto_iiia_iiib_tableau(2);
  tableau.name = "rattle";  // as the user calls it
  return make_spark(std::move(system), std::move(tableau), solver);
}

MethodInfo rattle_info() {
  return {.name = "rattle",
          .summary =
              "Lobatto IIIA-IIIB with two stages; for separable systems explicit but for the constraints; also for "
              "velocity constraints",
          .order = "2",
          .multiplier_order = "1",
          .preserves = everything,
          .options = {word_row("velocity_constraints", {"midpoint", "leapfrog"},
                               "how they hold within a step: at its middle, or by the multipliers of the step before")},
          .reference =
              "H. C. Andersen, J. Comput. Phys. 52 (1983) 24-34; L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368-387; "
              "R. McLachlan, M. Perlmutter, J. Nonlinear Sci. 16 (2006) 283-328",
          .condition = "with velocity constraints nothing is symplectic, and momentum maps are not kept",
          .can = {.velocity_constraints = true}};
}

}  // namespace

MethodChoice rattle(const RattleOptions& options) {
  MethodChoice choice{rattle_info(), 2, "rattle, order 2", {}, 1};
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
    return bind_rattle(std::move(system), options, solver);
  };
  choice.specialise = [options](MethodChoice& c, const System& system, const StepOptions&) {
    if (system.nw() == 0) return;
    c.description = options.leapfrog ? "rattle for velocity constraints (leapfrog), order 2"
                                     : "rattle for velocity constraints, order 2";
    c.multiplier_order = 2;
    c.info.preserves.symplectic = c.info.preserves.momentum_maps = false;
  };
  // what it remembers is part of its state: substeps of other lengths are no steps of it
  if (options.leapfrog) choice.info.preserves.symmetric = false;
  return choice;
}

MethodEntry rattle_entry() {
  return {rattle_info(),
          [](const GivenOptions& o) { return rattle({.leapfrog = o.word("velocity_constraints") == "leapfrog"}); }};
}

}  // namespace hinge
