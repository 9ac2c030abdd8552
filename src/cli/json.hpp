// Results as the JSON objects that `hinge run --json`, `hinge convergence --json` and `hinge compare --json` print.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "hinge/comparison.hpp"

namespace hinge::cli {

using Json = nlohmann::ordered_json;

/// Indented. Titles and names of files may be no UTF-8, which JSON is: the bytes in question are replaced.
std::string json_text(const Json& json);
std::string json_text(const Report& report, const std::string& method_name);
std::string json_text(const ConvergenceStudy& study, const std::string& title);
std::string json_text(const WorkPrecision& work, const std::string& title);
/// Of all methods, for `hinge methods --json`.
std::string json_text(const std::vector<MethodInfo>& methods);

}  // namespace hinge::cli
