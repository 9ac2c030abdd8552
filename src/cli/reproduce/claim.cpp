// What must be true of a curve.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/computed_figure.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

const FigureLine& curve_called(const std::string& name, const std::vector<FigureLine>& curves) {
  std::vector<std::string> known;
  for (const FigureLine& c : curves) {
    if (c.name == name) return c;
    known.push_back(c.name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("a claim is about the curve '{}', which is not there{} there are {}", name,
                               near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), fmt::join(known, ", ")));
}

// The points that count.
FigureLine between(const FigureLine& curve, double from, double to) {
  FigureLine part{curve.name, {}, {}};
  for (std::size_t k = 0; k < curve.x.size(); ++k) {
    if (curve.x[k] < from || curve.x[k] > to) continue;
    part.x.push_back(curve.x[k]);
    part.y.push_back(curve.y[k]);
  }
  return part;
}

// Of log |y| over log x, by least squares; of all points, so that one that is no number makes it none.
double slope(const FigureLine& c) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t k = 0; k < c.x.size(); ++k) {
    const double x = std::log(c.x[k]), y = std::log(std::abs(c.y[k]));
    ++n;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return n < 3 ? NAN : (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

double largest_size(const std::vector<double>& y, std::size_t from, std::size_t to) {
  double most = from < to ? 0 : NAN;
  for (std::size_t k = from; k < to; ++k) most = std::isnan(y[k]) ? NAN : std::max(most, std::abs(y[k]));
  return most;
}

double value_at(const FigureLine& c, double x) {
  double best = NAN, near = INFINITY;
  for (std::size_t k = 0; k < c.x.size(); ++k)
    if (std::abs(c.x[k] - x) < near) near = std::abs(c.x[k] - x), best = c.y[k];
  return near <= 1e-9 * std::max(1.0, std::abs(x)) ? best : NAN;
}

double largest_difference(const FigureLine& a, const FigureLine& b) {
  double most = a.y.size() == b.y.size() && !a.y.empty() ? 0 : NAN;
  for (std::size_t k = 0; k < std::min(a.y.size(), b.y.size()); ++k) {
    const double d = std::abs(a.y[k] - b.y[k]);
    most = std::isnan(d) ? NAN : std::max(most, d);
  }
  return most;
}

struct Measured {
  std::string words;
  double value;
};

Measured measured(const ClaimDefinition& claim, const std::vector<FigureLine>& curves) {
  const FigureLine c = between(curve_called(claim.of, curves), claim.from, claim.to);
  const std::size_t n = c.y.size();
  const std::string& m = claim.measure;
  if (n == 0) return {"no points", NAN};
  if (m == "slope") return {"slope", slope(c)};
  if (m == "last") return {"last value", c.y.back()};
  if (m == "first") return {"first value", c.y.front()};
  if (m == "at") return {fmt::format("value at {:g}", claim.at.value_or(NAN)), value_at(c, claim.at.value_or(NAN))};
  if (m == "size") return {"largest absolute value", largest_size(c.y, 0, n)};
  if (m == "largest") return {"largest value", *std::max_element(c.y.begin(), c.y.end())};
  if (m == "smallest") return {"smallest value", *std::min_element(c.y.begin(), c.y.end())};
  if (m == "growth")
    return {"largest size in the second half against the first",
            largest_size(c.y, n / 2, n) / largest_size(c.y, 0, n / 2)};
  if (m == "range")
    return {"spread", *std::max_element(c.y.begin(), c.y.end()) - *std::min_element(c.y.begin(), c.y.end())};
  const std::vector<std::string> known{"slope",    "last",   "first", "at",         "size", "largest",
                                       "smallest", "growth", "range", "difference", "ratio"};
  if (m == "difference" || m == "ratio") {
    const FigureLine other = between(curve_called(claim.against, curves), claim.from, claim.to);
    if (m == "difference")
      return {fmt::format("largest difference from {}", claim.against), largest_difference(c, other)};
    return {fmt::format("last value over that of {}", claim.against),
            other.y.empty() ? NAN : c.y.back() / other.y.back()};
  }
  const std::string near = nearest_name(m, known);
  throw InputError(fmt::format("'{}' is no measure of a curve{} there are {}", m,
                               near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), fmt::join(known, ", ")));
}

}  // namespace

Verdict judge(const ClaimDefinition& claim, const std::vector<FigureLine>& curves) {
  const Measured m = measured(claim, curves);
  Verdict v;
  v.measured = m.value;
  v.holds = !std::isnan(m.value);
  std::string must;
  const auto demand = [&](bool met, const std::string& text) {
    v.holds = v.holds && met;
    must += (must.empty() ? "" : " and ") + text;
  };
  if (claim.is) {
    const double allowed = *claim.is == 0 ? claim.within : claim.within * std::abs(*claim.is);
    demand(std::abs(m.value - *claim.is) <= allowed,
           *claim.is == 0        ? fmt::format("0 within {:g}", claim.within)
           : claim.within < 1e-3 ? fmt::format("{:.10g} within {:.1g}, relative", *claim.is, claim.within)
                                 : fmt::format("{:.10g} within {:.3g} %", *claim.is, 100 * claim.within));
  }
  if (claim.below) demand(m.value < *claim.below, fmt::format("below {:g}", *claim.below));
  if (claim.above) demand(m.value > *claim.above, fmt::format("above {:g}", *claim.above));
  v.text = fmt::format("{}{} of {} is {:.6g}; must be {}", claim.says.empty() ? "" : claim.says + ": ", m.words,
                       claim.of, m.value, must);
  if (claim.paper) v.text += fmt::format(" (paper: {:g})", *claim.paper);
  return v;
}

bool ComputedFigure::holds() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.holds; });
}

}  // namespace hinge::cli
