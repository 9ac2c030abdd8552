// From a definition to curves, and from curves to panels and verdicts.
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/computed_figure.hpp"

namespace hinge::cli {

namespace {

void note_failure(const MadeRun& run, ComputedFigure& figure) {
  if (!run.failure.empty()) figure.failures.push_back(fmt::format("{}: {}", run.model.path, run.failure));
}

// One point for each run.
FigureLine points_of(const CurveDefinition& c, Runs& runs, ComputedFigure& figure) {
  FigureLine line{c.name, {}, {}, true};
  const bool rows = needs_rows(c.x) || needs_rows(c.y), condition = needs_condition(c.x) || needs_condition(c.y);
  for (std::size_t k = 0; k < c.runs.size(); ++k) {
    std::pair<MadeRun, MadeRun> step;
    const MadeRun *run = nullptr, *reference = nullptr;
    const RunDefinition* const from = c.references.empty() ? nullptr : &c.references[k % c.references.size()];
    if (c.step_from && from) {
      step = runs.step(c.runs[k], *from, *c.step_from);
      run = &step.first;
      reference = &step.second;
    } else {
      run = &runs.made(c.runs[k], rows, condition);
      if (from) reference = &runs.made(*from, rows, false);
    }
    note_failure(*run, figure);
    line.x.push_back(!c.x.empty()        ? measure(c.x, *run, reference)
                     : !c.values.empty() ? c.values[k]
                                         : static_cast<double>(k));
    line.y.push_back(measure(c.y, *run, reference));
  }
  if (!c.names.empty()) figure.cases = c.names;
  return line;
}

FigureLine rows_of(const CurveDefinition& c, Runs& runs, ComputedFigure& figure) {
  const MadeRun& run = runs.made(c.runs[0], true, false);
  const MadeRun* const reference = c.references.empty() ? nullptr : &runs.made(c.references[0], true, false);
  note_failure(run, figure);
  FigureLine line{c.name, measure_rows(c.x, run, reference), measure_rows(c.y, run, reference)};
  line.x.resize(std::min(line.x.size(), line.y.size()));
  line.y.resize(line.x.size());
  return line;
}

std::vector<Figure> panels_of(const ComputedFigure& computed) {
  std::vector<Figure> panels;
  for (const PanelDefinition& p : computed.definition.panels) {
    Figure f;
    f.title = p.title;
    f.x_label = p.x_label;
    f.y_label = p.y_label;
    f.log_x = p.log_x;
    f.log_y = p.log_y;
    f.equal = p.equal;
    f.slopes = p.slopes;
    panels.push_back(std::move(f));
  }
  for (std::size_t k = 0; k < computed.definition.curves.size(); ++k) {
    const CurveDefinition& c = computed.definition.curves[k];
    if (!c.panel) continue;
    Figure& panel = panels[*c.panel];
    FigureLine line = computed.curves[k];
    if (panel.log_y)
      for (double& y : line.y) y = std::abs(y);
    if (!c.names.empty() && c.x.empty()) panel.columns = c.names;
    panel.lines.push_back(std::move(line));
  }
  return panels;
}

}  // namespace

ComputedFigure compute(const FigureDefinition& definition, Runs& runs) {
  const auto begin = std::chrono::steady_clock::now();
  ComputedFigure figure;
  figure.definition = definition;
  for (const CurveDefinition& c : definition.curves)
    figure.curves.push_back(c.points ? points_of(c, runs, figure) : rows_of(c, runs, figure));
  figure.panels = panels_of(figure);
  if (definition.scene) compute_scene(*definition.scene, figure);
  for (const ClaimDefinition& claim : definition.claims) figure.verdicts.push_back(judge(claim, figure.curves));
  figure.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return figure;
}

}  // namespace hinge::cli
