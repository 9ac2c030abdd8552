#include "method/method_entry.hpp"

#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge {

int integer_option(const Options& options, const std::string& name, int fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const double* value = std::get_if<double>(&at->second);
  if (!value || *value != std::floor(*value) || std::abs(*value) > 1e9)
    throw InputError(fmt::format("'{}' takes a whole number", name));
  return static_cast<int>(*value);
}

double number_option(const Options& options, const std::string& name, double fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const double* value = std::get_if<double>(&at->second);
  if (!value) throw InputError(fmt::format("'{}' takes a number", name));
  return *value;
}

bool bool_option(const Options& options, const std::string& name, bool fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const bool* value = std::get_if<bool>(&at->second);
  if (!value) throw InputError(fmt::format("'{}' takes true or false", name));
  return *value;
}

std::string text_option(const Options& options, const std::string& name, const char* fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const std::string* value = std::get_if<std::string>(&at->second);
  if (!value) throw InputError(fmt::format("'{}' takes a word in quotes, such as \"{}\"", name, fallback));
  return *value;
}

}  // namespace hinge
