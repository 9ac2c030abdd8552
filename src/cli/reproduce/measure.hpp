// Runs of models, and what is measured of them. A run is made once, however many curves need it.
//
// Of a run that is a point of a curve:
//   constraint, hidden_constraint, energy_error, condition, steps, ...     what the report has, and quantities by name
//   error(y), error(z), error(psi)              at the end, against the exact solution of the model
//   distance(y), relative(y), ...               at the end, from the reference run; relative to the length of its
//   vector final(COLUMN), largest(COLUMN), smallest(COLUMN), size(COLUMN), change(COLUMN)
//                                               of a column of its rows; size: the largest |.|, change: from the start
// Of the rows of one run:
//   COLUMN, change(COLUMN), distance(y), relative(y), highest(COLUMN): the largest |.| so far
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/reproduce/figure_definition.hpp"

namespace hinge::cli {

/// A run that has been made.
struct MadeRun {
  Model model;
  Report report;
  Trajectory rows;       ///< where they were asked for
  std::string failure;   ///< why it stopped before the end; empty where it did not
  double violation = 0;  ///< |g|, Euclidean, of a single step
};

/// All runs so far, by what they are made of.
class Runs {
 public:
  const MadeRun& made(const RunDefinition& run, bool with_rows, bool with_condition);
  /// A single step from where `reference` is at `from`: by the method of `run`, and by that of the reference.
  std::pair<MadeRun, MadeRun> step(const RunDefinition& run, const RunDefinition& reference, double from);

 private:
  std::map<std::string, std::unique_ptr<MadeRun>> made_;
};

/// One number of a run; `reference` is null where there is none. Not a number where the run has failed.
double measure(const std::string& what, const MadeRun& run, const MadeRun* reference);
/// One number for each row.
std::vector<double> measure_rows(const std::string& what, const MadeRun& run, const MadeRun* reference);
/// Whether rows have to be kept, or a condition number computed, to measure this.
bool needs_rows(const std::string& what);
bool needs_condition(const std::string& what);

}  // namespace hinge::cli
