#include "expression/rounding_bounds.hpp"

#include <cmath>
#include <unordered_map>
#include <utility>

#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr Node most_nodes = 200'000;  // graphs beyond that are not kept

}  // namespace

RoundingBounds::RoundingBounds(std::shared_ptr<const Graph> graph, std::vector<std::vector<Node>> blocks,
                               std::vector<Node> functions) {
  if (graph->size() > most_nodes) return;
  graph_ = std::move(graph);
  blocks_ = std::move(blocks);
  functions_ = std::move(functions);
}

void RoundingBounds::prepare() {
  if (!graph_ || enclosure_) return;
  enclosure_ = std::make_unique<Enclosure>(*graph_, functions_);
  std::unordered_map<Node, Place> place;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t i = 0; i < blocks_[b].size(); ++i) place.emplace(blocks_[b][i], Place{b, i});
  for (const Node variable : enclosure_->variables()) places_.push_back(place.at(variable));
  variables_.resize(places_.size());
}

void RoundingBounds::add(const double* const* inputs, double* out) {
  if (!graph_) return;
  prepare();
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const double x = inputs[places_[k].block][places_[k].index], uncertain = epsilon * std::abs(x);
    variables_[k] = {{x - uncertain, x + uncertain}, {1, 1}};  // with a slope: at a jump it has no bounds
  }
  enclosure_->on(variables_);
  for (std::size_t k = 0; k < functions_.size(); ++k) {
    const Enclosed& f = (*enclosure_)[k];
    const double width = f.value.high - f.value.low;
    if (std::isfinite(width) && std::isfinite(f.slope.high - f.slope.low)) out[k] += width / 2;
  }
}

}  // namespace hinge
