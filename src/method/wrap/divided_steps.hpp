// Steps of given length where none chose them with the method in mind: the default. A step is made in parts where it
// fails, or where bodies move in a way that keeps its energy and the step does not,
//
//   |H1 - H0| > 2e-9 T h1/h,      T the largest kinetic energy so far, h1/h the part of the step,
//
// to 1/256 of its length. Parts are powers of two, each as long as the energy allows. Steps that need no parts are
// those of the method itself, and so are all steps of equations that can be solved.
#pragma once

#include "hinge/method.hpp"

namespace hinge {

/// The method with its steps divided where that is needed.
MethodChoice divided(MethodChoice method);

}  // namespace hinge
