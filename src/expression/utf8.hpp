// UTF-8 text character by character, so that messages count and show what a reader sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hinge {

struct Character {
  std::uint32_t code = 0;
  std::size_t size = 1;  // in bytes
  bool valid = true;     // false: one byte that is not UTF-8
};

/// The character that starts at byte `at`.
Character decode_utf8(std::string_view text, std::size_t at);

/// Whether a terminal shows the character as a mark of its own: no control, no invisible or direction mark.
bool visible(const Character& c);

/// Space, tab and line breaks.
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Number of the character at byte `offset`, from 1.
int column_of(std::string_view text, std::size_t offset);

}  // namespace hinge
