// The record of a step that is made in parts: impulses of all parts, so that forces are means over the step.
#include <algorithm>

#include "collide/narrow.hpp"
#include "method/nonsmooth/contact_step.hpp"
#include "solve/index.hpp"

namespace hinge {

void ContactStep::record(int i, const double* impulse, double sign, bool instead) {
  const double* frame = list().frame.data() + 9 * i;
  double* to = impulses_.impulse.data() + i * d_;
  for (int row = 0; row < d_; ++row) {
    double along = 0;
    for (int k = 0; k < d_; ++k) along += frame[3 * row + k] * impulse[k];
    to[row] = sign * along + (instead ? 0 : to[row]);
  }
}

void ContactStep::keep_part() {
  const ContactList& l = list();
  if (l.frame.size() != 9 * at(l.count)) return;
  for (int i = 0; i < l.count; ++i) {
    const double* r = impulses_.impulse.data() + at(i * d_);
    if (!(r[0] > 0)) continue;
    parts_.contacts.key.push_back(l.key[at(i)]);
    parts_.contacts.frame.insert(parts_.contacts.frame.end(), l.frame.data() + 9 * i, l.frame.data() + 9 * i + 9);
    parts_.impulse.insert(parts_.impulse.end(), r, r + d_);
  }
}

// Along the frames of the end; of contacts that are gone by another of the same two bodies, where there is one.
void ContactStep::join_parts(double h) {
  const ContactList& l = list();
  const auto pair = [](std::uint64_t key) { return key >> contact::feature_bits; };
  for (std::size_t part = 0; part < parts_.contacts.key.size(); ++part) {
    const std::uint64_t key = parts_.contacts.key[part];
    auto place = std::lower_bound(l.key.begin(), l.key.end(), key);
    if (place == l.key.end() || pair(*place) != pair(key)) {
      if (place == l.key.begin() || pair(*--place) != pair(key)) continue;
    }
    const std::size_t i = static_cast<std::size_t>(place - l.key.begin());
    const double *from = parts_.contacts.frame.data() + 9 * part, *to = l.frame.data() + 9 * i;
    for (std::size_t k = 0; k < at(d_); ++k)
      for (std::size_t row = 0; row < at(d_); ++row)
        impulses_.impulse[i * at(d_) + k] +=
            parts_.impulse[part * at(d_) + row] *
            (to[3 * k] * from[3 * row] + to[3 * k + 1] * from[3 * row + 1] + to[3 * k + 2] * from[3 * row + 2]);
  }
  parts_ = {};
  impulses_.step = h;
}

}  // namespace hinge
