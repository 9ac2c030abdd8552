// Items of a TOML file: where they are, and whether they fit the table of keys.
#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "model/reader.hpp"

namespace hinge {

namespace {

// A message stays readable when the file is not.
std::string shortened(const std::string& key) {
  constexpr std::size_t most = 80;
  return key.size() <= most ? key : key.substr(0, most - 20) + "...";
}

std::string place(const Item& item, const toml::source_position& at) {
  return fmt::format("{}:{}:{}: {}", item.source->name, at.line, at.column, shortened(item.key));
}

// What the sentence of a row begins with: what the key is.
std::string noun(const KeyInfo& row) { return row.option.meaning.substr(0, row.option.meaning.find_first_of(";:")); }

[[noreturn]] void refuse_type(const Item& item) {
  const OptionInfo& option = item.row->option;
  const bool top = item.key.find_first_of(".[") == std::string::npos;
  if (top && option.type == OptionType::table) item.fail(fmt::format("expected a section [{}]", option.name));
  if (top && option.type == OptionType::list)
    item.fail(fmt::format("write [[{}]], with two brackets, for each one", option.name));
  switch (option.type) {
    case OptionType::number:
    case OptionType::integer: item.fail(fmt::format("expected a number, found {}", item.found()));
    case OptionType::boolean: item.fail("expected true or false");
    case OptionType::word: item.fail(fmt::format("expected {}, found {}", allowed_text(option), item.found()));
    case OptionType::text:
      item.fail(fmt::format("expected {} (a text in quotes), found {}", noun(*item.row), item.found()));
    default: break;
  }
  item.fail(fmt::format("expected {}, as in {} = {} ({}); found {}", type_name(option.type), option.name,
                        item.row->example, noun(*item.row), item.found()));
}

bool fits(const Item& item) {
  const bool number = item.node->is_number();
  switch (item.row->option.type) {
    case OptionType::number:
    case OptionType::integer: return number || item.is_string();
    case OptionType::boolean: return item.is_boolean();
    case OptionType::word:
    case OptionType::text: return item.is_string();
    case OptionType::list: return item.is_array() || (item.is_string() && item.key.find('.') != std::string::npos);
    case OptionType::table: return item.is_table();
    case OptionType::expression: break;
  }
  return true;
}

void check_item(const Item& item) {
  if (!fits(item)) refuse_type(item);
  const std::vector<std::string>& words = item.row->option.words;
  if (!words.empty() && std::find(words.begin(), words.end(), item.text()) == words.end())
    item.fail(fmt::format("\"{}\" is unknown{} choose {}", item.text(), suggestion(item.text(), words, ";", "\""),
                          allowed_text(item.row->option)));
  if (item.is_table()) return check_keys(item);
  const toml::array* array = item.row->inside.empty() ? nullptr : item.node->as_array();
  for (std::size_t k = 0; array && k < array->size(); ++k) {
    if (array->get(k)->is_table())
      check_keys(item[k]);
    else if (item.key.find_first_of(".[") == std::string::npos)
      refuse_type(item);
  }
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const char* quote) {
  std::string list;
  for (const std::string& word : words) list += fmt::format("{0}{1}{2}{1}", list.empty() ? "" : ", ", quote, word);
  return list;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known, const char* otherwise,
                       const char* quote) {
  const std::string near = nearest_name(word, known);
  return near.empty() ? otherwise : fmt::format(", did you mean {0}{1}{0}?", quote, near);
}

bool Source::overrides(const std::string& key) const {
  const auto inside = overridden.lower_bound(key + ".");
  return overridden.contains(key) || (inside != overridden.end() && inside->first.starts_with(key + "."));
}

bool Item::is_table() const { return node->is_table(); }
bool Item::is_array() const { return node->is_array(); }
bool Item::is_string() const { return node->is_string(); }
bool Item::is_boolean() const { return node->is_boolean(); }
std::string Item::text() const { return node && node->is_string() ? node->as_string()->get() : std::string(); }

const char* Item::found() const {
  if (is_table()) return "a table";
  if (is_array()) return "a list";
  if (is_string()) return "a text";
  if (is_boolean()) return "true or false";
  return node->is_number() ? "a number" : "a date or time";
}

std::string Item::where() const {
  std::string path = key;
  while (!path.empty()) {
    const auto given = source->overridden.find(path);
    if (given != source->overridden.end()) return shortened(given->second + key.substr(path.size()));
    const auto cut = path.find_last_of(".[");
    path = cut == std::string::npos ? "" : path.substr(0, cut);
  }
  if (key.empty()) return source->name;
  if (!node || node->source().begin.line == 0) {  // not from the file: a table that an override made
    const auto made_by = source->overridden.lower_bound(key + ".");
    if (made_by != source->overridden.end() && made_by->first.starts_with(key + ".")) return shortened(made_by->second);
    return source->name + ": " + shortened(key);
  }
  return place(*this, node->source().begin);
}

void Item::fail(const std::string& cause) const { throw LocatedError(fmt::format("{}: {}", where(), cause)); }

Item Item::operator[](const std::string& name) const {
  const toml::table* table = node ? node->as_table() : nullptr;
  Item inner{table ? table->get(name) : nullptr, key.empty() ? name : key + "." + name, source};
  inner.row = section ? section->find(name) : nullptr;
  if (inner && inner.row && !inner.row->inside.empty()) inner.section = find_section(inner.row->inside, source->system);
  return inner;
}

Item Item::operator[](std::size_t index) const {
  const toml::array* array = node ? node->as_array() : nullptr;
  Item inner{array ? array->get(index) : nullptr, fmt::format("{}[{}]", key, index), source};
  inner.section = row && !row->elements.empty() ? find_section(row->elements, source->system) : section;
  return inner;
}

Item Item::need(const std::string& name) const {
  const Item item = (*this)[name];
  if (!item) fail(fmt::format("'{0}' is missing, as in {0} = {1}", name, item.row ? item.row->example : "..."));
  return item;
}

std::size_t Item::size() const {
  if (const toml::array* array = node->as_array()) return array->size();
  if (const toml::table* table = node->as_table()) return table->size();
  return 1;
}

std::vector<std::string> Item::keys() const {
  std::vector<std::string> names;
  const toml::table* table = node->as_table();
  if (!table) return names;
  for (auto&& [name, inner] : *table) names.emplace_back(name.str());
  const auto order = [&](const std::string& name) {  // those from the command line have line 0
    const auto begin = table->get(name)->source().begin;
    return std::tuple(begin.line == 0, begin.line, begin.column);
  };
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return names;
}

std::vector<Item> Item::entries() const {
  if (!node) return {};
  if (!is_array()) return {*this};
  std::vector<Item> list;
  for (std::size_t k = 0; k < size(); ++k) list.push_back((*this)[k]);
  return list;
}

void Item::refuse_unknown(const std::string& name, const std::vector<std::string>& known) const {
  const Item item = (*this)[name];
  const std::string cause =
      fmt::format("unknown key{} known here: {}{}", suggestion(name, known), joined(known),
                  section && !section->otherwise.empty() ? "; " + section->otherwise : std::string());
  const auto at = node->as_table()->find(name);  // the place of the key, not of its value
  const toml::source_position begin = at->first.source().begin;
  const std::string where = item.where();
  throw LocatedError(
      fmt::format("{}: {}", begin.line > 0 && where.starts_with(source->name) ? place(item, begin) : where, cause));
}

void Item::expect_names(const std::vector<std::string>& known) const {
  if (!is_table()) fail(fmt::format("expected a table, found {}", found()));
  for (const std::string& name : keys())
    if (std::find(known.begin(), known.end(), name) == known.end()) refuse_unknown(name, known);
}

std::string Item::expect_string(const char* what) const {
  if (!is_string()) fail(fmt::format("expected {} (a text in quotes), found {}", what, found()));
  return text();
}

void check_keys(const Item& table) {
  if (!table.section) return;
  for (const std::string& name : table.keys()) {
    const Item item = table[name];
    if (item.row) {
      check_item(item);
    } else if (!table.section->open) {
      std::vector<std::string> known;
      for (const KeyInfo& key : table.section->keys) known.push_back(key.option.name);
      table.refuse_unknown(name, known);
    }
  }
}

}  // namespace hinge
