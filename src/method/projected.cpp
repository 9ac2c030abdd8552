#include "method/projected.hpp"

#include <fmt/format.h>

#include "formulation/project/projection.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"

namespace hinge {

namespace {

class ProjectedStepper final : public Stepper {
 public:
  ProjectedStepper(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system, Projection which,
                   LinearAlgebra choice)
      : Stepper(method->chooses_steps()),
        method_(std::move(method)),
        system_(system),
        projection_(system, which, choice) {}

  StepResult start(const State& state) override { return method_->start(state); }
  StepResult step(State& state, double h) override {
    before_ = state;
    return project(method_->step(state, h), state);
  }
  StepResult advance(State& state, double limit) override {
    before_ = state;
    return project(method_->advance(state, limit), state);
  }
  void interpolate(double t, State& state) const override { method_->interpolate(t, state); }
  void reset() override { method_->reset(); }
  std::vector<std::string> remarks() const override { return method_->remarks(); }
  std::vector<Doubt> doubts() const override { return method_->doubts(); }

 private:
  StepResult project(StepResult result, State& state) {
    if (result && projection_.active()) {
      const double h = state.t - before_.t;
      if (!projection_.project(state.t, state.y.data(), state.z.data(), state.psi.data()))
        result = explain_failure(*system_, before_, h, "the projection onto the constraints");
      else if (chooses_steps())
        result = method_->continue_from(state);
      if (!result) {
        state = before_;
        method_->reset();
      }
    }
    counters_ = method_->counters();
    counters_.evaluations += projection_.evaluations();
    multipliers_ = method_->multipliers();
    return result;
  }

  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const System> system_;
  ConstraintProjection projection_;
  State before_;
};

}  // namespace

std::unique_ptr<Stepper> projected(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system,
                                   Projection which, LinearAlgebra choice) {
  return std::make_unique<ProjectedStepper>(std::move(method), std::move(system), which, choice);
}

MethodChoice projected(MethodChoice method, Projection which) {
  if (which == Projection::none) return method;
  const bool position = projects_position(which), velocity = projects_velocity(which);
  const char* names[] = {"", "positions", "velocities", "positions and velocities"};
  method.description += fmt::format(", {} projected", names[static_cast<int>(which)]);
  Preserves& p = method.info.preserves;
  const bool moves = (position && !p.position_level) || (velocity && !p.velocity_level);
  if (moves) p = {.position_level = p.position_level, .velocity_level = p.velocity_level && !position};
  p.position_level = p.position_level || position;
  p.velocity_level = p.velocity_level || velocity;
  method.adjoint = {};
  method.make = [inner = method.make, which](std::shared_ptr<const System> system, const SolverOptions& solver,
                                             const StepOptions& steps) {
    return projected(inner(system, solver, steps), system, which, solver.linear_algebra);
  };
  return method;
}

}  // namespace hinge
