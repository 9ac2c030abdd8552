// Expressions as text, for messages and `hinge check`.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "expression/functions.hpp"
#include "expression/graph.hpp"
#include "expression/table.hpp"

namespace hinge {

namespace {

// How an operation that is no function is written, and how strongly it binds.
enum Precedence { disjunction = 1, conjunction, negation, comparison, additive, multiplicative, raised };
struct Infix {
  Op op;
  const char* text;
  Precedence precedence;
};
constexpr std::array infixes = {
    Infix{Op::logical_or, " or ", disjunction},
    Infix{Op::logical_and, " and ", conjunction},
    Infix{Op::logical_not, "not ", negation},
    Infix{Op::less, " < ", comparison},
    Infix{Op::less_equal, " <= ", comparison},
    Infix{Op::equal, " == ", comparison},
    Infix{Op::not_equal, " != ", comparison},
    Infix{Op::add, " + ", additive},
    Infix{Op::subtract, " - ", additive},
    Infix{Op::multiply, "*", multiplicative},
    Infix{Op::divide, "/", multiplicative},
    Infix{Op::negate, "-", multiplicative},
    Infix{Op::power, "^", raised},
};

}  // namespace

std::string to_text(const Graph& graph, Node node, std::size_t limit) {
  // An explicit stack of pieces still to print: either a node with the precedence around it, or a literal.
  struct Piece {
    Node node;
    int around;
    const char* literal;
  };
  std::string out;
  std::vector<Piece> todo{{node, 0, nullptr}};
  while (!todo.empty()) {
    if (out.size() > limit) return out + " ...";
    const Piece piece = todo.back();
    todo.pop_back();
    if (piece.literal) {
      out += piece.literal;
      continue;
    }
    const auto& e = graph[piece.node];
    if (e.op == Op::constant) {
      graph.value(piece.node);  // is noted: what is made of this text depends on it
      const bool wrap = e.value < 0 && piece.around > additive;
      out += fmt::format("{}{:g}{}", wrap ? "(" : "", e.value, wrap ? ")" : "");
    } else if (e.op == Op::variable) {
      out += graph.variable_name(e.a);
    } else if (e.op == Op::table) {
      out += graph.table(e)->name();
      out += '(';
      todo.push_back({no_node, 0, ")"});
      todo.push_back({e.a, 0, nullptr});
    } else if (const auto* infix = std::ranges::find(infixes, e.op, &Infix::op); infix == infixes.end()) {
      const auto is_this = [&](const language::Function& f) { return f.op == e.op; };
      out += std::ranges::find_if(language::functions, is_this)->name;
      out += '(';
      todo.push_back({no_node, 0, ")"});
      const Node operands[] = {e.a, e.b, e.c};
      for (int k = arity(e.op) - 1; k >= 0; --k) {
        todo.push_back({operands[k], 0, nullptr});
        if (k > 0) todo.push_back({no_node, 0, ", "});
      }
    } else {
      const int own = infix->precedence;
      const bool wrap = own < piece.around;
      if (wrap) out += '(';
      if (wrap) todo.push_back({no_node, 0, ")"});
      if (arity(e.op) == 1) {
        out += infix->text;
        todo.push_back({e.a, own + 1, nullptr});
      } else {
        const bool left_tight = own == raised || own == comparison;  // comparisons do not chain
        const bool right_tight = left_tight || e.op == Op::subtract || e.op == Op::divide;
        todo.push_back({e.b, right_tight ? own + 1 : own, nullptr});
        todo.push_back({no_node, 0, infix->text});
        todo.push_back({e.a, left_tight ? own + 1 : own, nullptr});
      }
    }
  }
  return out;
}

}  // namespace hinge
