// A uniform grid of cells that repeats itself for ever, filled by counting sort.
//
// Cells are as wide as two neighbours can be apart, so that all pairs lie in the same or in adjoining cells. Space is
// wound around the grid (cell i and cell i + n are the same one), so memory is bounded by the number of balls, however
// far one of them flies; what the winding brings together by mistake is told apart by the distance. Time and memory
// O(n); nothing is allocated once the arrays have grown.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

namespace hinge::contact {

struct Ball {
  double x = 0, y = 0, z = 0, radius = 0;
  int id = 0;
};

class Grid {
 public:
  /// `reach`: the largest distance at which the centres of two balls matter.
  void build(const std::vector<Ball>& balls, double reach, int dimension);

  int rows() const { return n_[1] * n_[2]; }
  /// visit(first, second) for every two balls of the grid that are near, once: those of some rows of cells.
  template <class Visit>
  void pairs(int first_row, int last_row, double band, Visit&& visit) const {
    for (int yz = first_row; yz < last_row; ++yz) {
      const int y = yz % n_[1], z = yz / n_[1], row = yz * n_[0];
      if (start_[static_cast<std::size_t>(row)] == start_[static_cast<std::size_t>(row + n_[0])]) continue;
      for (int x = 0; x < n_[0]; ++x) {
        const int begin = start_[static_cast<std::size_t>(row + x)],
                  end = start_[static_cast<std::size_t>(row + x + 1)];
        if (begin == end) continue;
        const int next = row + (x + 1 < n_[0] ? x + 1 : 0);
        for (int i = begin; i < end; ++i) {
          const Ball& ball = sorted_[static_cast<std::size_t>(i)];
          against(ball, i + 1, end, band, visit);
          against_cells(ball, next, next + 1, band, visit);
        }
        if (n_[1] > 1) run_of_three(begin, end, x, wrapped(y + 1, 1), z, band, visit);
        if (n_[2] > 1)
          for (const int dy : {-1, 0, 1})
            run_of_three(begin, end, x, wrapped(y + dy, 1), wrapped(z + 1, 2), band, visit);
      }
    }
  }

  /// visit(of the grid) for every ball of the grid that is near this one.
  template <class Visit>
  void near(const Ball& ball, double band, Visit&& visit) const {
    const auto [cx, cy, cz] = cell_of(ball);
    const auto ignore_first = [&](const Ball&, const Ball& other) { visit(other); };
    for (const int dz : {-1, 0, 1}) {
      if (n_[2] == 1 && dz != 0) continue;
      for (const int dy : {-1, 0, 1}) {
        const int row = (wrapped(cz + dz, 2) * n_[1] + wrapped(cy + dy, 1)) * n_[0];
        for (const int dx : {-1, 0, 1}) {
          const int cell = row + wrapped(cx + dx, 0);
          against_cells(ball, cell, cell + 1, band, ignore_first);
        }
      }
    }
  }

 private:
  template <class Visit>
  void against(const Ball& ball, int begin, int end, double band, Visit&& visit) const {
    for (int j = begin; j < end; ++j) {
      const Ball& other = sorted_[static_cast<std::size_t>(j)];
      const double dx = ball.x - other.x, dy = ball.y - other.y, dz = ball.z - other.z;
      const double reach = ball.radius + other.radius + band;
      if (dx * dx + dy * dy + dz * dz <= reach * reach && reach >= 0) visit(ball, other);
    }
  }
  template <class Visit>
  void against_cells(const Ball& ball, int first, int last, double band, Visit&& visit) const {
    against(ball, start_[static_cast<std::size_t>(first)], start_[static_cast<std::size_t>(last)], band, visit);
  }
  /// Balls begin..end of a cell in column x against the three cells around column x of another row.
  template <class Visit>
  void run_of_three(int begin, int end, int x, int y, int z, double band, Visit&& visit) const {
    const int row = (z * n_[1] + y) * n_[0];
    const bool whole = x > 0 && x + 1 < n_[0];
    for (int i = begin; i < end; ++i) {
      const Ball& ball = sorted_[static_cast<std::size_t>(i)];
      if (whole) {
        against_cells(ball, row + x - 1, row + x + 2, band, visit);
      } else {
        for (const int dx : {-1, 0, 1}) {
          const int cell = row + wrapped(x + dx, 0);
          against_cells(ball, cell, cell + 1, band, visit);
        }
      }
    }
  }
  int wrapped(int i, int axis) const {
    const int n = n_[static_cast<std::size_t>(axis)];
    return i < 0 ? i + n : i >= n ? i - n : i;
  }
  std::array<int, 3> cell_of(const Ball& ball) const;

  std::array<int, 3> n_{};
  double width_ = 1;
  Eigen::Vector3d origin_ = Eigen::Vector3d::Zero();
  std::vector<Ball> sorted_{};
  std::vector<int> start_{}, cell_{};
};

}  // namespace hinge::contact
