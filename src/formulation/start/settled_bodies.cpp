#include "formulation/start/settled_bodies.hpp"

#include <cmath>
#include <numbers>

#include "body/body_table.hpp"

namespace hinge {

void settle_bodies(const System& system, const std::vector<double>& given, std::vector<double>& y) {
  constexpr double rounding = 1e-14;
  const BodyTable* bodies = bodies_of(system);
  if (!bodies || bodies->dimension == 2 || !system.structure().has_bodies) return;
  for (const BodyPlace& place : bodies->places) {
    double* q = y.data() + place.rotation;
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (std::abs(length - 1) > rounding && length > 0)
      for (int k = 0; k < 4; ++k) q[k] /= length;
  }
  const auto relative = [&](const BodyTurn& turn, const std::vector<double>& at) {
    const auto rotation = [&](int body) {
      return body < 0 ? Eigen::Quaterniond::Identity()
                      : bodies->pose(at.data(), static_cast<std::size_t>(body)).rotation;
    };
    return Eigen::Quaterniond(rotation(turn.a).conjugate() * rotation(turn.b));
  };
  for (const BodyTurn& turn : bodies->counted) {
    const Eigen::Quaterniond r = relative(turn, y) * relative(turn, given).conjugate();
    const double angle = 2 * std::atan2(r.vec().dot(turn.axis), r.w());
    const auto place = static_cast<std::size_t>(turn.y);
    y[place] = given[place] + std::remainder(angle, 2 * std::numbers::pi);
  }
}

}  // namespace hinge
