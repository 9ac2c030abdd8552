#include "expression/lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "expression/utf8.hpp"
#include "hinge/error.hpp"

namespace hinge::language {

void Source::fail(std::size_t offset, std::string cause) const {
  throw ExpressionError(std::move(cause), std::string(text), column_of(text, offset));
}

namespace {

constexpr std::size_t longest_text = std::size_t{1} << 30;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

struct Spelling {
  std::string_view text;
  Kind kind;
  std::string_view instead = "";  // for what people write from habit and this language spells otherwise
};
constexpr std::array spellings = {
    Spelling{"**", Kind::end, "^"},
    Spelling{"=>", Kind::end, ">="},
    Spelling{"=<", Kind::end, "<="},
    Spelling{"<>", Kind::end, "!="},
    Spelling{"&&", Kind::end, "and"},
    Spelling{"||", Kind::end, "or"},
    Spelling{"<=", Kind::less_equal},
    Spelling{">=", Kind::greater_equal},
    Spelling{"==", Kind::equal},
    Spelling{"!=", Kind::not_equal},
    Spelling{"=", Kind::end, "=="},
    Spelling{"!", Kind::end, "not"},
    Spelling{"&", Kind::end, "and"},
    Spelling{"?", Kind::end, "if(condition, a, b)"},
    Spelling{"|", Kind::end, "or"},
    Spelling{"+", Kind::plus},
    Spelling{"-", Kind::minus},
    Spelling{"*", Kind::times},
    Spelling{"/", Kind::divide},
    Spelling{"^", Kind::caret},
    Spelling{"(", Kind::open_parenthesis},
    Spelling{")", Kind::close_parenthesis},
    Spelling{"[", Kind::open_bracket},
    Spelling{"]", Kind::close_bracket},
    Spelling{",", Kind::comma},
    Spelling{"'", Kind::prime},
    Spelling{"<", Kind::less},
    Spelling{">", Kind::greater},
    Spelling{"{", Kind::end, "( or ["},
    Spelling{"}", Kind::end, ") or ]"},
};

/// Characters that people paste from formatted text, and how they are written here.
struct Substitute {
  std::uint32_t code;
  std::string_view text;
};
constexpr std::array substitutes = {
    Substitute{0xB2, "^2"},   Substitute{0xB3, "^3"},  Substitute{0xB7, "*"},      Substitute{0xD7, "*"},
    Substitute{0xF7, "/"},    Substitute{0x3C0, "pi"}, Substitute{0x2019, "'"},    Substitute{0x2032, "'"},
    Substitute{0x2212, "-"},  Substitute{0x2013, "-"}, Substitute{0x2260, "!="},   Substitute{0x2264, "<="},
    Substitute{0x2265, ">="}, Substitute{0x22C5, "*"}, Substitute{0x221A, "sqrt"}, Substitute{0xA0, "a space"},
};

class Lexer {
 public:
  explicit Lexer(Source source) : source_(source), text_(source.text) {}

  Tokens run();

 private:
  void read_number();
  void read_name();
  void read_operator();
  [[noreturn]] void fail_character() const;

  void push(Kind kind, std::size_t size, std::size_t link = 0) {
    const auto begin = static_cast<std::uint32_t>(at_);
    tokens_.list.push_back({.kind = kind,
                            .begin = begin,
                            .end = begin + static_cast<std::uint32_t>(size),
                            .link = static_cast<std::uint32_t>(link)});
    at_ += size;
  }

  Source source_;
  std::string_view text_;
  std::size_t at_ = 0;
  Tokens tokens_;
  std::unordered_map<std::string_view, std::size_t> numbers_of_names_;
};

Tokens Lexer::run() {
  if (text_.size() > longest_text) source_.fail(0, "the expression is longer than 1 GiB; split it");
  while (true) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ == text_.size()) break;
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      read_number();
    else if (starts_name(c))
      read_name();
    else
      read_operator();
  }
  if (tokens_.list.empty()) source_.fail(0, "the expression is empty; write at least a number");
  at_ = tokens_.list.back().end;  // trouble at the end is shown right behind what was written
  push(Kind::end, 0);
  return std::move(tokens_);
}

void Lexer::read_number() {
  std::size_t end = at_;
  const auto skip_digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  skip_digits();
  if (end < text_.size() && text_[end] == '.') ++end;
  skip_digits();
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent])) {
      end = exponent;
      skip_digits();
    }
  }
  if (end < text_.size() && text_[end] == '.')
    source_.fail(end, "a second '.' in a number; write a number like 1.5 or 1e-3");
  double value = 0;
  const auto result = std::from_chars(text_.data() + at_, text_.data() + end, value);
  if (result.ec != std::errc())
    source_.fail(at_, "this number is too large or too small: magnitudes go from about 5e-324 to 1.8e308");
  tokens_.numbers.push_back(value);
  push(Kind::number, end - at_, tokens_.numbers.size() - 1);
}

void Lexer::read_name() {
  std::size_t end = at_;
  while (end < text_.size() && continues_name(text_[end])) ++end;
  const std::string_view name = text_.substr(at_, end - at_);
  if (name == "and") return push(Kind::logical_and, name.size());
  if (name == "or") return push(Kind::logical_or, name.size());
  if (name == "not") return push(Kind::logical_not, name.size());
  const auto [place, is_new] = numbers_of_names_.try_emplace(name, tokens_.names.size());
  if (is_new) tokens_.names.push_back(name);
  push(Kind::name, name.size(), place->second);
}

void Lexer::read_operator() {
  for (const Spelling& spelling : spellings) {
    if (text_.substr(at_, spelling.text.size()) != spelling.text) continue;
    if (!spelling.instead.empty())
      source_.fail(at_, fmt::format("'{}' is not part of the language; write {}", spelling.text, spelling.instead));
    return push(spelling.kind, spelling.text.size());
  }
  fail_character();
}

void Lexer::fail_character() const {
  const Character c = decode_utf8(text_, at_);
  if (!c.valid) source_.fail(at_, fmt::format("byte 0x{:02X} is not UTF-8 text", c.code));
  std::string shown = fmt::format("U+{:04X}", c.code);
  if (visible(c)) {
    const std::string mark = fmt::format("'{}'", text_.substr(at_, c.size));
    shown = c.code < 0x80 ? mark : fmt::format("{} ({})", mark, shown);
  }
  std::string cause = fmt::format("character {} is not part of the language", shown);
  const auto* substitute = std::ranges::find(substitutes, c.code, &Substitute::code);
  if (substitute != substitutes.end()) cause += fmt::format("; write {}", substitute->text);
  source_.fail(at_, std::move(cause));
}

void match_brackets(Source source, std::vector<Token>& tokens) {
  std::vector<std::size_t> open;
  std::size_t parentheses = 0;  // among `open`
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const Kind kind = tokens[k].kind;
    if (kind == Kind::open_parenthesis || kind == Kind::open_bracket) {
      open.push_back(k);
      if (kind == Kind::open_parenthesis) ++parentheses;
    } else if (kind == Kind::comma && !open.empty()) {
      ++tokens[open.back()].commas;
    } else if (kind == Kind::close_parenthesis || kind == Kind::close_bracket) {
      const bool round = kind == Kind::close_parenthesis;
      const char opening = round ? '(' : '[', closing = round ? ')' : ']';
      if ((round ? parentheses : open.size() - parentheses) == 0)
        source.fail(tokens[k].begin,
                    fmt::format("this '{}' closes nothing; remove it or add the missing '{}'", closing, opening));
      Token& opener = tokens[open.back()];
      if ((opener.kind == Kind::open_parenthesis) != round)
        source.fail(opener.begin,
                    fmt::format("this '{}' is never closed: a '{}' comes first", round ? '[' : '(', closing));
      opener.link = static_cast<std::uint32_t>(k);
      open.pop_back();
      if (round) --parentheses;
    }
  }
  if (open.empty()) return;
  const Token& opener = tokens[open.front()];
  const bool round = opener.kind == Kind::open_parenthesis;
  source.fail(opener.begin,
              fmt::format("this '{}' is never closed; add the missing '{}'", round ? '(' : '[', round ? ')' : ']'));
}

}  // namespace

namespace {

Tokens split(Source source) {
  Tokens tokens = Lexer(source).run();
  match_brackets(source, tokens.list);
  return tokens;
}

}  // namespace

namespace {

struct KnownText {
  std::string text;
  Tokens tokens;  // names in the text
};

std::vector<std::string_view> names_in(std::string_view to, std::string_view from,
                                       const std::vector<std::string_view>& names) {
  std::vector<std::string_view> moved;
  moved.reserve(names.size());
  for (const std::string_view name : names)
    moved.push_back(to.substr(static_cast<std::size_t>(name.data() - from.data()), name.size()));
  return moved;
}

}  // namespace

// The members of a family have one text, which is split for the first of them; and the runs of a sweep have the same
// texts.
Tokens tokenise(Source source) {
  constexpr std::size_t longest = 4096, most = 32;
  thread_local std::array<KnownText, most> known;
  thread_local std::size_t oldest = 0, last = 0;
  const auto is_it = [&](const KnownText& k) { return source.text == k.text && !k.tokens.list.empty(); };
  if (!is_it(known[last])) {
    const auto found = std::find_if(known.begin(), known.end(), is_it);
    if (found == known.end()) {
      Tokens tokens = split(source);
      if (source.text.size() > longest) return tokens;
      KnownText& k = known[oldest];
      k.tokens.list.clear();  // nothing is known while memory may run out
      k.text = source.text;
      k.tokens.names = names_in(k.text, source.text, tokens.names);
      k.tokens.numbers = tokens.numbers;
      k.tokens.list = tokens.list;
      last = oldest;
      oldest = (oldest + 1) % most;
      return tokens;
    }
    last = static_cast<std::size_t>(found - known.begin());
  }
  const KnownText& k = known[last];
  return {k.tokens.list, k.tokens.numbers, names_in(source.text, k.text, k.tokens.names)};
}

}  // namespace hinge::language
