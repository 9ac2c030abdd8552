// The stages of a half-explicit step.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "method/explicit/half_explicit.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

HalfExplicitTableau half_explicit_tableau(int order) {
  const double r = std::sqrt(6.0);
  switch (order) {
    case 1: return {1, {0, 1}, {{1}}};
    case 3: return {3, {0, 1.0 / 3, 1, 1}, {{1.0 / 3}, {-1, 2}, {0, 3.0 / 4, 1.0 / 4}}};
    case 4:
      return {4,
              {0, 3.0 / 10, (4 - r) / 10, (4 + r) / 10, 1, 1},
              {{3.0 / 10},
               {(1 + r) / 30, (11 - 4 * r) / 30},
               {(-79 - 31 * r) / 150, (-1 - 4 * r) / 30, (24 + 11 * r) / 25},
               {(14 + 5 * r) / 6, (-8 + 7 * r) / 6, (-9 - 7 * r) / 4, (9 - r) / 4},
               {0, 0, (16 - r) / 36, (16 + r) / 36, 1.0 / 9}}};
    default: throw std::logic_error("half-explicit tableaus have order 1, 3 or 4");
  }
}

HalfExplicitStep::HalfExplicitStep(std::shared_ptr<const System> system, const HalfExplicitTableau& tableau,
                                   LinearAlgebra choice)
    : system_(std::move(system)),
      tableau_(tableau),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      linear_(system_->structure().reaction_is_linear),
      one_solve_(linear_ && system_->structure().velocity_is_z && system_->nw() == 0),
      kernel_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
              system_->pattern(Q::constraint_rate_z), system_->is_constant(Q::momentum_z), choice) {
  Quantities here{Q::velocity, Q::momentum_z, Q::acceleration_force, Q::reaction_psi};
  if (!linear_) here.insert(Q::reaction);
  here_ = system_->evaluation(here);
  next_ = system_->evaluation({Q::constraint_rate, Q::constraint_rate_z});
  const auto n = [](int k) { return static_cast<std::size_t>(k); };
  const int s = tableau_.stages() + 1;
  for (auto* x : {&y_, &v_}) x->resize(n(s * ny_));
  for (auto* x : {&z_, &k_}) x->resize(n(s * nz_));
  base_.resize(n(nz_));
  lambda_.resize(n(m_));
  right_.resize(n(nz_ + m_));
}

bool HalfExplicitStep::apply(double t, double h, const double* y0, const double* z0, const double* psi, double* y1,
                             double* z1) {
  std::copy_n(y0, ny_, Y(0));
  std::copy_n(z0, nz_, Z(0));
  const int s = tableau_.stages();
  for (int i = 0; i < s; ++i) {
    here_->at(t + tableau_.c[static_cast<std::size_t>(i)] * h, Y(i), Z(i), psi);
    ++evaluations;
    std::copy_n((*here_)[Q::velocity], ny_, V(i));
    std::copy_n(y0, ny_, Y(i + 1));
    const std::vector<double>& a = tableau_.a[static_cast<std::size_t>(i)];
    for (int j = 0; j <= i; ++j) axpy(h * a[static_cast<std::size_t>(j)], V(j), ny_, Y(i + 1));
    if (!stage(i, t, h, z0, psi)) return false;
  }
  std::copy_n(Y(s), ny_, y1);
  std::copy_n(Z(s), nz_, z1);
  return true;
}

// K_i, Lambda_i and Z_{i+1}, with here_ at the point of stage i
bool HalfExplicitStep::stage(int i, double t, double h, const double* z0, const double* psi) {
  const std::vector<double>& a = tableau_.a[static_cast<std::size_t>(i)];
  const double weight = h * a[static_cast<std::size_t>(i)];
  const double t_here = t + tableau_.c[static_cast<std::size_t>(i)] * h,
               t_next = t + tableau_.c[static_cast<std::size_t>(i) + 1] * h;
  std::copy_n(z0, nz_, base_.data());
  for (int j = 0; j < i; ++j) axpy(h * a[static_cast<std::size_t>(j)], K(j), nz_, base_.data());
  std::fill_n(K(i), nz_, 0.0);
  if (linear_)
    std::fill(lambda_.begin(), lambda_.end(), 0.0);
  else
    std::copy_n(psi, m_, lambda_.data());
  Settling rule(newton_policy::half_explicit);
  const bool found = solved_by_newton(Booked(rule, *this), [&]() -> Increment {
    ++iterations;
    ++evaluations;
    if (rule.count() > 0 && !linear_) here_->at(t_here, Y(i), Z(i), lambda_.data());
    const Evaluation& e = *here_;
    std::copy_n(base_.data(), nz_, Z(i + 1));
    axpy(weight, K(i), nz_, Z(i + 1));
    next_->at(t_next, Y(i + 1), Z(i + 1), psi);
    if (rule.count() == 0 || !one_solve_) {
      ++factorisations;
      if (!kernel_.factor(e[Q::momentum_z], e[Q::reaction_psi], (*next_)[Q::constraint_rate_z])) return no_increment;
    }
    // b + r - p_z K and -(g_t + G v) / (h a)
    std::copy_n(e[Q::acceleration_force], nz_, right_.data());
    if (linear_)
      multiply_add(system_->pattern(Q::reaction_psi), e[Q::reaction_psi], lambda_.data(), 1.0, right_.data());
    else
      axpy(1.0, e[Q::reaction], nz_, right_.data());
    multiply_add(system_->pattern(Q::momentum_z), e[Q::momentum_z], K(i), -1.0, right_.data());
    for (int k = 0; k < m_; ++k) right_[static_cast<std::size_t>(nz_ + k)] = -(*next_)[Q::constraint_rate][k] / weight;
    kernel_.solve(right_.data());
    axpy(1.0, right_.data(), nz_, K(i));
    axpy(1.0, right_.data() + nz_, m_, lambda_.data());
    const double change = std::abs(weight) * biggest(right_.data(), nz_);
    // A linear system is solved by the first solution; the second removes its rounding.
    if (std::isfinite(change) && ((one_solve_ && rule.count() == 1) || m_ == 0)) return already_solved;
    return {change, std::max(biggest(Z(i + 1), nz_), std::abs(weight) * biggest(K(i), nz_))};
  });
  std::copy_n(base_.data(), nz_, Z(i + 1));
  axpy(weight, K(i), nz_, Z(i + 1));
  return found;
}

HalfExplicitMap::HalfExplicitMap(std::shared_ptr<const System> system, const HalfExplicitOptions& options,
                                 LinearAlgebra choice)
    : system_(system),
      step_(system, half_explicit_tableau(options.order == 5 ? 1 : options.order), choice),
      projection_(system, options.projection, choice),
      end_projection_(system, Projection::velocity, choice),
      order_(options.order),
      n_(system->ny() + system->nz()),
      table_(static_cast<std::size_t>(5 * n_)),
      y_(static_cast<std::size_t>(system->ny())),
      z_(static_cast<std::size_t>(system->nz())) {}

bool HalfExplicitMap::apply(double t, double h, const double* y0, const double* z0, const double* psi, double* y1,
                            double* z1) {
  const bool done = order_ == 5 ? extrapolate(t, h, y0, z0, psi, y1, z1) : step_.apply(t, h, y0, z0, psi, y1, z1);
  return done && (!projection_.active() || projection_.project(t + h, y1, z1, psi));
}

// Aitken and Neville: T_{j,k+1} = T_{j,k} + (T_{j,k} - T_{j-1,k}) / (n_j / n_{j-k} - 1), n_j = j
bool HalfExplicitMap::extrapolate(double t, double h, const double* y0, const double* z0, const double* psi, double* y1,
                                  double* z1) {
  const int ny = system_->ny(), nz = system_->nz();
  const auto row = [this](int j) { return table_.data() + static_cast<std::ptrdiff_t>(j - 1) * n_; };
  for (int j = 1; j <= 5; ++j) {
    std::copy_n(y0, ny, y_.data());
    std::copy_n(z0, nz, z_.data());
    for (int k = 0; k < j; ++k)
      if (!step_.apply(t + k * h / j, h / j, y_.data(), z_.data(), psi, y_.data(), z_.data())) return false;
    std::copy_n(y_.data(), ny, row(j));
    std::copy_n(z_.data(), nz, row(j) + ny);
    for (int k = 1; k < j; ++k) {
      const double factor = 1 / (static_cast<double>(j) / (j - k) - 1);
      for (int i = 0; i < n_; ++i) row(j - k)[i] = row(j - k + 1)[i] + factor * (row(j - k + 1)[i] - row(j - k)[i]);
    }
  }
  std::copy_n(row(1), ny, y1);
  std::copy_n(row(1) + ny, nz, z1);
  return !end_projection_.active() || end_projection_.project(t + h, y1, z1, psi);
}

}  // namespace hinge
