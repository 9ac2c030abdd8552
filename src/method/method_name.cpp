// Methods with their options in one text, as on a command line: "gauss-lobatto(stages=1), composition(base=rattle)".
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "expression/trimmed.hpp"
#include "hinge/error.hpp"
#include "hinge/method.hpp"

namespace hinge {

namespace {

constexpr const char* example = "write gauss-lobatto(stages=2),rattle";

// The pieces between commas that stand in no parentheses.
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) throw InputError(fmt::format("'{}': a ')' closes nothing; {}", text, example));
    if (c == ',' && depth == 0)
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  if (depth > 0) throw InputError(fmt::format("'{}': a '(' is never closed; {}", text, example));
  for (std::string& piece : pieces) piece = std::string(trimmed(piece));
  return pieces;
}

OptionValue option_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  double number = 0;
  const char* const end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, number); error == std::errc() && stop == end)
    return number;
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

MethodName read_name(const std::string& text) {
  const auto open = text.find('(');
  MethodName result{std::string(trimmed(text.substr(0, open))), {}};
  if (result.name.empty()) throw InputError(fmt::format("'{}': the name of a method is missing; {}", text, example));
  if (open == std::string::npos) return result;
  if (text.back() != ')')
    throw InputError(fmt::format("'{}': something follows the ')'; separate methods by commas: {}", text, example));
  const std::string inside(trimmed(text.substr(open + 1, text.size() - open - 2)));
  if (inside.empty()) return result;
  for (const std::string& option : split_list(inside)) {
    const auto equals = option.find('=');
    const std::string key(trimmed(option.substr(0, equals)));
    const std::string value = equals == std::string::npos ? "" : std::string(trimmed(option.substr(equals + 1)));
    if (key.empty() || value.empty())
      throw InputError(fmt::format("'{}': '{}' is no option with a value; {}", text, option, example));
    if (!result.options.emplace(key, option_value(value)).second)
      throw InputError(fmt::format("'{}': the option '{}' is given twice; keep one of them", text, key));
  }
  return result;
}

}  // namespace

std::string MethodName::text() const {
  std::string list;
  for (const auto& [key, value] : options) {
    list += (list.empty() ? "" : ",") + key + "=";
    if (const double* number = std::get_if<double>(&value))
      list += fmt::format("{}", *number);
    else if (const bool* flag = std::get_if<bool>(&value))
      list += *flag ? "true" : "false";
    else if (const std::string* word = std::get_if<std::string>(&value))
      list += *word;
    else
      list += "...";  // coefficients
  }
  return list.empty() ? name : fmt::format("{}({})", name, list);
}

std::vector<MethodName> parse_method_names(const std::string& text) {
  std::vector<MethodName> names;
  for (const std::string& piece : split_list(text)) names.push_back(read_name(piece));
  return names;
}

}  // namespace hinge
