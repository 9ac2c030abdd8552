// Stops and dry friction of joints, as contacts among those of shapes:
//
//   stop       gap = L (angle - low), L (high - angle), or the same of a position without L    N row: gap' by z
//   friction   gap = 0, no N row                                   T rows: R angle', position' by z
//
// L is the length of the scene, so that all gaps are lengths. Friction has no normal of its own; its cone is as wide as
//
//   n = |F| + constant/(coefficient R),   F = sum_k s_k C_k over the velocities of a body, of the rows C of the joint
//
// with the impulses s that the same solve finds for the joint. A bearing with a span L along its axis a carries moments
// by two forces: |F/2 + a x M/L| + |F/2 - a x M/L| stands in the place of |F|. A universal joint has two such bearings,
// each with a motion of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collide/narrow.hpp"
#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "hinge/unilateral.hpp"

namespace hinge {

struct JointContact {
  std::string name;  ///< for messages
  bool friction = false;
  double coefficient = 0, restitution = 0;
  double constant = 0;          ///< part of n
  int first_row = 0, rows = 0;  ///< friction: of the joint, among all constraints
  int velocity = 0;             ///< friction: where the velocity of a body of the joint begins in z
  std::vector<int> columns{};   ///< of z, increasing
  std::size_t output = 0;       ///< of `functions`: gap, then `dimension` numbers for each column
  // friction with a span: two forces, each three components by so many multipliers, from `load_output` on; of the rows
  // that a method keeps, which of these
  std::size_t load_output = 0;
  int load_rows = 0;
  std::vector<int> load_columns{};
  // The same as nodes of the system's graph: gap; slip velocities; coefficient n of the multipliers
  Node gap_node = no_node;
  std::vector<Node> slip{};
  Node width = no_node;
};

struct JointContacts {
  int dimension = 3;
  std::vector<JointContact> list;
  std::shared_ptr<const Evaluator> functions;  ///< of (t, y)
  std::size_t outputs = 0;

  /// Keys of joints stand behind those of all shapes.
  static constexpr std::uint64_t collider = (std::uint64_t{1} << contact::collider_bits) - 1;
  static std::uint64_t key(std::size_t k) {
    return collider << (contact::collider_bits + contact::feature_bits) | k << contact::feature_bits;
  }
  static bool has(std::uint64_t key) { return contact::first_collider(key) == collider; }
  const JointContact& of(std::uint64_t key) const { return list[contact::second_collider(key)]; }
};

/// Evaluates them; one for each finder.
class JointContactFinder {
 public:
  explicit JointContactFinder(std::shared_ptr<const JointContacts> contacts);
  /// Appends those whose gap is at most `band`, and all friction.
  void find(double t, const double* y, double band, ContactList& out);
  void evaluate(double t, const double* y);
  /// Of the last evaluation.
  double gap(std::uint64_t key) const { return values_[contacts_->of(key).output]; }
  /// Of a joint with a span: |F/2 + a x M/L| + |F/2 - a x M/L| of the impulses of its rows.
  double load(const JointContact& joint, const double* impulse) const;
  const JointContacts& contacts() const { return *contacts_; }

 private:
  std::shared_ptr<const JointContacts> contacts_;
  std::vector<double> scratch_, values_;
};

}  // namespace hinge
