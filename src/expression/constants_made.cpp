#include "expression/constants_made.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "solve/index.hpp"

namespace hinge {

namespace {

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x); }

}  // namespace

ConstantTracing::~ConstantTracing() {
  ConstantTrace::active = before_;
  if (before_) append_to(*before_);
}

void ConstantTracing::append_to(ConstantTrace& other) const {
  other.given.insert(other.given.end(), trace_.given.begin(), trace_.given.end());
  other.folds.insert(other.folds.end(), trace_.folds.begin(), trace_.folds.end());
  other.read.insert(other.read.end(), trace_.read.begin(), trace_.read.end());
  other.tests.insert(other.tests.end(), trace_.tests.begin(), trace_.tests.end());
}

std::optional<ConstantsMade> ConstantsMade::of(std::span<const double> given, const ConstantTrace& trace,
                                               std::span<const double> made) {
  ConstantsMade n;
  for (const double x : given) {
    if (!n.add(x)) return std::nullopt;
    n.given_.push_back(n.find(x));
  }
  for (const double x : {0.0, 1.0, -1.0}) n.require(x);
  for (const double x : trace.read) n.require(x);
  std::sort(n.required_.begin(), n.required_.end());
  n.required_.erase(std::unique(n.required_.begin(), n.required_.end()), n.required_.end());
  std::set<std::array<int, 4>> known;
  for (const ConstantTrace::Fold& f : trace.folds) {
    const std::array<int, 4> step{static_cast<int>(f.op), n.find(f.a), n.find(f.b), n.find(f.c)};
    if (step[1] < 0 || step[2] < 0 || step[3] < 0) return std::nullopt;
    if (!known.insert(step).second) continue;
    if (!n.add(f.result)) return std::nullopt;
    n.steps_.push_back({f.op, step[1], step[2], step[3], n.find(f.result)});
  }
  for (const ConstantTrace::Test& t : trace.tests) {
    if (n.find(t.x) < 0) return std::nullopt;
    n.tests_.push_back({t.test, n.find(t.x), t.test(t.x)});
  }
  for (const double x : made) {
    n.made_.push_back(n.find(x));
    if (n.made_.back() < 0) return std::nullopt;
  }
  n.place_ = {};
  return n;
}

std::optional<std::vector<double>> ConstantsMade::made_of(std::span<const double> given) const {
  if (given.size() != given_.size()) return std::nullopt;
  std::vector<double> x = values_;
  std::vector<char> known(x.size(), 0);
  bool same = true;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const std::size_t to = at(given_[k]);
    if (known[to] && bits_of(x[to]) != bits_of(given[k])) return std::nullopt;
    x[to] = given[k] == 0 ? 0.0 : given[k];
    known[to] = 1;
    same = same && bits_of(x[to]) == bits_of(values_[to]);
  }
  if (!same && !follow(x, known)) return std::nullopt;
  std::vector<double> made;
  made.reserve(made_.size());
  for (const int k : made_) made.push_back(x[at(k)]);
  return made;
}

int ConstantsMade::find(double x) const {
  const auto found = place_.find(bits_of(x));
  return found == place_.end() ? -1 : found->second;
}

bool ConstantsMade::add(double x) {
  if (std::isnan(x)) return false;
  if (place_.try_emplace(bits_of(x), static_cast<int>(values_.size())).second) values_.push_back(x == 0 ? 0.0 : x);
  return true;
}

void ConstantsMade::require(double x) {
  if (add(x)) required_.push_back(find(x));
}

bool ConstantsMade::follow(std::vector<double>& x, std::vector<char>& known) const {
  const auto changed = [&](int k) { return bits_of(x[at(k)]) != bits_of(values_[at(k)]); };
  for (const int k : required_) {
    if (changed(k)) return false;
    known[at(k)] = 1;
  }
  for (const Step& s : steps_) {
    const bool any = changed(s.a) || changed(s.b) || changed(s.c);
    const double result = any ? apply_op(s.op, x[at(s.a)], x[at(s.b)], x[at(s.c)]) : values_[at(s.result)];
    if (std::isfinite(result) != std::isfinite(values_[at(s.result)])) return false;  // may be refused
    if (known[at(s.result)] && bits_of(x[at(s.result)]) != bits_of(result)) return false;
    x[at(s.result)] = result == 0 ? 0.0 : result;
    known[at(s.result)] = 1;
  }
  for (const Test& t : tests_)
    if (changed(t.x) && t.test(x[at(t.x)]) != t.outcome) return false;
  return all_differ(x);
}

// As they did.
bool ConstantsMade::all_differ(const std::vector<double>& x) const {
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (bits_of(x[k]) == bits_of(values_[k])) continue;
    if (std::isnan(x[k])) return false;
    for (std::size_t l = 0; l < x.size(); ++l)
      if (l != k && x[l] == x[k]) return false;
  }
  return true;
}

}  // namespace hinge
