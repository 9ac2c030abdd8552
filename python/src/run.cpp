// m.run(): what `hinge run` does, with the rows kept in memory. Python goes on meanwhile.
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "body/body_table.hpp"
#include "cli/commands.hpp"
#include "cli/page_template.hpp"
#include "core.hpp"
#include "hinge/error.hpp"
#include "hinge/method.hpp"
#include "simulate/page/page_recorder.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::python {

namespace {

std::unique_ptr<PageRecorder> open_page(const Model& model, const std::string& path, bool force) {
  if (path.empty()) return nullptr;
  if (cli::page_template().empty())
    throw InputError(
        "report: this module was built without the report page, which takes npm (Node.js): install it (as root: "
        "scripts/install-deps page), then build again with 'make python'; out=\"FILE.csv\" records without it");
  require_page_path(path, force);
  PageOptions options;
  options.system = model.system;
  options.view = model.view;
  options.start = model.simulation.start;
  options.end = model.end;
  options.momentum_maps = model.momentum_maps.size();
  options.method = model.method;
  options.model_name = model.path;
  options.model_text = model.text;
  options.settings = model.settings;
  return std::make_unique<PageRecorder>(path, std::move(options));
}

// Gaps, impulses and where they act, of the last step; None where the method has no contacts.
nb::object contacts_of(const ContactImpulses* impulses, int space) {
  if (!impulses) return nb::none();
  const ContactList& list = impulses->contacts;
  return nb::make_tuple(space, list.dimension, impulses->step, array_of(list.gap), array_of(impulses->impulse),
                        array_of(list.point), array_of(list.frame));
}

// The user's function gets numbers of its own, which it may keep, and with the first row the names.
std::function<void(const Row&)> row_callback(const nb::object& callback, const System& system) {
  const BodyTable* const bodies = bodies_of(system);
  return [&callback, space = bodies ? bodies->dimension : 3, first = true](const Row& row) mutable {
    const WithLock lock;
    nb::object names = nb::none();
    if (std::exchange(first, false)) names = nb::cast(std::vector<std::string>(row.columns.begin(), row.columns.end()));
    callback(array_of({row.values.begin(), row.values.end()}), std::string(row.event), names,
             contacts_of(row.contacts, space));
  };
}

Result run(const HeldModel& held, const nb::object& progress, const nb::object& on_row, const std::string& out,
           const std::string& report, bool force, bool condition) {
  const auto told = progress_of(progress);
  const WithoutLock free;
  if (!out.empty() && !force) require_replaceable(out);
  const std::unique_ptr<PageRecorder> page = open_page(*held.model, report, force);
  Result result = completed(
      held.model,
      [&](Simulation& simulation) {
        if (condition) simulation.observe_condition();
        if (page) simulation.on_row([&](const Row& row) { page->take(row); });
        if (!on_row.is_none()) simulation.on_row(row_callback(on_row, *held.model->system));
        simulation.on_progress(told);
      },
      out);
  if (page) page->write(cli::page_template(), *result.report);
  return result;
}

}  // namespace

Result completed(const std::shared_ptr<const Model>& held, const std::function<void(Simulation&)>& prepare,
                 const std::string& out) {
  const Model& model = *held;
  if (!(model.end >= model.simulation.start))
    throw InputError(
        fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate], or use --end", model.path));
  const auto simulation = std::make_shared<Simulation>(cli::located(model, [&] {
    Simulation made = model.simulation_for(out);
    made.keep_rows();
    return made;
  }));
  cli::located(model, [&] { prepare(*simulation); });
  Result result{held, {simulation, &simulation->trajectory()}, {}, {}, {}, 0, model.method};
  bool started = false;
  try {
    cli::located(model, [&] { simulation->start(model.start); });
    started = true;
    cli::located(model, [&] { simulation->until(model.end); });
    simulation->finish();
  } catch (const StepFailure& failure) {
    if (!started) throw;
    result.failure = failure.what();
    result.failed_at = failure.time;
  } catch (nb::python_error& raised) {
    result.report = simulation->report();
    const WithLock lock;
    PyObject_SetAttrString(raised.value().ptr(), "_hinge_result", nb::cast(result).ptr());
    PyErr_Clear();  // an exception that takes no attributes arrives without
    throw;
  }
  simulation->on_progress({});  // the rows outlive the caller's function
  result.report = simulation->report();
  return result;
}

void bind_run(nb::module_& m) {
  m.def("run", &run, nb::arg("model"), nb::arg("progress").none(), nb::arg("on_row").none(), nb::arg("out"),
        nb::arg("report"), nb::arg("force"), nb::arg("condition"));
  m.def("has_page", [] { return !cli::page_template().empty(); });
}

}  // namespace hinge::python
