// What a collision world keeps, and how it searches (world_search.cpp).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "collide/grid.hpp"
#include "collide/narrow.hpp"
#include "collide/seams.hpp"
#include "hinge/shape.hpp"

namespace hinge {

namespace contact {

/// What is needed of every collider in every call, close together: what decides whether two may touch at all, and
/// whether one is a sphere about the origin of its body, which most colliders of large scenes are.
struct Filter {
  int body = -1;
  std::uint32_t group = 1, collides_with = 0xffffffffu;
  bool sphere = false, centred = false;
};

struct Level {
  std::vector<int> members{};
  double largest = 0;  ///< radius of the largest ball
  std::vector<Ball> balls{};
  Grid grid{};
};

/// What one part of a search has found.
struct Findings {
  std::vector<ContactPoint> points{};
  Touches touches{};
};

/// A part of a search: balls or rows of cells, first to last.
struct SearchPart {
  enum Kind { few, against_all, within_level, across_levels } kind;
  int a, b;  ///< a place among the few and a level; a level; two levels
  int first, last;
};

std::string called(const Collider& collider, int number);
inline std::uint32_t feature_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key & ((1u << feature_bits) - 1));
}

}  // namespace contact

struct CollisionWorld::Impl {
  explicit Impl(int d) : dimension(d) {}

  int dimension;
  std::vector<Collider> colliders{};
  std::vector<contact::Geometry> geometry{};
  std::vector<contact::Filter> filter{};
  std::vector<std::pair<int, int>> ignored{};  ///< of bodies, smaller first; sorted when not changed
  bool changed = true;

  std::vector<contact::Level> levels{};  ///< the largest first
  std::vector<int> few{};
  std::vector<contact::Placed> placed{};
  std::vector<contact::SearchPart> parts{};
  std::vector<contact::Findings> findings{};  ///< of the parts, or of all
  std::vector<ContactPoint> found{};
  std::vector<int> count{}, order{};
  contact::Seams seams{};

  void arrange();
  contact::Placed place(int collider, const std::vector<BodyPose>& poses) const;
  bool place_at(int collider, const std::vector<BodyPose>& poses);
  void place_all(const std::vector<BodyPose>& poses);
  bool may_touch(int i, int j) const;
  /// Which of the two is a: the smaller one, unless it is fixed.
  std::pair<int, int> ordered(int i, int j) const;
  void pair(int i, int j, double band, contact::Findings& into) const;
  void pair(const contact::Ball& x, const contact::Ball& y, double band, contact::Findings& into) const;
  void broad_phase(double band);
  void list_parts();
  void search(const contact::SearchPart& part, double band, contact::Findings& into) const;
  void one_against_all(int i, const contact::SearchPart& part, double band, contact::Findings& into) const;
  void sort_into(std::vector<ContactPoint>& out);
  void find_seams();
};

}  // namespace hinge
