#include "expression/printable.hpp"

#include <fmt/format.h>

namespace hinge {
namespace {

/// The length of the character at the beginning and its number; 0 where it is no UTF-8.
std::size_t first_character(std::string_view text, unsigned& number) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  number = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if (byte(k) >> 6 != 2) return 0;
    number = number << 6 | (byte(k) & 0x3FU);
  }
  constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = number >= 0xD800 && number < 0xE000;
  return number < least[length] || surrogate || number > 0x10FFFF ? 0 : length;
}

/// C0 and C1, and those that turn the direction of what follows.
bool is_control(unsigned c) {
  if (c == '\n' || c == '\t') return false;
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    unsigned number = 0;
    const std::size_t length = first_character(text, number);
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (is_control(number))
      out += fmt::format("\\u{:04x}", number);
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace hinge
