// Calls of functions: those of the language, the user's, and tables.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "expression/parser.hpp"
#include "expression/printable.hpp"
#include "expression/table.hpp"
#include "hinge/error.hpp"

namespace hinge::language {

namespace {

constexpr double most_terms = 2e6;

}  // namespace

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
    case Form::norm: return read_vectors_call(function, name);
    default: return read_steps(function);
  }
}

// floor and what is made of it
Value Parser::read_steps(const Function& function) {
  const Position name = at_ - 2;
  Node a[3] = {};
  for (int k = 0; k < function.least; ++k) {
    if (k > 0) expect(Kind::comma);
    const Position first = at_;
    a[k] = read_scalar(function.name);
    if (k > 0 && graph_.is_constant(a[k], 0) && !(function.form == Form::pulse && k == 2))
      fail(first, fmt::format("this is 0, and so is what {} divides by; write {}", function.name, function.usage));
  }
  expect(Kind::close_parenthesis);
  const auto node = [&](Op op, Node x, Node y = no_node) { return make(op, x, y, name, name); };
  const auto remainder = [&](Node x, Node by) {
    return node(Op::subtract, x, node(Op::multiply, by, graph_.floor(node(Op::divide, x, by))));
  };
  switch (function.form) {
    case Form::floor: return scalar_value(graph_.floor(a[0]));
    case Form::ceil: return scalar_value(node(Op::negate, graph_.floor(node(Op::negate, a[0]))));
    case Form::round: return scalar_value(graph_.floor(node(Op::add, a[0], graph_.constant(0.5))));
    case Form::mod: return scalar_value(remainder(a[0], a[1]));
    default: return scalar_value(node(Op::less, remainder(a[0], a[1]), a[2]));  // pulse
  }
}

// The text of the function is read with the arguments in the place of its parameters.
Value Parser::read_user_call(Position name) {
  const Nesting nesting(*this, at_);
  const UserFunction& function = *symbol(name).user_function;
  Call call{symbol(name).name, function, {}, call_};
  check_argument_count(function.parameters.size(),
                       fmt::format("{}({})", call.function, fmt::join(function.parameters, ", ")), name);
  for (const Call* around = call_; around; around = around->outer)
    if (around->function == call.function)
      fail(name,
           fmt::format("{} calls itself; a function is expanded where it is called, so it cannot", call.function));
  at_ += 2;
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    if (k > 0) expect(Kind::comma);
    call.arguments.push_back(read_expression());
  }
  expect(Kind::close_parenthesis);
  spend(200 + 8 * function.body.size());  // what it takes to read it, whatever it makes
  try {
    Parser inner(function.body, scope_, &call, spent());
    Value result = inner.read_all();
    spend(inner.spent() - spent());
    return result;
  } catch (const ExpressionError& error) {
    fail(name, fmt::format("in the function {}, column {} of \"{}\": {}", call.function, error.column,
                           printable(function.body), error.cause));
  }
}

Value Parser::read_table(Position name) {
  const std::shared_ptr<const Table>& table = *symbol(name).table;
  check_argument_count(1, fmt::format("{}(x)", table->name()), name);
  const Nesting nesting(*this, at_);
  at_ += 2;
  const Position first = at_;
  const Node x = read_scalar(table->name());
  expect(Kind::close_parenthesis);
  spend(1);
  const Node result = graph_.table(table, x);
  if (graph_.is_constant(result) && !std::isfinite(graph_.value(result)))
    fail(first, fmt::format("{:g} is outside of the table {}, which goes from {:g} to {:g}", graph_.value(x),
                            table->name(), table->range().low, table->range().high));
  return scalar_value(result);
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

}  // namespace hinge::language
