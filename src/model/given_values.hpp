// What a model file says, as text, for those who show it and let it be changed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hinge/model.hpp"

namespace hinge {

/// Keys of a section ("parameters", "integrate") and their values as they are written in a file, texts without quotes;
/// with overrides. The text must be one that parse_model() takes.
std::vector<std::pair<std::string, std::string>> given_values(const std::string& text, const std::string& section,
                                                              const std::vector<Override>& overrides);

/// The overrides that Model::settings lists: "parameters.m=2 integrate.step=0.1".
std::vector<Override> overrides_in(const std::string& settings);

}  // namespace hinge
