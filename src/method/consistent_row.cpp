#include "method/consistent_row.hpp"

namespace hinge {

ConsistentRow::ConsistentRow(std::shared_ptr<const System> system, Projection which, const FormulationOptions& form,
                             LinearAlgebra choice, bool multipliers)
    : projection_(system, which, choice) {
  if (multipliers && system->npsi() > 0)
    acceleration_.emplace(system, choice,
                          form.formulation == Formulation::baumgarte ? form : FormulationOptions{Formulation::index_1});
  for (auto* x : {&y_, &velocity_}) x->resize(static_cast<std::size_t>(system->ny()));
  for (auto* x : {&z_, &z_rate_}) x->resize(static_cast<std::size_t>(system->nz()));
  psi_.resize(static_cast<std::size_t>(system->npsi()));
}

void ConsistentRow::settle(double t, State& state) {
  if (projection_.active()) {
    y_ = state.y;
    z_ = state.z;
    if (projection_.project(t, y_.data(), z_.data(), state.psi.data())) {
      state.y = y_;
      state.z = z_;
    }
  }
  if (!acceleration_) return;
  psi_ = state.psi;
  if (acceleration_->compute(t, state.y.data(), state.z.data(), psi_.data(), velocity_.data(), z_rate_.data()))
    state.psi = psi_;
}

}  // namespace hinge
