// Text -> expression graph, for the language of the model file.
//
// The text is split into tokens once; the parser then builds graph nodes as it reads, without a syntax tree in
// between. The body of `sum(i, first, last, body)` is read again for every i, with i bound to a number.
//
// What a known condition decides is not read at all: the other branch of `if(condition, a, b)`, and the right side of
// `and` and `or`. So `sum(i, 0, N-1, if(i == 0, q[0], q[i] - q[i-1]))` never meets q[-1]; and a misspelt name in a
// branch is only found when some value of the condition leads there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expression/graph.hpp"
#include "expression/suggest.hpp"
#include "expression/value.hpp"

namespace hinge {

class Table;

/// A function of the user's: what its text becomes with values in the place of its parameters.
struct UserFunction {
  std::vector<std::string> parameters;
  std::string body;
};

/// What names mean while an expression is read.
struct Scope {
  Graph* graph = nullptr;
  /// Values of rank 0, 1 or 2. A name here hides the constant `pi`; in front of a parenthesis, functions come first.
  std::map<std::string, Value, std::less<>> names;
  /// Names of the model that are not known here: what to do instead.
  std::map<std::string, std::string, std::less<>> elsewhere{};
  /// What is called like a function; tables take one number.
  std::map<std::string, UserFunction, std::less<>> functions{};
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> tables{};
  /// Time derivative of a scalar node, for the prime (q'). Empty where there is none; may throw InputError, whose
  /// message becomes the cause of the ExpressionError.
  std::function<Node(Node)> rate;
  /// Why a node has no time derivative here, whatever `rate` says; empty where it has one.
  std::function<std::string(Node)> why_no_rate{};
};

/// Reads `text` as one expression. Throws ExpressionError with the column of the trouble, the nearest known name
/// for an unknown one, and what was expected.
Value parse(std::string_view text, const Scope& scope);

/// As parse(), and the result must be a scalar that does not depend on any variable. Refuses NaN and infinity.
double parse_number(std::string_view text, const Scope& scope);

}  // namespace hinge
