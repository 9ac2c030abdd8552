// Model files: any text is checked as `hinge check` does it, and makes its first steps; or it is refused, or its
// numerics fail, with one of Hinge's own errors and in bounded time and memory. Nothing is written.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>

#include "cli/commands.hpp"
#include "fuzz/scratch_file.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"

using namespace hinge;

namespace {

constexpr double steps = 3, short_time = 0.01;
constexpr int most_velocities = 200;  // more take their time, hostile or not

void take_steps(Model model) {
  model.picture_file.clear();
  Simulation run = model.simulation_for("");
  run.keep_rows();
  run.on_progress([](double) { return false; });  // after a tenth of a second, as with rows without number
  run.start(model.start);
  const double step = model.simulation.step, start = run.state().t;
  run.until(std::min(start + (step > 0 ? steps * step : short_time), std::isfinite(model.end) ? model.end : start + 1));
  run.finish();
  if (!std::isfinite(run.state().t)) throw std::logic_error("time is no number");
  run.report();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::ScratchFile file(".toml");
  std::cout.setstate(std::ios::failbit);  // `check` prints, and nobody reads it
  std::cerr.setstate(std::ios::failbit);
  file.write(data, size);
  try {
    const Model model = load_model(file.path());
    if (model.system->nz() > most_velocities) return 0;
    cli::check(file.path(), {});
    take_steps(model);
  } catch (const Error&) {
  }
  return 0;
}
