// Where in a step the first root function of a piece passes its root: none that matters is stepped over.
//
// Between two states of the motion, interval arithmetic on its values and slopes (root_watch.hpp) says whether a
// function might pass its root and return. Where it might, both halves are looked at; where that finds no end, the step
// is too long to tell.
#pragma once

#include "method/wrap/smooth_piece.hpp"

namespace hinge {

class ChangeSearch {
 public:
  explicit ChangeSearch(const Tolerance& tolerance);

  enum class Outcome { none, found, unclear };
  /// In the step of `stepper` from `before` to `after`.
  Outcome find(SmoothPiece& piece, const Stepper& stepper, const State& before, const State& after);
  /// When it is found, to rounding, and which functions of the piece are beyond their roots there.
  double time() const { return time_; }
  const std::vector<std::size_t>& passed() const { return passed_; }

 private:
  Outcome search(const State& from, const State& to, std::size_t depth);
  bool is_passed(const State& s);
  bool is_one_of_these_beyond(const State& s);
  void locate(double low, const State& after);
  void probe(double t);

  Tolerance tolerance_;
  SmoothPiece* piece_ = nullptr;
  const Stepper* stepper_ = nullptr;
  State sample_;
  std::vector<State> samples_, levels_;  // of the step
  Bends bends_;
  std::vector<std::size_t> passed_;
  double time_ = 0;
  int looks_left_ = 0;
};

}  // namespace hinge
