// What the page of `hinge view` lets one change: parameters, the method and its options, step, tolerance and end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hinge/model.hpp"
#include "simulate/page/page_blocks.hpp"

namespace hinge::cli {

/// What was changed on the page so far, by the key of the model.
using Changes = std::map<std::string, std::string>;

/// The overrides of the command line, then the changes.
std::vector<Override> with_changes(std::vector<Override> given, const Changes& changes);

/// "form" of web/DATA.md for a model that was read with these overrides.
Json form_of(const Model& model, const std::vector<Override>& overrides);

/// The changes after what a page has sent, the body of POST /api/run. Only what the form has can be changed: throws
/// InputError for everything else.
Changes changes_after(const Changes& before, const std::string& body, const Model& model,
                      const std::vector<Override>& overrides);

}  // namespace hinge::cli
