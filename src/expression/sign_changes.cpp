#include "expression/sign_changes.hpp"

#include <algorithm>
#include <cmath>

#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr double resolution = 1e-10;        // of the time itself: shorter stretches are not halved
constexpr double first_resolution = 1e-13;  // of the length of the search: the same near t = 0
constexpr double one_change = 1e-14;        // changes closer than that, relative, are one
constexpr int budget = 50000;               // stretches for one change

int sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

SignChanges::SignChanges(const Graph& graph, Node function, bool touches)
    : function_(graph, std::span(&function, 1)), touches_(touches), last_(-infinity), lost_from_(infinity) {}

void SignChanges::begin(double from) {
  open_.clear();
  searched_ = from;
  last_ = -infinity;
  lost_from_ = infinity;
  scale_ = 0;
}

// Halved until its ends are neighbours; the later one, where the new sign is.
double SignChanges::locate(double low, double high) {
  const int before = sign(value(low));
  if (before == 0) return low;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) return high;
    (sign(value(middle)) == before ? low : high) = middle;
  }
}

std::optional<double> SignChanges::fresh(double t) {
  if (last_ != -infinity && t - last_ <= one_change * std::max(std::abs(t), std::abs(last_))) return {};
  last_ = t;
  return t;
}

std::optional<double> SignChanges::next(double limit) {
  if (lost_from_ < infinity) return {};
  if (limit > searched_) {
    open_.insert(open_.begin(), {searched_, limit});
    scale_ = std::max(scale_, limit - searched_);
    searched_ = limit;
  }
  for (int spent = 0; !open_.empty(); ++spent) {
    const auto [from, to] = open_.back();
    if (spent > budget) {
      lost_from_ = from;
      return {};
    }
    open_.pop_back();
    const Enclosed on_stretch{{from, to}, {1, 1}};
    function_.on(std::span(&on_stretch, 1));
    const auto [bounds, slope] = function_[0];
    if (!bounds.contains(0) || (bounds.low == 0 && bounds.high == 0)) continue;
    const bool one_way = !slope.contains(0);
    const double shortest = resolution * std::max(std::abs(from), std::abs(to)) + first_resolution * scale_;
    const double middle = from + (to - from) / 2;
    if (!one_way && to - from > shortest && middle > from && middle < to) {
      open_.push_back({middle, to});
      open_.push_back({from, middle});
      continue;
    }
    const int before = sign(value(from)), after = sign(value(to));
    if (before != after) {
      if (const auto change = fresh(locate(from, to))) return change;
    } else if (!one_way && touches_) {
      // One touch may leave several neighbouring stretches undecided.
      const bool again = last_ != -infinity && from - last_ <= 4 * shortest;
      if (again)
        last_ = to;
      else if (const auto touch = fresh(middle))
        return touch;
    }
  }
  return {};
}

}  // namespace hinge
