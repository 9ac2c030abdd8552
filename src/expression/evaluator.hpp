// Numbers from expressions: many outputs in one pass, without allocation.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// Computes a fixed list of outputs from blocks of inputs. Immutable, so threads may share it; what changes lives in
/// the caller's scratch array.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// A scratch array, ready for evaluate().
  virtual std::vector<double> make_scratch() const = 0;
  /// `inputs[k]` points at the values of block k (null allowed for a block that no output depends on).
  virtual void evaluate(const double* const* inputs, double* scratch) const = 0;
  /// Where in the scratch array the outputs stand after evaluate(), one after the other.
  virtual std::size_t first_output() const = 0;
  virtual std::size_t output_count() const = 0;
  /// The same, with the outputs copied to an array of the caller's.
  void evaluate(const double* const* inputs, double* scratch, double* outputs) const {
    evaluate(inputs, scratch);
    std::copy_n(scratch + first_output(), output_count(), outputs);
  }

  /// Evaluation at several points in one pass over the instructions: `lanes` of them, at most most_lanes. The inputs of
  /// lane l are inputs[l][k], its outputs go to outputs[l]. The scratch array is one of make_scratch(lanes).
  static constexpr int most_lanes = 7;
  virtual std::vector<double> make_scratch(int lanes) const = 0;
  virtual void evaluate(int lanes, const double* const* const* inputs, double* scratch,
                        double* const* outputs) const = 0;
};

/// An interpreter over one flat instruction tape. Shared sub-expressions are computed once, what no output needs is
/// not computed, and slots of the scratch array are reused, so that it stays in the cache. Throws InputError when an
/// output depends on a variable that is in no block.
std::unique_ptr<Evaluator> make_tape(const Graph& graph, std::span<const std::vector<Node>> input_blocks,
                                     std::span<const Node> outputs);

}  // namespace hinge
