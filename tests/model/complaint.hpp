// Looking for words in a complaint about a model file.
#pragma once

#include <cctype>
#include <string>

namespace hinge::test {

/// Is `words` part of the message? A place in it, "m.toml:14: integrate.step", is there with a column:
/// "m.toml:14:8: integrate.step".
inline bool mentions(const std::string& message, const std::string& words) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const std::size_t name = words.find(".toml:");
  std::size_t cut = name == std::string::npos ? name : name + 6;
  while (cut < words.size() && digit(words[cut])) ++cut;
  if (name == std::string::npos || words.substr(cut, 2) != ": " || !digit(words[cut - 1]))
    return message.find(words) != std::string::npos;
  const std::string line = words.substr(0, cut) + ":", rest = words.substr(cut);
  for (std::size_t at = message.find(line); at != std::string::npos; at = message.find(line, at + 1)) {
    std::size_t end = at + line.size();
    const std::size_t column = end;
    while (end < message.size() && digit(message[end])) ++end;
    if (end > column && message.compare(end, rest.size(), rest) == 0) return true;
  }
  return false;
}

}  // namespace hinge::test
