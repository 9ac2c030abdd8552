// hinge methods: every method, from the same declarations that the property tests read.
#include <iostream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

void print(const MethodInfo& m) {
  const Preserves& p = m.preserves;
  std::string kept;
  for (const auto& [yes, what] : {std::pair{p.position_level, "g = 0"},
                                  {p.velocity_level, "g_t + G v = 0"},
                                  {p.symplectic, "symplectic form"},
                                  {p.symmetric, "time symmetry"},
                                  {p.momentum_maps, "momentum maps"},
                                  {p.energy, "energy"}})
    if (yes) kept += (kept.empty() ? "" : ", ") + std::string(what);
  std::cout << fmt::format("{}\n  {}\n  order      {}; of the multipliers {}\n  preserves  {}\n", m.name, m.summary,
                           m.order, m.multiplier_order, kept);
  if (!m.condition.empty()) std::cout << fmt::format("  if         {}\n", m.condition);
  for (const OptionInfo& o : m.options)
    std::cout << fmt::format("  option     {}{}   {}\n", o.name, default_text(o).empty() ? "" : " = " + default_text(o),
                             meaning_text(o));
  std::cout << fmt::format("  reference  {}\n\n", m.reference);
}

}  // namespace

int list_methods(bool json, const std::string& only) {
  std::vector<MethodInfo> list = methods();
  if (!only.empty()) std::erase_if(list, [&](const MethodInfo& m) { return m.name != only; });
  if (list.empty()) throw InputError(fmt::format("there is no method '{}'; 'hinge methods' lists them all", only));
  if (json) {
    std::cout << json_text(list) << '\n';
    return done;
  }
  for (const MethodInfo& m : list) print(m);
  std::cout
      << "Options go into [integrate] of the model, or: hinge run MODEL --method NAME --set integrate.OPTION=VALUE\n";
  return done;
}

}  // namespace hinge::cli
