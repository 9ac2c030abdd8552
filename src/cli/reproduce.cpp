// hinge reproduce: the figures and tables of papers, computed from their models, and what each of them must show.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/reproduce/computed_figure.hpp"
#include "cli/reproduce/gallery.hpp"
#include "cli/terminal.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge::cli {

namespace {

namespace fs = std::filesystem;

// papers/ of the folder we are in; else of the folder that the program was built in; else where it is installed.
fs::path papers_folder(const std::string& given) {
  if (!given.empty()) {
    if (!fs::is_directory(given)) throw InputError(fmt::format("--papers {}: there is no such folder", given));
    return given;
  }
  std::vector<fs::path> places{"papers"};
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) {
    const fs::path above = program.parent_path().parent_path();
    places.push_back(above / "papers");
    places.push_back(above / "share/hinge/papers");
  }
  for (const fs::path& p : places)
    if (fs::is_directory(p, none)) return p;
  throw InputError(
      "the folder papers/ with models and figures is not here; go to where Hinge was unpacked, or say "
      "where it is: hinge reproduce --papers DIR");
}

std::vector<FigureDefinition> all_figures(const fs::path& papers) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(papers))
    if (fs::is_regular_file(entry.path() / "figures.toml")) files.push_back(entry.path() / "figures.toml");
  std::sort(files.begin(), files.end());
  std::vector<FigureDefinition> figures;
  for (const fs::path& f : files)
    for (FigureDefinition& figure : read_figures(f.string())) figures.push_back(std::move(figure));
  if (figures.empty()) throw InputError(fmt::format("no folder of '{}' has figures.toml", papers.string()));
  return figures;
}

// An id names one figure, its first part all figures of a paper.
std::vector<FigureDefinition> chosen(const std::vector<FigureDefinition>& all, const ReproduceArguments& a) {
  std::vector<std::string> known;
  for (const FigureDefinition& f : all) {
    known.push_back(f.id);
    const std::string paper = f.id.substr(0, f.id.find('/'));
    if (std::find(known.begin(), known.end(), paper) == known.end()) known.push_back(paper);
  }
  std::vector<char> wanted(all.size(), 0);
  for (const std::string& id : a.ids) {
    bool found = false;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const bool named = all[k].id == id, of_paper = all[k].id.starts_with(id + "/");
      found = found || named || of_paper;
      if (named || (of_paper && (a.all || !all[k].slow))) wanted[k] = 1;
    }
    if (found) continue;
    const std::string near = nearest_name(id, known);
    throw InputError(fmt::format("there is no figure '{}'{} 'hinge reproduce --list' lists them", id,
                                 near.empty() ? ";" : fmt::format(", did you mean '{}'?", near)));
  }
  std::vector<FigureDefinition> figures;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (a.ids.empty() ? a.all || !all[k].slow : wanted[k] != 0) figures.push_back(all[k]);
  return figures;
}

int list(const std::vector<FigureDefinition>& figures, bool json) {
  nlohmann::json all = nlohmann::json::array();
  std::string paper;
  for (const FigureDefinition& f : figures) {
    if (json) {
      all.push_back({{"id", f.id}, {"title", f.title}, {"paper", f.paper}, {"shows", f.shows}, {"slow", f.slow}});
      continue;
    }
    if (f.paper != paper) std::cout << fmt::format("{}{}\n", paper.empty() ? "" : "\n", f.paper);
    paper = f.paper;
    std::cout << fmt::format("  {:<17}{}{}\n", f.id, f.title, f.slow ? " (minutes: with --all, or by its name)" : "");
  }
  if (json) std::cout << all.dump(1) << '\n';
  return done;
}

void print(const ComputedFigure& f) {
  std::cout << fmt::format("{} {}  {}\n", f.holds() ? "ok  " : "FAIL", f.definition.id, f.definition.title);
  for (const Verdict& v : f.verdicts) std::cout << fmt::format("     {} {}\n", v.holds ? "holds" : "FAILS", v.text);
  for (const std::string& failure : f.failures) std::cout << fmt::format("     run: {}\n", failure);
  if (!f.definition.correction.empty())
    std::cout << fmt::format("     the paper's own statement: {}\n", f.definition.correction);
}

std::string json_of(const std::vector<ComputedFigure>& figures) {
  nlohmann::json all = nlohmann::json::array();
  for (const ComputedFigure& f : figures) {
    nlohmann::json claims = nlohmann::json::array();
    for (const Verdict& v : f.verdicts)
      claims.push_back({{"text", v.text}, {"measured", v.measured}, {"holds", v.holds}});
    all.push_back({{"id", f.definition.id},
                   {"title", f.definition.title},
                   {"holds", f.holds()},
                   {"claims", claims},
                   {"correction", f.definition.correction},
                   {"seconds", f.seconds}});
  }
  return all.dump(1);
}

void write_files(const fs::path& folder, const std::vector<ComputedFigure>& figures) {
  for (const ComputedFigure& f : figures) {
    const std::string name = file_name(f.definition.id);
    if (!f.definition.table) write_whole((folder / (name + ".svg")).string(), svg_of(f.definition.title, f.panels));
    write_whole((folder / (name + ".csv")).string(), csv_of(f));
  }
  write_whole((folder / "index.html").string(), gallery_page(figures));
}

}  // namespace

int reproduce(const ReproduceArguments& a) {
  const std::vector<FigureDefinition> all = all_figures(papers_folder(a.papers));
  if (a.list) return list(all, a.json);
  const std::vector<FigureDefinition> wanted = chosen(all, a);
  if (!a.out.empty()) {
    std::error_code trouble;
    fs::create_directories(a.out, trouble);
    if (trouble) throw OutputError(fmt::format("--out {}: {}; choose another folder", a.out, trouble.message()));
  }
  catch_interrupts();
  StatusLine status(!a.json && !a.quiet);
  Runs runs;
  std::vector<ComputedFigure> figures;
  for (const FigureDefinition& f : wanted) {
    if (stop_asked()) break;
    status.show(fmt::format("{} ({} of {})", f.id, figures.size() + 1, wanted.size()));
    ComputedFigure figure = compute(f, runs);
    status.show("");
    if (stop_asked()) break;  // of runs that did not end
    figures.push_back(std::move(figure));
    if (!a.json && !a.quiet) print(figures.back());
  }
  if (!a.out.empty()) write_files(a.out, figures);
  const auto failed = std::count_if(figures.begin(), figures.end(), [](const ComputedFigure& f) { return !f.holds(); });
  if (a.json) std::cout << json_of(figures) << '\n';
  if (!a.json && !a.quiet) {
    std::cout << fmt::format("{} of {} figures show what they must\n",
                             static_cast<std::ptrdiff_t>(figures.size()) - failed, figures.size());
    if (!a.out.empty()) std::cout << fmt::format("{} shows them\n", (fs::path(a.out) / "index.html").string());
  }
  if (figures.size() < wanted.size()) return interrupted;
  return a.check && failed > 0 ? numerics_failed : done;
}

}  // namespace hinge::cli
