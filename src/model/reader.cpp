#include "model/reader.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge {

namespace {

const char* type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "a text";
    case toml::node_type::integer:
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "true or false";
    default: return "a date or time";
  }
}

// A message stays readable when the file is not.
std::string shortened(const std::string& key) {
  constexpr std::size_t most = 80;
  return key.size() <= most ? key : key.substr(0, most - 20) + "...";
}

}  // namespace

bool is_reserved(const std::string& name) {
  static const std::set<std::string> words = {"t",     "pi",   "sin",   "cos",  "tan",   "asin", "acos", "atan",
                                              "atan2", "sinh", "cosh",  "tanh", "exp",   "log",  "sqrt", "abs",
                                              "sign",  "min",  "max",   "pow",  "hypot", "if",   "and",  "or",
                                              "not",   "dot",  "cross", "norm", "sum"};
  return words.count(name) > 0;
}

std::string Item::text() const { return node && node->is_string() ? node->as_string()->get() : std::string(); }

std::string Item::where() const {
  std::string path = key;
  while (!path.empty()) {
    const auto given = source->overridden.find(path);
    if (given != source->overridden.end()) return shortened(given->second + key.substr(path.size()));
    const auto cut = path.find_last_of(".[");
    path = cut == std::string::npos ? "" : path.substr(0, cut);
  }
  if (key.empty()) return source->name;
  if (!node || node->source().begin.line == 0) {  // not from the file: a table that an override made
    const auto made_by = source->overridden.lower_bound(key + ".");
    if (made_by != source->overridden.end() && made_by->first.starts_with(key + ".")) return shortened(made_by->second);
    return source->name + ": " + shortened(key);
  }
  return fmt::format("{}:{}: {}", source->name, node->source().begin.line, shortened(key));
}

void Item::fail(const std::string& cause) const { throw LocatedError(fmt::format("{}: {}", where(), cause)); }

Item Item::operator[](const std::string& name) const {
  const toml::table* table = node ? node->as_table() : nullptr;
  const toml::node* inner = table ? table->get(name) : nullptr;
  return {inner, key.empty() ? name : key + "." + name, source};
}

Item Item::operator[](std::size_t index) const {
  const toml::array* array = node ? node->as_array() : nullptr;
  return {array ? array->get(index) : nullptr, fmt::format("{}[{}]", key, index), source};
}

std::size_t Item::size() const {
  if (const toml::array* array = node->as_array()) return array->size();
  if (const toml::table* table = node->as_table()) return table->size();
  return 1;
}

std::vector<std::string> Item::keys() const {
  std::vector<std::string> names;
  const toml::table* table = node->as_table();
  if (!table) return names;
  for (auto&& [name, inner] : *table) names.emplace_back(name.str());
  const auto place = [&](const std::string& name) {  // those from the command line have line 0
    const auto begin = table->get(name)->source().begin;
    return std::tuple(begin.line == 0, begin.line, begin.column);
  };
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return names;
}

void Item::expect_keys(const std::vector<std::string>& known) const {
  if (!node->is_table()) fail(fmt::format("expected a table, found {}", type_name(*node)));
  for (const std::string& name : keys()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    std::string list;
    for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
    (*this)[name].fail(fmt::format("unknown key{} known here: {}",
                                   near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), list));
  }
}

std::string Item::expect_string(const char* what) const {
  if (!node->is_string()) fail(fmt::format("expected {} (a text in quotes), found {}", what, type_name(*node)));
  return node->as_string()->get();
}

void claim_name(const Item& item, const std::string& name, const Scope& scope) {
  const bool letters =
      !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_') &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!letters)
    item.fail(fmt::format("'{}' is not a name: letters, digits and _ only, not starting with a digit", name));
  if (is_reserved(name))
    item.fail(fmt::format("'{}' already means something in expressions; choose another name", name));
  if (scope.names.count(name)) item.fail(fmt::format("'{}' is declared twice; choose another name", name));
}

double ValueReader::number(const Item& item) const {
  double x = NAN;
  if (const auto* i = item.node->as_integer()) {
    x = static_cast<double>(i->get());
  } else if (const auto* f = item.node->as_floating_point()) {
    x = f->get();
  } else if (item.is_string()) {
    x = item.located([&] { return parse_number(item.text(), scope_); });
  } else {
    item.fail(fmt::format("expected a number, found {}", type_name(*item.node)));
  }
  if (!std::isfinite(x)) item.fail("the number is not finite; give an ordinary number");
  return x;
}

int ValueReader::integer(const Item& item) const {
  const double x = number(item);
  if (x != std::floor(x) || std::abs(x) > 1e9) item.fail(fmt::format("expected a whole number, found {:g}", x));
  return static_cast<int>(x);
}

Value ValueReader::value(const Item& item) const {
  if (item.is_string()) return item.located([&] { return parse(item.text(), scope_); });
  if (!item.is_array()) return {{}, {scope_.graph->constant(number(item))}};
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
  if (!item.is_array()) return value(item).entries;
  std::vector<Node> nodes;
  for (std::size_t k = 0; k < item.size(); ++k) {
    const Value v = value(item[k]);
    nodes.insert(nodes.end(), v.entries.begin(), v.entries.end());
  }
  return nodes;
}

void ValueReader::family(const Item& item, int default_to, const std::vector<std::string>& other_keys,
                         const std::function<void(int)>& action) const {
  std::vector<std::string> known{"for", "from", "to"};
  known.insert(known.end(), other_keys.begin(), other_keys.end());
  item.expect_keys(known);
  if (!item["for"]) item.fail("a family needs for = \"i\", the name of its index");
  const std::string index = item["for"].expect_string("the name of an index");
  const int from = item["from"] ? integer(item["from"]) : 0;
  if (!item["to"] && default_to < 0) item.fail("a family needs to = ..., the last value of its index");
  const int to = item["to"] ? integer(item["to"]) : default_to;
  if (static_cast<long>(to) - from > 10'000'000)
    item.fail(fmt::format("the index runs from {} to {}: a family has at most ten million members", from, to));
  if (index.empty() || !(std::isalpha(static_cast<unsigned char>(index[0])) || index[0] == '_'))
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
    bound = Value{{}, {scope_.graph->constant(i)}};
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
    item.expect_keys({"for", "from", "to", "value"});
    if (!item["value"]) item.fail("a family here needs value = \"...\"");
    family(item, shape[0] - 1, {"value"}, [&](int i) {
      if (i < 0 || i >= shape[0])
        item.fail(fmt::format("index {} is out of range: there are {} vectors, 0 to {}", i, shape[0], shape[0] - 1));
      const Value v = value(item["value"]);
      if (v.shape != std::vector<int>{shape[1]})
        item["value"].fail(
            fmt::format("expected {}, but this is {}", describe_shape({shape[1]}), describe_shape(v.shape)));
      std::copy(v.entries.begin(), v.entries.end(),
                nodes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width));
    });
    for (Node& n : nodes)
      if (n == no_node) n = scope_.graph->constant(0);
    return nodes;
  }
  Value v = value(item);
  const bool single = shape == std::vector<int>{1} && v.scalar();
  if (v.shape != shape && !single)
    item.fail(fmt::format("expected {}, but this is {}", describe_shape(shape), describe_shape(v.shape)));
  return std::move(v.entries);
}

}  // namespace hinge
