#pragma once

namespace hinge {

/// Of numbers that somebody has typed, relative.
inline constexpr double typed_precision = 1e-9;

}  // namespace hinge
