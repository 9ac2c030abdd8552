// Numbers of models that are drawn at random, the same on every machine.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace hinge {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  double unit() { return static_cast<double>(engine_()) / 4294967296.0; }
  /// With a few decimals, so that text and number are the same.
  double number(double low, double high) { return std::round(1000 * (low + (high - low) * unit())) / 1000; }
  int integer(int low, int high) { return low + static_cast<int>(unit() * (high - low + 1)); }
  bool chance(double p) { return unit() < p; }
  /// From 10^low to 10^high.
  double power(double low, double high) { return std::pow(10.0, low + (high - low) * unit()); }
  /// "(-0.31)"
  std::string text(double low, double high) { return fmt::format("({})", number(low, high)); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(integer(0, static_cast<int>(list.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace hinge
