// Machine code as an evaluator. A tape is made beside it for comparison only.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "expression/native.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

class NativeEvaluator final : public Evaluator {
 public:
  NativeEvaluator(NativeFunction native, std::vector<double> scratch, std::size_t outputs)
      : native_(std::move(native)), scratch_(std::move(scratch)), outputs_(outputs) {
    for (std::size_t k = 0; k < native_.blocks.size(); ++k)
      if (native_.blocks[k].used) used_.push_back(k);
  }

  std::vector<double> make_scratch() const override { return scratch_; }
  void evaluate(const double* const* inputs, double* scratch) const override {
    for (const std::size_t k : used_)
      if (!inputs[k]) return evaluate_with_zeros(inputs, scratch);
    (*native_.code)(inputs, scratch);
  }
  std::size_t first_output() const override { return static_cast<std::size_t>(native_.first_output); }
  std::size_t output_count() const override { return outputs_; }

  // One after the other: code has no instructions to decode for which points could share the cost.
  std::vector<double> make_scratch(int) const override { return make_scratch(); }
  void evaluate(int lanes, const double* const* const* inputs, double* scratch, double* const* outputs) const override {
    for (int l = 0; l < lanes; ++l) Evaluator::evaluate(inputs[l], scratch, outputs[l]);
  }

  const NativeCode& code() const { return *native_.code; }
  const NativeFunction& native() const { return native_; }

  // Both at points of which some have zeros of both signs, infinite numbers, huge ones and none.
  void compare(const Evaluator& tape) const {
    std::mt19937_64 random(1);
    std::vector<std::vector<double>> blocks;
    std::vector<const double*> inputs;
    for (const TapePlaces::Block& block : native_.blocks) {
      blocks.emplace_back(static_cast<std::size_t>(block.size));
      inputs.push_back(blocks.back().data());
    }
    std::vector<double> by_tape = tape.make_scratch(), by_code = make_scratch();
    for (int point = 0; point < 12; ++point) {
      for (auto& block : blocks)
        for (double& x : block) x = draw(random, point);
      tape.evaluate(inputs.data(), by_tape.data());
      evaluate(inputs.data(), by_code.data());
      for (std::size_t k = 0; k < outputs_; ++k) {
        const double a = by_tape[first_output() + k], b = by_code[first_output() + k];
        const bool same =
            std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
        if (!same)
          throw Error(fmt::format(
              "machine code and tape differ: {:.17g} and {:.17g}, number {} of {}; this is a bug. HINGE_NATIVE=0 does "
              "without machine code",
              b, a, k + 1, outputs_));
      }
    }
  }

 private:
  // Blocks that are left out are zeros: the slots of inputs in the scratch array, which code leaves alone.
  void evaluate_with_zeros(const double* const* inputs, double* scratch) const {
    std::array<const double*, most_blocks> all{};
    if (native_.blocks.size() > all.size()) throw Error("too many blocks of inputs for one of them to be left out");
    for (std::size_t k = 0; k < native_.blocks.size(); ++k)
      all[k] = inputs[k] ? inputs[k] : scratch + native_.blocks[k].first;
    (*native_.code)(all.data(), scratch);
  }

  static double draw(std::mt19937_64& random, int point) {
    const double x = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-62;  // -2 to 2
    if (point < 6) return x;
    if (point < 8) return std::ldexp(x, static_cast<int>(random() % 41) - 20);
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double special[] = {0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e300, -1e300, 1e-310, 0.5, 2.0};
    return random() % 3 == 0 ? special[random() % (point < 10 ? 4 : std::size(special))] : x;
  }

  static constexpr std::size_t most_blocks = 16;
  NativeFunction native_;
  std::vector<double> scratch_;  // as it is at first
  std::size_t outputs_;
  std::vector<std::size_t> used_;  // blocks
};

}  // namespace

const NativeCode* native_code_of(const Evaluator& evaluator) {
  const auto* native = dynamic_cast<const NativeEvaluator*>(&evaluator);
  return native ? &native->code() : nullptr;
}

const std::vector<TapePlaces::ConstantPlace>* constants_in_code(const Evaluator& evaluator) {
  const auto* native = dynamic_cast<const NativeEvaluator*>(&evaluator);
  return native && !native->native().tables ? native->native().constants.get() : nullptr;
}

std::unique_ptr<Evaluator> with_native_code(NativeFunction native, std::vector<double> scratch, std::size_t outputs,
                                            const std::unique_ptr<Evaluator>& tape) {
  auto code = std::make_unique<NativeEvaluator>(std::move(native), std::move(scratch), outputs);
  if (tape) code->compare(*tape);
  return code;
}

}  // namespace hinge
