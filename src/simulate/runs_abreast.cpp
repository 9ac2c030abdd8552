#include "simulate/runs_abreast.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "simulate/run.hpp"

namespace hinge {

namespace {
std::atomic<long> made{0};
}

long RunsAbreast::lanes_made() { return made.load(std::memory_order_relaxed); }

void RunsAbreast::begin(Simulation& run, double end) { run.run_->begin_leg(end); }
bool RunsAbreast::go_on(Simulation& run) { return run.run_->go_on_abreast(); }

std::array<RunsAbreast::Next, RunsAbreast::most> RunsAbreast::look_ahead(std::span<Simulation* const> runs) {
  std::array<StepAhead*, most> steps{};
  std::array<Next, most> next{};
  for (std::size_t k = 0; k < std::min(runs.size(), most); ++k) {
    steps[k] = runs[k] ? runs[k]->run_->step_ahead() : nullptr;
    next[k] = steps[k] ? Next::go_on : Next::go_alone;
  }
  compute(steps);
  for (std::size_t k = 0; k < most; ++k)
    if (steps[k] && steps[k]->anew()) next[k] = Next::wait;
  return next;
}

// All, by their kinds.
void RunsAbreast::compute(std::array<StepAhead*, most> steps) {
  for (std::size_t first = 0; first < most; ++first) {
    if (!steps[first]) continue;
    const void* const kind = steps[first]->kind();
    std::array<StepAhead*, most> equal{};
    int count = 0;
    for (std::size_t k = first; k < most; ++k)
      if (steps[k] && steps[k]->kind() == kind) equal[k] = std::exchange(steps[k], nullptr), ++count;
    if (count < 2) continue;
    std::unique_ptr<StepLanes>& lanes = lanes_[kind];
    if (!lanes) {
      lanes = equal[first]->make_lanes();
      made.fetch_add(1, std::memory_order_relaxed);
    }
    lanes->compute(equal);
  }
}

}  // namespace hinge
