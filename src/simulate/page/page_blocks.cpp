#include "simulate/page/page_blocks.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#ifdef HINGE_HAVE_ZLIB
#include <zlib.h>
#endif

#include "simulate/record/base64.hpp"

namespace hinge {

static_assert(std::endian::native == std::endian::little, "pages and records hold little-endian numbers");

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
