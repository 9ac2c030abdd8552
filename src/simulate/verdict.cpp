#include "simulate/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"

namespace hinge {

namespace {

constexpr double balance_limit = 1e-6;      // of the momenta of a step; sound runs leave 1e-12
constexpr double penetration_limit = 0.01;  // of the smallest body

}  // namespace

double smallest_body(const System& system) {
  const BodyTable* bodies = bodies_of(system);
  return bodies ? bodies->smallest() : INFINITY;
}

void doubt_contacts(const System& system, const ContactStatistics& c, double gap, std::vector<Doubt>& doubts) {
  if (c.unconverged > 0)
    doubts.push_back({fmt::format("contact problems not solved to their tolerance ({} of {})", c.unconverged, c.solves),
                      static_cast<double>(c.unconverged), "take a shorter step, or another solver"});
  if (c.momentum_balance > balance_limit)
    doubts.push_back(
        {"momentum out of balance, relative", c.momentum_balance, "take a shorter step, or another solver"});
  const double body = smallest_body(system);
  const char* const remedy = "take a shorter step, or a gap that is treated by positions, which undoes penetration";
  if (c.penetration > penetration_limit * body)
    doubts.push_back(
        {fmt::format("bodies are inside of each other by more than a hundredth of the smallest one ({:.3g})", body),
         c.penetration, remedy});
  if (!std::isfinite(body) && system.structure().pairs == 0 && c.penetration > penetration_limit * gap)
    doubts.push_back({fmt::format("gaps are negative by more than a hundredth of the size of things ({:.3g})", gap),
                      c.penetration, remedy});
}

}  // namespace hinge
