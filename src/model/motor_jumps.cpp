// A motion that a motor prescribes, f(t): where it jumps no motion can follow it, and where its speed jumps there is an
// impact, which is refused where the user says so.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "expression/branches.hpp"
#include "expression/derivative.hpp"
#include "expression/sign_changes.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

// The limits on both sides of t, from values close to it.
std::array<double, 2> sides(Enclosure& function, double t, double step) {
  const auto at = [&](double x) {
    return function.variables().empty() ? function.at({}) : function.at(std::span(&x, 1));
  };
  return {2 * at(t - step) - at(t - 2 * step), 2 * at(t + step) - at(t + 2 * step)};
}

bool differ(const std::array<double, 2>& limits, double scale) {
  return std::abs(limits[1] - limits[0]) > 1e-6 * std::max({std::abs(limits[0]), std::abs(limits[1]), scale});
}

}  // namespace

void refuse_jumps(const Item& item, const Expression& motion, const Expression& time, double start, double end,
                  bool smooth) {
  constexpr int most = 1000;  // of each condition; others come back
  if (!motion.graph() || !(end > start)) return;
  const Node t = time.node_in(*motion.graph()), f = motion.node_in(*motion.graph());
  Graph graph = *motion.graph();
  const Node rate = gradient(graph, f, std::array{t})[0];
  const std::array functions{f, rate};
  Branches branches(graph, std::span(&f, 1));
  Enclosure value(graph, std::span(&functions[0], 1)), speed(graph, std::span(&functions[1], 1));
  if (value.variables() != std::vector<Node>{t}) return;  // a number, or a function of the motion
  const double step = 1e-7 * (end - start);
  const std::array<double, 2> ends = {start, end};
  double size = 0, fastest = 0;
  for (const double x : ends) {
    size = std::max(size, std::abs(value.variables().empty() ? value.at({}) : value.at(std::span(&x, 1))));
    fastest = std::max(fastest, std::abs(speed.variables().empty() ? speed.at({}) : speed.at(std::span(&x, 1))));
  }
  for (const Node root : branches.roots()) {
    SignChanges changes(branches.graph(), root, true);
    changes.begin(start);
    for (int n = 0; n < most; ++n) {
      const std::optional<double> at = changes.next(end);
      if (!at) break;
      if (*at - 2 * step < start || *at + 2 * step > end) continue;
      const auto jump = sides(value, *at, step), kink = sides(speed, *at, step);
      if (differ(jump, std::max(size, fastest * (end - start)) * 1e-3))
        item.fail(
            fmt::format("the prescribed motion jumps at t = {:.6g}, from {:.6g} to {:.6g}, which no body can follow; "
                        "lead from one to the other in some time, as in min(max((t - 1)/0.1, 0), 1)",
                        *at, jump[0], jump[1]));
      if (smooth && differ(kink, fastest * 1e-3))
        item.fail(
            fmt::format("the prescribed speed jumps at t = {:.6g}, from {:.6g} to {:.6g}, which is an impact; give "
                        "it some time, or allow it with jump = \"impact\"",
                        *at, kink[0], kink[1]));
    }
  }
}

}  // namespace hinge
