// Heaps of particles: random numbers that are the same everywhere, and places without overlaps.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/multibody.hpp"

namespace hinge {

using Eigen::Vector3d;

std::uint64_t RandomNumbers::bits() {
  std::uint64_t x = (state_ += 0x9e3779b97f4a7c15ull);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

double RandomNumbers::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

// Marsaglia's polar method
double RandomNumbers::normal() {
  for (;;) {
    const double a = 2 * uniform() - 1, b = 2 * uniform() - 1, s = a * a + b * b;
    if (s > 0 && s < 1) return a * std::sqrt(-2 * std::log(s) / s);
  }
}

namespace {

// Cells as wide as the largest diameter: whatever touches a sphere is in its own cell or a neighbour.
class Cells {
 public:
  Cells(int dimension, const Vector3d& low, const Vector3d& high, double width, std::size_t count) : low_(low) {
    constexpr double most = 4e6;
    double cells = 1;
    for (int k = 0; k < dimension; ++k) cells *= std::max(1.0, (high(k) - low(k)) / width);
    if (cells > most) width *= std::pow(cells / most, 1.0 / dimension);
    width_ = width;
    std::size_t total = 1;
    for (int k = 0; k < 3; ++k) {
      n_[k] = k < dimension ? std::max(1, static_cast<int>((high(k) - low(k)) / width) + 1) : 1;
      total *= static_cast<std::size_t>(n_[k]);
    }
    head_.assign(total, -1);
    next_.assign(count, -1);
  }

  void add(int sphere, const Vector3d& x) {
    int c[3];
    cell(x, c);
    int& head = head_[index(c[0], c[1], c[2])];
    next_[static_cast<std::size_t>(sphere)] = head;
    head = sphere;
  }

  template <class Visit>  // returns true to stop
  bool any_near(const Vector3d& x, Visit&& visit) const {
    int c[3];
    cell(x, c);
    for (int i = std::max(c[0] - 1, 0); i <= std::min(c[0] + 1, n_[0] - 1); ++i)
      for (int j = std::max(c[1] - 1, 0); j <= std::min(c[1] + 1, n_[1] - 1); ++j)
        for (int k = std::max(c[2] - 1, 0); k <= std::min(c[2] + 1, n_[2] - 1); ++k)
          for (int s = head_[index(i, j, k)]; s >= 0; s = next_[static_cast<std::size_t>(s)])
            if (visit(s)) return true;
    return false;
  }

 private:
  void cell(const Vector3d& x, int* c) const {
    for (int k = 0; k < 3; ++k) c[k] = std::clamp(static_cast<int>((x(k) - low_(k)) / width_), 0, n_[k] - 1);
  }
  std::size_t index(int i, int j, int k) const {
    return (static_cast<std::size_t>(i) * static_cast<std::size_t>(n_[1]) + static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(n_[2]) +
           static_cast<std::size_t>(k);
  }

  Vector3d low_;
  double width_ = 1;
  int n_[3] = {1, 1, 1};
  std::vector<int> head_, next_;
};

void refuse_box(int dimension, const std::vector<double>& radii, const Vector3d& low, const Vector3d& high) {
  if (radii.empty()) return;
  const double largest = *std::max_element(radii.begin(), radii.end());
  for (int k = 0; k < dimension; ++k)
    if (!(high(k) - low(k) >= 2 * largest))
      throw InputError(
          fmt::format("the box is {:g} wide along axis {}, less than the largest particle, {:g}; give a larger box",
                      high(k) - low(k), k, 2 * largest));
}

}  // namespace

std::vector<Vector3d> place_at_random(int dimension, const std::vector<double>& radii, const Vector3d& low,
                                      const Vector3d& high, RandomNumbers& random) {
  refuse_box(dimension, radii, low, high);
  std::vector<Vector3d> places(radii.size(), Vector3d::Zero());
  if (radii.empty()) return places;
  std::vector<std::size_t> order(radii.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return radii[a] > radii[b]; });
  Cells cells(dimension, low, high, 2 * radii[order[0]], radii.size());
  constexpr int most_attempts = 20000;
  for (std::size_t done = 0; done < order.size(); ++done) {
    const std::size_t i = order[done];
    const double r = radii[i];
    bool placed = false;
    for (int attempt = 0; attempt < most_attempts && !placed; ++attempt) {
      Vector3d x = Vector3d::Zero();
      for (int k = 0; k < dimension; ++k) x(k) = low(k) + r + (high(k) - low(k) - 2 * r) * random.uniform();
      placed = !cells.any_near(x, [&](int s) {
        const double apart = r + radii[static_cast<std::size_t>(s)];
        return (x - places[static_cast<std::size_t>(s)]).squaredNorm() < apart * apart * (1 + 1e-12);
      });
      if (placed) places[i] = x;
    }
    if (!placed)
      throw InputError(
          fmt::format("{} of the {} particles fit into the box at random without overlaps; take fewer or smaller ones, "
                      "a larger box, "
                      "or arrangement = \"grid\"",
                      done, radii.size()));
    cells.add(static_cast<int>(i), places[i]);
  }
  return places;
}

std::vector<Vector3d> place_on_grid(int dimension, const std::vector<double>& radii, const Vector3d& low,
                                    const Vector3d& high) {
  refuse_box(dimension, radii, low, high);
  std::vector<Vector3d> places;
  if (radii.empty()) return places;
  const double pitch = 2 * *std::max_element(radii.begin(), radii.end()) * (1 + 1e-9);
  int n[3] = {1, 1, 1};
  double fit = 1;
  for (int k = 0; k < dimension; ++k) {
    n[k] = std::max(1, static_cast<int>((high(k) - low(k)) / pitch * (1 + 1e-9)));
    fit *= n[k];
  }
  if (fit < static_cast<double>(radii.size()))
    throw InputError(
        fmt::format("{:.0f} of the {} particles fit into the box on a grid ({} x {} x {}); take fewer or "
                    "smaller ones, or a larger box",
                    fit, radii.size(), n[0], n[1], n[2]));
  // centred across, from the bottom upwards along the last axis
  const int up = dimension - 1;
  Vector3d start = Vector3d::Zero();
  for (int k = 0; k < dimension; ++k)
    start(k) = low(k) + pitch / 2 + (k == up ? 0 : std::max(0.0, (high(k) - low(k) - n[k] * pitch) / 2));
  for (std::size_t i = 0; i < radii.size(); ++i) {
    Vector3d x = start;
    auto rest = static_cast<long>(i);
    for (int k = 0; k < dimension; ++k) {
      const long at = k == up ? rest : rest % n[k];
      rest /= n[k];
      x(k) += pitch * static_cast<double>(at);
    }
    places.push_back(x);
  }
  return places;
}

}  // namespace hinge
