#pragma once

#include <limits>

namespace hinge {

inline constexpr double epsilon = std::numeric_limits<double>::epsilon();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace hinge
