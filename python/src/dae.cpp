// hinge.solve_dae(): steps of a method that Python asks for one by one, with its interpolation between them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/commands.hpp"
#include "core.hpp"
#include "expression/substitute.hpp"
#include "formulation/implicit/function_dae.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "method/wrap/piecewise.hpp"
#include "system/symbolic.hpp"

namespace hinge::python {

namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// How a DAE is measured where it is solved: t = direction T with direction 1 or -1, x = scale X, and so
// x' = direction scale X'. Time that goes backwards grows in T; tolerances of each unknown are one tolerance of all X.
struct Measure {
  double direction;
  std::vector<double> scale;

  double rate_scale(std::size_t k) const { return direction * scale[k]; }
  State inside(State s) const {
    s.t *= direction;
    for (std::size_t k = 0; k < scale.size(); ++k) {
      s.y[k] /= scale[k];
      s.z[k] /= rate_scale(k);
    }
    return s;
  }
  State outside(State s) const {
    s.t *= direction;
    for (std::size_t k = 0; k < scale.size(); ++k) {
      s.y[k] *= scale[k];
      s.z[k] *= rate_scale(k);
    }
    return s;
  }

  /// F as a function of T, X and X'.
  std::shared_ptr<const System> inside(const std::shared_ptr<const System>& system) const {
    const bool same = direction == 1 && std::all_of(scale.begin(), scale.end(), [](double s) { return s == 1; });
    if (same) return system;
    const SymbolicSystem* const symbolic = symbolic_part(*system);
    if (!symbolic || scale.size() != static_cast<std::size_t>(system->ny()))
      throw InputError("time goes backwards, and tolerances are lists, for DAEs of equations and functions only");
    Equations eq = symbolic->equations();
    const auto graph = std::make_shared<Graph>(*eq.graph);
    const auto times = [&](double factor, Node n) { return graph->multiply(graph->constant(factor), n); };
    std::vector<Node> replaced{eq.t}, images{times(direction, eq.t)};
    for (std::size_t k = 0; k < scale.size(); ++k) {
      replaced.insert(replaced.end(), {eq.y[k], eq.z[k]});
      images.insert(images.end(), {times(scale[k], eq.y[k]), times(rate_scale(k), eq.z[k])});
    }
    eq.residual = substitute(*graph, eq.residual, replaced, images, *graph);
    eq.graph = graph;
    eq.source = nullptr;
    return std::make_shared<const SymbolicSystem>(system->layout(), std::move(eq));
  }
};

// A Python function that reads and writes arrays which are made once: F(t, y, yp, out), J(t, y, yp, F_y, F_yp).
class Function {
 public:
  Function(nb::object callable, const Measure& measure, std::size_t outputs, std::size_t output_size)
      : held_(new Held{std::move(callable), measure, {}}, release) {
    const std::size_t size = measure.scale.size();
    for (std::size_t k = 0; k < 2 + outputs; ++k) held_->room.emplace_back(k < 2 ? size : output_size);
  }

  template <class... Out>
  void operator()(double t, const double* x, const double* rate, Out... out) const {
    const WithLock lock;
    auto& [callable, measure, room] = *held_;
    const std::size_t n = measure.scale.size();
    for (std::size_t k = 0; k < n; ++k) {
      room[0].numbers[k] = measure.scale[k] * x[k];
      room[1].numbers[k] = measure.rate_scale(k) * rate[k];
    }
    t *= measure.direction;
    double* const wanted[] = {out...};
    if constexpr (sizeof...(Out) == 1) {
      callable(t, room[0].array, room[1].array, room[2].array);
      std::copy_n(room[2].numbers, n, wanted[0]);
    } else {
      callable(t, room[0].array, room[1].array, room[2].array, room[3].array);
      for (std::size_t k = 0; k < n * n; ++k) {
        wanted[0][k] = room[2].numbers[k] * measure.scale[k % n];
        wanted[1][k] = room[3].numbers[k] * measure.rate_scale(k % n);
      }
    }
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
    Measure measure;
    std::vector<Room> room;
  };
  static void release(Held* held) {
    const WithLock lock;
    delete held;
  }
  std::shared_ptr<Held> held_;
};

/// A method on its way.
class DaeSteps {
 public:
  /// `system` and `start` as they are inside.
  DaeSteps(std::shared_ptr<const System> system, const MethodChoice& method, const SolverOptions& solver,
           const StepOptions& steps, State start, Measure measure)
      : system_(std::move(system)), measure_(std::move(measure)), state_(std::move(start)), between_(state_) {
    stepper_ = bind_piecewise(method, system_, solver, steps);
    require(stepper_->start(state_));
  }

  void advance(double limit) {
    const WithoutLock free;
    require(stepper_->advance(state_, measure_.direction * limit));
    stepper_->interpolate(state_.t, state_);
    for (const double x : state_.y)
      if (!std::isfinite(x))
        throw StepFailure("the solution is no finite number any more", measure_.direction * state_.t);
  }
  State state() const { return measure_.outside(state_); }
  State at(double t) {
    const WithoutLock free;
    stepper_->interpolate(measure_.direction * t, between_);
    between_.t = measure_.direction * t;
    return measure_.outside(between_);
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
  /// What makes the solution doubtful, each with its number and its remedy.
  std::vector<std::string> doubts() const {
    std::vector<std::string> list;
    for (const Doubt& d : stepper_->doubts()) list.push_back(fmt::format("{}: {:.3g}; {}", d.cause, d.value, d.remedy));
    return list;
  }

 private:
  void require(const StepResult& result) const {
    if (!result) throw StepFailure(result.reason, measure_.direction * state_.t);
  }

  std::shared_ptr<const System> system_;
  Measure measure_;
  std::unique_ptr<Stepper> stepper_;
  State state_, between_;
};

DaeSteps of_model(const HeldModel& held, double direction, std::vector<double> scale) {
  const Model& model = *held.model;
  const Measure measure{direction, std::move(scale)};
  const WithoutLock free;
  return cli::located(model, [&] {
    const State start = consistent_start(*model.system, model.simulation.start, model.start);
    return DaeSteps(measure.inside(model.system), model.choice, model.simulation.solver, model.simulation.steps(),
                    measure.inside(start), measure);
  });
}

DaeSteps of_function(nb::object residual, nb::object jacobian, const std::vector<std::string>& names,
                     const std::vector<int>& index, double t, const Doubles& x, const Doubles& rate,
                     const std::string& method, double relative, double absolute, double first_step, double max_step,
                     double direction, std::vector<double> scale) {
  const std::size_t n = names.size();
  const Measure measure{direction, std::move(scale)};
  if (measure.scale.size() != n || x.size() != n || rate.size() != n)
    throw InputError("y0, yp0 and the tolerances have one number for each unknown");
  FunctionDae::Jacobian derivative;
  if (!jacobian.is_none()) derivative = Function(std::move(jacobian), measure, 2, n * n);
  const auto system = std::make_shared<const FunctionDae>(names, Function(std::move(residual), measure, 1, n), index,
                                                          std::move(derivative));
  State start{t, {x.data(), x.data() + x.size()}, {rate.data(), rate.data() + rate.size()}, {}};
  const WithoutLock free;
  return DaeSteps(system, make_method(method, {}), {}, {{relative, absolute}, first_step, max_step},
                  measure.inside(std::move(start)), measure);
}

}  // namespace

void bind_dae(nb::module_& m) {
  nb::class_<DaeSteps>(m, "DaeSteps", "Steps of a method, one by one.")
      .def("advance", &DaeSteps::advance, nb::arg("limit"))
      .def_prop_ro("state", &DaeSteps::state)
      .def("at", &DaeSteps::at, nb::arg("t"))
      .def_prop_ro("counters", &DaeSteps::counters)
      .def_prop_ro("remarks", &DaeSteps::remarks)
      .def_prop_ro("doubts", &DaeSteps::doubts);
  m.def("dae_of_model", &of_model, nb::arg("model"), nb::arg("direction"), nb::arg("scale"));
  m.def("dae_of_function", &of_function, nb::arg("residual"), nb::arg("jacobian").none(), nb::arg("names"),
        nb::arg("index"), nb::arg("t"), nb::arg("x"), nb::arg("rate"), nb::arg("method"), nb::arg("relative"),
        nb::arg("absolute"), nb::arg("first_step"), nb::arg("max_step"), nb::arg("direction"), nb::arg("scale"));
}

}  // namespace hinge::python
