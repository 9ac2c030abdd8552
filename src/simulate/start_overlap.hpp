// Bodies that begin inside of each other, where that is allowed, and are pushed apart by positions: heights that they
// gain then are nobody's energy.
#pragma once

#include <memory>

#include "hinge/memory.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge {

struct State;
class System;

class StartOverlap {
 public:
  void begin(const System& system);
  /// The start, and every state behind it.
  void see(const State& state);
  /// How far they were inside of each other at the start; 0 where no overlap is allowed.
  double depth() const { return depth_; }
  /// Was the step to the last state one that pushed them?
  bool is_pushed() const { return pushed_; }
  void exchange(Memory& memory) { memory(depth_, steps_left_); }

 private:
  double deepest(const State& state);

  std::unique_ptr<ContactFinder> finder_;  // while they are not apart
  ContactList list_;
  double depth_ = 0, smallest_ = 0;
  long steps_left_ = -1;  // -1: nothing was seen yet; 0: nobody looks any more
  bool pushed_ = false;
};

}  // namespace hinge
