// Numbers with units, "50 mm" or "2.5 kN/m": converted to metres, kilograms, seconds, amperes, kelvins and radians.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "expression/parse.hpp"

namespace hinge {

struct Item;

/// Powers of metre, kilogram, second, ampere and kelvin. Angles have none.
using Dimension = std::array<int, 5>;

struct QuantityWithUnit {
  double value = 0;  ///< in SI units
  Dimension dimension{};
};

/// A number that is followed by a unit, and nothing else; none where the text is something else. Throws InputError
/// where the unit is unknown, with the nearest one.
std::optional<QuantityWithUnit> read_quantity(std::string_view text, const Scope& scope);

/// Complains about a number whose unit is another one than "force/length"; about those of a list, too. Numbers without
/// a unit, and expressions, pass.
void require_unit(const Item& item, std::string_view unit, const Scope& scope);

/// What "length/time^2" in the table of keys stands for; none where it is no dimension.
std::optional<Dimension> dimension_of(std::string_view words);
/// "m/s^2"; "1" for none.
std::string unit_text(const Dimension& dimension);

/// All units as a table in Markdown, for the reference.
std::string unit_table();

}  // namespace hinge
