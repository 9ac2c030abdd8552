// hinge export-c: the functions of a model as C, for programs of one's own.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "expression/c_text.hpp"
#include "expression/derivative.hpp"
#include "expression/printable.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "simulate/record/output_file.hpp"
#include "system/symbolic.hpp"

namespace hinge::cli {

namespace {

using Q = Quantity;

constexpr std::string_view mark = "/* Written by hinge export-c";

struct Function {
  std::string name, meaning;
  std::vector<Node> nodes;
  Pattern pattern;      // of a matrix
  bool matrix = false;  // its entries that are not always zero
};

struct Export {
  std::string name;  // what all begins with
  const SymbolicSystem& system;
  Graph graph;
  std::vector<Function> functions;
  std::vector<std::string> missing;  // what of the model is not in them
};

std::string identifier(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "model_" + name : name;
}

// Text for a comment: nothing in it ends it.
std::string comment_text(const std::string& text) {
  std::string out = printable(text);
  for (std::size_t k = 0; k + 1 < out.size(); ++k)
    if ((out[k] == '*' && out[k + 1] == '/') || (out[k] == '/' && out[k + 1] == '*')) out[k] = ' ';
  for (char& c : out)
    if (c == '\n' || c == '\\' || c == '?') c = ' ';
  return out;
}

const SymbolicSystem& exportable(const Model& model) {
  const auto* system = dynamic_cast<const SymbolicSystem*>(model.system.get());
  if (!system)
    throw InputError(
        fmt::format("{}: [{}] is not made of expressions alone, so that there are no functions to export; "
                    "hinge export-c takes [lagrangian], [hamiltonian], [mechanical], [odae] and [dae]",
                    model.path, model.section));
  if (system->hooks().contacts)
    throw InputError(
        fmt::format("{}: contacts that are found by geometry are no expressions and cannot be exported; "
                    "hinge export-c takes models without shapes",
                    model.path));
  return *system;
}

void add_functions(Export& all) {
  static constexpr std::pair<Q, std::pair<const char*, const char*>> list[] = {
      {Q::velocity, {"velocity", "v(t, y, z), so that y' = v"}},
      {Q::momentum, {"momentum", "p(t, y, z)"}},
      {Q::force, {"force", "f(t, y, z)"}},
      {Q::reaction, {"reaction", "r(t, y, z, psi), so that d/dt p = f + r"}},
      {Q::constraint, {"constraint", "g(t, y), to be zero"}},
      {Q::constraint_rate, {"constraint_rate", "g_t + g_y v, and below it velocity constraints, to be zero"}},
      {Q::energy, {"energy", "H(t, y, z)"}},
      {Q::momentum_z, {"mass", "the mass matrix p_z"}},
      {Q::constraint_y, {"constraint_gradient", "G = g_y"}},
      {Q::reaction_psi, {"reaction_gradient", "r_psi"}},
      {Q::constraint_rate_z, {"rate_gradient", "C, of the constraint rates by z"}},
      {Q::acceleration_force, {"acceleration_force", "b, so that p_z z' = b + r"}},
      {Q::constraint_curvature, {"constraint_curvature", "c, so that C z' + c = 0"}},
  };
  for (const auto& [quantity, text] : list) {
    if (quantity == Q::energy && !all.system.structure().has_energy) continue;
    Function f{text.first, text.second, {}, {}};
    f.pattern = all.system.pattern(quantity);
    f.nodes = all.system.nodes_of(quantity, all.graph);
    f.matrix = quantity >= Q::velocity_y && quantity < Q::acceleration_force;
    if (!f.nodes.empty()) all.functions.push_back(std::move(f));
  }
}

// Contacts, pairs and what else stands beside the equations: their functions, and what is not among them.
void add_conditions(Export& all) {
  const Equations& eq = all.system.equations();
  Function gaps{"gap", "gaps of contacts, not to be negative", {}, {}};
  for (const Equations::Gap& gap : eq.gaps) gaps.nodes.push_back(gap.gap);
  Function first{"pair_a", "the first of each pair 0 <= a _|_ b >= 0", {}, {}}, second{"pair_b", "the second", {}, {}};
  for (const Equations::Pair& pair : eq.pairs) {
    first.nodes.push_back(pair.a);
    second.nodes.push_back(pair.b);
  }
  for (Function* f : {&gaps, &first, &second})
    if (!f->nodes.empty()) all.functions.push_back(std::move(*f));
  if (!eq.gaps.empty()) all.missing.emplace_back("forces, friction and restitution of contacts");
  if (!eq.samples.empty()) all.missing.emplace_back("how sampled values change");
  if (!eq.noise.empty()) all.missing.emplace_back("noise");
}

void add_residual(Export& all) {
  const Equations& eq = all.system.equations();
  all.graph = *eq.graph;
  all.functions.push_back({"residual", "F(t, x, x'), with x = y and x' = z, to be zero", eq.residual, {}});
  for (const auto& [name, meaning, variables] :
       {std::tuple{"residual_x", "F by x", eq.y}, std::tuple{"residual_rate", "F by x'", eq.z}}) {
    SparseExpressions d = jacobian(all.graph, eq.residual, variables);
    Function f{name, meaning, std::move(d.entries), {d.rows, d.columns, d.row_start, d.column}, true};
    if (!f.nodes.empty()) all.functions.push_back(std::move(f));
  }
}

std::string head_of(const Model& model, const char* what) {
  return fmt::format("{} {}: {} of {}\n", mark, version(), what, comment_text(model.title)) +
         fmt::format("   (model file {}{}).\n", comment_text(std::filesystem::path(model.path).filename().string()),
                     model.settings.empty() ? "" : ", set: " + comment_text(model.settings));
}

std::string header(const Export& all, const Model& model) {
  const Layout& layout = all.system.layout();
  std::string text = head_of(model, "functions");
  text += layout.kind == SystemKind::dae ? "\n     F(t, x, x') = 0 with x = y and x' = z\n\n"
                                         : "\n     y' = v,  d/dt p = f + r,  0 = g\n\n   with multipliers psi in r.\n";
  text +=
      "   Parameters have the values of the model. Arguments that a function does not need may be null.\n"
      "   Of matrices those entries are computed that are not always zero: entry k is in row NAME_row[k] and column\n"
      "   NAME_column[k]. With -ffp-contract=off the numbers are those of hinge, to the last bit.";
  if (!all.missing.empty()) text += fmt::format("\n   Not here: {}.", fmt::join(all.missing, ", "));
  text += " */\n";
  text += "#ifndef HINGE_EXPORT_" + all.name + "\n#define HINGE_EXPORT_" + all.name + "\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  text += fmt::format("enum {{ {0}_ny = {1}, {0}_nz = {2}, {0}_npsi = {3} }};\n\n", all.name, layout.ny, layout.nz,
                      layout.npsi);
  constexpr int most = 40;
  for (int k = 0; k < std::min(layout.ny, most); ++k)
    text += fmt::format("/* y[{}]: {} */\n", k, comment_text(layout.y_name(k)));
  for (int k = 0; k < std::min(layout.nz, most); ++k)
    text += fmt::format("/* z[{}]: {} */\n", k, comment_text(layout.z_name(k)));
  for (int k = 0; k < std::min(layout.ng(), most); ++k)
    text += fmt::format("/* constraint {}: {} */\n", k, comment_text(layout.constraints[static_cast<std::size_t>(k)]));
  for (const Function& f : all.functions) {
    text += fmt::format("\n/* {}: {} number{} */\n", f.meaning, f.nodes.size(), f.nodes.size() == 1 ? "" : "s");
    text += fmt::format("enum {{ {}_{}_size = {} }};\n", all.name, f.name, f.nodes.size());
    if (f.matrix)
      text +=
          fmt::format("extern const int {0}_{1}_row[{2}], {0}_{1}_column[{2}];\n", all.name, f.name, f.nodes.size());
    text += fmt::format("void {}_{}(double t, const double *y, const double *z, const double *psi, double *out);\n",
                        all.name, f.name);
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

std::string list_of(const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

std::string source(const Export& all, const Model& model) {
  const Equations& eq = all.system.equations();
  const CArray arrays[] = {{"t", {eq.t}, true}, {"y", eq.y}, {"z", eq.z}, {"psi", eq.psi}};
  std::string text = head_of(model, "functions") + " */\n";
  text += fmt::format("#include \"{}.h\"\n\n#include <math.h>\n\n{}", all.name, c_functions);
  for (const Function& f : all.functions) {
    text += fmt::format("\n/* {} */\n", f.meaning);
    if (f.matrix) {
      std::vector<int> rows;
      for (int i = 0; i < f.pattern.rows; ++i)
        for (int k = f.pattern.row_start[static_cast<std::size_t>(i)];
             k < f.pattern.row_start[static_cast<std::size_t>(i) + 1]; ++k)
          rows.push_back(i);
      text += fmt::format("const int {}_{}_row[{}] = {{{}}};\n", all.name, f.name, rows.size(), list_of(rows));
      text += fmt::format("const int {}_{}_column[{}] = {{{}}};\n", all.name, f.name, rows.size(),
                          list_of(f.pattern.column));
    }
    text += fmt::format("void {}_{}(double t, const double *y, const double *z, const double *psi, double *out) {{\n",
                        all.name, f.name);
    text += "  (void)t, (void)y, (void)z, (void)psi;\n" + c_statements(all.graph, arrays, f.nodes) + "}\n";
  }
  return text;
}

std::string numbers_of(const char* name, const std::vector<double>& x) {
  std::string list;
  for (const double number : x) list += (list.empty() ? "" : ", ") + c_number(number);
  return fmt::format("static const double {}[] = {{{}}};\n", name, x.empty() ? "0.0" : list);
}

std::string example(const Export& all, const Model& model, const State& start) {
  std::string text = head_of(model, "an example of the functions");
  text += fmt::format(
      "   Prints all of them at the initial values. To compile and run it:\n\n"
      "     cc -O2 -ffp-contract=off example.c {}.c -lm -o example && ./example\n */\n",
      all.name);
  text += fmt::format("#include \"{}.h\"\n\n#include <stdio.h>\n\n", all.name);
  text += numbers_of("y", start.y) + numbers_of("z", start.z) + numbers_of("psi", start.psi);
  text +=
      "\nstatic void print(const char *name, const double *x, int n) {\n"
      "  for (int k = 0; k < n; ++k) printf(\"%s %d %.17g\\n\", name, k, x[k]);\n}\n\nint main(void) {\n";
  text += fmt::format("  const double t = {};\n", c_number(start.t));
  for (const Function& f : all.functions)
    text += fmt::format(
        "  static double {1}[{0}_{1}_size];\n  {0}_{1}(t, y, z, psi, {1});\n  print(\"{1}\", {1}, {0}_{1}_size);\n",
        all.name, f.name);
  return text + "  return 0;\n}\n";
}

// Files that somebody else wrote stay.
void refuse_foreign(const std::filesystem::path& path, bool force) {
  std::error_code none;
  if (force || !std::filesystem::exists(std::filesystem::symlink_status(path, none))) return;
  std::string begin(mark.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin != mark)
    throw InputError(
        fmt::format("'{}' is there already and was not written by hinge export-c; choose another folder, "
                    "or --force",
                    path.string()));
}

}  // namespace

int export_c(const ExportArguments& arguments) {
  const Model model = load_model(arguments.model, arguments.overrides);
  Export all{identifier(arguments.model), exportable(model), {}, {}, {}};
  if (all.name == "example") all.name = "example_model";  // example.c is who calls it
  const bool dae = all.system.structure().is_dae;
  const State start = located(model, [&] { return consistent_start(all.system, model.simulation.start, model.start); });
  if (dae)
    add_residual(all);
  else
    add_functions(all);
  add_conditions(all);
  const std::filesystem::path folder = arguments.out;
  const std::pair<std::filesystem::path, std::string> files[] = {{folder / (all.name + ".h"), header(all, model)},
                                                                 {folder / (all.name + ".c"), source(all, model)},
                                                                 {folder / "example.c", example(all, model, start)}};
  for (const auto& [path, text] : files) refuse_foreign(path, arguments.force);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed && !std::filesystem::is_directory(folder))
    throw InputError(fmt::format("--out {}: the folder cannot be made: {}", arguments.out, failed.message()));
  for (const auto& [path, text] : files) write_whole(path.string(), text);
  std::cout << fmt::format("{} function{} in {}, and example.c, which prints them at the start:\n",
                           all.functions.size(), all.functions.size() == 1 ? "" : "s",
                           (folder / (all.name + ".c")).string())
            << fmt::format("  cd {} && cc -O2 -ffp-contract=off example.c {}.c -lm -o example && ./example\n",
                           folder.string(), all.name);
  if (!all.missing.empty()) std::cout << fmt::format("  not exported: {}\n", fmt::join(all.missing, ", "));
  return done;
}

}  // namespace hinge::cli
