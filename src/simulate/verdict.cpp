#include "simulate/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"

namespace hinge {

namespace {

constexpr double balance_limit = 1e-6;      // of the momenta of a step; sound runs leave 1e-12
constexpr double penetration_limit = 0.01;  // of the smallest body

double thickness(const Shape& shape, int dimension) {
  switch (shape.kind) {
    case Shape::Kind::sphere:
    case Shape::Kind::capsule: return 2 * shape.radius;
    case Shape::Kind::cylinder: return std::min(2 * shape.radius, shape.length);
    case Shape::Kind::box: return shape.size.head(dimension).minCoeff();
    case Shape::Kind::mesh: {
      Eigen::Vector3d low = shape.vertices.front(), high = low;
      for (const Eigen::Vector3d& v : shape.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
      return (high - low).head(dimension).minCoeff();
    }
    case Shape::Kind::plane: break;
  }
  return INFINITY;
}

}  // namespace

double smallest_body(const System& system) {
  double smallest = INFINITY;
  if (const BodyTable* bodies = bodies_of(system))
    for (const Collider& c : bodies->colliders)
      if (c.body >= 0) smallest = std::min(smallest, thickness(c.shape, bodies->dimension));
  return smallest;
}

void doubt_contacts(const System& system, const ContactStatistics& c, double gap, std::vector<Doubt>& doubts) {
  if (c.unconverged > 0)
    doubts.push_back({fmt::format("contact problems not solved to their tolerance ({} of {})", c.unconverged, c.solves),
                      static_cast<double>(c.unconverged), "take a shorter step, or another solver"});
  if (c.momentum_balance > balance_limit)
    doubts.push_back(
        {"momentum out of balance, relative", c.momentum_balance, "take a shorter step, or another solver"});
  const double body = smallest_body(system);
  const char* const remedy = "take a shorter step, or gap = \"linearised\", which undoes penetration";
  if (c.penetration > penetration_limit * body)
    doubts.push_back(
        {fmt::format("bodies are inside of each other by more than a hundredth of the smallest one ({:.3g})", body),
         c.penetration, remedy});
  if (!std::isfinite(body) && system.structure().pairs == 0 && c.penetration > penetration_limit * gap)
    doubts.push_back({fmt::format("gaps are negative by more than a hundredth of the size of things ({:.3g})", gap),
                      c.penetration, remedy});
}

}  // namespace hinge
