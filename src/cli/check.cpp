// hinge check: what a model is, without integrating it.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "formulation/integrability.hpp"
#include "formulation/start/consistent_start.hpp"
#include "formulation/start/constraint_rank.hpp"
#include "hinge/error.hpp"
#include "system/states.hpp"

namespace hinge::cli {

namespace {

using Q = Quantity;

const char* kind_name(SystemKind kind) {
  switch (kind) {
    case SystemKind::lagrangian: return "Lagrangian";
    case SystemKind::hamiltonian: return "Hamiltonian";
    case SystemKind::mechanical: return "mechanical (M q'' = F - G^T psi)";
    case SystemKind::odae: return "general ODAE";
    case SystemKind::dae: return "DAE F(t, x, x') = 0";
    case SystemKind::multibody: return "rigid bodies (Newton-Euler)";
    case SystemKind::own: return "own equations";
  }
  return "";
}

void print_vector(std::ostream& out, const char* symbol, const std::vector<Node>& nodes, const Graph& graph) {
  constexpr std::size_t most = 12;
  for (std::size_t k = 0; k < std::min(nodes.size(), most); ++k)
    out << fmt::format("  {}[{}] = {}\n", symbol, k, to_text(graph, nodes[k], 90));
  if (nodes.size() > most) out << fmt::format("  ... {} more\n", nodes.size() - most);
}

void print_equations(std::ostream& out, const System& system) {
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic || symbolic->ny() == 0) return;
  const Equations& eq = symbolic->equations();
  out << fmt::format("\nEquations   y' = v,  d/dt p = f + r,  0 = g,  0 = g_t + g_y v{}\n",
                     system.nw() > 0 ? ",  0 = w" : "");
  print_vector(out, "v", eq.v, *eq.graph);
  print_vector(out, "p", eq.p, *eq.graph);
  print_vector(out, "f", eq.f, *eq.graph);
  if (system.nrates() > 0) print_vector(out, "r", eq.r, *eq.graph);
  if (system.ng() > 0) print_vector(out, "g", eq.g, *eq.graph);
  if (system.nw() > 0) print_vector(out, "w", eq.w, *eq.graph);
}

void print_structure(std::ostream& out, const System& system) {
  out << "\nStructure\n";
  for (const auto& [what, q] : {std::pair{"mass matrix p_z", Q::momentum_z},
                                {"constraint gradient G", Q::constraint_y},
                                {"force by position f_y", Q::force_y},
                                {"force by velocity f_z", Q::force_z}}) {
    const Pattern& p = system.pattern(q);
    const char* const remark = p.empty() ? " (zero)" : system.is_constant(q) ? " (constant)" : "";
    print_line(out, what, fmt::format("{} x {}, {} entries{}", p.rows, p.columns, p.entries(), remark));
  }
  print_line(out, "reaction",
             system.nrates() == 0                    ? "none"
             : system.structure().reaction_is_linear ? "linear in the multipliers"
             : system.structure().reaction_is_affine ? "affine in the multipliers"
                                                     : "nonlinear in the multipliers");
  print_line(out, "energy", system.structure().has_energy ? "yes" : "no");
}

// Which levels of the constraints the method keeps.
std::string levels(const MethodChoice& method) {
  const Preserves& p = method.info.preserves;
  const std::string name = method.info.name;
  if (p.position_level && p.velocity_level) return "; " + name + " keeps the position and the velocity level together";
  if (p.position_level) return "; " + name + " keeps the position level, the velocity level to its order";
  if (p.velocity_level) return "; " + name + " keeps the velocity level, the position level to its order";
  return "";
}

void print_contacts(std::ostream& out, const System& system, const State& start) {
  const auto finder = system.contact_finder();
  if (!finder) return;
  constexpr int most = 12;
  ContactList list;
  const bool bodies = system.layout().kind == SystemKind::multibody;
  finder->find(start.t, start.y.data(), bodies ? 1e-3 * finder->length_scale() : HUGE_VAL, list);
  if (const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system); symbolic && !bodies)
    for (std::uint64_t key = 0; key < symbolic->equations().gaps.size(); ++key)
      if (std::find(list.key.begin(), list.key.end(), key) == list.key.end())
        throw InputError(
            fmt::format("the gap {} is not a finite number at the initial values; start elsewhere, or change "
                        "the expression so that it is defined there",
                        finder->name(key)));
  const double closed = 1e-9 * finder->length_scale();
  const auto count = std::count_if(list.gap.begin(), list.gap.end(), [&](double gap) { return gap <= closed; });
  out << fmt::format("\nContacts    {}{}, {} closed; {} rows each\n", list.count, bodies ? " nearby" : "", count,
                     list.dimension);
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(list.count, most)); ++i)
    out << fmt::format("  {:<26} gap {:<12.6g} restitution {:g}, friction {:g}{}\n", finder->name(list.key[i]),
                       list.gap[i], list.restitution[i], list.friction[i], list.gap[i] <= closed ? "  closed" : "");
  if (list.count > most) out << fmt::format("  ... {} more\n", list.count - most);
}

void print_integrable(std::ostream& out, const System& system, double t, const std::vector<double>& position) {
  if (system.nw() == 0) return;
  const IntegrableRates found = integrable_rates(system, t, position);
  print_line(out, "velocity constraints",
             !found.tested      ? "not tested for whether they are integrable"
             : found.count == 0 ? "not integrable: nonholonomic"
                                : "integrable");
}

// Names of forces, in lines of about 100 columns.
void print_forces(std::ostream& out, const std::vector<std::string>& names) {
  if (names.empty()) return;
  constexpr std::size_t most = 60, width = 96;
  out << "\nForces      for [output] quantities and events\n";
  std::string line;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k) {
    if (!line.empty() && line.size() + names[k].size() > width) {
      out << "  " << line << '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + names[k];
  }
  out << "  " << line << '\n';
  if (names.size() > most) out << fmt::format("  ... {} more\n", names.size() - most);
}

}  // namespace

void print_line(std::ostream& out, const std::string& what, const std::string& text) {
  out << fmt::format("  {:<26} {}\n", what, text);
}

void print_start(std::ostream& out, const std::vector<std::string>& remarks) {
  const bool changed = std::any_of(remarks.begin(), remarks.end(),
                                   [](const std::string& r) { return r.rfind("initial values changed", 0) == 0; });
  print_line(out, "initial values",
             changed ? "inconsistent as given; the nearest consistent ones are used" : "consistent");
  for (const std::string& remark : remarks) out << "  " << remark << '\n';
}

int check(const std::string& path, const std::vector<Override>& overrides) {
  return check(load_model(path, overrides), std::cout, std::cerr);
}

int check(const Model& model, std::ostream& out, std::ostream& complaints) {
  const System& system = *model.system;
  const Layout& layout = system.layout();
  if (layout.kind == SystemKind::dae) return check_dae(model, out);
  const int states = count_states(layout);
  out << model.title << '\n'
      << fmt::format("{}: {} coordinate{}, {} velocit{} or momenta, {} constraint{}\n", kind_name(layout.kind),
                     layout.ny - states, layout.ny - states == 1 ? "" : "s", layout.nz - states,
                     layout.nz - states == 1 ? "y" : "ies", system.ng(), system.ng() == 1 ? "" : "s")
      << (states == 0 ? "" : fmt::format("and {} state{}, the last rows below\n", states, states == 1 ? "" : "s"))
      << (system.nw() == 0 ? "" : fmt::format("{} velocity constraint{}\n", system.nw(), system.nw() == 1 ? "" : "s"));
  print_equations(out, system);
  print_structure(out, system);

  const MethodChoice method = model.choice.specialised(system, model.simulation.steps());
  out << "\nAt the initial position\n";
  std::vector<std::string> remarks;
  const State start =
      located(model, [&] { return consistent_start(system, model.simulation.start, model.start, &remarks); });
  const ConstraintRank rank = constraint_rank(system, start.t, start.y.data(), start.z.data());
  print_line(out, system.nw() > 0 ? "rank of G and w_z" : "rank of G",
             fmt::format("{} of {}{}", rank.rank, rank.constraints, rank.full() ? "" : ": dependent rows"));
  for (std::size_t k = 0; k < rank.dependent.size() && k < 12; ++k)
    out << "    " << layout.constraints[static_cast<std::size_t>(rank.dependent[k].constraint)] << '\n';
  const int velocities = (layout.kind == SystemKind::multibody ? layout.nz : layout.ny) - states;
  print_line(out, "degrees of freedom",
             system.nw() == 0
                 ? fmt::format("{}", velocities - rank.rank)
                 : fmt::format("{} of velocities, {} of positions", velocities - rank.rank, velocities - system.ng()));
  print_line(out, "index",
             system.nrates() == 0 ? "0 (an ordinary differential equation)"
             : system.ng() == 0   ? "2 as written; " + method.info.name + " keeps the velocity constraints"
                                  : "3 as written" + levels(method));
  print_integrable(out, system, start.t, start.y);
  print_start(out, remarks);
  if (!start.psi.empty()) {
    std::string list;
    for (std::size_t k = 0; k < std::min<std::size_t>(start.psi.size(), 6); ++k)
      list += fmt::format("{}{:.10g}", k == 0 ? "" : " ", start.psi[k]);
    print_line(out, "initial multipliers", list + (start.psi.size() > 6 ? " ..." : ""));
  }
  if (system.structure().has_energy) {
    const auto e = system.evaluation({Q::energy});
    e->at(start.t, start.y.data(), start.z.data(), start.psi.data());
    print_line(out, "energy", fmt::format("{:.12g}", *(*e)[Q::energy]));
  }
  located(model, [&] { print_contacts(out, system, start); });
  print_forces(out, model.forces);
  located(model, [&] { method.bind(model.system, model.simulation.solver, model.simulation.steps()); });
  out << fmt::format("\nMethod      {}\n", method.description);
  for (const std::string& fact : method.facts) out << "  " << fact << '\n';
  for (const auto* more : {&method.system_facts, &method.details})
    if (*more)
      for (const std::string& fact : (*more)(system)) out << "  " << fact << '\n';
  if (method.warnings)
    for (const std::string& warning : method.warnings(system))
      complaints << fmt::format("hinge: warning: {}: {}\n", model.path, warning);
  return done;
}

}  // namespace hinge::cli
