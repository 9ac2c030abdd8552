// Where the entries of a graph stand in its tables, which use open addressing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

inline std::size_t hash_of(const Graph::Entry& e) {
  auto mix = [](std::uint64_t h, std::uint64_t x) {
    h ^= x;
    h *= 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
  };
  std::uint64_t h = static_cast<std::uint64_t>(e.op) + 1;
  h = mix(h, static_cast<std::uint32_t>(e.a));
  h = mix(h, static_cast<std::uint32_t>(e.b));
  h = mix(h, static_cast<std::uint32_t>(e.c));
  return mix(h, std::bit_cast<std::uint64_t>(e.value));
}

// Numbers of nodes take so many bits of what stands in a table, which is at most half full. The bits above have a part
// of a hash: few entries that are not the same are looked at, which may be far away in memory.
class Labels {
 public:
  explicit Labels(std::size_t table) : bits_(std::countr_zero(table) - 1) {}
  Node label(Node n, const Graph::Entry& e) const {
    return static_cast<Node>((hash(e) >> (33 + static_cast<unsigned>(bits_))) << bits_) | n;
  }
  Node node(Node labelled) const { return labelled & ((Node{1} << bits_) - 1); }
  bool alike(Node labelled, Node other) const { return (labelled ^ other) >> bits_ == 0; }

 private:
  static std::uint64_t hash(const Graph::Entry& e) {
    const auto number = [](Node n) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)); };
    return (static_cast<std::uint64_t>(e.op) + 1) * 0x8CB92BA72F3D8DD7ull + number(e.a) * 0x9E3779B97F4A7C15ull +
           number(e.b) * 0xD6E8FEB86659FD93ull + number(e.c) * 0xC2B2AE3D27D4EB4Full;
  }
  int bits_;
};

// The slots in which an entry may stand, in turn. First a few near a multiple of the number of one of its operands:
// what is made one after the other is looked for in memory that is near, too. That is the last operand that is no
// variable, if there is one: variables stand side by side and are used by many, so they have twice the room. Where many
// share the operand, those slots are taken; then anywhere.
class Slots {
 public:
  Slots(const std::vector<Graph::Entry>& entries, const Graph::Entry& e, std::size_t mask) : entry_(e), mask_(mask) {
    const Node beside = neighbour(entries, e);
    if (beside < 0) {
      go_anywhere();
      return;
    }
    const std::size_t room = entries[static_cast<std::size_t>(beside)].op <= Op::variable ? 4 : 2;
    near_ = nearby;
    slot_ = (room * static_cast<std::size_t>(beside) + scatter(e) % 4) & mask_;
  }
  std::size_t slot() const { return slot_; }
  void next() {
    if (near_ > 0) {
      if (--near_ == 0) return go_anywhere();
      slot_ = (slot_ + 1) & mask_;
      return;
    }
    // in leaps: what is near is crowded in places
    slot_ = anywhere_ & mask_;
    anywhere_ += leap_;
  }

 private:
  static Node neighbour(const std::vector<Graph::Entry>& entries, const Graph::Entry& e) {
    if (e.op <= Op::variable) return no_node;
    const auto made = [&](Node n) {
      return n >= 0 && entries[static_cast<std::size_t>(n)].op > Op::variable ? n : no_node;
    };
    const Node last = std::max({made(e.a), made(e.b), made(e.c)});
    return last >= 0 ? last : std::max({e.a, e.b, e.c});
  }
  static std::size_t scatter(const Graph::Entry& e) {
    return static_cast<std::size_t>(e.op) + 3 * static_cast<std::size_t>(e.a ^ e.b);
  }
  void go_anywhere() {
    anywhere_ = hash_of(entry_);
    leap_ = anywhere_ >> 20 | 1;
    slot_ = anywhere_ & mask_;
    anywhere_ += leap_;
  }

  static constexpr int nearby = 12;
  const Graph::Entry& entry_;
  std::size_t mask_, slot_ = 0, anywhere_ = 0, leap_ = 1;
  int near_ = 0;
};

}  // namespace hinge
