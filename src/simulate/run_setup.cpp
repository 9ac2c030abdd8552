// A method bound to its system, or why not.
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"
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
    : system(std::move(s)), method(std::move(m)), options(std::move(o)) {
  options.validate();
  depends_on_time_ = system->structure().depends_on_time;
  if (system->structure().is_dae && !method.info.can.dae)
    throw UnsuitableMethod(fmt::format(
        "{} integrates mechanical systems, not F(t, x, x') = 0; use bdf or radau for a [dae]", method.info.name));
  refuse_contacts();
  stepper_ = bind_piecewise(method, system, options.solver, {options.tolerance, options.step, options.max_step});
}

void Run::refuse_contacts() const {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(system.get());
  if (symbolic && !method.info.can.own_reactions)
    for (const auto& gap : symbolic->equations().gaps)
      if (!gap.reaction.empty())
        throw UnsuitableMethod(fmt::format(
            "the contact {} has a reaction of its own; symplectic-euler and event-driven take such contacts, {} does "
            "not",
            gap.name, method.info.name));
  if (!system->structure().has_contacts && !system->structure().is_symbolic && system->contact_finder())
    throw InputError("this system finds contacts; its structure has to say so: Structure{.has_contacts = true}");
  if (method.info.can.contacts) return;
  if (symbolic && !symbolic->equations().pairs.empty())
    throw UnsuitableMethod(fmt::format(
        "{} knows no complementarity pairs; use moreau-jean (implicit steps of fixed length)", method.info.name));
  if (system->structure().has_contacts)
    throw UnsuitableMethod(
        fmt::format("{} knows no contacts that open and close; use {}", method.info.name, methods_for_contacts()));
}

const char* Run::methods_for_contacts() const {
  const BodyTable* bodies = bodies_of(*system);
  if (!bodies) return "moreau-jean, paoli-schatzman, generalized-alpha or event-driven";
  if (bodies->dimension == 3) return "moreau-jean, or collide = false for bodies that need not touch";
  return symbolic_part(*system) == system.get() ? "moreau-jean, paoli-schatzman or generalized-alpha"
                                                : "moreau-jean or paoli-schatzman";
}

}  // namespace hinge
