// Derivatives of vector functions by differences of sixth order,
//
//   f'(x) = (45 (f1 - f-1) - 9 (f2 - f-2) + (f3 - f-3)) / (60 d),  fk = f(x + k d),  d ~ eps^(1/7).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace hinge {

/// Keeps the values that it needs; allocates nothing from the second time on.
class Difference {
 public:
  /// out = f'(centre), `rows` numbers; `sample(x, out)` evaluates f.
  template <class Sample>
  void operator()(double centre, std::size_t rows, Sample&& sample, double* out) {
    // Functions are taken to vary on the scale 1 (angles, times); only very large arguments need more for rounding.
    const double d = 5e-3 * std::max(1.0, 1e-3 * std::abs(centre));
    for (int k = -3; k <= 3; ++k) {
      auto& value = values_[static_cast<std::size_t>(k + 3)];
      value.resize(std::max(value.size(), rows));
      if (k != 0) sample(centre + k * d, value.data());
    }
    const auto& f = values_;
    for (std::size_t i = 0; i < rows; ++i)
      out[i] = (45 * (f[4][i] - f[2][i]) - 9 * (f[5][i] - f[1][i]) + (f[6][i] - f[0][i])) / (60 * d);
  }

 private:
  std::array<std::vector<double>, 7> values_;
};

}  // namespace hinge
