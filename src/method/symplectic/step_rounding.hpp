// How small increments of a step can become before rounding rules them.
//
// Increments are judged by what they do to positions and velocities, which does not depend on units of mass or on how
// constraints are scaled: y to eps |y|, velocities inside the step to eps (|v| + |y|/h), because g(y1)/h^2 determines
// the multipliers, velocities at the end to eps |v|. What a force does within the step counts as well, so that a system
// at rest has a scale. Components of z that no velocity sees are judged by themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "hinge/system.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

struct StepRounding {
  double y = 1, v = 1, z = 1, end_v = 1, end_z = 1;

  StepRounding() = default;
  /// From the sizes of y, v, z, h v_z p_z^-1 f and v_z.
  StepRounding(double position, double velocity, double momentum, double kick, double v_z, double h, int constraints) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon(), tiny = 1e-200;
    const double size_h = std::abs(h), speed = velocity + (std::isfinite(kick) ? kick : 0);
    const double reach = std::max(position, size_h * speed) * rounding_growth(constraints);
    const double p = momentum + (v_z > 0 ? speed / v_z : 0);
    y = epsilon * std::max(reach, tiny);
    v = epsilon * std::max(speed + reach / size_h, tiny);
    z = epsilon * std::max(p + (v_z > 0 ? reach / size_h / v_z : 0), tiny);
    end_v = 2 * epsilon * std::max(speed, tiny);
    end_z = 2 * epsilon * std::max(p, tiny);
  }
  /// From rest, by what vanishes there, nothing says at first how fast things are; what the step has come to does.
  void raise(double velocity, double momentum, double h) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    if (!std::isfinite(velocity) || !std::isfinite(momentum)) return;
    y = std::max(y, epsilon * std::abs(h) * velocity);
    v = std::max(v, 2 * epsilon * velocity);
    z = std::max(z, 2 * epsilon * momentum);
    end_v = std::max(end_v, 2 * epsilon * velocity);
    end_z = std::max(end_z, 2 * epsilon * momentum);
  }
};

/// |v_z dz|; `work` is as long as y.
inline double size_in_velocities(const System& system, const std::vector<double>& v_z, const double* dz,
                                 std::vector<double>& work) {
  if (system.structure().velocity_is_z) return biggest(dz, system.nz());
  std::fill(work.begin(), work.end(), 0.0);
  multiply_add(system.pattern(Quantity::velocity_z), v_z.data(), dz, 1.0, work.data());
  return biggest(work.data(), system.ny());
}

/// Of a step from a state, by the functions `at_start` of it and the mass p_z.
inline StepRounding rounding_of_step(const System& system, const State& state, const Evaluation& at_start,
                                     const Evaluation& mass_there, const std::vector<double>& v_z, double h) {
  using Q = Quantity;
  const double mass = biggest(mass_there[Q::momentum_z], static_cast<int>(system.pattern(Q::momentum_z).entries()));
  const double vz = biggest(v_z.data(), static_cast<int>(v_z.size()));
  const double kick = mass > 0 ? std::abs(h) * biggest(at_start[Q::force], system.nz()) * vz / mass : 0;
  return {biggest(state.y.data(), system.ny()),
          biggest(at_start[Q::velocity], system.ny()),
          biggest(state.z.data(), system.nz()),
          kick,
          vz,
          h,
          system.npsi()};
}

}  // namespace hinge
