// The nearest position and velocity on independent constraints, in the mass metric.
#pragma once

#include <vector>

#include "hinge/system.hpp"

namespace hinge {

/// y <- the position with g = 0 that is nearest to `given`, searched for from y.
bool find_nearest(const System& system, double t, const std::vector<double>& z, const std::vector<double>& psi,
                  const std::vector<double>& given, std::vector<double>& y);

/// z <- the nearest velocity with g_t + G v = 0.
bool project_velocity(const System& system, double t, const std::vector<double>& y, std::vector<double>& z,
                      const std::vector<double>& psi);

}  // namespace hinge
