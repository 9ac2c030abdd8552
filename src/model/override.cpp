#include "model/override.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <optional>
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

// Most values are numbers such as -1.25e-3, and need no parser of files; nothing for others.
std::optional<double> plain_number(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0, point = text.find('.');
  const auto digits = [&](std::size_t from, std::size_t to) {
    return from < to && to <= text.size() &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(to),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  if (point == std::string::npos || !digits(first, point) || (text[first] == '0' && point > first + 1))
    return std::nullopt;
  const std::size_t power = std::min(text.find_first_of("eE", point), text.size());
  const std::size_t sign = power + 1 < text.size() && (text[power + 1] == '-' || text[power + 1] == '+') ? 2 : 1;
  if (!digits(point + 1, power) || (power < text.size() && !digits(power + sign, text.size()))) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The value as TOML, else as text.
toml::table value_of(const std::string& text) {
  toml::table parsed;
  if (const auto number = plain_number(text)) {
    parsed.insert_or_assign("value", *number);
    return parsed;
  }
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

void apply_override(toml::table& root, const Override& o, Source& source, Overridden* before) {
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
      return;
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
