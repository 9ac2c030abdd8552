// The interpreter: expression graph -> flat tape of instructions on numbered slots.
//
// Slots: first the inputs, then the constants, then temporaries. A temporary's slot is free again after its last
// use, and the order of computation follows the outputs depth first, the neediest operand before the others, so few
// are alive at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "expression/evaluator.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

// s[result] = s[a] op s[b]; the third operand of a select follows in an instruction of its own.
struct Instruction {
  std::int32_t result, a, b;
};

// Instructions are ordered within windows of this many: their temporaries fit into the fastest cache.
constexpr std::size_t window = 4096;

// Consecutive instructions of one kind. Families of constraints make the same few instructions come back with all slots
// moved on by the same step: such a run has its first period on the tape, and is repeated from there.
struct Run {
  Op op;
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

template <class Operation>
void execute(const Run& run, const Instruction*& i, double* s, Operation&& operation) {
  const Instruction* const first = i;
  i += run.period;
  double* r = s;
  const double *a = s, *b = s;
  for (std::int32_t k = 0; k < run.repeats; ++k) {
    for (const Instruction* now = first; now != i; ++now) r[now->result] = operation(a[now->a], b[now->b]);
    r += run.step.result;
    a += run.step.a;
    b += run.step.b;
  }
}

// The same for L points at once: the numbers of a slot stand side by side.
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
  Tape(const Graph& graph, std::span<const std::vector<Node>> blocks, std::span<const Node> outputs) {
    slot_.assign(static_cast<std::size_t>(graph.size()), -1);
    for (const auto& block : blocks) {
      blocks_.push_back({slots_, static_cast<std::int32_t>(block.size()), false});
      for (const Node node : block) slot_[static_cast<std::size_t>(node)] = slots_++;
    }
    inputs_ = slots_;
    std::vector<Node> order = schedule(graph, outputs);
    group_equal_operations(graph, order);
    note_used_blocks();
    // An output that is computed is computed into its place; inputs and repeated outputs are copied there.
    first_output_ = slots_;
    output_count_ = outputs.size();
    slots_ += static_cast<std::int32_t>(outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      std::int32_t& slot = slot_[static_cast<std::size_t>(outputs[k])];
      if (slot < 0) slot = first_output_ + static_cast<std::int32_t>(k);
    }
    assign_slots(graph, order);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::int32_t from = slot_[static_cast<std::size_t>(outputs[k])],
                         to = first_output_ + static_cast<std::int32_t>(k);
      if (graph.is_constant(outputs[k]))
        constant_outputs_.push_back({from, to, 1});
      else if (from != to && !copies_.empty() && copies_.back().continued_by(from, to))
        ++copies_.back().count;
      else if (from != to)
        copies_.push_back({from, to, 1});
    }
    compress();
    slot_ = {};
    uses_ = {};
  }

  std::vector<double> make_scratch() const override {
    std::vector<double> scratch(static_cast<std::size_t>(slots_), 0.0);
    for (std::size_t k = 0; k < constants_.size(); ++k) scratch[static_cast<std::size_t>(inputs_) + k] = constants_[k];
    for (const Copy& copy : constant_outputs_)
      scratch[static_cast<std::size_t>(copy.to)] = scratch[static_cast<std::size_t>(copy.from)];
    return scratch;
  }

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

  std::size_t operations() const override { return operations_; }
  std::size_t first_output() const override { return static_cast<std::size_t>(first_output_); }
  std::size_t output_count() const override { return output_count_; }

  void evaluate(const double* const* inputs, double* s) const override {
    for (std::size_t k = 0; k < blocks_.size(); ++k)
      if (blocks_[k].used && inputs[k]) copy(inputs[k], blocks_[k].size, s + blocks_[k].first);
    const Instruction* i = tape_.data();
    for (const Run& run : runs_) {
      switch (run.op) {
        case Op::add: execute(run, i, s, [](double a, double b) { return a + b; }); break;
        case Op::subtract: execute(run, i, s, [](double a, double b) { return a - b; }); break;
        case Op::multiply: execute(run, i, s, [](double a, double b) { return a * b; }); break;
        case Op::divide: execute(run, i, s, [](double a, double b) { return a / b; }); break;
        case Op::negate: execute(run, i, s, [](double a, double) { return -a; }); break;
        case Op::sqrt: execute(run, i, s, [](double a, double) { return std::sqrt(a); }); break;
        case Op::select:
          for (const Instruction* const end = i + run.period; i != end; i += 2)
            s[i->result] = s[i->a] != 0 ? s[i->b] : s[i[1].a];
          break;
        default: execute(run, i, s, [op = run.op](double a, double b) { return apply_op(op, a, b); }); break;
      }
    }
    for (const Copy& c : copies_) copy(s + c.from, c.count, s + c.to);
  }

 private:
  template <int L>
  void evaluate_lanes(const double* const* const* inputs, double* s, double* const* outputs) const {
    for (std::size_t k = 0; k < blocks_.size(); ++k)
      for (int l = 0; blocks_[k].used && l < L; ++l)
        for (std::int32_t i = 0; inputs[l][k] && i < blocks_[k].size; ++i)
          s[L * (blocks_[k].first + i) + l] = inputs[l][k][i];
    const Instruction* i = tape_.data();
    for (const Run& run : runs_) {
      switch (run.op) {
        case Op::add: execute<L>(run, i, s, [](double a, double b) { return a + b; }); break;
        case Op::subtract: execute<L>(run, i, s, [](double a, double b) { return a - b; }); break;
        case Op::multiply: execute<L>(run, i, s, [](double a, double b) { return a * b; }); break;
        case Op::divide: execute<L>(run, i, s, [](double a, double b) { return a / b; }); break;
        case Op::negate: execute<L>(run, i, s, [](double a, double) { return -a; }); break;
        case Op::sqrt: execute<L>(run, i, s, [](double a, double) { return std::sqrt(a); }); break;
        case Op::select:
          for (const Instruction* const end = i + run.period; i != end; i += 2)
            for (int l = 0; l < L; ++l)
              s[L * i->result + l] = s[L * i->a + l] != 0 ? s[L * i->b + l] : s[L * i[1].a + l];
          break;
        default: execute<L>(run, i, s, [op = run.op](double a, double b) { return apply_op(op, a, b); }); break;
      }
    }
    for (const Copy& copy : copies_)
      std::memcpy(s + L * copy.to, s + L * copy.from, static_cast<std::size_t>(L * copy.count) * sizeof(double));
    for (int l = 0; l < L; ++l)
      for (std::size_t k = 0; k < output_count_; ++k)
        outputs[l][k] = s[static_cast<std::size_t>(L) * (static_cast<std::size_t>(first_output_) + k) +
                          static_cast<std::size_t>(l)];
  }

  struct Block {
    std::int32_t first, size;
    bool used;
  };

  // Operands of an operation, the one that needs most slots first.
  static std::array<Node, 3> neediest_first(const Graph::Entry& e, const std::vector<std::int32_t>& need) {
    std::array<Node, 3> operands{e.a, e.b, e.c};
    const auto order = [&](Node& x, Node& y) {
      if (need[static_cast<std::size_t>(x)] < need[static_cast<std::size_t>(y)]) std::swap(x, y);
    };
    if (arity(e.op) > 1) order(operands[0], operands[1]);
    if (arity(e.op) > 2) {
      order(operands[1], operands[2]);
      order(operands[0], operands[1]);
    }
    return operands;
  }

  // Equal operations one after the other are one loop instead of a decision each, which the processor would guess
  // wrong more often than not. Within windows of the order, whatever is ready and of the most frequent kind goes first.
  static void group_equal_operations(const Graph& graph, std::vector<Node>& order) {
    constexpr std::size_t kinds = static_cast<std::size_t>(Op::select) + 1;
    std::vector<std::int32_t> place(static_cast<std::size_t>(graph.size()), -1);
    std::vector<Node> members;
    std::vector<std::int32_t> waits;                           // operands still to come from this window
    std::vector<std::pair<std::int32_t, std::int32_t>> users;  // operand, user: places in the window
    std::array<std::vector<std::int32_t>, kinds> ready;
    for (std::size_t first = 0; first < order.size(); first += window) {
      const std::size_t count = std::min(window, order.size() - first);
      members.assign(order.begin() + static_cast<std::ptrdiff_t>(first),
                     order.begin() + static_cast<std::ptrdiff_t>(first + count));
      for (std::size_t k = 0; k < count; ++k)
        place[static_cast<std::size_t>(members[k])] = static_cast<std::int32_t>(k);
      waits.assign(count, 0);
      users.clear();
      for (std::size_t k = 0; k < count; ++k) {
        const Graph::Entry& e = graph[members[k]];
        const Node operands[] = {e.a, e.b, e.c};
        for (int j = 0; j < arity(e.op); ++j)
          if (const std::int32_t at = place[static_cast<std::size_t>(operands[j])]; at >= 0) {
            ++waits[k];
            users.emplace_back(at, static_cast<std::int32_t>(k));
          }
        if (waits[k] == 0) ready[static_cast<std::size_t>(e.op)].push_back(static_cast<std::int32_t>(k));
      }
      std::sort(users.begin(), users.end());
      for (std::size_t done = 0; done < count;) {
        auto& now = *std::max_element(ready.begin(), ready.end(),
                                      [](const auto& x, const auto& y) { return x.size() < y.size(); });
        for (std::size_t next = 0; next < now.size(); ++next, ++done) {  // `now` may grow on the way
          const std::int32_t k = now[next];
          order[first + done] = members[static_cast<std::size_t>(k)];
          for (auto u = std::lower_bound(users.begin(), users.end(), std::pair(k, std::int32_t{0}));
               u != users.end() && u->first == k; ++u)
            if (--waits[static_cast<std::size_t>(u->second)] == 0)
              ready[static_cast<std::size_t>(graph[members[static_cast<std::size_t>(u->second)]].op)].push_back(
                  u->second);
        }
        now.clear();
      }
      for (const Node n : members) place[static_cast<std::size_t>(n)] = -1;
    }
  }

  // How many temporaries each operation needs if no sub-expression is shared: while an operand is computed, those
  // before it occupy a slot each.
  static std::vector<std::int32_t> slots_needed(const Graph& graph) {
    std::vector<std::int32_t> need(static_cast<std::size_t>(graph.size()), 0);
    for (Node n = 0; n < graph.size(); ++n) {
      const Graph::Entry& e = graph[n];
      const auto operands = neediest_first(e, need);
      std::int32_t own = arity(e.op) > 0 ? 1 : 0;
      for (int k = 0; k < arity(e.op); ++k)
        own = std::max(own, need[static_cast<std::size_t>(operands[static_cast<std::size_t>(k)])] + k);
      need[static_cast<std::size_t>(n)] = own;
    }
    return need;
  }

  // Depth-first order of all operations below the outputs, and how often each node is used.
  std::vector<Node> schedule(const Graph& graph, std::span<const Node> outputs) {
    enum : char { fresh, open, done };
    std::vector<char> state(static_cast<std::size_t>(graph.size()), fresh);
    uses_.assign(static_cast<std::size_t>(graph.size()), 0);
    const std::vector<std::int32_t> need = slots_needed(graph);
    std::vector<Node> order, stack;
    for (const Node output : outputs) {
      ++uses_[static_cast<std::size_t>(output)];  // never released: the value is read at the end
      stack.push_back(output);
      while (!stack.empty()) {
        const Node n = stack.back();
        char& status = state[static_cast<std::size_t>(n)];
        const Graph::Entry& e = graph[n];
        const int count = arity(e.op);
        if (status == fresh && count > 0) {
          status = open;
          const auto operands = neediest_first(e, need);
          for (int k = count - 1; k >= 0; --k) {  // the last one pushed is computed first
            const auto operand = operands[static_cast<std::size_t>(k)];
            ++uses_[static_cast<std::size_t>(operand)];
            if (state[static_cast<std::size_t>(operand)] == fresh) stack.push_back(operand);
          }
          continue;
        }
        stack.pop_back();
        if (status == done) continue;
        status = done;
        if (count > 0) order.push_back(n);
        if (e.op == Op::variable && slot_[static_cast<std::size_t>(n)] < 0)
          throw InputError(fmt::format("'{}' is not a variable of this system", graph.variable_name(e.a)));
        if (e.op == Op::constant) {
          slot_[static_cast<std::size_t>(n)] = slots_++;
          constants_.push_back(e.value);
        }
      }
    }
    return order;
  }

  void note_used_blocks() {
    for (std::size_t n = 0; n < slot_.size(); ++n)
      if (slot_[n] >= 0 && slot_[n] < inputs_ && uses_[n] > 0)
        for (Block& block : blocks_)
          if (slot_[n] >= block.first && slot_[n] < block.first + block.size) block.used = true;
  }

  // Temporaries take the lowest free slots in ascending order, and what a window releases is free for the next one
  // only: so equal pieces of a window get slots that differ by equal steps, which compress() looks for.
  void assign_slots(const Graph& graph, const std::vector<Node>& order) {
    const std::int32_t first_temporary = slots_;
    std::vector<std::int32_t> free, released;
    tape_.reserve(order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
      if (position % window == 0) {
        free.insert(free.end(), released.begin(), released.end());
        released.clear();
        std::sort(free.begin(), free.end(), std::greater<>());
      }
      const Node n = order[position];
      const Graph::Entry& e = graph[n];
      const Node operands[] = {e.a, e.b, e.c};
      std::int32_t source[] = {0, 0, 0};
      const int count = arity(e.op);
      for (int k = 0; k < count; ++k) source[k] = slot_[static_cast<std::size_t>(operands[k])];
      for (int k = 0; k < count; ++k)
        if (--uses_[static_cast<std::size_t>(operands[k])] == 0 && source[k] >= first_temporary)
          released.push_back(source[k]);
      std::int32_t result = slot_[static_cast<std::size_t>(n)];
      if (result >= 0) {
        // an output: its place is settled, and kept by the use that was counted for it
      } else if (free.empty()) {
        result = slots_;
        ++slots_;
      } else {
        result = free.back();
        free.pop_back();
      }
      slot_[static_cast<std::size_t>(n)] = result;
      if (runs_.empty() || runs_.back().op != e.op) runs_.push_back({e.op, 0});
      tape_.push_back({result, source[0], source[1]});
      ++runs_.back().period;
      if (e.op == Op::select) {
        tape_.push_back({result, source[2], 0});
        ++runs_.back().period;
      }
      ++operations_;
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
            run.op == Op::select ? std::pair<std::size_t, std::size_t>(1, 1) : repetition(i, end);
        if (repeats > 1) {
          const Instruction &x = tape_[i], &y = tape_[i + period];
          runs.push_back({run.op,
                          static_cast<std::int32_t>(period),
                          static_cast<std::int32_t>(repeats),
                          {y.result - x.result, y.a - x.a, y.b - x.b}});
        } else {
          if (runs.empty() || runs.back().repeats > 1 || runs.back().op != run.op) runs.push_back({run.op, 0});
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

  std::vector<Block> blocks_;
  std::vector<double> constants_;
  std::vector<Instruction> tape_;
  std::vector<Run> runs_;
  struct Copy {
    std::int32_t from, to, count;
    // also when the ranges touch nothing of each other: inputs come before outputs, outputs before later outputs
    bool continued_by(std::int32_t f, std::int32_t t) const { return f == from + count && t == to + count && f < to; }
  };
  std::vector<Copy> copies_, constant_outputs_;
  std::size_t operations_ = 0, output_count_ = 0;
  std::int32_t inputs_ = 0, slots_ = 0, first_output_ = 0;
  std::vector<std::int32_t> slot_, uses_;  // by node, while building
};

}  // namespace

std::unique_ptr<Evaluator> make_tape(const Graph& graph, std::span<const std::vector<Node>> input_blocks,
                                     std::span<const Node> outputs) {
  return std::make_unique<Tape>(graph, input_blocks, outputs);
}

}  // namespace hinge
