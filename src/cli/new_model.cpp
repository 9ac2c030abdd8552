// hinge new: a model to begin with, from the files in templates/, which the program carries along.
#include <filesystem>
#include <iostream>
#include <string_view>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "expression/suggest.hpp"
#include "hinge/contact.hpp"
#include "hinge/error.hpp"
#include "simulate/record/output_file.hpp"

// HINGE_TEMPLATES is the folder of the files.
#define HINGE_TEMPLATE(name)                                                           \
  __asm__(                                                                             \
      ".pushsection .rodata\n"                                                         \
      "hinge_template_" #name                                                          \
      ":\n"                                                                            \
      ".incbin \"" HINGE_TEMPLATES "/" #name                                           \
      ".toml\"\n"                                                                      \
      "hinge_template_end_" #name                                                      \
      ":\n"                                                                            \
      ".byte 0\n"                                                                      \
      ".popsection\n");                                                                \
  extern "C" const char hinge_template_##name[] __attribute__((visibility("hidden"))); \
  extern "C" const char hinge_template_end_##name[] __attribute__((visibility("hidden")))

HINGE_TEMPLATE(pendulum);
HINGE_TEMPLATE(mechanism);
HINGE_TEMPLATE(bodies);
HINGE_TEMPLATE(pile);
HINGE_TEMPLATE(circuit);

namespace hinge::cli {

namespace {

struct Template {
  const char *name, *what;
  std::string_view text;  // empty: a contact problem
};

#define HINGE_TEXT(name) \
  std::string_view(hinge_template_##name, static_cast<std::size_t>(hinge_template_end_##name - hinge_template_##name))

const std::vector<Template>& templates() {
  static const std::vector<Template> all{
      {"pendulum", "energies and a constraint, as they stand", HINGE_TEXT(pendulum)},
      {"mechanism", "bodies, joints and a motor in the plane", HINGE_TEXT(mechanism)},
      {"bodies", "bodies in space that fall on a floor", HINGE_TEXT(bodies)},
      {"pile", "two hundred disks in a box", HINGE_TEXT(pile)},
      {"circuit", "a differential-algebraic equation", HINGE_TEXT(circuit)},
      {"contact", "a contact problem with friction, for hinge contact (HDF5)", {}},
  };
  return all;
}

const Template& find_template(const std::string& name) {
  for (const Template& t : templates())
    if (t.name == name) return t;
  const std::vector<std::string> names = template_names();
  const std::string near = nearest_name(name, names);
  throw InputError(fmt::format("--template {}: there is no such template{} there are {}", name,
                               near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), fmt::join(names, ", ")));
}

// A ball of mass 1 that slides into a corner: two contacts, their normals along x and z.
ContactProblem corner() {
  ContactProblem p;
  p.title = "A ball in a corner";
  const double normal[2][3] = {{1, 0, 0}, {0, 0, 1}},
               across[2][2][3] = {{{0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 1, 0}}};
  Eigen::MatrixXd H(6, 3);
  for (int k = 0; k < 2; ++k) {
    H.row(3 * k) = Eigen::Map<const Eigen::RowVector3d>(normal[k]);
    for (int j = 0; j < 2; ++j) H.row(3 * k + 1 + j) = Eigen::Map<const Eigen::RowVector3d>(across[k][j]);
  }
  const Eigen::MatrixXd M = Eigen::MatrixXd::Identity(3, 3);
  return frictional_contact(3, M.sparseView(), H.sparseView(), Eigen::Vector3d(-1, 0.5, -2), Eigen::VectorXd::Zero(6),
                            Eigen::Vector2d(0.3, 0.3));
}

}  // namespace

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const Template& t : templates()) names.emplace_back(t.name);
  return names;
}

int new_model(const NewArguments& arguments) {
  if (arguments.list || arguments.name.empty()) {
    for (const Template& t : templates()) std::cout << fmt::format("  {:<12}{}\n", t.name, t.what);
    if (arguments.list) return done;
    throw InputError("give the new file a name, as in: hinge new swing --template pendulum");
  }
  const Template& chosen = find_template(arguments.kind);
  const std::string ending = chosen.text.empty() ? ".hdf5" : ".toml";
  std::string path = arguments.name;
  if (std::filesystem::path(path).extension() != ending) path += ending;
  std::error_code none;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, none)))
    throw InputError(fmt::format("'{}' is there already; choose another name", path));
  if (chosen.text.empty())
    write_contact_file(path, corner());
  else
    write_whole(path, chosen.text);
  std::cout << fmt::format("{} is a model to begin with. Next: {}\n", path,
                           chosen.text.empty() ? fmt::format("hinge contact {}", path)
                                               : fmt::format("hinge run {0} --report {1}.html", path,
                                                             std::filesystem::path(path).replace_extension().string()));
  return done;
}

}  // namespace hinge::cli
