// How much of a rebound may be taken where restitution and friction together would create energy.
#pragma once

#include <optional>

namespace hinge {

/// The largest part, to 1e-6, that creates no energy: gain(part), which is nothing where it cannot be computed, is not
/// positive there. `whole` is gain(1), positive. Regula falsi (Illinois), since the gain is nearly quadratic and often
/// positive by a hair only.
template <class Gain>
std::optional<double> largest_rebound(double whole, const Gain& gain) {
  constexpr double enough = 1e-6;
  constexpr int most = 30;
  double low = 0, high = 1, above = whole;
  std::optional<double> below = gain(0.0);
  if (!below || !(*below < 0)) return below ? std::optional(0.0) : std::nullopt;
  for (int k = 0, side = 0; k < most && high - low > enough; ++k) {
    const double part = high - above * (high - low) / (above - *below);
    const std::optional<double> now = gain(part);
    if (!now) return std::nullopt;
    if (*now > 0) {
      high = part;
      above = *now;
      if (side == 1) *below /= 2;
      side = 1;
    } else {
      low = part;
      below = *now;
      if (side == -1) above /= 2;
      side = -1;
      if (*now == 0) break;
    }
  }
  return low;
}

}  // namespace hinge
