// An integrator that shares nothing with the library: Gragg's rule with extrapolation, in long double, of order 16.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace hinge::test {

using Numbers = std::vector<long double>;
using RightSide = std::function<Numbers(long double t, const Numbers& x)>;

/// x(t) of x' = f(t, x), for times in increasing order; what was computed is kept.
class Reference {
 public:
  Reference(RightSide f, long double t0, Numbers x0, long double step)
      : f_(std::move(f)), step_(step), known_{{t0, std::move(x0)}} {}

  Numbers at(long double t) {
    auto from = std::prev(known_.upper_bound(t));
    long double now = from->first;
    Numbers x = from->second;
    while (now < t) {
      const long double h = std::min(step_, t - now);
      x = advanced(now, x, h);
      now = h < step_ ? t : now + h;
      if (h == step_) known_[now] = x;
    }
    return x;
  }

 private:
  static Numbers sum(const Numbers& a, long double h, const Numbers& b) {
    Numbers c = a;
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += h * b[i];
    return c;
  }
  // the smoothed midpoint rule with n substeps: an expansion in even powers of h/n
  Numbers midpoint(long double t, const Numbers& x, long double h, int n) const {
    const long double s = h / n;
    Numbers last = x, now = sum(x, s, f_(t, x));
    for (int k = 1; k < n; ++k) {
      Numbers next = sum(last, 2 * s, f_(t + k * s, now));
      last = std::move(now);
      now = std::move(next);
    }
    Numbers end = sum(last, s, f_(t + h, now));
    for (std::size_t i = 0; i < end.size(); ++i) end[i] = (end[i] + now[i]) / 2;
    return end;
  }
  Numbers advanced(long double t, const Numbers& x, long double h) const {
    constexpr int levels = 8;
    std::vector<Numbers> row;
    for (int k = 0; k < levels; ++k) {
      row.push_back(midpoint(t, x, h, 2 * (k + 1)));
      for (int j = k - 1; j >= 0; --j) {
        const long double ratio = static_cast<long double>(k + 1) / (j + 1);
        const Numbers& high = row[static_cast<std::size_t>(j) + 1];
        Numbers& low = row[static_cast<std::size_t>(j)];
        for (std::size_t i = 0; i < x.size(); ++i) low[i] = high[i] + (high[i] - low[i]) / (ratio * ratio - 1);
      }
    }
    return row[0];
  }

  RightSide f_;
  long double step_;
  std::map<long double, Numbers> known_;
};

}  // namespace hinge::test
