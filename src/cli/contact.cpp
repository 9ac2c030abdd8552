// hinge contact: one problem file, one solver or all of them; or a folder of problems and performance profiles.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/terminal.hpp"
#include "expression/suggest.hpp"
#include "hinge/contact.hpp"
#include "simulate/record/recorder.hpp"
#include "solve/contact/stop.hpp"

namespace hinge::cli {

namespace {

template <class... Parts>
void print(fmt::format_string<Parts...> text, Parts&&... parts) {
  std::cout << fmt::format(text, std::forward<Parts>(parts)...);
}

template <class Value>
Value named(const std::string& option, const std::string& name,
            const std::vector<std::pair<std::string, Value>>& values) {
  std::vector<std::string> known;
  std::string list;
  for (const auto& [key, value] : values) {
    if (key == name) return value;
    known.push_back(key);
    list += (list.empty() ? "" : ", ") + key;
  }
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("{} {}: {}there are {}", option, name,
                               near.empty() ? "" : fmt::format("did you mean '{}'? ", near), list));
}

ContactOptions options_of(const ContactArguments& a) {
  ContactOptions o;
  o.tolerance = a.tolerance;
  o.scaling = named<ResidualScaling>("--scaling", a.scaling,
                                     {{"ours", ResidualScaling::ours},
                                      {"siconos", ResidualScaling::siconos},
                                      {"fclib", ResidualScaling::fclib},
                                      {"absolute", ResidualScaling::absolute}});
  o.iterations = a.iterations;
  o.seconds = a.seconds;
  o.relaxation = a.relaxation;
  o.threads = a.threads;
  o.validate();
  return o;
}

std::vector<std::string> solvers_of(const std::string& name) {
  std::vector<std::string> all;
  for (const ContactSolverInfo& info : contact_solvers()) all.push_back(info.name);
  if (name == "all") return all;
  if (std::find(all.begin(), all.end(), name) == all.end()) {
    std::string list;
    for (const std::string& s : all) list += s + ", ";
    const std::string near = nearest_name(name, all);
    throw InputError(fmt::format("--solver {}: {}there are {}and all", name,
                                 near.empty() ? "" : fmt::format("did you mean '{}'? ", near), list));
  }
  return {name};
}

ContactFile read(const std::string& path, const ContactArguments& a) {
  ContactFile file = read_contact_file(path);
  if (file.problem.title.empty()) file.problem.title = std::filesystem::path(path).stem().string();
  if (!a.friction.empty())
    file.problem.friction = named<FrictionModel>("--friction", a.friction,
                                                 {{"exact", FrictionModel::coulomb},
                                                  {"coulomb", FrictionModel::coulomb},
                                                  {"convexified", FrictionModel::convexified},
                                                  {"polyhedral", FrictionModel::polyhedral}});
  file.problem.facets = a.facets;
  validate(file.problem);
  return file;
}

const char* words(ContactStatus status) {
  switch (status) {
    case ContactStatus::converged: return "converged";
    case ContactStatus::iteration_limit: return "limit reached";
    case ContactStatus::stalled: return "stalled";
    case ContactStatus::failed: break;
  }
  return "failed";
}

// `name` is what was asked for; behind `auto` another solver may have found r.
Json to_json(const std::string& name, const ContactResult& r, const ContactOptions& o, bool history) {
  Json j;
  j["solver"] = name;
  if (name != r.solver) j["found_by"] = r.solver;
  j["status"] = words(r.status);
  j["iterations"] = r.iterations;
  j["residual"] = r.residual.by(o.scaling);
  j["seconds"] = r.seconds;
  if (!r.message.empty()) j["message"] = r.message;
  j["residuals"] = {{"ours", r.residual.ours},
                    {"siconos", r.residual.siconos},
                    {"fclib", r.residual.fclib},
                    {"absolute", r.residual.absolute}};
  j["violations"] = {{"penetration", r.residual.penetration},
                     {"cone", r.residual.cone},
                     {"signorini", r.residual.signorini},
                     {"dissipation", r.residual.dissipation},
                     {"bilateral", r.residual.bilateral}};
  j["factorisations"] = r.factorisations;
  j["contact_updates"] = r.contact_updates;
  if (history) {
    j["history"] = Json::array();
    for (const auto& point : r.history)
      j["history"].push_back(
          {{"iteration", point.iteration}, {"residual", point.residual}, {"seconds", point.seconds}});
  }
  return j;
}

Json problem_json(const ContactProblem& p, const std::string& path) {
  return {{"file", path},
          {"title", p.title},
          {"contacts", p.contacts()},
          {"dimension", p.dimension},
          {"bilateral", p.bilateral},
          {"rows", p.rows()},
          {"friction", p.dimension == 1                           ? "none"
                       : p.friction == FrictionModel::coulomb     ? "exact"
                       : p.friction == FrictionModel::convexified ? "convexified"
                                                                  : "polyhedral"},
          {"form", p.matrix_free() ? "H and M" : "W"}};
}

void print_row(const std::string& name, const ContactResult& r, const ContactOptions& o) {
  print("{:<28}{:<15}{:>10}{:>13.2e}{:>12.4f}\n", name == r.solver ? name : fmt::format("{} ({})", name, r.solver),
        words(r.status), r.iterations, r.residual.by(o.scaling), r.seconds);
}

int solve_file(const ContactArguments& a, const ContactOptions& given) {
  const ContactFile file = read(a.file, a);
  const ContactProblem& p = file.problem;
  ContactOptions o = given;
  if (a.guess) {
    if (file.guess.size() == 0)
      throw InputError(fmt::format("'{}' has no guess to start from; leave --guess out", a.file));
    if (!file.guess.allFinite())
      throw InputError(
          fmt::format("the guess in '{}' has entries that are not finite numbers; leave --guess out", a.file));
    o.start = file.guess;
  }
  if (!file.remarks.empty()) std::cerr << "hinge: " << a.file << ": " << file.remarks << '\n';
  if (!a.out.empty() && !a.force) require_replaceable(a.out);
  const std::vector<std::string> names = solvers_of(a.solver);
  const bool all = names.size() > 1;
  if (const std::string why = all ? "" : refusal(p, names[0]); !why.empty())
    throw UnsuitableMethod(fmt::format("{} cannot solve this problem: {}", names[0], why));
  if (!a.json && !a.quiet)
    print(
        "{}: {} contacts, {} rows{}, given as {}\nresidual: {} scaling, asked for {:.1e}\n\n{:<28}{:<15}{:>10}"
        "{:>13}{:>12}\n",
        p.title, p.contacts(), p.rows(), p.bilateral > 0 ? fmt::format(", {} bilateral", p.bilateral) : "",
        p.matrix_free() ? "H and M" : "W", a.scaling, o.tolerance, "solver", "status", "iterations", "residual",
        "seconds");
  ContactResult best;
  Json list = Json::array();
  bool any = false;
  for (const std::string& name : names) {
    if (any && stop_asked()) break;
    if (all)
      if (const std::string why = refusal(p, name); !why.empty()) {
        if (a.json)
          list.push_back({{"solver", name}, {"status", "refused"}, {"message", why}});
        else if (!a.quiet)
          print("{:<28}refused: {}\n", name, why);
        continue;
      }
    ContactResult r = solve_contact(p, name, o);
    if (a.json)
      list.push_back(to_json(name, r, o, a.history));
    else if (!a.quiet)
      print_row(name, r, o);
    if (!a.json && a.history && !a.quiet)
      for (const auto& point : r.history)
        print("  {:>8}{:>13.3e}{:>12.4f}\n", point.iteration, point.residual, point.seconds);
    if (!any || (r.converged() && (!best.converged() || r.seconds < best.seconds)) ||
        (!best.converged() && r.residual.by(o.scaling) < best.residual.by(o.scaling)))
      best = std::move(r);
    any = true;
  }
  if (!any) throw UnsuitableMethod(fmt::format("no solver treats '{}'", a.file));
  if (a.json) {
    Json j = all ? Json{{"problem", problem_json(p, a.file)},
                        {"tolerance", o.tolerance},
                        {"scaling", a.scaling},
                        {"solver", best.solver},
                        {"iterations", best.iterations},
                        {"residual", best.residual.by(o.scaling)},
                        {"seconds", best.seconds},
                        {"solvers", list}}
                 : list[0];
    if (!all) {
      j["problem"] = problem_json(p, a.file);
      j["tolerance"] = o.tolerance;
      j["scaling"] = a.scaling;
    }
    std::cout << json_text(j) << '\n';
  } else if (!a.quiet && !all) {
    const ContactResidual& res = best.residual;
    print("\nresidual  ours {:.2e}, siconos {:.2e}, fclib {:.2e}, absolute {:.2e}\n", res.ours, res.siconos, res.fclib,
          res.absolute);
    print("violated  penetration {:.1e}, cone {:.1e}, r_N u_N {:.1e}, dissipation {:.1e}{}\n",
          std::max(0.0, res.penetration), std::max(0.0, res.cone), res.signorini, res.dissipation,
          p.bilateral > 0 ? fmt::format(", bilateral {:.1e}", res.bilateral) : "");
  }
  if (!a.out.empty()) {
    write_contact_file(a.out, p, best.r, file.description);
    if (!a.json && !a.quiet) print("\nr and u of {} are in {}\n", best.solver, a.out);
  }
  if (best.converged()) return stop_asked() ? interrupted : done;
  std::cerr << "hinge: " << best.message << '\n';
  return stop_asked() ? interrupted : numerics_failed;
}

// Performance profile: for each solver the share of problems that it solves within tau times the fastest one's time.
int solve_folder(const ContactArguments& a, const ContactOptions& o) {
  if (!a.out.empty()) throw InputError("--out is for one problem, and a folder was given");
  if (a.guess) throw InputError("--guess is for one problem, and a folder was given");
  if (a.history) throw InputError("--history is for one problem, and a folder was given");
  std::vector<std::string> paths;
  std::error_code trouble;
  for (std::filesystem::directory_iterator at(a.file, trouble), end; !trouble && at != end; at.increment(trouble)) {
    const std::string ending = at->path().extension().string();
    std::error_code ignored;
    if (at->is_regular_file(ignored) && (ending == ".hdf5" || ending == ".h5")) paths.push_back(at->path().string());
  }
  if (trouble)
    throw InputError(
        fmt::format("cannot read the folder '{}': {}; ask for permission to read it", a.file, trouble.message()));
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) throw InputError(fmt::format("'{}' has no .hdf5 or .h5 file in it", a.file));
  const std::vector<std::string> names = solvers_of(a.solver);
  std::map<std::string, std::vector<double>> seconds;  // infinity: not solved, or refused
  Json problems = Json::array();
  std::vector<std::string> unreadable;
  const std::size_t files = paths.size();
  std::erase_if(paths, [&](const std::string& path) {
    try {
      read(path, a);
      return false;
    } catch (const InputError& e) {
      std::cerr << "hinge: passed over: " << e.what() << '\n';
      unreadable.push_back(path);
      return true;
    }
  });
  if (paths.empty())
    throw InputError(fmt::format("none of the {} files of '{}' is a contact problem that can be read", files, a.file));
  std::size_t tried = 0;
  for (const std::string& path : paths) {
    if (stop_asked()) break;
    ++tried;
    const ContactFile file = read(path, a);
    if (!a.json && !a.quiet) print("{} ({} contacts)\n", file.problem.title, file.problem.contacts());
    Json results = Json::array();
    for (const std::string& name : names) {
      seconds[name].push_back(HUGE_VAL);
      if (const std::string why = refusal(file.problem, name); !why.empty()) {
        results.push_back({{"solver", name}, {"status", "refused"}, {"message", why}});
        continue;
      }
      const ContactResult r = solve_contact(file.problem, name, o);
      if (r.converged()) seconds[name].back() = r.seconds;
      results.push_back(to_json(name, r, o, false));
      if (!a.json && !a.quiet) {
        print("  ");
        print_row(name, r, o);
      }
    }
    problems.push_back({{"problem", problem_json(file.problem, path)}, {"results", results}});
  }
  paths.resize(tried);
  if (tried == 0) return interrupted;
  const std::vector<double> taus = {1, 2, 5, 10, 100, HUGE_VAL};
  Json profile = Json::object();
  if (!a.json && !a.quiet)
    print(
        "\nshare of the {} problems solved to {:.1e} ({}) within tau times the fastest solver's time\n{:<22}"
        "{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}\n",
        paths.size(), o.tolerance, a.scaling, "tau", "1", "2", "5", "10", "100", "any");
  for (const std::string& name : names) {
    Json shares = Json::array();
    if (!a.json && !a.quiet) print("{:<22}", name);
    for (const double tau : taus) {
      int count = 0;
      for (std::size_t k = 0; k < paths.size(); ++k) {
        double fastest = HUGE_VAL;
        for (const auto& [other, times] : seconds) fastest = std::min(fastest, times[k]);
        if (std::isfinite(seconds[name][k]) && seconds[name][k] <= tau * fastest) ++count;
      }
      const double share = static_cast<double>(count) / static_cast<double>(paths.size());
      shares.push_back({{"tau", std::isinf(tau) ? Json("any") : Json(tau)}, {"share", share}});
      if (!a.json && !a.quiet) print("{:>8.2f}", share);
    }
    if (!a.json && !a.quiet) print("\n");
    profile[name] = shares;
  }
  if (a.json)
    std::cout << json_text(Json{{"tolerance", o.tolerance},
                                {"scaling", a.scaling},
                                {"problems", problems},
                                {"profile", profile},
                                {"unreadable", unreadable}})
              << '\n';
  if (stop_asked()) return interrupted;
  for (const auto& [name, times] : seconds)
    for (const double time : times)
      if (std::isfinite(time)) return done;
  std::cerr << fmt::format("hinge: no problem of '{}' was solved to {:.1e}\n", a.file, o.tolerance);
  return numerics_failed;
}

}  // namespace

int list_contact_solvers() {
  for (const ContactSolverInfo& info : contact_solvers())
    print("{:<22}{}\n{:<22}solves: {}; source: {}\n", info.name, info.what, "", info.solves, info.reference);
  return done;
}

int contact(const ContactArguments& arguments) {
  if (arguments.list) return list_contact_solvers();
  if (arguments.file.empty())
    throw InputError("which file? As in: hinge contact pile.hdf5 (hinge contact --help says more)");
  const ContactOptions options = options_of(arguments);
  solvers_of(arguments.solver);
  catch_interrupts();
  stop_contact_solvers_if(stop_asked);
  std::error_code none;  // what cannot be looked at is told when it is read
  return std::filesystem::is_directory(arguments.file, none) ? solve_folder(arguments, options)
                                                             : solve_file(arguments, options);
}

}  // namespace hinge::cli
