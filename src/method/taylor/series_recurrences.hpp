// The recurrences of series_program.hpp, written once for whatever carries them out: a machine that computes
// (series_numbers.hpp) or one that writes machine code (series_code.cpp). So both do the same in the same order.
//
// A machine has values, which are used once, and
//   add, subtract, times(value, value), times(value, number), divide, root, number
//   zero(slot)                 the coefficient of order zero
//   at(slot, order), put       in the first stages: a coefficient, in its place
//   read(operand), set         later: a coefficient of the stage or of an earlier one
//   coefficient(slot, place)   of an order, or of one counted from the stage
//   block_sum                  of products of what was known before the block of stages (series_blocks.hpp)
//   scale, rate                s / m and m / s
// and so on, see below; and the same for four operations at once, with four numbers for one.
//
// After the first stages an operation finds the coefficients of its own stage beside it:
//   (a b)_m = sum_(0<i<m) a_i b_(m-i) + a_0 b_m + a_m b_0
#pragma once

#include <array>
#include <span>
#include <utility>

#include "method/taylor/series_blocks.hpp"

namespace hinge {

template <class Machine>
class SeriesRecurrences {
  using P = SeriesProgram;
  using Value = typename Machine::Value;
  using Lanes = typename Machine::Lanes;

 public:
  SeriesRecurrences(const SeriesProgram& program, Machine& machine) : p_(program), m_(machine) {}

  // ---- the first stages, up to stage 1 ------------------------------------------------------------------------------

  void first_stage(int stage) {
    if (stage > 0)
      for (const auto& x : p_.unknowns) m_.put(x.slot, stage + x.order, m_.number(0));
    for (std::size_t k = 0; k < p_.operations.size(); ++k) first(k, stage);
    for (std::size_t i = 0; i < p_.equations.size(); ++i) {
      const auto& [slot, level, where] = p_.equations[i];
      m_.set_right(
          i, stage + level < 0 ? m_.number(0) : m_.times(m_.at(slot, stage + level), m_.row(Row::minus_over, level)));
    }
  }
  void first_completion(int stage) {
    complete(stage, [&](int slot, int level, bool, Value change) {
      const int m = stage + level;
      if (m < 0) return m_.drop(change);
      m_.put(slot, m, m_.add(m_.at(slot, m), m_.times(change, m_.row(Row::factor, level))));
    });
  }
  void weigh() {
    for (std::size_t k = 0; k < p_.parts.size(); ++k) {
      const P::Part& part = p_.parts[k];
      switch (part.kind) {
        case P::Weight::number: break;
        case P::Weight::times: m_.set_weight(k, m_.times(m_.zero(part.slot), part.factor)); break;
        case P::Weight::over: m_.set_weight(k, m_.divide(m_.number(1), m_.zero(part.slot))); break;
        case P::Weight::minus_ratio:
          m_.set_weight(k, m_.divide(m_.times(m_.zero(part.slot), -1.0), m_.zero(part.other)));
          break;
        case P::Weight::half_over: m_.set_weight(k, m_.divide(m_.number(0.5), m_.zero(part.slot))); break;
        case P::Weight::state: m_.set_weight(k, m_.state(part.slot, part.other)); break;
      }
    }
  }

  // ---- the later ones -----------------------------------------------------------------------------------------------

  // Before a block of stages.
  void block() {
    for (const P::Step& step : p_.steps) {
      if (step.four >= 0) {
        m_.block_of_fours(step, *this);
        continue;
      }
      const P::Operation& op = p_.operations[static_cast<std::size_t>(step.operation)];
      for_each_sum(op,
                   [&](auto products, int level, int, std::size_t sums) { m_.make_block_sum(products, level, sums); });
    }
  }
  void block_of_four(int four) {
    for_each_sum(operation(p_.fours[static_cast<std::size_t>(four)], 0),
                 [&](auto products, int level, int number, std::size_t) {
                   m_.make_block_sum_of_four(four, number, products, level);
                 });
  }
  // All operations, and -F of the equations, in units of derivatives.
  void later_stage() {
    for (const P::Step& step : p_.steps) {
      if (step.four >= 0)
        m_.fours(step, *this);
      else if (const P::Operation& op = p_.operations[static_cast<std::size_t>(step.operation)]; !op.nothing)
        m_.set(op.result, later(op));
    }
    for (std::size_t i = 0; i < p_.equations.size(); ++i)
      m_.set_right(i, m_.times(m_.read(p_.equations[i]), m_.row(Row::minus_over, p_.equations[i].level)));
    for (const auto& [slot, level] : p_.closed) m_.keep(slot, level, m_.newest(slot));
  }
  void one_four(int four) {
    const P::Four& f = p_.fours[static_cast<std::size_t>(four)];
    m_.set_four(four, operation(f, 0).level, later_four(f, four));
  }
  void later_completion() {
    complete(0, [&](int slot, int level, bool nothing, Value change) {
      Value value = m_.times(change, m_.row(Row::factor, level));
      if (!nothing) value = m_.add(value, m_.newest(slot));
      m_.keep(slot, level, value);
    });
  }

  /// Numbers of a stage for each level: k! s^l / (k+l)!, -1 over that, s/m and (m+1)/s with m = k + l.
  enum class Row { factor, minus_over, scale, rate };
  /// An order, counted from that of the stage where it is `ahead`.
  struct Order {
    int order;
    bool ahead;
  };

 private:
  template <class V>
  struct SumOf {  // whose first term is not added to zero
    Machine& m;
    bool empty = true;
    V value{};
    void add(V x, double factor) {
      if (empty)
        value = m.times(x, factor);
      else if (factor == -1)
        value = m.subtract(value, x);
      else
        value = m.add(value, m.times(x, factor));
      empty = false;
    }
  };
  struct Sum : SumOf<Value> {
    Value get() const { return this->empty ? this->m.number(0) : this->value; }
  };

  Value first_product(int a, int b, int from, int to, int m) {
    Sum sum{{m_}};
    for (int i = from; i <= to; ++i) sum.add(m_.times(m_.at(a, i), m_.at(b, m - i)), 1);
    return sum.get();
  }
  Value first_terms(const P::Operation& op, int m, double constant) {
    Sum sum{{m_}};
    if (constant != 0) sum.add(m_.number(constant), 1);
    for (int l = op.linear; l < op.linear_end; ++l) sum.add(m_.at(linear(l).a.slot, m), linear(l).factor);
    for (int g = op.groups; g < op.groups_end; ++g) {
      Sum group{{m_}};
      for (const P::Product& p : products(g)) group.add(first_product(p.a.slot, p.b.slot, 0, m, m), p.minus ? -1 : 1);
      sum.add(group.get(), factor(g));
    }
    return sum.get();
  }
  void first(std::size_t k, int stage) {
    const P::Operation& op = p_.operations[k];
    const int m = stage + op.level;
    if (m < 0) return;
    if (op.nothing && stage > 0 && m > 0) return m_.put(op.result, m, m_.number(0));
    switch (op.kind) {
      case P::Kind::sum: m_.put(op.result, m, first_terms(op, m, m == 0 ? op.constant : 0.0)); break;
      case P::Kind::integral:
        if (m > 0)
          m_.put(op.result, m, m_.times(first_terms(op, m - 1, 0), m_.row(Row::scale, op.level)));
        else if (op.has_value)
          m_.put(op.result, 0, m_.function(op.function, op.a.slot, op.b.slot));
        break;
      case P::Kind::derivative:
        m_.put(op.result, m, m_.times(m_.at(op.a.slot, m + 1), m_.row(Row::rate, op.level)));
        break;
      case P::Kind::quotient:
        if (m == 0) {
          m_.set_state(op.state, 0, m_.divide(m_.number(1), m_.zero(op.b.slot)));
          m_.put(op.result, 0, m_.divide(m_.zero(op.a.slot), m_.zero(op.b.slot)));
        } else {
          m_.put(op.result, m,
                 m_.times(m_.subtract(m_.at(op.a.slot, m), first_product(op.result, op.b.slot, 0, m - 1, m)),
                          m_.state(op.state, 0)));
        }
        break;
      case P::Kind::root:
        if (m == 0) {
          m_.put(op.result, 0, m_.root(m_.zero(op.a.slot)));
          m_.set_state(op.state, 0, m_.divide(m_.number(0.5), m_.zero(op.result)));
        } else if (m == 1) {
          m_.put(op.result, m, m_.times(m_.at(op.a.slot, m), m_.state(op.state, 0)));
        } else {
          m_.put(op.result, m,
                 m_.times(m_.subtract(m_.at(op.a.slot, m), first_product(op.result, op.result, 1, m - 1, m)),
                          m_.state(op.state, 0)));
        }
        break;
      default: m_.first_choice(k, m);
    }
  }

  // Sums of products of an operation: their level, their number in it, and where the sums of a block stand.
  template <class Visit>
  void for_each_sum(const P::Operation& op, Visit&& visit) const {
    for (int g = op.groups; g < op.groups_end; ++g)
      visit(products(g), op.level - (op.kind == P::Kind::integral ? 1 : 0), g - op.groups,
            m_.layout().sums_of_group(g));
    if (op.kind != P::Kind::quotient && op.kind != P::Kind::root) return;
    const P::Product inner = inner_product(op);
    visit(std::span<const P::Product>(&inner, 1), op.level, 0, m_.layout().sums_of_state(op.state));
  }
  // b r or r r, without the coefficient of r that is computed
  static P::Product inner_product(const P::Operation& op) {
    const P::Operand r{op.result, op.level, P::Where::stage};
    return {false, r, op.kind == P::Kind::quotient ? op.b : r};
  }
  // What a stage adds to the sum of its block; before the first block, all.
  template <class Visit>
  void for_each_product(const P::Product& p, int level, Visit&& visit) const {
    if (m_.position() >= 0) {
      for (const auto& [high, low, high_is_a] : SeriesBlocks::fresh(p_, p, level, m_.position()))
        high_is_a ? visit(Order{high, true}, Order{low, false}, SeriesBlocks::square(p))
                  : visit(Order{low, false}, Order{high, true}, false);
      return;
    }
    const int m = m_.stage() + level;
    const auto [first, last] = SeriesBlocks::direct(p_, p, level, m_.stage());
    for (int i = first; i <= last; ++i)
      visit(Order{i, false}, Order{m - i, false}, SeriesBlocks::square(p) && 2 * i < m);
  }
  // The last coefficients, of the stage itself: a_m b_0 and a_0 b_m.
  template <class Visit>
  static void for_each_end(const P::Product& p, Visit&& visit) {
    const bool a = p.a.where == P::Where::stage, b = p.b.where == P::Where::stage;
    if (SeriesBlocks::square(p) && a) return visit(true, true);
    if (a) visit(true, false);
    if (b) visit(false, false);
  }

  Value known_products(std::span<const P::Product> products, int level, std::size_t sums) {
    Sum sum{{m_}};
    if (m_.position() >= 0) sum.add(m_.block_sum(sums), 1);
    for (const P::Product& p : products)
      for_each_product(p, level, [&](Order a, Order b, bool twice) {
        const Value x = m_.times(m_.coefficient(p.a.slot, a), m_.coefficient(p.b.slot, b));
        sum.add(twice ? m_.twice(x) : x, p.minus ? -1 : 1);
      });
    return sum.get();
  }
  Value later_products(std::span<const P::Product> products, int level, std::size_t sums) {
    Value value = known_products(products, level, sums);
    for (const P::Product& p : products)
      for_each_end(p, [&](bool of_a, bool twice) {
        Value x = m_.times(m_.newest((of_a ? p.a : p.b).slot), m_.zero((of_a ? p.b : p.a).slot));
        if (twice) x = m_.twice(x);
        value = p.minus ? m_.subtract(value, x) : m_.add(value, x);
      });
    return value;
  }
  Value later_terms(const P::Operation& op, int level) {
    Sum sum{{m_}};
    for (int g = op.groups; g < op.groups_end; ++g)
      sum.add(later_products(products(g), level, m_.layout().sums_of_group(g)), factor(g));
    for (int l = op.linear; l < op.linear_end; ++l)
      if (linear(l).a.where != P::Where::nothing) sum.add(m_.read(linear(l).a), linear(l).factor);
    return sum.get();
  }
  Value later(const P::Operation& op) {
    switch (op.kind) {
      case P::Kind::sum: return later_terms(op, op.level);
      case P::Kind::integral: return m_.times(later_terms(op, op.level - 1), m_.row(Row::scale, op.level));
      case P::Kind::derivative: return m_.times(m_.read(op.a), m_.row(Row::rate, op.level));
      case P::Kind::quotient: {
        const P::Product inner = inner_product(op);
        Value rest = known_products(std::span(&inner, 1), op.level, m_.layout().sums_of_state(op.state));
        if (op.b.where == P::Where::stage) rest = m_.add(rest, m_.times(m_.newest(op.b.slot), m_.zero(op.result)));
        return m_.times(difference(op.a, rest), m_.state(op.state, 0));
      }
      case P::Kind::root: {
        const P::Product inner = inner_product(op);
        const Value rest = known_products(std::span(&inner, 1), op.level, m_.layout().sums_of_state(op.state));
        return m_.times(difference(op.a, rest), m_.state(op.state, 0));
      }
      case P::Kind::choose: return m_.choice(op);
      case P::Kind::offset: return m_.read(op.a);
      case P::Kind::cubic: {
        Sum sum{{m_}};
        int k = 1;
        for (const P::Operand* o : {&op.a, &op.b, &op.c}) {
          if (o->where != P::Where::nothing) sum.add(m_.times(m_.read(*o), m_.state(op.state, k)), 1);
          ++k;
        }
        return sum.get();
      }
      default: return m_.number(0);  // a step
    }
  }
  // ---- four operations at once --------------------------------------------------------------------------------------

  const P::Operation& operation(const P::Four& four, std::size_t lane) const {
    return p_.operations[static_cast<std::size_t>(four.operation[lane])];
  }
  int four_of(int slot) const { return p_.lane_of[static_cast<std::size_t>(slot)].four; }
  // An operand of each of the four.
  template <class Which>
  Lanes gather(const P::Four& four, Which&& which) {
    std::array<P::Operand, P::lanes> operands;
    for (std::size_t i = 0; i < P::lanes; ++i) operands[i] = which(operation(four, i));
    return m_.gather(operands);
  }
  // Sum number `number` of a four. The result of a quotient or a root is a factor, and not known yet.
  Lanes four_products(int four, int number, std::span<const P::Product> products, int level, bool of_result) {
    SumOf<Lanes> sum{m_};
    const auto before = m_.four_sum(four, number);
    if (m_.position() >= 0) sum.add(m_.block_sum(before), 1);
    for (const P::Product& p : products) {
      const auto a = m_.series(four_of(p.a.slot)), b = m_.series(four_of(p.b.slot));
      const auto add = [&](Order i, Order k, bool twice) {
        const Lanes x = m_.times(m_.coefficient(a, i), m_.coefficient(b, k));
        sum.add(twice ? m_.twice(x) : x, p.minus ? -1 : 1);
      };
      for_each_product(p, level, add);
      const Order zero{0, false}, newest{level, true};
      for_each_end(p, [&](bool of_a, bool twice) {
        if (of_a && !of_result) add(newest, zero, twice);
        if (!of_a) add(zero, newest, twice);
      });
    }
    return sum.empty ? m_.all(m_.number(0)) : sum.value;
  }
  Lanes four_terms(const P::Four& four, int self, int level) {
    const P::Operation& op = operation(four, 0);
    SumOf<Lanes> sum{m_};
    for (int g = op.groups; g < op.groups_end; ++g)
      sum.add(four_products(self, g - op.groups, products(g), level, false), factor(g));
    for (int l = op.linear; l < op.linear_end; ++l)
      if (linear(l).a.where != P::Where::nothing)
        sum.add(gather(four, [&](const P::Operation& o) { return linear(o.linear + l - op.linear).a; }),
                linear(l).factor);
    return sum.value;
  }
  Lanes later_four(const P::Four& four, int self) {
    const P::Operation& op = operation(four, 0);
    const auto a = [&] { return gather(four, [](const P::Operation& o) { return o.a; }); };
    switch (op.kind) {
      case P::Kind::sum: return four_terms(four, self, op.level);
      case P::Kind::integral:
        return m_.times(four_terms(four, self, op.level - 1), m_.all(m_.row(Row::scale, op.level)));
      case P::Kind::derivative: return m_.times(a(), m_.all(m_.row(Row::rate, op.level)));
      default: break;  // a quotient or a root
    }
    const P::Product inner = inner_product(op);
    Lanes rest = four_products(self, 0, std::span(&inner, 1), op.level, true);
    rest = op.a.where == P::Where::nothing ? m_.times(rest, -1.0) : m_.subtract(a(), rest);
    std::array<int, P::lanes> states{};
    for (std::size_t i = 0; i < P::lanes; ++i) states[i] = operation(four, i).state;
    return m_.times(rest, m_.states(states));
  }

  Value difference(const P::Operand& a, Value b) {
    return a.where == P::Where::nothing ? m_.times(b, -1.0) : m_.subtract(m_.read(a), b);
  }

  template <class Apply>
  void complete(int stage, Apply&& apply) {
    static_cast<void>(stage);
    for (std::size_t j = 0; j < p_.unknowns.size(); ++j) {
      const auto [slot, order, read] = p_.unknowns[j];
      if (read) m_.set_change(slot, m_.solution(j));
      apply(slot, order, true, m_.solution(j));
    }
    for (const P::Completion& c : p_.completions) {
      Sum sum{{m_}};
      for (int k = c.first; k < c.end; ++k) {
        const P::Part& part = p_.parts[static_cast<std::size_t>(k)];
        if (part.kind == P::Weight::number)
          sum.add(m_.change(part.operand), part.factor);
        else
          sum.add(m_.times(m_.change(part.operand), m_.weight(static_cast<std::size_t>(k))), 1);
      }
      Value change = sum.get();
      if (c.read) change = m_.set_and_keep_change(c.result, change);
      apply(c.result, c.level, c.nothing, change);
    }
  }

  const P::Linear& linear(int l) const { return p_.linear[static_cast<std::size_t>(l)]; }
  double factor(int g) const { return p_.groups[static_cast<std::size_t>(g)].factor; }
  std::span<const P::Product> products(int g) const {
    const P::Group& group = p_.groups[static_cast<std::size_t>(g)];
    return {p_.products.data() + group.first, static_cast<std::size_t>(group.end - group.first)};
  }

  const SeriesProgram& p_;
  Machine& m_;
};

}  // namespace hinge
