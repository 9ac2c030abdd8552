// The grammar: a recursive descent over the tokens that makes graph nodes as it goes. Operators are in parse.cpp,
// function calls in calls.cpp.
#pragma once

#include <cmath>
#include <string_view>

#include "expression/meaning.hpp"

namespace hinge::language {

enum Level { none, disjunction, conjunction, negation, comparison, additive, multiplicative };

class Parser : private Meaning {
 public:
  Parser(std::string_view text, const Scope& scope, const Call* call = nullptr, std::size_t spent = 0)
      : Meaning(text, scope, call, spent) {}
  using Meaning::spent;

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
  Value read_steps(const Function& function);
  Value read_user_call(Position name);
  Value read_table(Position name);
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

}  // namespace hinge::language
