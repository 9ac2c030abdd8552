// Names of a model: parameters, defined expressions, coordinates, and values keyed by these.
#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

std::vector<std::string> words_in(const std::string& text) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && part(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string mentioned(const Item& item, const std::vector<std::string>& names) {
  for (const std::string& word : words_in(item.text()))
    if (std::find(names.begin(), names.end(), word) != names.end()) return word;
  if (item.is_array()) {
    for (const Item& entry : item.entries())
      if (const std::string name = mentioned(entry, names); !name.empty()) return name;
  } else if (item.is_table()) {
    for (const std::string& key : item.keys())
      if (const std::string name = mentioned(item[key], names); !name.empty()) return name;
  }
  return "";
}

std::vector<std::string> keys_that_mention(const Item& section, std::vector<std::string> names) {
  std::vector<std::string> found, open = section ? section.keys() : std::vector<std::string>{};
  for (bool more = true; more;) {
    more = false;
    for (auto key = open.begin(); key != open.end();) {
      if (mentioned(section[*key], names).empty()) {
        ++key;
        continue;
      }
      found.push_back(*key);
      names.push_back(*key);
      key = open.erase(key);
      more = true;
    }
  }
  return found;
}

namespace {

// None of the items `open` can be read: says which one is wrong in itself, or that they need each other.
[[noreturn]] void explain_unreadable(const Item& section, const std::vector<std::string>& open,
                                     const std::string& trouble, const ValueReader& read) {
  for (const std::string& name : open)
    if (mentioned(section[name], open).empty()) read.value(section[name]);  // throws
  std::vector<std::string> chain;
  for (std::string name = open.front(); !name.empty(); name = mentioned(section[name], open)) {
    const auto first = std::find(chain.begin(), chain.end(), name);
    if (first == chain.end()) {
      chain.push_back(name);
      continue;
    }
    std::string path;
    for (auto at = first; at != chain.end(); ++at) path += *at + " -> ";
    section[name].fail(
        fmt::format("'{0}' is defined by itself ({1}{0}); give one of these a value of its own", name, path));
  }
  throw LocatedError(trouble);
}

// The extents in "[N][3]". `declared` counts the numbers that all declarations stand for: what they need, some
// kilobytes each by the time there are derivatives, is asked for only when it is known to be there.
std::vector<int> read_extents(const Item& item, const std::string& text, std::size_t at, const Scope& scope,
                              double& declared) {
  constexpr double most_coordinates = 1e6;
  std::vector<int> shape;
  double total = 1;
  while (at < text.size()) {
    if (text[at] != '[')
      item.fail(fmt::format("cannot read the declaration \"{}\"; write \"q[3]\" or \"q[N][3]\"", text));
    int depth = 0;
    std::size_t end = at;
    for (; end < text.size(); ++end) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && --depth == 0) break;
    }
    if (end == text.size()) item.fail(fmt::format("\"{}\" has a [ that is not closed", text));
    const double extent = item.located([&] { return parse_number(text.substr(at + 1, end - at - 1), scope); });
    if (!(extent >= 1) || extent != std::floor(extent))
      item.fail(fmt::format("the size in \"{}\" is {:g}; it must be a whole number, at least 1", text, extent));
    total *= extent;
    if (declared + total > most_coordinates)
      item.fail(fmt::format("\"{}\" stands for {:g} numbers; at most {:g} are possible{}", text, total,
                            most_coordinates, declared > 0 ? " in all" : ""));
    shape.push_back(static_cast<int>(extent));
    at = end + 1;
  }
  if (shape.size() > 2)
    item.fail(fmt::format("\"{}\" has too many indices; an array of vectors q[N][3] is the most", text));
  declared += total;
  return shape;
}

}  // namespace

void read_named_values(const Item& section, const ValueReader& read) {
  if (section) read_named_values(section, section.keys(), read);
}

void read_named_values(const Item& section, std::vector<std::string> open, const ValueReader& read) {
  Scope& scope = read.scope();
  for (const std::string& name : open) claim_name(section[name], name, scope);
  while (!open.empty()) {  // repeated passes until nothing new can be read
    std::vector<std::string> later;
    std::string trouble;
    for (const std::string& name : open) {
      try {
        scope.names[name] = read.value(section[name]);
      } catch (const InputError& e) {
        scope.names.erase(name);
        if (trouble.empty()) trouble = e.what();
        later.push_back(name);
      }
    }
    if (later.size() == open.size()) explain_unreadable(section, open, trouble, read);
    open = std::move(later);
  }
}

std::function<Node(Node)> rate_or_refusal(TimeRate rate, const char* refusal) {
  return [rate, refusal](Node n) mutable {
    if (rate.depends_on_moving(n)) throw InputError(refusal);
    return rate(n);
  };
}

std::vector<Block> read_declarations(const Item& list, const char* what, const ValueReader& read) {
  if (list.size() == 0) list.fail(fmt::format("the list of {} is empty; name at least one, as in [\"q[3]\"]", what));
  std::vector<Block> blocks;
  double declared = 0;
  for (const Item& item : list.entries()) {
    const std::string text = item.expect_string("a declaration such as \"q[3]\"");
    const std::size_t at = std::min(text.find('['), text.size());
    std::string name = text.substr(0, at);
    std::erase_if(name, [](unsigned char c) { return std::isspace(c); });
    claim_name(item, name, read.scope());
    for (const Block& other : blocks)
      if (other.name == name) item.fail(fmt::format("'{}' is declared twice", name));
    blocks.push_back({name, read_extents(item, text, at, read.scope(), declared)});
  }
  return blocks;
}

Vector as_vector(const std::vector<Node>& nodes, const std::shared_ptr<Graph>& graph) {
  Vector v;
  for (const Node n : nodes) v.push_back({graph, n});
  return v;
}

void define(const std::string& name, const Vector& v, const std::vector<int>& shape, Scope& scope) {
  Value value{shape, {}};
  for (const Expression& e : v) value.entries.push_back(e.node_in(*scope.graph));
  scope.names[name] = std::move(value);
}

std::function<std::vector<Node>(const Block&)> zeros(Graph& graph) {
  return [&graph](const Block& b) { return std::vector<Node>(static_cast<std::size_t>(b.size()), graph.constant(0)); };
}

std::vector<std::string> names_of(const std::vector<Block>& blocks, const char* suffix) {
  std::vector<std::string> names;
  for (const Block& b : blocks) names.push_back(b.name + suffix);
  return names;
}

std::vector<Block> velocity_blocks(const Layout& layout) {
  if (layout.kind == SystemKind::hamiltonian) return layout.y;
  std::vector<Block> blocks = layout.z;
  const auto is_state = [&](const Block& b) {
    return std::any_of(layout.y.begin(), layout.y.end(),
                       [&](const Block& y) { return y.name == integral_name(b.name); });
  };
  for (std::size_t k = 0; k < blocks.size(); ++k)
    if (!is_state(blocks[k])) blocks[k].name = layout.y[k].name;
  return blocks;
}

std::vector<Node> BlockReader::operator()(const Item& item) const {
  if (!item.is_table()) {
    const std::vector<Node> values = read.list(item);
    std::size_t total = 0;
    for (const Block& b : blocks) total += static_cast<std::size_t>(b.size());
    if (values.size() != total)
      item.fail(
          fmt::format("this needs {} expressions: expected a table such as {{ {} = ... }}, or a list with all {} "
                      "numbers; found {}",
                      total, blocks[0].name, total, values.size()));
    return values;
  }
  std::vector<std::string> known;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    known.push_back(blocks[k].name);
    if (!aliases.empty() && aliases[k] != blocks[k].name) known.push_back(aliases[k]);
  }
  item.expect_names(known);
  std::vector<Node> values;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& b = blocks[k];
    Item inner = item[b.name];
    if (const Item other = aliases.empty() || aliases[k] == b.name ? Item{} : item[aliases[k]]) {
      if (inner) other.fail(fmt::format("this is given already, as '{}'; keep one of the two", b.name));
      inner = other;
    }
    if (!inner && !missing) item.fail(fmt::format("'{}' is missing; it is {}", b.name, describe_shape(b.shape)));
    const std::vector<Node> part = inner ? read.block(inner, b.shape) : missing(b);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

}  // namespace hinge
