#include "simulate/momentum_map.hpp"

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge {

namespace {

// Three numbers; in the plane of e1 and e2 two are enough for what lies in it.
std::vector<double> vector_in_space(const char* what, std::vector<double> x, bool two) {
  if (x.size() == 2 && two) x.push_back(0);
  if (x.size() != 3)
    throw InputError(fmt::format("'{}' has {} numbers; it needs three, as in {} = [0, 1, 0]", what, x.size(), what));
  for (const double v : x)
    if (!std::isfinite(v)) throw InputError(fmt::format("'{}' is not made of finite numbers", what));
  return x;
}

void refuse_zero(const char* what, const std::vector<double>& x) {
  if (std::all_of(x.begin(), x.end(), [](double v) { return v == 0; }))
    throw InputError(
        fmt::format("'{}' is zero; give a vector that points somewhere, as in {} = [0, 1, 0]", what, what));
}

}  // namespace

Motion motion_of(const Layout& layout, const MomentumMap& map) {
  if (map.axis.empty() == map.direction.empty())
    throw InputError(map.axis.empty() ? "a momentum needs an 'axis' (angular) or a 'direction' (linear)"
                                      : "a momentum has an 'axis' or a 'direction', not both; give them two names");
  if (!map.direction.empty() && !map.point.empty())
    throw InputError("a linear momentum has no 'point'; leave it away, or give an 'axis' through it");
  std::string other;
  const std::vector<PointPlace> points = points_of(layout, &other);
  if (layout.kind == SystemKind::odae || layout.ny != layout.nz)
    throw InputError("a momentum map needs coordinates with momenta: [lagrangian], [hamiltonian] or [mechanical]");
  if (!other.empty())
    throw InputError(
        fmt::format("'{}' is not a point in space or in the plane: coordinates of momentum maps have the form q[3], "
                    "q[N][3], q[2] or q[N][2]; write this one as a quantity",
                    other));
  const bool plane = std::none_of(points.begin(), points.end(), [](const PointPlace& p) { return p.width == 3; });
  const auto refuse_without_points = [&points](const char* what) {
    if (std::any_of(points.begin(), points.end(), [](const PointPlace& p) { return p.shifts; })) return;
    throw InputError(fmt::format(
        "there is no {} here: the coordinates are directors of bodies held at a point, and momenta are those "
        "about that point; write another one as a quantity",
        what));
  };
  if (!map.direction.empty()) {
    const std::vector<double> direction = vector_in_space("direction", map.direction, plane);
    refuse_zero("direction", direction);
    if (plane && direction[0] == 0 && direction[1] == 0)
      throw InputError("'direction' is normal to the plane of the coordinates; there is no momentum along it");
    refuse_without_points("linear momentum");
    return translation(points, direction);
  }
  const std::vector<double> axis = vector_in_space("axis", map.axis, false);
  refuse_zero("axis", axis);
  if (plane && (axis[0] != 0 || axis[1] != 0))
    throw InputError("coordinates in the plane turn about its normal only; write axis = [0, 0, 1]");
  if (!map.point.empty()) refuse_without_points("other point to turn about");
  return rotation(points, axis,
                  map.point.empty() ? std::vector<double>(3, 0.0) : vector_in_space("point", map.point, plane));
}

}  // namespace hinge
