// What benchmarks of work against error have in common: the motion of a pendulum and of a double pendulum to all
// digits, and the time that a method takes for an error, from runs with other errors.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <vector>

namespace bench {

using Angles = std::array<long double, 4>;
inline constexpr double pendulum_gravity = 9.81, pendulum_end = 10;

inline Angles rates_of_one(const Angles& x) {
  return {x[2], 0, -static_cast<long double>(pendulum_gravity) * std::sin(x[0]), 0};
}

//   2 a'' + cos(a-b) b'' = -sin(a-b) b'^2 - 2 gravity sin a,   cos(a-b) a'' + b'' = sin(a-b) a'^2 - gravity sin b
inline Angles rates_of_two(const Angles& x) {
  const long double s = std::sin(x[0] - x[1]), c = std::cos(x[0] - x[1]), g = pendulum_gravity;
  const long double first = -s * x[3] * x[3] - 2 * g * std::sin(x[0]);
  const long double second = s * x[2] * x[2] - g * std::sin(x[1]);
  const long double determinant = 2 - c * c;
  return {x[2], x[3], (first - c * second) / determinant, (2 * second - c * first) / determinant};
}

inline Angles runge_kutta(Angles (*rates)(const Angles&), int steps) {
  const long double h = static_cast<long double>(pendulum_end) / steps;
  const auto shifted = [](Angles x, long double by, const Angles& k) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * k[i];
    return x;
  };
  constexpr long double horizontal = std::numbers::pi_v<long double> / 2;
  Angles x{horizontal, horizontal, 0, 0};
  for (int n = 0; n < steps; ++n) {
    const Angles k1 = rates(x), k2 = rates(shifted(x, h / 2, k1)), k3 = rates(shifted(x, h / 2, k2));
    const Angles k4 = rates(shifted(x, h, k3));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
  }
  return x;
}

/// Positions and velocities at the end of one or two rods of length 1, from rest in the horizontal: the equations in
/// angles, by an extrapolated Runge-Kutta method in long double.
inline std::vector<double> pendulum_solution(std::size_t points, std::size_t dimension) {
  Angles (*rates)(const Angles&) = points == 1 ? rates_of_one : rates_of_two;
  const Angles coarse = runge_kutta(rates, 40'000), fine = runge_kutta(rates, 80'000);
  Angles best = fine;
  for (std::size_t i = 0; i < best.size(); ++i) best[i] += (fine[i] - coarse[i]) / 15;
  const std::size_t n = points * dimension;
  std::vector<double> solution(2 * n);
  long double x = 0, y = 0, vx = 0, vy = 0;
  for (std::size_t k = 0; k < points; ++k) {
    const std::size_t first = k * dimension;
    const long double angle = best[k], rate = best[2 + k];
    solution[first] = static_cast<double>(x += std::sin(angle));
    solution[first + 1] = static_cast<double>(y -= std::cos(angle));
    solution[n + first] = static_cast<double>(vx += std::cos(angle) * rate);
    solution[n + first + 1] = static_cast<double>(vy += std::sin(angle) * rate);
  }
  return solution;
}

/// Relative where numbers are larger than 1.
inline double distance(const std::vector<double>& exact, const double* x) {
  double largest = 0;
  for (std::size_t k = 0; k < exact.size(); ++k)
    largest = std::max(largest, std::abs(exact[k] - x[k]) / std::max(1.0, std::abs(exact[k])));
  return largest;
}

struct Cost {
  double ms;
  bool at_most;  // even the crudest run was better than asked for
};

/// Time at a given error: interpolated, log against log, on the front of a method's runs that no other run of it beats.
/// A Row has ms and error.
template <class Row>
std::optional<Cost> cost_at(double error, std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.ms < b.ms; });
  const Row* previous = nullptr;
  for (const Row& row : rows) {
    if (previous && row.error >= previous->error) continue;
    if (row.error <= error) {
      if (!previous) return Cost{row.ms, true};
      const double part = std::log(error / previous->error) / std::log(row.error / previous->error);
      return Cost{previous->ms * std::pow(row.ms / previous->ms, part), false};
    }
    previous = &row;
  }
  return std::nullopt;
}

}  // namespace bench
