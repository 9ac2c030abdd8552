// SHAKE: the positions of RATTLE, with central differences as velocities. For separable systems: v and p depend on z
// alone with p_z constant, f on y alone, r is linear in psi.
//
//   start   p(Z_1/2)   = p(z0) + (h/2) (f(y0) + r(y0, L0)),       0 = g(y0 + h v(Z_1/2))    for L0
//   step    y1         = y0 + h v(Z_1/2)
//           p(Z_3/2)   = p(Z_1/2) + h (f(y1) + r(y1, L1)),        0 = g(y1 + h v(Z_3/2))    for L1, one step ahead
//           z1         = (Z_1/2 + Z_3/2) / 2,   psi1 = L1
//
// Z_3/2 is the next step's Z_1/2: one force and one position level per step. What is remembered is a saving and nothing
// else: from (y1, z1) and with the same h the start formula gives Z_3/2 again, so that a step after a reset or a change
// of h needs no care.
//
// Order 2 in y, z and psi. Preserved: the position level to round-off; the symplectic form, on tangent vectors of g =
// 0, and momentum maps, since z1 differs from RATTLE's by a multiple of the constraint's gradient at y1. Not preserved:
// the velocity level, violated by O(h^2) without drift; the energy, bounded error of second order. Not symmetric from
// consistent values, whose velocity is no central difference; from its own values it is. Reference: J.-P. Ryckaert, G.
// Ciccotti, H. J. C. Berendsen, J. Comput. Phys. 23 (1977) 327-341.
#include <algorithm>
#include <cmath>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"
#include "method/symplectic/kick_drift.hpp"
#include "method/symplectic/rattle.hpp"
#include "solve/newton/extrapolation.hpp"

namespace hinge {

namespace {

class Shake final : public Stepper {
 public:
  Shake(std::shared_ptr<const System> system, const SolverOptions& options);
  StepResult step(State& state, double h) override;
  void reset() override {
    ahead_ = false;
    kick_.forget();
    guess_.reset();
  }

 private:
  using Q = Quantity;
  bool continues(const State& state, double h);
  bool start_half(const State& state, double h);
  bool look_ahead(double t1, double h);

  std::shared_ptr<const System> system_;
  KickDrift kick_;
  Extrapolation guess_;  // of L1
  std::unique_ptr<Evaluation> forces_;
  State last_;          // the state that the last step ended with
  double last_h_ = 0;   // and its length
  bool ahead_ = false;  // are Z_1/2 and y1 of the coming step known?
  bool depends_on_time_;
  std::vector<double> half_z_, y1_, next_half_z_, y2_, l0_, l1_;
};

Shake::Shake(std::shared_ptr<const System> system, const SolverOptions& options)
    : system_(std::move(system)),
      kick_(*system_, options, counters_),
      guess_(static_cast<std::size_t>(system_->npsi())),
      forces_(system_->evaluation({Q::force, Q::reaction_psi})),
      depends_on_time_(system_->structure().depends_on_time) {
  const auto n = [](int k) { return static_cast<std::size_t>(k); };
  for (auto* v : {&half_z_, &next_half_z_, &last_.z}) v->resize(n(system_->nz()));
  for (auto* v : {&y1_, &y2_, &last_.y}) v->resize(n(system_->ny()));
  for (auto* v : {&l0_, &l1_, &last_.psi}) v->resize(n(system_->npsi()));
  multipliers_.resize(n(2 * system_->npsi()));
}

// Is this the step that the last one has looked at? To the bit: what was solved for another time or step is not solved
// for this one, and starting anew is cheap. First guesses survive a rounding of the step, not a change of the state.
bool Shake::continues(const State& state, double h) {
  if (!ahead_) return false;
  const bool same_state = state.y == last_.y && state.z == last_.z;
  if (!same_state || std::abs(h - last_h_) > 1e-9 * std::abs(h)) guess_.reset();
  return same_state && h == last_h_ && (!depends_on_time_ || state.t == last_.t);
}

StepResult Shake::step(State& state, double h) {
  ++counters_.steps;
  const auto fail = [&](const char* what) {
    StepResult result = explain_failure(*system_, state, h, what, kick_.newton());
    reset();
    return result;
  };
  if (!continues(state, h) && !start_half(state, h)) return fail("the position level");
  const double t1 = state.t + h;
  if (!look_ahead(t1, h)) return fail("the position level one step ahead");
  guess_.push(l1_.data());
  state.t = t1;
  state.y = y1_;
  for (std::size_t i = 0; i < half_z_.size(); ++i) state.z[i] = (half_z_[i] + next_half_z_[i]) / 2;
  state.psi = l1_;
  std::copy(l0_.begin(), l0_.end(), multipliers_.begin());
  std::copy(l1_.begin(), l1_.end(), multipliers_.begin() + static_cast<std::ptrdiff_t>(l0_.size()));

  last_ = state;
  last_h_ = h;
  ahead_ = true;
  std::swap(half_z_, next_half_z_);
  std::swap(y1_, y2_);
  std::swap(l0_, l1_);
  return {};
}

// Z_1/2 and y1 from y0 and z0
bool Shake::start_half(const State& state, double h) {
  kick_.begin(state);
  l0_ = state.psi;
  const KickDrift::From from{state.t, state.y.data(), state.z.data()};
  return kick_.prepare(from, h, l0_.data()) && kick_.solve(from, h / 2, h, l0_.data(), half_z_.data(), y1_.data());
}

// Z_3/2 and y2 from y1 and Z_1/2
bool Shake::look_ahead(double t1, double h) {
  if (guess_.ready())
    guess_.predict(l1_.data());
  else
    l1_ = l0_;
  forces_->at(t1, y1_.data(), half_z_.data(), l1_.data());
  ++counters_.evaluations;
  kick_.take_forces((*forces_)[Q::force], (*forces_)[Q::reaction_psi]);
  const KickDrift::From from{t1, y1_.data(), half_z_.data()};
  return kick_.prepare(from, h, l1_.data()) && kick_.solve(from, h, h, l1_.data(), next_half_z_.data(), y2_.data());
}

std::unique_ptr<Stepper> bind_shake(std::shared_ptr<const System> system, const SolverOptions& solver,
                                    const StepOptions&) {
  if (!is_separable(*system) || !has_small_constant_mass(*system))
    throw UnsuitableMethod(
        "shake needs a separable system: a constant mass matrix (in blocks of at most 64 rows), forces that depend on "
        "the position and the time only, a reaction linear in psi; rattle gives the same positions and takes any "
        "system whose reaction does not depend on the velocity");
  require_regular_mass(*system, "shake");
  return std::make_unique<Shake>(std::move(system), solver);
}

MethodInfo shake_info() {
  return {.name = "shake",
          .summary = "the positions of rattle with central differences as velocities; for separable systems",
          .order = "2",
          .multiplier_order = "2",
          .preserves = {.position_level = true, .symplectic = true, .momentum_maps = true},
          .options = {},
          .reference = "J.-P. Ryckaert, G. Ciccotti, H. J. C. Berendsen, J. Comput. Phys. 23 (1977) 327-341"};
}

}  // namespace

MethodChoice shake() { return {shake_info(), 2, "shake, order 2", bind_shake, 2}; }

MethodEntry shake_entry() {
  return {shake_info(), [](const GivenOptions&) { return shake(); }};
}

}  // namespace hinge
