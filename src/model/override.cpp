#include "model/override.hpp"

#include <algorithm>
#include <cctype>

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

}  // namespace

void apply_override(toml::table& root, const Override& o, Source& source) {
  toml::table* table = &root;
  toml::array* array = nullptr;  // in its place: one of [[body]]
  std::string path;
  std::string rest = o.key;
  if (rest.empty()) throw InputError("--set takes key=value, as in --set parameters.m1=2");
  if (std::count(rest.begin(), rest.end(), '.') > deepest_key)
    throw InputError(fmt::format("--set {}...: a key with more than {} parts", rest.substr(0, 40), deepest_key));
  while (true) {
    const auto dot = rest.find('.');
    const std::string name = rest.substr(0, dot);
    if (name.empty())
      throw InputError(fmt::format("--set {}: the key has an empty part; write it as in --set parameters.m1=2", o.key));
    toml::node* place = nullptr;
    if (array) {
      place = entry_of(*array, name, path, o);
      path += fmt::format("[{}]", name);
    } else {
      place = table->get(name);
      path += (path.empty() ? "" : ".") + name;
    }
    if (dot == std::string::npos) {
      toml::table parsed;
      try {
        parsed = toml::parse("value = " + o.value);
      } catch (const toml::parse_error&) {
        parsed.clear();
      }
      if (parsed.size() != 1) parsed.insert_or_assign("value", o.value);
      if (array)
        array->replace(array->cbegin() + std::stol(name), *parsed.get("value"));
      else
        table->insert_or_assign(name, *parsed.get("value"));
      source.overridden[path] = o.option.empty() ? "--set " + path : o.option;
      return;
    }
    if (!place) place = &table->insert(name, toml::table{}).first->second;
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
