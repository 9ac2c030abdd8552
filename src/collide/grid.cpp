#include "collide/grid.hpp"

#include <algorithm>
#include <cmath>

#include "solve/parallel.hpp"

namespace hinge::contact {

std::array<int, 3> Grid::cell_of(const Ball& ball) const {
  const auto along = [&](double x, int axis) {
    const int n = n_[static_cast<std::size_t>(axis)];
    const double c = std::floor((x - origin_[axis]) / width_);
    if (c >= 0 && c < n) return static_cast<int>(c);
    return std::clamp(static_cast<int>(c - n * std::floor(c / n)), 0, n - 1);
  };
  return {along(ball.x, 0), along(ball.y, 1), n_[2] == 1 ? 0 : along(ball.z, 2)};
}

void Grid::build(const std::vector<Ball>& balls, double reach, int dimension) {
  Eigen::Vector3d low = Eigen::Vector3d::Constant(1e300), high = -low;
  for (const Ball& ball : balls) {
    const Eigen::Vector3d x(ball.x, ball.y, ball.z);
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  origin_ = low;
  width_ = reach * (1 + 1e-6);  // rounding must not put neighbours two cells apart
  // As many cells as the balls need, one more so that opposite sides do not meet, but in all no more than about two per
  // ball: the longest side gives way.
  std::array<double, 3> sides{3, 3, dimension == 2 ? 1.0 : 3.0};
  for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
    const auto axis = static_cast<Eigen::Index>(k);
    sides[k] = std::max(3.0, std::min(1e9, std::floor((high[axis] - low[axis]) / width_) + 2));
  }
  const double most = std::max(64.0, 2.0 * static_cast<double>(balls.size()));
  while (sides[0] * sides[1] * sides[2] > most) {
    double& longest = *std::max_element(sides.begin(), sides.end());
    if (longest <= 3) break;
    longest = std::max(3.0, std::floor(longest / 2));
  }
  for (std::size_t k = 0; k < 3; ++k) n_[k] = static_cast<int>(sides[k]);

  const auto cells =
      static_cast<std::size_t>(n_[0]) * static_cast<std::size_t>(n_[1]) * static_cast<std::size_t>(n_[2]);
  start_.assign(cells + 1, 0);
  cell_.resize(balls.size());
  sorted_.resize(balls.size());
  shared_loop(static_cast<int>(balls.size()), [&](int i) {
    const auto [x, y, z] = cell_of(balls[static_cast<std::size_t>(i)]);
    cell_[static_cast<std::size_t>(i)] = (z * n_[1] + y) * n_[0] + x;
  });
  for (const int cell : cell_) ++start_[static_cast<std::size_t>(cell) + 1];
  for (std::size_t c = 0; c < cells; ++c) start_[c + 1] += start_[c];
  // Backwards, so that start_[c + 1], counted down, ends as the start of cell c and balls keep their order.
  for (std::size_t i = balls.size(); i-- > 0;)
    sorted_[static_cast<std::size_t>(--start_[static_cast<std::size_t>(cell_[i]) + 1])] = balls[i];
  for (std::size_t c = 0; c < cells; ++c) start_[c] = start_[c + 1];
  start_[cells] = static_cast<int>(balls.size());
}

}  // namespace hinge::contact
