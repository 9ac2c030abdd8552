#include "expression/tape_loops.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr std::size_t many_steps = 2048;  // more than the cache for instructions has room for
constexpr std::int32_t longest_period = 512, fewest_repeats = 8, shortest = 128;
constexpr std::int32_t near_by = 256;  // steps: what was computed so shortly before is told apart by how many
constexpr int context = 16;            // steps that are compared to guess a period
constexpr std::int32_t long_enough = 24;
constexpr std::size_t most_pointers = 6;

class LoopFinder {
 public:
  LoopFinder(const TapePlan& plan, const LoopPlaces& places)
      : plan_(plan),
        places_(places),
        step_of_(places.slot.size(), -1),
        last_use_(plan.steps.size(), -1),
        shape_(plan.steps.size()) {
    for (std::int32_t k = 0; k < count(); ++k) {
      plan_.for_each_operand(step(k), [&](Node n) {
        if (const std::int32_t from = step_of_[at(n)]; from >= 0) last_use_[at(from)] = k;
      });
      shape_[at(k)] = shape_of(k);
      step_of_[at(step(k).result)] = k;
    }
  }

  // A period is guessed from where the same few steps stood before.
  std::vector<TapeLoop> find() {
    std::vector<TapeLoop> loops;
    std::vector<std::int32_t> seen(std::bit_ceil(at(count())), -1);
    std::uint64_t ending = 0, oldest = 1;  // sum of shape[k - i] weight^i
    for (int i = 0; i < context; ++i) oldest *= weight;
    std::int32_t begin = 0, summed = 0;
    for (std::int32_t k = 0; k < count(); ++k) {
      for (; summed <= k; ++summed)
        ending = ending * weight + shape_[at(summed)] - (summed < context ? 0 : oldest * shape_[at(summed - context)]);
      std::int32_t& place = seen[ending >> 20 & (seen.size() - 1)];
      const std::int32_t before = std::exchange(place, k), period = k - before;
      if (before < begin + context - 1 || period > longest_period) continue;
      const std::int32_t from = before - context + 1;
      std::int32_t to = from + period;
      while (to < count() && shape_[at(to)] == shape_[at(to - period)]) ++to;
      if (!worth_it(period, (to - from) / period)) continue;
      if (auto loop = loop_within(from, to, period)) {
        k = loop->end() - 1;
        loops.push_back(std::move(*loop));
      } else {
        k = to - 1;
      }
      begin = k + 1;
    }
    return loops;
  }

 private:
  std::int32_t count() const { return static_cast<std::int32_t>(plan_.steps.size()); }
  const TapePlan::Step& step(std::int32_t k) const { return plan_.steps[at(k)]; }
  std::int32_t slot(Node n) const { return places_.slot[at(n)]; }
  static bool worth_it(std::int32_t period, std::int32_t repeats) {
    return repeats >= fewest_repeats && period * repeats >= shortest;
  }
  static constexpr std::uint64_t weight = 0x9E3779B97F4A7C15ull;
  static std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
    h = (h ^ x) * weight;
    return h ^ (h >> 29);
  }

  // What is computed, and of what kind are its operands?
  std::uint64_t shape_of(std::int32_t k) const {
    enum : std::uint64_t { nothing, in_memory, held, computed };
    const TapePlan::Step& s = step(k);
    std::uint64_t shape = mix(static_cast<std::uint64_t>(s.kind), static_cast<std::uint64_t>(s.count));
    shape = mix(shape, slot(s.result) >= 0 ? 1u : 0u);
    for (std::int32_t o = s.first; o < s.first + s.count; ++o) {
      const Node operand = plan_.operands[at(o)];
      if (operand == TapePlan::nothing) {
        shape = mix(shape, nothing);
        continue;
      }
      const Node n = operand < 0 ? ~operand : operand;
      const std::int32_t from = step_of_[at(n)];
      const std::uint64_t sign = operand < 0 ? 1u : 0u;
      if (from >= 0 && k - from < near_by)
        shape = mix(shape, computed + 4 * static_cast<std::uint64_t>(k - from) + (sign << 32));
      else
        shape = mix(shape, (slot(n) >= 0 ? in_memory : held + 4 * static_cast<std::uint64_t>(n)) + (sign << 40));
    }
    return shape;
  }

  // Some periods at once where they are short: going round takes time, too. Or as many as it takes, where a period is
  // made of equal steps. From the second round on where the first one reads what was computed in another way.
  std::optional<TapeLoop> loop_within(std::int32_t from, std::int32_t to, std::int32_t shortest_period) {
    for (const std::int32_t times :
         {(long_enough + shortest_period - 1) / shortest_period, 1, 2, 3, 4, 5, 6, 8, 9, 12}) {
      const std::int32_t period = times * shortest_period;
      for (const std::int32_t first : {from, from + period})
        if (period <= longest_period && worth_it(period, (to - first) / period))
          if (auto loop = loop_at({first, period, (to - first) / period, {}})) return loop;
    }
    return std::nullopt;
  }

  std::optional<TapeLoop> loop_at(TapeLoop loop) {
    const std::vector<Node> given = give_slots(loop);
    if (moves_on(loop) && worth_it(loop.period, loop.repeats) && stays_in_blocks(loop)) return loop;
    for (const Node n : given) places_.slot[at(n)] = -1;
    if (!given.empty()) places_.slots -= static_cast<std::int32_t>(given.size());
    return std::nullopt;
  }

  // Slots side by side, round after round, for what is needed outside of its round.
  std::vector<Node> give_slots(const TapeLoop& loop) {
    std::vector<std::int32_t> kept;
    for (std::int32_t j = 0; j < loop.period; ++j)
      for (std::int32_t r = 0; r < loop.repeats; ++r) {
        const std::int32_t k = loop.first + r * loop.period + j, end = loop.first + (r + 1) * loop.period;
        if (slot(step(k).result) >= 0 || last_use_[at(k)] < end) continue;
        kept.push_back(j);
        break;
      }
    std::vector<Node> given;
    for (std::int32_t r = 0; r < loop.repeats; ++r)
      for (const std::int32_t j : kept) {
        const Node n = step(loop.first + r * loop.period + j).result;
        if (slot(n) >= 0) continue;  // an output: rounds differ, which is found out
        places_.slot[at(n)] = places_.slots++;
        given.push_back(n);
      }
    return given;
  }

  // Does all that it reads and writes move on by equal distances? Takes as many rounds as do.
  bool moves_on(TapeLoop& loop) const {
    std::vector<TapeLoop::Moving> moving;
    for (std::int32_t r = 1; r < loop.repeats; ++r) {
      std::size_t next = 0;
      const auto move = [&](Node n0, Node n) {
        if (slot(n0) < 0) return n == n0;
        if (slot(n) < 0) return false;
        if (r == 1) moving.push_back({n0, slot(n) - slot(n0)});
        return slot(n) == slot(n0) + r * moving[next++].stride;
      };
      bool right = true;
      for (std::int32_t j = 0; j < loop.period && right; ++j) right = round_follows(loop, r, j, move);
      if (right) continue;
      loop.repeats = r;
      break;
    }
    if (loop.repeats < 2) return false;
    std::sort(moving.begin(), moving.end(),
              [](const auto& x, const auto& y) { return x.node != y.node ? x.node < y.node : x.stride < y.stride; });
    for (const TapeLoop::Moving& m : moving) {
      if (!loop.moving.empty() && loop.moving.back().node == m.node) {
        if (loop.moving.back().stride != m.stride) return false;  // one number in the first round, two in others
        continue;
      }
      loop.moving.push_back(m);
    }
    std::erase_if(loop.moving, [](const TapeLoop::Moving& m) { return m.stride == 0; });
    return true;
  }

  template <class Move>
  bool round_follows(const TapeLoop& loop, std::int32_t r, std::int32_t j, Move&& move) const {
    const std::int32_t start = loop.first + r * loop.period;
    const TapePlan::Step &s0 = step(loop.first + j), &s = step(start + j);
    if (s.kind != s0.kind || s.count != s0.count) return false;
    for (std::int32_t o = 0; o < s.count; ++o) {
      const Node a0 = plan_.operands[at(s0.first + o)], a = plan_.operands[at(s.first + o)];
      if (a0 == TapePlan::nothing || a == TapePlan::nothing) {
        if (a0 != a) return false;
        continue;
      }
      if ((a0 < 0) != (a < 0)) return false;
      const Node n0 = a0 < 0 ? ~a0 : a0, n = a < 0 ? ~a : a;
      const std::int32_t from0 = step_of_[at(n0)], from = step_of_[at(n)];
      const bool inside = from0 >= loop.first && from0 < loop.first + loop.period;
      if (inside ? from - start != from0 - loop.first : from >= start || !move(n0, n)) return false;
    }
    if ((slot(s0.result) < 0) != (slot(s.result) < 0)) return false;
    return slot(s0.result) < 0 || move(s0.result, s.result);
  }

  // No family goes on from one block of inputs in another one, or has more strides than there are pointers.
  bool stays_in_blocks(const TapeLoop& loop) const {
    const auto block_of = [&](std::int32_t slot) {
      std::size_t k = 0;
      while (k < places_.blocks.size() &&
             (slot < places_.blocks[k].first || slot >= places_.blocks[k].first + places_.blocks[k].size))
        ++k;
      return k;
    };
    std::vector<std::pair<std::size_t, std::int32_t>> pointers;
    for (const TapeLoop::Moving& m : loop.moving) {
      const std::int32_t begin = slot(m.node), end = begin + (loop.repeats - 1) * m.stride;
      if (block_of(begin) != block_of(end)) return false;
      const std::pair pointer(block_of(begin), m.stride);
      if (std::find(pointers.begin(), pointers.end(), pointer) == pointers.end()) pointers.push_back(pointer);
    }
    return pointers.size() <= most_pointers;
  }

  const TapePlan& plan_;
  LoopPlaces places_;
  std::vector<std::int32_t> step_of_;   // of each node; -1: it is not computed
  std::vector<std::int32_t> last_use_;  // of what each step computes
  std::vector<std::uint64_t> shape_;
};

}  // namespace

std::vector<TapeLoop> find_loops(const TapePlan& plan, const LoopPlaces& places) {
  if (plan.steps.size() < many_steps) return {};
  return LoopFinder(plan, places).find();
}

}  // namespace hinge
