// Results as the JSON objects that `hinge run --json` and `hinge convergence --json` print.
#pragma once

#include <nlohmann/json.hpp>

#include "hinge/comparison.hpp"

namespace hinge::cli {

nlohmann::ordered_json to_json(const Report& report, const std::string& method_name);
nlohmann::ordered_json to_json(const ConvergenceStudy& study, const std::string& title);
nlohmann::ordered_json to_json(const WorkPrecision& work, const std::string& title);

}  // namespace hinge::cli
