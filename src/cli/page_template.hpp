// The report page without data, as npm has made it from web/.
#pragma once

#include <string_view>

#include "hinge/model.hpp"
#include "simulate/page/page_recorder.hpp"

namespace hinge::cli {

/// Empty where the program was built without it.
std::string_view page_template();
/// Throws InputError that says what to install where it is empty; `what` is what has asked for it: "--report".
void require_page_template(const char* what);
/// What a page says about a model.
PageOptions page_options(const Model& model);

}  // namespace hinge::cli
