#include "expression/value.hpp"

#include <fmt/format.h>

namespace hinge {

std::string describe_shape(const std::vector<int>& shape) {
  if (shape.empty()) return "a number";
  if (shape.size() == 1) return fmt::format("a vector of length {}", shape[0]);
  if (shape.size() == 2) return fmt::format("an array of {} vectors of length {}", shape[0], shape[1]);
  return fmt::format("an array of shape {}", fmt::join(shape, " x "));
}

}  // namespace hinge
