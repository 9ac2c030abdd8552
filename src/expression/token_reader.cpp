#include "expression/token_reader.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "expression/suggest.hpp"
#include "expression/utf8.hpp"

namespace hinge::language {

namespace {

bool is_word(Kind kind) { return kind == Kind::number || kind == Kind::name; }

Symbol meaning_of(std::string_view name, const Scope& scope, const Call* call) {
  Symbol symbol{.name = name};
  if (const auto user = scope.functions.find(name); user != scope.functions.end()) symbol.user_function = &user->second;
  if (const auto table = scope.tables.find(name); table != scope.tables.end()) symbol.table = &table->second;
  for (std::size_t k = 0; call && k < call->arguments.size(); ++k)
    if (call->meaning.parameters[k] == name) {
      symbol.value = &call->arguments[k];
      return symbol;
    }
  const auto found = scope.names.find(name);
  if (found != scope.names.end())
    symbol.value = &found->second;
  else if (name == "pi")
    symbol.bound = scope.graph->constant(std::numbers::pi);
  const auto* function = std::ranges::find(functions, name, &Function::name);
  if (function != functions.end()) symbol.function = function;
  return symbol;
}

}  // namespace

TokenReader::TokenReader(std::string_view text, const Scope& scope, const Call* call)
    : scope_(scope), call_(call), source_{text} {
  Tokens tokens = tokenise(source_);
  tokens_ = std::move(tokens.list);
  numbers_ = std::move(tokens.numbers);
  for (const std::string_view name : tokens.names) symbols_.push_back(meaning_of(name, scope, call));
}

void TokenReader::expect(Kind wanted) {
  if (kind() != wanted) fail_after_operand();
  ++at_;
}

void TokenReader::skip(Kind also_stop_at) {
  const Position first = at_;
  while (kind() != Kind::end && kind() != Kind::comma && kind() != also_stop_at && kind() != Kind::close_parenthesis &&
         kind() != Kind::close_bracket) {
    const bool opens = kind() == Kind::open_parenthesis || kind() == Kind::open_bracket;
    at_ = opens ? tokens_[at_].link + 1 : at_ + 1;
  }
  if (at_ == first) fail_expected_value();
}

std::string TokenReader::quote(Position first, Position last) const {
  constexpr std::size_t longest = 40;
  const std::size_t begin = tokens_[first].begin, end = tokens_[last - 1].end;
  std::string text(source_.text.substr(begin, std::min(end - begin, longest)));
  std::ranges::replace_if(text, is_space, ' ');
  return fmt::format("'{}{}'", text, end - begin > longest ? "..." : "");
}

std::string TokenReader::shown(Position token) const {
  return tokens_[token].kind == Kind::end ? "the end of the expression" : quote(token, token + 1);
}

std::string TokenReader::with_indices() const {
  std::string list;
  for (const Symbol* index : indices_)
    list += fmt::format("{}{} = {}", list.empty() ? " (with " : ", ", index->name, scope_.graph->value(index->bound));
  return list.empty() ? list : list + ")";
}

void TokenReader::fail(Position token, std::string cause) const {
  source_.fail(tokens_[token].begin, std::move(cause));
}

void TokenReader::fail_expected_value() const {
  const std::string after = at_ > 0 ? " after " + shown(at_ - 1) : "";
  if (kind() == Kind::logical_not) fail(at_, "expected a value" + after + "; put 'not ...' in parentheses here");
  if (kind() == Kind::end) fail(at_, "expected a value" + after + ", but the expression ends here");
  fail(at_, fmt::format("expected a value{}, found {}", after, shown(at_)));
}

void TokenReader::fail_after_operand() const {
  const Kind next = kind();
  if (next == Kind::comma) fail(at_, "unexpected ','; a vector is written [a, b, c]");
  const bool starts_operand =
      is_word(next) || next == Kind::open_parenthesis || next == Kind::logical_not || next == Kind::open_bracket;
  if (!starts_operand) fail(at_, fmt::format("unexpected {}", shown(at_)));

  std::string cause = fmt::format("expected an operator between {} and {}", shown(at_ - 1), shown(at_));
  const Kind before = tokens_[at_ - 1].kind;
  const auto text = [&](Position token) {
    const std::string quoted = quote(token, token + 1);
    return quoted.substr(1, quoted.size() - 2);
  };
  if (next == Kind::name && !symbol(at_).has_value()) {
    const std::string word = nearest_name(symbol(at_).name, {"and", "or"});
    if (!word.empty()) fail(at_, fmt::format("{}; did you mean '{}'?", cause, word));
  }
  if (next == Kind::name && is_word(before))
    cause += fmt::format("; to multiply, write {}*{}", text(at_ - 1), text(at_));
  else if (next == Kind::open_parenthesis && is_word(before))
    cause += fmt::format("; to multiply, write {}*(...)", text(at_ - 1));
  else if (next != Kind::logical_not)
    cause += "; multiplication is written *, and entries are separated by ','";
  fail(at_, std::move(cause));
}

namespace {

// Of NAME_word, where there are others that begin with NAME_: the nearest of them, or all; empty where there are none,
// or `nearest` is no NAME_word of something else.
std::string of_the_same(const std::string& unknown, const std::string& nearest, const std::vector<std::string>& known) {
  constexpr std::size_t most = 8;
  for (std::size_t end = unknown.rfind('_'); end != std::string::npos && end > 0; end = unknown.rfind('_', end - 1)) {
    const std::string first = unknown.substr(0, end + 1), word = unknown.substr(end + 1);
    std::vector<std::string> family, words;
    for (const std::string& name : known)
      if (name.starts_with(first)) family.push_back(name), words.push_back(name.substr(end + 1));
    if (family.empty()) continue;
    if (!nearest.empty() && !nearest.starts_with(first) && !nearest.ends_with("_" + word)) return "";
    if (const std::string own = nearest_name(word, words); !own.empty())
      return fmt::format("did you mean '{}{}'?", first, own);
    std::ranges::sort(family);
    const bool all = family.size() <= most;
    family.resize(std::min(family.size(), most));
    return fmt::format("of '{}' there are {}{}", unknown.substr(0, end), fmt::join(family, ", "), all ? "" : ", ...");
  }
  return "";
}

}  // namespace

void TokenReader::fail_unknown_name(Position token) const {
  const Symbol& unknown = symbol(token);
  const std::string name = quote(token, token + 1);
  if (unknown.function) {
    const bool usage = !unknown.function->usage.empty();
    fail(token, fmt::format("{} is a function; write {}{}", name, usage ? unknown.function->usage : unknown.name,
                            usage ? "" : "(...)"));
  }
  if (unknown.user_function || unknown.table)
    fail(token, fmt::format("{} is a {}; write {}(...)", name, unknown.table ? "table" : "function", unknown.name));
  if (const auto at = scope_.elsewhere.find(unknown.name); at != scope_.elsewhere.end())
    fail(token, fmt::format("{} {}", name, at->second));
  for (const std::string_view dot : {"_dot", "dot"})
    if (const std::string_view of =
            unknown.name.substr(0, unknown.name.size() - std::min(dot.size(), unknown.name.size()));
        !of.empty() && unknown.name.ends_with(dot) && scope_.names.contains(of))
      fail(token, fmt::format("unknown name {0}; a derivative by the time is written with a prime: {1}'", name, of));
  std::vector<std::string> known;
  if (call_) known = call_->meaning.parameters;
  for (const auto& [key, value] : scope_.names) known.push_back(key);
  for (const Symbol* index : indices_) known.emplace_back(index->name);
  known.emplace_back("pi");
  const std::string list = known.size() > 12 ? "" : fmt::format("; known are {}", fmt::join(known, ", "));
  for (const Function& function : functions) known.emplace_back(function.name);

  const std::string nearest = nearest_name(unknown.name, known);
  if (const std::string family = of_the_same(std::string(unknown.name), nearest, known); !family.empty())
    fail(token, fmt::format("unknown name {}; {}", name, family));
  fail(token,
       fmt::format("unknown name {}{}", name, nearest.empty() ? list : fmt::format("; did you mean '{}'?", nearest)));
}

void TokenReader::fail_call_of(Position token) const {
  const Symbol& called = symbol(token);
  const std::string name = quote(token, token + 1);
  if (called.has_value())
    fail(token, fmt::format("{} is not a function; to multiply, write {}*(...)", name, called.name.substr(0, 40)));
  for (const std::string_view derivative : {"der", "diff", "ddt", "derivative"})
    if (called.name == derivative)
      fail(token, fmt::format("unknown function {}; a derivative by the time is written with a prime, as in x'", name));
  std::vector<std::string> known;
  for (const Function& function : functions) known.emplace_back(function.name);
  for (const auto& [key, value] : scope_.functions) known.push_back(key);
  for (const auto& [key, value] : scope_.tables) known.push_back(key);
  const std::string nearest = nearest_name(called.name, known);
  fail(token, fmt::format("unknown function {}; {}", name,
                          nearest.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                          : fmt::format("did you mean '{}'?", nearest)));
}

void TokenReader::fail_too_deep(Position token, int levels) const {
  fail(token, fmt::format("nested more than {} levels deep; name parts of the expression and use the names", levels));
}

void TokenReader::check_argument_count(std::size_t wanted, std::string_view usage, Position name) const {
  const Token& open = tokens_[name + 1];
  const std::size_t count = open.link == name + 2 ? 0 : open.commas + std::size_t{1};
  if (count == wanted) return;
  fail(name, fmt::format("{} takes {} argument{}, but {} {} given; write {}", symbol(name).name, wanted,
                         wanted == 1 ? "" : "s", count, count == 1 ? "is" : "are", usage));
}

void TokenReader::check_argument_count(const Function& function, Position name) const {
  const Token& open = tokens_[name + 1];
  const std::size_t count = open.link == name + 2 ? 0 : open.commas + std::size_t{1};
  if (count >= static_cast<std::size_t>(function.least) && count <= static_cast<std::size_t>(function.most)) return;
  const bool exact = function.least == function.most;
  fail(name, fmt::format("{} takes {}{} argument{}, but {} {} given{}", function.name, exact ? "" : "at least ",
                         function.least, function.least == 1 ? "" : "s", count, count == 1 ? "is" : "are",
                         function.usage.empty() ? "" : fmt::format("; write {}", function.usage)));
}

}  // namespace hinge::language
