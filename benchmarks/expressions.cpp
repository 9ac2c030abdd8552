// What expressions cost: from text to a graph, to exact derivatives, to a tape, to numbers.
//
// Three claims are shown. A sum of 100,000 terms goes all that way in well under a second. A gradient costs a small
// multiple of its function, however many variables there are. The tape needs a few nanoseconds per operation.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "expression/parse.hpp"
#include "measure.hpp"

namespace {

using hinge::Evaluator;
using hinge::Graph;
using hinge::Node;

// A graph with numbers x[0..n-1], or points q[0..n-1] in space, and their names.
struct Model {
  Graph graph;
  hinge::Scope scope;
  std::vector<Node> variables;

  Model(const std::string& name, std::vector<int> shape) {
    scope.graph = &graph;
    scope.names["N"] = {{}, {graph.constant(shape.front())}};
    int size = 1;
    for (const int extent : shape) size *= extent;
    for (int k = 0; k < size; ++k) variables.push_back(graph.variable(fmt::format("{}[{}]", name, k)));
    scope.names[name] = {std::move(shape), variables};
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::unique_ptr<Evaluator> tape(std::span<const Node> outputs) const {
    const std::vector<Node> blocks[] = {variables};
    return make_tape(graph, blocks, outputs);
  }
  std::unique_ptr<Evaluator> tape(Node output) const { return tape(std::span(&output, 1)); }
};

// Numbers between 0.5 and 1.5, where all functions used here are smooth.
std::vector<double> some_values(std::size_t size) {
  std::vector<double> values(size);
  for (std::size_t k = 0; k < size; ++k) values[k] = 1 + 0.5 * std::sin(static_cast<double>(k));
  return values;
}

double evaluation_seconds(const Evaluator& tape, std::size_t inputs, std::size_t outputs) {
  const std::vector<double> x = some_values(inputs);
  std::vector<double> scratch = tape.make_scratch(), result(outputs);
  const double* const blocks[] = {x.data()};
  return bench::time_of_short([&] { tape.evaluate(blocks, scratch.data(), result.data()); }, 0.01);
}

// ------------------------------------------------------------------------------------- one long sum, phase by phase

Node read(std::string_view text, const hinge::Scope& scope) { return parse(text, scope).node(); }

struct Phases {
  double parse = 0, gradient = 0, tape = 0, evaluate = 0;
  std::size_t numbers = 0;  // that one pass computes or reads
  double sum() const { return parse + gradient + tape + evaluate; }
  bool operator<(const Phases& other) const { return sum() < other.sum(); }
};

Phases time_phases(std::string_view text, int terms) {
  Model model("x", {terms + 1});
  Phases phases;
  Node function = hinge::no_node;
  phases.parse = bench::time_of([&] { function = read(text, model.scope); });
  std::vector<Node> outputs;
  phases.gradient = bench::time_of([&] { outputs = gradient(model.graph, function, model.variables); });
  outputs.push_back(function);
  std::unique_ptr<Evaluator> tape;
  phases.tape = bench::time_of([&] { tape = model.tape(outputs); });
  phases.numbers = tape->make_scratch().size();
  phases.evaluate = evaluation_seconds(*tape, model.variables.size(), outputs.size());
  return phases;
}

std::string written_out(int terms) {
  std::string text = "0";
  for (int i = 0; i < terms; ++i) text += fmt::format(" + {}.5*x[{}]*x[{}]^2", i % 7, i, i + 1);
  return text;
}

void print_phases(int terms) {
  struct Case {
    const char* name;
    std::string text;
  };
  const Case cases[] = {
      {"sum(i, ..., x[i]*x[i+1]^2)", fmt::format("sum(i, 0, {}, x[i]*x[i+1]^2)", terms - 1)},
      {"sum(i, ..., sin(x[i])*x[i+1])", fmt::format("sum(i, 0, {}, sin(x[i])*x[i+1])", terms - 1)},
      {"written out, 0.5*x[0]*x[1]^2 + ...", written_out(terms)},
  };
  fmt::print("A sum of {} terms with its gradient (milliseconds)\n\n", terms);
  fmt::print("{:<36} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11}\n", "expression", "parse", "gradient", "tape", "evaluate",
             "total", "numbers");
  double worst = 0;
  for (const Case& c : cases) {
    std::vector<Phases> runs;  // a new graph each time: the second reading of a text would find every node there
    for (int k = 0; k < 3; ++k) runs.push_back(time_phases(c.text, terms));
    const Phases p = bench::median(runs);
    worst = std::max(worst, p.sum());
    fmt::print("{:<36} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.3f} {:>9.2f} {:>11}\n", c.name, 1e3 * p.parse, 1e3 * p.gradient,
               1e3 * p.tape, 1e3 * p.evaluate, 1e3 * p.sum(), p.numbers);
  }
  fmt::print("\nThe slowest takes {:.3f} s in all: {} a second.\n\n", worst, worst < 1 ? "under" : "NOT under");
}

// -------------------------------------------------------------------------------------- gradient against function

double gradient_ratio(const std::string& text, int size) {
  Model model("x", {size});
  const Node function = read(text, model.scope);
  std::vector<Node> outputs = gradient(model.graph, function, model.variables);
  outputs.push_back(function);
  return static_cast<double>(model.tape(outputs)->make_scratch().size()) /
         static_cast<double>(model.tape(function)->make_scratch().size());
}

void print_ratios(int largest) {
  struct Case {
    const char *name, *text;
  };
  const Case cases[] = {
      {"springs", "sum(i, 1, N-1, (x[i] - x[i-1] - 1)^2/2)"},
      {"pendula", "sum(i, 1, N-1, sin(x[i])^2 + cos(x[i] - x[i-1]))"},
      {"all coupled", "(sum(i, 0, N-1, x[i]^2))^3/(1 + sum(i, 0, N-1, x[i]))"},
      {"rational", "sum(i, 1, N-1, x[i]*x[i-1]/(1 + x[i]^2 + x[i-1]^2))"},
  };
  fmt::print("Operations of function and gradient together, relative to the function alone\n\n{:>8}", "N");
  for (const Case& c : cases) fmt::print(" {:>12}", c.name);
  fmt::print("\n");
  for (int size = 10; size <= largest; size *= 10) {
    fmt::print("{:>8}", size);
    for (const Case& c : cases) fmt::print(" {:>12.2f}", gradient_ratio(c.text, size));
    fmt::print("\n");
  }
  fmt::print("\n");
}

// ------------------------------------------------------------------------------------------------- speed of the tape

void print_speed(const char* name, const Model& model, std::span<const Node> outputs) {
  const auto tape = model.tape(outputs);
  const double seconds = evaluation_seconds(*tape, model.variables.size(), outputs.size());
  const std::size_t numbers = tape->make_scratch().size();
  fmt::print("{:<52} {:>10} {:>12.2f} {:>10.2f}\n", name, numbers, 1e6 * seconds,
             1e9 * seconds / static_cast<double>(numbers));
}

// Constraints of a chain of points with their Jacobian: what an integrator asks for in every iteration.
std::vector<Node> chain_constraints(Model& model, int links) {
  std::vector<Node> g = {read("(dot(q[0],q[0]) - 1)/2", model.scope)};
  for (int i = 1; i < links; ++i)
    g.push_back(read(fmt::format("(dot(q[{0}]-q[{1}],q[{0}]-q[{1}]) - 1)/2", i, i - 1), model.scope));
  const hinge::SparseExpressions g_q = jacobian(model.graph, g, model.variables);
  g.insert(g.end(), g_q.entries.begin(), g_q.entries.end());
  return g;
}

void print_speeds(bool quick) {
  fmt::print("Speed of the tape\n\n");
  fmt::print("{:<52} {:>10} {:>12} {:>10}\n", "outputs", "numbers", "us/pass", "ns each");
  const std::vector<int> sizes = quick ? std::vector{2, 100} : std::vector{2, 100, 10000};
  for (const int links : sizes) {
    Model chain("q", {links, 3});
    print_speed(fmt::format("chain of {} points: g, G", links).c_str(), chain, chain_constraints(chain, links));
  }
  for (const int bodies : {10, 100}) {
    Model stars("q", {bodies, 3});
    const Node potential = read("sum(i, 1, N-1, sum(j, 0, i-1, -1/norm(q[i] - q[j])))", stars.scope);
    print_speed(fmt::format("{} attracting bodies: potential, forces", bodies).c_str(), stars,
                gradient(stars.graph, potential, stars.variables));
  }
  for (const int size : {10, 1000}) {
    Model pendula("x", {size});
    const Node potential = read("sum(i, 1, N-1, cos(x[i]) + sin(x[i] - x[i-1])^2)", pendula.scope);
    print_speed(fmt::format("{} coupled pendula: forces (sin, cos)", size).c_str(), pendula,
                gradient(pendula.graph, potential, pendula.variables));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // lines as they come, also into a file
  print_phases(100'000);
  print_ratios(quick ? 1000 : 100'000);
  print_speeds(quick);
}
