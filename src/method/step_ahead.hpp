// Steps of several runs that are computed together, in the lanes of a processor, ahead of the steppers that make them:
// advance() finds the numbers of its step there, which are those that it would compute, bit by bit. Where it takes
// another step it computes that by itself.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace hinge {

class StepLanes;

/// A step that a stepper is about to make.
class StepAhead {
 public:
  virtual ~StepAhead() = default;
  /// Steps of the same kind can be computed together.
  virtual const void* kind() const = 0;
  /// After it was computed: is it refused, and another one to be computed in its place? Then that is what it is now.
  virtual bool anew() = 0;
  /// Room for computing steps of this kind; one for each thread.
  virtual std::unique_ptr<StepLanes> make_lanes() const = 0;
};

class StepLanes {
 public:
  static constexpr std::size_t most = 4;
  virtual ~StepLanes() = default;
  /// At most four steps of one kind, those of one run always in the same place; null where there is none.
  virtual void compute(std::span<StepAhead* const> steps) = 0;
};

}  // namespace hinge
