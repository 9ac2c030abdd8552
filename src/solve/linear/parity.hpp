// Signs of determinants of factorised matrices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hinge {

/// 1 for an even permutation, -1 for an odd one; `visited` is work space, one for each element.
inline int parity(const int* permutation, std::vector<char>& visited) {
  std::fill(visited.begin(), visited.end(), char{0});
  int sign = 1;
  for (std::size_t start = 0; start < visited.size(); ++start) {
    std::size_t length = 0;
    for (std::size_t at = start; !visited[at]; at = static_cast<std::size_t>(permutation[at]), ++length)
      visited[at] = 1;
    if (length % 2 == 0 && length > 0) sign = -sign;  // a cycle of even length is an odd permutation
  }
  return sign;
}

inline int sign_of_product(const double* x, int n) {
  int sign = 1;
  for (int i = 0; i < n; ++i) sign = x[i] < 0 ? -sign : sign;
  return sign;
}

}  // namespace hinge
