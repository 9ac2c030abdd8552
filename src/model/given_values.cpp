#include "model/given_values.hpp"

#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "model/override.hpp"

namespace hinge {

std::vector<std::pair<std::string, std::string>> given_values(const std::string& text, const std::string& section,
                                                              const std::vector<Override>& overrides) {
  toml::table root = toml::parse(text);
  Source source{};
  for (const Override& o : overrides) apply_override(root, o, source);
  std::vector<std::pair<std::string, std::string>> list;
  const toml::table* const table = root[section].as_table();
  if (!table) return list;
  for (auto&& [key, node] : *table) {
    std::ostringstream out;
    if (const auto* word = node.as_string())
      out << word->get();
    else if (const auto* number = node.as_floating_point())
      out << fmt::format("{}", number->get());
    else
      node.visit([&](const auto& value) { out << value; });
    list.emplace_back(key.str(), out.str());
  }
  return list;
}

// A new one begins behind a space with a name that has a point in it, and an equals sign: values have none of the kind.
std::vector<Override> overrides_in(const std::string& settings) {
  std::vector<Override> list;
  const auto key_at = [&](std::size_t at) {
    std::size_t end = at;
    bool point = false;
    const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    for (; end < settings.size() && (part(settings[end]) || settings[end] == '.'); ++end) point |= settings[end] == '.';
    return end < settings.size() && settings[end] == '=' && (point || settings.substr(at, end - at) == "title") ? end
                                                                                                                : 0;
  };
  for (std::size_t at = 0; at < settings.size();) {
    const std::size_t equals = key_at(at);
    if (equals == 0) break;
    std::size_t end = settings.find(' ', equals);
    while (end != std::string::npos && key_at(end + 1) == 0) end = settings.find(' ', end + 1);
    end = std::min(end, settings.size());
    list.push_back({settings.substr(at, equals - at), settings.substr(equals + 1, end - equals - 1)});
    at = end + 1;
  }
  return list;
}

}  // namespace hinge
