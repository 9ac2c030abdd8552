// Which scenes there are, from where each starts, how often it is recorded, and the clock.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "judge.hpp"

namespace exam {

/// All scenes, in the order of the table.
inline const std::vector<std::string>& scene_names() {
  static const std::vector<std::string> names = {
      "seam",          "incline-stick", "incline-slide",   "stopping",           "rolling",      "free-flight", "stack",
      "stack-dropped", "grip",          "mass-ratio",      "mass-ratio-dropped", "five-spheres", "arch",        "chain",
      "four-bar",      "turntable",     "thousand-spheres"};
  return names;
}
/// Starts of the seam: eight within one step. One that means nothing for the other scenes.
inline std::vector<double> starts_of(const std::string& scene) {
  std::vector<double> starts;
  for (int k = 0; k < (scene == "seam" ? 8 : 1); ++k) starts.push_back(-0.500578125 - 0.0015625 * k);
  return starts;
}

inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// About this many rows are recorded of a run. (With many bodies all pairs of each row are looked at.)
inline long rows_of(const Scene& scene) { return scene.bodies.size() > 100 ? 24 : 240; }

}  // namespace exam
