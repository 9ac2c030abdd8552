// hinge plot: columns of records, or of models that are run first, as a figure.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/figure_file.hpp"
#include "cli/svg_figure.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge::cli {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;  // a comma in brackets is no separator
  parts.emplace_back();
  for (const char c : text) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else if (c != ' ' || !parts.back().empty())
      parts.back() += c;
  }
  std::erase(parts, "");
  return parts;
}

Trajectory rows_of(const std::string& file, const std::vector<Override>& overrides) {
  if (std::filesystem::path(file).extension() != ".toml") {
    if (!overrides.empty()) throw InputError(fmt::format("--set changes a model, and '{}' is a record of a run", file));
    return read_record(file);
  }
  const Model model = load_model(file, overrides);
  if (!(model.end >= model.simulation.start))
    throw InputError(fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate]", file));
  return located(model, [&] {
    Simulation run = model.simulation_for("");
    run.keep_rows();
    run.start(model.start);
    run.until(model.end);
    return run.trajectory();
  });
}

// A column by its name; a trailing "_error" of one that is there is its change since the start.
std::vector<double> values_of(const Trajectory& rows, const std::string& file, const std::string& name) {
  const std::vector<std::string>& known = rows.header.columns;
  const auto there = [&](const std::string& n) { return std::find(known.begin(), known.end(), n) != known.end(); };
  if (there(name)) return rows.column(name);
  if (name.ends_with("_error") && there(name.substr(0, name.size() - 6))) {
    std::vector<double> x = rows.column(name.substr(0, name.size() - 6));
    for (std::size_t k = x.size(); k-- > 0;) x[k] -= x[0];
    return x;
  }
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("'{}' has no column '{}'{} it has {}", file, name,
                               near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), fmt::join(known, ", ")));
}

}  // namespace

int plot(const PlotArguments& a) {
  Figure figure;
  for (const char c : a.log) {
    if (c != 'x' && c != 'y') throw InputError(fmt::format("--log {}: write --log x, --log y or --log xy", a.log));
    (c == 'x' ? figure.log_x : figure.log_y) = true;
  }
  require_figure_format(a.out);
  const std::vector<std::string> names = split(a.y);
  if (names.empty()) throw InputError("--y needs the name of a column, as in --y energy");
  std::error_code none;
  if (!a.force && std::filesystem::exists(a.out, none))
    throw InputError(fmt::format("'{}' is there already; --force overwrites it", a.out));
  for (const std::string& slope : split(a.slopes)) {
    char* end = nullptr;
    figure.slopes.push_back(std::strtod(slope.c_str(), &end));
    if (*end != '\0' || !std::isfinite(figure.slopes.back()))
      throw InputError(fmt::format("--slopes: '{}' is not a number; write --slopes 2,4", slope));
  }
  if (!figure.slopes.empty() && !(figure.log_x && figure.log_y))
    throw InputError("--slopes are those of straight lines on two logarithmic axes; add --log xy");
  WholeFile file(a.out);
  for (const std::string& source : a.files) {
    const Trajectory rows = rows_of(source, a.overrides);
    const std::vector<double> x = values_of(rows, source, a.x);
    for (const std::string& name : names) {
      FigureLine line{
          a.files.size() > 1 ? fmt::format("{} ({})", name, std::filesystem::path(source).stem().string()) : name, x,
          values_of(rows, source, name)};
      if (figure.log_y)
        for (double& v : line.y) v = std::abs(v);
      if (figure.log_x)
        for (double& v : line.x) v = std::abs(v);
      figure.lines.push_back(std::move(line));
    }
  }
  figure.x_label = a.x;
  figure.y_label = names.size() > 1 ? "" : figure.log_y ? fmt::format("|{}|", names[0]) : names[0];
  figure.title = a.title;
  file.write(as_figure_file(svg_of(figure), a.out));
  file.commit();
  std::cout << fmt::format("{} has {} line{}\n", a.out, figure.lines.size(), figure.lines.size() == 1 ? "" : "s");
  return done;
}

}  // namespace hinge::cli
