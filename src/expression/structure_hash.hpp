// A number of 128 bits for a structure: what is the same has the same, what is not has another one.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

namespace hinge {

struct StructureHash {
  std::uint64_t one = 0, other = 0;

  void add(std::uint64_t x) {
    one = (one ^ x) * 0x9E3779B97F4A7C15ULL;
    one ^= one >> 29;
    other = (other + x) * 0xD6E8FEB86659FD93ULL;
    other ^= other >> 32;
  }
  void add(std::span<const std::int32_t> list) {
    add(list.size());
    for (const std::int32_t x : list) add(static_cast<std::uint64_t>(x));
  }
  friend auto operator<=>(const StructureHash&, const StructureHash&) = default;
};

}  // namespace hinge
