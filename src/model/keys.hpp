// The table of keys: everything that a model file may hold, declared once. The reader checks a file against it, and
// the reference tables of docs/model-file.md and docs/multibody.md are its text.
#pragma once

#include <string>
#include <vector>

#include "hinge/option.hpp"

namespace hinge {

struct KeyInfo {
  OptionInfo option;       ///< name, type, unit, default, range or words, and a sentence that begins with what it is
  std::string example{};   ///< of its value, as it is written in a file
  std::string inside{};    ///< the section that a table here follows, and tables in a list here
  std::string elements{};  ///< these, where they follow another one
  bool needed = false;
  bool in_library = false;  ///< the range is checked there, where more is known: "the mass is 0; ..., or fixed = true"
};

/// A section of the file, or a table inside one: "integrate", "integrate.tableau".
struct SectionInfo {
  std::string name;
  std::vector<KeyInfo> keys;           ///< one called * stands for all names
  std::vector<std::string> systems{};  ///< where the system section is one of these; empty: always
  bool open = false;                   ///< other keys are allowed too: options of the method
  std::string otherwise{};             ///< where other things stand that people look for here
  const KeyInfo* find(const std::string& key) const;
};

/// All sections; the first one is the file itself.
const std::vector<SectionInfo>& model_sections();
/// The section of this name, in a model with this system section; null where there is none.
const SectionInfo* find_section(const std::string& name, const std::string& system);
/// Its keys as a table in Markdown.
std::string section_table(const SectionInfo& section);

}  // namespace hinge
