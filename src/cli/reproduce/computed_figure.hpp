// A figure of a paper, computed: curves, and for each claim what was measured.
#pragma once

#include "cli/reproduce/figure_definition.hpp"
#include "cli/reproduce/measure.hpp"
#include "cli/svg_figure.hpp"

namespace hinge::cli {

/// A claim that has been looked at.
struct Verdict {
  std::string text;  ///< "true: slope 1.02, must be 1 within 5 %"
  double measured = 0;
  bool holds = false;
};

struct ComputedFigure {
  FigureDefinition definition;
  std::vector<FigureLine> curves;  ///< as in the definition; a scene has its own
  std::vector<Figure> panels;      ///< ready to be drawn
  std::vector<std::string> cases;  ///< names of the points, where they have names
  std::vector<Verdict> verdicts;
  std::vector<std::string> failures;  ///< runs that stopped before their end
  double seconds = 0;
  bool holds() const;
};

/// Makes the runs, measures, and looks at every claim.
ComputedFigure compute(const FigureDefinition& figure, Runs& runs);

/// What a claim says about these curves. Throws InputError where a curve or a measure is not known.
Verdict judge(const ClaimDefinition& claim, const std::vector<FigureLine>& curves);

/// Pictures of disks with the forces between them, and the curves `height` and `velocity` of one particle, `floor`, the
/// force on the floor as a part of the weight, and `step`, |height - height before - h velocity|.
void compute_scene(const SceneDefinition& scene, ComputedFigure& figure);

}  // namespace hinge::cli
