#include "formulation/saddle_code.hpp"

#include <utility>

#include "expression/native.hpp"
#include "formulation/saddle_elimination.hpp"

namespace hinge {

SaddleCode::SaddleCode(std::unique_ptr<Evaluator> function, std::size_t x, std::size_t mu)
    : function_(std::move(function)),
      scratch_(function_->make_scratch()),
      x_(scratch_.data() + function_->first_output()),
      mu_(x_ + x),
      settled_(mu_ + mu) {}

std::unique_ptr<SaddleCode> SaddleCode::make(const Shape& shape) {
  const Pattern &a = shape.a, &c = shape.c;
  const auto nz = static_cast<std::size_t>(a.rows), m = static_cast<std::size_t>(c.rows);
  if (native_use() == NativeUse::off) return nullptr;
  const std::vector<int> order = SaddleElimination::suits(a, c)
                                     ? std::vector<int>{}
                                     : SaddleElimination::order_of_many(a, shape.b, c, shape.constant != nullptr);
  if (order.empty() && !SaddleElimination::suits(a, c)) return nullptr;

  // Everything that changes is a variable here, whatever it is in the model.
  Graph graph;
  const auto variables = [&graph](std::size_t count) {
    Nodes nodes;
    for (std::size_t k = 0; k < count; ++k) nodes.push_back(graph.variable("x"));
    return nodes;
  };
  Nodes mass, reaction;
  if (shape.constant)
    for (std::size_t k = 0; k < a.entries(); ++k) mass.push_back(graph.constant(shape.constant[k]));
  else
    mass = variables(a.entries());
  if (shape.b) reaction = variables(shape.b->entries());
  const Nodes gradient = variables(c.entries()), right = variables(nz), curvature = variables(m);
  const std::vector<Nodes> blocks{shape.constant ? Nodes{} : mass, reaction, gradient, right, curvature};

  Nodes x = right, mu = curvature;
  for (Node& n : mu) n = graph.negate(n);
  SaddleElimination elimination(graph, a, shape.b, c, shape.exchanges);
  if (order.empty()) {
    elimination.factor(mass, reaction, gradient);
    elimination.solve(x, mu);
  } else {
    elimination.solve_in_order(order, mass, gradient, x, mu);
  }
  Nodes outputs = x;
  outputs.insert(outputs.end(), mu.begin(), mu.end());
  elimination.demand_all_finite(outputs);
  outputs.push_back(elimination.settled());
  return std::unique_ptr<SaddleCode>(new SaddleCode(make_tape(graph, blocks, outputs), nz, m));
}

}  // namespace hinge
