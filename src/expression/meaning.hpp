// What operators, powers and primes make of the values they stand between, and the messages where they make nothing.
#pragma once

#include <string>
#include <string_view>

#include "expression/token_reader.hpp"
#include "expression/value.hpp"

namespace hinge::language {

inline std::string describe(const Value& value) { return describe_shape(value.shape); }

class Meaning : protected TokenReader {
 protected:
  Meaning(std::string_view text, const Scope& scope, const Call* call, std::size_t spent)
      : TokenReader(text, scope, call), graph_(*scope.graph), work_(spent) {}

  /// A binary operator and the first tokens of its operands, for messages.
  struct Place {
    Position op, left, right;
  };

  Value combine(Place place, Value left, Value right);
  Value raise(Place place, const Value& base, const Value& exponent);
  void differentiate(Value& value, Position prime);
  bool may_jump(Node function) const;
  double constant_of(const Value& value, Position at, std::string_view what) const;
  void spend(std::size_t work);
  std::size_t spent() const { return work_; }
  /// Refuses nested sums as soon as it is foreseeable that they are too much. Where inner bounds depend on outer
  /// indices, `work` may be `depth`! times what they come to.
  void expect_affordable(Position at, double work, std::size_t depth) const;
  Node make(Op op, Node a, Node b, Position at, Position first);
  /// make(op, a, b) for the operations on values.
  auto maker(Position at, Position first) {
    return [this, at, first](Op op, Node a, Node b) { return make(op, a, b, at, first); };
  }
  [[noreturn]] void fail_not_finite(Position at, Position first, double value) const;

  Graph& graph_;

 private:
  Value multiply(Place place, Value left, Value right);
  Value divide(Place place, Value left, const Value& right);
  std::string variable_in(Node node) const;

  std::size_t work_;
};

}  // namespace hinge::language
