// Shared by the builders of systems from expressions.
#pragma once

#include <vector>

#include "expression/graph.hpp"
#include "hinge/system.hpp"
#include "system/symbolic.hpp"

namespace hinge {

std::vector<Node> nodes_of(const std::vector<Expression>& expressions, Graph& graph);

/// -(sum_k psi_k g_k)_y: the reaction of ideal constraints.
std::vector<Node> ideal_reaction(Graph& graph, std::span<const Node> g, std::span<const Node> psi,
                                 std::span<const Node> y);

/// Multiplier nodes psi[0..count) and their layout block.
std::vector<Node> declare_multipliers(Graph& graph, std::size_t count, Layout& layout);

/// Without multipliers a reaction is a force like any other: f <- f + r, r <- 0.
void reaction_is_a_force(Graph& graph, Equations& eq);

/// Checks the contacts and finds the point that each belongs to, where it has friction without a slip velocity.
void resolve_contacts(Graph& graph, const Layout& layout, Equations& eq);

void refuse_constraints_on(const Graph& graph, std::span<const Node> g, std::span<const Node> z,
                           const std::vector<std::string>& names);

/// The finished system. It has the builder's graph as it is now, for itself.
std::shared_ptr<const SymbolicSystem> freeze(const std::shared_ptr<Graph>& graph, Layout layout, Equations eq,
                                             SystemHooks hooks = {});

/// The rate variables q' that go with coordinates q, in the same order.
void declare_rates(const std::shared_ptr<Graph>& graph, const Block& block, std::vector<Expression>& v);
Vector rates_of(const Vector& q, const std::vector<Expression>& all_q, const std::vector<Expression>& all_v, Graph& g);
std::vector<Block> renamed_rates(std::vector<Block> blocks);

/// Layout and equations while they are put together.
struct SystemBuilder::Draft {
  Layout layout;
  Equations eq;
};

}  // namespace hinge
