#include "model/reader.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "model/units.hpp"

namespace hinge {

namespace {

// "positive", "0 or positive", "between 0 and 1", "at least 1"
std::string range_words(const OptionRange& range) {
  if (std::isfinite(range.max)) return fmt::format("between {:g} and {:g}", range.min, range.max);
  if (range.min != 0) return fmt::format("at least {:g}", range.min);
  return range.open_min ? "positive" : "0 or positive";
}

void check_range(const Item& item, double x) {
  if (!item.row || item.row->in_library || item.row->option.range.contains(x)) return;
  const OptionInfo& option = item.row->option;
  item.fail(fmt::format("{0} = {1:g}; it must be {2}, as in {0} = {3}", option.name, x, range_words(option.range),
                        item.row->example));
}

void check_unit(const Item& item, std::string_view unit, const QuantityWithUnit& quantity) {
  const std::optional<Dimension> wanted = dimension_of(unit);
  if (wanted && *wanted != quantity.dimension)
    item.fail(fmt::format("{} is expected here ({}), but \"{}\" is in {}", unit, unit_text(*wanted), item.text(),
                          unit_text(quantity.dimension)));
}

// "50 mm"; none where the text is no number with a unit.
std::optional<double> with_unit(const Item& item, const Scope& scope) {
  const auto quantity = item.located([&] { return read_quantity(item.text(), scope); });
  if (!quantity) return std::nullopt;
  if (item.row) check_unit(item, item.row->option.unit, *quantity);
  return quantity->value;
}

bool begins_a_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

void require_unit(const Item& item, std::string_view unit, const Scope& scope) {
  if (!item) return;
  if (item.is_array())
    for (const Item& entry : item.entries()) require_unit(entry, unit, scope);
  if (!item.is_string()) return;
  if (const auto quantity = item.located([&] { return read_quantity(item.text(), scope); }))
    check_unit(item, unit, *quantity);
}

bool is_reserved(const std::string& name) {
  static const std::set<std::string> words = {"t",     "pi",   "sin",   "cos",  "tan",   "asin", "acos", "atan",
                                              "atan2", "sinh", "cosh",  "tanh", "exp",   "log",  "sqrt", "abs",
                                              "sign",  "min",  "max",   "pow",  "hypot", "if",   "and",  "or",
                                              "not",   "dot",  "cross", "norm", "sum"};
  return words.count(name) > 0;
}

void claim_name(const Item& item, const std::string& name, const Scope& scope) {
  const bool letters = !name.empty() && begins_a_name(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return begins_a_name(c) || std::isdigit(static_cast<unsigned char>(c));
  });
  if (!letters)
    item.fail(fmt::format("'{}' is not a name: letters, digits and _ only, not starting with a digit", name));
  if (is_reserved(name))
    item.fail(fmt::format("'{}' already means something in expressions; choose another name", name));
  if (scope.names.count(name)) item.fail(fmt::format("'{}' is declared twice; choose another name", name));
}

std::size_t word_index(const Item& item) {
  const std::vector<std::string>& words = item.row->option.words;
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), item.text()) - words.begin());
}

namespace {

// Is it one of the numbers that may be others the next time? `as_value`: and no more is done with it than is traced.
bool varies(const Item& item, bool as_value) {
  if (!item.source->varied) return false;
  const auto found = item.source->varied->find(item.key);
  if (found == item.source->varied->end()) return false;
  if (as_value) found->second = true;
  return true;
}

}  // namespace

double ValueReader::number(const Item& item) const {
  const double x = any_number(item);
  if (ConstantTrace::active && varies(item, false)) ConstantTrace::active->read.push_back(x);
  return x;
}

double ValueReader::any_number(const Item& item) const {
  double x = NAN;
  if (const auto* i = item.node->as_integer()) {
    x = static_cast<double>(i->get());
  } else if (const auto* f = item.node->as_floating_point()) {
    x = f->get();
  } else if (item.is_string()) {
    const std::optional<double> quantity = with_unit(item, scope_);
    x = quantity ? *quantity : item.located([&] { return parse_number(item.text(), scope_); });
  } else {
    item.fail(fmt::format("expected a number, found {}", item.found()));
  }
  if (!std::isfinite(x)) item.fail("the number is not finite; give an ordinary number");
  check_range(item, x);
  return x;
}

int ValueReader::integer(const Item& item) const {
  const double x = number(item);
  if (x != std::floor(x) || std::abs(x) > 1e9) item.fail(fmt::format("expected a whole number, found {:g}", x));
  return static_cast<int>(x);
}

void ValueReader::flag(const Item& item, bool& into) const {
  if (item) into = item.node->as_boolean()->get();
}

Value ValueReader::value(const Item& item) const {
  if (item.is_string()) {
    if (const auto quantity = with_unit(item, scope_)) return scalar_value(scope_.graph->constant(*quantity));
    return item.located([&] { return parse(item.text(), scope_); });
  }
  if (!item.is_array()) {
    const double x = any_number(item);
    const bool limited = item.row && !item.row->in_library && item.row->option.range.limited();
    return {{}, {!limited && varies(item, true) ? scope_.graph->given(x) : scope_.graph->constant(x)}};
  }
  if (item.row) require_unit(item, item.row->option.unit, scope_);
  if (item.size() == 0) item.fail("this list is empty; give at least one number or expression");
  Value result;
  std::vector<int> inner;
  for (std::size_t k = 0; k < item.size(); ++k) {
    Value v = value(item[k]);
    if (k == 0) inner = v.shape;
    if (v.shape != inner)
      item[k].fail(fmt::format("this is {}, but the entries before it are each {}", describe_shape(v.shape),
                               describe_shape(inner)));
    result.entries.insert(result.entries.end(), v.entries.begin(), v.entries.end());
  }
  if (inner.size() > 1) item.fail("lists are nested too deeply here: a list of vectors is as deep as it goes");
  result.shape = {static_cast<int>(item.size())};
  result.shape.insert(result.shape.end(), inner.begin(), inner.end());
  return result;
}

Node ValueReader::scalar(const Item& item) const {
  const Value v = value(item);
  if (!v.scalar()) item.fail(fmt::format("expected a number, but this is {}", describe_shape(v.shape)));
  return v.entries[0];
}

std::vector<Node> ValueReader::list(const Item& item) const {
  std::vector<Node> nodes;
  for (const Item& entry : item.entries()) {
    const Value v = value(entry);
    nodes.insert(nodes.end(), v.entries.begin(), v.entries.end());
  }
  return nodes;
}

std::vector<double> ValueReader::constants(const Item& item, const std::vector<Node>& nodes, const char* what) const {
  std::vector<double> x;
  for (const Node n : nodes) {
    if (!scope_.graph->is_constant(n)) item.fail(what);
    x.push_back(scope_.graph->value(n));
    if (!std::isfinite(x.back())) item.fail("a number here is not finite; give ordinary numbers");
  }
  return x;
}

std::vector<double> ValueReader::carried(const Item& item, const std::vector<Node>& nodes, const char* what) const {
  std::vector<double> x;
  for (const Node n : nodes) {
    if (!scope_.graph->is_constant(n)) item.fail(what);
    if (!scope_.graph->passes([](double value) { return std::isfinite(value); }, n))
      item.fail("a number here is not finite; give ordinary numbers");
    x.push_back((*scope_.graph)[n].value);
  }
  return x;
}

std::vector<double> ValueReader::numbers(const Item& item, const std::vector<std::vector<int>>& shapes,
                                         const char* expected) const {
  if (item.is_table()) item.fail(fmt::format("expected {}, found a table", expected));
  const Value v = value(item);
  if (!shapes.empty() && std::find(shapes.begin(), shapes.end(), v.shape) == shapes.end())
    item.fail(fmt::format("expected {}, but this is {}", expected, describe_shape(v.shape)));
  return constants(item, v.entries);
}

Eigen::Vector3d ValueReader::vector(const Item& item, int dimension) const {
  const bool plane = dimension == 2;
  const std::vector<double> x =
      numbers(item, {{dimension}}, plane ? "two numbers, as in [0, 1]" : "three numbers, as in [0, 0, 1]");
  return {x[0], x[1], plane ? 0.0 : x[2]};
}

std::vector<Eigen::Vector3d> ValueReader::points(const Item& item, int dimension) const {
  const Value v = value(item);
  if (v.shape.size() != 2 || v.shape[1] != dimension)
    item.fail(fmt::format("expected a list of points with {} coordinates each, but this is {}", dimension,
                          describe_shape(v.shape)));
  const std::vector<double> x = constants(item, v.entries);
  std::vector<Eigen::Vector3d> list;
  for (std::size_t k = 0; k < x.size(); k += static_cast<std::size_t>(dimension))
    list.emplace_back(x[k], x[k + 1], dimension == 2 ? 0 : x[k + 2]);
  return list;
}

void ValueReader::family(const Item& item, int default_to, const std::function<void(int)>& action) const {
  if (!item["for"]) item.fail("a family needs for = \"i\", the name of its index");
  const std::string index = item["for"].text();
  const int from = item["from"] ? integer(item["from"]) : 0;
  if (!item["to"] && default_to < 0) item.fail("a family needs to = ..., the last value of its index");
  const int to = item["to"] ? integer(item["to"]) : default_to;
  if (static_cast<long>(to) - from > 10'000'000)
    item.fail(fmt::format("the index runs from {} to {}: a family has at most ten million members", from, to));
  if (index.empty() || !begins_a_name(index[0]))
    item["for"].fail(fmt::format("'{}' cannot be the name of an index; use a letter, as in for = \"i\"", index));
  const auto known_name = scope_.names.find(index);
  const bool hidden = known_name != scope_.names.end();
  const bool variable = hidden && !std::all_of(known_name->second.entries.begin(), known_name->second.entries.end(),
                                               [&](Node n) { return scope_.graph->is_constant(n); });
  if (is_reserved(index) || variable)
    item["for"].fail(
        fmt::format("'{}' already means something in expressions; choose another index, as in for = \"i\"", index));
  const Value before = hidden ? known_name->second : Value{};
  Value& bound = scope_.names[index];
  for (int i = from; i <= to; ++i) {
    bound = scalar_value(scope_.graph->constant(i));
    action(i);
  }
  if (hidden)
    scope_.names[index] = before;
  else
    scope_.names.erase(index);
}

std::vector<Node> ValueReader::block(const Item& item, const std::vector<int>& shape) const {
  if (item.is_table()) {
    if (shape.size() != 2)
      item.fail("a family { for = ..., value = ... } is for arrays of vectors; give the value itself here");
    const std::size_t width = static_cast<std::size_t>(shape[1]);
    std::vector<Node> nodes(static_cast<std::size_t>(shape[0]) * width, no_node);
    const Item member = item.need("value");
    family(item, shape[0] - 1, [&](int i) {
      if (i < 0 || i >= shape[0])
        item.fail(fmt::format("index {} is out of range: there are {} vectors, 0 to {}", i, shape[0], shape[0] - 1));
      const Value v = value(member);
      if (v.shape != std::vector<int>{shape[1]})
        member.fail(fmt::format("expected {}, but this is {}", describe_shape({shape[1]}), describe_shape(v.shape)));
      std::copy(v.entries.begin(), v.entries.end(),
                nodes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width));
    });
    std::replace(nodes.begin(), nodes.end(), no_node, scope_.graph->constant(0));
    return nodes;
  }
  Value v = value(item);
  const bool single = shape == std::vector<int>{1} && v.scalar();
  if (v.shape != shape && !single)
    item.fail(fmt::format("expected {}, but this is {}", describe_shape(shape), describe_shape(v.shape)));
  return std::move(v.entries);
}

}  // namespace hinge
