#include "expression/meaning.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "expression/table.hpp"
#include "hinge/error.hpp"

namespace hinge::language {

namespace {

// What one expression may expand to: nodes made, entries copied, and tokens that sums read again. Nested sums and sums
// over whole arrays multiply: a short text could otherwise ask for years of work.
constexpr std::size_t most_work = 20'000'000;
const char* const too_many_operations =
    "this expression expands to too many operations; make its sums or arrays smaller";

}  // namespace

Value Meaning::combine(Place place, Value left, Value right) {
  const Kind op = tokens_[place.op].kind;
  if (op == Kind::times) return multiply(place, std::move(left), std::move(right));
  if (op == Kind::divide) return divide(place, std::move(left), right);
  if (op == Kind::plus || op == Kind::minus) {
    if (left.shape != right.shape)
      fail(place.op, fmt::format("cannot {} {} and {}; both must be alike", op == Kind::plus ? "add" : "subtract",
                                 describe(left), describe(right)));
    return entrywise(op == Kind::plus ? Op::add : Op::subtract, std::move(left), right, maker(place.op, place.left));
  }
  for (const auto& [operand, first] : {std::pair{&left, place.left}, std::pair{&right, place.right}})
    if (!operand->scalar())
      fail(first, fmt::format("{} takes numbers, but this is {}", shown(place.op), describe(*operand)));
  const Node a = left.node(), b = right.node();
  const auto result = [&](Op operation, Node x, Node y) {
    return scalar_value(make(operation, x, y, place.op, place.left));
  };
  switch (op) {
    case Kind::less: return result(Op::less, a, b);
    case Kind::less_equal: return result(Op::less_equal, a, b);
    case Kind::greater: return result(Op::less, b, a);
    case Kind::greater_equal: return result(Op::less_equal, b, a);
    case Kind::equal: return result(Op::equal, a, b);
    case Kind::not_equal: return result(Op::not_equal, a, b);
    case Kind::logical_and: return result(Op::logical_and, a, b);
    default: return result(Op::logical_or, a, b);
  }
}

Value Meaning::multiply(Place place, Value left, Value right) {
  const auto make_here = maker(place.op, place.left);
  if (right.scalar()) return scale(Op::multiply, std::move(left), right.node(), make_here);
  if (left.scalar()) return scale(Op::multiply, std::move(right), left.node(), make_here);
  fail(place.op,
       fmt::format("cannot multiply {} by {} with '*'; write dot(a, b) for their scalar product{}", describe(left),
                   describe(right), left.shape[0] == 3 ? " or cross(a, b) for their vector product" : ""));
}

Value Meaning::divide(Place place, Value left, const Value& right) {
  if (!right.scalar()) fail(place.right, fmt::format("cannot divide by {}; divide by a number", describe(right)));
  if (graph_.is_constant(right.node(), 0)) {
    const bool literal = at_ - place.right == 1 && tokens_[place.right].kind == Kind::number;
    fail(place.right, "division by zero" + (literal ? "" : ": " + quote(place.right, at_) + " is 0" + with_indices()));
  }
  return scale(Op::divide, std::move(left), right.node(), maker(place.op, place.left));
}

Value Meaning::raise(Place place, const Value& base, const Value& exponent) {
  if (!base.scalar())
    fail(place.left,
         fmt::format("cannot raise {} to a power; for the square of its length write dot(a, a)", describe(base)));
  if (!exponent.scalar())
    fail(place.right, fmt::format("an exponent must be a number, but this is {}", describe(exponent)));
  return scalar_value(make(Op::power, base.node(), exponent.node(), place.op, place.left));
}

/// The operation as a node; refuses numbers that fold to NaN or infinity. `at` is the operator or function,
/// `first` the token where its text begins.
Node Meaning::make(Op op, Node a, Node b, Position at, Position first) {
  spend(1);
  const Node node = op == Op::power ? graph_.power(a, b) : graph_.make(op, a, b);
  const Graph::Entry& entry = graph_[node];
  if (entry.op == Op::constant) {
    if (!std::isfinite(entry.value)) fail_not_finite(at, first, entry.value);
  } else if (entry.op == Op::multiply && graph_.is_constant(entry.a) &&
             !graph_.passes([](double x) { return std::isfinite(x); }, entry.a)) {
    fail_not_finite(at, first, graph_[entry.a].value);  // constant factors were gathered and overflowed
  }
  return node;
}

void Meaning::fail_not_finite(Position at, Position first, double value) const {
  fail(at, fmt::format("{} is {}{}; check the numbers in it", quote(first, std::max(at_, first + 1)),
                       std::isnan(value) ? "not a real number" : "infinite", with_indices()));
}

// Something that jumps may be in it: conditions, signs, tables of steps. A flat table is none.
bool Meaning::may_jump(Node function) const {
  for (const Node n : cone_of(graph_, std::span(&function, 1))) {
    const Graph::Entry& e = graph_[n];
    if (e.op == Op::sign || e.op == Op::logical_not || (e.op >= Op::less && e.op <= Op::select)) return true;
    if (e.op != Op::table) continue;
    const Table& table = *graph_.table(e);
    if (!std::isfinite(table.slopes(table.range()).width())) return true;
  }
  return false;
}

void Meaning::differentiate(Value& value, Position prime) {
  if (!scope_.rate) fail(prime, "there is no time derivative here; remove the prime");
  spend(value.entries.size());
  for (std::size_t k = 0; scope_.why_no_rate && k < value.entries.size(); ++k)
    if (std::string reason = scope_.why_no_rate(value.entries[k]); !reason.empty()) fail(prime, std::move(reason));
  try {
    for (Node& entry : value.entries) {
      const Node before = std::exchange(entry, scope_.rate(entry));
      if (!graph_.is_constant(before) && graph_.is_constant(entry, 0) && may_jump(before))
        fail(prime,
             "this changes by jumps alone, at which it has no time derivative; give it an unknown u of its own in a "
             "[dae], u = ..., and write u', or make it change within a short time");
    }
  } catch (const InputError& error) {
    fail(prime, error.what());
  }
}

double Meaning::constant_of(const Value& value, Position at, std::string_view what) const {
  if (!value.scalar()) fail(at, fmt::format("{} must be a number, but is {}", what, describe(value)));
  if (!graph_.is_constant(value.node()))
    fail(at, fmt::format("{} must be a constant, but depends on '{}'", what, variable_in(value.node())));
  return graph_.value(value.node());
}

/// Some variable that the node depends on. Constants are folded, so every other node has an operand that is none.
std::string Meaning::variable_in(Node node) const {
  while (graph_[node].op != Op::variable) {
    const Graph::Entry& entry = graph_[node];
    node = !graph_.is_constant(entry.a)                          ? entry.a
           : arity(entry.op) == 3 && graph_.is_constant(entry.b) ? entry.c
                                                                 : entry.b;
  }
  return graph_.variable_name(graph_[node].a);
}

void Meaning::spend(std::size_t work) {
  work_ += work;
  if (work_ > most_work) fail(0, too_many_operations);
}

void Meaning::expect_affordable(Position at, double work, std::size_t depth) const {
  if (work > 1.5 * static_cast<double>(most_work) * std::tgamma(static_cast<double>(depth) + 1))
    fail(at, too_many_operations);
}

}  // namespace hinge::language
