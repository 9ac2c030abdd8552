// A place in a list of tokens, what the names in it mean, and the messages about what should not stand there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expression/functions.hpp"
#include "expression/lexer.hpp"
#include "expression/parse.hpp"

namespace hinge::language {

/// Everything a name can mean, found once per name and not once per use.
struct Symbol {
  std::string_view name;
  const Value* value = nullptr;        // in the scope
  const Function* function = nullptr;  // when followed by a parenthesis
  const UserFunction* user_function = nullptr;
  const std::shared_ptr<const Table>* table = nullptr;
  Node bound = no_node;  // index of a sum that is being read (hides `value`), or a constant

  bool has_value() const { return value || bound != no_node; }
};

/// A call of a user's function that is being read: its parameters stand for these values.
struct Call {
  std::string_view function;
  const UserFunction& meaning;
  std::vector<Value> arguments;
  const Call* outer = nullptr;
};

class TokenReader {
 public:
  using Position = std::size_t;  // of a token

  TokenReader(std::string_view text, const Scope& scope, const Call* call = nullptr);

  Kind kind() const { return tokens_[at_].kind; }
  Kind kind_after() const { return kind() == Kind::end ? Kind::end : tokens_[at_ + 1].kind; }
  /// Steps over a token of this kind; anything else is an error.
  void expect(Kind wanted);
  /// Steps over an operand without giving it a meaning, up to the comma or bracket that ends it.
  void skip(Kind also_stop_at);
  Symbol& symbol(Position name) { return symbols_[tokens_[name].link]; }
  const Symbol& symbol(Position name) const { return symbols_[tokens_[name].link]; }

  /// The text of the tokens [first, last), on one line and not too long.
  std::string quote(Position first, Position last) const;
  std::string shown(Position token) const;
  /// " (with i = 3)" inside a sum: the text alone does not say which term is meant.
  std::string with_indices() const;

  [[noreturn]] void fail(Position token, std::string cause) const;
  [[noreturn]] void fail_expected_value() const;
  /// An operand is complete, and what follows neither continues nor ends it.
  [[noreturn]] void fail_after_operand() const;
  [[noreturn]] void fail_unknown_name(Position name) const;
  /// A name in front of a parenthesis that is no function.
  [[noreturn]] void fail_call_of(Position name) const;
  [[noreturn]] void fail_too_deep(Position token, int levels) const;
  void check_argument_count(const Function& function, Position name) const;
  /// The same for one of the user's: exactly so many.
  void check_argument_count(std::size_t wanted, std::string_view usage, Position name) const;

 protected:
  /// Something that may contain itself is being read; too deep is an error.
  class Nesting {
   public:
    Nesting(TokenReader& reader, Position token) : depth_(reader.depth_) {
      if (depth_ >= deepest) reader.fail_too_deep(token, deepest);
      ++depth_;
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    static constexpr int deepest = 200;
    int& depth_;
  };

  const Scope& scope_;
  const Call* call_;
  std::vector<Token> tokens_;
  std::vector<double> numbers_;
  std::vector<const Symbol*> indices_;  // of the sums being read, outermost first
  Position at_ = 0;

 private:
  Source source_;
  std::vector<Symbol> symbols_;
  int depth_ = 0;
};

}  // namespace hinge::language
