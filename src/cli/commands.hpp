// The commands of the program `hinge`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hinge/model.hpp"

namespace hinge::cli {

enum ExitStatus { done = 0, numerics_failed = 1, input_wrong = 2, interrupted = 130 };

struct RunArguments {
  std::string model, out;
  std::vector<Override> overrides;
  bool json = false, quiet = false, condition = false;
};

struct ConvergenceArguments {
  std::string model;
  std::optional<std::string> steps, methods, reference, reference_step, csv;
  std::vector<Override> overrides;
  bool json = false, quiet = false;
};

struct CompareArguments {
  std::string model;
  std::optional<std::string> tolerances, steps, methods, reference, csv;
  std::vector<Override> overrides;
  bool json = false, quiet = false;
};

struct ContactArguments {
  std::string file, solver = "auto", scaling = "ours", friction, out;
  double tolerance = 1e-8, seconds = 0, relaxation = 1;
  int iterations = 0, threads = 1, facets = 8;
  bool json = false, quiet = false, history = false, guess = false, list = false;
};

/// Runs `action`; where the library finds fault with the model, the message gets the file and the section.
void located(const Model& model, const std::function<void()>& action);

int run(const RunArguments& arguments);
int convergence(const ConvergenceArguments& arguments);
int compare(const CompareArguments& arguments);
int check(const std::string& model, const std::vector<Override>& overrides);
/// check() for F(t, x, x') = 0.
int check_dae(const Model& model);
int list_methods(bool json, const std::string& only = "");
int contact(const ContactArguments& arguments);

}  // namespace hinge::cli
