#include "model/override.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace hinge {

namespace {

// The entry of a list that --set body.2.position=... means, counted from 0.
toml::node* entry_of(toml::array& array, const std::string& name, const std::string& path, const Override& o) {
  const bool digits =
      name.size() < 10 && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  const std::size_t index = digits ? std::stoul(name) : array.size();
  if (index < array.size()) return array.get(index);
  throw InputError(fmt::format("--set {}: '{}' is a list with {} entries; give the number of one, 0 to {}, as in {}.0",
                               o.key, path, array.size(), array.empty() ? 0 : array.size() - 1, path));
}

bool mentions(const std::string& text, const std::string& word) {
  const auto part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!part(at + word.size()) && (at == 0 || !part(at - 1))) return true;
  return false;
}

// Most values are numbers such as -1.25e-3, or words, and need no parser of files.
bool put_plain(const std::string& text, toml::table& parsed) {
  const std::size_t first = text.starts_with('-') ? 1 : 0, size = text.size();
  const auto is = [&](std::size_t at, int (*kind)(int)) {
    return at < size && kind(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto digits_from = [&](std::size_t at) {
    while (is(at, std::isdigit)) ++at;
    return at;
  };
  const auto put = [&](auto value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + size, value);
    if (error != std::errc() || end != text.data() + size) return false;
    parsed.insert_or_assign("value", value);
    return true;
  };
  if (is(0, std::isalpha)) {
    const bool word = std::all_of(text.begin(), text.end(),
                                  [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
    if (!word || text == "true" || text == "false" || text == "inf" || text == "nan") return false;
    parsed.insert_or_assign("value", text);
    return true;
  }
  const std::size_t whole = digits_from(first);
  if (whole == first || (text[first] == '0' && whole > first + 1)) return false;
  if (whole == size) return put(std::int64_t{0});
  std::size_t at = whole;
  if (text[at] == '.') {
    at = digits_from(whole + 1);
    if (at == whole + 1) return false;
  }
  if (at < size && (text[at] == 'e' || text[at] == 'E')) {
    if (++at < size && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t power = at;
    at = digits_from(power);
    if (at == power) return false;
  }
  return at == size && at > whole && put(0.0);
}

// The value as TOML, else as text.
toml::table value_of(const std::string& text) {
  toml::table parsed;
  if (put_plain(text, parsed)) return parsed;
  try {
    parsed = toml::parse("value = " + text);
  } catch (const toml::parse_error&) {
    parsed.clear();
  }
  if (parsed.size() != 1) parsed.insert_or_assign("value", text);
  return parsed;
}

// Nodes that are moved keep their places in the file; copies have none.
std::shared_ptr<toml::table> moved(toml::node& node) {
  auto holder = std::make_shared<toml::table>();
  holder->insert_or_assign("value", std::move(node));
  return holder;
}

using Path = std::vector<std::string>;

// The table or list that the last part of a path is in. Found anew where something is taken back: until then a later
// override may have replaced it.
toml::node* parent_of(toml::table& root, const Path& path) {
  toml::node* node = &root;
  for (std::size_t k = 0; node && k + 1 < path.size(); ++k)
    node = node->is_table() ? node->as_table()->get(path[k]) : node->as_array()->get(std::stoul(path[k]));
  return node;
}

void keep(Overridden& before, toml::table& root, const Path& path) {
  toml::node* const parent = parent_of(root, path);
  if (toml::array* const array = parent->as_array()) {
    before.keep([&root, path, holder = moved(*array->get(std::stoul(path.back())))] {
      toml::array& list = *parent_of(root, path)->as_array();
      list.replace(list.cbegin() + std::stol(path.back()), std::move(*holder->get("value")));
    });
  } else if (toml::node* const old = parent->as_table()->get(path.back())) {
    before.keep([&root, path, holder = moved(*old)] {
      parent_of(root, path)->as_table()->insert_or_assign(path.back(), std::move(*holder->get("value")));
    });
  } else {
    before.keep([&root, path] { parent_of(root, path)->as_table()->erase(path.back()); });
  }
}

}  // namespace

Overridden::~Overridden() {
  for (auto last = all_.rbegin(); last != all_.rend(); ++last) (*last)();
}

std::optional<double> plain_number(const std::string& value) {
  toml::table parsed;
  if (!put_plain(value, parsed)) return std::nullopt;
  const toml::node& number = *parsed.get("value");
  if (const auto* whole = number.as_integer()) return static_cast<double>(whole->get());
  if (const auto* any = number.as_floating_point()) return any->get();
  return std::nullopt;
}

std::string apply_override(toml::table& root, const Override& o, Source& source, Overridden* before) {
  toml::table* table = &root;
  toml::array* array = nullptr;  // in its place: one of [[body]]
  std::string path;
  Path parts;
  std::string rest = o.key;
  if (rest.empty()) throw InputError("--set takes key=value, as in --set parameters.m1=2");
  if (std::count(rest.begin(), rest.end(), '.') > deepest_key)
    throw InputError(fmt::format("--set {}...: a key with more than {} parts", rest.substr(0, 40), deepest_key));
  while (true) {
    const auto dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    if (name.empty())
      throw InputError(fmt::format("--set {}: the key has an empty part; write it as in --set parameters.m1=2", o.key));
    parts.push_back(name);
    toml::node* place = nullptr;
    if (array) {
      place = entry_of(*array, name, path, o);
      path += fmt::format("[{}]", name);
    } else {
      place = table->get(name);
      path += (path.empty() ? "" : ".") + name;
    }
    if (dot == std::string::npos) {
      const toml::table parsed = value_of(o.value);
      if (before) keep(*before, root, parts);
      if (array)
        array->replace(array->cbegin() + std::stol(name), *parsed.get("value"));
      else
        table->insert_or_assign(name, *parsed.get("value"));
      source.overridden[path] = o.option.empty() ? "--set " + path : o.option;
      return path;
    }
    if (!place) {
      if (before) keep(*before, root, parts);
      place = &table->insert(name, toml::table{}).first->second;
    }
    table = place->as_table();
    array = place->as_array();
    if (!table && !array)
      throw InputError(fmt::format("--set {0}: '{1}' is not a section or table; set {1} itself", o.key, path));
    rest = rest.substr(dot + 1);
  }
}

void refuse_unused_parameters(const toml::table& root, const std::string& text,
                              const std::vector<Override>& overrides) {
  const std::string section = "parameters.";
  const toml::table* given = root["parameters"].as_table();
  for (const Override& o : overrides) {
    if (o.key.rfind(section, 0) != 0) continue;
    const std::string name = o.key.substr(section.size());
    const auto uses = [&](const Override& other) { return mentions(other.value, name); };
    if (mentions(text, name) || std::any_of(overrides.begin(), overrides.end(), uses)) continue;
    std::vector<std::string> known;
    if (given)
      for (auto&& [key, value] : *given)
        if (key.str() != name) known.emplace_back(key.str());
    throw InputError(fmt::format("{}: the model has no parameter '{}'{} {}",
                                 o.option.empty() ? "--set " + o.key : o.option, name, suggestion(name, known),
                                 known.empty() ? "it has none" : "it has: " + joined(known)));
  }
}

}  // namespace hinge
