// What a sweep says at the end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "hinge/sweep.hpp"
#include "simulate/record/recorder_formats.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_lines = 12;     ///< of columns
constexpr std::size_t most_remarks = 5;    ///< of failures, and of doubts
constexpr std::size_t most_letters = 160;  ///< of one of them

std::string settings_text(const SweepPlan& plan, std::size_t run) {
  std::string text;
  for (const Setting& s : plan.settings(run)) text += fmt::format("{}{}={}", text.empty() ? "" : " ", s.key, s.value);
  return text;
}

std::string shortened(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= most_letters) return text;
  text.resize(most_letters);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
  return text + "...";
}

void print_remarks(std::ostream& out, const SweepOutcome& o, const std::vector<SweepOutcome::Remark>& list,
                   const char* what) {
  for (std::size_t k = 0; k < std::min(list.size(), most_remarks); ++k)
    out << fmt::format("  run {} {} ({}): {}\n", list[k].run, what, settings_text(o.plan, list[k].run),
                       shortened(list[k].text));
  if (list.size() > most_remarks) out << fmt::format("  and {} more, in the file\n", list.size() - most_remarks);
}

// Where the least and the largest values of every run are known, a second line has those of all times.
void print_column(std::ostream& out, const SweepOutcome& o, const std::string& name, bool statistics) {
  const ColumnSpread s = spread_of(o, name);
  if (s.count == 0) return;
  out << fmt::format("  {:<26} {:>11.5g} {:>8} {:>11.5g} {:>8}", name + ", at the end", s.smallest, s.smallest_run,
                     s.largest, s.largest_run);
  out << (statistics ? fmt::format(" {:>11.5g} {:>11.3g}\n", s.mean, s.deviation) : "\n");
  const std::string least = fmt::format("min({})", name), largest = fmt::format("max({})", name);
  if (std::find(o.columns.begin(), o.columns.end(), least) == o.columns.end()) return;
  const ColumnSpread low = spread_of(o, least), high = spread_of(o, largest);
  out << fmt::format("  {:<26} {:>11.5g} {:>8} {:>11.5g} {:>8}\n", name + ", at any time", low.smallest,
                     low.smallest_run, high.largest, high.largest_run);
}

}  // namespace

ColumnSpread spread_of(const SweepOutcome& o, std::string_view column) {
  const std::size_t at = column_of(o.columns, column), width = o.columns.size();
  const std::size_t failed =
      1 + o.plan.keys().size() + (o.columns[1 + o.plan.keys().size()].ends_with("final") ? 1 : 0);
  ColumnSpread s{NAN, NAN, 0, 0, 0, 0, 0};
  double squares = 0;  // of deviations: Welford
  for (std::size_t k = 0; k < o.rows(); ++k) {
    const double* const row = o.table.data() + k * width;
    const double x = row[at];
    if (row[failed] != 0 || std::isnan(x)) continue;
    const auto run = static_cast<std::size_t>(row[0]);
    if (!(s.smallest <= x)) s.smallest = x, s.smallest_run = run;
    if (!(s.largest >= x)) s.largest = x, s.largest_run = run;
    const double from_mean = x - s.mean;
    s.mean += from_mean / static_cast<double>(++s.count);
    squares += from_mean * (x - s.mean);
  }
  if (s.count == 0) s.mean = NAN;
  s.deviation = s.count > 1 ? std::sqrt(squares / static_cast<double>(s.count - 1)) : NAN;
  return s;
}

std::ostream& operator<<(std::ostream& out, const SweepOutcome& o) {
  out << o.title << '\n';
  out << fmt::format("  {} of {} runs over {}", o.finished, o.runs, fmt::join(o.plan.keys(), ", "));
  if (o.found > 0) out << fmt::format("; {} were there already", o.found);
  out << fmt::format("; {} failed, {} doubtful\n", o.failures.size(), o.doubts.size());
  const bool statistics = !o.plan.sampled.empty();
  if (o.rows() > 0 && !o.shown.empty()) {
    out << fmt::format("  {:<26} {:>11} {:>8} {:>11} {:>8}", "", "smallest", "in run", "largest", "in run");
    out << (statistics ? fmt::format(" {:>11} {:>11}\n", "mean", "deviation") : "\n");
    for (std::size_t k = 0; k < std::min(o.shown.size(), most_lines); ++k) print_column(out, o, o.shown[k], statistics);
    if (o.shown.size() > most_lines)
      out << fmt::format("  and {} more columns, in the file\n", o.shown.size() - most_lines);
  }
  print_remarks(out, o, o.failures, "failed");
  print_remarks(out, o, o.doubts, "is doubtful");
  if (o.written && o.finished > 0) out << fmt::format("  written to {}\n", o.out);
  return out;
}

}  // namespace hinge
