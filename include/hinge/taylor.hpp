// Taylor series on the equations as they are typed: accuracies down to round-off, DAEs of any index.
#pragma once

#include "hinge/method.hpp"

namespace hinge {

struct TaylorOptions {
  int order = 0;  ///< 2 to 60; 0: from the tolerance, or 10 with steps of given length
  /// After every step. DAEs are put back onto all their constraints in any case.
  Projection projection = Projection::both;
};
/// Taylor series, fixed or chosen steps, for systems made of expressions that are not stiff.
MethodChoice taylor(const TaylorOptions& options = {});

}  // namespace hinge
