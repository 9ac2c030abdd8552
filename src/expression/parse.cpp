#include "expression/parse.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "expression/parser.hpp"

namespace hinge {

namespace language {

namespace {

Level level_of(Kind kind) {
  switch (kind) {
    case Kind::logical_or: return disjunction;
    case Kind::logical_and: return conjunction;
    case Kind::less:
    case Kind::less_equal:
    case Kind::greater:
    case Kind::greater_equal:
    case Kind::equal:
    case Kind::not_equal: return comparison;
    case Kind::plus:
    case Kind::minus: return additive;
    case Kind::times:
    case Kind::divide: return multiplicative;
    default: return none;
  }
}

}  // namespace

Value Parser::read_binary(Level loosest) {
  const Position first = at_;
  Value left = kind() == Kind::logical_not && loosest <= negation ? read_not() : read_unary();
  while (true) {
    const Kind op = kind();
    const Level level = level_of(op);
    if (level == none || level < loosest) return left;
    const Place place{at_, first, at_ + 1};
    ++at_;
    // As for `if`: what a known left side already decides is not read, so that it may guard its right side.
    if (level <= conjunction && left.scalar() && graph_.is_constant(left.node()) &&
        (graph_.value(left.node()) != 0) == (op == Kind::logical_or)) {
      skip(op == Kind::logical_and ? Kind::logical_or : Kind::end);
      left = scalar_value(graph_.constant(op == Kind::logical_or ? 1 : 0));
      continue;
    }
    Value right = read_binary(static_cast<Level>(level + 1));
    left = combine(place, std::move(left), std::move(right));
    if (level == comparison && level_of(kind()) == comparison)
      fail(at_, "comparisons do not chain; write a < b and b < c");
  }
}

Value Parser::read_not() {
  const Nesting nesting(*this, at_);
  const Position op = at_++;
  const Position first = at_;
  const Value operand = read_binary(negation);
  if (!operand.scalar()) fail(first, fmt::format("'not' takes a number, but this is {}", describe(operand)));
  return scalar_value(make(Op::logical_not, operand.node(), no_node, op, op));
}

Value Parser::read_unary() {
  if (kind() != Kind::minus && kind() != Kind::plus) return read_power();
  const Nesting nesting(*this, at_);
  const Position op = at_++;
  Value operand = read_unary();
  if (tokens_[op].kind == Kind::plus) return operand;
  return scale(Op::negate, std::move(operand), no_node, maker(op, op));
}

Value Parser::read_power() {
  const Position first = at_;
  Value base = read_postfix();
  if (kind() != Kind::caret) return base;
  const Nesting nesting(*this, at_);
  const Place place{at_, first, at_ + 1};
  ++at_;
  const Value exponent = read_unary();
  return raise(place, base, exponent);
}

Value Parser::read_postfix() {
  const Position first = at_;
  Value own;
  const Value* base = &own;
  const bool named = kind() == Kind::name && symbol(at_).value && symbol(at_).bound == no_node;
  if (named && kind_after() != Kind::open_parenthesis) {
    base = symbol(at_).value;
    if (base->shape.size() > 2) fail(at_, fmt::format("'{}' has more than two dimensions", symbol(at_).name));
    ++at_;
  } else {
    own = read_primary();
    if (kind() != Kind::open_bracket && kind() != Kind::prime) return own;
  }

  // Indices and primes commute. Indices go first, so that q'[i] differentiates one entry and not all of q.
  ValueView view(*base);
  int primes = 0;
  Position prime = at_;
  while (true) {
    if (kind() == Kind::open_bracket) {
      view = read_index(view, first);
    } else if (kind() == Kind::prime) {
      if (tokens_[at_ - 1].kind == Kind::number)
        fail(at_, fmt::format("this prime belongs to the number {} alone; put what it differentiates in parentheses",
                              quote(at_ - 1, at_)));
      if (primes++ == 0) prime = at_;
      ++at_;
    } else {
      break;
    }
  }
  spend(view.entries.size());
  Value result = view.copy();
  for (int k = 0; k < primes; ++k) differentiate(result, prime);
  return result;
}

ValueView Parser::read_index(ValueView view, Position base) {
  const Nesting nesting(*this, at_);
  const Position open = at_++;
  if (view.shape.empty())
    fail(open, fmt::format("{} is a number and cannot be indexed; remove the index", quote(base, open)));
  if (kind() == Kind::close_bracket) fail(at_, "expected an index, found ']'; indices count from 0");
  const Position first = at_;
  const double index = read_integer("an index");
  if (kind() == Kind::comma) fail(at_, "one index per pair of brackets; write q[i][j] and not q[i, j]");
  expect(Kind::close_bracket);
  const int rows = view.shape[0];
  if (index < 0 || index >= rows) {
    const std::string valid = rows == 0   ? "has no entries"
                              : rows == 1 ? "has one entry, with index 0"
                                          : fmt::format("has indices 0 to {}", rows - 1);
    fail(first, fmt::format("index {} is out of range: {} {}{}", index, quote(base, open), valid, with_indices()));
  }
  return view[static_cast<std::size_t>(index)];
}

Value Parser::read_primary() {
  switch (kind()) {
    case Kind::number: return scalar_value(graph_.constant(numbers_[tokens_[at_++].link]));
    case Kind::open_parenthesis: return read_parenthesised();
    case Kind::open_bracket: return read_vector();
    case Kind::name: break;
    default: fail_expected_value();
  }
  const Symbol& name = symbol(at_);
  if (kind_after() == Kind::open_parenthesis) {
    if (name.function) return read_call(*name.function);
    if (name.user_function) return read_user_call(at_);
    if (name.table) return read_table(at_);
    fail_call_of(at_);
  }
  if (name.bound == no_node) fail_unknown_name(at_);  // names of the scope never come here
  ++at_;
  return scalar_value(name.bound);
}

Value Parser::read_parenthesised() {
  const Nesting nesting(*this, at_);
  ++at_;
  Value inside = read_expression();
  if (kind() == Kind::comma) fail(at_, "a ',' in plain parentheses; a vector is written [a, b, c]");
  expect(Kind::close_parenthesis);
  return inside;
}

Value Parser::read_vector() {
  const Nesting nesting(*this, at_);
  const int rows = static_cast<int>(tokens_[at_++].commas) + 1;
  if (kind() == Kind::close_bracket) fail(at_, "a vector needs at least one entry");
  Value result;
  for (int row = 0; row < rows; ++row) {
    const Position first = at_;
    const Value entry = read_expression();
    if (row == 0) result.shape = entry.shape;  // of one entry, until the rows are put in front
    if (entry.shape.size() > 1)
      fail(first, fmt::format("an entry of a vector is a number or a vector, but this is {}", describe(entry)));
    if (entry.shape != result.shape)
      fail(first, fmt::format("entries of one vector must be alike: the first is {}, this one is {}", describe(result),
                              describe(entry)));
    result.entries.insert(result.entries.end(), entry.entries.begin(), entry.entries.end());
    expect(row + 1 < rows ? Kind::comma : Kind::close_bracket);
  }
  result.shape.insert(result.shape.begin(), rows);
  return result;
}

}  // namespace language

Value parse(std::string_view text, const Scope& scope) { return language::Parser(text, scope).read_all(); }

double parse_number(std::string_view text, const Scope& scope) {
  language::Parser parser(text, scope);
  return parser.require_constant(parser.read_all());
}

}  // namespace hinge
