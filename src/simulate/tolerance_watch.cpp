#include "simulate/tolerance_watch.hpp"

#include <algorithm>
#include <cmath>

#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {
constexpr double below = 100, above = 1e4;  // times the absolute tolerance
constexpr double much = 20;                 // growth of a motion that began below
constexpr double of_rounding = 1e-14;       // of the other numbers; alone: of 1, as in sin(pi)
}  // namespace

double ToleranceWatch::largest(const State& s) const {
  const double y = biggest(s.y);
  return dae_ ? y : std::max(y, biggest(s.z));
}

void ToleranceWatch::begin(const System& system, const Tolerance& tolerance, const State& start) {
  *this = ToleranceWatch();
  const Structure& has = system.structure();
  active_ = tolerance.given() && tolerance.absolute > 0 && !has.has_contacts && !has.has_noise && has.pairs == 0;
  if (!active_) return;
  dae_ = has.is_dae;
  tolerance_ = tolerance.absolute;
  const double size = largest(start);
  low_ = size > of_rounding && size < below * tolerance_;
  began_low_ = low_;
  lowest_ = highest_ = size;
  size_ = biggest(start.y.data(), static_cast<int>(start.y.size()));
  if (low_ || dae_) return;
  for (std::size_t i = 0; i < start.y.size(); ++i)
    if (const double x = std::abs(start.y[i]); x > of_rounding * size && x < below * tolerance_)
      seeds_.push_back(i), lowest_ = std::min(lowest_, x);
}

void ToleranceWatch::see(const State& s) {
  if (!active_) return;
  const double y = biggest(s.y), size = dae_ ? y : std::max(y, biggest(s.z));
  size_ = std::max(size_, y);
  highest_ = std::max(highest_, size);
  if (highest_ > above / below * size && !low_ && size > of_rounding && size < below * tolerance_)
    low_ = true, lowest_ = size;
  if (low_) lowest_ = std::min(lowest_, size);
  if (low_ && size > much * lowest_ && size > 1e-4 * tolerance_) suspect_ = true, low_ = began_low_ = false;
  for (const std::size_t i : seeds_) suspect_ = suspect_ || std::abs(s.y[i]) > above * tolerance_;
}

}  // namespace hinge
