// hinge run --from FILE:ROW: a start from a recorded row.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "hinge/error.hpp"
#include "hinge/record.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::cli {

namespace {

// "last", a number from 0, or "t=1.5": the row nearest to that time.
std::size_t find_row(const std::string& text, const Trajectory& record, const std::string& given) {
  if (record.rows() == 0) throw InputError(fmt::format("--from {}: the record has no rows", given));
  if (text == "last") return record.rows() - 1;
  const bool by_time = text.starts_with("t=");
  const std::string digits = by_time ? text.substr(2) : text;
  double x = NAN;
  const auto [end, trouble] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
  if (trouble != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(x))
    throw InputError(fmt::format("--from {}: '{}' is no row; write FILE:last, FILE:12 or FILE:t=1.5", given, text));
  if (by_time) {
    const std::vector<double> t = record.times();
    const auto nearer = [&](double a, double b) { return std::abs(a - x) < std::abs(b - x); };
    const auto best = std::min_element(t.begin(), t.end(), nearer);
    if (std::abs(*best - x) > 1e-9 * std::max({std::abs(x), std::abs(t.front()), std::abs(t.back())}))
      throw InputError(fmt::format("--from {}: there is no row at t = {:g}; the nearest is at {:.15g}, row {}", given,
                                   x, *best, best - t.begin()));
    return static_cast<std::size_t>(best - t.begin());
  }
  if (x < 0 || x != std::floor(x) || x >= static_cast<double>(record.rows()))
    throw InputError(fmt::format("--from {}: the record has the rows 0 to {}", given, record.rows() - 1));
  return static_cast<std::size_t>(x);
}

}  // namespace

void start_from_record(const std::string& given, Model& model) {
  const std::size_t colon = given.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw InputError(fmt::format("--from {}: say which row, as in run.h5:last, run.csv:12 or run.csv:t=1.5", given));
  const Trajectory record = read_record(given.substr(0, colon));
  const std::size_t row = find_row(given.substr(colon + 1), record, given);
  const Layout& layout = model.system->layout();
  const std::vector<std::string>& columns = record.header.columns;
  const std::vector<std::string> names = state_columns(layout);
  std::vector<double> state;
  for (const std::string& name : names) {
    const auto at = std::find(columns.begin(), columns.end(), name);
    if (at == columns.end())
      throw InputError(fmt::format(
          "--from {}: the record has no column '{}', which this model has; it is of another one", given, name));
    state.push_back(record.row(row)[static_cast<std::size_t>(at - columns.begin())]);
  }
  const auto y = state.begin() + layout.ny, z = y + layout.nz;
  Start& start = model.start;
  const Consistency consistent = start.consistent;
  start = {};
  start.consistent = consistent;
  start.position.assign(state.begin(), y);
  (model.system->structure().z_is_momentum ? start.momentum : start.velocity).assign(y, z);
  start.multiplier.assign(z, state.end());
  // what a run has penetrated by is where it goes on from
  if (!model.system->structure().is_dae) start.fixed.assign(start.position.size(), 1);
  model.simulation.start = record.row(row)[0];
  if (!(model.end >= model.simulation.start))
    throw InputError(fmt::format("--from {}: the row is at t = {:.15g}, after the end of the run, {:g}; give --end",
                                 given, model.simulation.start, model.end));
}

}  // namespace hinge::cli
