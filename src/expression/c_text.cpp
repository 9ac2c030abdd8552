#include "expression/c_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "expression/table.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"

namespace hinge {

const char* const c_functions =
    "/* NaN passes whichever operand it is. */\n"
    "static inline double least(double a, double b) { return b < a || b != b ? b : a; }\n"
    "static inline double most(double a, double b) { return a < b || b != b ? b : a; }\n"
    "static inline double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }\n";

std::string c_number(double x) {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x > 0 ? "INFINITY" : "-INFINITY";
  std::string text = fmt::format("{}", x);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

namespace {

enum Binding { conditional, additive, multiplicative, prefix, atom };

struct Text {
  std::string text;
  Binding binding = atom;
};

const char* function_name(Op op) {
  switch (op) {
    case Op::sin: return "sin";
    case Op::cos: return "cos";
    case Op::tan: return "tan";
    case Op::asin: return "asin";
    case Op::acos: return "acos";
    case Op::atan: return "atan";
    case Op::sinh: return "sinh";
    case Op::cosh: return "cosh";
    case Op::tanh: return "tanh";
    case Op::exp: return "exp";
    case Op::log: return "log";
    case Op::sqrt: return "sqrt";
    case Op::abs: return "fabs";
    case Op::sign: return "sign";
    case Op::power: return "pow";
    case Op::atan2: return "atan2";
    case Op::hypot: return "hypot";
    case Op::min: return "least";
    case Op::max: return "most";
    default: return nullptr;
  }
}

std::string within(const Text& x, Binding least) { return x.binding >= least ? x.text : fmt::format("({})", x.text); }

// The operands of a sum or product to the right stay together: rounding depends on the order.
Text infix(const Text& a, const char* sign, const Text& b, Binding own) {
  return {within(a, own) + sign + within(b, static_cast<Binding>(own + 1)), own};
}

Text operation(const Graph& graph, const Graph::Entry& e, const Text& a, const Text& b, const Text& c) {
  const auto condition = [](const std::string& holds) { return Text{holds + " ? 1.0 : 0.0", conditional}; };
  const auto compare = [&](const char* sign) { return condition(within(a, prefix) + sign + within(b, prefix)); };
  const auto holds = [](const Text& x) { return within(x, prefix) + " != 0"; };
  switch (e.op) {
    case Op::negate: return {"-" + within(a, atom), prefix};
    case Op::add: return infix(a, " + ", b, additive);
    case Op::subtract: return infix(a, " - ", b, additive);
    case Op::multiply: return infix(a, "*", b, multiplicative);
    case Op::divide: return infix(a, "/", b, multiplicative);
    case Op::logical_not: return condition(within(a, prefix) + " == 0");
    case Op::logical_and: return condition(holds(a) + " && " + holds(b));
    case Op::logical_or: return condition(holds(a) + " || " + holds(b));
    case Op::less: return compare(" < ");
    case Op::less_equal: return compare(" <= ");
    case Op::equal: return compare(" == ");
    case Op::not_equal: return compare(" != ");
    case Op::select: return {holds(a) + " ? " + within(b, additive) + " : " + within(c, additive), conditional};
    case Op::table:
      if (graph.table(e) == Table::floor()) return {fmt::format("floor({})", a.text)};
      if (graph.table(e)->name().find(' ') != std::string::npos)  // a sentence: where a motion must not go
        throw InputError("a bushing in space cannot be written as C: it has to notice when it has turned too far");
      throw InputError(
          fmt::format("the table '{}' cannot be written as C, of tables only floor() can; replace it by an expression",
                      graph.table(e)->name()));
    default:
      return {arity(e.op) == 1 ? fmt::format("{}({})", function_name(e.op), a.text)
                               : fmt::format("{}({}, {})", function_name(e.op), a.text, b.text)};
  }
}

}  // namespace

std::string c_statements(const Graph& graph, std::span<const CArray> arrays, std::span<const Node> outputs) {
  constexpr std::size_t longest = 90;
  const std::vector<Node> nodes = cone_of(graph, outputs);
  std::vector<int> uses(at(graph.size()), 0);
  for (const Node n : nodes)
    for (const Node operand : {graph[n].a, graph[n].b, graph[n].c})
      if (arity(graph[n].op) > 0 && operand != no_node) ++uses[at(operand)];
  for (const Node n : outputs) ++uses[at(n)];
  std::vector<Text> texts(at(graph.size()));
  for (const CArray& array : arrays)
    for (std::size_t k = 0; k < array.variables.size(); ++k)
      texts[at(array.variables[k])].text = array.scalar ? array.name : fmt::format("{}[{}]", array.name, k);
  std::string out;
  int names = 0;
  for (const Node n : nodes) {
    const Graph::Entry& e = graph[n];
    Text& text = texts[at(n)];
    if (e.op == Op::variable) {
      if (text.text.empty())
        throw InputError(fmt::format("'{}' is not a variable of this system", graph.variable_name(e.a)));
      continue;
    }
    if (e.op == Op::constant) {
      text = {c_number(e.value), std::signbit(e.value) ? prefix : atom};
      continue;
    }
    static const Text nothing;
    const auto operand = [&](Node o) -> const Text& { return o == no_node ? nothing : texts[at(o)]; };
    text = operation(graph, e, operand(e.a), operand(e.b), operand(e.c));
    if (uses[at(n)] == 1 && text.text.size() < longest) continue;
    std::string name = fmt::format("a{}", names++);
    out += fmt::format("  const double {} = {};\n", name, text.text);
    text = {std::move(name)};
  }
  for (std::size_t k = 0; k < outputs.size(); ++k)
    out += fmt::format("  out[{}] = {};\n", k, texts[at(outputs[k])].text);
  return out;
}

}  // namespace hinge
