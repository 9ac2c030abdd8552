#include "method/implicit/increment_units.hpp"

#include <algorithm>
#include <cmath>

#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

// Increments in this many units of noise still tell convergence from rounding.
constexpr double above_noise = 1e4;
constexpr int levels = 4;

}  // namespace

IncrementUnits::IncrementUnits(const ImplicitProblem& problem, int results) : problem_(problem) {
  for (const ImplicitProblem::Unknown& u : problem.unknowns()) {
    const bool result = static_cast<int>(result_.size()) < results || u.index == 1;
    result_.push_back(result);
    level_.push_back(u.vanishes ? -1 : u.tested ? 0 : std::clamp(u.index, 1, levels - 1));
  }
  noise_.assign(level_.size(), 0.0);
  unit_ = noise_;
}

void IncrementUnits::update(const double* f_x, const double* f_rate, double c, const double* x,
                            const std::vector<double>& tolerance) {
  const auto rows = static_cast<std::size_t>(problem_.pattern().rows);
  row_noise_.resize(rows);
  row_unit_.resize(rows);
  entries_.resize(problem_.pattern().entries());
  for (std::size_t e = 0; e < entries_.size(); ++e) entries_[e] = std::abs(f_x[e] + c * f_rate[e]);
  int highest = 0;
  for (std::size_t k = 0; k < level_.size(); ++k) {
    noise_[k] = level_[k] == 0 ? epsilon * std::abs(x[k]) : level_[k] < 0 ? 0.0 : infinity;
    unit_[k] = level_[k] == 0 ? tolerance[k] : level_[k] < 0 ? 0.0 : infinity;
    highest = std::max(highest, level_[k]);
  }
  for (int level = 1; level <= highest; ++level) {
    spread(level);
    for (std::size_t k = 0; k < level_.size(); ++k) {
      if (level_[k] != level) continue;
      if (!std::isfinite(noise_[k])) noise_[k] = 0;
      if (result_[k] || !std::isfinite(unit_[k])) unit_[k] = tolerance[k];
    }
  }
}

// From the rows to the unknowns of one level.
void IncrementUnits::spread(int level) {
  const Pattern& p = problem_.pattern();
  const auto for_each_entry = [&](auto&& visit) {
    for (std::size_t i = 0; i < row_noise_.size(); ++i)
      for (auto e = static_cast<std::size_t>(p.row_start[i]); e < static_cast<std::size_t>(p.row_start[i + 1]); ++e)
        if (const double a = entries_[e]; a > 0) visit(i, static_cast<std::size_t>(p.column[e]), a);
  };
  std::fill(row_noise_.begin(), row_noise_.end(), 0.0);
  std::fill(row_unit_.begin(), row_unit_.end(), 0.0);
  for_each_entry([&](std::size_t i, std::size_t k, double a) {
    if (level_[k] > level) row_unit_[i] = -infinity;  // the row determines that one
    if (level_[k] >= level) return;
    row_noise_[i] += a * noise_[k];
    row_unit_[i] += a * unit_[k];
  });
  for_each_entry([&](std::size_t i, std::size_t k, double a) {
    if (level_[k] != level || !(row_unit_[i] > 0)) return;
    noise_[k] = std::min(noise_[k], row_noise_[i] / a);
    unit_[k] = std::min(unit_[k], row_unit_[i] / a);
  });
}

double IncrementUnits::weight(std::size_t k, double tolerance) const {
  if (level_[k] < 0) return 0;
  if (level_[k] == 0) return 1 / tolerance;
  return 1 / std::max(result_[k] ? tolerance : unit_[k], above_noise * noise_[k]);
}

}  // namespace hinge
