// Warm start by keys: what touched in the last step pushes again, in the new directions and for the new step size.
#include <algorithm>

#include <fmt/format.h>

#include "hinge/contact_solver.hpp"
#include "solve/contact/cone.hpp"

namespace hinge {

namespace {

constexpr double impact = 10;  // growth of r_N from step to step that is no continuous contact

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const ContactMemory::Entry* find(const ContactMemory& memory, std::uint64_t key) {
  const auto place = std::lower_bound(memory.entries.begin(), memory.entries.end(), key,
                                      [](const ContactMemory::Entry& e, std::uint64_t k) { return e.key < k; });
  return place != memory.entries.end() && place->key == key ? &*place : nullptr;
}

void check(const BodyContactProblem& p, const std::vector<ContactFrame>& frames, double h) {
  if (frames.size() != p.contacts.size())
    throw InputError(fmt::format("warm start: {} frames for {} contacts", frames.size(), p.contacts.size()));
  if (!(h > 0)) throw InputError(fmt::format("warm start: a step size of {}; it must be positive", h));
}

}  // namespace

int warm_start(const BodyContactProblem& p, const std::vector<ContactFrame>& frames, double h,
               const ContactMemory& memory, std::vector<double>& r) {
  check(p, frames, h);
  r.assign(at(3 * p.size()), 0.0);
  if (!(memory.h > 0)) return 0;
  int found = 0;
  for (int i = 0; i < p.size(); ++i) {
    const BodyContact& c = p.contacts[at(i)];
    const ContactMemory::Entry* old = find(memory, c.key);
    if (old == nullptr) continue;
    // The step after an impact has no use for its impulse. A first contact (previous 0) counts as one.
    if (c.bilateral_rows == 0 && old->normal > impact * old->previous_normal) continue;
    const Eigen::Vector3d force = old->force * (h / memory.h);
    const ContactFrame& f = frames[at(i)];
    const int rows = c.bilateral_rows > 0 ? c.bilateral_rows : p.dimension;
    const Eigen::Vector3d turned(f.normal.dot(force), f.tangent1.dot(force), f.tangent2.dot(force));
    for (int k = 0; k < rows; ++k) r[at(3 * i + k)] = turned[k];
    if (c.bilateral_rows == 0) project_on_cone(p.dimension, c.mu, r.data() + 3 * i);
    ++found;
  }
  return found;
}

void remember(const BodyContactProblem& p, const std::vector<ContactFrame>& frames, double h, std::span<const double> r,
              ContactMemory& memory) {
  check(p, frames, h);
  if (r.size() != 3 * p.contacts.size())
    throw InputError(fmt::format("warm start: {} reactions for {} contacts of three", r.size(), p.size()));
  // Old entries are looked up for the r_N of the step before, then replaced: the new ones go behind them first.
  const std::size_t old = memory.entries.size();
  const double scale = memory.h > 0 ? h / memory.h : 1;
  memory.entries.reserve(old + p.contacts.size());
  for (int i = 0; i < p.size(); ++i) {
    const ContactFrame& f = frames[at(i)];
    const std::uint64_t key = p.contacts[at(i)].key;
    const auto end = memory.entries.begin() + static_cast<std::ptrdiff_t>(old);
    const auto before = std::lower_bound(memory.entries.begin(), end, key,
                                         [](const ContactMemory::Entry& e, std::uint64_t k) { return e.key < k; });
    // Of the very first step nothing is known: no impact.
    const double* ri = r.data() + 3 * i;
    const double fresh = memory.h > 0 ? 0 : ri[0];
    const double previous = before != end && before->key == key ? before->normal * scale : fresh;
    memory.entries.push_back({key, ri[0], previous, f.normal * ri[0] + f.tangent1 * ri[1] + f.tangent2 * ri[2]});
  }
  memory.entries.erase(memory.entries.begin(), memory.entries.begin() + static_cast<std::ptrdiff_t>(old));
  std::sort(memory.entries.begin(), memory.entries.end(),
            [](const ContactMemory::Entry& x, const ContactMemory::Entry& y) { return x.key < y.key; });
  memory.h = h;
}

}  // namespace hinge
