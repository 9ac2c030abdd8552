#include "method/wrap/branch_start.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"

namespace hinge {

BranchStart::BranchStart(const SymbolicSystem& system, const Tolerance& tolerance)
    : is_dae_(system.structure().is_dae), smallest_(1e3 * tolerance.absolute) {
  if (!is_dae_) return;
  const Equations& eq = system.equations();
  differential_.assign(eq.y.size(), 0);
  Graph graph = *eq.graph;
  for (const int j : jacobian(graph, eq.residual, eq.z).column) differential_[static_cast<std::size_t>(j)] = 1;
}

// Unknowns that jump far may not be found from where they were: a diode that takes over a current comes from where
// its exponential has no slope. There is one near 0.
State BranchStart::consistent(const SymbolicSystem& branch, const State& at) const {
  std::exception_ptr trouble;
  State found = at;
  try {
    found = consistent_from(branch, at);
    if (!is_dae_ || largest_jump(at, found) == 0) return found;
  } catch (const InputError&) {
    if (!is_dae_) throw;
    trouble = std::current_exception();
  }
  State zero = at;
  for (std::size_t i = 0; i < differential_.size(); ++i)
    if (!differential_[i]) zero.y[i] = zero.z[i] = 0;
  try {
    zero = consistent_from(branch, zero);
    if (trouble || largest_jump(at, zero) == 0) return zero;
  } catch (const InputError&) {  // the first one says it
  }
  if (trouble) std::rethrow_exception(trouble);
  return found;
}

State BranchStart::consistent_from(const SymbolicSystem& branch, const State& at) const {
  if (!is_dae_) return consistent_state(branch, at.t, at);
  Start start;
  start.consistent = Consistency::project;
  start.position = at.y;
  start.multiplier = at.psi;
  start.velocity = at.z;
  start.given = differential_;
  start.given_velocity.assign(at.z.size(), 0);
  return consistent_start(branch, at.t, start);
}

void BranchStart::watch_impulses(const State& before, const State& after) {
  const double jump = largest_jump(before, after);
  if (jump > 0 && impulse_ == 0) impulse_time_ = after.t;
  impulse_ = std::max(impulse_, jump);
}

double BranchStart::largest_jump(const State& before, const State& after) const {
  double largest = 0;
  for (std::size_t i = 0; i < differential_.size(); ++i) {
    const double jump = std::abs(after.y[i] - before.y[i]),
                 size = std::max(std::abs(after.y[i]), std::abs(before.y[i]));
    if (differential_[i] && jump > 1e-3 * size + smallest_) largest = std::max(largest, jump);
  }
  return largest;
}

std::optional<Doubt> BranchStart::doubt() const {
  if (!(impulse_ > 0)) return {};
  return Doubt{fmt::format("an unknown whose derivative is in the equations jumps, first at t = {:.6g}, so that the "
                           "derivative has an impulse there, and what follows from that may be missing; by",
                           impulse_time_),
               impulse_, "make what jumps change within a short time, or look at unknowns that jump only"};
}

}  // namespace hinge
