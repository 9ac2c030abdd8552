// A method on a system whose constraints depend on each other: it sees as many of them as are independent.
//
// Which ones is decided when the motion begins (formulation/start/redundancy.hpp) and looked at after every step: when
// an exchange of one row would make the volume of the kept ones 1.6 times larger, others are kept from there on, and
// the method starts anew. Multipliers of all rows are those of least norm. Where no constraint depends on others
// nothing is done.
#pragma once

#include <functional>
#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// A method that takes all constraints, dependent or not: one with a penalty, say.
struct AnyRank {
  virtual ~AnyRank() = default;
  virtual bool takes_any_rank() const = 0;
};

using BindMethod = std::function<std::unique_ptr<Stepper>(std::shared_ptr<const System>)>;

/// `bind` binds the method to the system, or to one with fewer rows.
std::unique_ptr<Stepper> bind_to_independent_rows(std::shared_ptr<const System> system, BindMethod bind);

}  // namespace hinge
