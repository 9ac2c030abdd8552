#include "method/nonsmooth/generalized_alpha.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/step_failure.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/at_rounding.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

std::shared_ptr<const System> with_expressions(std::shared_ptr<const System> system) {
  if (bodies_of(*system) && !system->structure().is_symbolic)
    throw UnsuitableMethod("generalized-alpha knows no particles, which are no expressions; use moreau-jean");
  return system;
}

constexpr ContactDemands alpha_demands{
    .method = "generalized-alpha",
    .form =
        "second-order systems whose velocities are the unknowns: write the system as [lagrangian] or [mechanical], "
        "or use radau, bdf or explicit, or with contacts moreau-jean",
    .bodies = true,
    .ideal = false};

}  // namespace

GeneralizedAlpha::GeneralizedAlpha(std::shared_ptr<const System> system, const GeneralizedAlphaOptions& options,
                                   const SolverOptions& solver)
    : system_(suitable(with_expressions(std::move(system)), alpha_demands)),
      options_(solver),
      problem_(formulate(system_, {options.formulation})),
      acceleration_(system_, solver.linear_algebra),
      n_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      turns_(!system_->structure().velocity_is_z) {
  const double rho = options.rho;
  alpha_m_ = (2 * rho - 1) / (rho + 1);
  alpha_f_ = rho / (rho + 1);
  gamma_ = 0.5 + alpha_f_ - alpha_m_;
  beta_ = (1 + alpha_f_ - alpha_m_) * (1 + alpha_f_ - alpha_m_) / 4;
  weight_ = (1 - alpha_f_) / (1 - alpha_m_);
  const Pattern& p = problem_->pattern();
  solver_ = make_linear_solver(p, solver.linear_algebra);
  for (int i = 0; i < n_; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
      if (p.column[at(k)] == n_ + i) position_velocity_.push_back(k);
  for (auto* v : {&x_, &rate_, &residual_, &row_scale_, &column_scale_}) v->resize(at(problem_->size()));
  for (auto* v : {&f_x_, &f_rate_, &matrix_}) v->resize(p.entries());
  for (auto* v : {&z_star_, &a_, &w_, &forward_, &backward_, &mean_}) v->resize(at(nz_));
  for (auto* v : {&y_star_, &from_, &moved_}) v->resize(at(n_));
  if (turns_) motion_ = system_->evaluation({Quantity::velocity, Quantity::velocity_z});
  two_levels_ = options.formulation == Formulation::ggl;
  if (system_->structure().has_contacts)
    contacts_ = std::make_unique<ContactStep>(system_, system_->pattern(Quantity::momentum_z), ContactSolving{},
                                              solver.linear_algebra);
  if (contacts_) {
    if (turns_) spins_ = SpinBalance::of(*system_);
    contacts_->use_dense(true);
    contacts_->use_least_norm(false);
    contacts_->statistics.momentum_balance = -1;  // not measured
  }
  psi_.resize(at(m_));
  work_.resize(at(10 * n_));
}

// The acceleration after one classical Runge-Kutta step of h on the index-1 form.
bool GeneralizedAlpha::move_by_runge_kutta(const State& state, double h, std::vector<double>& acceleration) {
  double *y = work_.data(), *z = y + n_, *v = z + nz_, *a = v + n_, *dy = a + nz_, *dz = dy + n_;
  std::fill_n(dy, n_ + nz_, 0.0);
  std::copy(state.psi.begin(), state.psi.end(), psi_.begin());
  const double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < n_; ++k) y[k] = state.y[at(k)] + h * (i == 4 ? dy[k] : i == 0 ? 0.0 : node[i] * v[k]);
    for (int k = 0; k < nz_; ++k) z[k] = state.z[at(k)] + h * (i == 4 ? dz[k] : i == 0 ? 0.0 : node[i] * a[k]);
    if (!acceleration_.compute(state.t + (i == 4 ? 1 : node[i]) * h, y, z, psi_.data(), v, a)) return false;
    if (i == 4) break;
    axpy(weight[i], v, n_, dy);
    axpy(weight[i], a, nz_, dz);
  }
  std::copy_n(a, nz_, acceleration.data());
  return true;
}

// w0 and a0 = w(t0 + (alpha_m - alpha_f) h) up to O(h^2). Where the method begins anew the equations may have been
// others before.
bool GeneralizedAlpha::begin(const State& state, double h) {
  std::copy(state.psi.begin(), state.psi.end(), psi_.begin());
  if (!acceleration_.compute(state.t, state.y.data(), state.z.data(), psi_.data(), work_.data(), w_.data()))
    return false;
  // so short for bodies that stiff motions do not matter
  const double e = turns_ ? 1e-3 : 1;
  if (!move_by_runge_kutta(state, e * h, forward_)) return false;
  const bool anew = std::exchange(changed_, false);
  if (!anew && !move_by_runge_kutta(state, -e * h, backward_)) return false;
  const std::vector<double>& other = anew ? w_ : backward_;
  for (int k = 0; k < nz_; ++k)
    a_[at(k)] = w_[at(k)] + (alpha_m_ - alpha_f_) * (forward_[at(k)] - other[at(k)]) / (anew ? e : 2 * e);
  counters_.evaluations += 11;
  std::fill(x_.begin(), x_.end(), 0.0);
  std::copy(state.psi.begin(), state.psi.end(), x_.begin() + n_ + nz_);
  return true;
}

// Such that the rows of the formulation become those of the method:  y' = (y1 - y*)/h - (beta/gamma)(z1 - z*) + z1,
// z' = w1 = (z1 - z*)/(h gamma weight).
void GeneralizedAlpha::rates(double h) {
  for (int k = 0; k < nz_; ++k) rate_[at(n_ + k)] = (x_[at(n_ + k)] - z_star_[at(k)]) / (h * gamma_ * weight_);
  if (turns_) {  // y' = (y1 - y0 o exp(h D))/h + v
    move_by_mean(h);
    motion_->at(t1_, x_.data(), x_.data() + n_, x_.data() + n_ + nz_);
    const double* v = (*motion_)[Quantity::velocity];
    for (int k = 0; k < n_; ++k) rate_[at(k)] = (x_[at(k)] - moved_[at(k)]) / h + v[k];
    return;
  }
  for (int k = 0; k < n_; ++k) {
    const double z1 = x_[at(n_ + k)], dz = z1 - z_star_[at(k)];
    rate_[at(k)] = (x_[at(k)] - y_star_[at(k)]) / h - beta_ / gamma_ * dz + z1;
  }
}

// y0 o exp(h D); D is its part that is known plus (beta/gamma) (z1 - z*)
void GeneralizedAlpha::move_by_mean(double h) {
  double* mean = work_.data();
  for (int k = 0; k < nz_; ++k) mean[k] = mean_[at(k)] + beta_ / gamma_ * (x_[at(n_ + k)] - z_star_[at(k)]);
  system_->move(from_.data(), mean, h, moved_.data());
}

// T = 1 - c [a] + s [a]^2, a = h D, c = (1 - cos|a|)/|a|^2, s = (1 - sin|a|/|a|)/|a|^2, for the turn of a body
Eigen::Matrix3d GeneralizedAlpha::turn_tangent(double h, const double* spin) {
  const Eigen::Vector3d a = h * Eigen::Map<const Eigen::Vector3d>(spin);
  const double square = a.squaredNorm(), size = std::sqrt(square);
  const double c = square > 1e-6 ? (1 - std::cos(size)) / square : 0.5 - square / 24;
  const double s = square > 1e-6 ? (1 - std::sin(size) / size) / square : 1.0 / 6 - square / 120;
  Eigen::Matrix3d cross;
  cross << 0, -a(2), a(1), a(2), 0, -a(0), -a(1), a(0), 0;
  return Eigen::Matrix3d::Identity() - c * cross + s * cross * cross;
}

// d/dD of y0 o exp(h D) is h v_z(y1) T. The rows of v_z for it stand in the matrix already.
void GeneralizedAlpha::differentiate_turns(double h) {
  const Pattern& p = problem_->pattern();
  const double* mean = work_.data();  // as move_by_mean() left it
  for (const BodyPlace& place : bodies_of(*system_)->places) {
    const Eigen::Matrix3d tangent = turn_tangent(h, mean + place.spin);
    for (int row = place.rotation; row < place.rotation + 4; ++row) {
      std::array<int, 3> entry{-1, -1, -1};
      for (int k = p.row_start[at(row)]; k < p.row_start[at(row) + 1]; ++k)
        if (const int spin = p.column[at(k)] - n_ - place.spin; spin >= 0 && spin < 3) entry[at(spin)] = k;
      if (std::min({entry[0], entry[1], entry[2]}) < 0) continue;
      Eigen::RowVector3d old;
      for (int k = 0; k < 3; ++k) old(k) = matrix_[at(entry[at(k)])];
      const Eigen::RowVector3d turned = old * tangent;
      for (int k = 0; k < 3; ++k) matrix_[at(entry[at(k)])] = turned(k);
    }
  }
}

bool GeneralizedAlpha::factor(double h) {
  const Pattern& p = problem_->pattern();
  for (std::size_t i = 0; i < row_scale_.size(); ++i) {
    row_scale_[i] = std::pow(std::abs(h), problem_->row_scale()[i]);
    column_scale_[i] = std::pow(std::abs(h), -problem_->unknowns()[i].scale);
  }
  const double c_y = 1 / h, c_z = 1 / (h * gamma_ * weight_);
  for (std::size_t k = 0; k < matrix_.size(); ++k) {
    const int column = p.column[k];
    matrix_[k] = f_x_[k] + (column < n_ ? c_y : column < n_ + nz_ ? c_z : 0.0) * f_rate_[k];
  }
  if (turns_) {
    for (int k = 0; k < p.row_start[at(n_)]; ++k) {
      const int column = p.column[at(k)];
      if (column < n_) matrix_[at(k)] -= f_x_[at(k)];
      if (column >= n_ && column < n_ + nz_) matrix_[at(k)] = beta_ / gamma_ * f_x_[at(k)];
    }
    differentiate_turns(h);
  } else {
    for (const int k : position_velocity_) matrix_[at(k)] += 1 - beta_ / gamma_;
  }
  for (std::size_t i = 0; i < row_scale_.size(); ++i)
    for (auto k = at(p.row_start[i]); k < at(p.row_start[i + 1]); ++k)
      matrix_[k] *= row_scale_[i] * column_scale_[at(p.column[k])];
  return solver_->factor(matrix_.data());
}

bool GeneralizedAlpha::solve(double t1, double h) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  newton_.forget();
  t1_ = t1;
  return solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    counters_.evaluations += 2;
    ++counters_.factorisations;
    rates(h);
    problem_->residual(t1, x_.data(), rate_.data(), residual_.data());
    problem_->jacobian(t1, x_.data(), rate_.data(), f_x_.data(), f_rate_.data());
    const bool solved = stalls(newton_) && left_rounding(t1, h);
    if (!factor(h)) return no_increment;
    for (std::size_t i = 0; i < residual_.size(); ++i) residual_[i] *= -row_scale_[i];
    solver_->solve(residual_.data());
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += column_scale_[i] * residual_[i];
    newton_.matrix_renewed();
    if (solved) return already_solved;
    // what the accelerations of the step contribute is rounded too, also where everything rests at the origin
    const double a = std::abs(h) * (biggest(a_.data(), nz_) + biggest(w_.data(), nz_));
    const double y = std::max(biggest(x_.data(), n_), std::abs(h) * (biggest(x_.data() + n_, nz_) + a));
    const double z = biggest(x_.data() + n_, nz_) + a + y / std::abs(h);
    for (int k = n_; k < n_ + nz_; ++k) residual_[at(k)] *= column_scale_[at(k)];
    const double growth = rounding_growth(m_);
    return larger(biggest(residual_.data(), n_) / (growth * epsilon * std::max(y, 1e-200)),
                  biggest(residual_.data() + n_, nz_) / (growth * epsilon * std::max(z, 1e-200)));
  });
}

// Is the residual nothing but rounding? The rates are differences, of rounding of their terms.
bool GeneralizedAlpha::left_rounding(double t1, double h) {
  within_.assign(residual_.size(), 0.0);
  if (stalls_for_long(newton_)) problem_->add_rounding(t1, x_.data(), rate_.data(), within_.data());
  const std::vector<double>& moved = turns_ ? moved_ : y_star_;
  const auto rate = [&](std::size_t k) {
    if (k >= at(n_ + nz_)) return 0.0;
    if (k >= at(n_)) return (std::abs(x_[k]) + std::abs(z_star_[k - at(n_)])) / std::abs(h * gamma_ * weight_);
    return (std::abs(x_[k]) + std::abs(moved[k])) / std::abs(h);
  };
  return residual_is_rounding(
      problem_->pattern(), residual_.data(), within_.data(),
      [&](auto, std::size_t e, std::size_t k) { return std::abs(f_x_[e] * x_[k]) + std::abs(f_rate_[e]) * rate(k); });
}

StepResult GeneralizedAlpha::step(State& state, double h) {
  ++counters_.steps;
  const bool continued =
      begun_ && std::abs(h - last_h_) <= 1e-9 * std::abs(h) && std::abs(state.t - end_time_) <= 1e-9 * std::abs(h);
  begun_ = false;
  if (!continued && !begin(state, h)) return explain_failure(*system_, state, h, "the accelerations");
  // a1 = weight w1 + rest
  for (int k = 0; k < nz_; ++k) {
    const auto i = at(k);
    const double rest = (alpha_f_ * w_[i] - alpha_m_ * a_[i]) / (1 - alpha_m_);
    mean_[i] = state.z[i] + h * ((0.5 - beta_) * a_[i] + beta_ * rest);
    if (!turns_) {
      y_star_[i] = state.y[i] + h * state.z[i] + h * h * ((0.5 - beta_) * a_[i] + beta_ * rest);
      x_[i] = y_star_[i] + h * h * beta_ * weight_ * w_[i];
    }
    z_star_[i] = state.z[i] + h * ((1 - gamma_) * a_[i] + gamma_ * rest);
    x_[at(n_) + i] = z_star_[i] + h * gamma_ * weight_ * w_[i];
    a_[i] = rest;  // completed below
  }
  if (turns_) {
    from_ = state.y;
    move_by_mean(h);
    std::copy(moved_.begin(), moved_.end(), x_.begin());
  }
  const double t1 = state.t + h;
  if (!solve(t1, h)) return explain_failure(*system_, state, h, "the step", newton_);
  if (contacts_) {
    contacts_->failure.clear();
    if (!resolve_contacts(state, h)) return contacts_->explain(state, h, "the contacts of the step", newton_);
    contacts_->finish(lambda_.data(), before_.data(), h, t1, x_.data());
  }
  rates(h);
  for (int k = 0; k < nz_; ++k) {
    w_[at(k)] = rate_[at(n_ + k)];
    a_[at(k)] += weight_ * w_[at(k)];
  }
  begun_ = true;
  last_h_ = h;
  state.t = end_time_ = t1;
  std::copy_n(x_.data(), n_, state.y.data());
  std::copy_n(x_.data() + n_, nz_, state.z.data());
  std::copy_n(x_.data() + n_ + nz_, m_, state.psi.data());
  // what contacts press on joints
  if (contacts_)
    for (int k = 0; k < contacts_->rows(); ++k)
      axpy(lambda_[k] / h, contacts_->response(k) + nz_, m_, state.psi.data());
  multipliers_ = state.psi;
  return {};
}

namespace {

MethodInfo generalized_alpha_info() {
  return {
      .name = "generalized-alpha",
      .summary =
          "Chung and Hulbert's method with adjustable damping of high frequencies, on index-3 or ggl; v = z, or bodies",
      .order = "2",
      .multiplier_order = "2",
      .preserves = {.position_level = true, .velocity_level = true},
      .options = {number_row("rho", "0.8", {0, 1},
                             "spectral radius at infinite frequency, from strongest damping to none"),
                  formulation_options("ggl", {"ggl", "index-3"})[0]},
      .reference =
          "J. Chung, G. M. Hulbert, J. Appl. Mech. 60 (1993) 371-375; M. Arnold, O. Bruls, Multibody Syst. "
          "Dyn. 18 (2007) 185-202",
      .can = {.contacts = true, .touching_bodies = 3}};
}

}  // namespace

MethodChoice generalized_alpha(const GeneralizedAlphaOptions& options) {
  MethodChoice choice{generalized_alpha_info(), 2, "", {}, 2};
  check_options(choice.info.options, {{"rho", options.rho}, {"formulation", formulation_name(options.formulation)}});
  choice.description =
      fmt::format("generalized-alpha, rho {:g}, {}, order 2", options.rho, formulation_name(options.formulation));
  choice.warnings = energy_warnings;
  choice.info.preserves.velocity_level = options.formulation == Formulation::ggl;
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
    return std::make_unique<GeneralizedAlpha>(std::move(system), options, solver);
  };
  return choice;
}

MethodEntry generalized_alpha_entry() {
  return {generalized_alpha_info(), [](const GivenOptions& o) {
            return generalized_alpha({o.number("rho"), parse_formulation(o.word("formulation"))});
          }};
}

}  // namespace hinge
