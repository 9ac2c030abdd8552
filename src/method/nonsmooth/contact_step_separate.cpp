// Bodies pushed apart by positions: normals alone, from nothing, to a part of what is missing.
#include <algorithm>
#include <utility>

#include "method/nonsmooth/contact_step.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

constexpr double part = 1e-3;  // of the largest rate
constexpr double cap = 10;     // times what is missing: gaps that are farther open need not be known better

}  // namespace

bool ContactStep::separate(const std::vector<double>& rate, double* v) {
  std::vector<double>& friction = impulses_.contacts.friction;
  kept_friction_ = friction;
  std::fill(friction.begin(), friction.end(), 0.0);
  double missing = 0;
  for (std::size_t a = 0; a < active.size(); ++a) missing = std::max(missing, -rate[a]);
  rates_.assign(at(rows()), 0.0);
  for (std::size_t a = 0; a < active.size(); ++a) rates_[a * at(d_)] = std::min(rate[a], cap * missing);
  no_force_.assign(at(std::max(nz_, m_)), 0.0);
  start_.clear();
  solved_ = false;
  ContactStatistics before = statistics;
  const double tolerance = std::exchange(options_.tolerance, part);
  separating_ = true;
  const bool good = solve_from_start(no_force_.data(), no_force_.data(), rates_.data(), v);
  separating_ = false;
  options_.tolerance = tolerance;
  before.solver_seconds = statistics.solver_seconds;
  before.assembly_seconds = statistics.assembly_seconds;
  statistics = before;
  solved_ = false;
  failure.clear();
  friction = kept_friction_;
  return good && all_finite(v, nz_);
}

}  // namespace hinge
