// A motion that a motor prescribes, f(t): where it jumps no motion can follow it, and where its speed jumps there is an
// impact, which is refused where the user says so.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "expression/branches.hpp"
#include "expression/derivative.hpp"
#include "expression/rounding_bounds.hpp"
#include "expression/sign_changes.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

// A function of time: its limits on both sides of an instant, from values close to it, and how much a difference of
// them has to be to count.
class Course {
 public:
  Course(const Graph& graph, Node t, Node f, double start, double end)
      : value_(graph, std::span(&f, 1)),
        rounding_(std::make_shared<Graph>(graph), {{t}}, {f}),
        start_(start),
        length_(end - start) {}
  bool of(Node t) const { return value_.variables() == std::vector<Node>{t}; }
  double step() const { return 1e-7 * length_; }
  /// How large it becomes, as far as is seen at regular times and between its changes.
  void measure(const std::vector<double>& changes) {
    constexpr int looks = 256;
    for (int k = 0; k <= looks; ++k) see(start_ + length_ * k / looks);
    for (std::size_t k = 1; k < changes.size(); ++k) see(0.5 * (changes[k - 1] + changes[k]));
  }
  std::array<double, 2> sides(double t) { return sides(t, step()); }
  std::array<double, 2> sides(double t, double h) {
    return {2 * at(t - h) - at(t - 2 * h), 2 * at(t + h) - at(t + 2 * h)};
  }
  /// What cancels is as uncertain as its terms are large. A jump is as large from closer by, curvature falls with the
  /// square.
  bool jumps(double t) {
    double rounding = 0;
    for (const double x : {t - 2 * step(), t - step(), t + step(), t + 2 * step()}) {
      const double* inputs = &x;
      rounding_.add(&inputs, &rounding);
    }
    const auto [before, after] = sides(t);
    const double near = std::max(std::abs(before), std::abs(after));
    const auto [just_before, just_after] = sides(t, step() / 16);
    return std::abs(after - before) > std::max({1e-6 * near, 1e-9 * size_, 4 * rounding}) &&
           std::abs(just_after - just_before) > 0.5 * std::abs(after - before);
  }

 private:
  void see(double t) { size_ = std::max(size_, std::abs(at(t))); }
  double at(double t) { return value_.variables().empty() ? value_.at({}) : value_.at(std::span(&t, 1)); }

  Enclosure value_;
  RoundingBounds rounding_;
  double start_, length_, size_ = 0;
};

}  // namespace

void refuse_jumps(const Item& item, const Expression& motion, const Expression& time, double start, double end,
                  bool smooth) {
  constexpr int most = 1000;  // of each condition; others come back
  if (!motion.graph() || !(end > start)) return;
  const Node t = time.node_in(*motion.graph()), f = motion.node_in(*motion.graph());
  Graph graph = *motion.graph();
  const Node rate = gradient(graph, f, std::array{t})[0];
  Branches branches(graph, std::span(&f, 1));
  Course value(graph, t, f, start, end), speed(graph, t, rate, start, end);
  if (!value.of(t)) return;  // a number, or a function of the motion
  std::vector<double> changes = {start, end};
  for (const Node root : branches.roots()) {
    SignChanges search(branches.graph(), root, true);
    search.begin(start);
    for (int n = 0; n < most; ++n) {
      const std::optional<double> at = search.next(end);
      if (!at) break;
      if (*at - 2 * value.step() >= start && *at + 2 * value.step() <= end) changes.push_back(*at);
    }
  }
  std::sort(changes.begin(), changes.end());
  value.measure(changes);
  speed.measure(changes);
  for (std::size_t k = 1; k + 1 < changes.size(); ++k) {
    const double at = changes[k];
    if (value.jumps(at)) {
      const auto [before, after] = value.sides(at);
      item.fail(
          fmt::format("the prescribed motion jumps at t = {:.6g}, from {:.6g} to {:.6g}, which no body can follow; "
                      "lead from one to the other in some time, as in min(max((t - 1)/0.1, 0), 1)",
                      at, before, after));
    }
    if (smooth && speed.jumps(at)) {
      const auto [before, after] = speed.sides(at);
      item.fail(
          fmt::format("the prescribed speed jumps at t = {:.6g}, from {:.6g} to {:.6g}, which is an impact; give "
                      "it some time, or allow it with jump = \"impact\"",
                      at, before, after));
    }
  }
}

}  // namespace hinge
