// The force of all contacts on a body, as expressions may use it: variables that have their values from the impulses of
// the last step, over its length.
#pragma once

#include <string>
#include <vector>

#include "body/body_table.hpp"
#include "hinge/method.hpp"

namespace hinge {

class ContactForces {
 public:
  ContactForces() = default;
  explicit ContactForces(const System& system);
  bool empty() const { return variables_.empty(); }
  const std::vector<Node>& variables() const { return variables_; }
  /// Zeros before the first step. Valid until the next call.
  const std::vector<double>& of(const ContactImpulses* impulses);

 private:
  int dimension_ = 3;
  std::vector<Node> variables_;
  std::vector<int> place_;  // of each collider: where the force on its body stands; -1: nowhere
  std::vector<double> values_;
};

}  // namespace hinge
