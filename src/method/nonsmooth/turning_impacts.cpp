#include "method/nonsmooth/turning_impacts.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

namespace {

double norm(const double* x, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += x[k] * x[k];
  return std::sqrt(sum);
}

}  // namespace

void TurningImpacts::add(const ContactList& contacts, int d, const double* r, const double* before, const double* after,
                         const double* forces) {
  const auto at = [d](std::size_t i) { return i * static_cast<std::size_t>(d); };
  now_.keys.assign(contacts.key.begin(), contacts.key.end());
  now_.impulse.assign(r, r + at(now_.keys.size()));
  now_.before.assign(before, before + at(now_.keys.size()));
  now_.struck = false;
  for (std::size_t i = 0; i < now_.keys.size(); ++i) {
    const auto place = std::find(last_.keys.begin(), last_.keys.end(), now_.keys[i]);
    const std::size_t old = static_cast<std::size_t>(place - last_.keys.begin());
    const bool known = old < last_.keys.size();
    const bool loaded_before = known && last_.impulse[at(old)] > 0;
    if (r[at(i)] > 0 && !loaded_before && before[at(i)] < 0) now_.struck = true;
    if (!last_.struck || !known) continue;
    double sum[3] = {}, change[3] = {};
    for (int row = 0; row < d; ++row) {
      const std::size_t k = static_cast<std::size_t>(row);
      sum[row] = last_.impulse[at(old) + k] + r[at(i) + k];
      change[row] = after[at(i) + k] - last_.before[at(old) + k];
    }
    if (!(sum[0] > 0)) continue;
    const double size = norm(change, d), from_forces = 2 * norm(forces + at(i), d), e = contacts.restitution[i];
    largest_ = std::max(largest_, size);
    worst_ = std::max(worst_, std::abs(after[at(i)] + e * std::min(0.0, last_.before[at(old)])) - from_forces);
    const double slip = d > 1 ? norm(after + at(i) + 1, d - 1) : 0, mu = contacts.friction[i];
    if (!(slip > 0.01 * size + from_forces) || mu == 0) continue;
    double off[3] = {};
    for (int row = 1; row < d; ++row)
      off[row] = sum[row] + mu * sum[0] * after[at(i) + static_cast<std::size_t>(row)] / slip;
    worst_ = std::max(worst_, norm(off, d) / norm(sum, d) * size - from_forces);
  }
  std::swap(last_, now_);
}

}  // namespace hinge
