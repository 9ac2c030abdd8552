// The stages of explicit steps of four runs at once, with the end of the step, its errors, the way back onto the
// constraints and the rates there: each lane has the numbers that ExplicitStages computes of one run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "expression/lane_code.hpp"
#include "formulation/compiled_function.hpp"
#include "hinge/method.hpp"
#include "method/explicit/dormand_prince.hpp"
#include "method/explicit/weighted_sum.hpp"
#include "method/step_ahead.hpp"

namespace hinge {

/// A step of one run: what is asked, and what has come out.
struct ExplicitAhead final : StepAhead {
  const void* kind() const override { return rates.get(); }
  bool anew() override { return made && refused && refused(); }
  std::unique_ptr<StepLanes> make_lanes() const override;

  std::function<bool()> refused{};  // of who asks: looks at the errors, and asks for another step where they are large

  const ExplicitTableau* tableau = nullptr;
  std::uint64_t serial = 0;  // of who asks: constants are taken over once
  std::shared_ptr<LaneCode> rates;
  std::shared_ptr<LaneCode> projection;  // null: there is none
  bool can_finish = false;               // by this projection, or without any where none is wanted
  const CompiledFunction* constants = nullptr;
  const CompiledFunction* projection_constants = nullptr;
  int n = 0, ny = 0, m = 0;
  // Asked:
  double t = 0, h = 0;
  Tolerance tolerance{};
  const double *x0 = nullptr, *rate0 = nullptr;
  // Come out, in rows `stride` apart, of stages 1, ..., s - 1, or of the last one only:
  double* rows = nullptr;
  bool all_rows = false;
  int stride = 0;
  bool made = false;      // stages, x1 and errors
  bool finished = false;  // and end, rates_at_end
  StageLoop::Errors errors{};
  std::vector<double> x1, last_stage, end, rates_at_end;  // the last with the multipliers; padded

  /// Takes this step, if it has been made.
  bool take(double from, double length, const Tolerance& wanted);
};

}  // namespace hinge
