// The interpreter: expression graph -> flat tape of instructions on numbered slots.
//
// Slots: first the inputs, then the constants, then temporaries. A temporary's slot is free again after its last
// use. What is computed, and in which order: tape_plan.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "expression/evaluator.hpp"
#include "expression/native.hpp"
#include "expression/native_library.hpp"
#include "expression/table.hpp"
#include "expression/tape_places.hpp"
#include "expression/tape_plan.hpp"

namespace hinge {

namespace {

// s[result] = s[a] op s[b]; the third operand of a select follows in an instruction of its own. A sum is (result,
// number of terms, -) followed by its terms (0 or 1: added or subtracted, a, b); sine and cosine are (sine, argument,
// cosine); a table (result, argument, which table).
struct Instruction {
  std::int32_t result, a, b;
};

constexpr std::array<double, 2> signs{1.0, -1.0};

// Consecutive instructions of one kind. Families of constraints make the same few instructions come back with all slots
// moved on by the same step: such a run has its first period on the tape, and is repeated from there.
struct Run {
  int kind;
  std::int32_t period;  // instructions on the tape
  std::int32_t repeats = 1;
  Instruction step{};
};

// Blocks of mechanisms are so short that a call would take longer than the copying. In pairs, lest the compiler make a
// call of it again.
inline void copy(const double* from, std::int32_t count, double* to) {
  if (count > 32) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
    return;
  }
  std::int32_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const double first = from[i], second = from[i + 1];
    to[i] = first;
    to[i + 1] = second;
  }
  if (i < count) to[i] = from[i];
}

// For L points at once: the numbers of a slot stand side by side.
template <int L, class Operation>
void execute(const Run& run, const Instruction*& i, double* s, Operation&& operation) {
  const Instruction* const first = i;
  i += run.period;
  double* r = s;
  const double *a = s, *b = s;
  for (std::int32_t k = 0; k < run.repeats; ++k) {
    for (const Instruction* now = first; now != i; ++now) {
      const double *x = a + L * now->a, *y = b + L * now->b;
      // all lanes are read before one is written: a slot may be operand and result
      double result[static_cast<std::size_t>(L)];
      for (int l = 0; l < L; ++l) result[l] = operation(x[l], y[l]);
      double* to = r + L * now->result;
      for (int l = 0; l < L; ++l) to[l] = result[l];
    }
    r += L * run.step.result;
    a += L * run.step.a;
    b += L * run.step.b;
  }
}

class Tape final : public Evaluator {
 public:
  Tape(const Graph& graph, std::span<const std::vector<Node>> blocks, std::span<const Node> outputs, TapePlan plan)
      : places_(graph, blocks, outputs, plan) {
    slots_ = places_.slots;
    assign_slots(graph, plan);
    places_.find_copies(graph, outputs);
    compress();
    places_.slot = {};
  }

  std::vector<double> make_scratch() const override { return places_.make_scratch(slots_); }

  std::vector<double> make_scratch(int lanes) const override {
    const std::vector<double> one = make_scratch();
    std::vector<double> scratch;
    scratch.reserve(one.size() * static_cast<std::size_t>(lanes));
    for (const double x : one) scratch.insert(scratch.end(), static_cast<std::size_t>(lanes), x);
    return scratch;
  }

  void evaluate(int lanes, const double* const* const* inputs, double* scratch, double* const* outputs) const override {
    switch (lanes) {
      case 1: evaluate_lanes<1>(inputs, scratch, outputs); break;
      case 2: evaluate_lanes<2>(inputs, scratch, outputs); break;
      case 3: evaluate_lanes<3>(inputs, scratch, outputs); break;
      case 4: evaluate_lanes<4>(inputs, scratch, outputs); break;
      case 5: evaluate_lanes<5>(inputs, scratch, outputs); break;
      case 6: evaluate_lanes<6>(inputs, scratch, outputs); break;
      default: evaluate_lanes<7>(inputs, scratch, outputs); break;
    }
  }

  std::size_t first_output() const override { return static_cast<std::size_t>(places_.first_output); }
  std::size_t output_count() const override { return places_.output_count; }

  void evaluate(const double* const* inputs, double* s) const override {
    for (std::size_t k = 0; k < places_.blocks.size(); ++k)
      if (places_.blocks[k].used && inputs[k]) copy(inputs[k], places_.blocks[k].size, s + places_.blocks[k].first);
    execute_all<1>(s);
    for (const TapePlaces::Copy& c : places_.copies) copy(s + c.from, c.count, s + c.to);
  }

 private:
  template <int L>
  void evaluate_lanes(const double* const* const* inputs, double* s, double* const* outputs) const {
    for (std::size_t k = 0; k < places_.blocks.size(); ++k)
      for (int l = 0; places_.blocks[k].used && l < L; ++l)
        for (std::int32_t i = 0; inputs[l][k] && i < places_.blocks[k].size; ++i)
          s[L * (places_.blocks[k].first + i) + l] = inputs[l][k][i];
    execute_all<L>(s);
    for (const TapePlaces::Copy& copy : places_.copies)
      std::memcpy(s + L * copy.to, s + L * copy.from, static_cast<std::size_t>(L * copy.count) * sizeof(double));
    for (int l = 0; l < L; ++l)
      for (std::size_t k = 0; k < places_.output_count; ++k)
        outputs[l][k] = s[static_cast<std::size_t>(L) * (static_cast<std::size_t>(places_.first_output) + k) +
                          static_cast<std::size_t>(l)];
  }

  template <int L>
  void execute_all(double* s) const {
    const Instruction* i = tape_.data();
    for (const Run& run : runs_) {
      switch (run.kind) {
        case kind_of(Op::add): execute<L>(run, i, s, [](double a, double b) { return a + b; }); break;
        case kind_of(Op::subtract): execute<L>(run, i, s, [](double a, double b) { return a - b; }); break;
        case kind_of(Op::multiply): execute<L>(run, i, s, [](double a, double b) { return a * b; }); break;
        case kind_of(Op::divide): execute<L>(run, i, s, [](double a, double b) { return a / b; }); break;
        case kind_of(Op::negate): execute<L>(run, i, s, [](double a, double) { return -a; }); break;
        case kind_of(Op::sqrt): execute<L>(run, i, s, [](double a, double) { return std::sqrt(a); }); break;
        case kind_of(Op::select):
          for (const Instruction* const end = i + run.period; i != end; i += 2)
            for (int l = 0; l < L; ++l)
              s[L * i->result + l] = s[L * i->a + l] != 0 ? s[L * i->b + l] : s[L * i[1].a + l];
          break;
        case kind_of(Op::table):
          for (const Instruction* const end = i + run.period; i != end; ++i)
            for (int l = 0; l < L; ++l)
              s[L * i->result + l] = (*tables_[static_cast<std::size_t>(i->b)])(s[L * i->a + l]);
          break;
        case TapePlan::sum:
          for (const Instruction* const end = i + run.period; i != end;) {
            const Instruction* const last = i + i->a;
            double* to = s + L * i->result;
            ++i;
            double sum[static_cast<std::size_t>(L)];
            for (int l = 0; l < L; ++l) sum[l] = s[L * i->a + l] * s[L * i->b + l];
            do {
              ++i;
              const double sign = signs[static_cast<std::size_t>(i->result)];
              for (int l = 0; l < L; ++l) sum[l] += sign * (s[L * i->a + l] * s[L * i->b + l]);
            } while (i != last);
            ++i;
            for (int l = 0; l < L; ++l) to[l] = sum[l];
          }
          break;
        case TapePlan::sine_and_cosine:
          for (const Instruction* const end = i + run.period; i != end; ++i)
            for (int l = 0; l < L; ++l) {
              const double angle = s[L * i->a + l];
              s[L * i->result + l] = std::sin(angle);
              s[L * i->b + l] = std::cos(angle);
            }
          break;
        default:
          execute<L>(run, i, s, [op = static_cast<Op>(run.kind)](double a, double b) { return apply_op(op, a, b); });
          break;
      }
    }
  }

  // Temporaries take the lowest free slots in ascending order, and what a window releases is free for the next one
  // only: so equal pieces of a window get slots that differ by equal steps, which compress() looks for.
  void assign_slots(const Graph& graph, TapePlan& plan) {
    const std::int32_t first_temporary = slots_;
    std::vector<std::int32_t> free, released;
    const auto slot = [this](Node n) -> std::int32_t& { return places_.slot[static_cast<std::size_t>(n)]; };
    const auto place_result = [&](Node n) {
      if (slot(n) >= 0) return;  // an output: its place is settled, and kept by the use that was counted for it
      if (free.empty()) {
        slot(n) = slots_++;
        return;
      }
      slot(n) = free.back();
      free.pop_back();
    };
    tape_.reserve(plan.steps.size());
    for (std::size_t position = 0; position < plan.steps.size(); ++position) {
      if (position % TapePlan::window == 0) {
        free.insert(free.end(), released.begin(), released.end());
        released.clear();
        std::sort(free.begin(), free.end(), std::greater<>());
      }
      const TapePlan::Step& step = plan.steps[position];
      plan.for_each_operand(step, [&](Node n) {
        if (--plan.uses[static_cast<std::size_t>(n)] == 0 && slot(n) >= first_temporary) released.push_back(slot(n));
      });
      place_result(step.result);
      const Node* operand = plan.operands.data() + step.first;
      if (step.kind == TapePlan::sine_and_cosine) place_result(operand[1]);
      const std::int32_t result = slot(step.result);
      const std::size_t before = tape_.size();
      if (step.kind == TapePlan::sum) {
        tape_.push_back({result, step.count / 2, 0});
        for (std::int32_t k = 0; k < step.count; k += 2) {
          const Node a = operand[k], b = operand[k + 1];
          tape_.push_back({a < 0 ? 1 : 0, slot(a < 0 ? ~a : a), b == TapePlan::nothing ? places_.one : slot(b)});
        }
      } else if (step.kind == kind_of(Op::table)) {
        tape_.push_back({result, slot(operand[0]), static_cast<std::int32_t>(tables_.size())});
        tables_.push_back(graph.table(graph[step.result]));
      } else {
        tape_.push_back({result, slot(operand[0]), step.count > 1 ? slot(operand[1]) : 0});
        if (step.count > 2) tape_.push_back({result, slot(operand[2]), 0});
      }
      if (runs_.empty() || runs_.back().kind != step.kind) runs_.push_back({step.kind, 0});
      runs_.back().period += static_cast<std::int32_t>(tape_.size() - before);
    }
  }

  // Finds repetitions in the tape and keeps one period of each.
  void compress() {
    std::vector<Instruction> kept;
    std::vector<Run> runs;
    std::size_t i = 0;
    for (const Run& run : runs_) {
      const std::size_t end = i + static_cast<std::size_t>(run.period);
      while (i < end) {
        const auto [period, repeats] =
            run.kind >= kind_of(Op::select) ? std::pair<std::size_t, std::size_t>(1, 1) : repetition(i, end);
        if (repeats > 1) {
          const Instruction &x = tape_[i], &y = tape_[i + period];
          runs.push_back({run.kind,
                          static_cast<std::int32_t>(period),
                          static_cast<std::int32_t>(repeats),
                          {y.result - x.result, y.a - x.a, y.b - x.b}});
        } else {
          if (runs.empty() || runs.back().repeats > 1 || runs.back().kind != run.kind) runs.push_back({run.kind, 0});
          ++runs.back().period;
        }
        kept.insert(kept.end(), tape_.begin() + static_cast<std::ptrdiff_t>(i),
                    tape_.begin() + static_cast<std::ptrdiff_t>(i + period));
        i += period * repeats;
      }
    }
    kept.shrink_to_fit();
    tape_ = std::move(kept);
    runs_ = std::move(runs);
  }

  // The longest repetition that starts at instruction `first`: its period and how often it comes, or (1, 1).
  std::pair<std::size_t, std::size_t> repetition(std::size_t first, std::size_t end) const {
    constexpr std::size_t longest_period = 24, worth_it = 12;
    std::pair<std::size_t, std::size_t> best{1, 1};
    for (std::size_t period = 1; period <= longest_period && first + 2 * period <= end; ++period) {
      const Instruction &x = tape_[first], &y = tape_[first + period];
      const Instruction step{y.result - x.result, y.a - x.a, y.b - x.b};
      std::size_t at = first + period;
      while (at < end && tape_[at].result - tape_[at - period].result == step.result &&
             tape_[at].a - tape_[at - period].a == step.a && tape_[at].b - tape_[at - period].b == step.b)
        ++at;
      const std::size_t repeats = (at - first) / period;
      if (repeats > 2 && repeats * period >= worth_it && repeats * period > best.first * best.second)
        best = {period, repeats};
      if (best.second > 8 * period) break;  // long enough; a multiple of its period would find the same
    }
    return best;
  }

  TapePlaces places_;  // `slot` while building only
  std::vector<Instruction> tape_;
  std::vector<Run> runs_;
  std::vector<std::shared_ptr<const Table>> tables_;
  std::int32_t slots_ = 0;
};

}  // namespace

std::unique_ptr<Evaluator> make_tape(const Graph& graph, std::span<const std::vector<Node>> input_blocks,
                                     std::span<const Node> outputs) {
  const NativeUse use = native_use();
  const auto tape = [&] {
    return std::make_unique<Tape>(graph, input_blocks, outputs, TapePlan(graph, outputs, TapePlan::Order::by_kind));
  };
  if (use == NativeUse::off) return tape();
  const auto key = use == NativeUse::on ? NativeLibrary::key(graph, input_blocks, outputs) : std::nullopt;
  if (key)
    if (auto known = NativeLibrary::find(*key, graph)) return known;
  const TapePlan plan(graph, outputs, TapePlan::Order::as_found);
  TapePlaces places(graph, input_blocks, outputs, plan);
  NativeFunction native;
  native.compile(graph, plan, outputs, places);
  if (!native.code) return tape();
  places.find_copies(graph, outputs);
  native.constants = std::make_shared<const std::vector<TapePlaces::ConstantPlace>>(places.constant_places());
  if (key) NativeLibrary::keep(*key, native, places);
  return with_native_code(std::move(native), places.make_scratch(native.scratch), outputs.size(),
                          use == NativeUse::check ? tape() : nullptr);
}

}  // namespace hinge
