// The report of a run as the facts that its page shows.
#pragma once

#include "hinge/simulate.hpp"
#include "simulate/page/page_blocks.hpp"

namespace hinge {

/// Not finite: the word that stands for it in a page.
Json json_number(double x);
/// From "title" to "cost".
Json page_summary(const Report& report, const std::string& method_name);

}  // namespace hinge
