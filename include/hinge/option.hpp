// A row of a table of options: what a name may be set to, declared once. Readers, messages, `hinge methods` and the
// reference pages come from such tables.
//
//   {.name = "stages", .meaning = "number of stages", .default_value = "2", .type = OptionType::integer,
//    .range = {1, 12}}
//   {.name = "scheme", .meaning = "lengths of the substeps", .default_value = "suzuki", .type = OptionType::word,
//    .words = {"suzuki", "triple-jump", "optimised"}}
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hinge/error.hpp"

namespace hinge {

enum class OptionType { number, integer, boolean, word, text, expression, list, table };
/// "a number", "a whole number", "true or false", ...
const char* type_name(OptionType type);

/// The numbers from `min` to `max`; an open end does not belong to them.
struct OptionRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false, open_max = false;
  bool limited() const { return open_max || min > OptionRange{}.min || max < OptionRange{}.max; }
  bool contains(double x) const {
    return (open_min ? x > min : x >= min) && (open_max ? x < max : x <= max);  // not a number: false
  }
};
inline constexpr OptionRange positive_range{.min = 0, .open_min = true, .open_max = true};
inline constexpr OptionRange not_negative_range{.min = 0, .open_max = true};

struct OptionInfo {
  std::string name;
  std::string meaning{};        ///< a sentence, without what the other members say
  std::string default_value{};  ///< as it is written in a file, but words without quotes; empty: there is none
  OptionType type = OptionType::number;
  OptionRange range{};               ///< of a number
  std::vector<double> values{};      ///< the only numbers there are, where they are few: 2, 4, 6
  std::vector<std::string> words{};  ///< a word is one of these; a number may be one of these instead
  std::string unit{};                ///< "m/s"; empty: none, or that of the system
  /// The default as a sentence, where it depends on something: "1/2 with gap = \"velocity\", else 1".
  std::string default_depends{};
};

/// What may be written: "1 to 12", "\"suzuki\", \"triple-jump\" or \"optimised\"", "a positive number".
std::string allowed_text(const OptionInfo& option);
/// The meaning and what may be written: "number of stages (1 to 12)".
std::string meaning_text(const OptionInfo& option);
/// The default as it is written: "2", "\"suzuki\""; or the sentence on what it depends.
std::string default_text(const OptionInfo& option);

/// An option is not known, or has a value that it cannot have.
struct OptionError : InputError {
  OptionError(std::string which, const std::string& message) : InputError(message), option(std::move(which)) {}
  std::string option;  ///< its name, as it was given
};

/// Throw an OptionError where the option cannot have this value: "'penalty' is 0; it must be positive, 1e6 is usual".
void check_option(const OptionInfo& option, double value);
void check_option(const OptionInfo& option, const std::string& word);

}  // namespace hinge
