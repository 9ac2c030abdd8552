// Expressions: any text is read as a value, or refused with a column that is in the text. What is read has derivatives,
// and the tape computes what the graph says, node by node.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/parse.hpp"
#include "expression/random_expression.hpp"
#include "hinge/error.hpp"

using namespace hinge;

namespace {

void require(bool truth, const char* claim) {
  if (truth) return;
  std::fprintf(stderr, "it does not hold that %s\n", claim);
  std::abort();
}

void declare(Scope& scope, const char* name, std::vector<int> shape) {
  const int size = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
  Value value{std::move(shape), {}};
  for (int k = 0; k < size; ++k) value.entries.push_back(scope.graph->variable(name + std::to_string(k)));
  scope.names[name] = std::move(value);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Graph graph;
  Scope scope{.graph = &graph, .names = {}, .rate = {}};
  for (const char* name : {"x", "y", "t"}) declare(scope, name, {});
  declare(scope, "u", {3});
  declare(scope, "v", {3});
  declare(scope, "w", {2});
  declare(scope, "q", {4, 3});
  scope.names["N"] = {{}, {graph.constant(4)}};
  scope.rate = [&](Node node) {
    if (graph[node].op != Op::variable) throw InputError("only coordinates have a rate");
    return graph.multiply(graph.constant(100), node);
  };
  Value value;
  try {
    value = parse(text, scope);
  } catch (const ExpressionError& e) {
    require(e.column >= 1 && static_cast<std::size_t>(e.column) <= text.size() + 1, "a column is in the text");
    return 0;
  } catch (const InputError&) {
    return 0;
  }
  constexpr Node enough = 20'000;  // a sum may be long; a derivative of it says nothing new
  if (graph.size() > enough) return 0;
  std::vector<Node> variables, outputs = value.entries;
  for (int k = 0; k < graph.variable_count(); ++k) variables.push_back(graph.variable_node(k));
  if (!outputs.empty()) {
    to_text(graph, outputs[0]);
    const std::vector<Node> slopes = gradient(graph, outputs[0], variables);
    outputs.insert(outputs.end(), slopes.begin(), slopes.end());
  }
  std::vector<double> at(variables.size()), found(outputs.size());
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = std::sin(1.0 + static_cast<double>(k));
  const auto tape = make_tape(graph, std::vector<std::vector<Node>>{variables}, outputs);
  std::vector<double> scratch = tape->make_scratch();
  const double* inputs[] = {at.data()};
  tape->evaluate(inputs, scratch.data(), found.data());
  const std::vector<double> expected = trial::evaluate_all(graph, at);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    require(same(found[k], expected[trial::at(outputs[k])]), "the tape computes what the graph says");
  return 0;
}
