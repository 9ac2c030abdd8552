// Model files: any text is checked as `hinge check` does it, and makes its first steps; or it is refused, or its
// numerics fail, with one of Hinge's own errors and in bounded time and memory. Nothing is written.
//
// An input is to take a millisecond, so that there can be many of them: large systems are read and no more, and machine
// code is made, and compared with the tape, for one input in sixteen.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "expression/native.hpp"
#include "fuzz/scratch_file.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"

using namespace hinge;

namespace {

constexpr double steps = 2, short_time = 0.01;
constexpr int most_unknowns = 30;  // velocities and multipliers: more take their time, hostile or not

bool chosen_for_machine_code(const std::uint8_t* data, std::size_t size) {
  unsigned sum = 0;
  for (std::size_t k = 0; k < size; ++k) sum = sum * 31 + data[k];
  return sum % 16 == 0;
}

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
  static std::ostream nowhere(nullptr);  // `check` prints, and nobody reads it
  set_native_use(chosen_for_machine_code(data, size) ? NativeUse::check : NativeUse::off);
  file.write(data, size);
  try {
    const Model model = load_model(file.path());
    if (model.system->nz() + model.system->nrates() > most_unknowns) return 0;
    cli::check(model, nowhere, nowhere);
    take_steps(model);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with("machine code and tape differ"))
      throw std::logic_error(error.what());
  }
  return 0;
}
