// Newton's iteration: one loop for every method, start and projection of the house.
//
//   improve()   one increment: the residual, the matrix where it is wanted, the solution, the iterate moved by it
//   rule        judges the sizes of the increments: Convergence (to round-off, which is learnt), Settling (to round-off
//               relative to the unknowns), WithinTolerance (to a part of a tolerance)
//
// No allocation, no virtual call. Which iteration has which constants, and why, is said in policies.hpp.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "solve/newton/policies.hpp"

namespace hinge {

enum class NewtonTrouble { none, singular, not_finite, slow };

/// What one improvement was: the size of the increment and, for rules that want it, that of the unknowns.
struct Increment {
  Increment(double size_, double scale_ = 1) : size(size_), scale(scale_) {}
  double size, scale;
};

/// In the place of a size: nothing is left to be improved; there is no increment, as the matrix is singular or the
/// way is closed; it was shortened, and so says nothing about convergence.
inline constexpr double already_solved = 0, no_increment = -1, shortened = -2;

/// A rule, and the books of who asks: `solved`, how many iterations an increment has ended, and `increments`, the sum
/// of these, in the units of what ends an iteration at once.
template <class Rule, class Books>
struct Booked {
  Booked(Rule&& its_rule, Books& its_books) : rule(std::forward<Rule>(its_rule)), books(its_books) {}
  Rule rule;  // or a reference
  Books& books;
};
template <class Rule, class Books>
Booked(Rule&&, Books&) -> Booked<Rule, Books>;

/// `accept` is asked where the rule is content; the iteration goes on where it is not.
template <class Rule, class Improve, class Accept>
NewtonTrouble newton(Rule&& rule, Improve&& improve, Accept&& accept) {
  if constexpr (requires { rule.books; }) {
    const NewtonTrouble trouble = newton(rule.rule, improve, accept);
    const double left = rule.rule.last_relative();
    if (trouble == NewtonTrouble::none && (left > 0 || rule.rule.count() > 1)) {  // else nothing was left to be done
      ++rule.books.solved;
      rule.books.increments += left;
    }
    return trouble;
  } else {
    rule.begin();
    for (;;) {
      const Increment increment = improve();
      if (increment.size == no_increment) return NewtonTrouble::singular;
      if (increment.size == shortened) continue;
      const NewtonVerdict verdict = rule.judge(increment.size, increment.scale);
      if (verdict == NewtonVerdict::converged && accept()) return NewtonTrouble::none;
      if (verdict == NewtonVerdict::failed || rule.exhausted())
        return std::isfinite(increment.size) ? NewtonTrouble::slow : NewtonTrouble::not_finite;
    }
  }
}

template <class Rule, class Improve>
NewtonTrouble newton(Rule&& rule, Improve&& improve) {
  return newton(rule, improve, [] { return true; });
}

template <class Rule, class Improve>
bool solved_by_newton(Rule&& rule, Improve&& improve) {
  return newton(rule, improve) == NewtonTrouble::none;
}

/// The longest of 1, 1/2, 1/4, ... that `good` is content with; 0 where none of the first `most` is good.
template <class Good>
double damping(int most, Good&& good) {
  double length = 1;
  for (int tries = 0; tries < most; ++tries, length /= 2)
    if (good(length)) return length;
  return 0;
}

/// A simple root, from a guess so close that it takes a few iterations; `correction(x)` is f(x) / f'(x). The limit only
/// ends a dither in the last bit.
template <class Real, class Correction>
Real newton_root(Real x, Correction&& correction) {
  newton(Settling({.limit = 20, .floor = 2 * static_cast<double>(std::numeric_limits<Real>::epsilon())}), [&] {
    const Real dx = correction(x);
    x -= dx;
    return Increment(static_cast<double>(std::abs(dx)));
  });
  return x;
}

}  // namespace hinge
