// What the commands that run many times have in common: lists of numbers and methods, references, a table of runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "hinge/comparison.hpp"

namespace hinge::cli {

double positive_number(const std::string& option, const std::string& text, const char* example);
/// "0.1,0.05" -> numbers, each once.
std::vector<double> positive_numbers(const std::string& option, const std::string& text, const char* example);
/// Is this --reference the name of a file?
bool names_a_file(const std::string& text);

/// The model with an end time, and the methods of --methods, or its own.
struct Study {
  explicit Study(const StudyArguments& arguments);
  Study(const StudyArguments& arguments, Model model);
  const StudyArguments& arguments;
  Model model;
  ConvergenceProblem problem;
  std::vector<StudiedMethod> methods;

  /// What --reference says, a file or a method for `computed`; else [exact] of the model, else `usual`.
  Reference reference(const std::function<Reference(const StudiedMethod&)>& computed,
                      const std::function<Reference()>& usual) const;
};

/// The runs of hinge compare and hinge convergence. `begun` is called when the reference has been computed.
WorkPrecision compare_runs(const Study& study, const std::function<void()>& begun, const ConvergenceProgress& progress);
ConvergenceStudy convergence_runs(const Study& study, std::ostream& complaints, const std::function<void()>& begun,
                                  const ConvergenceProgress& progress);

/// --csv: one row per run. Opened before the study: a name that cannot be written is refused while nothing is lost.
class CsvTable {
 public:
  CsvTable(const StudyArguments& arguments, const std::string& columns);
  void row(const std::string& method, const std::vector<std::string>& cells);
  void close();

 private:
  std::string path_, text_;
};
/// A number for a cell; empty where there is none.
std::string cell(const std::optional<double>& value);

}  // namespace hinge::cli
