// Contacts that slide on what moves as prescribed: what such belts do belongs to nobody's energy.
#include <algorithm>

#include "expression/substitute.hpp"
#include "simulate/watch.hpp"
#include "system/symbolic.hpp"

namespace hinge {

// A belt: what slides on it where nothing else moves is given energy by friction.
bool Watch::surfaces_move(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  std::vector<Node> slips;
  for (const Equations::Gap& gap : eq.gaps) slips.insert(slips.end(), gap.slip.begin(), gap.slip.end());
  if (slips.empty()) return false;
  Graph graph = *eq.graph;
  const std::vector<Node> rest(eq.z.size(), graph.constant(0));
  const std::vector<Node> left = substitute(graph, slips, eq.z, rest, graph);
  return std::any_of(left.begin(), left.end(), [&](Node n) { return !graph.is_constant(n, 0); });
}

// Friction on a belt gives r_T . (u_T - b) to what slides on it, where b is the part of u_T that is not the body's: so
// much of it, -r_T . b, is the belt's. Of methods that do not tell their impulses it is not known.
void Watch::add_work_of_belts(const Stepper* stepper, double h) {
  const ContactImpulses* did = stepper ? stepper->contact_impulses() : nullptr;
  if (!did && h > 0) dissipates_ = false;
  if (!did || !(h > 0)) return;
  const ContactList& list = did->contacts;
  const auto d = static_cast<std::size_t>(list.dimension);
  for (std::size_t k = 0; k < did->impulse.size(); ++k)
    if (k % d != 0) blows_ -= did->impulse[k] * list.drift[k];
}

}  // namespace hinge
