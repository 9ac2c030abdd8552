#include "formulation/motion_code.hpp"

#include <utility>

#include "formulation/motion_draft.hpp"

namespace hinge {

namespace {
using Making = GraphLibrary::Making;
}

MotionCode::MotionCode(std::shared_ptr<const System> system, const std::vector<int>& exchanges)
    : system_(std::move(system)),
      exchanges_(exchanges),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      can_project_(MotionDraft::can_project(*system_)) {}

MotionCode::~MotionCode() = default;

std::unique_ptr<MotionCode> MotionCode::make(std::shared_ptr<const System> system, const std::vector<int>& exchanges) {
  if (!MotionDraft::suits(*system)) return nullptr;
  return std::unique_ptr<MotionCode>(new MotionCode(std::move(system), exchanges));
}

// Of this kind, with these exchanges.
FunctionKey MotionCode::key(GraphLibrary::Making making) const {
  FunctionKey key{static_cast<int>(making)};
  key.insert(key.end(), exchanges_.begin(), exchanges_.end());
  return key;
}

// The last of what was made is `settled`.
void MotionCode::compile(bool keep) {
  const Making making = keep ? Making::motion_with_matrix : Making::motion;
  const auto make = [&](const SymbolicSystem& system) {
    MotionDraft draft(system, exchanges_);
    MotionDraft::Point point = draft.variables();
    Nodes outputs = GraphLibrary::once(draft.graph(), draft.key(making), [&] {
      const MotionDraft::Motion motion = draft.motion(point);
      Nodes all = motion.velocity;
      append(all, motion.acceleration);
      append(all, motion.multiplier);
      if (keep && !draft.constant_mass()) append(all, motion.mass);
      if (keep) append(all, motion.reaction);
      if (keep) append(all, motion.gradient);
      all.push_back(motion.settled);
      return all;
    });
    return FunctionDraft{std::move(draft.graph()), {{point.t}, point.y, point.z}, std::move(outputs)};
  };
  const auto& system = static_cast<const SymbolicSystem&>(*system_);
  (keep ? with_matrix_ : alone_) = CompiledFunction(system.function(key(making), make));
  if (!keep) return;
  using Q = Quantity;
  const auto entries = [&](Q q) { return system.pattern(q).column.size(); };
  mass_ = with_matrix_.output() + ny_ + nz_ + m_;
  reaction_ = mass_ + (system.is_constant(Q::momentum_z) ? 0 : entries(Q::momentum_z));
  gradient_ = reaction_ + (system.structure().reaction_is_ideal ? 0 : entries(Q::reaction_psi));
}

void MotionCode::compile_projection() {
  const auto make = [&](const SymbolicSystem& system) {
    MotionDraft draft(system, exchanges_);
    MotionDraft::Point point = draft.variables();
    std::vector<Nodes> blocks{{point.t}, point.y, point.z};
    Nodes corrected = GraphLibrary::once(draft.graph(), draft.key(Making::projection), [&] {
      const Node enough = draft.project(point);
      Nodes all = point.y;
      append(all, point.z);
      all.push_back(enough);
      return all;
    });
    return FunctionDraft{std::move(draft.graph()), std::move(blocks), std::move(corrected)};
  };
  const auto& system = static_cast<const SymbolicSystem&>(*system_);
  projection_ = CompiledFunction(system.function(key(Making::projection), make));
}

bool MotionCode::project(double t, double* y, double* z) {
  if (!projection_) compile_projection();
  const double* const inputs[] = {&t, y, z};
  if (!projection_(inputs)) return false;
  const double* from = projection_.output();
  for (int i = 0; i < ny_; ++i) y[i] = from[i];
  for (int i = 0; i < nz_; ++i) z[i] = from[ny_ + i];
  return true;
}

}  // namespace hinge
