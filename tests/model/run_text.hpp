// A model as text, run to its end: what it says about its quantities there.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "hinge/model.hpp"
#include "hinge/simulate.hpp"

namespace hinge::test {

inline Report run(const Model& model) {
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  return run.report();
}
inline Report run_text(const std::string& text, const std::vector<Override>& overrides = {}) {
  return run(parse_model(text, "scene.toml", overrides));
}
inline Report run_file(const std::string& path, const std::vector<Override>& overrides = {}) {
  return run(load_model(path, overrides));
}

/// The complaint about a model; empty where it runs.
inline std::string complaint_about(const std::string& text) {
  try {
    run_text(text);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

inline std::vector<double> values_of(const Report& report, const std::string& name) {
  for (const Report::Observed& q : report.quantities)
    if (q.name == name) return q.value;
  throw std::runtime_error("no quantity " + name);
}
inline double value_of(const Report& report, const std::string& name) { return values_of(report, name).at(0); }

}  // namespace hinge::test
