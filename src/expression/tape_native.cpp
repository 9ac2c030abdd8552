// The steps of a tape as machine code, in one pass.
//
// Values live in registers xmm0 to xmm13; xmm14 and xmm15 are for the moment. Which value leaves when all are taken:
// the one that is needed last. It is written to the scratch array only if it is not there yet, and read again from
// there. Inputs are read from the caller's blocks, constants from the scratch array. Calls of sin and the like keep no
// register, so what is needed later is written before. Nothing is contracted or reordered: each operation rounds as it
// does in the tape, in which a sum of products adds them one after the other.
//
// Steps that come again with all places moved on (tape_loops.hpp) are written once, between values in memory: places
// that move on have pointers of their own.
//
// For four points at once the same instructions are written for all lanes of ymm registers. Each lane has the numbers
// that it has alone; functions are called for one lane after the other, from memory to memory.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "expression/native.hpp"
#include "expression/native_calls.hpp"
#include "expression/native_values.hpp"
#include "expression/table.hpp"
#include "expression/x86_code.hpp"

namespace hinge {

namespace {

using x86::Bits;
using x86::Compare;
using x86::Memory;
using x86::Scalar;

bool calls(int kind) { return called_function(kind, 1) != nullptr; }

class Compiler : NativeValues {
 public:
  Compiler(const Graph& graph, const TapePlan& plan, std::span<const Node> outputs, NativeFunction& function, int lanes,
           std::vector<TapeLoop> loops)
      : NativeValues(plan, function, lanes, operands_written(plan, loops)),
        graph_(graph),
        outputs_(outputs),
        lanes_(lanes),
        loops_(std::move(loops)) {}

  void compile() {
    if (!fits()) return;
    look_ahead();
    const std::size_t entry = begin();
    auto loop = loops_.begin();
    for (std::int32_t k = 0; k < std::ssize(plan_.steps);) {
      if (loop != loops_.end() && loop->first == k) {
        repeat(*loop);
        k = (loop++)->end();
      } else {
        begin_step();
        step(plan_.steps[at(k++)]);
      }
      if (code_.size() > most_bytes) return;
    }
    copy_outputs();
    end();
    function_.code = NativeCode::make(code_.data(), code_.size(), entry);
  }

 private:
  // Code that has to come from memory each time is no faster than a tape, which repeats itself and is short.
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  // Offsets in memory have 31 bits.
  bool fits() const {
    constexpr std::int64_t most = std::int64_t{1} << 25;
    return function_.scratch + static_cast<std::int64_t>(plan_.steps.size()) < most;
  }

  static std::size_t operands_written(const TapePlan& plan, const std::vector<TapeLoop>& loops) {
    std::size_t count = plan.operands.size();
    for (const TapeLoop& loop : loops)
      for (std::int32_t k = loop.first + loop.period; k < loop.end(); ++k) count -= at(plan.steps[at(k)].count);
    return count;
  }

  // When each value is needed next, from every place where it is needed; and whether there are calls.
  void look_ahead() {
    for (std::size_t k = plan_.steps.size(); k-- > 0;) {
      const TapePlan::Step& s = plan_.steps[k];
      has_calls_ = has_calls_ || calls(s.kind);
      const std::int32_t count = s.kind == TapePlan::sine_and_cosine ? 1 : s.count;
      for (std::int32_t o = s.first + count - 1; o >= s.first; --o) {
        const Node operand = plan_.operands[at(o)];
        if (operand == TapePlan::nothing) continue;
        const Node n = operand < 0 ? ~operand : operand;
        occurrence_[at(o)] = next_[at(n)];
        next_[at(n)] = static_cast<std::int32_t>(k);
      }
    }
  }

  // ------------------------------------------------------------------------------------------------ the frame

  std::size_t begin() {
    // signs, everything but signs, and 1; after them the function
    for (const std::uint64_t word :
         {std::uint64_t{1} << 63, ~(std::uint64_t{1} << 63), std::bit_cast<std::uint64_t>(1.0)})
      for (int k = 0; k < 4; ++k) code_.append(k < lanes_ ? word : 0);
    const std::size_t entry = code_.size();
    code_.entry();
    using namespace x86;
    static constexpr std::array<std::uint8_t, 7> without_calls{rax, rcx, rdx, r8, r9, r10, r11};
    static constexpr std::array<std::uint8_t, 4> with_calls{rbp, r12, r13, r14};  // these are kept by calls
    std::span<const std::uint8_t> pointers = without_calls;
    const auto blocks =
        std::count_if(function_.blocks.begin(), function_.blocks.end(), [](const auto& b) { return b.used; });
    if (blocks > std::ssize(pointers)) pointers = pointers.subspan(1);  // rax is for those that have no register
    if (has_calls_) {
      for (const int r : saved) code_.push(r);
      code_.lower_stack();
      scratch_ = rbx;
      inputs_ = r15;
      code_.copy_pointer(rbx, rsi);
      code_.copy_pointer(r15, rdi);
      pointers = with_calls;
    }
    if (!loops_.empty())
      for (const int r : saved) code_.push(r);
    block_pointer_.assign(function_.blocks.size(), none);
    std::size_t taken = 0;
    for (std::size_t k = 0; k < function_.blocks.size() && taken < pointers.size(); ++k) {
      if (!function_.blocks[k].used) continue;
      block_pointer_[k] = pointers[taken++];
      code_.load_pointer(block_pointer_[k], {inputs_, static_cast<std::int32_t>(8 * k)});
    }
    return entry;
  }

  void end() {
    if (has_calls_) code_.raise_stack();
    if (has_calls_ || !loops_.empty())
      for (auto r = saved.rbegin(); r != saved.rend(); ++r) code_.pop(*r);
    if (lanes_ > 1) code_.clear_upper_halves();
    code_.leave();
    function_.scratch = spill_end_;
  }

  void repeat(const TapeLoop& loop) {
    const std::size_t round = begin_rounds(loop);
    for (std::int32_t k = loop.first; k < loop.first + loop.period; ++k) {
      begin_step();
      step(plan_.steps[at(k)]);
    }
    end_round(loop, round);
  }

  void copy_outputs() {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const std::int32_t to = function_.first_output + static_cast<std::int32_t>(k);
      if (graph_.is_constant(outputs_[k]) || function_.slots[at(outputs_[k])] == to) continue;
      code_.load(spare, memory_of(outputs_[k]));
      code_.store(in_scratch(to), spare);
    }
  }

  // --------------------------------------------------------------------------------------------- operations

  static constexpr Memory signs{0, 0, true}, magnitude{0, 32, true}, one{0, 64, true};

  void step(const TapePlan::Step& s) {
    if (s.kind == TapePlan::sum) return sum(s);
    if (calls(s.kind)) return call(s);
    switch (static_cast<Op>(s.kind)) {
      case Op::add: return binary(s, Scalar::add, true);
      case Op::subtract: return binary(s, Scalar::subtract, false);
      case Op::multiply: return binary(s, Scalar::multiply, true);
      case Op::divide: return binary(s, Scalar::divide, false);
      default: return other(s);
    }
  }

  void binary(const TapePlan::Step& s, Scalar op, bool commutes) {
    Operand a = operand(s, 0), b = operand(s, 1);
    if (commutes && register_[at(a.node)] < 0 && register_[at(b.node)] >= 0) std::swap(a, b);
    const int left = fetch(a);
    with(b, [&](auto right) {
      used(a);
      used(b);
      code_.scalar(op, allocate(s.result), left, right);
    });
    finish(s.result);
  }

  void sum(const TapePlan::Step& s) {
    int total = -1, left = -1;
    const Operand first = operand(s, 0);
    const bool starts_with_product = plan_.operands[at(s.first + 1)] != TapePlan::nothing;
    if (starts_with_product) {
      product(operand(s, 0), operand(s, 1), [&] { return left = total = allocate(s.result); });
    } else {
      left = fetch(first);
      next_[at(first.node)] = occurrence_[at(first.occurrence)];
    }
    for (std::int32_t k = 2; k < s.count; k += 2) {
      pinned_ = 1u << left;
      const Scalar op = plan_.operands[at(s.first + k)] < 0 ? Scalar::subtract : Scalar::add;
      const Operand a = operand(s, k), b = operand(s, k + 1);
      const auto add = [&](auto right) {
        if (total < 0) {  // the first term was no product: its register is ours only if nobody needs it any more
          if (next_[at(first.node)] == never && register_[at(first.node)] >= 0) forget(first.node);
          total = allocate(s.result);
        }
        code_.scalar(op, total, left, right);
        left = total;
      };
      if (b.node != TapePlan::nothing) {
        product(a, b, [] { return other_spare; });
        add(static_cast<int>(other_spare));
      } else {
        with(a, [&](auto right) {
          used(a);
          add(right);
        });
      }
    }
    finish(s.result);
  }

  template <class Place>
  void product(Operand a, Operand b, Place&& place) {
    if (register_[at(a.node)] < 0 && register_[at(b.node)] >= 0) std::swap(a, b);
    const int left = fetch(a);
    with(b, [&](auto right) {
      used(a);
      used(b);
      code_.scalar(Scalar::multiply, place(), left, right);
    });
  }

  // Operations without arithmetic: signs, comparisons, choices.
  void other(const TapePlan::Step& s) {
    std::array<Operand, 3> operands{};
    std::array<int, 3> r{};
    for (std::int32_t k = 0; k < s.count; ++k) {
      operands[at(k)] = operand(s, k);
      r[at(k)] = fetch(operands[at(k)]);
    }
    const int result = prepare(static_cast<Op>(s.kind), r);
    for (std::int32_t k = 0; k < s.count; ++k) used(operands[at(k)]);
    const int to = allocate(s.result);
    switch (static_cast<Op>(s.kind)) {
      case Op::negate: code_.bits(Bits::xor_, to, r[0], signs); break;
      case Op::abs: code_.bits(Bits::and_, to, r[0], magnitude); break;
      case Op::sqrt: code_.scalar(Scalar::sqrt, to, r[0], r[0]); break;
      case Op::sign: code_.blend(to, r[0], result, other_spare); break;
      case Op::min:
      case Op::max: code_.blend(to, result, r[1], other_spare); break;
      case Op::select: code_.blend(to, r[2], r[1], other_spare); break;
      default: code_.bits(Bits::and_, to, result, one); break;  // a condition: 1 or 0
    }
    finish(s.result);
  }

  // What takes more than one instruction, up to the last one. The result's register may be one of r: it is not written.
  int prepare(Op op, const std::array<int, 3>& r) {
    const auto zero = [this](int in) { code_.bits(Bits::xor_, in, in, in); };
    switch (op) {
      case Op::less: code_.compare(Compare::less, spare, r[0], r[1]); break;
      case Op::less_equal: code_.compare(Compare::less_equal, spare, r[0], r[1]); break;
      case Op::equal: code_.compare(Compare::equal, spare, r[0], r[1]); break;
      case Op::not_equal: code_.compare(Compare::not_equal_or_nan, spare, r[0], r[1]); break;
      case Op::logical_not:
        zero(spare);
        code_.compare(Compare::equal, spare, r[0], spare);
        break;
      case Op::logical_and:
      case Op::logical_or:
        zero(spare);
        code_.compare(Compare::not_equal_or_nan, other_spare, r[0], spare);
        code_.compare(Compare::not_equal_or_nan, spare, r[1], spare);
        code_.bits(op == Op::logical_and ? Bits::and_ : Bits::or_, spare, spare, other_spare);
        break;
      case Op::select:
        zero(other_spare);
        code_.compare(Compare::not_equal_or_nan, other_spare, r[0], other_spare);
        break;
      case Op::sign:  // 1 with the sign of what is not zero
        zero(spare);
        code_.compare(Compare::not_equal, other_spare, r[0], spare);
        code_.bits(Bits::and_, spare, r[0], signs);
        code_.bits(Bits::or_, spare, spare, one);
        break;
      case Op::min:  // the second operand if it is smaller or no number; the instruction alone forgets the latter
      case Op::max:
        code_.scalar(op == Op::min ? Scalar::min : Scalar::max, spare, r[1], r[0]);
        code_.compare(Compare::unordered, other_spare, r[1], r[1]);
        break;
      default: break;
    }
    return spare;
  }

  void call_four(const TapePlan::Step& s) {
    const bool pair = s.kind == TapePlan::sine_and_cosine, table = s.kind == kind_of(Op::table);
    const std::int32_t arguments = pair ? 1 : s.count;
    for (std::int32_t k = 0; k < arguments; ++k)
      if (const Operand o = operand(s, k); register_[at(o.node)] >= 0) write(o.node);
    std::array<Node, 2> from{};
    for (std::int32_t k = 0; k < arguments; ++k) {
      from[at(k)] = operand(s, k).node;
      used(operand(s, k));
    }
    keep_all();
    std::array<Node, 2> results{s.result, pair ? plan_.operands[at(s.first + 1)] : no_node};
    int next = 0;
    constexpr std::array<int, 4> places{x86::rdi, x86::rsi, x86::rdx, x86::rcx};
    for (const Node n : results)
      if (n != no_node) {
        give_slot(n);
        code_.address(places[at(next++)], in_scratch(function_.slots[at(n)]));
      }
    for (std::int32_t k = 0; k < arguments; ++k) code_.address(places[at(next++)], memory_of(from[at(k)]));
    if (table) {
      function_.tables = true;
      code_.set_pointer(places[at(next)], graph_.table(graph_[s.result]).get());
    }
    code_.clear_upper_halves();
    code_.call(called_function(s.kind, lanes_));
    for (const Node n : results)
      if (n != no_node && next_[at(n)] == never) forget(n);
  }

  void call(const TapePlan::Step& s) {
    if (lanes_ > 1) return call_four(s);
    const bool pair = s.kind == TapePlan::sine_and_cosine;
    const std::int32_t arguments = pair ? 1 : s.count;
    for (std::int32_t k = 0; k < arguments; ++k) {
      const Operand o = operand(s, k);
      const int to = k == 0 ? spare : other_spare;
      if (const int r = register_[at(o.node)]; r >= 0)
        code_.move(to, r);
      else
        code_.load(to, memory_of(o.node));
    }
    for (std::int32_t k = 0; k < arguments; ++k) used(operand(s, k));
    keep_all();
    code_.move(0, spare);
    if (arguments > 1) code_.move(1, other_spare);
    if (pair) {
      const Node cosine = plan_.operands[at(s.first + 1)];
      give_slot(s.result);
      give_slot(cosine);
      code_.address(x86::rdi, in_scratch(function_.slots[at(s.result)]));
      code_.address(x86::rsi, in_scratch(function_.slots[at(cosine)]));
      code_.call(called_function(s.kind, 1));
      for (const Node n : {s.result, cosine})
        if (next_[at(n)] == never) forget(n);
      return;
    }
    if (s.kind == kind_of(Op::table)) {
      function_.tables = true;
      code_.set_pointer(x86::rdi, graph_.table(graph_[s.result]).get());
    }
    code_.call(called_function(s.kind, 1));
    owner_[0] = s.result;
    register_[at(s.result)] = 0;
    finish(s.result);
  }

  const Graph& graph_;
  std::span<const Node> outputs_;
  int lanes_;
  std::vector<TapeLoop> loops_;
  bool has_calls_ = false;
};

}  // namespace

void NativeFunction::compile(const Graph& graph, const TapePlan& plan, std::span<const Node> outputs,
                             const TapePlaces& places, int lanes) {
  blocks = places.blocks;
  slots = places.slot;
  inputs = places.inputs;
  first_output = places.first_output;
  scratch = places.slots;
  const auto stays = [](const TapePlan::Step& s) { return !calls(s.kind); };  // so pointers stay in their registers
  std::vector<TapeLoop> loops;
  if (lanes == 1 && blocks.size() <= 6 && std::all_of(plan.steps.begin(), plan.steps.end(), stays))
    loops = find_loops(plan, {blocks, inputs, slots, scratch});
  Compiler(graph, plan, outputs, *this, lanes, std::move(loops)).compile();
  slots = {};
}

}  // namespace hinge
