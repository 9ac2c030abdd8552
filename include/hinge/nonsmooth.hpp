// Methods for motion with contacts that open and close: time stepping, without event location.
//
//   Simulation run(ball, moreau_jean({.activation = 1}), {.step = 1e-3});
#pragma once

#include <string>

#include "hinge/contact.hpp"
#include "hinge/method.hpp"

namespace hinge {

/// The solver that takes one contact after the other, exactly: all that large scenes of bodies can afford.
inline constexpr const char* plain_sweeps = "block-gauss-seidel";

/// How the contact problem of a step is posed and solved.
struct ContactSolving {
  FrictionModel friction = FrictionModel::coulomb;
  int facets = 8;               ///< of the polyhedral cone
  std::string solver = "auto";  ///< see contact_solvers()
  /// 0: 1e-10 up to 200 rows of contacts, polished to rounding; with more of them between bodies 1e-6, and 1e-4 from
  /// 1000 contacts on; else 1e-8.
  double tolerance = 0;
  int threads = 1;
  void validate() const;
  bool may_sweep() const;  ///< with the solver that was chosen
};

/// What a contact demands of a step.
enum class GapTreatment {
  automatic,   ///< both for bodies, velocity for other systems, and where theta or activation are given
  velocity,    ///< contacts that are closed, or about to close: u_N + e u_N^- >= 0
  linearised,  ///< g + h u_N >= 0 for all contacts nearby; no restitution
  nonlinear,   ///< g(y1) >= 0 itself; no restitution
  both,        ///< g + h u_N >= 0 for positions, then u_N + e u_N^- >= 0 for velocities; for bodies
};

enum class ImpactLaw {
  automatic,   ///< rounds between bodies, else newton
  newton,      ///< 0 <= u_N+ + e u_N^- _|_ r_N >= 0, all contacts at once
  poisson,     ///< two phases: compression, then e times its impulse
  moreau,      ///< the laws of contact and friction hold for the average (u+ + e u-)/(1 + e), all components
  sequential,  ///< one contact after the other; of bodies those that approach equally fast together
  rounds,      ///< all contacts that approach now together, then those that approach after it, until none does
};

/// Who does the work of a step.
enum class ContactDevice {
  host,     ///< any system
  threads,  ///< particles between fixed planes, gap linearised: one flat problem, every phase on all threads
  opencl,   ///< the same on an OpenCL device
};
/// Of sweeps on an OpenCL device: single with residuals and velocities anew in double, or double.
enum class ContactPrecision { mixed, full };

struct MoreauJeanOptions {
  double theta = 0;  ///< 1/2 to 1; 0: 1/2 with gap velocity, else 1; both has none
  GapTreatment gap = GapTreatment::automatic;
  double activation = 0.5;  ///< gamma: a contact is active where g + gamma h u_N <= eps
  ImpactLaw impact = ImpactLaw::automatic;
  bool last_first = false;  ///< sequential: the last approaching contact first
  ContactSolving solving{};
  /// Penetration is undone at this speed at most; 0: no limit. Negative: by a hundredth of the smallest body per step.
  /// With both, and where it is negative, by positions alone; else the speed becomes one of the bodies.
  double recover = -1;
  Projection projection = Projection::both;
  /// Forces at the end of the step are solved for; explicit ones are taken in the middle, by a prediction. Automatic:
  /// implicit up to 3000 velocities.
  enum class Forces { automatic, implicit, explicit_ };
  Forces forces = Forces::automatic;
  ContactDevice device = ContactDevice::host;  ///< with another than host, gap automatic is linearised
  ContactPrecision precision = ContactPrecision::mixed;
};
/// Moreau's and Jean's time stepping for contacts and joints; order 2 (theta = 1/2) between impacts, 1 across them.
MethodChoice moreau_jean(const MoreauJeanOptions& options = {});

struct PaoliSchatzmanOptions {
  ContactSolving solving{};
};
/// Paoli's and Schatzman's two-step scheme on positions; order 1 with impacts.
MethodChoice paoli_schatzman(const PaoliSchatzmanOptions& options = {});

struct EventDrivenOptions {
  MethodChoice base{};            ///< between events; explicit_runge_kutta() where none is given
  double base_tolerance = 1e-12;  ///< of a base that chooses its steps, where the run has steps of given length
  double v_stop = 1e-6;           ///< an impact that rebounds more slowly closes the contact
  ImpactLaw impact = ImpactLaw::newton;
  bool last_first = false;  ///< sequential: the last approaching contact first
  ContactSolving solving{};
};
/// Any method for smooth motion between events, which are located to round-off; for few contacts.
MethodChoice event_driven(const EventDrivenOptions& options = {});

}  // namespace hinge
