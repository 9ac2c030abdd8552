// [functions] and [tables]: what expressions can call.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "expression/functions.hpp"
#include "expression/printable.hpp"
#include "expression/table.hpp"
#include "expression/trimmed.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

constexpr std::size_t largest_table_file = 20'000'000;
const char* const shape_of_a_function = "write it as \"x -> x^2\" or \"(x, y) -> x*y\"";

void claim_call(const Item& item, const std::string& name, const Scope& scope) {
  claim_name(item, name, scope);
  if (std::ranges::find(language::functions, name, &language::Function::name) != language::functions.end())
    item.fail(fmt::format("'{}' is a function of the language; choose another name", name));
  if (scope.functions.contains(name) || scope.tables.contains(name))
    item.fail(fmt::format("'{}' is a function and a table; choose another name for one of them", name));
}

// The names before the arrow: x, or (x, y).
std::vector<std::string> read_parameters(const Item& item, std::string text) {
  text = std::string(trimmed(text));
  if (text.starts_with('(') != text.ends_with(')')) item.fail(fmt::format("'{}': {}", text, shape_of_a_function));
  const bool enclosed = text.starts_with('(');
  if (enclosed) text = text.substr(1, text.size() - 2);
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string name(trimmed(text.substr(at, comma - at)));
    claim_name(item, name, Scope{});
    if (std::find(names.begin(), names.end(), name) != names.end())
      item.fail(fmt::format("the parameter '{}' comes twice; choose another name for one of them", name));
    names.push_back(name);
    at = comma + 1;
  }
  if (names.size() > 1 && !enclosed)
    item.fail(fmt::format("several parameters stand in parentheses; {}", shape_of_a_function));
  return names;
}

struct Points {
  std::vector<double> x, y;
};

// ---- Points from a file -------------------------------------------------------------------------------------------

// What separates the cells of a line: semicolons or tabs where it has any (commas are decimal ones then), else commas,
// else blanks.
const char* separators_of(std::string_view line) {
  for (const char* some : {";\t", ",", " "})
    if (line.find_first_of(some) != std::string_view::npos) return some;
  return " ";
}

// The cells of a line. Two commas with nothing between are an empty cell; blanks separate where nothing else does.
std::vector<std::string_view> cells_of(std::string_view line) {
  const std::string_view separators = separators_of(line);
  const bool marked = separators != " ";
  const auto is_separator = [&](char c) { return separators.find(c) != std::string_view::npos; };
  std::vector<std::string_view> cells;
  std::size_t at = 0;
  const auto blank = [](char c) { return c == ' '; };
  while (at <= line.size()) {
    while (at < line.size() && blank(line[at])) ++at;
    if (!marked && at == line.size()) break;
    std::size_t end = at;
    while (end < line.size() && !is_separator(line[end])) ++end;
    std::string_view cell = line.substr(at, end - at);
    while (!cell.empty() && blank(cell.back())) cell.remove_suffix(1);
    cells.push_back(cell);
    at = end + 1;
  }
  return cells;
}

// 1.5, or 1,5 where commas do not separate.
bool read_cell(std::string_view cell, double& x) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  std::string pointed;
  if (const std::size_t comma = cell.find(','); comma != std::string_view::npos) {
    pointed = cell;
    pointed[comma] = '.';
    cell = pointed;
  }
  const auto [end, trouble] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
  return trouble == std::errc{} && end == cell.data() + cell.size() && std::isfinite(x);
}

// Might the commas of "1,5,2,0" be decimal ones? Every second cell is digits alone, and there is no point.
bool may_be_decimal_commas(std::string_view line, const std::vector<std::string_view>& cells) {
  if (cells.size() < 4 || cells.size() % 2 != 0 || line.find_first_of(".;\t") != std::string_view::npos) return false;
  for (std::size_t k = 1; k < cells.size(); k += 2)
    if (cells[k].empty() || cells[k].find_first_not_of("0123456789") != std::string_view::npos) return false;
  return true;
}

std::string text_of(const Item& item) {
  namespace fs = std::filesystem;
  const std::string given = item.expect_string("a file name");
  const bool from_model = !item.source->overridden.contains(item.key);
  const fs::path path = from_model ? fs::path(item.source->name).parent_path() / given : fs::path(given);
  Model model;
  model.path = item.source->name;
  if (const std::string outside = from_model ? why_outside(model, path.string()) : ""; !outside.empty())
    item.fail(outside + "; a table is read from there only: copy the file");
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    item.fail(fmt::format("there is no file '{}'; its name is meant from the folder of the model", path.string()));
  if (fs::file_size(path, ignored) > largest_table_file)
    item.fail(fmt::format("'{}' is larger than {} MB; a table has at most {} points", path.string(),
                          largest_table_file / 1'000'000, Table::most_knots));
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) item.fail(fmt::format("'{}' cannot be read; look at its permissions", path.string()));
  std::uint64_t sum = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  item.source->files.push_back(
      fmt::format("{} \"{}\", {} bytes, sum {:016x}", item.key, printable(given), text.size(), sum));
  return text;
}

// Which columns: two numbers from 0, or two names of the first line.
std::array<std::size_t, 2> read_columns(const Item& item, const std::vector<std::string_view>& names,
                                        const ValueReader& read) {
  if (!item) return {0, 1};
  if (!item.is_array() || item.size() != 2)
    item.fail("expected two columns, as in [\"angle\", \"lift\"] (names of the first line) or [0, 1]");
  std::array<std::size_t, 2> columns{};
  for (std::size_t k = 0; k < 2; ++k) {
    const Item one = item[k];
    if (one.is_string()) {
      const auto at = std::find(names.begin(), names.end(), one.text());
      if (at == names.end())
        one.fail(fmt::format("there is no column of this name{} the first line has: {}",
                             suggestion(one.text(), {names.begin(), names.end()}),
                             names.empty() ? "numbers only" : joined({names.begin(), names.end()})));
      columns[k] = static_cast<std::size_t>(at - names.begin());
    } else {
      const int column = read.integer(one);
      if (column < 0) one.fail("columns count from 0");
      columns[k] = static_cast<std::size_t>(column);
    }
  }
  return columns;
}

Points points_of_file(const Item& item, const Item& wanted, const ValueReader& read) {
  const std::string text = text_of(item);
  Points points;
  std::vector<std::string_view> names;
  std::array<std::size_t, 2> columns{};
  bool begun = false;
  long number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') continue;
    const std::vector<std::string_view> cells = cells_of(line);
    double ignored = 0;
    const bool title = !begun && names.empty() &&
                       std::none_of(cells.begin(), cells.end(), [&](auto cell) { return read_cell(cell, ignored); });
    if (title) {
      names = cells;
      continue;
    }
    if (!begun) columns = read_columns(wanted, names, read);
    begun = true;
    if (!wanted && may_be_decimal_commas(line, cells))
      item.fail(fmt::format(
          "line {} of the file has {} numbers, or {} with decimal commas; say which columns are meant, as in columns = "
          "[0, 1], or separate numbers by semicolons, 1,5; 2,0, or write decimal points",
          number, cells.size(), cells.size() / 2));
    for (std::size_t k = 0; k < 2; ++k) {
      double x = 0;
      if (columns[k] >= cells.size() || !read_cell(cells[columns[k]], x))
        item.fail(fmt::format("line {} of the file has no number in column {}; it needs {}{}", number, columns[k],
                              wanted ? "one in each of these columns" : "x and y, as in 0.5, 1.2",
                              line.find(',') == std::string_view::npos
                                  ? ""
                                  : " (with decimal commas numbers are separated by semicolons or tabs)"));
      (k == 0 ? points.x : points.y).push_back(x);
    }
    if (points.x.size() > Table::most_knots)
      item.fail(fmt::format("the file has more than {} points; a table has at most so many", Table::most_knots));
  }
  return points;
}

// ---- Tables -------------------------------------------------------------------------------------------------------

Points read_points(const Item& item, const ValueReader& read) {
  const Item points = item["points"], file = item["file"], x = item["x"], y = item["y"];
  if (static_cast<int>(static_cast<bool>(points)) + static_cast<bool>(file) + (x || y) != 1)
    item.fail("give the points as points = [[0, 0], [1, 0.5]], or as x = [0, 1] and y = [0, 0.5], or a file");
  if (item["columns"] && !file) item["columns"].fail("columns are those of a file, which is not given");
  if (file) return points_of_file(file, item["columns"], read);
  if (points) {
    const Value v = read.value(points);
    if (v.shape.size() != 2 || v.shape[1] != 2)
      points.fail(fmt::format("expected a list of points [x, y], but this is {}", describe_shape(v.shape)));
    const std::vector<double> all = read.constants(points, v.entries);
    Points list;
    for (std::size_t k = 0; k < all.size(); k += 2) {
      list.x.push_back(all[k]);
      list.y.push_back(all[k + 1]);
    }
    return list;
  }
  Points list;
  for (const auto& [name, into] : {std::pair{"x", &list.x}, {"y", &list.y}}) {
    const Value v = read.value(item.need(name));
    if (v.shape.size() != 1)
      item[name].fail(fmt::format("expected a list of numbers, but this is {}", describe_shape(v.shape)));
    *into = read.constants(item[name], v.entries);
  }
  if (list.x.size() != list.y.size())
    y.fail(fmt::format("x has {} numbers and y has {}; every point needs both", list.x.size(), list.y.size()));
  return list;
}

}  // namespace

void read_functions(const Item& section, Scope& scope) {
  if (!section) return;
  for (const std::string& name : section.keys()) {
    const Item item = section[name];
    claim_call(item, name, scope);
    const std::string text = item.expect_string("a function such as \"x -> x^2\"");
    const std::size_t arrow = text.find("->");
    if (arrow == std::string::npos) item.fail(fmt::format("there is no '->' in it; {}", shape_of_a_function));
    UserFunction function{read_parameters(item, text.substr(0, arrow)), std::string(trimmed(text.substr(arrow + 2)))};
    if (function.body.empty()) item.fail(fmt::format("nothing stands after '->'; {}", shape_of_a_function));
    scope.functions.emplace(name, std::move(function));
  }
}

void read_tables(const Item& section, Scope& scope) {
  if (!section) return;
  const ValueReader read(scope);
  for (const std::string& name : section.keys()) {
    const Item item = section[name];
    claim_call(item, name, scope);
    if (!item.is_table())
      item.fail(
          fmt::format("expected a table, as in {} = {{ points = [[0, 0], [1, 0.5]] }}; found {}", name, item.found()));
    Interpolation kind = Interpolation::linear;
    Beyond beyond = Beyond::error;
    SplineEnds ends = SplineEnds::not_a_knot;
    read_choice(item["kind"], kind);
    read_choice(item["beyond"], beyond);
    read_choice(item["ends"], ends);
    if (item["ends"] && (kind != Interpolation::cubic || beyond == Beyond::periodic))
      item["ends"].fail("only kind = \"cubic\" has a choice of ends, and only where it is not periodic; remove it");
    const Points points = read_points(item, read);
    scope.tables.emplace(name,
                         item.located([&] { return Table::through(name, points.x, points.y, kind, beyond, ends); }));
  }
}

}  // namespace hinge
