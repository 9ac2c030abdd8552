#include "model/units.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "expression/printable.hpp"
#include "expression/suggest.hpp"
#include "expression/trimmed.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

// A unit is up/down SI units: both whole numbers where that is possible, so that "50 mm" is 50/1000 and rounded once.
struct Unit {
  std::string_view name;
  double up, down;
  Dimension dimension;
  bool prefixes;  // may it have one of these in front?
  std::string_view meaning;
};

constexpr double pi = std::numbers::pi;
constexpr Dimension none{}, length{1, 0, 0, 0, 0}, mass{0, 1, 0, 0, 0}, time{0, 0, 1, 0, 0}, rate{0, 0, -1, 0, 0},
    force{1, 1, -2, 0, 0}, energy{2, 1, -2, 0, 0}, power{2, 1, -3, 0, 0}, pressure{-1, 1, -2, 0, 0};

constexpr std::array units = {
    Unit{"m", 1, 1, length, true, "metre"},
    Unit{"in", 254, 10000, length, false, "inch"},
    Unit{"ft", 3048, 10000, length, false, "foot"},
    Unit{"mi", 1609344, 1000, length, false, "mile"},
    Unit{"g", 1, 1000, mass, true, "gram"},
    Unit{"t", 1000, 1, mass, true, "tonne"},
    Unit{"lb", 45359237, 1e8, mass, false, "pound"},
    Unit{"s", 1, 1, time, true, "second"},
    Unit{"min", 60, 1, time, false, "minute"},
    Unit{"h", 3600, 1, time, false, "hour"},
    Unit{"d", 86400, 1, time, false, "day"},
    Unit{"rad", 1, 1, none, true, "radian"},
    Unit{"deg", pi, 180, none, false, "degree"},
    Unit{"°", pi, 180, none, false, "degree"},
    Unit{"rev", 2 * pi, 1, none, false, "turn"},
    Unit{"turn", 2 * pi, 1, none, false, "turn"},
    Unit{"rpm", 2 * pi, 60, rate, false, "turns a minute"},
    Unit{"Hz", 1, 1, rate, true, "hertz, one a second"},
    Unit{"N", 1, 1, force, true, "newton"},
    Unit{"kgf", 980665, 100000, force, false, "kilogram-force"},
    Unit{"lbf", 4448221615260.5, 1e12, force, false, "pound-force"},
    Unit{"Nm", 1, 1, energy, true, "newton metre"},
    Unit{"J", 1, 1, energy, true, "joule"},
    Unit{"Wh", 3600, 1, energy, true, "watt hour"},
    Unit{"W", 1, 1, power, true, "watt"},
    Unit{"hp", 745.69987158227022, 1, power, false, "horsepower, 550 ft lbf/s"},
    Unit{"Pa", 1, 1, pressure, true, "pascal"},
    Unit{"bar", 100000, 1, pressure, true, "bar"},
    Unit{"atm", 101325, 1, pressure, false, "atmosphere"},
    Unit{"psi", 6894.757293168361, 1, pressure, false, "pound-force per square inch"},
    Unit{"L", 1, 1000, {3, 0, 0, 0, 0}, true, "litre"},
    Unit{"kmh", 1000, 3600, {1, 0, -1, 0, 0}, false, "kilometre per hour"},
    Unit{"mph", 44704, 100000, {1, 0, -1, 0, 0}, false, "mile per hour"},
    Unit{"kn", 1852, 3600, {1, 0, -1, 0, 0}, false, "knot"},
    Unit{"g0", 980665, 100000, {1, 0, -2, 0, 0}, false, "standard gravity"},
    Unit{"A", 1, 1, {0, 0, 0, 1, 0}, true, "ampere"},
    Unit{"C", 1, 1, {0, 0, 1, 1, 0}, true, "coulomb"},
    Unit{"V", 1, 1, {2, 1, -3, -1, 0}, true, "volt"},
    Unit{"Ohm", 1, 1, {2, 1, -3, -2, 0}, true, "ohm"},
    Unit{"F", 1, 1, {-2, -1, 4, 2, 0}, true, "farad"},
    Unit{"H", 1, 1, {2, 1, -2, -2, 0}, true, "henry"},
    Unit{"T", 1, 1, {0, 1, -2, -1, 0}, true, "tesla"},
    Unit{"Wb", 1, 1, {2, 1, -2, -1, 0}, true, "weber"},
    Unit{"K", 1, 1, {0, 0, 0, 0, 1}, true, "kelvin"},
    Unit{"%", 1, 100, none, false, "a hundredth"},
};

struct Prefix {
  std::string_view name;
  double up, down;
};
constexpr std::array<Prefix, 12> prefixes = {{{"p", 1, 1e12},
                                              {"n", 1, 1e9},
                                              {"u", 1, 1e6},
                                              {"µ", 1, 1e6},
                                              {"m", 1, 1e3},
                                              {"c", 1, 100},
                                              {"d", 1, 10},
                                              {"h", 100, 1},
                                              {"k", 1e3, 1},
                                              {"M", 1e6, 1},
                                              {"G", 1e9, 1},
                                              {"T", 1e12, 1}}};

std::optional<Unit> find_unit(std::string_view name) {
  if (const auto* own = std::ranges::find(units, name, &Unit::name); own != units.end()) return *own;
  for (const Prefix& prefix : prefixes) {
    if (!name.starts_with(prefix.name)) continue;
    const auto* own = std::ranges::find(units, name.substr(prefix.name.size()), &Unit::name);
    if (own == units.end() || !own->prefixes) continue;
    Unit unit = *own;
    unit.up *= prefix.up;
    unit.down *= prefix.down;
    return unit;
  }
  return std::nullopt;
}

// The names that a misspelt one is compared with: with the prefixes that people use.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Unit& unit : units) {
    names.emplace_back(unit.name);
    if (unit.prefixes)
      for (const char* prefix : {"m", "k", "c", "u", "M"}) names.push_back(prefix + std::string(unit.name));
  }
  for (const char* long_name : {"metre", "meter", "second", "newton", "radian", "degree", "gram"})
    names.emplace_back(long_name);
  return names;
}

const std::array<std::pair<std::string_view, std::string_view>, 7> long_names = {{{"metre", "m"},
                                                                                  {"meter", "m"},
                                                                                  {"second", "s"},
                                                                                  {"newton", "N"},
                                                                                  {"radian", "rad"},
                                                                                  {"degree", "deg"},
                                                                                  {"gram", "g"}}};

// "Ns" as "N s": people leave the blank out.
std::string two_units(std::string_view name) {
  for (std::size_t k = 1; k < name.size(); ++k) {
    const std::optional<Unit> first = find_unit(name.substr(0, k)), second = find_unit(name.substr(k));
    if (first && second && first->dimension != second->dimension)
      return fmt::format("{} {}", name.substr(0, k), name.substr(k));
  }
  return "";
}

// "Ohms" as "Ohm"; short names such as "Ns" are rather two units.
std::string singular(std::string_view name) {
  const std::string_view one = name.substr(0, name.size() - 1);
  return name.size() >= 4 && name.back() == 's' && find_unit(one) ? std::string(one) : "";
}

// "mh" as "mH": the same letters, small or large.
std::string same_letters(std::string_view name) {
  const auto small = [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); };
  for (const std::string& known : known_names())
    if (std::ranges::equal(name, known, {}, small, small)) return known;
  return "";
}

[[noreturn]] void refuse(std::string_view name, std::string_view number, const Scope& scope) {
  if (scope.names.contains(name))
    throw InputError(
        fmt::format("'{1}' is no unit; to multiply by the name of the model, write {0}*{1}", number, name));
  if (name == "degC" || name == "°C" || name == "degF")
    throw InputError(fmt::format("'{}' has another zero than the kelvin; give the temperature in K", name));
  std::string near = same_letters(name);
  if (near.empty()) near = singular(name);
  if (near.empty()) near = two_units(name);
  if (near.empty()) near = nearest_name(name, known_names());
  for (const auto& [written, meant] : long_names)
    if (near == written) near = meant;
  throw InputError(
      fmt::format("'{}' is no unit{}; units are m, kg, s, N, J, W, Pa, rad, deg, rpm, A, V and others, see "
                  "docs/model-file.md",
                  name, near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
}

// product = factor { ("*" | "/" | blank) factor },  factor = name [ "^" integer ] | "(" product ")"
class UnitReader {
 public:
  UnitReader(std::string_view text, std::string_view number, const Scope& scope)
      : text_(text), number_(number), scope_(scope) {}

  Unit read_all() {
    const Unit unit = product(0);
    if (at_ < text_.size())
      throw InputError(
          fmt::format("a number with a unit stands alone, but '{}' follows; give it a name in "
                      "[parameters], and use the name",
                      text_.substr(at_)));
    return unit;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool begins_a_factor() const {
    if (at_ >= text_.size()) return false;
    const auto c = static_cast<unsigned char>(text_[at_]);
    return std::isalpha(c) || c >= 0x80 || c == '%' || c == '(';
  }

  Unit product(int depth) {
    Unit all = factor(depth);
    for (;;) {
      skip_blanks();
      bool divide = false;
      if (at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '/')) {
        divide = text_[at_++] == '/';
        skip_blanks();
        if (!begins_a_factor()) throw InputError(fmt::format("a unit is expected after '{}'", text_.substr(0, at_)));
      } else if (!begins_a_factor()) {
        return all;
      }
      const Unit next = factor(depth);
      all.up *= divide ? next.down : next.up;
      all.down *= divide ? next.up : next.down;
      for (std::size_t k = 0; k < all.dimension.size(); ++k) all.dimension[k] += (divide ? -1 : 1) * next.dimension[k];
    }
  }

  Unit factor(int depth) {
    skip_blanks();
    Unit unit{};
    if (at_ < text_.size() && text_[at_] == '(') {
      if (depth > 8) throw InputError("the unit is nested too deeply");
      ++at_;
      unit = product(depth + 1);
      if (at_ >= text_.size() || text_[at_] != ')')
        throw InputError(fmt::format("a ')' is missing in the unit '{}'", text_));
      ++at_;
    } else {
      const std::size_t first = at_;
      while (at_ < text_.size()) {
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (!std::isalnum(c) && c < 0x80 && c != '_' && c != '%') break;
        ++at_;
      }
      const std::string_view name = text_.substr(first, at_ - first);
      const std::optional<Unit> found = find_unit(name);
      if (!found) refuse(name, number_, scope_);
      unit = *found;
    }
    return raised(unit);
  }

  Unit raised(const Unit& unit) {
    if (at_ >= text_.size() || text_[at_] != '^') return unit;
    ++at_;
    int exponent = 0;
    const auto [end, trouble] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), exponent);
    if (trouble != std::errc{} || std::abs(exponent) > 8)
      throw InputError(fmt::format("the exponent of a unit is a whole number, -8 to 8, as in m/s^2; '{}'", text_));
    at_ = static_cast<std::size_t>(end - text_.data());
    Unit result{unit.name, 1, 1, none, false, {}};
    for (int k = 0; k < std::abs(exponent); ++k) {
      result.up *= exponent > 0 ? unit.up : unit.down;
      result.down *= exponent > 0 ? unit.down : unit.up;
    }
    for (std::size_t k = 0; k < none.size(); ++k) result.dimension[k] = unit.dimension[k] * exponent;
    return result;
  }

  std::string_view text_, number_;
  const Scope& scope_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<QuantityWithUnit> read_quantity(std::string_view text, const Scope& scope) {
  text = trimmed(text);
  std::string_view rest = text;
  const bool minus = rest.starts_with('-');
  if (minus || rest.starts_with('+')) rest = trimmed(rest.substr(1));
  double number = 0;
  const auto [end, trouble] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (trouble != std::errc{} || rest.empty() || !(std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '.'))
    return std::nullopt;
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.data()));
  const std::string_view unit = trimmed(rest.substr(digits.size()));
  if (unit.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(unit[0]);
  if (!std::isalpha(first) && first < 0x80 && first != '%') return std::nullopt;
  for (const std::string_view word : {"and", "or"})
    if (unit.starts_with(word) &&
        (unit.size() == word.size() || !std::isalnum(static_cast<unsigned char>(unit[word.size()]))))
      return std::nullopt;
  Unit read{};
  try {
    read = UnitReader(unit, digits, scope).read_all();
  } catch (const InputError& e) {
    std::string shown(text.substr(0, 60));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return std::isspace(c); }, ' ');
    throw InputError(fmt::format("\"{}\": {}", printable(shown), e.what()));
  }
  return QuantityWithUnit{(minus ? -number : number) * read.up / read.down, read.dimension};
}

std::optional<Dimension> dimension_of(std::string_view words) {
  static const std::array<std::pair<std::string_view, Dimension>, 8> known = {{{"length", length},
                                                                               {"time", time},
                                                                               {"mass", mass},
                                                                               {"force", force},
                                                                               {"energy", energy},
                                                                               {"volume", {3, 0, 0, 0, 0}},
                                                                               {"radian", none},
                                                                               {"1", none}}};
  Dimension all{};
  int sign = 1;
  std::size_t at = 0;
  while (at < words.size()) {
    std::size_t end = at;
    while (end < words.size() && words[end] != '/' && words[end] != ' ' && words[end] != '^') ++end;
    const auto* found =
        std::ranges::find(known, words.substr(at, end - at), &std::pair<std::string_view, Dimension>::first);
    if (found == known.end() || end == at) return std::nullopt;
    int exponent = 1;
    if (end < words.size() && words[end] == '^') {
      const auto [after, trouble] = std::from_chars(words.data() + end + 1, words.data() + words.size(), exponent);
      if (trouble != std::errc{}) return std::nullopt;
      end = static_cast<std::size_t>(after - words.data());
    }
    for (std::size_t k = 0; k < all.size(); ++k) all[k] += sign * exponent * found->second[k];
    if (end < words.size() && words[end] == '/') sign = -1;
    at = end + 1;
  }
  return words.empty() ? std::nullopt : std::optional(all);
}

std::string unit_text(const Dimension& dimension) {
  constexpr std::array names = {"m", "kg", "s", "A", "K"};
  std::string up, down;
  for (std::size_t k = 0; k < dimension.size(); ++k) {
    if (dimension[k] == 0) continue;
    std::string& side = dimension[k] > 0 ? up : down;
    const int exponent = std::abs(dimension[k]);
    side += fmt::format("{}{}{}", side.empty() ? "" : " ", names[k], exponent == 1 ? "" : fmt::format("^{}", exponent));
  }
  if (down.empty()) return up.empty() ? "1" : up;
  const bool several = down.find(' ') != std::string::npos;
  return fmt::format("{}/{}", up.empty() ? "1" : up, several ? "(" + down + ")" : down);
}

std::string unit_table() {
  std::string text = "| unit | what it is | in SI units | prefixes |\n| --- | --- | --- | --- |\n";
  for (const Unit& unit : units) {
    const bool turned =
        unit.name == "deg" || unit.name == "°" || unit.name == "rev" || unit.name == "turn" || unit.name == "rpm";
    const std::string value = turned ? (unit.down == 180  ? "pi/180"
                                        : unit.down == 60 ? "2 pi/60"
                                                          : "2 pi")
                                     : fmt::format("{:.10g}", unit.up / unit.down);
    const std::string dimension = unit_text(unit.dimension);
    text += fmt::format("| `{}` | {} | {}{} | {} |\n", unit.name, unit.meaning, value,
                        dimension == "1" ? "" : " " + dimension, unit.prefixes ? "yes" : "");
  }
  return text;
}

}  // namespace hinge
