#include "model/dae_section.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge {

namespace {

// Where a text is "lhs = rhs": the place of its =, which is not part of ==, <=, >= or !=.
std::size_t equals_sign(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '=') continue;
    if (at + 1 < text.size() && text[at + 1] == '=') {
      ++at;
      continue;
    }
    if (at > 0 && (text[at - 1] == '<' || text[at - 1] == '>' || text[at - 1] == '!')) continue;
    return at;
  }
  return std::string::npos;
}

// Is there an == outside all parentheses? Then the whole text is a comparison.
bool compares(const std::string& text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (depth == 0 && text.compare(at, 2, "==") == 0) return true;
  }
  return false;
}

std::string quoted(const std::string& text) {
  return text.size() <= 70 ? fmt::format("\"{}\"", text) : fmt::format("\"{:.67}...\"", text);
}

Value read_equation(const Item& item, const ValueReader& read, const Scope& scope) {
  if (!item.is_string()) return read.value(item);
  const std::string text = item.text();
  if (compares(text))
    item.fail("== compares, and gives 1 or 0; write = between the two sides of an equation: " + quoted(text));
  const std::size_t at = equals_sign(text);
  if (at == std::string::npos) return read.value(item);
  if (equals_sign(text.substr(at + 1)) != std::string::npos)
    item.fail("there are two = in this equation; write one equation in each entry: " + quoted(text));
  Value left = item.located([&] { return parse(text.substr(0, at), scope); });
  const Value right = item.located([&] { return parse(text.substr(at + 1), scope); });
  const bool zero = right.scalar() && scope.graph->is_constant(right.entries[0], 0);
  if (left.shape != right.shape && !zero)
    item.fail(
        fmt::format("the left side is {}, the right side {}", describe_shape(left.shape), describe_shape(right.shape)));
  for (std::size_t k = 0; k < left.entries.size(); ++k)
    left.entries[k] = scope.graph->subtract(left.entries[k], zero ? right.entries[0] : right.entries[k]);
  return left;
}

}  // namespace

void read_equations(const Item& list, const ValueReader& read, const Scope& scope, Dae& builder) {
  const auto graph = builder.t().graph();
  const auto add = [&](const Item& item, const std::string& label) {
    const Value v = read_equation(item, read, scope);
    for (std::size_t j = 0; j < v.entries.size(); ++j) {
      if (graph->is_constant(v.entries[j]))
        item.fail(fmt::format(
            "this equation says {:g} = 0: no unknown is in it; an equation is an expression of the unknowns that shall "
            "be zero",
            graph->value(v.entries[j])));
      std::string name = label + (v.scalar() ? "" : fmt::format(" component {}", j));
      if (item.is_string()) name += " " + quoted(item.text());
      builder.equation({graph, v.entries[j]}, name);
    }
  };
  if (!list.is_array()) return add(list, "0");
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Item item = list[k];
    if (!item.is_table()) {
      add(item, fmt::format("{}", k));
      continue;
    }
    item.expect_keys({"for", "from", "to", "equation"});
    if (!item["equation"]) item.fail("a family of equations needs equation = \"...\"");
    const std::string index = item["for"] && item["for"].is_string() ? item["for"].text() : "i";
    read.family(item, -1, {"equation"},
                [&](int i) { add(item["equation"], fmt::format("{} ({} = {})", k, index, i)); });
  }
}

void read_pairs(const Item& list, const ValueReader& read, Dae& builder) {
  if (!list) return;
  const auto graph = builder.t().graph();
  if (!list.is_array()) list.fail("expected a list of pairs, as in complementarity = [[\"x\", \"lambda\"]]");
  const auto add = [&](const Item& pair, const std::string& label) {
    if (!pair.is_array() || pair.size() != 2)
      pair.fail("a pair is two expressions, [\"a\", \"b\"], both not negative and one of them zero at any time");
    const Value a = read.value(pair[0]), b = read.value(pair[1]);
    if (a.shape != b.shape)
      pair.fail(
          fmt::format("the first of the pair is {}, the second {}", describe_shape(a.shape), describe_shape(b.shape)));
    for (std::size_t j = 0; j < a.entries.size(); ++j) {
      for (const Value* side : {&a, &b})
        if (graph->is_constant(side->entries[j]))
          pair.fail(fmt::format("one side of this pair is the number {:g}; both are functions of the unknowns",
                                graph->value(side->entries[j])));
      std::string name = label + (a.scalar() ? "" : fmt::format(" component {}", j));
      if (pair[0].is_string() && pair[1].is_string())
        name += fmt::format(" (0 <= {} _|_ {} >= 0)", pair[0].text(), pair[1].text());
      builder.complementarity({graph, a.entries[j]}, {graph, b.entries[j]}, name);
    }
  };
  if (list.size() == 2 && list[0].is_string() && list[1].is_string()) return add(list, "0");
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Item item = list[k];
    if (!item.is_table()) {
      add(item, fmt::format("{}", k));
      continue;
    }
    item.expect_keys({"for", "from", "to", "pair"});
    if (!item["pair"]) item.fail("a family of pairs needs pair = [\"...\", \"...\"]");
    const std::string index = item["for"] && item["for"].is_string() ? item["for"].text() : "i";
    read.family(item, -1, {"pair"}, [&](int i) { add(item["pair"], fmt::format("{} ({} = {})", k, index, i)); });
  }
}

void read_noise(const Item& item, const ValueReader& read, Graph& graph, Dae& builder) {
  if (!item) return;
  const Value c = read.value(item);
  for (const Node n : c.entries)
    if (!graph.is_constant(n)) item.fail("the noise is a matrix of numbers; it cannot depend on t or the unknowns");
  if (c.shape.size() > 2 || c.shape.empty())
    item.fail("expected one number for each equation, or a matrix with one row for each equation");
  const auto rows = static_cast<std::size_t>(c.shape[0]);
  const std::size_t columns = c.shape.size() == 2 ? static_cast<std::size_t>(c.shape[1]) : 1;
  for (std::size_t k = 0; k < columns; ++k) {
    Vector column;
    for (std::size_t i = 0; i < rows; ++i) column.push_back(graph.value(c.entries[i * columns + k]));
    builder.noise(column);
  }
}

void read_dae_initial(const Item& section, const Layout& layout, const ValueReader& read, const Graph& graph,
                      Start& start) {
  section.expect_keys({"unknowns", "derivatives", "guess", "fixed", "consistent"});
  const auto n = static_cast<std::size_t>(layout.ny);
  start.position.assign(n, 0.0);
  start.given.assign(n, 0);
  const auto fill = [&](const Item& item, std::vector<double>& values, std::vector<char>& given, bool rates) {
    const auto put = [&](const Item& from, const std::vector<Node>& nodes, int first) {
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        const std::size_t place = static_cast<std::size_t>(first) + k;
        if (!graph.is_constant(nodes[k])) from.fail("initial values are numbers; they cannot depend on t or unknowns");
        values[place] = graph.value(nodes[k]);
        if (!std::isfinite(values[place])) from.fail("an initial value is not a finite number");
        given[place] = 1;
      }
    };
    if (!item.is_table()) {
      const std::vector<Node> nodes = read.list(item);
      if (nodes.size() != n)
        item.fail(fmt::format("expected a table such as {{ {} = ... }}, or a list with all {} numbers; found {}",
                              layout.y[0].name, n, nodes.size()));
      return put(item, nodes, 0);
    }
    std::vector<std::string> known;
    for (const Block& b : layout.y) {
      known.push_back(b.name);
      if (rates) known.push_back(b.name + "'");
    }
    item.expect_keys(known);
    for (const Block& b : layout.y) {
      if (const Item inner = item[b.name]) put(inner, read.block(inner, b.shape), b.first);
      if (const Item inner = rates ? item[b.name + "'"] : Item{}) put(inner, read.block(inner, b.shape), b.first);
    }
  };
  std::vector<char> ignored(n, 0);
  if (const Item guess = section["guess"]) fill(guess, start.position, ignored, false);
  if (const Item unknowns = section["unknowns"]) fill(unknowns, start.position, start.given, false);
  if (const Item rates = section["derivatives"]) {
    start.velocity.assign(n, 0.0);
    start.given_velocity.assign(n, 0);
    fill(rates, start.velocity, start.given_velocity, true);
  }
  if (const Item fixed = section["fixed"]) {
    start.fixed.assign(n, 0);
    if (!fixed.is_array()) fixed.fail("expected a list of names, as in fixed = [\"x\"]");
    for (std::size_t k = 0; k < fixed.size(); ++k) {
      const std::string name = fixed[k].expect_string("the name of an unknown");
      bool found = false;
      std::vector<std::string> names;
      for (const Block& b : layout.y) {
        names.push_back(b.name);
        for (int i = 0; i < b.size(); ++i) {
          if (name != b.name && name != b.entry_name(i)) continue;
          const auto place = static_cast<std::size_t>(b.first + i);
          if (!start.given[place]) fixed[k].fail(fmt::format("'{}' is fixed, but no value is given for it", name));
          start.fixed[place] = 1;
          found = true;
        }
      }
      if (!found) {
        const std::string near = nearest_name(name, names);
        fixed[k].fail(fmt::format("there is no unknown '{}'{}", name,
                                  near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
      }
    }
  }
}

}  // namespace hinge
