// hinge.solve_dae(): steps of a method that Python asks for one by one, with its interpolation between them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/commands.hpp"
#include "core.hpp"
#include "formulation/implicit/function_dae.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"

namespace hinge::python {

namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A Python function that reads and writes arrays which are made once: F(t, y, yp, out), J(t, y, yp, F_y, F_yp).
class Function {
 public:
  Function(nb::object callable, std::size_t size, std::size_t outputs, std::size_t output_size)
      : held_(new Held{std::move(callable), {}}, release) {
    for (std::size_t k = 0; k < 2 + outputs; ++k) held_->room.emplace_back(k < 2 ? size : output_size);
  }

  template <class... Out>
  void operator()(double t, const double* x, const double* rate, Out... out) const {
    const nb::gil_scoped_acquire lock;
    auto& [callable, room] = *held_;
    std::copy_n(x, room[0].size, room[0].numbers);
    std::copy_n(rate, room[1].size, room[1].numbers);
    if constexpr (sizeof...(Out) == 1)
      callable(t, room[0].array, room[1].array, room[2].array);
    else
      callable(t, room[0].array, room[1].array, room[2].array, room[3].array);
    double* const wanted[] = {out...};
    for (std::size_t k = 0; k < sizeof...(Out); ++k) std::copy_n(room[k + 2].numbers, room[k + 2].size, wanted[k]);
  }

 private:
  struct Room {
    explicit Room(std::size_t n) : size(n), numbers(new double[n]()) {
      const nb::capsule owner(numbers, [](void* p) noexcept { delete[] static_cast<double*>(p); });
      array = nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>(numbers, {n}, owner));
    }
    std::size_t size;
    double* numbers;
    nb::object array;
  };
  struct Held {
    nb::object callable;
    std::vector<Room> room;
  };
  static void release(Held* held) {
    const nb::gil_scoped_acquire lock;
    delete held;
  }
  std::shared_ptr<Held> held_;
};

/// A method on its way.
class DaeSteps {
 public:
  DaeSteps(std::shared_ptr<const System> system, const MethodChoice& method, const SolverOptions& solver,
           const StepOptions& steps, State start)
      : system_(std::move(system)), state_(std::move(start)), between_(state_) {
    stepper_ = method.bind(system_, solver, steps);
    require(stepper_->start(state_));
  }

  void advance(double limit) {
    const nb::gil_scoped_release free;
    require(stepper_->advance(state_, limit));
    stepper_->interpolate(state_.t, state_);
    for (const double x : state_.y)
      if (!std::isfinite(x)) throw StepFailure("the solution is no finite number any more", state_.t);
  }
  State state() const { return state_; }
  State at(double t) {
    const nb::gil_scoped_release free;
    stepper_->interpolate(t, between_);
    between_.t = t;
    return between_;
  }
  nb::dict counters() const {
    const Counters& c = stepper_->counters();
    nb::dict d;
    d["steps"] = c.steps;
    d["iterations"] = c.iterations;
    d["evaluations"] = c.evaluations;
    d["factorisations"] = c.factorisations;
    d["rejected"] = c.rejected + c.failed;
    return d;
  }
  std::vector<std::string> remarks() const { return stepper_->remarks(); }

 private:
  void require(const StepResult& result) const {
    if (!result) throw StepFailure(result.reason, state_.t);
  }

  std::shared_ptr<const System> system_;
  std::unique_ptr<Stepper> stepper_;
  State state_, between_;
};

DaeSteps of_model(const HeldModel& held) {
  const Model& model = *held.model;
  const nb::gil_scoped_release free;
  return cli::located(model, [&] {
    return DaeSteps(model.system, model.choice, model.simulation.solver, model.simulation.steps(),
                    consistent_start(*model.system, model.simulation.start, model.start));
  });
}

DaeSteps of_function(nb::object residual, nb::object jacobian, const std::vector<std::string>& names,
                     const std::vector<int>& index, double t, const Doubles& x, const Doubles& rate,
                     const std::string& method, double relative, double absolute, double first_step, double max_step) {
  const std::size_t n = names.size();
  FunctionDae::Jacobian derivative;
  if (!jacobian.is_none()) derivative = Function(std::move(jacobian), n, 2, n * n);
  const auto system =
      std::make_shared<const FunctionDae>(names, Function(std::move(residual), n, 1, n), index, std::move(derivative));
  State start{t, {x.data(), x.data() + x.size()}, {rate.data(), rate.data() + rate.size()}, {}};
  if (start.y.size() != n || start.z.size() != n) throw InputError("y0 and yp0 have one number for each unknown");
  const nb::gil_scoped_release free;
  return DaeSteps(system, make_method(method, {}), {}, {{relative, absolute}, first_step, max_step}, std::move(start));
}

}  // namespace

void bind_dae(nb::module_& m) {
  nb::class_<DaeSteps>(m, "DaeSteps", "Steps of a method, one by one.")
      .def("advance", &DaeSteps::advance, nb::arg("limit"))
      .def_prop_ro("state", &DaeSteps::state)
      .def("at", &DaeSteps::at, nb::arg("t"))
      .def_prop_ro("counters", &DaeSteps::counters)
      .def_prop_ro("remarks", &DaeSteps::remarks);
  m.def("dae_of_model", &of_model, nb::arg("model"));
  m.def("dae_of_function", &of_function, nb::arg("residual"), nb::arg("jacobian").none(), nb::arg("names"),
        nb::arg("index"), nb::arg("t"), nb::arg("x"), nb::arg("rate"), nb::arg("method"), nb::arg("relative"),
        nb::arg("absolute"), nb::arg("first_step"), nb::arg("max_step"));
}

}  // namespace hinge::python
