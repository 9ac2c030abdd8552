#include "simulate/prescribed_motion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "expression/derivative.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr double rounding = 1e-12;     // of a coordinate; in a step it is a velocity
constexpr double velocity_off = 0.05;  // of the velocities in a constraint
constexpr double at_rest = 1e-12;  // of the largest velocity: what solving for all at once leaves of it in the others
// Ten steps to a period of what is prescribed: (w h)^2/12; with velocities that are off by h y''/2, as those of methods
// of order one, w h/2.
constexpr double drive_off[] = {0.3, 0.03};

// Constraints that depend on time, as far as is known.
std::vector<char> driven_constraints(const System& system) {
  const auto ng = static_cast<std::size_t>(system.ng());
  if (!system.structure().depends_on_time) return std::vector<char>(ng, 0);
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic) return std::vector<char>(ng, 1);
  const Equations& eq = symbolic->equations();
  const std::vector<char> by_time = dependence(*eq.graph, std::span(&eq.t, 1));
  std::vector<char> driven(ng, 0);
  for (std::size_t i = 0; i < std::min(ng, eq.g.size()); ++i) driven[i] = by_time[static_cast<std::size_t>(eq.g[i])];
  return driven;
}

// Coordinates in these.
std::vector<int> driven_coordinates(const System& system, const std::vector<char>& driven) {
  if (!symbolic_part(system)) return {};
  const Pattern& pattern = system.pattern(Q::constraint_y);
  std::vector<int> found;
  for (std::size_t i = 0; i < driven.size(); ++i)
    if (driven[i])
      found.insert(found.end(), pattern.column.begin() + pattern.row_start[i],
                   pattern.column.begin() + pattern.row_start[i + 1]);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Where vectors of the plane and of space begin and end among the numbers of z; other numbers stand alone.
std::vector<std::pair<int, int>> vectors_of(const Layout& layout, int n) {
  std::vector<std::pair<int, int>> spans(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) spans[static_cast<std::size_t>(k)] = {k, k + 1};
  for (const Block& block : layout.z) {
    const int width = block.shape.empty() ? 1 : block.shape.back();
    if (width != 2 && width != 3) continue;
    for (int k = 0; k < block.size() && block.first + k < n; ++k) {
      const int first = block.first + k - k % width;
      spans[static_cast<std::size_t>(block.first + k)] = {first, std::min(first + width, n)};
    }
  }
  return spans;
}

}  // namespace

void PrescribedMotion::begin(const System& system, const Preserves& preserves, int order, Quantities& wanted) {
  end();
  system_ = &system;
  if (!preserves.velocity_level || order == 1 || order == 2) by_time_ = driven_constraints(system);
  if (!preserves.velocity_level) {
    vectors_ = vectors_of(system.layout(), system.nz());
    rows_.resize(static_cast<std::size_t>(system.ng()));
    rows_at_ = system.evaluation({Q::constraint_rate_z});
    positions_at_ = system.evaluation({Q::constraint_y});
  }
  if (order == 1 || order == 2) {
    driven_ = driven_coordinates(system, by_time_);
    drive_off_ = drive_off[order - 1];
  }
  if (!driven_.empty()) wanted.insert(Q::velocity);
  movement_.resize(driven_.size());
}

void PrescribedMotion::see(const State& s, const Evaluation& at, double h, bool broken) {
  if (!rows_.empty()) measure_rows(s, at[Q::constraint_rate], h);
  if (!driven_.empty()) measure_coordinates(s, at[Q::velocity], broken ? 0 : h);
}

void PrescribedMotion::measure_rows(const State& s, const double* rates, double h) {
  const Pattern& pattern = system_->pattern(Q::constraint_rate_z);
  rows_at_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const double* H = (*rows_at_)[Q::constraint_rate_z];
  bool known = false;
  // A joint does not know the axes: what drifts across the way of a point is compared with its velocity, not with the
  // part across, which is nothing but that. Where something is prescribed it is, in the direction of that.
  const auto speed = [&](int column) {
    double size = 0;
    const auto [first, last] = vectors_[static_cast<std::size_t>(column)];
    for (int j = first; j < last; ++j) size = std::hypot(size, s.z[static_cast<std::size_t>(j)]);
    return size;
  };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    double size = 0;
    for (int k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      const int column = pattern.column[static_cast<std::size_t>(k)];
      size += std::abs(H[k]) * (by_time_[i] ? std::abs(s.z[static_cast<std::size_t>(column)]) : speed(column));
    }
    Part& row = rows_[i];
    row.size = std::max(row.size, size);
    const double off = std::abs(rates[i]);
    if (!(h > 0) || !(off > std::max(row.off, velocity_off * row.size))) continue;
    if (!std::exchange(known, true)) positions_at_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    if (off > rounding * position_size(i, s) / h) row.off = off;
  }
}

// sum_j |G_ij| |y_j|, after positions_at_ has been evaluated
double PrescribedMotion::position_size(std::size_t i, const State& s) const {
  const Pattern& pattern = system_->pattern(Q::constraint_y);
  const double* G = (*positions_at_)[Q::constraint_y];
  double size = 0;
  for (int k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
    size += std::abs(G[k] * s.y[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])]);
  return size;
}

void PrescribedMotion::measure_coordinates(const State& s, const double* v, double h) {
  y_.resize(driven_.size());
  v_.resize(driven_.size());
  for (std::size_t k = 0; k < driven_.size(); ++k) {
    const int i = driven_[k];
    const double y = s.y[static_cast<std::size_t>(i)], defect = std::abs(y - y_[k] - h * (v[i] + v_[k]) / 2);
    movement_[k].size = std::max(movement_[k].size, std::abs(v[i]));
    if (h > 0 && defect > rounding * std::abs(y)) movement_[k].off = std::max(movement_[k].off, defect / h);
    y_[k] = y;
    v_[k] = v[i];
  }
}

void PrescribedMotion::doubts(std::vector<Doubt>& doubts) const {
  const auto largest = [](const std::vector<Part>& parts) {
    double most = 0, fastest = 0;
    for (const Part& part : parts) fastest = std::max(fastest, part.size);
    for (const Part& part : parts)
      if (part.off > 0) most = std::max(most, part.off / std::max(part.size, at_rest * fastest));
    return most;
  };
  if (const double off = largest(rows_); off > velocity_off)
    doubts.push_back(
        {"velocities are off what the constraints prescribe at some time, as a part of the velocities in "
         "them",
         off, "take a shorter step, or a method that keeps both levels (rattle)"});
  if (const double off = largest(movement_); off > drive_off_)
    doubts.push_back(
        {"the step is too long for what constraints prescribe as functions of time: positions and "
         "velocities there disagree, by this part of the velocity",
         off, "take at least ten steps to a period, or a method of higher order"});
}

void PrescribedMotion::exchange(Memory& memory) {
  for (std::vector<Part>* parts : {&rows_, &movement_})
    for (Part& part : *parts) memory(part.off, part.size);
}

}  // namespace hinge
