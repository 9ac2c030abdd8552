#include "method/wrap/change_search.hpp"

#include <algorithm>

namespace hinge {

namespace {

constexpr std::size_t parts = 4;          // of a step, that tell how the motion bends
constexpr std::size_t deepest_look = 12;  // halvings of a step,
constexpr int most_looks = 300;           // so many at most

}  // namespace

ChangeSearch::ChangeSearch(const Tolerance& tolerance)
    : tolerance_(tolerance), samples_(parts + 1), levels_(deepest_look) {}

ChangeSearch::Outcome ChangeSearch::find(SmoothPiece& piece, const Stepper& stepper, const State& before,
                                         const State& after) {
  if (piece.active().empty()) return Outcome::none;
  piece_ = &piece;
  stepper_ = &stepper;
  samples_[0] = sample_ = before;
  for (std::size_t k = 1; k < parts; ++k) {
    probe(before.t + (after.t - before.t) * static_cast<double>(k) / parts);
    samples_[k] = sample_;
  }
  samples_[parts] = after;
  bends_ = piece.bends(samples_);
  looks_left_ = most_looks;
  return search(before, after, 0);
}

ChangeSearch::Outcome ChangeSearch::search(const State& from, const State& to, std::size_t depth) {
  const bool unclear = piece_->may_return(from, to, bends_, tolerance_);
  if (unclear && depth < deepest_look && --looks_left_ >= 0) {
    State& middle = levels_[depth];
    probe(from.t + (to.t - from.t) / 2);
    middle = sample_;
    const Outcome first = search(from, middle, depth + 1);
    return first == Outcome::none ? search(middle, to, depth + 1) : first;
  }
  if (is_passed(to)) {
    locate(from.t, to);
    return Outcome::found;
  }
  return unclear ? Outcome::unclear : Outcome::none;
}

// Is a root function on its other side by more than the tolerance? Less than that is noise.
bool ChangeSearch::is_passed(const State& s) {
  piece_->evaluate(s);
  if (!piece_->is_any_beyond()) return false;
  const std::vector<double> distance = piece_->distances(s, tolerance_);
  passed_.clear();
  for (std::size_t k = 0; k < distance.size(); ++k)
    if (piece_->is_beyond(k) && distance[k] > 1) passed_.push_back(k);
  return !passed_.empty();
}

bool ChangeSearch::is_one_of_these_beyond(const State& s) {
  piece_->evaluate(s);
  return std::any_of(passed_.begin(), passed_.end(), [this](std::size_t k) { return piece_->is_beyond(k); });
}

// Where the first of the functions that have been passed at `after` is.
void ChangeSearch::locate(double low, const State& after) {
  double high = after.t;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    probe(middle);
    (is_one_of_these_beyond(sample_) ? high : low) = middle;
  }
  time_ = high;
  if (high == after.t)
    sample_ = after;
  else
    probe(high);
  piece_->evaluate(sample_);
  std::erase_if(passed_, [this](std::size_t k) { return !piece_->is_beyond(k); });
}

void ChangeSearch::probe(double t) {
  stepper_->sketch(t, sample_);  // at the ends of a step, where roots come to lie, as good as the motion itself
  sample_.t = t;
}

}  // namespace hinge
