// What the commands that run many times have in common: lists of numbers and methods, references, a status line.
#pragma once

#include <string>
#include <vector>

#include "hinge/convergence.hpp"
#include "hinge/model.hpp"

namespace hinge::cli {

double positive_number(const std::string& option, const std::string& text, const char* example);
/// "0.1,0.05" -> numbers, each once.
std::vector<double> positive_numbers(const std::string& option, const std::string& text, const char* example);

/// What the model gives in [integrate] holds for every method that has such an option, unless the text says otherwise.
StudiedMethod method_of(MethodName method, const Model& model);
/// The methods of --methods, or the model's own.
std::vector<StudiedMethod> methods_of(const std::optional<std::string>& text, const Model& model);
/// The one method of --reference.
StudiedMethod reference_method(const std::string& text, const Model& model);
/// Is this --reference the name of a file?
bool names_a_file(const std::string& text);

/// On a terminal: which run is going on.
class StatusLine {
 public:
  explicit StatusLine(bool visible) : visible_(visible) {}
  ~StatusLine() { show(""); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  void show(const std::string& text) const;

 private:
  bool visible_;
};

}  // namespace hinge::cli
