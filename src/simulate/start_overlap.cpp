#include "simulate/start_overlap.hpp"

#include <algorithm>
#include <cmath>

#include "body/body_table.hpp"
#include "collide/narrow.hpp"
#include "hinge/method.hpp"

namespace hinge {

namespace {

constexpr double some = 1e-6, apart = 1e-9;  // of the smallest body
constexpr double pushed_per_step = 0.005;    // of it, at least: half of what methods push by

}  // namespace

void StartOverlap::begin(const System& system) {
  *this = {};
  const BodyTable* table = bodies_of(system);
  if (!table || !(table->overlap > 0)) return;
  smallest_ = table->smallest();
  if (std::isfinite(smallest_)) finder_ = system.contact_finder();
}

double StartOverlap::deepest(const State& state) {
  finder_->find(state.t, state.y.data(), 0, list_);
  double depth = 0;
  for (const double gap : list_.gap) depth = std::max(depth, -gap);
  return depth;
}

// Of the list of deepest().
void StartOverlap::take_pairs() {
  pairs_.clear();
  depths_.clear();
  for (std::size_t i = 0; i < list_.gap.size(); ++i) {
    const std::uint64_t pair = list_.key[i] >> contact::feature_bits;
    if (!(list_.gap[i] < 0)) continue;
    if (pairs_.empty() || pairs_.back() != pair) pairs_.push_back(pair), depths_.push_back(0);
    depths_.back() = std::max(depths_.back(), -list_.gap[i]);
  }
  ways_ = 0;
  for (const double depth : depths_) ways_ += depth;
}

// What is rounding deeper is no deeper.
void StartOverlap::compare(const ContactList& list) {
  for (std::size_t i = 0; i < list.gap.size(); ++i) {
    if (!(-list.gap[i] > beyond_)) continue;
    const auto pair = std::lower_bound(pairs_.begin(), pairs_.end(), list.key[i] >> contact::feature_bits);
    const bool begun = pair != pairs_.end() && *pair == list.key[i] >> contact::feature_bits;
    const double own = begun ? depths_[static_cast<std::size_t>(pair - pairs_.begin())] : 0;
    if (-list.gap[i] > own + apart * smallest_) beyond_ = -list.gap[i];
  }
}

// What is not apart after as many steps as that may take is held together by something else.
void StartOverlap::see(const State& state, const ContactImpulses* contacts) {
  pushed_ = false;
  if (!finder_) return;
  if (depth_ > 0 && contacts) compare(contacts->contacts);
  if (steps_left_ == 0) return;
  const double depth = deepest(state);
  if (steps_left_ < 0) {
    depth_ = depth > some * smallest_ ? depth : 0;
    steps_left_ = static_cast<long>(std::min(1e6, depth_ / (pushed_per_step * smallest_))) + 2;
    if (depth_ == 0) steps_left_ = 0;
    if (depth_ > 0) take_pairs();
    return;
  }
  pushed_ = true;
  if (!contacts) compare(list_);
  if (depth > apart * smallest_)
    --steps_left_;
  else
    steps_left_ = 0;
}

}  // namespace hinge
