// RATTLE for systems with velocity constraints w(t, y, z) = 0, beside position constraints g(t, y) = 0 or without any:
//
//   p(t0, y0, Z0) = p(t0, y0, z0) + (h/2) (f + r)(t0, y0, Z0, L0)
//   y1            = y0 + (h/2) (v(t0, y0, Z0) + v(t1, y1, Z1)),     p(t1, y1, Z1) = p(t0, y0, Z0)
//   0 = g(t1, y1),   0 = w(t0 + h/2, (y0 + y1)/2, (Z0 + Z1)/2)                                          for L0
//   p(t1, y1, z1) = p(t1, y1, Z1) + (h/2) (f + r)(t1, y1, Z1, L1)
//   0 = g_t + g_y v,  0 = w  at (t1, y1, z1)                                                            for L1
//
// with r = -g_y^T psi - w_z^T psi. Without velocity constraints it is RATTLE; w at the middle of the step stands in the
// place of g(y1) - g(y0). The two halves change places when h becomes -h, so that a step is symmetric, and its order is
// 2. Z1 is Z0 where p depends on z alone.
//
// "leapfrog" has no w at the middle: the multipliers of w in L0 are those of L1 of the step before (those of the motion
// in a first one). With a constant mass it is the reversible leapfrog of McLachlan and Perlmutter, whose momenta at
// half steps need not satisfy w. What is remembered may swing from step to step, and on some motions that grows: a
// Chaplygin sleigh, which the other form follows for any time, turns over after some thousand steps.
//
// Multipliers that the state gets are those that belong to y1 and z1, of second order. Preserved: g, its velocity level
// and w at round-off, symmetry in time. Not preserved: the energy (an error of second order, without drift on
// reversible motions), nor a symplectic form, which such systems have none of.
//
// References: R. McLachlan, M. Perlmutter, J. Nonlinear Sci. 16 (2006) 283-328; S. Ferraro, D. Iglesias, D. Martin de
// Diego, Nonlinearity 21 (2008) 1911-1928; L. O. Jay, Lagrange-d'Alembert SPARK integrators, IFAC Proc. 42 (2009).
#include "method/symplectic/nonholonomic_rattle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "formulation/acceleration.hpp"
#include "method/step_failure.hpp"
#include "method/symplectic/step_rounding.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/extrapolation.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

class NonholonomicRattle final : public Stepper {
 public:
  NonholonomicRattle(std::shared_ptr<const System> system, const RattleOptions& which, const SolverOptions& options);
  StepResult step(State& state, double h) override;
  void reset() override;

 private:
  using Q = Quantity;
  enum Unknown { at_z0, at_y, at_z1, at_l0, at_z, at_l1, unknowns };  // Z0, y1, Z1, L0; z1, L1

  void lay_out();
  void evaluate_first(const State& state, double h);
  void residual_first(const State& state, double h);
  void assemble_first(const State& state, double h);
  bool solve_first(const State& state, double h);
  bool solve_second(double t1, double h);
  void first_guess(const State& state, double h);
  void set_units(const State& state, double h);
  double velocity_size(const double* dz);

  double* x(Unknown u) { return x_.data() + offset_[u]; }
  double* d(Unknown u) { return d_.data() + offset_[u]; }
  static std::size_t n(int k) { return static_cast<std::size_t>(k); }

  std::shared_ptr<const System> system_;
  SolverOptions options_;
  bool leapfrog_, velocity_is_z_;
  int ny_, nz_, ng_, nw_, m_;
  std::array<int, unknowns + 1> offset_{};
  BlockMatrix first_, second_;
  Convergence first_newton_, second_newton_;
  bool first_kept_ = false, second_kept_ = false;
  Acceleration acceleration_;
  Extrapolation guess_;
  std::unique_ptr<Evaluation> start_, at0_, at1_, middle_, position_, end_;
  std::unique_ptr<Evaluation> d0_, d1_, d_middle_, d_position_, kick_, d_end_;
  Pattern identity_y_, identity_w_;
  std::vector<double> x_, d_, ones_, y_middle_, z_middle_, leap_, velocity_z_, velocity_change_, psi_, rate_, z_rate_;
  State reached_;  // by the last step
  StepRounding unit_;
  double last_h_ = 0;
};

NonholonomicRattle::NonholonomicRattle(std::shared_ptr<const System> system, const RattleOptions& which,
                                       const SolverOptions& options)
    : system_(std::move(system)),
      options_(options),
      leapfrog_(which.leapfrog),
      velocity_is_z_(system_->structure().velocity_is_z),
      ny_(system_->ny()),
      nz_(system_->nz()),
      ng_(system_->ng()),
      nw_(system_->nw()),
      m_(ng_ + nw_),
      offset_{0, nz_, nz_ + ny_, 2 * nz_ + ny_, 2 * nz_ + ny_ + m_, 3 * nz_ + ny_ + m_, 3 * nz_ + ny_ + 2 * m_},
      first_(2 * nz_ + ny_ + m_),
      second_(nz_ + m_),
      first_newton_(options.max_iterations, newton_policy::position_level),
      second_newton_(options.max_iterations, newton_policy::velocity_level),
      acceleration_(system_, options.linear_algebra),
      guess_(n(offset_[unknowns] - ny_)),
      identity_y_(identity_pattern(ny_)),
      identity_w_(identity_pattern(nw_)) {
  options_.validate();
  lay_out();
  start_ = system_->evaluation({Q::momentum, Q::velocity, Q::force});
  at0_ = system_->evaluation({Q::momentum, Q::velocity, Q::force, Q::reaction});
  at1_ = system_->evaluation({Q::momentum, Q::velocity, Q::force});
  middle_ = system_->evaluation({Q::constraint_rate});
  position_ = system_->evaluation({Q::constraint});
  end_ = system_->evaluation({Q::momentum, Q::constraint_rate});
  d0_ = system_->evaluation({Q::momentum_z, Q::velocity_z, Q::force_z, Q::reaction_z, Q::reaction_psi});
  d1_ = system_->evaluation({Q::momentum_y, Q::momentum_z, Q::velocity_y, Q::velocity_z});
  d_middle_ = system_->evaluation({Q::constraint_rate_y, Q::constraint_rate_z});
  d_position_ = system_->evaluation({Q::constraint_y});
  kick_ = system_->evaluation({Q::reaction_psi});
  d_end_ = system_->evaluation({Q::momentum_z, Q::constraint_rate_z});
  for (auto* v : {&x_, &d_}) v->resize(n(offset_[unknowns]));
  for (auto* v : {&y_middle_, &velocity_change_, &rate_}) v->resize(n(ny_));
  for (auto* v : {&z_middle_, &z_rate_}) v->resize(n(nz_));
  for (auto* v : {&leap_, &psi_}) v->resize(n(m_));
  ones_.assign(n(std::max(ny_, nw_)), 1.0);
  velocity_z_.resize(system_->pattern(Q::velocity_z).entries());
  multipliers_.resize(n(2 * m_));
}

void NonholonomicRattle::reset() {
  guess_.reset();
  first_kept_ = second_kept_ = false;
  first_newton_.forget();
  second_newton_.forget();
  reached_ = {};
}

// Rows: the kick at y0, the drift, equal momenta, the constraints; the kick at y1, the velocity level. The order of
// place() here is the order of add() in assemble_first() and solve_second().
void NonholonomicRattle::lay_out() {
  const auto pattern = [this](Q q) -> const Pattern& { return system_->pattern(q); };
  const int z0 = offset_[at_z0], y = offset_[at_y], z1 = offset_[at_z1], l0 = offset_[at_l0], w = l0 + ng_;
  first_.place(pattern(Q::momentum_z), z0, z0);
  first_.place(pattern(Q::force_z), z0, z0);
  first_.place(pattern(Q::reaction_z), z0, z0);
  first_.place(pattern(Q::reaction_psi), z0, l0);
  first_.place(identity_y_, y, y);
  first_.place(pattern(Q::velocity_z), y, z0);
  first_.place(pattern(Q::velocity_z), y, z1);
  first_.place(pattern(Q::velocity_y), y, y);
  first_.place(pattern(Q::momentum_z), z1, z1);
  first_.place(pattern(Q::momentum_y), z1, y);
  first_.place(pattern(Q::momentum_z), z1, z0);
  first_.place(pattern(Q::constraint_y), l0, y);
  if (leapfrog_) {
    first_.place(identity_w_, w, w);
  } else {
    const Pattern by_z = row_range(pattern(Q::constraint_rate_z), ng_, nw_);
    first_.place(row_range(pattern(Q::constraint_rate_y), ng_, nw_), w, y);
    first_.place(by_z, w, z0);
    first_.place(by_z, w, z1);
  }
  first_.finish(options_.linear_algebra);
  second_.place(pattern(Q::momentum_z), 0, 0);
  second_.place(pattern(Q::reaction_psi), 0, nz_);
  second_.place(pattern(Q::constraint_rate_z), nz_, 0);
  second_.finish(options_.linear_algebra);
}

void NonholonomicRattle::evaluate_first(const State& state, double h) {
  const double t1 = state.t + h;
  at0_->at(state.t, state.y.data(), x(at_z0), x(at_l0));
  at1_->at(t1, x(at_y), x(at_z1), x(at_l0));
  position_->at(t1, x(at_y), x(at_z1), x(at_l0));
  ++counters_.evaluations;
  if (leapfrog_) return;
  for (int i = 0; i < ny_; ++i) y_middle_[n(i)] = 0.5 * (state.y[n(i)] + x(at_y)[i]);
  for (int i = 0; i < nz_; ++i) z_middle_[n(i)] = 0.5 * (x(at_z0)[i] + x(at_z1)[i]);
  middle_->at(state.t + h / 2, y_middle_.data(), z_middle_.data(), x(at_l0));
}

// d = minus the residuals
void NonholonomicRattle::residual_first(const State& state, double h) {
  const Evaluation &a = *at0_, &b = *at1_;
  for (int i = 0; i < nz_; ++i) {
    d(at_z0)[i] = (*start_)[Q::momentum][i] - a[Q::momentum][i] + h / 2 * (a[Q::force][i] + a[Q::reaction][i]);
    d(at_z1)[i] = a[Q::momentum][i] - b[Q::momentum][i];
  }
  for (int i = 0; i < ny_; ++i)
    d(at_y)[i] = state.y[n(i)] - x(at_y)[i] + h / 2 * (a[Q::velocity][i] + b[Q::velocity][i]);
  for (int i = 0; i < ng_; ++i) d(at_l0)[i] = -(*position_)[Q::constraint][i] / (h * h);
  for (int i = ng_; i < m_; ++i)
    d(at_l0)[i] = leapfrog_ ? leap_[n(i)] - x(at_l0)[i] : -(*middle_)[Q::constraint_rate][i] / h;
}

void NonholonomicRattle::assemble_first(const State& state, double h) {
  const double t1 = state.t + h;
  d0_->at(state.t, state.y.data(), x(at_z0), x(at_l0));
  d1_->at(t1, x(at_y), x(at_z1), x(at_l0));
  d_position_->at(t1, x(at_y), x(at_z1), x(at_l0));
  ++counters_.evaluations;
  const Evaluation &a = *d0_, &b = *d1_;
  int block = 0;
  first_.clear();
  first_.add(block++, 1, a[Q::momentum_z]);
  first_.add(block++, -h / 2, a[Q::force_z]);
  first_.add(block++, -h / 2, a[Q::reaction_z]);
  first_.add(block++, -h / 2, a[Q::reaction_psi]);
  first_.add(block++, 1, ones_.data());
  first_.add(block++, -h / 2, a[Q::velocity_z]);
  first_.add(block++, -h / 2, b[Q::velocity_z]);
  first_.add(block++, -h / 2, b[Q::velocity_y]);
  first_.add(block++, 1, b[Q::momentum_z]);
  first_.add(block++, 1, b[Q::momentum_y]);
  first_.add(block++, -1, a[Q::momentum_z]);
  first_.add(block++, 1 / (h * h), (*d_position_)[Q::constraint_y]);
  std::copy_n(a[Q::velocity_z], velocity_z_.size(), velocity_z_.data());
  if (leapfrog_) {
    first_.add(block++, 1, ones_.data());
    return;
  }
  d_middle_->at(state.t + h / 2, y_middle_.data(), z_middle_.data(), x(at_l0));
  const auto rows = [&](Q q) { return (*d_middle_)[q] + system_->pattern(q).row_start[n(ng_)]; };
  first_.add(block++, 0.5 / h, rows(Q::constraint_rate_y));
  first_.add(block++, 0.5 / h, rows(Q::constraint_rate_z));
  first_.add(block++, 0.5 / h, rows(Q::constraint_rate_z));
}

void NonholonomicRattle::set_units(const State& state, double h) {
  unit_ = rounding_of_step(*system_, state, *start_, *d0_, velocity_z_, h);
}

double NonholonomicRattle::velocity_size(const double* dz) {
  return size_in_velocities(*system_, velocity_z_, dz, velocity_change_);
}

bool NonholonomicRattle::solve_first(const State& state, double h) {
  if (first_kept_) set_units(state, h);
  return solved_by_newton(Booked(first_newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    evaluate_first(state, h);
    residual_first(state, h);
    if (!first_kept_ || first_newton_.renew()) {
      ++counters_.factorisations;
      assemble_first(state, h);
      first_kept_ = first_.factor();
      if (!first_kept_) return no_increment;
      set_units(state, h);
      first_newton_.matrix_renewed();
    }
    first_.solve(d_.data());
    axpy(1.0, d_.data(), first_.size(), x_.data());
    double size = biggest(d(at_y), ny_) / unit_.y;
    for (const Unknown z : {at_z0, at_z1}) {
      size = larger(size, velocity_size(d(z)) / unit_.v);
      if (!velocity_is_z_) size = larger(size, biggest(d(z), nz_) / unit_.z);
    }
    return size;
  });
}

// p(z1) - p(Z1) - (h/2) (f + r_psi L1) = 0 and the velocity level
bool NonholonomicRattle::solve_second(double t1, double h) {
  at1_->at(t1, x(at_y), x(at_z1), x(at_l1));
  kick_->at(t1, x(at_y), x(at_z1), x(at_l1));
  counters_.evaluations += 2;
  const Evaluation &a = *at1_, &e = *end_;
  return solved_by_newton(Booked(second_newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    ++counters_.evaluations;
    end_->at(t1, x(at_y), x(at_z), x(at_l1));
    if (!second_kept_ || second_newton_.count() == 0 || second_newton_.renew()) {
      ++counters_.factorisations;
      d_end_->at(t1, x(at_y), x(at_z), x(at_l1));
      second_.clear();
      second_.add(0, 1, (*d_end_)[Q::momentum_z]);
      second_.add(1, -h / 2, (*kick_)[Q::reaction_psi]);
      second_.add(2, 1 / h, (*d_end_)[Q::constraint_rate_z]);
      second_kept_ = second_.factor();
      if (!second_kept_) return no_increment;
      second_newton_.matrix_renewed();
    }
    for (int i = 0; i < nz_; ++i) d(at_z)[i] = a[Q::momentum][i] - e[Q::momentum][i] + h / 2 * a[Q::force][i];
    multiply_add(system_->pattern(Q::reaction_psi), (*kick_)[Q::reaction_psi], x(at_l1), h / 2, d(at_z));
    for (int i = 0; i < m_; ++i) d(at_l1)[i] = -e[Q::constraint_rate][i] / h;
    second_.solve(d(at_z));
    axpy(1.0, d(at_z), second_.size(), x(at_z));
    double size = velocity_size(d(at_z)) / unit_.end_v;
    if (!velocity_is_z_) size = larger(size, biggest(d(at_z), nz_) / unit_.end_z);
    return size;
  });
}

void NonholonomicRattle::first_guess(const State& state, double h) {
  const auto all = [&](auto&& each) {
    for (const auto& [u, size] : {std::pair{at_z0, nz_}, {at_z1, nz_}, {at_z, nz_}, {at_l0, m_}, {at_l1, m_}})
      each(x(u), size);
  };
  if (guess_.ready()) {
    guess_.predict(d_.data());
    const double* from = d_.data();
    all([&](double* to, int size) { std::copy_n(std::exchange(from, from + size), size, to); });
  } else {
    for (const Unknown u : {at_z0, at_z1, at_z}) std::copy_n(state.z.data(), nz_, x(u));
    for (const Unknown u : {at_l0, at_l1}) std::copy_n(state.psi.data(), m_, x(u));
  }
  std::copy_n(state.y.data(), ny_, x(at_y));
  axpy(h, (*start_)[Q::velocity], ny_, x(at_y));
  const bool goes_on = state.y == reached_.y && state.z == reached_.z;
  std::copy_n(goes_on ? multipliers_.data() + m_ : state.psi.data(), m_, leap_.data());
}

StepResult NonholonomicRattle::step(State& state, double h) {
  ++counters_.steps;
  if (std::abs(h - last_h_) > 1e-9 * std::abs(h)) {
    guess_.reset();
    first_kept_ = second_kept_ = false;
  }
  last_h_ = h;
  start_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  first_guess(state, h);
  const double t1 = state.t + h;
  const auto fail = [&](const char* what, const Convergence& newton) {
    StepResult result = explain_failure(*system_, state, h, what, newton);
    reset();
    return result;
  };
  if (!solve_first(state, h)) return fail("the first half of the step", first_newton_);
  if (!solve_second(t1, h)) {  // from rest nothing says how fast things are
    const double z = std::max(biggest(x(at_z0), nz_), biggest(x(at_z1), nz_));
    const double mass = biggest((*d0_)[Q::momentum_z], static_cast<int>(system_->pattern(Q::momentum_z).entries())),
                 kick = mass > 0 ? std::abs(h) / 2 * biggest((*at1_)[Q::force], nz_) / mass : 0;
    const double v = std::max(velocity_size(x(at_z0)), velocity_size(x(at_z1)));
    unit_.raise(v + kick * biggest(velocity_z_.data(), static_cast<int>(velocity_z_.size())), z + kick, h);
    second_newton_.forget();
    std::copy_n(state.z.data(), nz_, x(at_z));
    if (!solve_second(t1, h)) return fail("the velocity level at the end of the step", second_newton_);
  }
  std::copy_n(x(at_l1), m_, psi_.data());
  if (!acceleration_.compute(t1, x(at_y), x(at_z), psi_.data(), rate_.data(), z_rate_.data()))
    return fail("the multipliers at the end of the step", Convergence(0));
  double* into = d_.data();
  for (const auto& [u, size] : {std::pair{at_z0, nz_}, {at_z1, nz_}, {at_z, nz_}, {at_l0, m_}, {at_l1, m_}})
    into = std::copy_n(x(u), size, into);
  guess_.push(d_.data());
  std::copy_n(x(at_l0), m_, multipliers_.data());
  std::copy_n(x(at_l1), m_, multipliers_.data() + m_);
  state.t = t1;
  std::copy_n(x(at_y), ny_, state.y.data());
  std::copy_n(x(at_z), nz_, state.z.data());
  state.psi = psi_;
  reached_.y = state.y;
  reached_.z = state.z;
  return {};
}

}  // namespace

std::unique_ptr<Stepper> make_nonholonomic_rattle(std::shared_ptr<const System> system, const RattleOptions& which,
                                                  const SolverOptions& options) {
  return std::make_unique<NonholonomicRattle>(std::move(system), which, options);
}

}  // namespace hinge
