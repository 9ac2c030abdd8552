#include "method/wrap/projected.hpp"

#include <fmt/format.h>

#include "formulation/project/projection.hpp"
#include "method/step_failure.hpp"

namespace hinge {

namespace {

StepResult could_not_project(const System& system, const State& state, double h) {
  return explain_failure(system, state, h, "the projection onto the constraints", Convergence(0));
}

class ProjectedStepper final : public Stepper {
 public:
  ProjectedStepper(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system, Projection which,
                   LinearAlgebra choice)
      : method_(std::move(method)), system_(system), projection_(system, which, choice) {}

  StepResult step(State& state, double h) override {
    before_ = state;
    const StepResult result = method_->step(state, h);
    if (result && projection_.active() &&
        !projection_.project(state.t, state.y.data(), state.z.data(), state.psi.data())) {
      state = before_;
      method_->reset();
      return could_not_project(*system_, state, h);
    }
    counters_ = method_->counters();
    counters_.evaluations += projection_.evaluations();
    multipliers_ = method_->multipliers();
    return result;
  }
  void reset() override { method_->reset(); }

 private:
  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const System> system_;
  ConstraintProjection projection_;
  State before_;
};

class ProjectedAdaptive final : public AdaptiveStepper {
 public:
  ProjectedAdaptive(std::unique_ptr<AdaptiveStepper> method, std::shared_ptr<const System> system, Projection which,
                    LinearAlgebra choice)
      : method_(std::move(method)), system_(system), projection_(system, which, choice) {}

  StepResult start(const State& state) override { return method_->start(state); }
  StepResult advance(State& state, double limit) override {
    before_ = state;
    StepResult result = method_->advance(state, limit);
    if (result && projection_.active()) {
      const double h = state.t - before_.t;
      if (!projection_.project(state.t, state.y.data(), state.z.data(), state.psi.data()))
        result = could_not_project(*system_, before_, h);
      else
        result = method_->continue_from(state);
      if (!result) state = before_;
    }
    counters_ = method_->counters();
    counters_.evaluations += projection_.evaluations();
    return result;
  }
  void interpolate(double t, State& state) const override { method_->interpolate(t, state); }
  std::vector<std::string> remarks() const override { return method_->remarks(); }

 private:
  std::unique_ptr<AdaptiveStepper> method_;
  std::shared_ptr<const System> system_;
  ConstraintProjection projection_;
  State before_;
};

}  // namespace

std::unique_ptr<AdaptiveStepper> projected(std::unique_ptr<AdaptiveStepper> method,
                                           std::shared_ptr<const System> system, Projection which,
                                           LinearAlgebra choice) {
  return std::make_unique<ProjectedAdaptive>(std::move(method), std::move(system), which, choice);
}

MethodChoice projected(MethodChoice method, Projection which) {
  if (which == Projection::none) return method;
  const bool position = which == Projection::position || which == Projection::both;
  const bool velocity = which == Projection::velocity || which == Projection::both;
  const char* names[] = {"", "positions", "velocities", "positions and velocities"};
  method.description += fmt::format(", {} projected", names[static_cast<int>(which)]);
  Preserves& p = method.info.preserves;
  const bool moves = (position && !p.position_level) || (velocity && !p.velocity_level);
  if (moves) p = {.position_level = p.position_level, .velocity_level = p.velocity_level && !position};
  p.position_level = p.position_level || position;
  p.velocity_level = p.velocity_level || velocity;
  method.adjoint = {};
  if (method.bind)
    method.bind = [inner = method.bind, which](std::shared_ptr<const System> system, const SolverOptions& options) {
      return std::make_unique<ProjectedStepper>(inner(system, options), system, which, options.linear_algebra);
    };
  if (method.bind_adaptive)
    method.bind_adaptive = [inner = method.bind_adaptive, which](std::shared_ptr<const System> system,
                                                                 const SolverOptions& options,
                                                                 const AdaptiveOptions& adaptive) {
      return projected(inner(system, options, adaptive), system, which, options.linear_algebra);
    };
  return method;
}

}  // namespace hinge
