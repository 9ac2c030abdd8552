#include "expression/utf8.hpp"

#include <array>

namespace hinge {

Character decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[k])); };
  const std::uint32_t lead = byte(at);
  if (lead < 0x80) return {.code = lead};
  const Character broken{.code = lead, .size = 1, .valid = false};
  if (lead < 0xC2 || lead > 0xF4) return broken;
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() - at < size) return broken;
  std::uint32_t code = lead & (0x7Fu >> size);
  for (std::size_t k = 1; k < size; ++k) {
    if ((byte(at + k) & 0xC0) != 0x80) return broken;
    code = (code << 6) | (byte(at + k) & 0x3F);
  }
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest[size] || surrogate || code > 0x10FFFF) return broken;
  return {.code = code, .size = size};
}

bool visible(const Character& c) {
  const auto between = [&](std::uint32_t low, std::uint32_t high) { return c.code >= low && c.code <= high; };
  return c.valid && c.code > 0x20 && !between(0x7F, 0xA0) && c.code != 0xAD && !between(0x2000, 0x200F) &&
         !between(0x2028, 0x202F) && !between(0x2060, 0x206F) && c.code != 0xFEFF && !between(0xE000, 0xF8FF);
}

int column_of(std::string_view text, std::size_t offset) {
  int column = 1;
  for (std::size_t at = 0; at < offset && at < text.size(); at += decode_utf8(text, at).size) ++column;
  return column;
}

}  // namespace hinge
