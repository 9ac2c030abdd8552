// What a user holds of a run.
#include "hinge/simulate.hpp"

#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/checkpoint.hpp"
#include "simulate/record/recorder_vtk.hpp"
#include "simulate/reference.hpp"
#include "simulate/run.hpp"

namespace hinge {

Simulation::Simulation(const SystemBuilder& system, MethodChoice method, SimulationOptions options)
    : Simulation(system.build(), std::move(method), std::move(options)) {}
Simulation::Simulation(std::shared_ptr<const System> system, MethodChoice method, SimulationOptions options)
    : run_(std::make_unique<Run>(std::move(system), std::move(method), std::move(options))) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::observe(const std::string& name, const Expression& quantity) {
  run_->recording.quantities.items.push_back({name, {}, {}});
  run_->recording.quantities.expressions.push_back(quantity);
}

void Simulation::observe(const std::string& name, const Vector& quantity, std::vector<int> shape) {
  if (shape.empty()) shape = {static_cast<int>(quantity.size())};
  ObservedQuantities& all = run_->recording.quantities;
  all.items.push_back({name, std::move(shape), {}});
  all.expressions.insert(all.expressions.end(), quantity.begin(), quantity.end());
}

void Simulation::observe_momentum(const std::string& name, const MomentumMap& map) {
  run_->watch.add({name, motion_of(system().layout(), map)});
}

void Simulation::watch(Event event) {
  if (run_->started()) throw InputError("watch() comes before start()");
  run_->events.add(std::move(event));
}

void Simulation::observe_condition() {
  if (!run_->method.condition)
    throw UnsuitableMethod(
        fmt::format("{} has no condition number: it keeps factorised parts of its iteration matrix, not the whole; "
                    "energy-momentum has one",
                    run_->method.info.name));
  run_->wants_condition = true;
}

void Simulation::keep_checkpoints(Checkpoints checkpoints) {
  if (run_->started()) throw InputError("keep_checkpoints() comes before start()");
  if (checkpoints.steps < 0 || !(checkpoints.seconds >= 0))
    throw InputError("checkpoints are written after 1, 2, ... steps, and not more often than every 0 seconds");
  if (!checkpoints.path.empty()) {
    if (system().structure().has_noise)
      throw InputError("a run with noise has no checkpoints: its random numbers would begin again; leave them out");
    require_checkpoint_path(checkpoints.path);
  }
  run_->checkpoints = std::move(checkpoints);
}

void Simulation::resume(const std::string& checkpoint) { run_->resume(checkpoint); }

void Simulation::compare(ExactSolution exact) {
  if (!exact.empty()) evaluate_exact(system(), exact, run_->options.start);  // refuses what does not fit
  run_->exact = std::move(exact);
}

void Simulation::record(Output output) {
  Recording& recording = run_->recording;
  if (is_picture_path(output.path)) {
    recording.picture_path = std::exchange(output.path, {});
    if (!recording.output.path.empty()) return;  // besides the rows
  }
  recording.output = std::move(output);
}
void Simulation::keep_rows() { run_->recording.keep_rows = true; }
void Simulation::on_row(std::function<void(const Row&)> callback) {
  run_->recording.callbacks.push_back(std::move(callback));
}
void Simulation::on_progress(std::function<bool(double)> callback) { run_->progress = std::move(callback); }

void Simulation::start(const Start& initial) { run_->start(initial); }
void Simulation::step() { run_->step(); }
void Simulation::until(double end) { run_->until(end); }
void Simulation::finish() { run_->finish(); }

const State& Simulation::state() const { return run_->state(); }
const System& Simulation::system() const { return *run_->system; }
const Trajectory& Simulation::trajectory() const { return run_->recording.kept; }
Report Simulation::report() const { return run_->report(); }
const std::vector<std::string>& Simulation::warnings() const { return run_->warnings(); }

}  // namespace hinge
