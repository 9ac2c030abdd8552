// Looking up the table of keys, and writing it down.
#include <algorithm>

#include <fmt/format.h>

#include "model/keys.hpp"

namespace hinge {

const KeyInfo* SectionInfo::find(const std::string& key) const {
  for (const KeyInfo& k : keys)
    if (k.option.name == key || k.option.name == "*") return &k;
  return nullptr;
}

const SectionInfo* find_section(const std::string& name, const std::string& system) {
  for (const SectionInfo& s : model_sections()) {
    const bool meant = s.systems.empty() || std::find(s.systems.begin(), s.systems.end(), system) != s.systems.end();
    if (s.name == name && meant) return &s;
  }
  return nullptr;
}

std::string section_table(const SectionInfo& section) {
  std::string text = "| key | value | unit | default | |\n| --- | --- | --- | --- | --- |\n";
  for (const KeyInfo& key : section.keys) {
    if (section.name.empty() && !key.inside.empty()) {
      const bool many = key.option.type == OptionType::list;
      text += fmt::format("| `{}{}{}` | {} | | | {} |\n", many ? "[[" : "[", key.option.name, many ? "]]" : "]",
                          many ? "sections, one for each" : "a section", key.option.meaning);
      continue;
    }
    const bool any = key.option.type == OptionType::expression;  // the example says it best
    OptionInfo row = key.option;
    row.unit.clear();  // it has a column of its own
    std::string value = any ? "" : allowed_text(row);
    if (!key.example.empty()) value += fmt::format("{}`{}`", any ? "" : ", ", key.example);
    std::string preset = key.needed ? "needed" : default_text(key.option);
    if (!key.option.default_value.empty()) preset = "`" + preset + "`";
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.option.name, value, key.option.unit, preset,
                        key.option.meaning);
  }
  return text;
}

}  // namespace hinge
