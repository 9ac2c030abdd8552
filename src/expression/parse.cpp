// The grammar: a recursive descent over the tokens that makes graph nodes as it goes.
#include "expression/parse.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "expression/meaning.hpp"

namespace hinge {

namespace language {

namespace {

constexpr double most_terms = 2e6;

enum Level { none, disjunction, conjunction, negation, comparison, additive, multiplicative };

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

class Parser : private Meaning {
 public:
  Parser(std::string_view text, const Scope& scope) : Meaning(text, scope) {}

  Value read_all() {
    Value result = read_expression();
    if (kind() != Kind::end) fail_after_operand();
    return result;
  }

  double require_constant(const Value& value) const {
    const double number = constant_of(value, 0, "this expression");
    if (!std::isfinite(number)) fail_not_finite(0, 0, number);
    return number;
  }

 private:
  // Reading, loosest first.
  Value read_expression() { return read_binary(disjunction); }
  Value read_binary(Level loosest);
  Value read_not();
  Value read_unary();
  Value read_power();
  Value read_postfix();
  Value read_primary();
  Value read_parenthesised();
  Value read_vector();
  Value read_call(const Function& function);
  Value read_numbers_call(const Function& function, Position name);
  Value read_vectors_call(const Function& function, Position name);
  Value read_if();
  Value read_sum(Position name);
  ValueView read_index(ValueView view, Position base);
  Value read_vector_argument(const Function& function);
  Node read_scalar(std::string_view who);
  double read_integer(std::string_view what);

  double repeats_ = 1;           // how often what is read now is read, by the sums around it
  std::size_t deepest_sum_ = 0;  // inside of how many sums a sum has been read
};

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
    if (!name.function) fail_call_of(at_);
    return read_call(*name.function);
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

// ------------------------------------------------------------------------------------------ function calls

Value Parser::read_call(const Function& function) {
  const Nesting nesting(*this, at_);
  const Position name = at_;
  check_argument_count(function, name);
  at_ += 2;  // the name and the parenthesis
  switch (function.form) {
    case Form::numbers: return read_numbers_call(function, name);
    case Form::conditional: return read_if();
    case Form::sum: return read_sum(name);
    case Form::dot:
    case Form::cross:
    case Form::norm: break;
  }
  return read_vectors_call(function, name);
}

Value Parser::read_numbers_call(const Function& function, Position name) {
  Node result = read_scalar(function.name);
  while (kind() == Kind::comma) {
    ++at_;
    const Node next = read_scalar(function.name);
    result = make(function.op, result, next, name, name);
  }
  expect(Kind::close_parenthesis);
  if (function.most == 1) result = make(function.op, result, no_node, name, name);
  return scalar_value(result);
}

Value Parser::read_vectors_call(const Function& function, Position name) {
  const Node zero = graph_.constant(0);
  const Value a = read_vector_argument(function);
  if (function.form == Form::norm) {
    expect(Kind::close_parenthesis);
    return scalar_value(make(Op::sqrt, dot(zero, a, a, maker(name, name)), no_node, name, name));
  }
  expect(Kind::comma);
  const Position second = at_;
  const Value b = read_vector_argument(function);
  expect(Kind::close_parenthesis);
  if (a.shape != b.shape)
    fail(second, fmt::format("{} takes two vectors of equal length, but the lengths are {} and {}", function.name,
                             a.shape[0], b.shape[0]));
  if (function.form == Form::dot) return scalar_value(dot(zero, a, b, maker(name, name)));
  if (a.shape[0] != 2 && a.shape[0] != 3)
    fail(name,
         fmt::format("cross takes vectors of length 3 (or 2, for a number), but these have length {}", a.shape[0]));
  return cross(a, b, maker(name, name));
}

Value Parser::read_vector_argument(const Function& function) {
  const Position first = at_;
  Value argument = read_expression();
  if (!argument.vector())
    fail(first, fmt::format("{} takes vectors, but this is {}", function.name, describe(argument)));
  return argument;
}

Node Parser::read_scalar(std::string_view who) {
  const Position first = at_;
  const Value argument = read_expression();
  if (!argument.scalar())
    fail(first, fmt::format("{} takes numbers, but this is {}{}", who, describe(argument),
                            who == "abs" ? "; for its length write norm(...)" : ""));
  return argument.node();
}

Value Parser::read_if() {
  const Node condition = read_scalar("the condition of if");
  expect(Kind::comma);
  if (graph_.is_constant(condition)) {
    const bool holds = graph_.value(condition) != 0;
    if (!holds) {
      skip(Kind::end);
      expect(Kind::comma);
    }
    const double around = std::exchange(repeats_, 1);  // other terms of the sums around may go the other way
    Value taken = read_expression();
    repeats_ = around;
    if (holds) {
      expect(Kind::comma);
      skip(Kind::end);
    }
    expect(Kind::close_parenthesis);
    return taken;
  }
  const Value yes = read_expression();
  expect(Kind::comma);
  const Position second = at_;
  const Value no = read_expression();
  expect(Kind::close_parenthesis);
  if (yes.shape != no.shape)
    fail(second, fmt::format("both branches of if must be alike: the first is {}, this one is {}", describe(yes),
                             describe(no)));
  return entrywise(Op::select, yes, no, [&](Op op, Node a, Node b) {
    spend(1);
    return graph_.make(op, condition, a, b);
  });
}

Value Parser::read_sum(Position name) {
  const Position close = tokens_[name + 1].link;
  if (kind() != Kind::name || kind_after() != Kind::comma)
    fail(at_, "the first argument of sum is the name of its index, as in sum(i, 0, 3, q[i])");
  Symbol& index = symbol(at_);
  if (index.function)
    fail(at_, fmt::format("'{}' is a function; choose another name for the index of sum", index.name));
  at_ += 2;
  const double first = read_integer("the first index of sum");
  expect(Kind::comma);
  const double last = read_integer("the last index of sum");
  expect(Kind::comma);
  const Position body = at_;
  const double terms = last - first + 1;
  if (terms > most_terms)
    fail(name, fmt::format("this sum has {:g} terms; at most {:g} are possible", terms, most_terms));
  if (terms > 0) spend(static_cast<std::size_t>(terms) * (close - body));
  const double around = repeats_;  // how often this sum will be read, by sums around it
  repeats_ *= std::max(terms, 1.0);

  Value total = scalar_value(graph_.constant(0));
  const Node hidden = index.bound;
  indices_.push_back(&index);
  deepest_sum_ = std::max(deepest_sum_, indices_.size());
  std::size_t spent_before = spent(), cheapest = spent_before;
  for (int k = 0; k < terms; ++k) {
    const std::size_t last_term = spent() - std::exchange(spent_before, spent());
    cheapest = k <= 2 ? last_term : std::min(cheapest, last_term);  // the first one may be special
    if (k == 3) expect_affordable(name, repeats_ * static_cast<double>(cheapest), deepest_sum_);
    at_ = body;
    index.bound = graph_.constant(first + k);
    Value term = read_expression();
    expect(Kind::close_parenthesis);
    if (k == 0) {
      total = std::move(term);
      continue;
    }
    if (term.shape != total.shape)
      fail(body, fmt::format("the terms of a sum must be alike: the first is {}, this one is {}{}", describe(total),
                             describe(term), with_indices()));
    total = entrywise(Op::add, std::move(total), term, maker(name, name));
  }
  indices_.pop_back();
  repeats_ = around;
  index.bound = hidden;
  at_ = close + 1;
  return total;
}

double Parser::read_integer(std::string_view what) {
  const Position first = at_;
  const double value = constant_of(read_expression(), first, what);
  // Beyond 2^53 neighbouring integers are the same number.
  if (value != std::floor(value) || std::abs(value) > 9007199254740992.0)
    fail(first, fmt::format("{} must be an integer, but {} is {}{}", what, quote(first, at_), value, with_indices()));
  return value;
}

}  // namespace

}  // namespace language

Value parse(std::string_view text, const Scope& scope) { return language::Parser(text, scope).read_all(); }

double parse_number(std::string_view text, const Scope& scope) {
  language::Parser parser(text, scope);
  return parser.require_constant(parser.read_all());
}

}  // namespace hinge
