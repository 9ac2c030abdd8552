#include "expression/branches.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "expression/derivative.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr std::size_t few = 24;  // operations on functions of time
constexpr int no_branch = -1;

}  // namespace

bool Branches::is_branch(Op op) {
  return op == Op::less || op == Op::less_equal || op == Op::min || op == Op::max || op == Op::abs || op == Op::sign ||
         op == Op::table;
}

Branches::Branches(const Graph& source, std::span<const Node> functions, Node clock)
    : graph_(source), own_functions_(functions.begin(), functions.end()) {
  Graph& graph = graph_;
  std::vector<Node> moving;
  for (int k = 0; k < source.variable_count(); ++k)
    if (source.variable_node(k) != clock) moving.push_back(source.variable_node(k));
  const std::vector<char> moves = dependence(source, moving);
  const std::vector<Node> cone = cone_of(graph, functions);
  const auto is_timed = [&](Node n) { return is_branch(source[n].op) && !moves[at(n)]; };
  const bool with_timed = static_cast<std::size_t>(std::count_if(cone.begin(), cone.end(), is_timed)) > few;
  std::unordered_map<Node, std::size_t> known;
  for (const Node n : cone) {
    const Graph::Entry e = graph[n];  // a copy: the arena may grow below
    if (!is_branch(e.op) || (!with_timed && is_timed(n))) continue;
    if (e.op == Op::table) {
      add_table(n, moves[at(n)]);
      continue;
    }
    const bool one = arity(e.op) == 1;
    const Node root = one ? e.a : graph.subtract(e.a, e.b),
               opposite = one ? graph.negate(e.a) : graph.subtract(e.b, e.a);
    if (graph.is_constant(root)) continue;
    if (const auto same = known.find(root); same != known.end()) {
      branches_.push_back({n, same->second, false});
    } else if (const auto other = known.find(opposite); other != known.end()) {
      branches_.push_back({n, other->second, true});
    } else {
      known.emplace(root, roots_.size());
      branches_.push_back({n, roots_.size(), false});
      roots_.push_back(root);
      moves_.push_back(moves[at(n)]);
      at_zero_.push_back(e.op == Op::less_equal ? -1 : 1);
      tables_.push_back(nullptr);
      arguments_.push_back(no_node);
    }
  }
  std::vector<Node> all = own_functions_;
  all.insert(all.end(), roots_.begin(), roots_.end());
  own_cone_ = cone_of(graph_, all);
  number_.assign(at(source.size()), no_branch);
  for (std::size_t k = 0; k < branches_.size(); ++k) number_[at(branches_[k].node)] = static_cast<int>(k);
  root_of_.assign(at(graph_.size()), 0);
  const auto note = [&](Node n, int root) {
    root_of_.resize(at(graph_.size()), 0);
    root_of_[at(n)] = root;
  };
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    if (tables_[k]) continue;
    const Graph::Entry e = graph_[roots_[k]];
    const int number = static_cast<int>(k) + 1;
    note(graph_.negate(roots_[k]), -number);
    if (e.op == Op::subtract) note(graph_.subtract(e.b, e.a), -number);
    note(roots_[k], number);
  }
}

// Tables with the same knots and argument, as a table and its derivatives, have one root function.
void Branches::add_table(Node n, bool moves) {
  const Graph::Entry e = graph_[n];
  const std::shared_ptr<const Table> table = graph_.table(e);
  for (std::size_t k = 0; k < roots_.size(); ++k)
    if (arguments_[k] == e.a && tables_[k]->wave() == table->wave()) {
      branches_.push_back({n, k, false});
      return;
    }
  branches_.push_back({n, roots_.size(), false});
  roots_.push_back(graph_.table(table->wave(), e.a));
  moves_.push_back(moves);
  at_zero_.push_back(1);
  tables_.push_back(table);
  arguments_.push_back(e.a);
}

// One piece, continued beyond its ends. What has no values there keeps none.
Node Branches::polynomial(const std::shared_ptr<const Table>& table, long piece, Node argument) {
  if (const auto [low, high] = table->piece_range(piece); table->ends() && !(std::isfinite(low) && std::isfinite(high)))
    return graph_.table(table, argument);
  double origin = 0;
  const Table::Cubic c = table->polynomial(piece, origin);
  const Node u = graph_.subtract(argument, graph_.constant(origin));
  Node sum = graph_.constant(c[3]);
  for (std::size_t j = 3; j-- > 0;) sum = graph_.add(graph_.constant(c[j]), graph_.multiply(u, sum));
  return sum;
}

// Positive within the piece, negative beyond its ends.
Node Branches::inside(const Table& table, long piece, Node argument) {
  const auto [low, high] = table.piece_range(piece);
  const Node above = graph_.subtract(argument, graph_.constant(low)),
             below = graph_.subtract(graph_.constant(high), argument);
  if (!std::isfinite(low)) return below;
  if (!std::isfinite(high)) return above;
  return graph_.divide(graph_.multiply(above, below), graph_.constant(high - low));
}

const Branches::Branch* Branches::find(Node node) const {
  if (at(node) >= number_.size() || number_[at(node)] == no_branch) return nullptr;
  return &branches_[static_cast<std::size_t>(number_[at(node)])];
}

// Is it a root function, up to a constant factor, that is positive on the side where the motion is?
bool Branches::ends_at_root(Node base, const Sides& sides) const {
  bool turned = false;
  for (;;) {
    if (at(base) < root_of_.size() && root_of_[at(base)] != 0) {
      const int root = root_of_[at(base)];
      const bool upper = sides[static_cast<std::size_t>(std::abs(root)) - 1] != 0;
      return upper == ((root > 0) != turned);
    }
    const Graph::Entry& e = graph_[base];
    const bool left = e.op == Op::multiply && graph_.is_constant(e.a);
    if (left || ((e.op == Op::multiply || e.op == Op::divide) && graph_.is_constant(e.b)))
      turned = turned != (graph_.value(left ? e.a : e.b) < 0);
    else if (e.op == Op::negate)
      turned = !turned;
    else
      return false;
    base = left ? e.b : e.a;
  }
}

// A power of what vanishes at a root has values on one side of it only.
Node Branches::continued(const Graph::Entry& e, Node base, Node exponent) {
  const Node size = graph_.make(Op::abs, base), sign = graph_.make(Op::sign, base);
  return graph_.multiply(sign, e.op == Op::sqrt ? graph_.make(Op::sqrt, size) : graph_.power(size, exponent));
}

// For every node of the cone, what it becomes. Most stay as they are.
std::vector<Node> Branches::image_of(std::span<const Node> cone, const Sides& sides) {
  const Node truth[] = {graph_.constant(0), graph_.constant(1)};
  std::vector<Node> image(at(graph_.size()), no_node);
  for (const Node n : cone) {
    const Graph::Entry e = graph_[n];
    const auto moved = [&](Node operand) { return operand == no_node ? no_node : image[at(operand)]; };
    Node made = n;
    if (const Branch* branch = find(n)) {
      const bool upper = (sides[branch->root] != 0) != branch->reversed;
      switch (e.op) {
        case Op::min: made = moved(upper ? e.b : e.a); break;
        case Op::max: made = moved(upper ? e.a : e.b); break;
        case Op::abs: made = upper ? moved(e.a) : graph_.negate(moved(e.a)); break;
        case Op::sign: made = graph_.constant(upper ? 1 : -1); break;
        case Op::table: made = polynomial(std::shared_ptr(graph_.table(e)), sides[branch->root], moved(e.a)); break;
        default: made = truth[upper ? 0 : 1];
      }
    } else if (e.op != Op::constant && e.op != Op::variable) {
      const Node a = moved(e.a), b = moved(e.b), c = moved(e.c);
      const bool known = (a == truth[0] || a == truth[1]) && (b == truth[0] || b == truth[1]);
      const bool root = e.op == Op::sqrt ||
                        (e.op == Op::power && graph_.is_constant(b) && graph_.value(b) != std::floor(graph_.value(b)));
      if (root && ends_at_root(a, sides))
        made = continued(e, a, b);
      else if (known && e.op == Op::logical_and)
        made = truth[a == truth[1] && b == truth[1]];
      else if (known && e.op == Op::logical_or)
        made = truth[a == truth[1] || b == truth[1]];
      else if (a != e.a || b != e.b || c != e.c)
        made = graph_.remake(graph_, e, a, b, c);
    }
    image[at(n)] = made;
  }
  return image;
}

std::vector<Node> Branches::frozen(std::span<const Node> functions, const Sides& sides) {
  const std::vector<Node> image = image_of(cone_of(graph_, functions), sides);
  std::vector<Node> result;
  for (const Node f : functions) result.push_back(image[at(f)]);
  return result;
}

Branches::Frozen Branches::freeze(const Sides& sides) {
  const std::vector<Node> image = image_of(own_cone_, sides);
  Frozen frozen;
  for (const Node f : own_functions_) frozen.functions.push_back(image[at(f)]);
  // Branches within what a condition leaves out do not matter.
  std::vector<char> seen(image.size(), 0), active(roots_.size(), 0);
  std::vector<Node> stack;
  const auto visit = [&](Node n) {
    if (n == no_node || seen[at(n)]) return;
    seen[at(n)] = 1;
    stack.push_back(n);
  };
  for (const Node f : own_functions_) visit(f);
  while (!stack.empty()) {
    const Node n = stack.back();
    stack.pop_back();
    const Graph::Entry& e = graph_[n];
    if (const Branch* b = find(n)) active[b->root] = 1;
    if (e.op == Op::constant || e.op == Op::variable) continue;
    visit(e.a);
    if (e.op == Op::select && graph_.is_constant(image[at(e.a)])) {
      visit(graph_.value(image[at(e.a)]) != 0 ? e.b : e.c);
    } else {
      visit(e.b);
      visit(e.c);
    }
  }
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    if (!active[k]) continue;
    const Node root = tables_[k] ? inside(*tables_[k], sides[k], image[at(arguments_[k])]) : image[at(roots_[k])];
    if (graph_.is_constant(root)) continue;
    frozen.active.push_back(k);
    frozen.roots.push_back(root);
  }
  return frozen;
}

}  // namespace hinge
