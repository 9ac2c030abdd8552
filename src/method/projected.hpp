// Any one-step method with a projection onto the constraints after every step (formulation/project): the option
// `projection` of all methods that have none of their own.
#pragma once

#include "hinge/method.hpp"

namespace hinge {

/// What a method with such a projection says of itself. What it keeps of the levels that are projected stays as it is;
/// what it does not keep is kept then, at the price of what it preserves otherwise.
void declare_projection(MethodChoice& method, Projection which);
/// The method followed by the projection.
MethodChoice projected(MethodChoice method, Projection which);

/// The same for a method that is bound already. After every step the method goes on from the projected state by
/// continue_from().
std::unique_ptr<Stepper> projected(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system,
                                   Projection which, LinearAlgebra choice = LinearAlgebra::automatic);

}  // namespace hinge
