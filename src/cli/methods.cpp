// hinge methods: every method, from the same declarations that the property tests read.
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

int list_methods(bool json, const std::string& only) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  bool found = false;
  for (const MethodInfo& m : methods()) {
    if (!only.empty() && m.name != only) continue;
    found = true;
    const Preserves& p = m.preserves;
    if (json) {
      Json options = Json::array();
      for (const OptionInfo& o : m.options)
        options.push_back({{"name", o.name}, {"meaning", o.meaning}, {"default", o.default_value}});
      list.push_back({{"name", m.name},
                      {"summary", m.summary},
                      {"order", m.order},
                      {"multiplier_order", m.multiplier_order},
                      {"preserves",
                       {{"position_level", p.position_level},
                        {"velocity_level", p.velocity_level},
                        {"symplectic", p.symplectic},
                        {"symmetric", p.symmetric},
                        {"momentum_maps", p.momentum_maps},
                        {"energy", p.energy}}},
                      {"options", options},
                      {"reference", m.reference}});
      if (!m.condition.empty()) list.back()["preserves_if"] = m.condition;
      continue;
    }
    std::string kept;
    const auto add = [&kept](bool yes, const char* what) {
      kept += yes ? (kept.empty() ? "" : ", ") + std::string(what) : "";
    };
    add(p.position_level, "g = 0");
    add(p.velocity_level, "g_t + G v = 0");
    add(p.symplectic, "symplectic form");
    add(p.symmetric, "time symmetry");
    add(p.momentum_maps, "momentum maps");
    add(p.energy, "energy");
    std::cout << fmt::format("{}\n  {}\n  order      {}; of the multipliers {}\n  preserves  {}\n", m.name, m.summary,
                             m.order, m.multiplier_order, kept);
    if (!m.condition.empty()) std::cout << fmt::format("  if         {}\n", m.condition);
    for (const OptionInfo& o : m.options)
      std::cout << fmt::format("  option     {}{}   {}\n", o.name,
                               o.default_value.empty() ? "" : " = " + o.default_value, o.meaning);
    std::cout << fmt::format("  reference  {}\n\n", m.reference);
  }
  if (!found) throw InputError(fmt::format("there is no method '{}'; 'hinge methods' lists them all", only));
  if (json)
    std::cout << list.dump(2) << '\n';
  else
    std::cout
        << "Options go into [integrate] of the model, or: hinge run MODEL --method NAME --set integrate.OPTION=VALUE\n";
  return done;
}

}  // namespace hinge::cli
