#include "simulate/page/page_blocks.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#ifdef HINGE_HAVE_ZLIB
#include <zlib.h>
#endif

namespace hinge {

static_assert(std::endian::native == std::endian::little, "pages and records hold little-endian numbers");

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

namespace {

// Empty where packing gains nothing.
std::string packed([[maybe_unused]] std::string_view bytes) {
#ifdef HINGE_HAVE_ZLIB
  constexpr std::size_t few = 200;
  if (bytes.size() < few) return {};
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 6);
  if (result != Z_OK || size > bytes.size() / 10 * 9) return {};
  out.resize(size);
  return out;
#else
  return {};
#endif
}

}  // namespace

template <class Number>
int PageBlocks::add_as(const char* type, std::span<const Number> values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  const std::string small = packed(bytes);
  Json info = {{"type", type}, {"count", values.size()}};
  if (!small.empty()) info["encoding"] = "deflate-base64";
  infos_.push_back(std::move(info));
  texts_.push_back(base64(small.empty() ? bytes : std::string_view(small)));
  return static_cast<int>(texts_.size()) - 1;
}

int PageBlocks::add(std::span<const double> values) { return add_as("float64", values); }
int PageBlocks::add(std::span<const float> values) { return add_as("float32", values); }
int PageBlocks::add(std::span<const std::uint16_t> values) { return add_as("uint16", values); }
int PageBlocks::add(std::span<const std::int16_t> values) { return add_as("int16", values); }
int PageBlocks::add(std::span<const std::uint32_t> values) { return add_as("uint32", values); }
int PageBlocks::add(std::span<const std::int32_t> values) { return add_as("int32", values); }

int PageBlocks::add_line(std::span<const double> values) {
  constexpr double largest = 1e38, smallest = 1e-37;
  std::vector<float> single;
  single.reserve(values.size());
  for (const double x : values) {
    const double size = std::abs(x);
    if (size > largest || (size > 0 && size < smallest)) return add(values);
    single.push_back(static_cast<float>(x));
  }
  return add(std::span<const float>(single));
}

}  // namespace hinge
