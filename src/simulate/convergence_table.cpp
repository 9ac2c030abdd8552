// A convergence study as one table per method, for people.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "simulate/reference.hpp"

namespace hinge {

namespace {

std::string order_text(const std::optional<double>& order) { return order ? fmt::format("{:.2f}", *order) : "-"; }

void print_point(std::ostream& out, const ConvergencePoint& p, const std::vector<std::size_t>& parts) {
  out << fmt::format("{:>12.6g} {:>9}", p.step, p.steps);
  if (!p.failure.empty()) {
    out << "      failed\n";
    return;
  }
  for (const std::size_t part : parts) {
    out << fmt::format(" {:>11}{} {:>6}", error_text(p.error[part]), p.round_off[part] ? '*' : ' ',
                       order_text(p.order[part]));
  }
  const double steps = static_cast<double>(std::max(p.steps, 1L));
  out << fmt::format(" {:>10.2f} {:>11.1f} {:>9.3g}\n", static_cast<double>(p.counters.iterations) / steps,
                     static_cast<double>(p.counters.evaluations) / steps, p.wall_seconds);
}

void print_series(std::ostream& out, const ConvergenceStudy& study, const ConvergenceSeries& series) {
  const std::vector<std::size_t> parts = parts_of(study.reference);
  out << fmt::format("\n{}, order {}", series.name, series.order);
  if (series.multiplier_order > 0 && !study.reference.psi.empty())
    out << fmt::format(", multipliers {}", series.multiplier_order);
  out << fmt::format("\n{:>12} {:>9}", "step", "steps");
  for (const std::size_t part : parts) out << fmt::format(" {:>11}  {:>6}", study.part_names[part], "order");
  out << fmt::format(" {:>10} {:>11} {:>9}\n", "iterations", "evaluations", "seconds");
  bool round_off = false;
  for (const ConvergencePoint& p : series.points) {
    print_point(out, p, parts);
    round_off = round_off || std::find(p.round_off.begin(), p.round_off.end(), true) != p.round_off.end();
  }
  out << fmt::format("{:>12} {:>9}", "fitted", "");
  for (const std::size_t part : parts) {
    const FittedOrder& fitted = series.fitted[part];
    out << fmt::format(" {:>11}  {:>6}", fmt::format("{} point{}", fitted.points, fitted.points == 1 ? "" : "s"),
                       order_text(fitted.order));
  }
  out << '\n';
  if (round_off) out << "  * round-off: not used for the fitted order\n";
  for (const ConvergencePoint& p : series.points)
    if (!p.failure.empty()) out << fmt::format("  step {:g} failed: {}\n", p.step, p.failure);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ConvergenceStudy& study) {
  out << fmt::format("Errors at t = {:g} against {}; iterations and evaluations per step\n", study.end,
                     study.reference.description);
  for (const ConvergenceSeries& series : study.series) print_series(out, study, series);
  for (const std::string& note : study.notes()) out << fmt::format("\nnote: {}\n", note);
  return out;
}

}  // namespace hinge
