#include "cli/study.hpp"

#include <charconv>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"

namespace hinge::cli {

double positive_number(const std::string& option, const std::string& text, const char* example) {
  const auto first = text.find_first_not_of(' ');
  const std::string trimmed =
      first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  double value = 0;
  const char* const end = trimmed.data() + trimmed.size();
  const auto [stop, error] = std::from_chars(trimmed.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0) || !std::isfinite(value))
    throw InputError(fmt::format("{}: '{}' is not a positive number; write {} {}", option, text, option, example));
  return value;
}

std::vector<double> positive_numbers(const std::string& option, const std::string& text, const char* example) {
  std::vector<double> list;
  std::string rest = text;
  while (true) {
    const auto comma = rest.find(',');
    list.push_back(positive_number(option, rest.substr(0, comma), example));
    for (std::size_t k = 0; k + 1 < list.size(); ++k)
      if (list[k] == list.back())
        throw InputError(fmt::format("{}: {:g} is given twice; keep one of them", option, list[k]));
    if (comma == std::string::npos) return list;
    rest = rest.substr(comma + 1);
  }
}

StudiedMethod method_of(MethodName method, const Model& model) {
  const Options given = method.options;
  const Options inherited = inherited_options(method.name, model.method, model.method_options);
  for (const auto& [key, value] : known_options(method.name, given, inherited)) method.options.emplace(key, value);
  return {method.text(), make_method(method.name, method.options)};
}

std::vector<StudiedMethod> methods_of(const std::optional<std::string>& text, const Model& model) {
  if (!text) return {method_of({model.method, model.method_options}, model)};
  std::vector<StudiedMethod> methods;
  try {
    for (const MethodName& name : parse_method_names(*text)) methods.push_back(method_of(name, model));
  } catch (const InputError& e) {
    throw InputError(fmt::format("--methods: {}", e.what()));
  }
  return methods;
}

bool names_a_file(const std::string& text) {
  for (const std::string ending : {".csv", ".h5", ".hdf5", ".CSV", ".H5", ".HDF5"})
    if (text.size() > ending.size() && text.ends_with(ending)) return true;
  return false;
}

StudiedMethod reference_method(const std::string& text, const Model& model) {
  try {
    const std::vector<MethodName> names = parse_method_names(text);
    if (names.size() != 1) throw InputError(fmt::format("'{}' names {} methods; give one", text, names.size()));
    return method_of(names.front(), model);
  } catch (const InputError& e) {
    const bool path = text.find_first_of("./") != std::string::npos;
    throw InputError(fmt::format("--reference: {}{}", e.what(), path ? "; a file ends in .csv, .h5 or .hdf5" : ""));
  }
}

void StatusLine::show(const std::string& text) const {
  if (visible_) std::cerr << fmt::format("\r{:<78}\r{}", "", text.substr(0, 78)) << std::flush;
}

}  // namespace hinge::cli
