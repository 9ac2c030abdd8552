// The interpreter: expression graph -> flat tape of instructions on numbered slots.
//
// Slots: first the inputs, then the constants, then temporaries. A temporary's slot is free again after its last
// use, and the order of computation follows the outputs depth first, the neediest operand before the others, so few
// are alive at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "expression/evaluator.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

// s[result] = s[a] op s[b]; the third operand of a select follows in an instruction of its own.
struct Instruction {
  std::int32_t result, a, b;
  bool operator==(const Instruction&) const = default;
};

// Consecutive instructions of one kind: either read from the tape, or, where slots go up in equal steps as they do in
// families of constraints, told by the first instruction and the step alone.
struct Run {
  Op op;
  std::int32_t count;
  bool strided = false;
  Instruction first{}, step{};
};

template <class Operation>
void execute(const Run& run, const Instruction*& i, double* s, Operation&& operation) {
  if (!run.strided) {
    for (const Instruction* const end = i + run.count; i != end; ++i) s[i->result] = operation(s[i->a], s[i->b]);
    return;
  }
  const auto [dr, da, db] = run.step;
  double* r = s + run.first.result;
  const double *a = s + run.first.a, *b = s + run.first.b;
  if (dr == 1 && da == 1 && db == 1) {
    for (std::int32_t k = 0; k < run.count; ++k) r[k] = operation(a[k], b[k]);
    return;
  }
  for (std::int32_t k = 0; k < run.count; ++k, r += dr, a += da, b += db) *r = operation(*a, *b);
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

  std::size_t operations() const override { return operations_; }
  std::size_t first_output() const override { return static_cast<std::size_t>(first_output_); }
  std::size_t output_count() const override { return output_count_; }

  void evaluate(const double* const* inputs, double* s) const override {
    for (std::size_t k = 0; k < blocks_.size(); ++k)
      if (blocks_[k].used && inputs[k])
        std::memcpy(s + blocks_[k].first, inputs[k], static_cast<std::size_t>(blocks_[k].size) * sizeof(double));
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
          for (const Instruction* const end = i + run.count; i != end; i += 2)
            s[i->result] = s[i->a] != 0 ? s[i->b] : s[i[1].a];
          break;
        default: execute(run, i, s, [op = run.op](double a, double b) { return apply_op(op, a, b); }); break;
      }
    }
    for (const Copy& copy : copies_)
      std::memcpy(s + copy.to, s + copy.from, static_cast<std::size_t>(copy.count) * sizeof(double));
  }

 private:
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
    constexpr std::size_t window = 4096, kinds = static_cast<std::size_t>(Op::select) + 1;
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

  void assign_slots(const Graph& graph, const std::vector<Node>& order) {
    const std::int32_t first_temporary = slots_;
    std::vector<std::int32_t> free;
    tape_.reserve(order.size());
    for (const Node n : order) {
      const Graph::Entry& e = graph[n];
      const Node operands[] = {e.a, e.b, e.c};
      std::int32_t source[] = {0, 0, 0};
      const int count = arity(e.op);
      for (int k = 0; k < count; ++k) source[k] = slot_[static_cast<std::size_t>(operands[k])];
      for (int k = 0; k < count; ++k)
        if (--uses_[static_cast<std::size_t>(operands[k])] == 0 && source[k] >= first_temporary)
          free.push_back(source[k]);
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
      ++runs_.back().count;
      if (e.op == Op::select) {
        tape_.push_back({result, source[2], 0});
        ++runs_.back().count;
      }
      ++operations_;
    }
  }

  // Replaces stretches of the tape whose slots go up in equal steps by strided runs.
  void compress() {
    constexpr std::size_t worth_it = 8;
    std::vector<Instruction> literal;
    std::vector<Run> runs;
    const auto difference = [](const Instruction& x, const Instruction& y) {
      return Instruction{y.result - x.result, y.a - x.a, y.b - x.b};
    };
    std::size_t i = 0;
    for (const Run& run : runs_) {
      const std::size_t end = i + static_cast<std::size_t>(run.count);
      while (i < end) {
        std::size_t next = i + 1;
        if (run.op != Op::select && next < end) {
          const Instruction step = difference(tape_[i], tape_[next]);
          while (next + 1 < end && difference(tape_[next], tape_[next + 1]) == step) ++next;
          ++next;
          if (next - i >= worth_it) {
            runs.push_back({run.op, static_cast<std::int32_t>(next - i), true, tape_[i], step});
            i = next;
            continue;
          }
          next = i + 1;
        }
        if (runs.empty() || runs.back().strided || runs.back().op != run.op) runs.push_back({run.op, 0});
        ++runs.back().count;
        literal.push_back(tape_[i]);
        i = next;
      }
    }
    literal.shrink_to_fit();
    tape_ = std::move(literal);
    runs_ = std::move(runs);
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
