#include "method/wrap/smooth_piece.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace hinge {

namespace {

template <class E>
auto lists(E& eq) {
  return std::array{&eq.v, &eq.p, &eq.f, &eq.r, &eq.g, &eq.w, &eq.acceleration_force, &eq.residual};
}

// The equations in a graph of what they need and nothing else: of a table with thousands of entries a piece keeps one.
// `functions` move with them.
void move_to_own_graph(const Graph& from, Equations& eq, std::vector<Node>& functions) {
  std::vector<Node*> all{&eq.t};
  const auto add = [&](std::vector<Node>& list) {
    for (Node& n : list) all.push_back(&n);
  };
  for (auto* list : lists(eq)) add(*list);
  for (auto* list : {&eq.y, &eq.z, &eq.psi, &eq.invariants, &functions}) add(*list);
  for (auto& column : eq.noise) add(column);
  for (Equations::Gap& gap : eq.gaps) {
    all.insert(all.end(), {&gap.gap, &gap.multiplier, &gap.speed, &gap.turn});
    add(gap.slip);
    add(gap.reaction);
  }
  for (Equations::Pair& pair : eq.pairs) all.insert(all.end(), {&pair.a, &pair.b});
  all.push_back(&eq.energy);
  std::vector<Node> wanted;
  for (const Node* n : all)
    if (*n != no_node) wanted.push_back(*n);
  auto graph = std::make_shared<Graph>();
  std::unordered_map<Node, Node> image;
  const auto moved = [&](Node n) { return n == no_node ? no_node : image.at(n); };
  for (const Node n : cone_of(from, wanted)) {
    const Graph::Entry& e = from[n];
    image.emplace(n, e.op == Op::variable   ? graph->variable(from.variable_name(e.a))
                     : e.op == Op::constant ? graph->constant(e.value)
                                            : graph->remake(from, e, moved(e.a), moved(e.b), moved(e.c)));
  }
  for (Node* n : all) *n = moved(*n);
  eq.graph = std::move(graph);
  eq.source = nullptr;
  eq.samples.clear();  // who samples does so between the steps of pieces
}

}  // namespace

std::vector<Node> functions_of(const Equations& equations) {
  std::vector<Node> all;
  for (const auto* list : lists(equations)) all.insert(all.end(), list->begin(), list->end());
  return all;
}

bool has_branches(const Equations& equations) {
  const Graph& graph = *equations.graph;
  for (Node n = 0; n < graph.size(); ++n)
    if (Branches::is_branch(graph[n].op)) return true;
  return false;
}

PieceSource::PieceSource(std::shared_ptr<const SymbolicSystem> system)
    : whole(std::move(system)),
      branches(*whole->equations().graph, functions_of(whole->equations()), whole->equations().t),
      roots(std::make_shared<RootWatch>(whole->equations(), branches.graph(), branches.roots())) {
  std::vector<Node> arguments;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    place_.push_back(arguments.size());
    if (branches.table(k)) arguments.push_back(branches.argument(k));
  }
  if (!arguments.empty()) arguments_ = std::make_unique<RootWatch>(whole->equations(), branches.graph(), arguments);
}

void PieceSource::find_sides(const State& s, Branches::Sides& sides) {
  roots->evaluate(s);
  if (arguments_) arguments_->evaluate(s);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const double x = (*roots)[k];
    sides[k] = branches.table(k) ? branches.table(k)->piece((*arguments_)[place_[k]])
                                 : x > 0 || (x == 0 && branches.at_zero()[k] > 0);
  }
}

long PieceSource::next_side(std::size_t root, long side, const State& s) {
  if (!branches.table(root)) return !side;
  arguments_->evaluate(s);
  const auto [low, high] = branches.table(root)->piece_range(side);
  const double x = (*arguments_)[place_[root]];
  return x - low < high - x ? side - 1 : side + 1;
}

SmoothPiece::SmoothPiece(PieceSource& source, const Branches::Sides& sides) {
  Branches& branches = source.branches;
  watch_ = source.roots;
  system_ = source.whole;
  if (branches.size() == 0) return;
  Equations eq = source.whole->equations();
  const Branches::Frozen frozen = branches.freeze(sides);
  auto at = frozen.functions.begin();
  for (auto* list : lists(eq))
    for (Node& n : *list) n = *at++;
  if (eq.energy != no_node) eq.energy = branches.frozen(std::span(&eq.energy, 1), sides)[0];
  std::vector<Node> roots;  // of the motion; those of time alone are known beforehand
  bool as_they_stand = true;
  for (std::size_t k = 0; k < frozen.active.size(); ++k) {
    const std::size_t root = frozen.active[k];
    if (!branches.moves(root)) continue;
    active_.push_back(root);
    upper_.push_back(branches.table(root) ? 1 : sides[root] != 0);
    roots.push_back(frozen.roots[k]);
    as_they_stand = as_they_stand && roots.back() == branches.roots()[root];
  }
  place_ = active_;
  if (as_they_stand) roots.clear();
  move_to_own_graph(branches.graph(), eq, roots);
  if (!as_they_stand) {
    watch_ = std::make_shared<RootWatch>(eq, *eq.graph, roots);
    for (std::size_t k = 0; k < place_.size(); ++k) place_[k] = k;
  }
  system_ = std::make_shared<SymbolicSystem>(source.whole->layout(), std::move(eq), source.whole->hooks());
}

bool SmoothPiece::is_any_beyond() const {
  for (std::size_t k = 0; k < active_.size(); ++k)
    if (is_beyond(k)) return true;
  return false;
}

std::vector<double> SmoothPiece::distances(const State& s, const Tolerance& tolerance) {
  const std::vector<double>& margins = watch_->margins(s, tolerance);
  std::vector<double> result;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const double margin = margins[place_[k]];
    result.push_back(margin > 0 ? std::abs(value(k)) / margin : INFINITY);
  }
  return result;
}

bool SmoothPiece::may_return(const State& from, const State& to, const Bends& bends, const Tolerance& tolerance) {
  watch_->enclose(from, to, bends);
  const std::vector<double>* margins = nullptr;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const auto [value, slope] = watch_->bounds(place_[k]);
    double reach = upper_[k] ? -value.low : value.high;  // beyond the root
    if (!(reach > 0) || !slope.contains(0)) continue;
    if (!margins) margins = &watch_->margins(to, tolerance);
    if (!(reach > (*margins)[place_[k]])) continue;
    // (a - c) - (b - c) is far wider than a - b; its value at an end and its slope know better
    reach = std::min({reach, reach_from(k, from, slope.low, slope.high, to.t - from.t),
                      reach_from(k, to, -slope.high, -slope.low, to.t - from.t)});
    if (reach > (*margins)[place_[k]]) return true;
  }
  return false;
}

// How far beyond the root k can be within a time from a state, with slopes between these.
double SmoothPiece::reach_from(std::size_t k, const State& s, double least_slope, double largest_slope, double time) {
  watch_->evaluate(s);
  return upper_[k] ? -value(k) - time * least_slope : value(k) + time * largest_slope;
}

}  // namespace hinge
