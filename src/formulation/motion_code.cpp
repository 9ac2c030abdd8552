#include "formulation/motion_code.hpp"

#include <utility>

#include "formulation/motion_draft.hpp"

namespace hinge {

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

void MotionCode::compile(bool keep) {
  MotionDraft draft(static_cast<const SymbolicSystem&>(*system_), exchanges_);
  MotionDraft::Point point = draft.variables();
  const MotionDraft::Motion motion = draft.motion(point);
  Nodes outputs = motion.velocity;
  append(outputs, motion.acceleration);
  append(outputs, motion.multiplier);
  const std::vector<Nodes> blocks{{point.t}, point.y, point.z};
  if (!keep) {
    alone_ = CompiledFunction(draft.graph(), blocks, outputs, motion.settled);
    return;
  }
  const std::size_t solution = outputs.size(), masses = draft.constant_mass() ? 0 : motion.mass.size();
  if (!draft.constant_mass()) append(outputs, motion.mass);
  append(outputs, motion.reaction);
  append(outputs, motion.gradient);
  with_matrix_ = CompiledFunction(draft.graph(), blocks, outputs, motion.settled);
  mass_ = with_matrix_.output() + solution;
  reaction_ = mass_ + masses;
  gradient_ = reaction_ + motion.reaction.size();
}

void MotionCode::compile_projection() {
  MotionDraft draft(static_cast<const SymbolicSystem&>(*system_), exchanges_);
  MotionDraft::Point point = draft.variables();
  const std::vector<Nodes> blocks{{point.t}, point.y, point.z};
  const Node enough = draft.project(point);
  Nodes corrected = point.y;
  append(corrected, point.z);
  projection_ = CompiledFunction(draft.graph(), blocks, corrected, enough);
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
