// Shapes that lie against each other make one surface, and a contact normal has to belong to that surface: a face that
// a neighbour hides, and an edge or corner between neighbours that are level or rise, have none of their own.
//
// A contact with the point x on b and the normal n (out of b) is hidden where everything that b shows along n near x
// lies in neighbours of b that reach further along n,
//
//   for all q of b near x with n.q = n.x there is a neighbour c with  q in c,  max over c of n.y > n.q
//
// (near x, since at the foot of a wall the floor is not hidden). A pair all of whose points are hidden, on b's side or
// on a's, is left out where such a neighbour itself touches.
#pragma once

#include <cstddef>
#include <vector>

#include "collide/narrow.hpp"

namespace hinge::contact {

class Seams {
 public:
  /// Which shapes of one body, or in space (body -1), lie against each other: once, at any poses.
  void prepare(const std::vector<Placed>& placed, const std::vector<int>& body, int dimension);
  /// Leaves out hidden pairs; the points of a pair stand one after the other. Shapes of two bodies are neighbours where
  /// faces of them touch now.
  void drop_hidden(const std::vector<Placed>& placed, std::vector<ContactPoint>& found);
  /// Is a point on the surface of shape b, touched by a, hidden by neighbours of b as drop_hidden() found them?
  bool hidden(const std::vector<Placed>& placed, int a, int b, const Eigen::Vector3d& x,
              const Eigen::Vector3d& normal) const;

 private:
  /// Neighbours of each shape, one list after the other.
  struct Lists {
    std::vector<int> first{}, of{};
    void build(std::size_t shapes, const std::vector<std::pair<int, int>>& pairs);
    bool empty() const { return of.empty(); }
    bool empty(int i) const { return begin(i) == end(i); }
    const int* begin(int i) const { return of.data() + first[static_cast<std::size_t>(i)]; }
    const int* end(int i) const { return of.data() + first[static_cast<std::size_t>(i) + 1]; }
  };
  struct Pair {
    int a = 0, b = 0;
    std::size_t first = 0, count = 0;
    bool hidden = false, answered = true;  ///< what hides it touches instead
  };
  struct Spot;

  void list_pairs(const std::vector<ContactPoint>& found);
  void list_touching(const std::vector<Placed>& placed, const std::vector<ContactPoint>& found);
  bool hidden_by_some(const std::vector<Placed>& placed, const std::vector<ContactPoint>& found, const Pair& pair,
                      bool on_b) const;
  bool neighbour_touches(const std::vector<Placed>& placed, const std::vector<ContactPoint>& found, const Pair& pair,
                         bool on_b) const;
  /// use(c) for every neighbour of one side of a pair that is on another body than the other side, until it is true.
  template <class Use>
  bool any_neighbour(int own, int other, Use&& use) const;
  const Pair* find_pair(int i, int j) const;

  int dimension_ = 3;
  std::vector<int> body_{};
  Lists fixed_{}, touching_{};
  std::vector<std::pair<int, int>> touching_pairs_{};
  std::vector<Pair> pairs_{};
  std::vector<std::size_t> sorted_{};  ///< of pairs_, by their shapes
};

}  // namespace hinge::contact
