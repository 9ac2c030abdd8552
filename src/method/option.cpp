// What tables of options say about values, in words.
#include "hinge/option.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/suggest.hpp"

namespace hinge {

namespace {

// "2, 4 or 6"
std::string alternatives(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : i + 1 == items.size() ? " or " : ", ") + items[i];
  return text;
}

std::vector<std::string> quoted(const std::vector<std::string>& words) {
  std::vector<std::string> list;
  for (const std::string& word : words) list.push_back(fmt::format("\"{}\"", word));
  return list;
}

// "1 to 12", "more than 0, at most 1"
std::string range_text(const OptionRange& r) {
  if (r.min == 0 && !std::isfinite(r.max)) return r.open_min ? "positive" : "not negative";
  if (!r.open_min && !r.open_max && std::isfinite(r.min) && std::isfinite(r.max))
    return fmt::format("{} to {}", r.min, r.max);
  std::string text;
  if (std::isfinite(r.min)) text = fmt::format("{} {}", r.open_min ? "more than" : "at least", r.min);
  if (std::isfinite(r.max))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", r.open_max ? "less than" : "at most", r.max);
  return text.empty() ? "finite" : text;
}

std::vector<std::string> numbers_text(const OptionInfo& option) {
  std::vector<std::string> list;
  for (const double value : option.values) list.push_back(fmt::format("{}", value));
  return list;
}

std::string usual(const OptionInfo& option) {
  return option.default_value.empty() ? "" : fmt::format(", {} is usual", default_text(option));
}

}  // namespace

const char* type_name(OptionType type) {
  switch (type) {
    case OptionType::number: return "a number";
    case OptionType::integer: return "a whole number";
    case OptionType::boolean: return "true or false";
    case OptionType::word: return "a word in quotes";
    case OptionType::text: return "a text in quotes";
    case OptionType::expression: return "an expression";
    case OptionType::list: return "a list";
    case OptionType::table: return "a table";
  }
  return "";
}

std::string allowed_text(const OptionInfo& option) {
  const bool number = option.type == OptionType::number || option.type == OptionType::integer;
  if (!number) return option.words.empty() ? type_name(option.type) : alternatives(quoted(option.words));
  std::vector<std::string> parts = numbers_text(option);
  if (parts.empty()) parts.push_back(option.range.limited() ? range_text(option.range) : type_name(option.type));
  if (!option.unit.empty()) parts.back() += " " + option.unit;
  for (const std::string& word : quoted(option.words)) parts.push_back(word);
  return alternatives(parts);
}

std::string meaning_text(const OptionInfo& option) {
  const bool said = option.words.empty() && option.values.empty() && !option.range.limited();
  return said ? option.meaning : fmt::format("{} ({})", option.meaning, allowed_text(option));
}

std::string default_text(const OptionInfo& option) {
  if (option.default_value.empty()) return option.default_depends;
  const bool word = option.type == OptionType::word || option.type == OptionType::text;
  return word ? fmt::format("\"{}\"", option.default_value) : option.default_value;
}

void check_option(const OptionInfo& option, double value) {
  if (option.type == OptionType::integer && !(value == std::floor(value) && std::abs(value) < 1e15))
    throw OptionError(option.name, fmt::format("'{}' takes a whole number", option.name));
  const auto& values = option.values;
  const bool listed = values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  if (listed && option.range.contains(value)) return;
  throw OptionError(
      option.name, fmt::format("'{}' is {}; it must be {}{}", option.name, value, allowed_text(option), usual(option)));
}

void check_option(const OptionInfo& option, const std::string& word) {
  if (option.type == OptionType::text || (option.type == OptionType::word && option.words.empty())) return;
  if (std::find(option.words.begin(), option.words.end(), word) != option.words.end()) return;
  if (option.words.empty())
    throw OptionError(option.name, fmt::format("'{}' takes {}", option.name, type_name(option.type)));
  const std::string near = nearest_name(word, option.words);
  throw OptionError(
      option.name, fmt::format("'{}' is \"{}\"{} choose {}", option.name, word,
                               near.empty() ? ";" : fmt::format(", did you mean \"{}\"?", near), allowed_text(option)));
}

}  // namespace hinge
