#include "formulation/motion.hpp"

#include <algorithm>

#include "system/states.hpp"

namespace hinge {

namespace {

// The coordinate that a state beside the mechanical system is the velocity of.
bool is_of_state(const Layout& layout, const Block& y) {
  return y.shape.empty() &&
         std::any_of(layout.z.begin(), layout.z.end(), [&](const Block& z) { return integral_name(z.name) == y.name; });
}

}  // namespace

std::vector<PointPlace> points_of(const Layout& layout, std::string* other) {
  std::vector<PointPlace> points;
  for (const Block& b : layout.y) {
    const int width = b.shape.empty() ? 1 : b.shape.back();
    if (width == 2 || width == 3)
      for (int k = 0; k < b.size(); k += width) points.push_back({b.first + k, width, !b.direction});
    else if (other && other->empty() && !is_of_state(layout, b))
      *other = b.name;
  }
  return points;
}

void Motion::at(const double* q, std::vector<double>& xi) const {
  std::fill(xi.begin(), xi.end(), 0.0);
  for (const Term& t : terms) xi[static_cast<std::size_t>(t.row)] += t.factor * (t.column < 0 ? 1 : q[t.column]);
}

double Motion::momentum(const double* q, const double* p) const {
  double sum = 0;
  for (const Term& t : terms) sum += t.factor * (t.column < 0 ? 1 : q[t.column]) * p[t.row];
  return sum;
}

Motion rotation(const std::vector<PointPlace>& points, const std::vector<double>& axis,
                const std::vector<double>& point) {
  Motion motion;
  const auto add = [&](const PointPlace& at, int row, int column, double factor) {
    if (factor == 0 || row >= at.width) return;
    if (column < at.width) motion.terms.push_back({at.first + row, at.first + column, factor});
    const double offset = point[static_cast<std::size_t>(column)];
    if (offset != 0 && at.shifts) motion.terms.push_back({at.first + row, -1, -factor * offset});
  };
  for (const PointPlace& at : points)
    for (int k = 0; k < 3; ++k) {
      // (axis x q)_k = axis_i q_j - axis_j q_i with (k, i, j) cyclic
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      add(at, k, j, axis[static_cast<std::size_t>(i)]);
      add(at, k, i, -axis[static_cast<std::size_t>(j)]);
    }
  return motion;
}

Motion translation(const std::vector<PointPlace>& points, const std::vector<double>& direction) {
  Motion motion;
  for (const PointPlace& at : points)
    for (int k = 0; at.shifts && k < at.width; ++k)
      if (const double d = direction[static_cast<std::size_t>(k)]; d != 0)
        motion.terms.push_back({at.first + k, -1, d});
  return motion;
}

}  // namespace hinge
