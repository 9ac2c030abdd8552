#include "cli/study.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge::cli {

namespace {

// What the model gives in [integrate] holds for every method that has such an option, unless the text says otherwise.
StudiedMethod method_of(MethodName method, const Model& model) {
  const Options given = method.options;
  const Options inherited = inherited_options(method.name, model.method, model.method_options);
  for (const auto& [key, value] : known_options(method.name, given, inherited)) method.options.emplace(key, value);
  return {method.text(), make_method(method.name, method.options)};
}

std::vector<StudiedMethod> methods_of(const std::optional<std::string>& text, const Model& model) {
  if (!text) return {{MethodName{model.method, model.method_options}.text(), model.choice}};
  std::vector<StudiedMethod> methods;
  try {
    for (const MethodName& name : parse_method_names(*text)) methods.push_back(method_of(name, model));
  } catch (const InputError& e) {
    throw InputError(fmt::format("--methods: {}", e.what()));
  }
  return methods;
}

// The one method of --reference.
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

}  // namespace

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

bool names_a_file(const std::string& text) {
  for (const std::string ending : {".csv", ".h5", ".hdf5", ".CSV", ".H5", ".HDF5"})
    if (text.size() > ending.size() && text.ends_with(ending)) return true;
  return false;
}

Study::Study(const StudyArguments& given) : Study(given, load_model(given.model, given.overrides)) {}

Study::Study(const StudyArguments& given, Model read)
    : arguments(given),
      model(std::move(read)),
      problem{model.system, model.start, model.simulation.start, model.end, model.simulation.solver} {
  if (!(model.end > model.simulation.start))
    throw InputError(fmt::format(
        "{}: integrate: there is no end time after the start; add end = 10 to [integrate], or use --end", model.path));
  if (given.csv && (given.csv->empty() || given.csv == given.reference))
    throw InputError("--csv needs the name of a file of its own, as in --csv runs.csv");
  methods = methods_of(given.methods, model);
}

Reference Study::reference(const std::function<Reference(const StudiedMethod&)>& computed,
                           const std::function<Reference()>& usual) const {
  if (!arguments.reference)
    return located(model, [&] {
      return model.exact.empty() ? usual() : exact_reference(*problem.system, model.exact, problem.end);
    });
  if (!names_a_file(*arguments.reference)) {
    const StudiedMethod method = reference_method(*arguments.reference, model);
    return located(model, [&] {
      try {
        return computed(method);
      } catch (const UnsuitableMethod& e) {
        throw InputError(fmt::format("--reference: {}; choose another one", e.what()));
      }
    });
  }
  try {
    return recorded_reference(*problem.system, *arguments.reference, problem.end);
  } catch (const InputError& e) {
    throw InputError(fmt::format("--reference: {}; hinge run MODEL --out FILE records one", e.what()));
  }
}

CsvTable::CsvTable(const StudyArguments& arguments, const std::string& columns) : text_(columns + '\n') {
  if (!arguments.csv) return;
  path_ = *arguments.csv;
  std::ifstream before(path_);
  std::string line;
  if (!arguments.force && std::getline(before, line) && line != columns)
    throw InputError(
        fmt::format("--csv: '{}' is there already and is no such table; choose another file, or --force "
                    "overwrites it",
                    path_));
  if (!std::ofstream(path_, std::ios::app))
    throw OutputError(fmt::format("--csv: cannot write '{}': {}; choose another file", path_, std::strerror(errno)));
}

void CsvTable::row(const std::string& method, const std::vector<std::string>& cells) {
  const bool quote = method.find(',') != std::string::npos;
  text_ += fmt::format("{0}{1}{0}", quote ? "\"" : "", method);
  for (const std::string& c : cells) text_ += ',' + c;
  text_ += '\n';
}

void CsvTable::close() {
  if (!path_.empty()) write_whole(path_, text_);
}

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace hinge::cli
