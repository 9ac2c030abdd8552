#include "model/unilateral_section.hpp"

#include <fmt/format.h>

namespace hinge {

namespace {

const std::vector<std::string> own_keys = {"gap", "restitution", "friction", "slip", "name", "multiplier", "reaction"};

// One contact, or one of a family; `label` is its number.
void add(const Item& item, const std::string& label, const ValueReader& read, SystemBuilder& builder) {
  const auto graph = builder.t().graph();
  const Item gap = item.is_table() ? item["gap"] : item;
  if (!gap) item.fail("a contact needs a gap, an expression that stays positive or zero, as in { gap = \"y - r\" }");
  if (gap.is_string() && gap.text().find_first_of("<>=") != std::string::npos)
    gap.fail("a gap is an expression that stays positive or zero; write \"a - b\" for a >= b");
  const Node node = read.scalar(gap);
  if (graph->is_constant(node))
    gap.fail(fmt::format("this gap is the number {:g}; a gap is an expression of the coordinates", graph->value(node)));
  UnilateralOptions options;
  options.name = label;
  if (gap.is_string()) options.name += " \"" + gap.text() + "\"";
  if (item.is_table()) {
    const auto number = [&](const char* key, double most) {
      const Item value = item[key];
      if (!value) return 0.0;
      const double x = value.located([&] { return read.number(value); });
      if (!(x >= 0 && x <= most))
        value.fail(fmt::format("{} = {:g} is out of range; {}", key, x,
                               most == 1 ? "it lies between 0 (no rebound) and 1" : "it is 0 or positive"));
      return x;
    };
    options.restitution = number("restitution", 1);
    options.friction = number("friction", 1e300);
    if (item["name"])
      options.name = item["name"].expect_string("a name") +
                     (label.find('(') == std::string::npos ? "" : " " + label.substr(label.find('(')));
    if (const Item slip = item["slip"])
      for (const Node n : read.value(slip).entries) options.slip.push_back({graph, n});
  }
  if (item.is_table() && (item["reaction"] || item["multiplier"])) {
    if (!item["multiplier"])
      item["reaction"].fail("a reaction of its own needs multiplier = \"n\", the name that it uses");
    if (!item["reaction"]) item["multiplier"].fail("a multiplier comes with a reaction that uses it");
    const std::string name = item["multiplier"].expect_string("a name");
    if (read.scope().names.count(name))
      item["multiplier"].fail(fmt::format("'{}' is taken; give the multiplier a name of its own", name));
    options.multiplier = builder.contact_multiplier(name);
    Scope inner = read.scope();
    inner.names[name] = Value{{}, {options.multiplier.node_in(*graph)}};
    const ValueReader read_reaction(inner);
    for (const Node n : read_reaction.list(item["reaction"])) options.reaction.push_back({graph, n});
  }
  builder.unilateral({graph, node}, options);
}

}  // namespace

void read_unilateral(const Item& list, const ValueReader& read, SystemBuilder& builder) {
  if (!list) return;
  const auto one = [&](const Item& item, std::size_t k) {
    if (!item.is_table()) return add(item, fmt::format("{}", k), read, builder);
    if (!item["for"] && !item["from"] && !item["to"]) {
      item.expect_keys(own_keys);
      return add(item, fmt::format("{}", k), read, builder);
    }
    const std::string index = item["for"] && item["for"].is_string() ? item["for"].text() : "i";
    read.family(item, -1, own_keys, [&](int i) { add(item, fmt::format("{} ({} = {})", k, index, i), read, builder); });
  };
  if (!list.is_array()) return one(list, 0);
  for (std::size_t k = 0; k < list.size(); ++k) one(list[k], k);
}

}  // namespace hinge
