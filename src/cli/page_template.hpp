// The report page without data, as npm has made it from web/.
#pragma once

#include <string_view>

namespace hinge::cli {

/// Empty where the program was built without it.
std::string_view page_template();

}  // namespace hinge::cli
