// A consistent start for  y' = v, d/dt p = f + r, 0 = g, 0 = g_t + g_y v.
//
// Position: the nearest point of {g = 0} in the mass metric,  min (y - y0)^T M (y - y0) / 2,  where
//   y - y0 = v_z p_z^-1 r_psi lambda  and  g(y) = 0   (r_psi = -G^T for ideal constraints).
// Velocity: z <- z + p_z^-1 r_psi mu  with  g_t + G v(z) = 0: the impulse that the constraints themselves can give.
// Velocity constraints w(t, y, z) = 0 stand below g_t + G v in all that follows.
// Multipliers: from the acceleration level,
//   0 = d/dt (g_t + G v) = rate_t + rate_y v + rate_z z',   p_z z' = f + r(psi) - p_y v - p_t.
// In an ODAE there is no mass metric; there positions and velocities are projected in the Euclidean one.
#pragma once

#include <string>
#include <vector>

#include "formulation/fewer_rows.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// What is wrong with given values, and the nearest right ones.
struct StartCheck {
  struct Violation {
    int constraint;  ///< row of the level
    bool velocity_level;
    double amount;
  };
  std::vector<Violation> violations;  ///< beyond the tolerance, position level first, largest first
  bool position_found = true, velocity_found = true;
  RowChoice rows;  ///< the constraints it was found with; the others follow from these
  State nearest;   ///< consistent values; the given ones up to round-off where nothing is violated
};

/// The rest of the work is refused (RedundantConstraints, SingularMass) where constraints are dependent at this
/// position only or contradict each other, or the mass is singular on the constraint tangent.
StartCheck check_start(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z,
                       const std::vector<double>& psi_guess);

/// The state to start from. Throws InconsistentStart with names, levels, amounts and the nearest values when the
/// values are inconsistent and `mode` is check.
/// `remarks` get what was changed, and for a DAE what was computed or free.
State consistent_start(const System& system, double t, const Start& start, std::vector<std::string>* remarks = nullptr);

/// The nearest consistent state at time t, with multipliers near those that are given. Not of a DAE, in which it
/// matters which values are kept.
State consistent_state(const System& system, double t, const State& near);

}  // namespace hinge
