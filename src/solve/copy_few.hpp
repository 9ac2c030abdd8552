// Copies of the few numbers of a mechanism, at every step: a loop, where a call would take longer.
#pragma once

#include <algorithm>
#include <vector>

namespace hinge {

/// Number by number: what has just been written so would be slow to read in pairs.
inline void copy_few(const double* from, int n, double* to) {
  if (n > 64) return void(std::copy_n(from, n, to));
  for (volatile double* next = to; n > 0; --n) *next++ = *from++;
}

inline void copy_few(const std::vector<double>& from, std::vector<double>& to) {
  if (from.size() != to.size())
    to = from;
  else
    copy_few(from.data(), static_cast<int>(from.size()), to.data());
}

}  // namespace hinge
