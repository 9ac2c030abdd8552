// Expressions as C.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// Variables that C finds in an array: of this name, or, for one number, in a variable of it.
struct CArray {
  std::string name;
  std::vector<Node> variables;
  bool scalar = false;
};

/// Statements that compute out[0], out[1], ... in the order of the graph: the operations of the tape, rounded as there
/// where the compiler contracts nothing. What is used more than once, or is long, gets a name. Throws InputError where
/// there is a table other than floor().
std::string c_statements(const Graph& graph, std::span<const CArray> arrays, std::span<const Node> outputs);

/// A number that reads back as itself.
std::string c_number(double x);

/// Functions that the statements may call.
extern const char* const c_functions;

}  // namespace hinge
