#include "simulate/contact_forces.hpp"

#include <algorithm>

#include "collide/narrow.hpp"

namespace hinge {

ContactForces::ContactForces(const System& system) {
  const BodyTable* table = bodies_of(system);
  if (!table) return;
  dimension_ = table->dimension;
  place_.assign(table->colliders.size(), -1);
  for (const BodyContactForce& force : table->contact_forces) {
    for (std::size_t k = 0; k < place_.size(); ++k)
      if (table->colliders[k].name == force.body) place_[k] = static_cast<int>(variables_.size());
    variables_.insert(variables_.end(), force.variables.begin(), force.variables.end());
  }
  values_.assign(variables_.size(), 0.0);
}

// The normal points from b to a, and r acts on a.
const std::vector<double>& ContactForces::of(const ContactImpulses* impulses) {
  std::fill(values_.begin(), values_.end(), 0.0);
  if (!impulses || !(impulses->step > 0)) return values_;
  const ContactList& list = impulses->contacts;
  const auto d = static_cast<std::size_t>(list.dimension), count = static_cast<std::size_t>(list.count);
  if (list.frame.size() != 9 * count || impulses->impulse.size() != d * count) return values_;  // of no finished step
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t a = contact::first_collider(list.key[i]), b = contact::second_collider(list.key[i]);
    if (a >= place_.size() || b >= place_.size()) continue;  // of a joint
    for (const auto& [place, sign] : {std::pair{place_[a], 1.0}, {place_[b], -1.0}})
      for (std::size_t k = 0; place >= 0 && k < static_cast<std::size_t>(dimension_); ++k)
        for (std::size_t row = 0; row < d; ++row)
          values_[static_cast<std::size_t>(place) + k] +=
              sign * impulses->impulse[d * i + row] / impulses->step * list.frame[9 * i + 3 * row + k];
  }
  return values_;
}

}  // namespace hinge
