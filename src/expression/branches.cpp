#include "expression/branches.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace hinge {

namespace {

bool is_branch(Op op) {
  return op == Op::less || op == Op::less_equal || op == Op::min || op == Op::max || op == Op::abs || op == Op::sign;
}

}  // namespace

Branches::Branches(const Graph& source, std::span<const Node> functions) : graph_(source) {
  Graph& graph = graph_;
  std::unordered_map<Node, std::size_t> known;
  for (const Node n : cone_of(graph, functions)) {
    const Graph::Entry e = graph[n];  // a copy: the arena may grow below
    if (!is_branch(e.op)) continue;
    const bool one = arity(e.op) == 1;
    const Node root = one ? e.a : graph.subtract(e.a, e.b),
               opposite = one ? graph.negate(e.a) : graph.subtract(e.b, e.a);
    if (graph.is_constant(root)) continue;
    if (const auto at = known.find(root); at != known.end()) {
      branches_.push_back({n, at->second, false});
    } else if (const auto other = known.find(opposite); other != known.end()) {
      branches_.push_back({n, other->second, true});
    } else {
      known.emplace(root, roots_.size());
      branches_.push_back({n, roots_.size(), false});
      roots_.push_back(root);
      at_zero_.push_back(e.op == Op::less_equal ? -1 : 1);
    }
  }
}

const Branches::Branch* Branches::find(Node node) const {
  const auto at =
      std::lower_bound(branches_.begin(), branches_.end(), node, [](const Branch& b, Node n) { return b.node < n; });
  return at != branches_.end() && at->node == node ? &*at : nullptr;
}

Branches::Frozen Branches::freeze(std::span<const Node> functions, const Sides& sides) {
  std::vector<Node> all(functions.begin(), functions.end());
  all.insert(all.end(), roots_.begin(), roots_.end());
  std::unordered_map<Node, Node> image;
  for (const Node n : cone_of(graph_, all)) {
    const Graph::Entry e = graph_[n];
    const auto moved = [&](Node operand) { return operand == no_node ? no_node : image.at(operand); };
    Node made = n;
    if (const Branch* b = find(n)) {
      const bool upper = (sides[b->root] != 0) != b->reversed;
      switch (e.op) {
        case Op::min: made = moved(upper ? e.b : e.a); break;
        case Op::max: made = moved(upper ? e.a : e.b); break;
        case Op::abs: made = upper ? moved(e.a) : graph_.negate(moved(e.a)); break;
        case Op::sign: made = graph_.constant(upper ? 1 : -1); break;
        default: made = graph_.constant(upper ? 0 : 1);
      }
    } else if (e.op != Op::constant && e.op != Op::variable) {
      made = graph_.make(e.op, moved(e.a), moved(e.b), moved(e.c));
    }
    image[n] = made;
  }
  Frozen frozen;
  for (const Node f : functions) frozen.functions.push_back(image.at(f));
  // Branches within what a condition leaves out do not matter.
  std::unordered_set<Node> seen;
  std::vector<Node> stack;
  std::vector<char> active(roots_.size(), 0);
  const auto visit = [&](Node n) {
    if (n != no_node && seen.insert(n).second) stack.push_back(n);
  };
  for (const Node f : functions) visit(f);
  while (!stack.empty()) {
    const Node n = stack.back();
    stack.pop_back();
    const Graph::Entry& e = graph_[n];
    if (const Branch* b = find(n)) active[b->root] = 1;
    if (e.op == Op::constant || e.op == Op::variable) continue;
    visit(e.a);
    if (e.op == Op::select && graph_.is_constant(image.at(e.a))) {
      visit(graph_.value(image.at(e.a)) != 0 ? e.b : e.c);
    } else {
      visit(e.b);
      visit(e.c);
    }
  }
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    if (!active[k] || graph_.is_constant(image.at(roots_[k]))) continue;
    frozen.active.push_back(k);
    frozen.roots.push_back(image.at(roots_[k]));
  }
  return frozen;
}

}  // namespace hinge
