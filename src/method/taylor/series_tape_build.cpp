// From the nodes of a graph to operations on series, their levels and their order within a stage.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "expression/table.hpp"
#include "hinge/error.hpp"
#include "method/taylor/series_tape.hpp"

namespace hinge {

namespace {

constexpr int unlimited = std::numeric_limits<int>::max() / 4, not_needed = -unlimited;
constexpr int largest_power = 64;  // made of products

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

class SeriesTapeBuilder {
 public:
  SeriesTapeBuilder(const Graph& graph, const SeriesTape::Functions& functions, SeriesTape& tape)
      : graph_(graph), f_(functions), tape_(tape), slot_of_(at(graph.size()), -1), uses_(at(graph.size()), 0) {}

  void build(int last_stage) {
    make_variables();
    std::vector<Node> roots;
    for (const auto& e : f_.equations) roots.push_back(e.node);
    for (const auto& y : f_.integrals) roots.push_back(y.rate);
    for (const auto& v : f_.derived) roots.push_back(v.of);
    const std::vector<Node> cone = cone_of(graph_, roots);
    for (const Node n : cone) {
      const Graph::Entry& e = graph_[n];
      const Node operands[] = {e.a, e.b, e.c};
      for (int k = 0; k < arity_of(e); ++k) ++uses_[at(operands[k])];
    }
    for (const Node n : roots) uses_[at(n)] += 2;  // others look at these: they stay
    for (const Node n : cone)
      if (slot_of_[at(n)] < 0 && graph_[n].op != Op::constant) slot_of_[at(n)] = make(n);
    for (const auto& y : f_.integrals) ops_[at(producer(slot_of_[at(y.node)]))].linear = {{1.0, slot(y.rate), -1}};
    for (const auto& v : f_.derived) ops_[at(producer(slot_of_[at(v.node)]))].a = slot(v.of);
    find_reach();
    find_levels();
    write(last_stage);
  }

 private:
  using Kind = SeriesTape::Kind;
  using Weight = SeriesTape::Weight;
  using Term = SeriesTape::Term;
  struct Draft {
    Kind kind;
    Op function = Op::constant;
    bool has_value = false, dead = false;
    int result = -1, a = -1, b = -1, c = -1, state = -1;
    std::vector<Term> linear{}, products{};
    double constant = 0;
    int reach = -1;  // of an integral: that of this slot
  };
  struct Slot {
    int op = -1;
    int reach = unlimited;  // the order at stage 0 up to which it can be known
    int level = not_needed;
    bool open = false, used = false;  // open: its last coefficient changes with the unknowns of the stage
  };
  // An operand, and which order of it an operation of order m reads: m + shift.
  struct Operand {
    int slot, shift;
  };

  static int arity_of(const Graph::Entry& e) { return arity(e.op); }
  int producer(int slot) const { return slots_[at(slot)].op; }

  int new_slot() {
    slots_.emplace_back();
    return static_cast<int>(slots_.size()) - 1;
  }
  int add(Draft op) {
    op.result = op.result < 0 ? new_slot() : op.result;
    slots_[at(op.result)].op = static_cast<int>(ops_.size());
    ops_.push_back(std::move(op));
    return ops_.back().result;
  }
  int constant_slot(double value) {
    const auto [found, fresh] = constants_.try_emplace(value, -1);
    if (fresh) found->second = new_slot();
    return found->second;
  }
  int slot(Node n) { return graph_.is_constant(n) ? constant_slot(graph_.value(n)) : slot_of_[at(n)]; }

  void make_variables() {
    tape_.t_slot_ = slot_of_[at(f_.t)] = new_slot();
    for (const auto& x : f_.unknowns) {
      const int s = slot_of_[at(x.node)] = new_slot();
      slots_[at(s)].reach = slots_[at(s)].level = x.d;
      slots_[at(s)].open = true;
    }
    for (const auto& y : f_.integrals) {
      const int s = slot_of_[at(y.node)] = add({.kind = Kind::integral});
      slots_[at(s)].level = y.d;
    }
    for (const auto& v : f_.derived) slot_of_[at(v.node)] = add({.kind = Kind::derivative});
  }

  // ---- sums -------------------------------------------------------------------------------------------------------

  // Adds factor * node to a sum; sums that nobody else uses become a part of it.
  void expand(Node n, double factor, Draft& sum) {
    if (graph_.is_constant(n)) {
      sum.constant += factor * graph_.value(n);
      return;
    }
    const int s = slot_of_[at(n)];
    if (const int o = producer(s); o >= 0 && ops_[at(o)].kind == Kind::sum && uses_[at(n)] == 1) {
      Draft& part = ops_[at(o)];
      sum.constant += factor * part.constant;
      for (Term t : part.linear) t.factor *= factor, sum.linear.push_back(t);
      for (Term t : part.products) t.factor *= factor, sum.products.push_back(t);
      part.dead = true;
      return;
    }
    sum.linear.push_back({factor, s, -1});
  }
  int sum_of(Node a, double fa, Node b = no_node, double fb = 0) {
    Draft sum{.kind = Kind::sum};
    expand(a, fa, sum);
    if (b != no_node) expand(b, fb, sum);
    return add(std::move(sum));
  }
  int product(int a, int b, double factor = 1) { return add({.kind = Kind::sum, .products = {{factor, a, b}}}); }
  int sum_of_products(double constant, std::vector<Term> products) {
    return add({.kind = Kind::sum, .products = std::move(products), .constant = constant});
  }
  // A factor times a slot: numbers in front of a single term are taken out of it.
  int factored(Node n, double& factor) {
    const int s = slot(n);
    if (const int o = producer(s); o >= 0 && uses_[at(n)] == 1) {
      Draft& part = ops_[at(o)];
      if (part.kind == Kind::sum && part.constant == 0 && part.products.empty() && part.linear.size() == 1) {
        factor *= part.linear[0].factor;
        part.dead = true;
        return part.linear[0].a;
      }
    }
    return s;
  }
  int multiply(Node a, Node b) {
    if (graph_.is_constant(a)) return sum_of(b, graph_.value(a));
    if (graph_.is_constant(b)) return sum_of(a, graph_.value(b));
    double factor = 1;
    if (a == b) return product(slot(a), slot(a));
    const int x = factored(a, factor), y = factored(b, factor);
    return product(x, y, factor);
  }
  int quotient(int a, int b) { return add({.kind = Kind::quotient, .a = a, .b = b}); }

  // ---- functions --------------------------------------------------------------------------------------------------

  int derivative(int a) {
    const auto [found, fresh] = derivatives_.try_emplace(a, -1);
    if (fresh) found->second = add({.kind = Kind::derivative, .a = a});
    return found->second;
  }
  // r' = factor a' u, r = function(a)
  int primitive(Op function, int a, int u, double factor, int result = -1) {
    const int da = derivative(a);
    return add({.kind = Kind::integral,
                .function = function,
                .has_value = true,
                .result = result,
                .a = a,
                .products = {{factor, da, u}},
                .reach = a});
  }
  // sin and cos, sinh and cosh: made together
  int pair(Op first, Op second, bool want_first, int a, double sign) {
    const auto [found, fresh] = pairs_.try_emplace({first, a}, std::pair{-1, -1});
    if (fresh) {
      const int one = new_slot(), other = new_slot();
      found->second = {one, other};
      primitive(first, a, other, 1, one);
      primitive(second, a, one, sign, other);
    }
    return want_first ? found->second.first : found->second.second;
  }
  int exponential(int a) {
    const int r = new_slot();
    return primitive(Op::exp, a, r, 1, r);
  }
  int logarithm(int a) { return primitive(Op::log, a, quotient(constant_slot(1), a), 1); }
  // r' = a' (1 + sign r^2)
  int tangent(Op function, int a, double sign) {
    const int r = new_slot(), u = sum_of_products(1, {{sign, r, r}});
    return primitive(function, a, u, 1, r);
  }
  int arc(Op function, int a) {
    if (function == Op::atan) return primitive(function, a, quotient(constant_slot(1), squares(1, 1, a)), 1);
    const int root = add({.kind = Kind::root, .a = squares(1, -1, a)});
    return primitive(function, a, quotient(constant_slot(1), root), function == Op::asin ? 1 : -1);
  }
  int squares(double constant, double factor, int a) { return sum_of_products(constant, {{factor, a, a}}); }
  // (y, x)' of the angle: (x y' - y x') / (x^2 + y^2)
  int angle(int y, int x) {
    const int turned = sum_of_products(0, {{1, x, derivative(y)}, {-1, y, derivative(x)}});
    const int rate = quotient(turned, sum_of_products(0, {{1, x, x}, {1, y, y}}));
    return add(
        {.kind = Kind::integral, .function = Op::atan2, .has_value = true, .a = y, .b = x, .linear = {{1, rate, -1}}});
  }
  int whole_power(int a, int n) {
    if (n == 1) return a;
    const int half = whole_power(a, n / 2), square = product(half, half);
    return n % 2 == 0 ? square : product(square, a);
  }
  int power(Node base, Node exponent) {
    if (!graph_.is_constant(exponent)) return exponential(product(slot(exponent), logarithm_of(base)));
    const double p = graph_.value(exponent);
    if (p == std::round(p) && std::abs(p) <= largest_power && p != 0) {
      const int r = whole_power(slot(base), static_cast<int>(std::abs(p)));
      return p > 0 ? r : quotient(constant_slot(1), r);
    }
    return add({.kind = Kind::power, .a = slot(base), .constant = p});
  }
  int logarithm_of(Node n) {
    return graph_.is_constant(n) ? constant_slot(std::log(graph_.value(n))) : logarithm(slot(n));
  }
  int new_state(std::shared_ptr<const Table> table = nullptr) {
    tape_.states_.emplace_back();
    tape_.tables_.push_back(std::move(table));
    return static_cast<int>(tape_.states_.size()) - 1;
  }
  int table(const Graph::Entry& e) {
    const int state = new_state(graph_.table(e));
    const int u = add({.kind = Kind::offset, .a = slot(e.a), .state = state});
    const int u2 = product(u, u), u3 = product(u2, u);
    return add({.kind = Kind::cubic, .a = u, .b = u2, .c = u3, .state = state});
  }

  int make(Node n) {
    const Graph::Entry& e = graph_[n];
    switch (e.op) {
      case Op::negate: return sum_of(e.a, -1);
      case Op::add: return sum_of(e.a, 1, e.b, 1);
      case Op::subtract: return sum_of(e.a, 1, e.b, -1);
      case Op::multiply: return multiply(e.a, e.b);
      case Op::divide:
        return graph_.is_constant(e.b) ? sum_of(e.a, 1 / graph_.value(e.b)) : quotient(slot(e.a), slot(e.b));
      case Op::power: return power(e.a, e.b);
      case Op::sqrt: return add({.kind = Kind::root, .a = slot(e.a)});
      case Op::hypot: {
        const int a = slot(e.a), b = slot(e.b);
        return add({.kind = Kind::root, .a = sum_of_products(0, {{1, a, a}, {1, b, b}})});
      }
      case Op::sin:
      case Op::cos: return pair(Op::sin, Op::cos, e.op == Op::sin, slot(e.a), -1);
      case Op::sinh:
      case Op::cosh: return pair(Op::sinh, Op::cosh, e.op == Op::sinh, slot(e.a), 1);
      case Op::tan: return tangent(e.op, slot(e.a), 1);
      case Op::tanh: return tangent(e.op, slot(e.a), -1);
      case Op::asin:
      case Op::acos:
      case Op::atan: return arc(e.op, slot(e.a));
      case Op::atan2: return angle(slot(e.a), slot(e.b));
      case Op::exp: return exponential(slot(e.a));
      case Op::log: return logarithm(slot(e.a));
      case Op::table: return table(e);
      case Op::abs:
      case Op::min:
      case Op::max:
      case Op::select:
        return add({.kind = Kind::choose,
                    .function = e.op,
                    .a = slot(e.a),
                    .b = e.b != no_node ? slot(e.b) : -1,
                    .c = e.c != no_node ? slot(e.c) : -1,
                    .state = new_state()});
      case Op::variable: throw std::logic_error("a series depends on a variable that is not given");
      default:  // sign, comparisons, and, or, not
        return add({.kind = Kind::step, .function = e.op, .a = slot(e.a), .b = e.b != no_node ? slot(e.b) : -1});
    }
  }

  // ---- levels -----------------------------------------------------------------------------------------------------

  template <class Visit>
  void for_each_operand(const Draft& op, Visit&& visit) const {
    const int shift = op.kind == Kind::integral ? -1 : op.kind == Kind::derivative ? 1 : 0;
    for (const auto* list : {&op.linear, &op.products})
      for (const Term& t : *list) {
        visit(Operand{t.a, shift});
        if (t.b >= 0) visit(Operand{t.b, shift});
      }
    if (op.kind == Kind::integral) return;
    for (const int s : {op.a, op.b, op.c})
      if (s >= 0) visit(Operand{s, shift});
  }

  void find_reach() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Draft& op : ops_) {
        if (op.dead) continue;
        int reach = unlimited;
        if (op.reach >= 0)
          reach = slots_[at(op.reach)].reach;
        else
          for_each_operand(op, [&](Operand o) {
            if (slots_[at(o.slot)].reach < unlimited) reach = std::min(reach, slots_[at(o.slot)].reach - o.shift);
          });
        if (op.kind == Kind::step) reach = unlimited;
        int& known = slots_[at(op.result)].reach;
        changed = changed || reach < known;
        known = std::min(known, reach);
      }
    }
  }

  void find_levels() {
    for (const auto& e : f_.equations) raise(slot(e.node), e.c);
    for (const auto& y : f_.integrals) raise(slot(y.node), y.d);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Draft& op : ops_) {
        const int level = slots_[at(op.result)].level;
        if (op.dead || level == not_needed) continue;
        for_each_operand(op, [&](Operand o) { changed = raise(o.slot, level + o.shift) || changed; });
        if (op.kind == Kind::integral && op.has_value)
          for (const int s : {op.a, op.b})
            if (s >= 0) changed = raise(s, level) || changed;
      }
    }
  }
  // Order zero of what can be known at stage 0 is known there: weights are made of it.
  bool raise(int s, int level) {
    Slot& slot = slots_[at(s)];
    level = std::max(level, std::min(0, slot.reach));
    if (level <= slot.level) return false;
    if (level > slot.reach)
      throw UnsuitableMethod(
          "an equation contains a derivative that its structure does not know of, which taylor cannot expand; use "
          "radau");
    slot.level = level;
    return true;
  }

  // ---- the tape ---------------------------------------------------------------------------------------------------

  bool in_stage(const Draft& op, Operand o) const {
    return slots_[at(o.slot)].level == slots_[at(op.result)].level + o.shift;
  }
  // Operations of a stage, those that others need first.
  std::vector<int> sorted() const {
    std::vector<int> order, stack;
    std::vector<char> mark(ops_.size(), 0);
    for (std::size_t first = 0; first < ops_.size(); ++first) {
      if (ops_[first].dead || slots_[at(ops_[first].result)].level == not_needed) continue;
      stack.push_back(static_cast<int>(first));
      while (!stack.empty()) {
        const int k = stack.back();
        if (mark[at(k)] == 2) {
          stack.pop_back();
          continue;
        }
        if (mark[at(k)] == 1) {
          mark[at(k)] = 2;
          order.push_back(k);
          stack.pop_back();
          continue;
        }
        mark[at(k)] = 1;
        for_each_operand(ops_[at(k)], [&](Operand o) {
          if (const int p = producer(o.slot); p >= 0 && in_stage(ops_[at(k)], o) && mark[at(p)] == 0)
            stack.push_back(p);
        });
      }
    }
    return order;
  }

  void write(int last_stage) {
    SeriesTape& t = tape_;
    const std::vector<int> order = sorted();
    renumber(order);
    for (const int k : order) {
      Draft& op = ops_[at(k)];
      for_each_operand(op, [&](Operand o) {
        if (in_stage(op, o) && slots_[at(o.slot)].open && op.kind != Kind::step) slots_[at(op.result)].open = true;
      });
      t.most_ = std::max(t.most_, slots_[at(op.result)].level);
    }
    find_used(order);
    for (const auto& x : f_.unknowns) t.most_ = std::max(t.most_, x.d);
    t.last_stage_ = last_stage;
    // Forwards with room for four terms more, backwards with zeros behind, and the newest one.
    const int orders = last_stage + t.most_ + 2;
    if (orders / 4 + 1 > SeriesTape::most_blocks)
      throw UnsuitableMethod("a series of this order is too long for the index of these equations; give a lower order");
    t.back_ = 2 * orders + 8;
    t.newest_ = t.back_ + t.most_ + 8;
    t.stride_ = at((static_cast<int>(t.newest_) + 8) / 4 * 4);
    t.data_.assign(slots_.size() * t.stride_, 0.0);
    for (const auto& [value, s] : constants_) t.constants_.emplace_back(value, s);
    t.clear();
    for (const int k : order) write_operation(ops_[at(k)]);
    write_kept(order);
    t.inverse_.push_back(0);
    for (std::size_t m = 1; m < t.stride_ + 2; ++m) t.inverse_.push_back(1.0 / static_cast<double>(m));
    t.factor_.assign(at(t.most_ + 2), 0.0);
    t.delta_.assign(slots_.size(), 0.0);
    for (const int k : order) write_completion(ops_[at(k)]);
    t.weights_.assign(t.parts_.size(), 0.0);
    for (const auto& x : f_.unknowns) t.unknowns_.push_back({slot(x.node), x.d});
    for (const auto& y : f_.integrals) t.integrals_.push_back({slot(y.node), y.d});
    for (const auto& e : f_.equations) t.equations_.push_back({slot(e.node), e.c});
  }

  // Slots in the order in which they are written, without those of sums that became parts of others.
  void renumber(const std::vector<int>& order) {
    std::vector<int> fresh(slots_.size(), -1);
    std::vector<Slot> slots;
    const auto place = [&](int& s) {
      if (s < 0) return;
      int& number = fresh[at(s)];
      if (number < 0) {
        number = static_cast<int>(slots.size());
        slots.push_back(slots_[at(s)]);
      }
      s = number;
    };
    for (int s = 0; const auto& e : f_.equations) s = slot(e.node), place(s);
    for (int s = 0; const auto& x : f_.unknowns) s = slot(x.node), place(s);
    for (int s = 0; const auto& y : f_.integrals) s = slot(y.node), place(s);
    place(tape_.t_slot_);
    for (auto& [value, s] : constants_) place(s);
    for (const int k : order) {
      Draft& op = ops_[at(k)];
      for (auto* list : {&op.linear, &op.products})
        for (Term& term : *list) place(term.a), place(term.b);
      for (int* s : {&op.a, &op.b, &op.c, &op.result}) place(*s);
    }
    for (int& s : slot_of_)
      if (s >= 0) s = fresh[at(s)];
    slots_ = std::move(slots);
  }

  // Whose last coefficient matters after its stage: what is multiplied, integrals, and what these are made of. A sum
  // that is an equation and nothing else is zero then.
  void find_used(const std::vector<int>& order) {
    for (const auto& y : f_.integrals) slots_[at(slot(y.node))].used = true;
    for (const int k : order)
      for_each_operand(ops_[at(k)], [&](Operand o) {
        if (ops_[at(k)].kind != Kind::sum) slots_[at(o.slot)].used = true;
      });
    // and what another equation reads at a later stage
    for (const int k : order)
      for (const Term& term : ops_[at(k)].linear)
        if (!in_stage(ops_[at(k)], {term.a, 0})) slots_[at(term.a)].used = true;
    for (const int k : order)
      for (const Term& term : ops_[at(k)].products) slots_[at(term.a)].used = slots_[at(term.b)].used = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (const int k : order)
        if (ops_[at(k)].kind == Kind::sum && slots_[at(ops_[at(k)].result)].used)
          for (const Term& term : ops_[at(k)].linear)
            changed = !std::exchange(slots_[at(term.a)].used, true) || changed;
    }
  }

  // Constants and t are in their places from the beginning.
  bool moves(int s) const { return producer(s) >= 0 || slots_[at(s)].open; }
  void write_kept(const std::vector<int>& order) {
    std::vector<char> read(slots_.size(), 0);
    for (const auto& y : f_.integrals) read[at(slot(y.node))] = 1;
    for (const auto& x : f_.unknowns) read[at(slot(x.node))] = 1;
    for (const int k : order) {
      for_each_operand(ops_[at(k)], [&](Operand o) { read[at(o.slot)] = 1; });
      if (ops_[at(k)].kind != Kind::sum && ops_[at(k)].kind != Kind::integral) read[at(ops_[at(k)].result)] = 1;
    }
    for (const auto& x : f_.unknowns) tape_.kept_.push_back({slot(x.node), x.d});
    for (const int k : order)
      if (const int r = ops_[at(k)].result; read[at(r)]) tape_.kept_.push_back({r, slots_[at(r)].level});
  }

  void write_operation(const Draft& op) {
    SeriesTape& t = tape_;
    const auto here = [&] { return static_cast<int>(t.terms_.size()); };
    const int shift = op.kind == Kind::integral ? -1 : op.kind == Kind::derivative ? 1 : 0;
    const auto step_of = [&](int s) { return s >= 0 && moves(s) && in_stage(op, {s, shift}) ? 0 : 1; };
    const auto place_of = [&](int s) {
      return s < 0 ? 0 : static_cast<std::ptrdiff_t>(at(s) * t.stride_) + (step_of(s) == 0 ? t.newest_ : 0);
    };
    const auto add_terms = [&](const std::vector<Term>& list) {
      for (Term term : list) {
        term.place_a = place_of(term.a), term.step_a = step_of(term.a);
        term.place_b = place_of(term.b), term.step_b = step_of(term.b);
        t.terms_.push_back(term);
      }
    };
    SeriesTape::Operation o{.kind = op.kind,
                            .function = op.function,
                            .has_value = op.has_value,
                            .level = slots_[at(op.result)].level,
                            .result = op.result,
                            .a = op.a,
                            .b = op.b,
                            .c = op.c,
                            .linear = here(),
                            .products = 0,
                            .end = 0,
                            .constant = op.constant,
                            .state = op.state,
                            .vanishes = op.kind == Kind::derivative && producer(op.a) < 0 && slots_[at(op.a)].open &&
                                        in_stage(op, {op.a, 1}) && !slots_[at(op.result)].used,
                            .place_a = place_of(op.a),
                            .place_b = place_of(op.b),
                            .place_c = place_of(op.c),
                            .step_a = step_of(op.a),
                            .step_b = step_of(op.b),
                            .step_c = step_of(op.c)};
    add_terms(op.linear);
    o.products = here();
    add_terms(op.products);
    o.end = here();
    t.ops_.push_back(o);
  }

  void write_completion(const Draft& op) {
    const Slot& result = slots_[at(op.result)];
    if (!result.open || !result.used) return;
    SeriesTape& t = tape_;
    const int first = static_cast<int>(t.parts_.size());
    const int shift = op.kind == Kind::integral ? -1 : op.kind == Kind::derivative ? 1 : 0;
    const auto part = [&](int operand, Weight kind, double factor = 1, int s = -1, int other = -1) {
      if (operand >= 0 && slots_[at(operand)].open && in_stage(op, {operand, shift}))
        t.parts_.push_back({kind, factor, operand, s, other, op.state});
    };
    for (const Term& term : op.linear) part(term.a, Weight::number, term.factor);
    for (const Term& term : op.products) {
      part(term.a, Weight::times, term.factor, term.b);
      part(term.b, Weight::times, term.factor, term.a);
    }
    switch (op.kind) {
      case Kind::derivative:
      case Kind::offset: part(op.a, Weight::number); break;
      case Kind::quotient:
        part(op.a, Weight::over, 1, op.b);
        part(op.b, Weight::minus_ratio, 1, op.result, op.b);
        break;
      case Kind::root: part(op.a, Weight::half_over, 1, op.result); break;
      case Kind::power: part(op.a, Weight::exponent, op.constant, op.result, op.a); break;
      case Kind::choose:
        part(op.a, Weight::chosen, 1, 0);
        part(op.b, Weight::chosen, 1, 1);
        part(op.c, Weight::chosen, 1, 2);
        break;
      case Kind::cubic:
        part(op.a, Weight::cubic, 1, 1);
        part(op.b, Weight::cubic, 1, 2);
        part(op.c, Weight::cubic, 1, 3);
        break;
      default: break;
    }
    t.completions_.push_back({op.result, result.level, first, static_cast<int>(t.parts_.size())});
  }

  const Graph& graph_;
  const SeriesTape::Functions& f_;
  SeriesTape& tape_;
  std::vector<int> slot_of_, uses_;
  std::vector<Slot> slots_;
  std::vector<Draft> ops_;
  std::map<double, int> constants_;
  std::map<int, int> derivatives_;
  std::map<std::pair<Op, int>, std::pair<int, int>> pairs_;
};

SeriesTape::SeriesTape(const Graph& graph, const Functions& functions, int last_stage) {
  SeriesTapeBuilder(graph, functions, *this).build(last_stage);
}

}  // namespace hinge
