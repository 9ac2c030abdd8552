// One function of several blocks of numbers, with its scratch array and its outputs; the last output is 1 where the
// others are to be used.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/native.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class CompiledFunction {
 public:
  CompiledFunction() = default;
  CompiledFunction(const Graph& graph, std::span<const std::vector<Node>> blocks, std::vector<Node> outputs,
                   Node settled)
      : CompiledFunction(made_of(graph, blocks, std::move(outputs), settled)) {}
  explicit CompiledFunction(FunctionMade made)
      : function_(std::move(made.evaluator)),
        code_(native_code_of(*function_)),
        lanes_(std::move(made.lanes)),
        scratch_(std::move(made.scratch)) {
    output_ = scratch_.data() + function_->first_output();
    settled_ = output_ + function_->output_count() - 1;
  }
  explicit operator bool() const { return function_ != nullptr; }

  /// No block may be null.
  bool operator()(const double* const* inputs) {
    if (code_)
      (*code_)(inputs, scratch_.data());
    else
      function_->evaluate(inputs, scratch_.data());
    return *settled_ == 1.0;
  }
  const double* output() const { return output_; }
  /// Where outputs stand in a scratch array, and the last of them.
  int first_output() const { return static_cast<int>(function_->first_output()); }
  int settled() const { return static_cast<int>(settled_ - scratch_.data()); }
  /// For calls of the code itself.
  std::vector<double> make_scratch() const { return scratch_; }
  const NativeCode* code() const { return code_; }
  /// Code for several at once, whose constants stand where they do here; null where there is none.
  const std::shared_ptr<LaneCode>& lanes() const { return lanes_; }
  const std::vector<double>& scratch() const { return scratch_; }

 private:
  static FunctionMade made_of(const Graph& graph, std::span<const std::vector<Node>> blocks, std::vector<Node> outputs,
                              Node settled) {
    outputs.push_back(settled);
    FunctionMade made{make_tape(graph, blocks, outputs), {}};
    made.scratch = made.evaluator->make_scratch();
    return made;
  }

  std::shared_ptr<const Evaluator> function_;
  const NativeCode* code_ = nullptr;
  std::shared_ptr<LaneCode> lanes_;
  std::vector<double> scratch_;
  const double *output_ = nullptr, *settled_ = nullptr;
};

}  // namespace hinge
