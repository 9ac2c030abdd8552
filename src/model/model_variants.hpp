// Models that differ in some numbers: how the reader is told, and what it says of them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "hinge/model.hpp"

namespace hinge {

/// The keys of the last `count` overrides, and whether each has been read as a value of an expression and nothing else.
struct VariedKeys {
  std::size_t count;
  std::map<std::string, bool> read{};
};

/// parse_model(), where these numbers are noted as given (expression/constant_trace.hpp).
Model parse_varied_model(const std::string& text, const std::string& name, const std::vector<Override>& overrides,
                         VariedKeys* varied);

/// Model::settings
std::string settings_text(const std::vector<Override>& overrides);

}  // namespace hinge
