// What a Radau step hands out: a state from the unknowns of the formulation, and its multipliers.
#include "method/implicit/radau.hpp"

namespace hinge {

namespace {

// The formulation's multipliers have the order of y and z where the accelerations are unknowns or equations.
bool own_multipliers_are_good(Formulation f) {
  return f != Formulation::index_2 && f != Formulation::index_3 && f != Formulation::ggl;
}

}  // namespace

RadauReport::RadauReport(std::shared_ptr<const System> system, const ImplicitProblem& problem,
                         const RadauOptions& options, Projection shown)
    : problem_(problem) {
  using Multipliers = RadauOptions::Multipliers;
  const bool recompute =
      options.multipliers == Multipliers::recomputed ||
      (options.multipliers == Multipliers::automatic && !own_multipliers_are_good(options.formulation.formulation));
  if (recompute && system->npsi() > 0)
    multipliers_.emplace(system, shown, FormulationOptions{Formulation::index_1}, LinearAlgebra::automatic);
}

void RadauReport::fill(double t, const double* x, const double* rate, State& state) const {
  problem_.to_state(t, x, rate, state);
  if (multipliers_) multipliers_->settle(t, state);
}

}  // namespace hinge
