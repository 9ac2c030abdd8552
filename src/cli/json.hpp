// A run's report as the JSON object that `hinge run --json` prints.
#pragma once

#include <nlohmann/json.hpp>

#include "hinge/simulate.hpp"

namespace hinge::cli {

nlohmann::ordered_json to_json(const Report& report, const std::string& method_name);

}  // namespace hinge::cli
