// Rows of option tables that several methods have.
#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"

namespace hinge {

OptionInfo number_row(std::string name, std::string default_value, OptionRange range, std::string meaning) {
  return {std::move(name), std::move(meaning), std::move(default_value), OptionType::number, range};
}

OptionInfo integer_row(std::string name, std::string default_value, OptionRange range, std::string meaning) {
  return {std::move(name), std::move(meaning), std::move(default_value), OptionType::integer, range};
}

OptionInfo word_row(std::string name, std::vector<std::string> words, std::string meaning) {
  OptionInfo row{std::move(name), std::move(meaning), words[0], OptionType::word};
  if (words.size() > 1) row.words = std::move(words);
  return row;
}

OptionInfo flag_row(std::string name, std::string meaning) {
  return {std::move(name), std::move(meaning), "false", OptionType::boolean};
}

OptionInfo projection_option(const std::string& default_value, const std::string& default_depends) {
  OptionInfo row = word_row("projection", {"none", "position", "velocity", "both"},
                            "what is put back onto the constraints after every step");
  row.default_value = default_value;
  row.default_depends = default_depends;
  return row;
}

bool projects_position(Projection p) { return p == Projection::position || p == Projection::both; }
bool projects_velocity(Projection p) { return p == Projection::velocity || p == Projection::both; }

std::vector<OptionInfo> formulation_options(const std::string& default_value, std::vector<std::string> words) {
  if (words.empty())
    for (int f = 0; f <= static_cast<int>(Formulation::derivative_array); ++f)
      words.emplace_back(formulation_name(static_cast<Formulation>(f)));
  OptionInfo formulation = word_row("formulation", std::move(words), "the equations that are solved");
  formulation.default_value = default_value;
  return {formulation,
          number_row("alpha", "10", not_negative_range, "of \"baumgarte\": 2 alpha times the velocity level is added"),
          number_row("beta", "10", not_negative_range, "of \"baumgarte\": beta^2 times the position level is added")};
}

FormulationOptions read_formulation(const GivenOptions& options) {
  const Formulation formulation = parse_formulation(options.word("formulation"));
  for (const char* name : {"alpha", "beta"})
    if (options.has(name) && formulation != Formulation::baumgarte)
      throw OptionError(
          name, fmt::format("'{}' belongs to formulation = \"baumgarte\"; leave it out, or choose that one", name));
  return {formulation, options.number("alpha"), options.number("beta")};
}

}  // namespace hinge
