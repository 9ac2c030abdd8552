// Two numbers of a vector at once, as the smallest registers have them. Vectors are padded to whole pairs with zeros.
#pragma once

#include <cstddef>
#include <vector>

namespace hinge {

using TwoNumbers [[gnu::vector_size(16)]] = double;
constexpr std::size_t at_once = 2;

inline TwoNumbers two_of(const std::vector<double>& from, std::size_t i) {
  TwoNumbers x;
  __builtin_memcpy(&x, from.data() + i, sizeof x);
  return x;
}
inline void keep(const TwoNumbers& x, std::vector<double>& to, std::size_t i) {
  __builtin_memcpy(to.data() + i, &x, sizeof x);
}

}  // namespace hinge
