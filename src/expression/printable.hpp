// Texts from files and command lines, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace hinge {

/// Control characters as \u001b, bytes that are no UTF-8 as \xff: a title must not move the cursor. The ends of lines
/// and tabs stay.
std::string printable(std::string_view text);

}  // namespace hinge
