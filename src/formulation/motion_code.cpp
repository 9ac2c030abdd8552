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

// The last of what was made is `settled`.
void MotionCode::compile(bool keep) {
  MotionDraft draft(static_cast<const SymbolicSystem&>(*system_), exchanges_);
  MotionDraft::Point point = draft.variables();
  Nodes outputs = GraphLibrary::once(draft.graph(), draft.key(keep ? Making::motion_with_matrix : Making::motion), [&] {
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
  const Node settled = outputs.back();
  outputs.pop_back();
  const std::vector<Nodes> blocks{{point.t}, point.y, point.z};
  CompiledFunction& function = keep ? with_matrix_ : alone_;
  function = CompiledFunction(draft.graph(), blocks, std::move(outputs), settled);
  if (!keep) return;
  mass_ = with_matrix_.output() + ny_ + nz_ + m_;
  reaction_ = mass_ + (draft.constant_mass() ? 0 : draft.masses());
  gradient_ = reaction_ + draft.reactions();
}

void MotionCode::compile_projection() {
  MotionDraft draft(static_cast<const SymbolicSystem&>(*system_), exchanges_);
  MotionDraft::Point point = draft.variables();
  const std::vector<Nodes> blocks{{point.t}, point.y, point.z};
  Nodes corrected = GraphLibrary::once(draft.graph(), draft.key(Making::projection), [&] {
    const Node enough = draft.project(point);
    Nodes all = point.y;
    append(all, point.z);
    all.push_back(enough);
    return all;
  });
  const Node enough = corrected.back();
  corrected.pop_back();
  projection_ = CompiledFunction(draft.graph(), blocks, std::move(corrected), enough);
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
