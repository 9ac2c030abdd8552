#include "expression/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "expression/graph_slots.hpp"
#include "expression/table.hpp"

namespace hinge {

int arity(Op op) {
  if (op <= Op::variable) return 0;
  if (op <= Op::logical_not) return 1;
  if (op <= Op::logical_or) return 2;
  return op == Op::table ? 1 : 3;
}

double apply_op(Op op, double a, double b, double c) {
  switch (op) {
    case Op::negate: return -a;
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::tan: return std::tan(a);
    case Op::asin: return std::asin(a);
    case Op::acos: return std::acos(a);
    case Op::atan: return std::atan(a);
    case Op::sinh: return std::sinh(a);
    case Op::cosh: return std::cosh(a);
    case Op::tanh: return std::tanh(a);
    case Op::exp: return std::exp(a);
    case Op::log: return std::log(a);
    case Op::sqrt: return std::sqrt(a);
    case Op::abs: return std::abs(a);
    case Op::sign: return a > 0 ? 1.0 : a < 0 ? -1.0 : a;
    case Op::logical_not: return a == 0 ? 1.0 : 0.0;
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::power: return std::pow(a, b);
    case Op::atan2: return std::atan2(a, b);
    case Op::hypot: return std::hypot(a, b);
    // NaN passes whichever operand it is: operands of min and max are reordered
    case Op::min: return b < a || std::isnan(b) ? b : a;
    case Op::max: return a < b || std::isnan(b) ? b : a;
    case Op::less: return a < b ? 1.0 : 0.0;
    case Op::less_equal: return a <= b ? 1.0 : 0.0;
    case Op::equal: return a == b ? 1.0 : 0.0;
    case Op::not_equal: return a != b ? 1.0 : 0.0;
    case Op::logical_and: return a != 0 && b != 0 ? 1.0 : 0.0;
    case Op::logical_or: return a != 0 || b != 0 ? 1.0 : 0.0;
    case Op::select: return a != 0 ? b : c;
    case Op::constant:
    case Op::table:
    case Op::variable: break;
  }
  return 0;
}

namespace {

bool commutative(Op op) {
  return op == Op::add || op == Op::multiply || op == Op::min || op == Op::max || op == Op::hypot || op == Op::equal ||
         op == Op::not_equal || op == Op::logical_and || op == Op::logical_or;
}

bool same(const Graph::Entry& x, const Graph::Entry& y) {
  return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c &&
         std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value);
}

// What is not there yet.
void place(std::vector<Node>& table, const std::vector<Graph::Entry>& entries, const Graph::Entry& e, Node label) {
  Slots slots(entries, e, table.size() - 1);
  while (table[slots.slot()] != no_node) slots.next();
  table[slots.slot()] = label;
}

}  // namespace

Graph::Graph() : table_(64, no_node), constant_table_(16, no_node) {}

void Graph::grow_table() {
  std::vector<Node> larger(table_.size() * 2, no_node);
  const Labels labels(larger.size());
  for (Node n = 0; n < size(); ++n) {
    const Entry& e = entries_[static_cast<std::size_t>(n)];
    if (e.op == Op::constant) continue;
    place(larger, entries_, e, labels.label(n, e));
  }
  table_ = std::move(larger);
}

void Graph::grow_constants() {
  std::vector<Node> larger(constant_table_.size() * 2, no_node);
  for (const Node n : constants_) place(larger, entries_, entries_[static_cast<std::size_t>(n)], n);
  constant_table_ = std::move(larger);
}

// Not of constants.
Node Graph::intern(const Entry& entry) {
  while (entries_.size() * 2 >= table_.size()) grow_table();
  Slots slots(entries_, entry, table_.size() - 1);
  const Labels labels(table_.size());
  const Node made = labels.label(size(), entry);
  for (; table_[slots.slot()] != no_node; slots.next())
    if (const Node n = labels.node(table_[slots.slot()]);
        labels.alike(table_[slots.slot()], made) && same(entries_[static_cast<std::size_t>(n)], entry))
      return n;
  table_[slots.slot()] = made;
  entries_.push_back(entry);
  return size() - 1;
}

Node Graph::keep(double value) {
  if (value == 0) value = 0;  // one zero, not two
  const Entry entry{.op = Op::constant, .value = value};
  if (constants_.size() * 2 >= constant_table_.size()) grow_constants();
  Slots slots(entries_, entry, constant_table_.size() - 1);
  for (; constant_table_[slots.slot()] != no_node; slots.next())
    if (const Node n = constant_table_[slots.slot()]; same(entries_[static_cast<std::size_t>(n)], entry)) return n;
  entries_.push_back(entry);
  constants_.push_back(size() - 1);
  return constant_table_[slots.slot()] = size() - 1;
}

// From the last to the first: each had found its place among those before it.
void Graph::return_to(const Mark& mark) {
  const Labels labels(table_.size());
  for (; size() > mark.size; entries_.pop_back()) {
    const Entry& e = entries_.back();
    const bool constant = e.op == Op::constant;
    std::vector<Node>& table = constant ? constant_table_ : table_;
    const Node last = constant ? size() - 1 : labels.label(size() - 1, e);
    Slots slots(entries_, e, table.size() - 1);
    while (table[slots.slot()] != last) slots.next();
    table[slots.slot()] = no_node;
    if (constant) constants_.pop_back();
  }
  tables_.resize(mark.tables);
  if (hashed_ > mark.size) structure_ = {}, hashed_ = 0;
}

Node Graph::constant(double value) {
  if (ConstantTrace::active) ConstantTrace::active->read.push_back(value);
  return keep(value);
}

Node Graph::given(double value) {
  if (ConstantTrace::active) ConstantTrace::active->given.push_back(value);
  return keep(value);
}

// Of constants.
Node Graph::fold(Op op, Node a, Node b, Node c) {
  const auto number = [this](Node n) { return n == no_node ? 0 : (*this)[n].value; };
  const double result = apply_op(op, number(a), number(b), number(c));
  if (ConstantTrace::active) ConstantTrace::active->folds.push_back({op, number(a), number(b), number(c), result});
  return keep(result);
}

void Graph::hash_from(StructureHash& hash, Node first) const {
  const auto both = [](Node a, Node b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b);
  };
  for (Node n = first; n < size(); ++n) {
    const Entry& e = (*this)[n];
    const auto kind = static_cast<std::uint64_t>(e.op) << 56;
    hash.add(e.op == Op::constant ? kind : kind ^ both(e.a, e.b));
    if (e.c >= 0) hash.add(static_cast<std::uint64_t>(e.c));
  }
}

StructureHash Graph::structure() {
  hash_from(structure_, hashed_);
  hashed_ = size();
  return structure_;
}

StructureHash Graph::structure() const {
  StructureHash hash = structure_;
  hash_from(hash, hashed_);
  return hash;
}

void Graph::extend(const Graph& by, std::span<const double> values) {
  const auto own = static_cast<std::ptrdiff_t>(constants_.size());
  while ((constants_.size() + values.size()) * 2 >= constant_table_.size()) grow_constants();
  entries_.insert(entries_.end(), by.entries_.begin() + size(), by.entries_.end());
  table_ = by.table_;
  constants_.insert(constants_.end(), by.constants_.begin() + own, by.constants_.end());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Node n = constants_[static_cast<std::size_t>(own) + k];
    Entry& e = entries_[static_cast<std::size_t>(n)];
    e.value = values[k];
    place(constant_table_, entries_, e, n);
  }
  structure_ = by.structure_;
  hashed_ = by.hashed_;
}

void Graph::set_constants(std::span<const double> values) {
  std::fill(constant_table_.begin(), constant_table_.end(), no_node);
  for (std::size_t k = 0; k < constants_.size(); ++k) {
    Entry& e = entries_[static_cast<std::size_t>(constants_[k])];
    e.value = values[k];
    place(constant_table_, entries_, e, constants_[k]);
  }
}

Node Graph::variable(std::string name) {
  const Node node = intern({.op = Op::variable, .a = variable_count()});
  variables_.push_back(node);
  names_.push_back(std::move(name));
  return node;
}

Node Graph::table(std::shared_ptr<const Table> table, Node a) {
  if (is_constant(a)) return constant((*table)(value(a)));
  auto at = std::find(tables_.begin(), tables_.end(), table);
  if (at == tables_.end()) at = tables_.insert(at, std::move(table));
  return intern({.op = Op::table, .a = a, .value = static_cast<double>(at - tables_.begin())});
}

Node Graph::floor(Node a) { return table(Table::floor(), a); }

Node Graph::remake(const Graph& from, const Entry& entry, Node a, Node b, Node c) {
  if (entry.op == Op::constant) return keep(entry.value);
  return entry.op == Op::table ? table(from.table(entry), a) : make(entry.op, a, b, c);
}

double Graph::apply(const Entry& entry, double a, double b, double c) const {
  return entry.op == Op::table ? (*table(entry))(a) : apply_op(entry.op, a, b, c);
}

std::vector<Node> Graph::adopt(const Graph& other, Node common, std::span<const Node> nodes) {
  std::vector<Node> image;
  const auto here = [&](Node n) { return n < common ? n : image[static_cast<std::size_t>(n - common)]; };
  for (Node n = common; n < other.size(); ++n) {
    const Entry& e = other[n];
    image.push_back(e.op == Op::constant ? keep(e.value) : remake(other, e, here(e.a), here(e.b), here(e.c)));
  }
  std::vector<Node> result;
  for (const Node n : nodes) result.push_back(here(n));
  return result;
}

std::vector<Node> Graph::adopt_needed(const Graph& other, Node common, std::span<const Node> nodes,
                                      std::vector<Node>& image) {
  image.resize(static_cast<std::size_t>(other.size() - common), no_node);
  const auto here = [&](Node n) -> Node& { return image[static_cast<std::size_t>(n - common)]; };
  constexpr Node needed = -2;
  Node first = other.size(), last = common - 1;
  const auto need = [&](Node n) {
    if (n < common || here(n) != no_node) return;
    here(n) = needed;
    first = std::min(first, n);
    last = std::max(last, n);
  };
  for (const Node n : nodes) need(n);
  for (Node n = last; n >= common; --n) {
    if (here(n) != needed) continue;
    const Entry& e = other[n];
    if (e.op == Op::constant) continue;
    for (const Node operand : {e.a, e.b, e.c})
      if (operand >= 0) need(operand);
  }
  const auto moved = [&](Node n) { return n < common ? n : here(n); };
  for (Node n = first; n <= last; ++n)
    if (here(n) == needed) {
      const Entry& e = other[n];
      here(n) = remake(other, e, moved(e.a), moved(e.b), moved(e.c));
    }
  std::vector<Node> result;
  result.reserve(nodes.size());
  for (const Node n : nodes) result.push_back(moved(n));
  return result;
}

bool Graph::switched(Node node) const {
  const Entry& e = (*this)[node];
  return e.op == Op::select && (is_constant(e.b, 0) || is_constant(e.c, 0));
}

Node Graph::switch_inside(Op op, Node chooser, Node other) {
  const Entry e = (*this)[chooser];
  const Node b = is_constant(e.b, 0) ? e.b : make(op, e.b, other);
  const Node c = is_constant(e.c, 0) ? e.c : make(op, e.c, other);
  return make(Op::select, e.a, b, c);
}

Node Graph::make(Op op, Node a, Node b, Node c) {
  const int n = arity(op);
  const bool a_fixed = is_constant(a), b_fixed = n > 1 && is_constant(b), c_fixed = n > 2 && is_constant(c);
  if (a_fixed && (n < 2 || b_fixed) && (n < 3 || c_fixed)) return fold(op, a, n > 1 ? b : no_node, n > 2 ? c : no_node);

  // A factor that is switched off must not let an infinity of the branch not taken through (0 * inf): products and
  // quotients with select(c, x, 0) go inside the branch. Derivatives of `if` rely on this.
  if (op == Op::multiply || op == Op::divide || op == Op::negate) {
    if (switched(a)) return switch_inside(op, a, b);
    if (op == Op::multiply && switched(b)) return switch_inside(op, b, a);
  }

  switch (op) {
    case Op::add:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      if (a == b) return multiply(constant(2), a);
      if ((*this)[b].op == Op::negate) return make(Op::subtract, a, (*this)[b].a);
      if ((*this)[a].op == Op::negate) return make(Op::subtract, b, (*this)[a].a);
      break;
    case Op::subtract:
      if (is_constant(b, 0)) return a;
      if (a == b) return constant(0);
      if (is_constant(a, 0)) return negate(b);
      if ((*this)[b].op == Op::negate) return make(Op::add, a, (*this)[b].a);
      break;
    case Op::multiply:
      if (is_constant(a, 0) || is_constant(b, 0)) return constant(0);
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, -1)) return negate(b);
      if (is_constant(b, -1)) return negate(a);
      if ((*this)[a].op == Op::negate && (*this)[b].op == Op::negate) return multiply((*this)[a].a, (*this)[b].a);
      if (b_fixed) std::swap(a, b);  // constant first, so that constants meet
      if (is_constant(a) && (*this)[b].op == Op::multiply && is_constant((*this)[b].a))
        return multiply(fold(Op::multiply, a, (*this)[b].a), (*this)[b].b);
      if (is_constant(a) && (*this)[b].op == Op::negate) return multiply(fold(Op::negate, a), (*this)[b].a);
      break;
    case Op::divide:
      if (is_constant(a, 0)) return a;
      if (is_constant(b, 1)) return a;
      if (is_constant(b, -1)) return negate(a);
      if (a == b) return constant(1);
      break;
    case Op::negate:
      if ((*this)[a].op == Op::negate) return (*this)[a].a;
      if ((*this)[a].op == Op::subtract) return make(Op::subtract, (*this)[a].b, (*this)[a].a);
      if ((*this)[a].op == Op::multiply && is_constant((*this)[a].a))
        return multiply(fold(Op::negate, (*this)[a].a), (*this)[a].b);
      break;
    case Op::select:
      if (a_fixed) return is_constant(a, 0) ? c : b;
      if (b == c) return b;
      break;
    case Op::min:
    case Op::max:
      if (a == b) return a;
      break;
    default: break;
  }
  const bool constant_first = op == Op::multiply && is_constant(a);
  if (commutative(op) && b < a && !constant_first) std::swap(a, b);
  if (op == Op::multiply && is_constant(b)) std::swap(a, b);
  return intern({.op = op, .a = a, .b = b, .c = c});
}

Node Graph::power(Node a, Node b) {
  if (is_constant(a) && is_constant(b)) return make(Op::power, a, b);
  if (is_constant(b)) {
    const double exponent = value(b);
    if (exponent == 0) return constant(1);
    if (exponent == 1) return a;
    if (exponent == 0.5) return make(Op::sqrt, a);
    if (exponent < 0 && exponent >= -8 && exponent == std::floor(exponent))
      return divide(constant(1), power(a, constant(-exponent)));
    if (exponent > 0 && exponent <= 8 && exponent == std::floor(exponent)) {
      const int n = static_cast<int>(exponent);
      const Node half = power(a, constant(n / 2));
      const Node even = multiply(half, half);
      return n % 2 == 0 ? even : multiply(even, a);
    }
  }
  return make(Op::power, a, b);
}

std::vector<Node> cone_of(const Graph& graph, std::span<const Node> functions, std::span<const Node> ends) {
  std::unordered_set<Node> seen(ends.begin(), ends.end());
  std::vector<Node> cone, stack;
  const auto visit = [&](Node n) {
    if (seen.insert(n).second) stack.push_back(n);
  };
  for (const Node f : functions) visit(f);
  while (!stack.empty()) {
    const Node n = stack.back();
    stack.pop_back();
    cone.push_back(n);
    const Graph::Entry& e = graph[n];
    const Node operands[] = {e.a, e.b, e.c};
    for (int k = 0; k < arity(e.op); ++k) visit(operands[k]);
  }
  std::sort(cone.begin(), cone.end());
  return cone;
}

}  // namespace hinge
