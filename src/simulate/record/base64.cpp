#include "simulate/record/base64.hpp"

namespace hinge {

std::string base64(std::string_view bytes) {
  static const char* const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const std::size_t left = bytes.size() - k;
    const auto byte = [&](std::size_t i) { return i < left ? static_cast<unsigned char>(bytes[k + i]) : 0u; };
    const unsigned group = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += letters[group >> 18];
    text += letters[group >> 12 & 63];
    text += left > 1 ? letters[group >> 6 & 63] : '=';
    text += left > 2 ? letters[group & 63] : '=';
  }
  return text;
}

}  // namespace hinge
