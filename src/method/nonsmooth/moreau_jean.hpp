// Moreau's and Jean's time stepping, with the theta rule for forces and joints on both levels:
//
//   M (z1 - z0) = h ((1 - theta) b0 + theta b1) + H^T r + C^T s       M in the middle, H at y0
//   y1 = y0 (+) h ((1 - theta) z0 + theta z1)                         (+): rotations by their exponential
//   0 = g(t1, y1),  0 = g_t + G z1 at (t1, y1),  C = (1 - theta) G0 + theta G1;  velocity constraints likewise,
//   0 = w(t1, y1, z1), with w_z in the place of G
//
// and for the contacts, with u = H z + drift, one of
//
//   velocity     contacts with g(y0) + gamma h u_N0 <= eps:  laws between r and u1 + e u0   (Newton; Moreau: all rows)
//   linearised   contacts nearby:  laws between r and u1 + g(y0)/h,  theta = 1, no restitution
//   nonlinear    the same with g(t1, y1)/h itself
//
// All equations of a step are solved together, by Newton's iteration on the forces with the contact problem inside; the
// derivative of the forces enters as S = M - h theta f_z - h^2 theta^2 f_y v_z. Poisson's law and sequential impacts
// change z0 first, the step then goes on without restitution. Rounds of impacts say what contacts rebound with, in the
// place of -e u0 (contact_impacts.cpp).
//
// In space the balance of spins is that of angular momentum, J w1 = E(-h w) (J w0 + impulses), E(a) = exp([a]), where
// h w is the turn of the step (body/spin_balance.hpp): a body that nothing touches keeps it to rounding. It turns by
// w = theta w1 + c, where c is such that without torques w is that of the midpoint. The rows of H over spins turn with
// the body, body/spin_rows.hpp.
//
// Order 2 (theta = 1/2) or 1 where nothing strikes, 1 with impacts; psi = impulse / h of order 1. Preserved: both
// levels of the joints at round-off, the state of rest. Not preserved: the gap, which drifts by O(h) with "velocity"
// ("linearised": not where gaps are convex; "nonlinear" never); symplecticity, symmetry, momentum maps; energy, which
// impacts with restitution and friction may create (Newton).
//
// theta < 1 with the linearised gap is refused: a closed contact would get u1 = -((1 - theta)/theta) u0, a rebound that
// depends on where in a step the impact falls and does not converge.
//
// Reference: J. J. Moreau, CISM 302 (1988) 1-82; M. Jean, Comput. Methods Appl. Mech. Eng. 177 (1999) 235-257;
// M. Anitescu, Math. Program. 105 (2006) 113-143.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "body/spin_balance.hpp"
#include "body/spin_rows.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/nonsmooth.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_step.hpp"
#include "method/nonsmooth/moreau_jean_matrix.hpp"

namespace hinge {

/// Of the smallest body: how far penetration is pushed out in a step by default.
inline constexpr double pushed_out_per_step = 0.01;
inline constexpr int implicit_limit = 3000;        ///< velocities
inline constexpr int most_looks = 8;               ///< for contacts in one step
inline constexpr double harmless_rest = 1e-2;      ///< of velocities, where forces and contacts do not settle
inline constexpr double eight_digits_left = 1e-8;  ///< the same, where the work of the step is used up
/// A contact problem that was solved loosely leaves a change (relative, all) that does not get less: enough is enough.
inline bool as_left_by_contacts(double change, double before, double residual) {
  return residual > 1e-8 && change > 1e-11 && change <= eight_digits_left && change >= before / 2;
}

inline Projection position_part(Projection p) { return projects_position(p) ? Projection::position : Projection::none; }

class MoreauJean final : public Stepper {
 public:
  MoreauJean(std::shared_ptr<const System> system, const MoreauJeanOptions& options, const SolverOptions& solver);
  StepResult step(State& state, double h) override;
  void reset() override { contacts_.reset(); }
  const ContactStatistics* contact_statistics() const override {
    return contacts_.has_contacts() ? &contacts_.measured() : nullptr;
  }
  void set_contact_statistics(const ContactStatistics& s) override { contacts_.statistics = s; }
  const ContactImpulses* contact_impulses() const override {
    return contacts_.has_contacts() ? &contacts_.impulses() : nullptr;
  }
  std::vector<std::string> remarks() const override { return contacts_.remarks(); }

 private:
  using Q = Quantity;
  double band(const double* z, double h);
  void free_velocities(const State& state, double h);
  double free_band(const State& state, double h);
  bool crosses(const State& state, double h, bool all);
  void choose_contacts(const State& state, double h, double band);
  bool strike(const State& state);
  void prepare(const State& state, double h);
  void move(const State& state, double h);
  void give(const State& state, double h, bool struck);
  void give_explicit(double h);
  bool turn_rows(const State& state);
  void balance_spins(const State& state, double h);
  void middle_mass(const State& state, double h);
  bool factor(double h);
  void demand(const State& state, double h);
  double take_new_velocity();
  bool solve(const State& state, double h);
  bool limit_rebound(const State& state, double h);
  bool solve_implicit(const State& state, double h);
  bool solve_explicit(const State& state, double h);
  bool velocities_alone(const State& state, double h);
  bool give_to_joints(const State& state, double t1);
  void account(const State& state, double h);

  std::shared_ptr<const System> system_;
  MoreauJeanOptions options_;
  int max_iterations_;
  bool implicit_, constant_mass_, bodies_, walls_move_;
  double theta_, recover_ = HUGE_VAL, thin_ = HUGE_VAL;  // of bodies: a length per step; half the least width
  int ny_, nz_, m_;                                      // m: rows of joints, velocity constraints among them
  std::optional<SpinBalance> spins_;                     // of bodies in space
  MoreauJeanMatrix matrix_;
  // In this step: S is not definite with the derivatives of the forces; S has their symmetric part.
  bool without_forces_ = false, symmetric_part_ = false;
  ContactStep contacts_;
  std::optional<SpinRows> spin_rows_;  // of bodies
  ConstraintProjection projection_;    // of implicit steps the positions only: velocities are solved for
  std::unique_ptr<Evaluation> here_, next_, mass_;
  ContactList ends_;  // the contacts at (t1, y0), where walls move
  // What a step moves by besides theta z1; w of the midpoint; what the step gives to M z0 besides reactions.
  std::vector<double> offset_, free_, given_, start_, reaction_, end_gaps_;
  std::vector<double> unturned_;  // H of the contacts, in the axes of the start
  std::vector<double> M_, S_, b0_, b1_, G0_, C_, c_, right_, z0_, z1_, z_new_, y1_, middle_, w_, u0_, total_, struck_;
  std::vector<double> rebound_;  // of the active contacts, that rounds of impacts demand
};

}  // namespace hinge
