#pragma once

#include <cstddef>

namespace hinge {

/// A row, a column or a count as an index of a container: numbers of them are signed here, as in Eigen and in KLU.
constexpr std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

}  // namespace hinge
