#include "method/projected.hpp"

#include <fmt/format.h>

#include "formulation/project/projection.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"
#include "method/stepper_around.hpp"

namespace hinge {

namespace {

class ProjectedStepper final : public StepperAround {
 public:
  ProjectedStepper(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system, Projection which,
                   LinearAlgebra choice)
      : StepperAround(method->chooses_steps()),
        method_(std::move(method)),
        system_(system),
        projection_(system, which, choice) {}

  StepResult step(State& state, double h) override {
    if (chooses_steps()) return StepperAround::step(state, h);
    before_ = state;
    return project(method_->step(state, h), state);
  }
  StepResult advance(State& state, double limit) override {
    before_ = state;
    return project(method_->advance(state, limit), state);
  }

 private:
  Stepper& inner() const override { return *method_; }
  Counters work() const override {
    Counters sum = method_->counters();
    sum.evaluations += projection_.evaluations();
    return sum;
  }
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
    return counted(std::move(result));
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

void declare_projection(MethodChoice& method, Projection which) {
  if (which == Projection::none) return;
  const bool position = projects_position(which), velocity = projects_velocity(which);
  const char* names[] = {"", "positions", "velocities", "positions and velocities"};
  method.description += fmt::format(", {} projected", names[static_cast<int>(which)]);
  Preserves& p = method.info.preserves;
  const bool moves = (position && !p.position_level) || (velocity && !p.velocity_level);
  if (moves) p = {.position_level = p.position_level, .velocity_level = p.velocity_level && !position};
  p.position_level = p.position_level || position;
  p.velocity_level = p.velocity_level || velocity;
  method.adjoint = {};
}

MethodChoice projected(MethodChoice method, Projection which) {
  if (which == Projection::none) return method;
  declare_projection(method, which);
  method.make = [inner = method.make, which](std::shared_ptr<const System> system, const SolverOptions& solver,
                                             const StepOptions& steps) {
    return projected(inner(system, solver, steps), system, which, solver.linear_algebra);
  };
  return method;
}

}  // namespace hinge
