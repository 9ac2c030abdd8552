#include "formulation/start/nearest_point.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "formulation/acceleration.hpp"
#include "solve/index.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/linear/saddle_kernel.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Values = std::vector<double>;

// Increments along the normals are not shortened further than this.
constexpr int most_halvings = 15;
// What is left of a cancellation where positions or velocities vanish.
constexpr double point_rounding = 1e-15;

// Solves  min |dx|^2 subject to C dx = b  in the mass metric (dx = A^-1 B mu) or the Euclidean one (dx = C^T mu).
class Projector {
 public:
  Projector(const System& system, const Pattern& c, bool euclidean)
      : ideal_(euclidean || system.structure().reaction_is_ideal || c.rows < system.nrates()),
        n_(at(c.columns)),
        ones_(euclidean ? n_ : 0, 1.0),
        kernel_(euclidean ? SaddleKernel(identity_pattern(c.columns), c, true, LinearAlgebra::automatic)
                : c.rows < system.nrates()  // of constraints on positions alone, whose reactions are ideal
                    ? SaddleKernel(system.pattern(Q::momentum_z), c, false, LinearAlgebra::automatic)
                    : acceleration_kernel(system, LinearAlgebra::automatic)) {}

  bool factor(const double* a, const double* b, const double* c) {
    return kernel_.factor(ones_.empty() ? a : ones_.data(), ideal_ ? nullptr : b, c);
  }

  // out = dx
  void solve(const Values& b, Values& out) {
    out.assign(n_, 0.0);
    multiplier_ = b;
    kernel_.solve(out.data(), multiplier_.data());
  }

 private:
  bool ideal_;
  std::size_t n_;
  Values ones_, multiplier_;
  SaddleKernel kernel_;
};

// The nearest point of {g = 0}: down to it by Newton's method along the normals, then along it towards y0. How far to
// go along it is estimated from the last two steps (Barzilai and Borwein), since it depends on the curvature.
class NearestPoint {
 public:
  NearestPoint(const System& system, double t, const Values& z, const Values& psi)
      : system_(system),
        t_(t),
        z_(z),
        psi_(psi),
        euclidean_(!system.structure().has_mass_metric),
        e_(system.evaluation(
            {Q::constraint, Q::constraint_y, Q::velocity_z, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z})),
        residual_(system.evaluation({Q::constraint})),
        projector_(system,
                   euclidean_ ? system.pattern(Q::constraint_y)
                              : row_range(system.pattern(Q::constraint_rate_z), 0, system.ng()),
                   euclidean_),
        b_(at(system.ng())) {}

  // from y
  bool find(const Values& y0, Values& y) {
    Values tangent, next_tangent, next;
    if (!descend(y) || !towards(y0, y, tangent)) return false;
    double length = 1;
    for (int k = 0; k < 200 && biggest(tangent) > 1e-13 * biggest(y); ++k) {
      bool moved = false;
      for (int attempt = 0; attempt < 8 && !moved; ++attempt, length /= moved ? 1 : 4) {
        next = y;
        for (std::size_t a = 0; a < y.size(); ++a) next[a] += length * tangent[a];
        moved = descend(next) && towards(y0, next, next_tangent) && biggest(next_tangent) <= 3 * biggest(tangent);
      }
      if (!moved) break;  // as near as it gets
      double rise = 0, square = 0;
      for (std::size_t a = 0; a < y.size(); ++a) {
        const double d = tangent[a] - next_tangent[a];
        rise += (next[a] - y[a]) * d;
        square += d * d;
      }
      length = rise > 0 ? std::clamp(rise / square, 0.01, 100.0) : 1.0;
      std::swap(y, next);
      std::swap(tangent, next_tangent);
    }
    return true;
  }

 private:
  // y <- y + the least change that makes the linearised g zero, until g = 0; shorter where |g| would not become smaller
  bool descend(Values& y) {
    Values step, next;
    return solved_by_newton(Settling(newton_policy::start_position), [&]() -> Increment {
      if (!prepare(y)) return no_increment;
      for (std::size_t a = 0; a < b_.size(); ++a) b_[a] = -(*e_)[Q::constraint][a];
      least(step);
      const double size = biggest(step), scale = std::max(biggest(y), 1e-300);
      if (!std::isfinite(size)) return size;
      const double g0 = length_of_constraint(y);
      const double length = damping(most_halvings, [&](double part) {
        next = y;
        for (std::size_t a = 0; a < y.size(); ++a) next[a] += part * step[a];
        return size <= 1e-10 * scale || length_of_constraint(next) <= (1 - part / 4) * g0;
      });
      if (length == 0 && g0 <= point_rounding) return already_solved;  // where y vanishes, cancellation leaves this
      if (length == 0) return no_increment;
      std::swap(y, next);
      return {size, scale};
    });
  }

  // Each constraint in units of its gradient where the step began: a factor in front of it changes nothing.
  double length_of_constraint(const Values& y) {
    residual_->at(t_, y.data(), z_.data(), psi_.data());
    const Pattern& p = system_.pattern(Q::constraint_y);
    double sum = 0;
    for (std::size_t a = 0; a < b_.size(); ++a) {
      const double gradient = biggest((*e_)[Q::constraint_y] + p.row_start[a], p.row_start[a + 1] - p.row_start[a]);
      sum = std::hypot(sum, (*residual_)[Q::constraint][a] / (gradient > 0 ? gradient : 1.0));
    }
    return sum;
  }

  // out = (y0 - y) less its part along the gradients
  bool towards(const Values& y0, const Values& y, Values& out) {
    if (!prepare(y)) return false;
    Values away(y.size()), along;
    for (std::size_t a = 0; a < y.size(); ++a) away[a] = y0[a] - y[a];
    std::fill(b_.begin(), b_.end(), 0.0);
    multiply_add(system_.pattern(Q::constraint_y), (*e_)[Q::constraint_y], away.data(), 1.0, b_.data());
    least(along);
    out.resize(y.size());
    for (std::size_t a = 0; a < y.size(); ++a) out[a] = away[a] - along[a];
    return std::isfinite(biggest(out));
  }

  bool prepare(const Values& y) {
    e_->at(t_, y.data(), z_.data(), psi_.data());
    return std::isfinite(biggest((*e_)[Q::constraint], static_cast<int>(b_.size()))) &&
           projector_.factor((*e_)[Q::momentum_z], (*e_)[Q::reaction_psi],
                             euclidean_ ? (*e_)[Q::constraint_y] : (*e_)[Q::constraint_rate_z]);
  }

  // out = the change of y of least size with G out = b
  void least(Values& out) {
    projector_.solve(b_, out);
    if (euclidean_) return;
    Values moved(at(system_.ny()), 0.0);
    multiply_add(system_.pattern(Q::velocity_z), (*e_)[Q::velocity_z], out.data(), 1.0, moved.data());
    out = std::move(moved);
  }

  const System& system_;
  double t_;
  const Values &z_, &psi_;
  bool euclidean_;
  std::unique_ptr<Evaluation> e_, residual_;
  Projector projector_;
  Values b_;
};

}  // namespace

bool find_nearest(const System& system, double t, const Values& z, const Values& psi, const Values& given, Values& y) {
  return NearestPoint(system, t, z, psi).find(given, y);
}

bool project_velocity(const System& system, double t, const Values& y, Values& z, const Values& psi) {
  const bool euclidean = !system.structure().has_mass_metric;
  const auto e = system.evaluation({Q::constraint_rate, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  Projector projector(system, system.pattern(Q::constraint_rate_z), euclidean);
  Values b(at(system.nrates())), dz(z.size(), 0.0);
  const double given = biggest(z);
  double least = INFINITY, length = 1;
  Settling rule(newton_policy::start_velocity);
  return solved_by_newton(rule, [&]() -> Increment {
    e->at(t, y.data(), z.data(), psi.data());
    for (std::size_t a = 0; a < b.size(); ++a) b[a] = -(*e)[Q::constraint_rate][a];
    const double rate = biggest(b);
    // Newton that made it worse goes back half of its way
    if (rule.count() > 0 && !(rate <= 2 * least) && length > 1e-6) {
      length /= 2;
      for (std::size_t a = 0; a < z.size(); ++a) z[a] -= length * dz[a];
      return shortened;
    }
    if (!std::isfinite(rate)) return rate;
    length = 1;
    least = std::min(least, rate);
    if (!projector.factor((*e)[Q::momentum_z], (*e)[Q::reaction_psi], (*e)[Q::constraint_rate_z])) return no_increment;
    projector.solve(b, dz);
    for (std::size_t a = 0; a < z.size(); ++a) z[a] += dz[a];
    if (rule.count() > 1 && biggest(dz) <= point_rounding) return already_solved;
    return {biggest(dz), std::max({biggest(z), given, 1e-300})};
  });
}

}  // namespace hinge
