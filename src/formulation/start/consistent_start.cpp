#include "formulation/start/consistent_start.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/integrability.hpp"
#include "formulation/start/closing.hpp"
#include "formulation/start/contact_start.hpp"
#include "formulation/start/dae_start.hpp"
#include "formulation/start/nearest_point.hpp"
#include "formulation/start/pair_start.hpp"
#include "formulation/start/redundancy.hpp"
#include "formulation/start/settled_bodies.hpp"
#include "formulation/start/start_refusals.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Values = std::vector<double>;

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

namespace {

// The nearest position, from the given one; where that leads nowhere, from one that least squares have found.
bool find_position(const System& system, double t, const Values& z, const Values& psi, const Values& closed,
                   Values& y) {
  const Values given = y;
  // where constraints contradict each other a coordinate may run away, beside which all the rest is nothing
  const auto nearest = [&] { return find_nearest(system, t, z, psi, given, y) && position_holds(system, t, y); };
  if (closed.empty() && nearest()) return true;
  Closing closing;
  if (closed.empty()) closing = close_constraints(system, t, given, z);
  if (closed.empty() && !closing.closed) return false;
  y = closed.empty() ? closing.y : closed;
  return nearest();
}

// Of constraints that are independent. `closed`: a position where they hold, or nothing.
StartCheck check_independent(const System& system, double t, const Values& y, const Values& z, const Values& psi_guess,
                             const Values& closed) {
  StartCheck check;
  check.nearest = {t, y, z, psi_guess};
  State& s = check.nearest;
  if (s.psi.empty()) s.psi.assign(at(system.npsi()), 1.0);
  refuse_singular_mass(system, t, closed.empty() ? y : closed, z, s.psi);
  if (system.nrates() > 0) {
    check.violations = violations(system, t, y, z);
    check.position_found = system.ng() == 0 || find_position(system, t, z, s.psi, closed, s.y);
    check.velocity_found = check.position_found && project_velocity(system, t, s.y, s.z, s.psi);
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

std::shared_ptr<const System> kept_rows(const System& system, const RowChoice& rows) {
  return with_fewer_rows(std::shared_ptr<const System>(std::shared_ptr<const System>(), &system), rows);
}

// The multipliers of all rows.
void expand_multipliers(const System& system, const RowChoice& rows, State& s) {
  MultiplierSpread spread(system, rows);
  spread.at(s.t, s.y.data(), s.z.data());
  const Values kept = s.psi;
  s.psi.resize(at(system.npsi()));
  spread.expand(kept, s.psi);
}

}  // namespace

StartCheck check_start(const System& system, double t, const Values& y, const Values& z, const Values& psi_guess) {
  refuse_undefined(system, t, y, z, psi_guess.empty() ? Values(at(system.npsi()), 1.0) : psi_guess);
  Values closed;
  const RowChoice rows = independent_rows(system, t, y, z, &closed);
  if (!rows.redundant()) return check_independent(system, t, y, z, psi_guess, closed);
  const auto part = kept_rows(system, rows);
  Values guess;
  if (!psi_guess.empty()) pick(psi_guess, rows.multipliers, guess);
  StartCheck check = check_independent(*part, t, y, z, guess, closed);
  if (check.position_found && !position_holds(system, t, check.nearest.y)) {
    // the nearest point of the kept rows is one of another assembly
    check = check_independent(*part, t, closed, z, guess, closed);
    check.position_found = check.position_found && position_holds(system, t, check.nearest.y);
  }
  check.violations = violations(system, t, y, z);
  if (check.position_found && check.velocity_found) expand_multipliers(system, rows, check.nearest);
  check.rows = rows;
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

  Values y = start.position;
  const Values given_z = z;
  const bool some_fixed = std::find(start.fixed.begin(), start.fixed.end(), 1) != start.fixed.end();
  const bool some_open = std::find(start.given.begin(), start.given.end(), 0) != start.given.end();
  if (system.nrates() > 0 && start.consistent == Consistency::project && (some_fixed || some_open)) {
    const std::vector<char> fixed = some_fixed ? columns_of(system, start.fixed) : std::vector<char>{};
    if (system.ng() > 0) {
      Closing closing = assemble(system, t, y, z, start.given, fixed);
      if (!closing.closed) refuse_assembly(system, closing, some_fixed);
      y = std::move(closing.y);
    }
    if (some_fixed && !close_velocities(system, t, y, z, fixed))
      throw InconsistentStart(
          "no velocities were found that all constraints allow, with those of the fixed coordinates as given; give "
          "other "
          "velocities there, or fix fewer coordinates");
  }
  // A row of a record: all is fixed, and what it penetrates by is a part of it.
  const bool held = start.consistent == Consistency::check && !start.fixed.empty() &&
                    std::find(start.fixed.begin(), start.fixed.end(), 0) == start.fixed.end();
  StartCheck check = check_start(system, t, y, z, start.multiplier);
  const bool found = check.position_found && check.velocity_found;
  if (found && (check.violations.empty() || start.consistent == Consistency::project)) {
    State state = std::move(check.nearest);
    if (!held && check.rows.redundant() && system.structure().has_contacts) {
      const auto part = kept_rows(system, check.rows);
      const Values psi = std::move(state.psi);
      pick(psi, check.rows.multipliers, state.psi);
      state = start_without_penetration(*part, start.consistent, std::move(state));
      state.psi = psi;
    } else if (!held) {
      state = start_without_penetration(system, start.consistent, std::move(state));
    }
    if (system.ng() > 0 && system.structure().has_contacts && !position_holds(system, t, state.y))
      refuse_unclosed(system, t, state);
    if (state.y != start.position) settle_bodies(system, start.position, state.y);
    if (remarks && check.rows.redundant())
      remarks->push_back(describe_redundancy(system, check.rows, t, state.y.data()));
    if (const std::string moved = moved_values(system.layout(), {t, start.position, given_z, {}}, state);
        remarks && !moved.empty())
      remarks->push_back("initial values changed: " + moved);
    if (remarks && system.nw() > 0)
      if (std::string said = integrable_rates(system, t, state.y).text(system.layout()); !said.empty())
        remarks->push_back("velocity constraints are " + said);
    return state;
  }

  refuse_inconsistent(system, start, check);
}

State consistent_state(const System& system, double t, const State& near) {
  Start start;
  start.consistent = Consistency::project;
  start.position = near.y;
  start.multiplier = near.psi;
  (system.structure().z_is_momentum ? start.momentum : start.velocity) = near.z;
  return consistent_start(system, t, start);
}

}  // namespace hinge
