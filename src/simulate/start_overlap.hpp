// Bodies that begin inside of each other, where that is allowed, and are pushed apart by positions: heights that they
// gain then are nobody's energy. That excuses these pairs alone, as deep as each began, and no more energy than forces
// have along such ways.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hinge/memory.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge {

struct ContactImpulses;
struct State;
class System;

class StartOverlap {
 public:
  void begin(const System& system);
  /// The start, and every state behind it, with what the method has found there.
  void see(const State& state, const ContactImpulses* contacts);
  /// How far they were inside of each other at the start; 0 where no overlap is allowed.
  double depth() const { return depth_; }
  /// The same of all pairs together.
  double ways() const { return ways_; }
  /// The deepest that was seen without such an excuse; `all` where none is needed.
  double beyond(double all) const { return depth_ > 0 ? beyond_ : all; }
  /// Was the step to the last state one that pushed them?
  bool is_pushed() const { return pushed_; }
  void exchange(Memory& memory) { memory(depth_, steps_left_, ways_, beyond_, pairs_, depths_); }

 private:
  double deepest(const State& state);
  void take_pairs();
  void compare(const ContactList& list);

  std::unique_ptr<ContactFinder> finder_;
  ContactList list_;
  std::vector<std::uint64_t> pairs_;  // that overlapped at the start, ascending
  std::vector<double> depths_;
  double depth_ = 0, ways_ = 0, beyond_ = 0, smallest_ = 0;
  long steps_left_ = -1;  // -1: nothing was seen yet; 0: nobody looks any more
  bool pushed_ = false;
};

}  // namespace hinge
