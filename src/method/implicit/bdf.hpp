// Backward differentiation formulas on F(t, x, x') = 0: what the two steppers share, and how they are made.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

struct BdfOptions {
  FormulationOptions form{};
  double keep_partition = 0.5;  ///< as in formulate()
  int order = 5;                ///< with chosen steps the largest, else the order
  /// "extended" with steps of given length: Newton's iteration for the overdetermined system, in which mu and tau are
  /// the multipliers of a symmetric saddle point instead of unknowns.
  bool ssf = false;
  /// After every step. Where nothing is asked for: none with steps of given length, which leave round-off; with chosen
  /// steps both levels where the formulation has both, since Newton's iteration leaves a part of the tolerance.
  std::optional<Projection> projection{};
};

/// Steps of given length. Defined in bdf_fixed.cpp.
std::unique_ptr<Stepper> make_fixed_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                        const SolverOptions& solver);
/// The same with a history of the user's: `order` states, h apart, the last of which is where the next step begins.
/// What starting values cost in accuracy is thus left to whoever gives them.
std::unique_ptr<Stepper> make_fixed_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                        const SolverOptions& solver, const std::vector<State>& history, double h);

/// BDF of orders 1 to 5 with steps and orders chosen to meet a tolerance, on F(t, x, x') = 0 of index up to 3.
///
/// The method, its error test and the choice of order are those of bdf_coefficients.hpp and choose_next(). Three
/// things make it work on problems of higher index:
///
///   (a) error and order tests look at unknowns of index 1 only (ImplicitProblem::Unknown::tested);
///   (b) Newton's increments of other unknowns are measured in units of their own (increment_units.hpp);
///   (c) at least two iterations per step, and no rate of convergence is taken over from an earlier step.
///
/// Two more keep it from going round in circles, which the usual control of order and step does where the error of a
/// step does not shrink as its length and order promise. The multipliers of index 2 change by O(h^k) when h or k do,
/// and the error test sees this as a jump of x'; an algebraic unknown may follow the others with large factors that
/// cancel on the solution, though not in its error.
///
///   (d) order 2, once chosen, is kept for three steps, unless the error test refuses one of them
///   (e) after the error test has refused a step, none is lengthened until k + 2 steps of equal length have shown
///       whether a higher order would do better
///
/// Newton's iteration keeps the constraints that are rows of F to a small part of the tolerance; the projection that
/// follows (where both levels are rows, unless it is switched off) to round-off. Keeps neither energy nor the
/// symplectic form.
///
/// The multipliers of a state are those of the formulation where these are functions of positions and velocities
/// (index-1, baumgarte, extended, projected-invariants, charts). Elsewhere (index-3, index-2, ggl) they depend on the
/// last steps' lengths, and are computed anew from positions and velocities.
///
/// Bodies in space are followed in coordinates that move along (formulation/implicit/moving_problem.hpp), chosen anew
/// with every step; the values that the history stands for are then written in the new ones. Defined in
/// bdf_adaptive.cpp.
std::unique_ptr<Stepper> make_adaptive_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                           const SolverOptions& solver, const StepOptions& adaptive);

/// Why the equations of a step could not be solved, with the likely cause.
StepResult bdf_failure(const System& system, const State& state, double h, NewtonTrouble trouble);

}  // namespace hinge
