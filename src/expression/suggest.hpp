// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hinge {

/// The name among `known` nearest to `name` (edit distance, at most a third of the length off, case ignored
/// first); empty if none is near. Used for every "did you mean".
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace hinge
