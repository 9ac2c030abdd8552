#include "formulation/constraint_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/machine_numbers.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {
using Q = Quantity;
}  // namespace

ConstraintRounding::Level& ConstraintRounding::make(Quantity level) {
  Level& made = levels_[level == Q::constraint ? 0 : 1];
  if (made.made) return made;
  made.made = true;
  const auto rows = at(level == Q::constraint ? system_->ng() : system_->nrates());
  made.rows.assign(rows, 0.0);
  const SymbolicSystem* symbolic = symbolic_part(*system_);
  if (!symbolic) return made;
  auto graph = std::make_shared<Graph>();
  const std::vector<Node> functions = symbolic->nodes_of(level, *graph);
  if (functions.size() != rows) return made;
  const Equations& eq = symbolic->equations();
  made.bounds = RoundingBounds(std::move(graph), {{eq.t}, eq.y, eq.z, eq.psi}, functions);
  return made;
}

void ConstraintRounding::prepare() {
  constexpr Node most_nodes = 2000;
  const SymbolicSystem* symbolic = symbolic_part(*system_);
  if (std::exchange(prepared_, true) || !symbolic || symbolic->equations().graph->size() > most_nodes) return;
  for (const Quantity level : {Q::constraint, Q::constraint_rate}) make(level).bounds.prepare();
  make_parts();
}

void ConstraintRounding::make_parts() {
  if (!parts_)
    parts_ = system_->evaluation({Q::velocity, Q::velocity_z, Q::momentum_z, Q::acceleration_force, Q::constraint_y});
}

const std::vector<double>& ConstraintRounding::rows(Quantity level, double t, const double* y, const double* z,
                                                    const double* psi) {
  Level& asked = make(level);
  std::fill(asked.rows.begin(), asked.rows.end(), 0.0);
  const double* const inputs[] = {&t, y, z, psi};
  asked.bounds.add(inputs, asked.rows.data());
  return asked.rows;
}

bool ConstraintRounding::covers(Quantity level, const double* residual, double t, const double* y, const double* z,
                                const double* psi) {
  const std::vector<double>& within = rows(level, t, y, z, psi);
  for (std::size_t i = 0; i < within.size(); ++i)
    if (!(std::abs(residual[i]) <= within[i])) return false;
  return true;
}

double ConstraintRounding::way(const State& s, double h) {
  make_parts();
  parts_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const Evaluation& e = *parts_;
  const Pattern& mass = system_->pattern(Q::momentum_z);
  double a = mass_ = 0;
  for (int i = 0; i < mass.rows; ++i)
    for (int k = mass.row_start[at(i)]; k < mass.row_start[at(i + 1)]; ++k)
      if (const double m = std::abs(e[Q::momentum_z][k]); mass.column[at(k)] == i && m > 0) {
        a = std::max(a, std::abs(e[Q::acceleration_force][i]) / m);
        mass_ += m;
      }
  const double v_z = biggest(e[Q::velocity_z], static_cast<int>(system_->pattern(Q::velocity_z).entries()));
  return std::abs(h) * (biggest(e[Q::velocity], system_->ny()) + std::abs(h) * v_z * a);
}

double ConstraintRounding::reach(const State& s, double h) {
  double reach = std::max(way(s, h), biggest(s.y));
  if (system_->ng() == 0) return reach;
  const std::vector<double>& within = rows(Q::constraint, s.t, s.y.data(), s.z.data(), s.psi.data());
  const Pattern& pattern = system_->pattern(Q::constraint_y);
  for (std::size_t i = 0; i < within.size(); ++i) {
    double square = 0;
    for (auto k = at(pattern.row_start[i]); k < at(pattern.row_start[i + 1]); ++k)
      square += (*parts_)[Q::constraint_y][k] * (*parts_)[Q::constraint_y][k];
    if (square > 0) reach = std::max(reach, within[i] / (epsilon * std::sqrt(square)));
  }
  return reach;
}

}  // namespace hinge
