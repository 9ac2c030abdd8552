// The constants of all Newton iterations of the house, with their reasons.
//
// Where an iteration ends at round-off (Settling), `floor` is what rounding makes of an increment in units of the
// unknowns, and `stagnation` what an ill-conditioned matrix may magnify that to: an increment below it that does not
// shrink any more is rounding, too.
#pragma once

#include <limits>

#include "solve/newton/convergence.hpp"
#include "solve/newton/within_tolerance.hpp"

namespace hinge::newton_policy {

// Start values. They may be far away, and are computed once: many iterations, damped.
inline constexpr Settling::Policy start_position{.limit = 100, .floor = 4e-16, .stagnation = 1e-13};
inline constexpr Settling::Policy start_velocity{.limit = 100, .floor = 4e-16, .stagnation = 1e-11};
// Multipliers are measured against the accelerations, which cancel in them.
inline constexpr Settling::Policy start_multipliers{.limit = 100, .floor = 1e-14, .stagnation = 1e-9};
// z from p(z) or v(z): a mass that is badly scaled dithers, so that after ten iterations less is asked for.
inline constexpr Settling::Policy start_inverse{
    .limit = 50, .floor = 1e-15, .patience = 11, .late = 1e-12, .late_shrinking = 0};
// Least squares on a derivative array; its residual is looked at afterwards.
inline constexpr Settling::Policy derivative_array{.limit = 60, .floor = 1e-14};

// Back onto the constraints, with a matrix of a point nearby: where that contracts slowly, ten iterations are enough.
inline constexpr Settling::Policy projection{
    .limit = 50, .floor = 4e-16, .stagnation = 1e-12, .patience = 10, .late = 1e-10, .late_shrinking = 0};
inline constexpr Settling::Policy acceleration{.limit = 30, .floor = 1e-14, .stagnation = 1e-10};
inline constexpr Settling::Policy half_explicit{.limit = 40, .floor = 2e-16, .stagnation = 1e-12};

// Steps of general DAEs of higher index, whose rounding is divided by powers of h. Increments that stop shrinking with
// an old matrix may be slow convergence, unless they are tiny.
inline constexpr Settling::Policy multistep{.limit = 40, .floor = 1e-16, .stagnation = 1e-9, .with_old_matrix = 1e-13};

// Steps with contacts, where the user has a say in the limit. Contact problems with friction are solved to 1e-10 of
// their own scale: what is left then does not get less, and after some iterations more is taken for that.
inline constexpr Settling::Policy contacts_on_velocities{
    .limit = 0, .floor = 4e-16, .stagnation = 1e-11, .at_the_limit = 1e-6};
inline constexpr Settling::Policy nonlinear_gaps{.limit = 0, .floor = 1e-12};
inline constexpr Settling::Policy contacts_on_positions{
    .limit = 0, .floor = 4e-16, .stagnation = 1e-10, .patience = 10, .late = 1e-8};
inline constexpr Settling::Policy contacts_and_forces{
    .limit = 30, .floor = 1e-15, .stagnation = 1e-11, .patience = 5, .late = 1e-9};
inline constexpr Settling::Policy opened_contacts{.limit = 0, .floor = 1e-15};
// Complementarity pairs: in units of round-off of each unknown. Derivatives are exact, so increments fall to a quarter
// where they are not rounding.
inline constexpr Settling::Policy pairs{.limit = 0, .floor = 1, .stagnation = 1e5, .shrinking = 0.25};
// The time of an event, after it was bracketed: each correction costs a step.
inline constexpr Settling::Policy event_time{.limit = 4, .floor = 2e-16};
// Spins of a body that wobbles, over half a step; where it turns by a radian the iteration may not end.
inline constexpr Settling::Policy spins{.limit = 30, .floor = 2e-16, .stagnation = 1e-13};
// The direction of least distance, on the unit sphere.
inline constexpr Settling::Policy separation{.limit = 50, .floor = 1e-15};

// Kept matrices: a factorisation that costs as much as a few iterations pays where it saves these. Small matrices of
// the end of a step cost little.
inline constexpr MatrixPolicy stages{.renew_above = 0.15};
inline constexpr MatrixPolicy velocity_level{.renew_above = 0.025};
inline constexpr MatrixPolicy position_level{.renew_above = 0.1};
inline constexpr MatrixPolicy discrete_gradient{.renew_above = 0.05};
inline constexpr MatrixPolicy collocation{.renew_above = 0.3};
// Equations of systems of functions contain differences of differences, uncertain by some 1e-12.
inline constexpr MatrixPolicy collocation_by_differences{.renew_above = 0.3, .noise = 1e4};
// Full Newton iterations make the matrix anew until there is nothing to be gained by it.
inline constexpr MatrixPolicy full{.renew_above = 0.05, .full = true};
inline constexpr MatrixPolicy full_on_branch{.renew_above = 0.01, .full = true};
inline constexpr MatrixPolicy full_discrete_gradient{.full = true, .quadratic = true};
// Multistep methods keep their matrix from step to step while it contracts by this.
inline constexpr double multistep_renew_above = 0.2;
// Increments that are still larger than this part of the unknowns after so many do not lead to the solution that the
// guess is near.
inline constexpr int multistep_patience = 9;
inline constexpr double multistep_near = 1e-4;

// Within a tolerance. Collocation as in RADAU5, where limit and accuracy depend on the stages; multistep as in DASSL,
// but with no rate of convergence taken over from an earlier step.
inline constexpr WithinTolerance::Policy collocation_within_tolerance{};
inline constexpr WithinTolerance::Policy multistep_within_tolerance{
    .limit = 4,
    .enough = 0.033,
    .diverging_at_once = 0.9,
    .diverging = 0.9,
    .overall = true,
    .predicts = false,
    .rounding = 100 * std::numeric_limits<double>::epsilon(),
    .negligible = 0.033e-3};

}  // namespace hinge::newton_policy
