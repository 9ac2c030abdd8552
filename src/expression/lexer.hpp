// Text -> tokens, with brackets matched. Knows how the language is spelt and nothing about what it means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hinge::language {

enum class Kind : std::uint8_t {
  end,
  number,
  name,
  open_parenthesis,
  close_parenthesis,
  open_bracket,
  close_bracket,
  comma,
  prime,
  plus,
  minus,
  times,
  divide,
  caret,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_not,
};

struct Token {
  Kind kind;
  std::uint32_t begin, end;  // bytes of the text
  std::uint32_t link = 0;    // number, name: which one; opening bracket: the token that closes it
  std::uint32_t commas = 0;  // opening bracket: commas directly inside
};

/// The text being read; for the errors in it.
struct Source {
  std::string_view text;
  /// Throws ExpressionError for the byte `offset`.
  [[noreturn]] void fail(std::size_t offset, std::string cause) const;
};

struct Tokens {
  std::vector<Token> list;  // ends with Kind::end
  std::vector<double> numbers;
  std::vector<std::string_view> names;  // each once
};

/// Splits the text. Every opening bracket knows the one that closes it and the commas between, so that a parser knows
/// the number of arguments before it reads them and can step over what it must not read.
Tokens tokenise(Source source);

}  // namespace hinge::language
