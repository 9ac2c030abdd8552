// The commands of the program `hinge`.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hinge/model.hpp"

namespace hinge::cli {

enum ExitStatus { done = 0, numerics_failed = 1, input_wrong = 2, interrupted = 130 };

struct RunArguments {
  std::string model, out, report;
  std::vector<Override> overrides;
  bool json = false, quiet = false, condition = false, strict = false, force = false;
  std::string from, checkpoint, resume;
  double checkpoint_seconds = 60;
  long checkpoint_steps = 0;
};

/// Of convergence and compare.
struct StudyArguments {
  std::string model;
  std::optional<std::string> tolerances, steps, methods, reference, reference_step, csv;
  std::vector<Override> overrides;
  bool json = false, quiet = false, force = false;
};

struct SweepArguments {
  std::string model, out;
  std::vector<std::string> vary, sample;
  std::optional<std::uint64_t> seed;
  std::vector<Override> overrides;
  int jobs = 0;  ///< 0: one for each processor
  bool rows = false, strict = false, json = false, quiet = false, force = false;
};

struct ContactArguments {
  std::string file, solver = "auto", scaling = "ours", friction, out;
  double tolerance = 1e-8, seconds = 0, relaxation = 1;
  int iterations = 0, threads = 1, facets = 8;
  bool json = false, quiet = false, history = false, guess = false, list = false, force = false;
};

struct PlotArguments {
  std::vector<std::string> files;  ///< records or models
  std::string x = "t", y, log, slopes, title, out;
  std::vector<Override> overrides;
  bool force = false;
};

struct ReproduceArguments {
  std::vector<std::string> ids;  ///< none: all that are quick
  std::string out, papers;
  bool list = false, check = false, all = false, json = false, quiet = false;
};

struct ViewArguments {
  std::string file;  ///< a model, or a record
  std::vector<Override> overrides;
  int port = 0;
  bool open = false;
};

struct MovieArguments {
  std::string file;  ///< a model, or a record
  std::string out, size = "1280x720", theme = "light";
  double seconds = 0;  ///< of the film; 0: as long as the motion, but 2 to 10
  int rate = 30;
  std::vector<Override> overrides;
  bool force = false;
};

struct ExportArguments {
  std::string model, out;
  std::vector<Override> overrides;
  bool force = false;
};

struct NewArguments {
  std::string name, kind = "pendulum";
  bool list = false;
};

/// Throws the current exception again; where the library finds fault with the model, with the file and the section.
[[noreturn]] void rethrow_located(const Model& model);
template <class Action>
auto located(const Model& model, Action&& action) {
  try {
    return action();
  } catch (...) {
    rethrow_located(model);
  }
}

int run(const RunArguments& arguments);
/// The start of a model from a recorded row, "run.h5:last".
void start_from_record(const std::string& given, Model& model);
int convergence(const StudyArguments& arguments);
int compare(const StudyArguments& arguments);
int sweep(const SweepArguments& arguments);
int check(const std::string& model, const std::vector<Override>& overrides);
int check(const Model& model, std::ostream& out, std::ostream& complaints);
/// check() for F(t, x, x') = 0; and a line of what it prints: what is meant, and what is known about it.
int check_dae(const Model& model, std::ostream& out);
void print_line(std::ostream& out, const std::string& what, const std::string& text);
/// Whether the initial values are consistent, and what was said about them.
void print_start(std::ostream& out, const std::vector<std::string>& remarks);
int list_methods(bool json, const std::string& only = "");
int contact(const ContactArguments& arguments);
int plot(const PlotArguments& arguments);
int reproduce(const ReproduceArguments& arguments);
int view(const ViewArguments& arguments);
int movie(const MovieArguments& arguments);
int new_model(const NewArguments& arguments);
/// Its functions as C, with a header and an example.
int export_c(const ExportArguments& arguments);
/// What `hinge new --template` knows.
std::vector<std::string> template_names();

}  // namespace hinge::cli
