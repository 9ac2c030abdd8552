// s = m.start(): a run that goes on when Python says so.
#include <chrono>
#include <cmath>
#include <functional>
#include <mutex>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/commands.hpp"
#include "core.hpp"
#include "hinge/error.hpp"

namespace hinge::python {

namespace {

class Session {
 public:
  Session(const HeldModel& held, bool keep_rows) : model_(held.model), simulation_(make()) {
    if (keep_rows) simulation_.keep_rows();
    simulation_.on_progress(interrupted_);
    const WithoutLock free;
    cli::located(*model_, [&] { simulation_.start(model_->start); });
  }

  // As many steps as it takes to get h further; without h one step of the method.
  void step(std::optional<double> h) {
    if (h && !(*h > 0 && std::isfinite(*h)))
      throw InputError("step: the time to go on by has to be a positive number, as in s.step(0.01)");
    act([&] {
      const double step = model_->simulation.step;
      const double count = h && !model_->simulation.tolerance.given() ? std::round(*h / step) : 0;
      if (!h)
        simulation_.step();
      else if (count >= 1 && std::abs(*h - count * step) <= 1e-12 * *h && count < 1e9)
        for (double k = 0; k < count; ++k) {  // on the grid of times: sums would round
          simulation_.step();
          listen();
        }
      else
        simulation_.until(simulation_.state().t + *h);
    });
  }
  void until(double end) {
    act([&] { simulation_.until(end); });
  }
  State state() {
    const auto lock = take();
    return simulation_.state();
  }
  Result result() {
    const auto lock = take();
    return {
        model_,        std::make_shared<const Trajectory>(simulation_.trajectory()), simulation_.report(), {}, {}, 0,
        model_->method};
  }

 private:
  Simulation make() {
    return cli::located(*model_, [&] { return model_->simulation_for({}); });
  }
  // One thread at a time; another one is told so instead of waiting, since it may hold the interpreter's lock.
  std::unique_lock<std::mutex> take() {
    std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
    if (!lock) throw InputError("this session is stepping in another thread; start one for each thread");
    return lock;
  }
  // Ctrl-C, between steps.
  void listen() {
    const auto now = std::chrono::steady_clock::now();
    if (now - heard_ < std::chrono::milliseconds(100)) return;
    heard_ = now;
    interrupted_(simulation_.state().t);
  }
  template <class Action>
  void act(Action action) {
    const WithoutLock free;
    const auto lock = take();
    cli::located(*model_, action);
  }

  std::shared_ptr<const Model> model_;
  const std::function<bool(double)> interrupted_ = progress_of(nb::none());
  std::chrono::steady_clock::time_point heard_{};
  std::mutex busy_;
  Simulation simulation_;
};

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<State>(m, "State", "Where a motion is.")
      .def_ro("t", &State::t)
      .def_prop_ro(
          "y", [](const State& s) { return array_of(s.y); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "z", [](const State& s) { return array_of(s.z); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "multipliers", [](const State& s) { return array_of(s.psi); }, nb::rv_policy::automatic);
  nb::class_<Session>(m, "Session", "A run that goes on step by step.")
      .def(nb::init<const HeldModel&, bool>(), nb::arg("model"), nb::arg("keep_rows"))
      .def("step", &Session::step, nb::arg("h").none())
      .def("until", &Session::until, nb::arg("end"))
      .def_prop_ro("state", &Session::state)
      .def("result", &Session::result);
}

}  // namespace hinge::python
