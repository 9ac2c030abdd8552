// What a figure of a paper is made of, as papers/*/figures.toml has it: runs, curves of them, and what they must show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hinge/model.hpp"

namespace hinge::cli {

/// One run: a model, and what is set on top of it.
struct RunDefinition {
  std::string model;  ///< path
  std::vector<Override> set;
};

/// A curve: one point for each of several runs, or the rows of one run.
struct CurveDefinition {
  std::string name;
  std::optional<std::size_t> panel;       ///< none: it is not drawn, claims are about it
  std::vector<RunDefinition> runs;        ///< one: its rows are the points
  bool points = false;                    ///< several runs, or one that counts as a point
  std::vector<double> values;             ///< of the key that varies; empty: runs are counted, or `x` is measured
  std::vector<std::string> names;         ///< of the runs, where they are cases
  std::string x, y;                       ///< what is measured: see measure.hpp
  std::vector<RunDefinition> references;  ///< what distances are measured from: none, one, or one for each run
  /// A single step is made from where the reference is at this time, instead of a run.
  std::optional<double> step_from;
};

/// What must be true of a curve, or of two.
struct ClaimDefinition {
  std::string of, measure, against;  ///< curves by their names
  std::optional<double> at;          ///< x of a point
  double from = -1e300, to = 1e300;  ///< x of the points that count
  std::optional<double> is, below, above;
  double within = 0;            ///< of `is`: relative, absolute where that is zero
  std::optional<double> paper;  ///< the number that the paper has
  std::string says;             ///< in words
};

struct PanelDefinition {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false, equal = false;
  std::vector<double> slopes;
};

/// A picture of disks and forces at some times of a run.
struct SceneDefinition {
  RunDefinition run;
  std::vector<double> times;
  int particle = 0;  ///< whose height and velocity are curves
};

struct FigureDefinition {
  std::string id, paper, title;
  std::string shows;       ///< what it must show, in words
  std::string correction;  ///< where the paper's own statement is wrong
  std::string remark;
  bool slow = false;   ///< takes minutes: with --all only
  bool table = false;  ///< numbers in rows in the place of a picture
  std::vector<PanelDefinition> panels;
  std::vector<CurveDefinition> curves;
  std::optional<SceneDefinition> scene;
  std::vector<ClaimDefinition> claims;
};

/// The figures of one file, in their order. Throws InputError with file, line and what was expected.
std::vector<FigureDefinition> read_figures(const std::string& path);

}  // namespace hinge::cli
