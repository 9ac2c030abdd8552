// Numbers for what touches what within a pair, below 2^20, the same from step to step.
//
// Hulls of up to 512 edges have one number per combination; beyond that numbers may coincide, and `collide` then counts
// on to the next free one.
#pragma once

#include <cstdint>

namespace hinge::contact {

/// A vertex of a over a face of b, or of b over one of a.
inline std::uint32_t vertex_feature(bool of_a, int vertex) {
  return (of_a ? 0u : 1u << 18) | (static_cast<std::uint32_t>(vertex) & 0x3ffffu);
}
/// An edge of a across an edge of b.
inline std::uint32_t edges_feature(int edge_a, int edge_b) {
  return 2u << 18 | ((static_cast<std::uint32_t>(edge_a) * 512u + static_cast<std::uint32_t>(edge_b)) & 0x3ffffu);
}
/// A vertex of one nearest to an edge (in the plane: to a vertex) of the other.
inline std::uint32_t corner_feature(bool vertex_of_a, int vertex, int edge) {
  return 3u << 18 | (vertex_of_a ? 0u : 1u << 17) |
         ((static_cast<std::uint32_t>(vertex) * 512u + static_cast<std::uint32_t>(edge)) & 0x1ffffu);
}

}  // namespace hinge::contact
