// Options of a method, read by the table that declares them.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "expression/parse.hpp"
#include "method/method_entry.hpp"

namespace hinge {

namespace {

[[noreturn]] void refuse_kind(const OptionInfo& option) {
  std::string takes = type_name(option.type);
  if (option.type == OptionType::word && !option.default_value.empty())
    takes += fmt::format(", such as \"{}\"", option.default_value);
  if (option.type == OptionType::table) takes = option.meaning;
  throw OptionError(option.name, fmt::format("'{}' takes {}", option.name, takes));
}

// The value as its row wants it; true without quotes may be a word.
OptionValue checked(const OptionInfo& option, const OptionValue& given) {
  const OptionType type = option.type;
  if (const double* number = std::get_if<double>(&given)) {
    if (type != OptionType::number && type != OptionType::integer) refuse_kind(option);
    check_option(option, *number);
  } else if (const std::string* word = std::get_if<std::string>(&given)) {
    if (type == OptionType::boolean || type == OptionType::table) refuse_kind(option);
    check_option(option, *word);
  } else if (const bool* flag = std::get_if<bool>(&given)) {
    const char* as_word = *flag ? "true" : "false";
    if (type == OptionType::word && std::count(option.words.begin(), option.words.end(), as_word))
      return std::string(as_word);
    if (type != OptionType::boolean) refuse_kind(option);
  } else if (type != OptionType::table) {
    refuse_kind(option);
  }
  return given;
}

}  // namespace

const OptionInfo* find_option(const std::vector<OptionInfo>& table, const std::string& name) {
  const auto at = std::find_if(table.begin(), table.end(), [&](const OptionInfo& o) { return o.name == name; });
  return at == table.end() ? nullptr : &*at;
}

void check_options(const std::vector<OptionInfo>& table,
                   std::initializer_list<std::pair<const char*, OptionValue>> values) {
  for (const auto& [name, value] : values) checked(*find_option(table, name), value);
}

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

GivenOptions::GivenOptions(const std::string& method, std::vector<OptionInfo> table, Options given)
    : table_(std::move(table)), given_(std::move(given)) {
  for (auto& [name, value] : given_) {
    const OptionInfo* option = find_option(table_, name);
    if (!option) {
      std::vector<std::string> known;
      for (const OptionInfo& o : table_) known.push_back(o.name);
      const std::string near = nearest_name(name, known);
      throw OptionError(name, fmt::format("method '{}' has no option '{}'{}; {}", method, name,
                                          near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                                          known.empty() ? "it has none" : "it has: " + list_names(known)));
    }
    value = checked(*option, value);
  }
}

const OptionInfo& GivenOptions::row(const std::string& name) const {
  if (const OptionInfo* option = find_option(table_, name)) return *option;
  throw InputError(fmt::format("the method reads an option '{}' that its table does not have", name));
}

double GivenOptions::number(const std::string& name) const {
  if (const auto at = given_.find(name); at != given_.end()) {
    const double* value = std::get_if<double>(&at->second);
    return value ? *value : 0;  // a word in the place of a number
  }
  const std::string& text = row(name).default_value;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool GivenOptions::flag(const std::string& name) const {
  const auto at = given_.find(name);
  return at != given_.end() ? std::get<bool>(at->second) : row(name).default_value == "true";
}

std::string GivenOptions::word(const std::string& name) const {
  const auto at = given_.find(name);
  if (at == given_.end()) return row(name).default_value;
  const std::string* word = std::get_if<std::string>(&at->second);
  return word ? *word : "";  // a number where a word is possible, too
}

int GivenOptions::place_of_word(const std::string& name) const {
  const std::vector<std::string>& words = row(name).words;
  return static_cast<int>(std::find(words.begin(), words.end(), word(name)) - words.begin());
}

const SparkTableau* GivenOptions::tableau(const std::string& name) const {
  const auto at = given_.find(name);
  return at != given_.end() ? std::get_if<SparkTableau>(&at->second) : nullptr;
}

}  // namespace hinge
