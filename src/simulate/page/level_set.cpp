#include "simulate/page/level_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace hinge {

using Eigen::Vector3d;

namespace {

class Cutter {
 public:
  Cutter(int dimension, const Vector3d& low, const Vector3d& high, int cells,
         const std::function<double(const Vector3d&)>& function)
      : dimension_(dimension), low_(low), function_(function) {
    const double longest = (high - low).head(dimension).maxCoeff();
    size_ = longest / cells;
    for (int k = 0; k < dimension; ++k)
      count_[static_cast<std::size_t>(k)] = std::max(1, static_cast<int>(std::ceil((high(k) - low(k)) / size_ - 1e-9)));
    value_.resize(static_cast<std::size_t>(corners(0) * corners(1) * corners(2)));
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = function(place(static_cast<int>(i)));
  }

  LevelSet cut() {
    std::array<int, 3> cell{};
    for (cell[2] = 0; cell[2] < cells(2); ++cell[2])
      for (cell[1] = 0; cell[1] < cells(1); ++cell[1])
        for (cell[0] = 0; cell[0] < cells(0); ++cell[0]) cut_cell(cell);
    return std::move(out_);
  }

 private:
  int cells(std::size_t axis) const { return static_cast<int>(axis) < dimension_ ? count_[axis] : 1; }
  int corners(std::size_t axis) const { return static_cast<int>(axis) < dimension_ ? count_[axis] + 1 : 1; }
  int number(const std::array<int, 3>& at) const { return at[0] + corners(0) * (at[1] + corners(1) * at[2]); }
  Vector3d place(int corner) const {
    const int i = corner % corners(0), j = corner / corners(0) % corners(1), k = corner / corners(0) / corners(1);
    Vector3d x = low_;
    for (int axis = 0; axis < dimension_; ++axis)
      x(axis) += size_ * std::array{i, j, k}[static_cast<std::size_t>(axis)];
    return x;
  }
  double value(int corner) const { return value_[static_cast<std::size_t>(corner)]; }

  // From the lowest corner to the highest along the axes, in every order of these.
  void cut_cell(const std::array<int, 3>& cell) {
    std::array<int, 3> order{0, 1, 2};
    const auto end = order.begin() + dimension_;
    do {
      std::array<int, 3> at = cell;
      std::array<int, 4> corner{number(at), 0, 0, 0};
      for (int k = 0; k < dimension_; ++k) {
        ++at[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
        corner[static_cast<std::size_t>(k) + 1] = number(at);
      }
      cut_simplex(corner);
    } while (std::next_permutation(order.begin(), end));
  }

  void cut_simplex(const std::array<int, 4>& corner) {
    std::array<int, 4> above{}, below{};
    std::size_t a = 0, b = 0;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(dimension_); ++k) {
      if (!std::isfinite(value(corner[k]))) return;
      (value(corner[k]) > 0 ? above[a++] : below[b++]) = corner[k];
    }
    if (a == 0 || b == 0) return;
    // points on the edges from one side to the other, around
    std::array<std::uint32_t, 4> p{};
    std::size_t n = 0;
    if (a == 2 && b == 2)
      for (const auto& [i, j] : {std::pair{0, 0}, {0, 1}, {1, 1}, {1, 0}})
        p[n++] = zero(above[static_cast<std::size_t>(i)], below[static_cast<std::size_t>(j)]);
    else
      for (std::size_t i = 0; i < a; ++i)
        for (std::size_t j = 0; j < b; ++j) p[n++] = zero(above[i], below[j]);
    if (dimension_ == 2) return static_cast<void>(out_.simplex.insert(out_.simplex.end(), {p[0], p[1]}));
    const Vector3d up = place(above[0]) - place(below[0]);
    for (std::size_t k = 2; k < n; ++k) triangle(p[0], p[k - 1], p[k], up);
  }

  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Vector3d& up) {
    const auto at = [&](std::uint32_t i) { return Eigen::Map<const Eigen::Vector3f>(out_.points.data() + 3 * i); };
    const Vector3d normal = (at(b) - at(a)).cross(at(c) - at(a)).cast<double>();
    if (normal.dot(up) < 0) std::swap(b, c);
    out_.simplex.insert(out_.simplex.end(), {a, b, c});
  }

  std::uint32_t zero(int above, int below) {
    const auto [at, is_new] =
        known_.try_emplace(std::minmax(above, below), static_cast<std::uint32_t>(out_.points.size() / 3));
    if (!is_new) return at->second;
    Vector3d high = place(above), low = place(below);
    for (int halvings = 0; halvings < 12; ++halvings) {
      const Vector3d middle = (high + low) / 2;
      (function_(middle) > 0 ? high : low) = middle;
    }
    const Vector3d x = (high + low) / 2;
    for (Eigen::Index k = 0; k < 3; ++k) out_.points.push_back(static_cast<float>(x(k)));
    return at->second;
  }

  int dimension_;
  Vector3d low_;
  const std::function<double(const Vector3d&)>& function_;
  double size_ = 1;
  std::array<int, 3> count_{1, 1, 1};
  std::vector<double> value_;
  std::map<std::pair<int, int>, std::uint32_t> known_;
  LevelSet out_;
};

}  // namespace

LevelSet level_set(int dimension, const Vector3d& low, const Vector3d& high, int cells,
                   const std::function<double(const Vector3d&)>& function) {
  return Cutter(dimension, low, high, cells, function).cut();
}

}  // namespace hinge
