// Formulations by name, and which levels of the constraints they have.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "expression/parse.hpp"
#include "hinge/error.hpp"
#include "hinge/formulation.hpp"

namespace hinge {

namespace {

constexpr std::array<std::pair<const char*, Formulation>, 12> formulations = {{
    {"automatic", Formulation::automatic},
    {"index-3", Formulation::index_3},
    {"index-2", Formulation::index_2},
    {"index-1", Formulation::index_1},
    {"baumgarte", Formulation::baumgarte},
    {"ggl", Formulation::ggl},
    {"extended", Formulation::extended},
    {"projected-invariants", Formulation::projected_invariants},
    {"coordinate-partitioning", Formulation::coordinate_partitioning},
    {"tangent-space", Formulation::tangent_space},
    {"direct", Formulation::direct},
    {"derivative-array", Formulation::derivative_array},
}};

}  // namespace

const char* formulation_name(Formulation formulation) {
  for (const auto& [name, choice] : formulations)
    if (choice == formulation) return name;
  return "";
}

bool has_position_level(Formulation form) {
  return form != Formulation::index_2 && form != Formulation::index_1 && form != Formulation::baumgarte;
}
bool has_velocity_level(Formulation form) {
  return form != Formulation::index_3 && form != Formulation::index_1 && form != Formulation::baumgarte;
}

Formulation parse_formulation(const std::string& word) {
  std::vector<std::string> names;
  std::string list;
  for (const auto& [name, choice] : formulations) {
    if (word == name) return choice;
    names.emplace_back(name);
    list += (list.empty() ? "\"" : ", \"") + names.back() + "\"";
  }
  const std::string near = nearest_name(word, names);
  throw InputError(fmt::format("'formulation' cannot be \"{}\"{} it is one of {}", word,
                               near.empty() ? ";" : fmt::format(", did you mean \"{}\"?", near), list));
}

}  // namespace hinge
