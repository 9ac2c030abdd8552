// hinge run: integrate a model and say what was preserved.
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

void print(const Report& report, const RunArguments& arguments, const std::string& method) {
  if (arguments.json)
    std::cout << to_json(report, method).dump(2) << '\n';
  else if (!arguments.quiet)
    std::cout << report;
}

}  // namespace

void located(const Model& model, const std::function<void()>& action) {
  const char* section = "";
  switch (model.system->layout().kind) {
    case SystemKind::lagrangian: section = "lagrangian"; break;
    case SystemKind::hamiltonian: section = "hamiltonian"; break;
    case SystemKind::mechanical: section = "mechanical"; break;
    case SystemKind::odae: section = "odae"; break;
    case SystemKind::dae: section = "dae"; break;
    case SystemKind::multibody: section = "multibody"; break;
    case SystemKind::own: break;
  }
  try {
    action();
  } catch (const OutputError&) {
    throw;  // names its own file
  } catch (const InconsistentStart& e) {
    throw InputError(fmt::format("{}: initial: {}", model.path, e.what()));
  } catch (const RedundantConstraints& e) {
    throw InputError(fmt::format("{}: {}.constraints: {}", model.path, section, e.what()));
  } catch (const SingularDae& e) {
    throw InputError(fmt::format("{}: {}.equations: {}", model.path, section, e.what()));
  } catch (const SingularMass& e) {
    throw InputError(fmt::format("{}: {}: {}", model.path, section, e.what()));
  } catch (const UnsuitableMethod& e) {
    throw InputError(fmt::format("{}: integrate.method: {}", model.path, e.what()));
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", model.path, e.what()));
  }
}

int run(const RunArguments& arguments) {
  const Model model = load_model(arguments.model, arguments.overrides);
  if (!(model.end >= model.simulation.start))
    throw InputError(
        fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate], or use --end", model.path));
  const std::string out = arguments.out.empty() ? model.output_file : arguments.out;
  std::optional<Simulation> made;
  located(model, [&] {
    made = model.simulation_for(out);
    if (arguments.condition) made->observe_condition();
  });
  Simulation& simulation = *made;
  catch_interrupts();
  const bool show = !arguments.quiet && !arguments.json && isatty(STDERR_FILENO);
  Progress progress(model.simulation.start, model.end, show);
  simulation.on_progress([&](double t) {
    progress.show(t);
    return !stop_asked();
  });
  located(model, [&] { simulation.start(model.start); });
  for (const std::string& warning : simulation.report().warnings)
    std::cerr << fmt::format("hinge: warning: {}: {}\n", model.path, warning);
  try {
    simulation.until(model.end);
  } catch (const StepFailure& failure) {
    progress.clear();
    if (arguments.json || simulation.report().steps > 0) print(simulation.report(), arguments, model.method);
    std::cerr << fmt::format("hinge: {}\n", failure.what());
    std::cerr << fmt::format("  {} steps until t = {:g} are complete{}.\n", simulation.report().steps,
                             simulation.state().t,
                             out.empty() ? "; --out FILE.csv keeps them on disk" : " and recorded in " + out);
    return numerics_failed;
  }
  simulation.finish();
  progress.clear();
  const Report report = simulation.report();
  print(report, arguments, model.method);
  return report.status == RunStatus::stopped ? interrupted : done;
}

}  // namespace hinge::cli
