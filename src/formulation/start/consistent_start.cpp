#include "formulation/start/consistent_start.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/acceleration.hpp"
#include "formulation/integrability.hpp"
#include "formulation/start/contact_start.hpp"
#include "formulation/start/dae_start.hpp"
#include "formulation/start/pair_start.hpp"
#include "formulation/start/start_refusals.hpp"
#include "hinge/error.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/linear/saddle_kernel.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Values = std::vector<double>;

// Increments along the normals are not shortened further than this.
constexpr int most_halvings = 15;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Solves  min |dx|^2 subject to C dx = b  in the mass metric (dx = A^-1 B mu) or the Euclidean one (dx = C^T mu).
class Projector {
 public:
  Projector(const System& system, const Pattern& c, bool euclidean)
      : ideal_(euclidean || system.structure().reaction_is_ideal),
        n_(at(c.columns)),
        ones_(euclidean ? n_ : 0, 1.0),
        kernel_(euclidean ? SaddleKernel(identity_pattern(c.columns), c, true, LinearAlgebra::automatic)
                : c.rows < system.nrates()  // without velocity constraints, whose reactions are ideal
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

  bool find(Values& y) {
    const Values y0 = y;
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
    return {biggest(dz), std::max({biggest(z), given, 1e-300})};
  });
}

// Newton for (z', psi) of the acceleration level; one iteration when the reaction is affine in psi.
bool solve_multipliers(const System& system, double t, const Values& y, const Values& z, Values& psi) {
  const auto e = system.evaluation({Q::velocity, Q::force, Q::reaction, Q::momentum_y, Q::momentum_z, Q::momentum_t,
                                    Q::reaction_psi, Q::constraint_rate_y, Q::constraint_rate_z, Q::constraint_rate_t});
  SaddlePoint saddle(system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi),
                     system.pattern(Q::constraint_rate_z), LinearAlgebra::automatic);
  const std::size_t nz = at(system.nz()), m = at(system.npsi());
  const double one = 1;
  Values acceleration(nz, 0.0), x(nz + m);
  double scale = 0;
  return solved_by_newton(Settling(newton_policy::start_multipliers), [&]() -> Increment {
    e->at(t, y.data(), z.data(), psi.data());
    if (!saddle.factor((*e)[Q::momentum_z], (*e)[Q::reaction_psi], 1.0, (*e)[Q::constraint_rate_z]))
      return no_increment;
    for (std::size_t a = 0; a < nz; ++a) x[a] = (*e)[Q::force][a] + (*e)[Q::reaction][a];
    multiply_add(system.pattern(Q::momentum_z), (*e)[Q::momentum_z], acceleration.data(), -1, x.data());
    multiply_add(system.pattern(Q::momentum_y), (*e)[Q::momentum_y], (*e)[Q::velocity], -1, x.data());
    multiply_add(system.pattern(Q::momentum_t), (*e)[Q::momentum_t], &one, -1, x.data());
    std::fill_n(x.data() + nz, m, 0.0);
    multiply_add(system.pattern(Q::constraint_rate_t), (*e)[Q::constraint_rate_t], &one, -1, x.data() + nz);
    multiply_add(system.pattern(Q::constraint_rate_y), (*e)[Q::constraint_rate_y], (*e)[Q::velocity], -1,
                 x.data() + nz);
    multiply_add(system.pattern(Q::constraint_rate_z), (*e)[Q::constraint_rate_z], acceleration.data(), -1,
                 x.data() + nz);
    saddle.solve(x.data());
    for (std::size_t a = 0; a < nz; ++a) acceleration[a] += x[a];
    for (std::size_t a = 0; a < m; ++a) psi[a] += x[nz + a];
    scale = std::max({scale, biggest(psi), biggest(acceleration), biggest(x)});  // also where the solution is zero
    return {biggest(x), scale};
  });
}

// Dense Newton  function(t, y, z) = wanted  for z.
Values invert(const System& system, double t, const Values& y, const Values& wanted, Quantity function, Quantity by_z,
              const char* what) {
  const auto e = system.evaluation({function, by_z});
  const auto solver = make_linear_solver(system.pattern(by_z), LinearAlgebra::automatic);
  Values z = wanted, r(wanted.size());
  const Values psi(at(std::max(system.npsi(), 1)), 0.0);
  const bool solved = solved_by_newton(Settling(newton_policy::start_inverse), [&]() -> Increment {
    e->at(t, y.data(), z.data(), psi.data());
    for (std::size_t a = 0; a < r.size(); ++a) r[a] = wanted[a] - (*e)[function][a];
    if (!solver->factor((*e)[by_z])) return no_increment;
    solver->solve(r.data());
    for (std::size_t a = 0; a < r.size(); ++a) z[a] += r[a];
    return {biggest(r), biggest(z)};
  });
  if (solved) return z;
  throw InputError(
      fmt::format("the initial {0} does not determine the {1}: the relation between velocity and momentum has no "
                  "unique solution at the initial position; give the initial {1} instead, or the motion "
                  "without inertia a mass",
                  what, function == Q::velocity ? "momentum" : "velocity"));
}

}  // namespace

StartCheck check_start(const System& system, double t, const Values& y, const Values& z, const Values& psi_guess) {
  StartCheck check;
  check.nearest = {t, y, z, psi_guess};
  State& s = check.nearest;
  const Values ones(at(system.npsi()), 1.0);
  if (s.psi.empty()) s.psi = ones;
  refuse_undefined(system, t, y, z, s.psi);
  if (system.nrates() > 0) {
    refuse_redundant(system, t, y, z);
    refuse_singular_mass(system, t, y, z, s.psi);
    check.violations = violations(system, t, y, z);
    check.position_found = system.ng() == 0 || NearestPoint(system, t, z, s.psi).find(s.y);
    check.velocity_found = check.position_found && project_velocity(system, t, s.y, s.z, s.psi);
  } else {
    refuse_singular_mass(system, t, y, z, s.psi);
  }
  if (!check.position_found || !check.velocity_found) return check;
  // A reaction nonlinear in psi may have several consistent multipliers; the guess decides, else the first found.
  bool found = solve_multipliers(system, t, s.y, s.z, s.psi);
  for (const double guess : {0.1, 10.0, -1.0, 0.0, 100.0}) {
    if (found) break;
    s.psi.assign(at(system.npsi()), guess);
    found = solve_multipliers(system, t, s.y, s.z, s.psi);
  }
  if (!found)
    throw InputError(
        "no initial multipliers were found: the equations of the acceleration level have no solution near the usual "
        "guesses; give one in [initial] (psi = [...])");
  return check;
}

State consistent_start(const System& system, double t, const Start& start, std::vector<std::string>* remarks) {
  if (system.structure().is_dae) {
    const SymbolicSystem* dae = symbolic_part(system);
    if (!dae) throw InputError("F(t, x, x') = 0 is given by expressions; a system made of functions cannot be a DAE");
    return dae->equations().pairs.empty() ? consistent_dae_start(*dae, t, start, remarks)
                                          : consistent_pair_start(*dae, t, start, remarks);
  }
  const auto expect = [&](const Values& x, int n, const char* what) {
    if (static_cast<int>(x.size()) != n)
      throw InputError(fmt::format("the initial {} has {} numbers; the system has {}", what, x.size(), n));
    for (const double v : x)
      if (!std::isfinite(v)) throw InputError(fmt::format("the initial {} contains a number that is not finite", what));
  };
  expect(start.position, system.ny(), "position");
  if (!start.velocity.empty() && !start.momentum.empty())
    throw InputError("give the initial velocity or the initial momentum, not both");
  Values z(at(system.nz()), 0.0);
  const SystemKind kind = system.layout().kind;
  const bool own_words = kind == SystemKind::odae || kind == SystemKind::own || kind == SystemKind::multibody;
  const bool hamiltonian = system.structure().z_is_momentum;
  if (!start.velocity.empty()) {
    expect(start.velocity, own_words ? system.nz() : system.ny(), "velocity");
    z = hamiltonian ? invert(system, t, start.position, start.velocity, Q::velocity, Q::velocity_z, "velocity")
                    : start.velocity;
  } else if (!start.momentum.empty()) {
    expect(start.momentum, system.nz(), "momentum");
    z = hamiltonian ? start.momentum
                    : invert(system, t, start.position, start.momentum, Q::momentum, Q::momentum_z, "momentum");
  } else if (hamiltonian) {
    z = invert(system, t, start.position, Values(at(system.ny()), 0.0), Q::velocity, Q::velocity_z, "velocity");
  }
  if (!start.multiplier.empty()) expect(start.multiplier, system.npsi(), "multiplier");

  StartCheck check = check_start(system, t, start.position, z, start.multiplier);
  const bool found = check.position_found && check.velocity_found;
  if (found && (check.violations.empty() || start.consistent == Consistency::project)) {
    State state = start_without_penetration(system, start.consistent, std::move(check.nearest));
    if (const std::string moved = moved_values(system.layout(), {t, start.position, z, {}}, state);
        remarks && !moved.empty())
      remarks->push_back("initial values changed: " + moved);
    if (remarks && system.nw() > 0)
      if (std::string said = integrable_rates(system, t, state.y).text(system.layout()); !said.empty())
        remarks->push_back("velocity constraints are " + said);
    return state;
  }

  refuse_inconsistent(system, start, check);
}

}  // namespace hinge
