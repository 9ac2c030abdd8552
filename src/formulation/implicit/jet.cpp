#include "formulation/implicit/jet.hpp"

namespace hinge {

Jet::Jet(const SymbolicSystem& system)
    : graph_(std::make_shared<Graph>(*system.equations().graph)), t_(system.equations().t) {
  const Equations& eq = system.equations();
  x_.resize(eq.y.size());
  for (int j = 0; j < unknowns(); ++j) names_.push_back(system.layout().y_name(j));
  for (int j = 0; j < unknowns(); ++j) add(j, eq.y[static_cast<std::size_t>(j)]);
  for (int j = 0; j < unknowns(); ++j) add(j, eq.z[static_cast<std::size_t>(j)]);
}

void Jet::add(int j, Node variable) {
  auto& chain = x_[static_cast<std::size_t>(j)];
  variables_.push_back(variable);
  places_.push_back({j, static_cast<int>(chain.size())});
  chain.push_back(variable);
}

std::string Jet::name(int j, int k) const {
  return names_[static_cast<std::size_t>(j)] + std::string(static_cast<std::size_t>(k), '\'');
}

Node Jet::at(int j, int k) {
  auto& chain = x_[static_cast<std::size_t>(j)];
  while (static_cast<int>(chain.size()) <= k) add(j, graph_->variable(name(j, static_cast<int>(chain.size()))));
  return chain[static_cast<std::size_t>(k)];
}

std::vector<Node> Jet::total_derivatives(std::span<const Node> f) {
  const SparseExpressions by_x = jacobian(*graph_, f, variables_);
  const SparseExpressions by_t = jacobian(*graph_, f, std::span(&t_, 1));
  std::vector<Node> result;
  for (std::size_t i = 0; i < f.size(); ++i) {
    Node sum = graph_->constant(0);
    for (auto k = static_cast<std::size_t>(by_t.row_start[i]); k < static_cast<std::size_t>(by_t.row_start[i + 1]); ++k)
      sum = by_t.entries[k];
    for (auto k = static_cast<std::size_t>(by_x.row_start[i]); k < static_cast<std::size_t>(by_x.row_start[i + 1]);
         ++k) {
      const Place place = places_[static_cast<std::size_t>(by_x.column[k])];
      sum = graph_->add(sum, graph_->multiply(by_x.entries[k], at(place.unknown, place.order + 1)));
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace hinge
