// All sign changes of a function of time, one after the other: none is stepped over, however short the time between
// two.
//
// A stretch on which the function's bounds exclude zero has none; one on which the bounds of its slope do has one at
// most, and the signs at the ends tell. Any other stretch is halved. Only as much is searched as is asked for: what is
// left waits on a stack, earliest on top.
#pragma once

#include <optional>
#include <vector>

#include "expression/enclosure.hpp"

namespace hinge {

class SignChanges {
 public:
  /// Of a function of one variable. Where `touches` count, places at which it comes to zero without passing it, up to
  /// rounding, are reported as well.
  SignChanges(const Graph& graph, Node function, bool touches);

  /// Begins anew: all of them from here on.
  void begin(double from);
  /// The next one up to `limit`, to rounding; none where there is none. Not before earlier ones.
  std::optional<double> next(double limit);
  /// The search took more than its budget on a stretch: from here on changes may be missing. Infinity where not.
  double lost_from() const { return lost_from_; }

 private:
  struct Stretch {
    double from, to;
  };
  double value(double t) { return function_.at(std::span(&t, 1)); }
  double locate(double low, double high);
  std::optional<double> fresh(double t);

  Enclosure function_;
  bool touches_;
  std::vector<Stretch> open_;
  double searched_ = 0, last_, lost_from_;
  double scale_ = 0;  // of the search, for the shortest stretch
};

}  // namespace hinge
