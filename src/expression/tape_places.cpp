#include "expression/tape_places.hpp"

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "solve/index.hpp"

namespace hinge {

TapePlaces::TapePlaces(const Graph& graph, std::span<const std::vector<Node>> input_blocks,
                       std::span<const Node> outputs, const TapePlan& plan) {
  slot.assign(at(graph.size()), -1);
  for (const auto& block : input_blocks) {
    blocks.push_back({slots, static_cast<std::int32_t>(block.size()), false});
    for (const Node node : block) slot[at(node)] = slots++;
  }
  inputs = slots;
  place_constants(graph, plan, outputs);
  note_used_blocks(plan.uses);
  // An output that is computed is computed into its place; inputs and repeated outputs are copied there.
  first_output = slots;
  output_count = outputs.size();
  slots += static_cast<std::int32_t>(outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (std::int32_t& own = slot[at(outputs[k])]; own < 0) own = first_output + static_cast<std::int32_t>(k);
}

// Constants that are read get a slot each. Variables must have one.
void TapePlaces::place_constants(const Graph& graph, const TapePlan& plan, std::span<const Node> outputs) {
  const auto look = [&](Node n) {
    const Graph::Entry& e = graph[n];
    if (slot[at(n)] >= 0) return;
    if (e.op == Op::variable)
      throw InputError(fmt::format("'{}' is not a variable of this system", graph.variable_name(e.a)));
    if (e.op != Op::constant) return;
    slot[at(n)] = slots++;
    constants.push_back(e.value);
    constant_nodes.push_back(n);
  };
  bool sums = false;
  for (const TapePlan::Step& step : plan.steps) {
    plan.for_each_operand(step, look);
    sums = sums || step.kind == TapePlan::sum;
  }
  for (const Node output : outputs) look(output);
  if (!sums) return;
  one = slots++;
  constants.push_back(1.0);
  constant_nodes.push_back(no_node);
}

void TapePlaces::note_used_blocks(const std::vector<std::int32_t>& uses) {
  for (std::size_t n = 0; n < slot.size(); ++n)
    if (slot[n] >= 0 && slot[n] < inputs && uses[n] > 0)
      for (Block& block : blocks)
        if (slot[n] >= block.first && slot[n] < block.first + block.size) block.used = true;
}

void TapePlaces::find_copies(const Graph& graph, std::span<const Node> outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::int32_t from = slot[at(outputs[k])], to = first_output + static_cast<std::int32_t>(k);
    if (graph.is_constant(outputs[k]))
      constant_outputs.push_back({from, to, 1});
    else if (from != to && !copies.empty() && copies.back().continued_by(from, to))
      ++copies.back().count;
    else if (from != to)
      copies.push_back({from, to, 1});
  }
}

std::vector<double> TapePlaces::make_scratch(std::int32_t size) const {
  std::vector<double> scratch(at(size), 0.0);
  for (std::size_t k = 0; k < constants.size(); ++k) scratch[at(inputs) + k] = constants[k];
  for (const Copy& copy : constant_outputs) scratch[at(copy.to)] = scratch[at(copy.from)];
  return scratch;
}

std::vector<double> TapePlaces::make_scratch(std::int32_t size, const Graph& graph) const {
  std::vector<double> scratch(at(size), 0.0);
  for (std::size_t k = 0; k < constant_nodes.size(); ++k)
    scratch[at(inputs) + k] = constant_nodes[k] == no_node ? 1.0 : graph.value(constant_nodes[k]);
  for (const Copy& copy : constant_outputs) scratch[at(copy.to)] = scratch[at(copy.from)];
  return scratch;
}

std::vector<TapePlaces::ConstantPlace> TapePlaces::constant_places() const {
  std::vector<ConstantPlace> places;
  for (std::size_t k = 0; k < constant_nodes.size(); ++k)
    if (constant_nodes[k] != no_node) places.push_back({inputs + static_cast<std::int32_t>(k), constant_nodes[k]});
  for (const Copy& copy : constant_outputs)
    if (const Node n = constant_nodes[at(copy.from - inputs)]; n != no_node && copy.from != copy.to)
      places.push_back({copy.to, n});
  return places;
}

}  // namespace hinge
