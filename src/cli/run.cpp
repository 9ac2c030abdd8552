// hinge run: integrate a model and say what was preserved.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/page_template.hpp"
#include "cli/terminal.hpp"
#include "hinge/error.hpp"
#include "simulate/checkpoint.hpp"
#include "simulate/page/page_recorder.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::cli {

namespace {

void print(const Report& report, const RunArguments& arguments, const std::string& method) {
  if (arguments.json)
    std::cout << json_text(report, method) << '\n';
  else if (!arguments.quiet)
    std::cout << report;
  else
    for (const Doubt& d : report.doubts)
      std::cerr << fmt::format("hinge: doubtful: {}: {:.3g}; {}\n", d.cause, d.value, d.remedy);
}

}  // namespace

void rethrow_located(const Model& model) {
  const std::string& section = model.section;
  const auto at = [&](const std::string& place, const InputError& e) {
    return InputError(fmt::format("{}: {}{}", model.path, place, e.what()));
  };
  try {
    throw;
  } catch (const OutputError&) {
    throw;  // names its own file
  } catch (const InconsistentStart& e) {
    throw at("initial: ", e);
  } catch (const RedundantConstraints& e) {
    throw at(section + ".constraints: ", e);
  } catch (const SingularDae& e) {
    throw at(section + ".equations: ", e);
  } catch (const SingularMass& e) {
    throw at(section + ": ", e);
  } catch (const UnsuitableMethod& e) {
    throw at("integrate.method: ", e);
  } catch (const InputError& e) {
    throw at("", e);
  }
}

namespace {

// A model may come from anywhere: what it names must not reach out of its own folder, nor take a file from anybody.
// What the command line names is the user's own choice, but nobody means to overwrite something else.
void check_outputs(const Model& model, const RunArguments& arguments) {
  const auto check = [&](const std::string& path, const char* key) {
    if (path.empty()) return;
    const bool chosen = std::any_of(arguments.overrides.begin(), arguments.overrides.end(),
                                    [&](const Override& o) { return o.key == key; });
    const std::string why = chosen ? "" : why_outside(model, path);
    if (!why.empty())
      throw InputError(fmt::format("{}: {}: {}; use --out, or --force if this is meant", model.path, key, why));
    require_replaceable(path);
  };
  if (arguments.force) return;
  if (arguments.out.empty() && !model.output_file.empty()) {
    const std::filesystem::path folder = std::filesystem::path(model.path).parent_path();
    if (!model.output_file.ends_with(".pvd"))  // by the name that the model gives
      require_known_ending(std::filesystem::path(model.output_file).lexically_proximate(folder).string());
    check(model.output_file, "output.file");
  }
  if (!arguments.out.empty()) require_replaceable(arguments.out);
  if (!arguments.out.ends_with(".pvd")) check(model.picture_file, "output.vtk");
}

// The report page of the run, where one is asked for; its file is open from the beginning.
std::unique_ptr<PageRecorder> open_page(const Model& model, const RunArguments& arguments) {
  if (arguments.report.empty()) return nullptr;
  require_page_template("--report");
  require_page_path(arguments.report, arguments.force);
  return std::make_unique<PageRecorder>(arguments.report, page_options(model));
}

void write_page(PageRecorder* page, const Report& report, const RunArguments& arguments) {
  if (!page) return;
  const std::size_t bytes = page->write(page_template(), report);
  if (!arguments.json && !arguments.quiet)
    std::cout << fmt::format("  report in {}, {:.2g} MB: open it in a browser\n", arguments.report,
                             static_cast<double>(bytes) / 1e6);
}

}  // namespace

int run(const RunArguments& arguments) {
  Model model = load_model(arguments.model, arguments.overrides);
  if (!arguments.from.empty()) start_from_record(arguments.from, model);
  if (!(model.end >= model.simulation.start))
    throw InputError(
        fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate], or use --end", model.path));
  const std::string out = arguments.out.empty() ? model.output_file : arguments.out;
  check_outputs(model, arguments);
  const std::unique_ptr<PageRecorder> page = open_page(model, arguments);
  Simulation simulation = located(model, [&] {
    Simulation made = model.simulation_for(out);
    if (arguments.condition) made.observe_condition();
    return made;
  });
  if (page) simulation.on_row([&](const Row& row) { page->take(row); });
  catch_interrupts();
  StatusLine status(!arguments.quiet && !arguments.json);
  simulation.on_progress([&](double t) {
    status.show_progress(model.simulation.start, t, model.end);
    return !stop_asked();
  });
  if (!arguments.resume.empty() && !arguments.from.empty())
    throw InputError("--resume and --from both say where to begin; give one of them");
  if (!arguments.resume.empty()) require_checkpoint(arguments.resume);
  const std::string& checkpoint = arguments.checkpoint.empty() ? arguments.resume : arguments.checkpoint;
  if (checkpoint.empty() && arguments.checkpoint_seconds != RunArguments{}.checkpoint_seconds)
    throw InputError("--checkpoint-every says how often the file of --checkpoint is written; give that, too");
  if (!checkpoint.empty() || arguments.checkpoint_steps > 0)
    simulation.keep_checkpoints({checkpoint, arguments.checkpoint_seconds, arguments.checkpoint_steps});
  if (arguments.resume.empty())
    located(model, [&] { simulation.start(model.start); });
  else
    simulation.resume(arguments.resume);
  for (const std::string& warning : simulation.warnings())
    std::cerr << fmt::format("hinge: warning: {}: {}\n", model.path, warning);
  const auto tell_failure = [&](const std::exception& failure, const char* recorded) {
    status.show("");
    const Report report = simulation.report();
    if (arguments.json || report.steps > 0) print(report, arguments, model.method);
    write_page(page.get(), report, arguments);
    std::cerr << fmt::format("hinge: {}\n", failure.what());
    std::cerr << fmt::format("  {} step{} until t = {:g} {} complete{}.\n", report.steps, report.steps == 1 ? "" : "s",
                             simulation.state().t, report.steps == 1 ? "is" : "are",
                             out.empty() ? "; --out FILE.csv keeps them on disk" : recorded + out);
    return numerics_failed;
  };
  try {
    located(model, [&] { simulation.until(model.end); });
  } catch (const StepFailure& failure) {
    return tell_failure(failure, " and recorded in ");
  } catch (const OutputError& failure) {
    return tell_failure(failure, "; the rows before are in ");
  }
  simulation.finish();
  status.show("");
  const Report report = simulation.report();
  print(report, arguments, model.method);
  write_page(page.get(), report, arguments);
  if (report.status == RunStatus::stopped) return interrupted;
  if (report.sound() || !arguments.strict) return done;
  std::cerr << fmt::format("hinge: the result is doubtful, for {} reason{}; --strict makes this status 1\n",
                           report.doubts.size(), report.doubts.size() == 1 ? "" : "s");
  return numerics_failed;
}

}  // namespace hinge::cli
