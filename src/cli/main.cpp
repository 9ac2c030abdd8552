// The program `hinge`: arguments in, one command run, errors as sentences. Longer than other files: the options of all
// commands stand in one, because what reads a command line (CLI11) takes a compiler so long.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command_info.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "expression/native.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "simulate/record/distrust.hpp"
#include "simulate/record/recorder_formats.hpp"

namespace {

using hinge::Override;

const char* const run_help =
    "Examples:\n"
    "  hinge run examples/pendulum.toml\n"
    "  hinge run examples/pendulum.toml --method rattle --step 0.001 --out pendulum.csv\n"
    "  hinge run examples/pendulum.toml --set parameters.length=2 --set integrate.stages=3 --json\n"
    "  hinge run examples/disk-pile.toml --report pile.html     (then open pile.html in a browser)\n"
    "\n"
    "The first line printed is the verdict: sound, or what is doubtful, each with its number and remedy.\n"
    "Exit status: 0 done, 1 the numerics failed (finished steps are kept) or, with --strict, the result is\n"
    "doubtful, 2 the input is wrong,\n"
    "130 stopped by Ctrl-C (finished steps are kept).\n";

const char* const convergence_help =
    "Errors are Euclidean norms at the end time, against the first of these that there is: --reference, [exact] of\n"
    "the model, gauss-lobatto with many stages and half the smallest step.\n"
    "\n"
    "Examples:\n"
    "  hinge convergence examples/pendulum.toml --end 1\n"
    "  hinge convergence examples/pendulum.toml --end 1 --steps 0.1,0.05,0.025 \\\n"
    "        --methods \"gauss-lobatto(stages=1),gauss-lobatto(stages=2),rattle\" --csv orders.csv\n"
    "\n"
    "Exit status: 0 done, 1 a run failed (the others are shown), 2 the input is wrong,\n"
    "130 stopped by Ctrl-C (finished runs are shown).\n";

const char* const compare_help =
    "Every method that chooses its steps runs with every tolerance, every other one with every step. Errors are\n"
    "Euclidean norms at the end time, against the first of these that there is: --reference, [exact] of the model,\n"
    "method auto with a tolerance two digits below the smallest. Seconds are the shortest of a few runs, without\n"
    "set-up.\n"
    "\n"
    "Example:\n"
    "  hinge compare papers/ivp/andrews.toml --methods \"explicit,radau,bdf\" --tolerances 1e-6,1e-8,1e-10\n"
    "\n"
    "Exit status: 0 done, 1 a run failed (the others are shown), 2 the input is wrong,\n"
    "130 stopped by Ctrl-C (finished runs are shown).\n";

const char* const sweep_help =
    "--vary KEY=LOW:HIGH:COUNT (both ends included; LOW:HIGH:COUNT:log with equal ratios) or KEY=A,B,C; of several "
    "all\n"
    "combinations are run, the last key changing fastest. --sample KEY=LAW:COUNT draws; laws are "
    "normal(mean,deviation),\n"
    "uniform(low,high), lognormal(mean,deviation) of the logarithm, exponential(mean), triangular(low,mode,high).\n"
    "Results do not depend on --jobs. Killed or stopped, the same command computes only what is missing. Under mpirun\n"
    "every process takes its share of the runs, and the last one writes the file.\n"
    "\n"
    "Examples:\n"
    "  hinge sweep examples/pendulum.toml --vary parameters.length=0.5:2:100 --out sweep.h5\n"
    "  hinge sweep examples/pendulum.toml --vary parameters.length=1,2 --vary integrate.method=rattle,radau --out "
    "sweep.csv\n"
    "  hinge sweep examples/pendulum.toml --sample \"parameters.length=normal(1,0.1):1000\" --seed 1 --out sweep.h5\n"
    "  mpirun -n 4 hinge sweep examples/pendulum.toml --vary parameters.length=0.5:2:100 --jobs 1 --out sweep.h5\n"
    "\n"
    "Exit status: 0 done, 1 a run failed (it is in the file, with the reason) or, with --strict, is doubtful,\n"
    "2 the input is wrong, 130 stopped by Ctrl-C (finished runs are kept).\n";

const char* const plot_help =
    "Examples:\n"
    "  hinge plot pendulum.csv --y energy_error --log y --out energy.svg\n"
    "  hinge plot rattle.csv gauss.csv --y 'q[0]' --out both.svg\n"
    "  hinge plot examples/pendulum.toml --x 'q[0]' --y 'q[1]' --out orbit.svg\n";

const char* const reproduce_help =
    "An ID is a figure, as in spark/6.1, or a paper, as in spark; without one all are computed that do not take "
    "minutes.\n"
    "\n"
    "Examples:\n"
    "  hinge reproduce --list\n"
    "  hinge reproduce euler/4.1\n"
    "  hinge reproduce --out gallery --check\n"
    "\n"
    "Exit status: 0 done (with --check: and every claim holds), 1 a claim fails, 2 the input is wrong.\n";

const char* const view_help =
    "Listens on 127.0.0.1 only, and answers only to the address that it prints, which has a secret in it. Nothing is\n"
    "written. A record that is still being written is followed if it is CSV; HDF5 is locked until its run ends.\n"
    "\n"
    "Examples:\n"
    "  hinge view examples/slider-crank.toml\n"
    "  hinge view run.h5 --open\n"
    "\n"
    "Ctrl-C ends it. Exit status: 0 done, 2 the input is wrong.\n";

const char* const movie_help =
    "The pictures are drawn by Chromium without a window, films are packed by ffmpeg; what is missing is said.\n"
    "\n"
    "Examples:\n"
    "  hinge movie examples/four-bar.toml --out four-bar.mp4\n"
    "  hinge movie run.h5 --out frames/ --rate 10 --size 640x480 --theme dark\n";

const char* const export_help =
    "Mass matrix, forces, reactions, constraints and their derivatives at (t, y, z, psi), or the residual of a DAE and "
    "its\n"
    "derivatives; parameters are put in as numbers.\n"
    "\n"
    "Example:\n"
    "  hinge export-c examples/double-spherical-pendulum.toml --out pendulum\n"
    "\n"
    "Exit status: 0 done, 2 the input is wrong, or there is something in the model that is no expression.\n";

const char* const contact_help =
    "Files are FCLIB's HDF5 (groups fclib_local, fclib_global) or have a group lcp. A folder gives performance "
    "profiles.\n"
    "\n"
    "Examples:\n"
    "  hinge contact examples/contact/spheres.hdf5\n"
    "  hinge contact examples/contact/spheres.hdf5 --solver all --tolerance 1e-6 --scaling siconos\n"
    "  hinge contact examples/contact --solver all --tolerance 1e-4 --seconds 5\n"
    "  hinge contact --list\n"
    "\n"
    "Exit status: 0 converged, 1 not converged (the best r is kept and written), 2 the input is wrong,\n"
    "130 stopped by Ctrl-C (the best r so far is kept and written).\n";

const char* const main_help =
    "A model file to begin with (examples/ has more):\n"
    "\n"
    "  [lagrangian]\n"
    "  coordinates = [\"q[2]\"]\n"
    "  kinetic     = \"dot(q',q')/2\"\n"
    "  potential   = \"9.81*q[1]\"\n"
    "  constraints = [\"(dot(q,q) - 1)/2\"]\n"
    "  [initial]\n"
    "  position = { q = [1, 0] }\n"
    "  [integrate]\n"
    "  method = \"gauss-lobatto\"\n"
    "  step = 0.01\n"
    "  end = 10\n";

Override split(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw hinge::InputError(fmt::format("--set {}: there is no '='; write --set parameters.m1=2", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// What is wrong with the command line, as a sentence with what to do.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  const CLI::App* command = nullptr;
  std::vector<std::string> commands;
  for (const CLI::App* sub : app.get_subcommands({})) {
    commands.push_back(sub->get_name());
    if (!arguments.empty() && sub->get_name() == arguments[0]) command = sub;
  }
  if (arguments.empty())
    return fmt::format("which command? There are {}, as in: hinge run MODEL (hinge --help says more)",
                       fmt::join(commands, ", "));
  if (!command) {
    const std::string near = hinge::nearest_name(arguments[0], commands);
    const bool file = arguments[0].find(".toml") != std::string::npos;
    return fmt::format("there is no command '{}'{} the commands are {} (hinge --help says more)", arguments[0],
                       file           ? fmt::format(", did you mean 'hinge run {}'?", arguments[0])
                       : near.empty() ? ";"
                                      : fmt::format(", did you mean '{}'?", near),
                       fmt::join(commands, ", "));
  }
  std::vector<std::string> options;
  for (const CLI::Option* o : command->get_options())
    for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
  for (const std::string& a : arguments) {
    const std::string name = a.substr(0, a.find('='));
    if (name.rfind("--", 0) != 0 || std::find(options.begin(), options.end(), name) != options.end()) continue;
    const std::string near = hinge::nearest_name(name, options);
    return fmt::format("'hinge {}' has no option '{}'{} see 'hinge {} --help'", command->get_name(), name,
                       near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), command->get_name());
  }
  return fmt::format("{}; see 'hinge {} --help'", error.what(), command->get_name());
}

const char* const model_text = "the model file (TOML)";
const char* const json_text = "print one JSON object instead of the table";
const char* const quiet_text = "print nothing but errors";
const char* const force_text = "overwrite a file that is no record of hinge";

void add_native_switch(CLI::App* command) {
  command->add_flag_callback(
      "--no-native", [] { hinge::set_native_use(hinge::NativeUse::off); },
      "interpret expressions instead of making machine code of them; the numbers are the same");
}

// Keys of the model that options set: --set KEY=VALUE, and --end in the place of --set integrate.end.
struct Settings {
  std::vector<std::string> sets;
  std::vector<std::pair<std::string, std::string>> short_options;  // --end and its value

  void add_to(CLI::App* command) {
    command->add_option("--set", sets, "override a key of the model: KEY=VALUE, as often as needed")
        ->allow_extra_args(false);
    add_native_switch(command);
  }
  void add_short(CLI::App* command, const char* option, const char* meaning) {
    command->add_option_function<std::string>(
        option, [this, option](const std::string& value) { short_options.emplace_back(option, value); }, meaning);
  }
  std::vector<Override> overrides() const {
    std::vector<Override> list;
    for (const std::string& s : sets) list.push_back(split(s));
    for (const auto& [option, value] : short_options) list.push_back({"integrate." + option.substr(2), value, option});
    return list;
  }
};

// Options of a command are declared when it is called: all of them together take longer than a short run.
class Commands {
 public:
  using Declare = std::function<void(CLI::App*)>;
  /// `at_once`: for who lists them.
  Commands(CLI::App& app, bool at_once) : app_(app), at_once_(at_once) {}

  CLI::App* add(const char* name, const char* what, const char* help, const Declare& declare) {
    CLI::App* command = app_.add_subcommand(name, what);
    if (*help) command->footer(help);
    if (at_once_)
      declare(command);
    else
      command->preparse_callback([command, declare](std::size_t) { declare(command); });
    return command;
  }

 private:
  CLI::App& app_;
  bool at_once_;
};

void declare_run(CLI::App* run, hinge::cli::RunArguments& arguments, Settings& settings) {
  run->add_option("MODEL", arguments.model, model_text)->required();
  settings.add_to(run);
  settings.add_short(run, "--method", "method to use instead of the model's (see hinge methods)");
  settings.add_short(run, "--step", "step size instead of the model's");
  settings.add_short(run, "--tolerance", "let the method choose its steps to meet this tolerance");
  settings.add_short(run, "--end", "end time instead of the model's");
  settings.add_short(run, "--device", "of contacts between particles: host, threads or opencl");
  settings.add_short(run, "--threads", "of a step with contacts; results do not depend on it");
  run->add_option("--out", arguments.out,
                  "record the trajectory: FILE.csv or FILE.h5; of bodies also pictures, FILE.pvd");
  run->add_option("--report", arguments.report, "write a page with verdict, plots and moving picture: FILE.html");
  run->add_flag("--force", arguments.force,
                "overwrite a file that is no record of hinge, also outside of the model's folder");
  run->add_option("--from", arguments.from, "start from a recorded row: run.h5:last, run.csv:12 or run.csv:t=1.5");
  run->add_option("--checkpoint", arguments.checkpoint, "a file from which --resume can go on, written every minute");
  run->add_option("--checkpoint-every", arguments.checkpoint_seconds, "seconds between two checkpoints, 60 by default")
      ->check(CLI::Range(0.0, 1e9, "NONNEGATIVE"));
  run->add_option(
         "--checkpoint-steps", arguments.checkpoint_steps,
         "steps after which the method starts anew, as every run does: else 10000, 1000 from 300 velocities on, "
         "200 from 3000 on")
      ->check(CLI::PositiveNumber);
  run->add_option("--resume", arguments.resume, "go on from a checkpoint, with the same model and options");
  run->add_flag("--condition", arguments.condition, "also the condition number of the first step's iteration matrix");
  run->add_flag("--strict", arguments.strict, "exit status 1 where the verdict is not sound");
  run->add_flag("--json", arguments.json, json_text);
  run->add_flag("--quiet", arguments.quiet, quiet_text);
}

// What convergence and compare have in common.
void declare_study(CLI::App* command, hinge::cli::StudyArguments& arguments, Settings& settings) {
  command->add_option("MODEL", arguments.model, model_text)->required();
  command->add_option("--methods", arguments.methods, "as in \"radau(stages=5),rattle\"; default: the model's");
  command->add_option("--reference", arguments.reference, "a method, or a file that hinge run --out wrote");
  command->add_option("--csv", arguments.csv, "write a file with one row per run");
  command->add_flag("--force", arguments.force, force_text);
  settings.add_to(command);
  settings.add_short(command, "--end", "end time instead of the model's");
  command->add_flag("--json", arguments.json, json_text);
  command->add_flag("--quiet", arguments.quiet, quiet_text);
}

void declare_sweep(CLI::App* command, hinge::cli::SweepArguments& a, Settings& settings) {
  command->add_option("MODEL", a.model, model_text)->required();
  command->add_option("--vary", a.vary, "values of a key: KEY=LOW:HIGH:COUNT or KEY=A,B,C, as often as needed")
      ->allow_extra_args(false);
  command->add_option("--sample", a.sample, "draw a key: KEY=LAW:COUNT, as in parameters.m1=normal(1,0.1):1000")
      ->allow_extra_args(false);
  command->add_option("--seed", a.seed, "of what is drawn; default 1")->check(CLI::NonNegativeNumber);
  settings.add_to(command);
  settings.add_short(command, "--method", "method to use instead of the model's (see hinge methods)");
  settings.add_short(command, "--step", "step size instead of the model's");
  settings.add_short(command, "--tolerance", "let the method choose its steps to meet this tolerance");
  settings.add_short(command, "--end", "end time instead of the model's");
  command->add_option("--out", a.out, "one row for each run: FILE.h5 or FILE.csv")->required();
  command->add_option("--jobs", a.jobs, "threads; default: one for each processor")->check(CLI::PositiveNumber);
  command->add_flag("--rows", a.rows, "keep all recorded rows of every run, not only the last");
  command->add_flag("--force", a.force, "replace a file of another sweep, or one that is none");
  command->add_flag("--strict", a.strict, "exit status 1 where the verdict of a run is not sound");
  command->add_flag("--json", a.json, json_text);
  command->add_flag("--quiet", a.quiet, quiet_text);
}

void declare_contact(CLI::App* command, hinge::cli::ContactArguments& a) {
  command->add_option("FILE", a.file, "problem file (HDF5), or a folder of them");
  command->add_option("--solver", a.solver, "a name, or all (see --list); default auto");
  command->add_option("--tolerance", a.tolerance, "residual to reach; default 1e-8");
  command->add_option("--scaling", a.scaling, "of the residual: ours (default), siconos, fclib, absolute");
  command->add_option("--friction", a.friction, "model: exact (default), convexified, polyhedral");
  command->add_option("--facets", a.facets, "of the friction pyramid; default 8");
  command->add_option("--iterations", a.iterations, "at most; default: the solver's own limit");
  command->add_option("--seconds", a.seconds, "give up after; default never");
  command->add_option("--relaxation", a.relaxation, "of the Gauss-Seidel solvers and jacobi; default 1 (sor 1.3)");
  command->add_option("--threads", a.threads, "of the parallel solvers; default 1; results do not depend on it");
  command->add_option("--out", a.out, "write the problem with r and u as its solution: FILE.hdf5");
  command->add_flag("--force", a.force, force_text);
  command->add_flag("--guess", a.guess, "start from the file's guess instead of r = 0");
  command->add_flag("--history", a.history, "also the residual history");
  command->add_flag("--list", a.list, "list the solvers and what they solve");
  command->add_flag("--json", a.json, json_text);
  command->add_flag("--quiet", a.quiet, quiet_text);
}

void declare_view(CLI::App* command, hinge::cli::ViewArguments& a) {
  command->add_option("FILE", a.file, "a model (.toml), which is run, or the record of a run (.h5, .csv)")->required();
  command->add_option("--port", a.port, "on 127.0.0.1; default: any that is free");
  command->add_flag("--open", a.open, "also open the page, by xdg-open");
}

void declare_movie(CLI::App* command, hinge::cli::MovieArguments& a) {
  command->add_option("FILE", a.file, "a model (.toml), which is run first, or the record of a run (.h5, .csv)")
      ->required();
  command->add_option("--out", a.out, "the film: FILE.mp4, FILE.webm or FILE.gif, or a folder of pictures")->required();
  command->add_option("--seconds", a.seconds, "of the film; default: those of the motion, from 2 to 10");
  command->add_option("--rate", a.rate, "pictures per second; default 30");
  command->add_option("--size", a.size, "of the pictures; default 1280x720");
  command->add_option("--theme", a.theme, "light (the default) or dark");
  command->add_flag("--force", a.force, "overwrite a file of this name");
}

void declare_plot(CLI::App* plot, hinge::cli::PlotArguments& figure, Settings& settings) {
  plot->add_option("FILE", figure.files, "records (.csv, .h5) or models (.toml), one or several")->required();
  plot->add_option("--y", figure.y, "columns, as in energy_error,height; NAME_error is the change since the start")
      ->required();
  plot->add_option("--x", figure.x, "column along the other axis; default t");
  plot->add_option("--log", figure.log, "logarithmic axes: x, y or xy; absolute values are drawn");
  plot->add_option("--slopes", figure.slopes, "triangles with these slopes, as in 2,4; with --log xy");
  plot->add_option("--title", figure.title, "above the figure");
  plot->add_option("--out", figure.out, "the figure: FILE.svg, FILE.pdf or FILE.png")->required();
  plot->add_flag("--force", figure.force, "overwrite a file of this name");
  settings.add_to(plot);
}

void declare_reproduce(CLI::App* reproduce, hinge::cli::ReproduceArguments& papers) {
  reproduce->add_option("ID", papers.ids, "figures or papers; default: all that are quick");
  reproduce->add_option("--out", papers.out, "folder for figures (SVG), numbers (CSV) and a page with all, index.html");
  reproduce->add_option("--papers", papers.papers, "folder with models and figures.toml; default: papers/ of Hinge");
  reproduce->add_flag("--list", papers.list, "list the figures");
  reproduce->add_flag("--check", papers.check, "exit status 1 where a claim fails");
  reproduce->add_flag("--all", papers.all, "also those that take minutes");
  reproduce->add_flag("--json", papers.json, "print a JSON list instead of the lines");
  reproduce->add_flag("--quiet", papers.quiet, quiet_text);
  add_native_switch(reproduce);
}

// What is declared here, for shells and for the manual.
std::vector<hinge::cli::CommandInfo> infos_of(const CLI::App& app) {
  std::vector<hinge::cli::CommandInfo> all;
  for (const CLI::App* command : app.get_subcommands({})) {
    hinge::cli::CommandInfo info{command->get_name(), command->get_description(), command->get_footer(), {}};
    for (const CLI::Option* o : command->get_options()) {
      const bool by_place = o->get_positional();
      if (o->check_lname("help")) continue;
      info.options.push_back({by_place ? o->get_name(true) : "--" + o->get_lnames().front(), o->get_description(),
                              o->get_items_expected_max() != 0, by_place, o->get_required()});
    }
    all.push_back(std::move(info));
  }
  return all;
}

int dispatch(int argc, char** argv) {
  hinge::distrust_hdf5_files();
  CLI::App app{"hinge simulates constrained mechanical systems and says what was preserved."};
  app.name("hinge");
  app.footer(main_help);
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("hinge {} ({})", hinge::version(), hinge::build_features()));

  const std::string_view wanted = argc > 1 ? argv[1] : "";
  Commands commands(app, wanted == "completion" || wanted == "man");
  Settings settings;
  hinge::cli::RunArguments arguments;
  auto* run = commands.add("run", "Integrate a model and print what was preserved and how well", run_help,
                           [&](CLI::App* c) { declare_run(c, arguments, settings); });

  hinge::cli::StudyArguments study;
  auto* convergence = commands.add(
      "convergence", "Errors for several steps and methods, and observed orders", convergence_help, [&](CLI::App* c) {
        declare_study(c, study, settings);
        c->add_option("--steps", study.steps, "as in 0.1,0.05; default: the model's step and 1/2, 1/4, 1/8 of it");
        c->add_option("--reference-step", study.reference_step, "step of the reference method");
      });
  auto* compare = commands.add(
      "compare", "Work against precision: error, time and cost of several methods", compare_help, [&](CLI::App* c) {
        declare_study(c, study, settings);
        c->add_option("--tolerances", study.tolerances, "as in 1e-4,1e-6,1e-8, which is the default");
        c->add_option("--steps", study.steps, "for methods with steps of given length; default: the model's step");
      });

  hinge::cli::SweepArguments many;
  auto* sweep = commands.add("sweep", "Many runs with other values each, in threads, into one file", sweep_help,
                             [&](CLI::App* c) { declare_sweep(c, many, settings); });

  std::string check_model;
  auto* check = commands.add("check", "Equations, degrees of freedom, rank of G, consistency; nothing is integrated",
                             "", [&](CLI::App* c) {
                               c->add_option("MODEL", check_model, model_text)->required();
                               settings.add_to(c);
                             });

  hinge::cli::ContactArguments problem;
  auto* contact = commands.add("contact", "Solve a contact problem file, with one solver or all of them", contact_help,
                               [&](CLI::App* c) { declare_contact(c, problem); });

  hinge::cli::PlotArguments figure;
  auto* plot = commands.add("plot", "Draw columns of records, or of models that are run first, as a figure", plot_help,
                            [&](CLI::App* c) { declare_plot(c, figure, settings); });

  hinge::cli::ReproduceArguments papers;
  auto* reproduce = commands.add("reproduce", "Compute the figures and tables of papers, and check their claims",
                                 reproduce_help, [&](CLI::App* c) { declare_reproduce(c, papers); });

  hinge::cli::NewArguments beginning;
  auto* begin = commands.add("new", "Write a model to begin with", "", [&](CLI::App* c) {
    c->add_option("NAME", beginning.name, "of the new file");
    c->add_option("--template", beginning.kind, "pendulum (the default), mechanism, bodies, pile, circuit, contact");
    c->add_flag("--list", beginning.list, "list the templates");
  });

  hinge::cli::ViewArguments viewing;
  auto* view = commands.add("view", "Serve the report page of a run in progress, to change values and run again",
                            view_help, [&](CLI::App* c) {
                              declare_view(c, viewing);
                              settings.add_to(c);
                            });
  hinge::cli::MovieArguments film;
  auto* movie =
      commands.add("movie", "A film of the motion, drawn as on the report page", movie_help, [&](CLI::App* c) {
        declare_movie(c, film);
        settings.add_to(c);
      });

  hinge::cli::ExportArguments exported;
  auto* export_c = commands.add(
      "export-c", "Write the functions of a model as C, with an example that runs", export_help, [&](CLI::App* c) {
        c->add_option("MODEL", exported.model, model_text)->required();
        c->add_option("--out", exported.out, "the folder for NAME.h, NAME.c and example.c")->required();
        c->add_flag("--force", exported.force, "overwrite files that hinge export-c did not write");
        settings.add_to(c);
      });

  std::string shell;
  auto* completion = commands.add("completion", "Print a script with which a shell completes commands and options", "",
                                  [&](CLI::App* c) { c->add_option("SHELL", shell, "bash, zsh or fish")->required(); });
  auto* schema = commands.add("schema", "Print the JSON schema of the model file, for editors", "", [](CLI::App*) {});
  auto* man = commands.add("man", "Print the page of the manual: hinge man | man -l -", "", [](CLI::App*) {});

  bool methods_json = false;
  std::string one_method;
  commands.add("methods", "Every method: order, what it preserves, options, reference", "", [&](CLI::App* c) {
    c->add_flag("--json", methods_json, "print a JSON list");
    c->add_option("name", one_method, "only this one");
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    throw hinge::InputError(explain(app, e, {argv + 1, argv + argc}));
  }
  arguments.overrides = study.overrides = many.overrides = settings.overrides();
  const auto empty = [](const CLI::App* command, const char* option, const std::string& value) {
    return *command && command->count(option) && value.empty();
  };
  if (empty(run, "--out", arguments.out) || empty(contact, "--out", problem.out))
    throw hinge::InputError("--out needs the name of a file, as in --out pendulum.csv");
  if (empty(run, "--report", arguments.report))
    throw hinge::InputError("--report needs the name of a file, as in --report pendulum.html");
  if (*run) return hinge::cli::run(arguments);
  if (*convergence) return hinge::cli::convergence(study);
  if (*compare) return hinge::cli::compare(study);
  if (*sweep) return hinge::cli::sweep(many);
  if (*check) return hinge::cli::check(check_model, settings.overrides());
  figure.overrides = viewing.overrides = film.overrides = settings.overrides();
  exported.overrides = settings.overrides();
  if (*export_c) return hinge::cli::export_c(exported);
  if (*plot) return hinge::cli::plot(figure);
  if (*reproduce) return hinge::cli::reproduce(papers);
  if (*view) return hinge::cli::view(viewing);
  if (*movie) return hinge::cli::movie(film);
  if (*completion) return hinge::cli::completion(shell, infos_of(app));
  if (*schema) return hinge::cli::schema();
  if (*man) return hinge::cli::manual(infos_of(app));
  if (*begin) return hinge::cli::new_model(beginning);
  if (*contact) return hinge::cli::contact(problem);
  return hinge::cli::list_methods(methods_json, one_method);
}

// Whatever is thrown is told as a sentence.
int answer(int argc, char** argv) {
  using namespace hinge::cli;
  const auto tell = [](const auto& what, int status) {
    std::cerr << "hinge: " << what << '\n';
    return status;
  };
  try {
    return dispatch(argc, argv);
  } catch (const hinge::LostWrite& e) {
    return tell(e.what(), numerics_failed);
  } catch (const hinge::InputError& e) {
    return tell(e.what(), input_wrong);
  } catch (const hinge::Error& e) {
    return tell(e.what(), numerics_failed);
  } catch (const std::bad_alloc&) {
    return tell("there is not enough memory for this; make the model smaller", numerics_failed);
  } catch (const std::length_error&) {
    return tell("something in this model is larger than memory can be; make it smaller", numerics_failed);
  } catch (const std::filesystem::filesystem_error& e) {
    return tell(fmt::format("cannot read '{}': {}; check the name", e.path1().string(), e.code().message()),
                input_wrong);
  } catch (const std::exception& e) {
    return tell(fmt::format("this should not have happened: {}", e.what()), numerics_failed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hinge::spare_hdf5_cleanup();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that becomes too large is an error to be told, not a reason to die
  hinge::cli::Printed out(std::cout, stdout), err(std::cerr, stderr);
  const int status = answer(argc, argv);
  const int lost = out.finish();
  if (lost == 0) return status;
  std::cerr << fmt::format("hinge: cannot write the answer: {}\n", std::generic_category().message(lost));
  return status == hinge::cli::done ? hinge::cli::numerics_failed : status;
}
