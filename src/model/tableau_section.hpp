// [integrate.tableau]: the coefficients of a SPARK method of one's own.
#pragma once

#include "hinge/tableau.hpp"
#include "model/reader.hpp"

namespace hinge {

/// Reads what is there, with complaints that say where. What is missing, of a wrong shape or in violation of a
/// condition is found when the method is made.
SparkTableau read_tableau(const Item& item, const ValueReader& read);

}  // namespace hinge
