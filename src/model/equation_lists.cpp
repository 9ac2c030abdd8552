// Lists of expressions in a system section: constraints, invariants, contacts, equations, pairs, noise.
#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

// Runs `action(item, label)` for the entries of a list, labelled "3", and for the members of families
// { for = "i", ..., KEY = "..." } in it, labelled "3 (i = 2)". Without a key a member is the table itself.
void for_entries(const Item& list, const char* key, const ValueReader& read,
                 const std::function<void(const Item&, const std::string&)>& action) {
  const std::vector<Item> entries = list.entries();
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Item& item = entries[k];
    const bool table = item.is_table();
    if (!table || (!key && !item["for"] && !item["from"] && !item["to"])) {
      action(item, fmt::format("{}", k));
      continue;
    }
    const Item member = key ? item.need(key) : item;
    const std::string index = item["for"].text();
    read.family(item, -1, [&](int i) { action(member, fmt::format("{} ({} = {})", k, index, i)); });
  }
}

std::string quoted(const std::string& text) {
  return text.size() <= 70 ? fmt::format("\"{}\"", text) : fmt::format("\"{:.67}...\"", text);
}

// Hands over each entry with its name for messages; `constant` is said of one that is a number.
void name_entries(const Item& item, const Value& v, const std::string& label, const char* constant,
                  const SystemBuilder& builder, const std::function<void(const Expression&, std::string)>& add) {
  const auto graph = builder.t().graph();
  for (std::size_t j = 0; j < v.entries.size(); ++j) {
    if (graph->is_constant(v.entries[j])) item.fail(fmt::format(fmt::runtime(constant), graph->value(v.entries[j])));
    std::string name = label + (v.scalar() ? "" : fmt::format(" component {}", j));
    if (item.is_string()) name += " " + quoted(item.text());
    add({graph, v.entries[j]}, name);
  }
}

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

bool is_condition(Op op) { return op == Op::logical_not || (op >= Op::less && op <= Op::logical_or); }

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

}  // namespace

Value read_equation(const Item& item, const ValueReader& read) {
  const std::string text = item.text();
  if (compares(text))
    item.fail("== compares, and gives 1 or 0; write = between the two sides of an equation: " + quoted(text));
  const std::size_t at = equals_sign(text);
  if (at == std::string::npos) return read.value(item);
  if (equals_sign(text.substr(at + 1)) != std::string::npos)
    item.fail("there are two = in this equation; write one equation in each entry: " + quoted(text));
  const Scope& scope = read.scope();
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

namespace {

// A multiplier of its own, and the force that uses it.
void read_own_reaction(const Item& item, const ValueReader& read, SystemBuilder& builder, UnilateralOptions& options) {
  const Item multiplier = item["multiplier"], reaction = item["reaction"];
  if (!multiplier && !reaction) return;
  if (!multiplier) reaction.fail("a reaction of its own needs multiplier = \"n\", the name that it uses");
  if (!reaction) multiplier.fail("a multiplier comes with a reaction that uses it");
  const std::string name = multiplier.text();
  if (read.scope().names.count(name))
    multiplier.fail(fmt::format("'{}' is taken; give the multiplier a name of its own", name));
  options.multiplier = builder.contact_multiplier(name);
  Scope inner = read.scope();
  inner.names[name] = scalar_value(options.multiplier.node_in(*inner.graph));
  options.reaction = as_vector(ValueReader(inner).list(reaction), builder.t().graph());
}

// Expressions that have to be zero.
void read_zeros(const Item& list, const ValueReader& read, const SystemBuilder& builder, const char* constant,
                const std::function<void(const Expression&, std::string)>& add) {
  for_entries(list, "constraint", read, [&](const Item& item, const std::string& label) {
    if (item.text().find('=') != std::string::npos)
      item.fail("a constraint is an expression that has to be zero; write \"a - b\" for a = b: " + quoted(item.text()));
    name_entries(item, read.value(item), label, constant, builder, add);
  });
}

}  // namespace

void read_constraints(const Item& list, const ValueReader& read, SystemBuilder& builder) {
  read_zeros(list, read, builder,
             "this constraint is the number {:g}; a constraint is an expression of the coordinates that shall be zero",
             [&](const Expression& g, const std::string& name) { builder.constrain(g, name); });
}

void read_velocity_constraints(const Item& list, const ValueReader& read, SystemBuilder& builder) {
  read_zeros(list, read, builder,
             "this velocity constraint is the number {:g}; it is an expression of velocities that shall be zero, as "
             "x'*sin(a) - y'*cos(a)",
             [&](const Expression& w, const std::string& name) { builder.constrain_velocity(w, name); });
}

void read_equations(const Item& list, const ValueReader& read, Dae& builder) {
  for_entries(list, "equation", read, [&](const Item& item, const std::string& label) {
    name_entries(item, read_equation(item, read), label,
                 "this equation says {:g} = 0: no unknown is in it; an equation is an expression of the unknowns that "
                 "shall be zero",
                 builder, [&](const Expression& f, const std::string& name) { builder.equation(f, name); });
  });
}

void read_pairs(const Item& list, const ValueReader& read, Dae& builder) {
  const auto graph = builder.t().graph();
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
  const bool one = list && list.size() == 2 && list[0].is_string() && list[1].is_string();
  if (one) return add(list, "0");
  for_entries(list, "pair", read, add);
}

void read_noise(const Item& item, const ValueReader& read, Dae& builder) {
  if (!item) return;
  const Value c = read.value(item);
  const std::vector<double> x =
      read.constants(item, c.entries, "the noise is a matrix of numbers; it cannot depend on t or the unknowns");
  if (c.shape.size() > 2 || c.shape.empty())
    item.fail("expected one number for each equation, or a matrix with one row for each equation");
  const std::size_t columns = c.shape.size() == 2 ? static_cast<std::size_t>(c.shape[1]) : 1;
  for (std::size_t k = 0; k < columns; ++k) {
    Vector column;
    for (std::size_t i = k; i < x.size(); i += columns) column.push_back(x[i]);
    builder.noise(column);
  }
}

void read_invariants(const Item& list, const ValueReader& read, SystemBuilder& builder) {
  for (const Item& item : list.entries()) {  // each is tried alone, so that a complaint is about the right one
    for (const Expression& e : as_vector(read.value(item).entries, builder.t().graph())) builder.invariant(e);
    item.located([&] { builder.build(); });
  }
}

void read_unilateral(const Item& list, const ValueReader& read, SystemBuilder& builder) {
  const auto graph = builder.t().graph();
  for_entries(list, nullptr, read, [&](const Item& item, const std::string& label) {
    const Item gap = item.is_table() ? item["gap"] : item;
    if (!gap) item.fail("a contact needs a gap, an expression that stays positive or zero, as in { gap = \"y - r\" }");
    const char* no_condition = "a gap is an expression that stays positive or zero; write \"a - b\" for a >= b";
    if (equals_sign(gap.text()) != std::string::npos) gap.fail(no_condition);
    const Node node = read.scalar(gap);
    if (is_condition((*graph)[node].op)) gap.fail(no_condition);
    if (graph->is_constant(node))
      gap.fail(
          fmt::format("this gap is the number {:g}; a gap is an expression of the coordinates", graph->value(node)));
    UnilateralOptions options;
    options.name = label + (gap.is_string() ? " \"" + gap.text() + "\"" : "");
    if (item.is_table()) {
      read.number(item["restitution"], options.restitution);
      read.number(item["friction"], options.friction);
      const std::size_t member = label.find('(');
      if (const Item name = item["name"])
        options.name = name.text() + (member == std::string::npos ? "" : " " + label.substr(member));
      if (const Item slip = item["slip"]) options.slip = as_vector(read.value(slip).entries, graph);
      read_own_reaction(item, read, builder, options);
    }
    builder.unilateral({graph, node}, options);
  });
}

}  // namespace hinge
