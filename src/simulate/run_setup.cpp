// A method bound to its system, or why not.
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/wrap/piecewise.hpp"
#include "simulate/run.hpp"

namespace hinge {

void SimulationOptions::validate() const {
  tolerance.validate();
  if (!std::isfinite(step) || !(step > 0 || (step == 0 && tolerance.given())))
    throw InputError(fmt::format("the step is {}; it must be a positive number", step));
  if (!std::isfinite(max_step) || max_step < 0)
    throw InputError(fmt::format("max_step = {}; give a positive time, or leave it out", max_step));
  for (std::size_t k = 0; k < times.size(); ++k)
    if (!std::isfinite(times[k]) || times[k] < start || (k > 0 && !(times[k] > times[k - 1])))
      throw InputError(
          fmt::format("times[{}] = {}; times to record at are finite, increasing and not before the start, {}", k,
                      times[k], start));
  if (!std::isfinite(start)) throw InputError("the start time is not a finite number");
  if (every < 1) throw InputError(fmt::format("every = {}; record every 1st, 2nd, ... step", every));
  if (!std::isfinite(interval) || interval < 0)
    throw InputError(fmt::format("interval = {}; give a positive time, or leave it out", interval));
  solver.validate();
}

Run::Run(std::shared_ptr<const System> s, MethodChoice m, SimulationOptions o)
    : system(std::move(s)), method(m.specialised(*system, o.steps())), options(std::move(o)) {
  options.validate();
  depends_on_time_ = system->structure().depends_on_time;
  stepper_ = bind_piecewise(method, system, options.solver, options.steps());
}

}  // namespace hinge
