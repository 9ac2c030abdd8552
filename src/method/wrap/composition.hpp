// The coefficients of symmetric compositions; the method is in composition.cpp.
#pragma once

#include <string>
#include <vector>

namespace hinge {

/// The lengths g_i that take a symmetric method of order `from` (even) to order `to`; an unknown scheme or order is an
/// InputError that says what there is.
std::vector<double> composition_lengths(const std::string& scheme, int from, int to);

}  // namespace hinge
