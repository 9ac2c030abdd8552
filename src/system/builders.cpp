#include "system/builders.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "expression/graph_library.hpp"
#include "expression/polynomial.hpp"
#include "hinge/error.hpp"
#include "system/velocity_constraints.hpp"

namespace hinge {

std::vector<Node> nodes_of(const std::vector<Expression>& expressions, Graph& graph) {
  std::vector<Node> nodes;
  nodes.reserve(expressions.size());
  for (const Expression& e : expressions) nodes.push_back(e.node_in(graph));
  return nodes;
}

std::vector<Node> ideal_reaction(Graph& graph, std::span<const Node> g, std::span<const Node> psi,
                                 std::span<const Node> y) {
  std::vector<Node> r = gradient(graph, dot_product(graph, psi, g), y);
  for (Node& n : r) n = graph.negate(n);
  return r;
}

std::vector<Node> declare_multipliers(Graph& graph, std::size_t count, Layout& layout) {
  std::vector<Node> psi;
  for (std::size_t k = 0; k < count; ++k) psi.push_back(graph.variable(fmt::format("psi[{}]", k)));
  layout.psi = {{"psi", {static_cast<int>(count)}, 0}};
  layout.npsi = static_cast<int>(count);
  return psi;
}

void refuse_constraints_on(const Graph& graph, std::span<const Node> g, std::span<const Node> z,
                           const std::vector<std::string>& names) {
  const std::vector<char> depends = dependence(graph, z);
  for (std::size_t k = 0; k < g.size(); ++k)
    if (depends[static_cast<std::size_t>(g[k])])
      throw InputError(fmt::format(
          "constraint {} depends on a velocity or momentum; constraints are functions of t and the coordinates "
          "(the velocity level is derived from them; rolling and blades are velocity_constraints)",
          names[k]));
}

namespace {

void refuse_as_invariants(const Graph& graph, const Equations& eq) {
  std::vector<Node> others = eq.z;
  others.push_back(eq.t);
  const std::vector<char> depends = dependence(graph, others), moves = dependence(graph, eq.y);
  const std::vector<int> degree = polynomial_degree(graph, eq.y);
  for (const Node n : eq.invariants) {
    const auto at = static_cast<std::size_t>(n);
    const char* trouble = depends[at]                   ? "depends on t, a velocity or a momentum"
                          : !moves[at]                  ? "does not depend on the coordinates"
                          : degree[at] == not_quadratic ? "is not a polynomial of degree one or two"
                                                        : nullptr;
    if (trouble)
      throw InputError(
          fmt::format("the invariant {} {}; invariants are functions of the coordinates, at most quadratic, such as "
                      "dot(q,q)",
                      to_text(graph, n, 60), trouble));
  }
}

}  // namespace

void reaction_is_a_force(Graph& graph, Equations& eq) {
  for (const Node r : eq.r) eq.applied_force = eq.applied_force || !graph.is_constant(r, 0);
  eq.applied.resize(eq.f.size(), graph.constant(0));
  for (std::size_t k = 0; k < eq.f.size(); ++k) {
    eq.applied[k] = graph.add(eq.applied[k], eq.r[k]);
    eq.f[k] = graph.add(eq.f[k], std::exchange(eq.r[k], graph.constant(0)));
  }
}

std::shared_ptr<const SymbolicSystem> freeze(const std::shared_ptr<Graph>& graph, Layout layout, Equations eq,
                                             SystemHooks hooks) {
  if (graph->size() <= GraphLibrary::most_nodes) graph->structure();  // is found once, for all copies
  eq.graph = std::make_shared<const Graph>(*graph);
  eq.source = graph;
  return std::make_shared<const SymbolicSystem>(std::move(layout), std::move(eq), std::move(hooks));
}

SystemBuilder::Draft SystemBuilder::draft(SystemKind kind, const std::vector<Block>& y_blocks,
                                          const std::vector<Expression>& y, const std::vector<Block>& z_blocks,
                                          const std::vector<Expression>& z) const {
  Draft d;
  d.layout.kind = kind;
  d.layout.y = y_blocks;
  d.layout.z = z_blocks;
  d.layout.ny = static_cast<int>(y.size());
  d.layout.nz = static_cast<int>(z.size());
  d.layout.constraints = constraint_names_;
  d.eq.t = t_.node_in(*graph_);
  d.eq.y = nodes_of(y, *graph_);
  d.eq.z = nodes_of(z, *graph_);
  d.eq.g = nodes_of(constraints_, *graph_);
  refuse_constraints_on(*graph_, d.eq.g, d.eq.z, constraint_names_);
  d.layout.velocity_constraints = velocity_constraint_names_;
  d.eq.w = nodes_of(velocity_constraints_, *graph_);
  refuse_as_velocity_constraints(*graph_, d.layout, d.eq);
  d.eq.invariants = nodes_of(invariants_, *graph_);
  refuse_as_invariants(*graph_, d.eq);
  if (!gaps_.empty() && kind != SystemKind::lagrangian && kind != SystemKind::mechanical)
    throw InputError(
        "contacts (unilateral) belong to Lagrangian and mechanical systems; a DAE has complementarity pairs");
  for (std::size_t k = 0; k < gaps_.size(); ++k) {
    const UnilateralOptions& o = gap_options_[k];
    Equations::Gap gap{gaps_[k].node_in(*graph_), {}, o.friction, o.restitution, o.name};
    for (const Expression& s : o.slip) gap.slip.push_back(s.node_in(*graph_));
    if (o.reaction.size() > 0) {
      gap.multiplier = o.multiplier.node_in(*graph_);
      for (const Expression& r : o.reaction) gap.reaction.push_back(r.node_in(*graph_));
    }
    d.eq.gaps.push_back(std::move(gap));
  }
  resolve_contacts(*graph_, d.layout, d.eq);
  return d;
}

SystemBuilder::SystemBuilder() : graph_(std::make_shared<Graph>()) { t_ = {graph_, graph_->variable("t")}; }

Expression SystemBuilder::t() const { return t_; }

void SystemBuilder::constrain(const Expression& g, std::string name) {
  constraints_.push_back(g);
  constraint_names_.push_back(name.empty() ? fmt::format("{} ({} = 0)", constraints_.size() - 1, g.text())
                                           : std::move(name));
}

Expression SystemBuilder::contact_multiplier(const std::string& name) { return {graph_, graph_->variable(name)}; }

void SystemBuilder::unilateral(const Expression& gap, UnilateralOptions options) {
  if (options.name.empty()) options.name = fmt::format("{} ({} >= 0)", gaps_.size(), gap.text());
  if (!(options.restitution >= 0 && options.restitution <= 1))
    throw InputError(
        fmt::format("the contact {} has restitution {}; it lies between 0 and 1", options.name, options.restitution));
  if (!(options.friction >= 0) || !std::isfinite(options.friction))
    throw InputError(fmt::format("the contact {} has friction {}; the coefficient is 0 or positive", options.name,
                                 options.friction));
  gaps_.push_back(gap);
  gap_options_.push_back(std::move(options));
}

void SystemBuilder::invariant(const Expression& pi) { invariants_.push_back(pi); }

Vector SystemBuilder::declare(std::vector<Block>& blocks, int& count, std::vector<Expression>& all,
                              const std::string& name, std::vector<int> shape) {
  if (name.empty()) throw InputError("a coordinate needs a name");
  for (const int extent : shape)
    if (extent < 1) throw InputError(fmt::format("'{}' is declared with size {}; sizes start at 1", name, extent));
  for (const Block& other : blocks)
    if (other.name == name) throw InputError(fmt::format("'{}' is declared already; choose another name", name));
  Block block{name, std::move(shape), count};
  Vector result;
  for (int k = 0; k < block.size(); ++k) {
    all.emplace_back(graph_, graph_->variable(block.entry_name(k)));
    result.push_back(all.back());
  }
  count += block.size();
  blocks.push_back(std::move(block));
  return result;
}

namespace {

// Position of each of `some` in the list of all coordinates. These were declared one after the other, so that their
// nodes ascend.
std::vector<std::size_t> positions_of(const Vector& some, const std::vector<Expression>& all, Graph& graph) {
  std::vector<std::size_t> result;
  for (const Expression& x : some) {
    const Node node = x.node_in(graph);
    const auto at = std::lower_bound(all.begin(), all.end(), node,
                                     [&](const Expression& e, Node n) { return e.node_in(graph) < n; });
    if (at == all.end() || at->node_in(graph) != node)
      throw InputError(fmt::format("'{}' is not a coordinate", x.text()));
    result.push_back(static_cast<std::size_t>(at - all.begin()));
  }
  return result;
}

}  // namespace

void declare_rates(const std::shared_ptr<Graph>& graph, const Block& block, std::vector<Expression>& v) {
  for (int k = 0; k < block.size(); ++k) v.emplace_back(graph, graph->variable(block.entry_name(k) + "'"));
}

Vector rates_of(const Vector& q, const std::vector<Expression>& all_q, const std::vector<Expression>& all_v, Graph& g) {
  Vector result;
  for (const std::size_t k : positions_of(q, all_q, g)) result.push_back(all_v[k]);
  return result;
}

std::vector<Block> renamed_rates(std::vector<Block> blocks) {
  for (Block& b : blocks) b.name += "'";
  return blocks;
}

// ------------------------------------------------------------------------------------------------- Lagrangian

Vector Lagrangian::coordinates(const std::string& name, int size) { return coordinates(name, std::vector<int>{size}); }
Vector Lagrangian::coordinates(const std::string& name, std::vector<int> shape) {
  Vector q = declare(q_blocks_, nq_, q_, name, std::move(shape));
  declare_rates(graph_, q_blocks_.back(), v_);
  return q;
}
Expression Lagrangian::coordinate(const std::string& name) { return coordinates(name, std::vector<int>{})[0]; }
Vector Lagrangian::direction(const std::string& name) {
  Vector d = coordinates(name, 3);
  q_blocks_.back().direction = true;
  return d;
}
Vector Lagrangian::velocity(const Vector& q) const { return rates_of(q, q_, v_, *graph_); }
Expression Lagrangian::velocity(const Expression& q) const { return velocity(Vector{q})[0]; }
void Lagrangian::kinetic(const Expression& energy) { kinetic_ = energy; }
void Lagrangian::add_kinetic(const Expression& energy) { added_kinetic_ += energy; }
void Lagrangian::potential(const Expression& energy) { potential_ = energy; }
void Lagrangian::lagrangian(const Expression& l) {
  kinetic_ = l;
  potential_ = 0.0;
}

void Lagrangian::force(const Vector& q, const Vector& force) {
  if (q.size() != force.size())
    throw InputError(fmt::format("a force of {} components acts on {} coordinates", force.size(), q.size()));
  force_.resize(q_.size(), Expression(0.0));
  const std::vector<std::size_t> position = positions_of(q, q_, *graph_);
  for (std::size_t k = 0; k < q.size(); ++k) force_[position[k]] += force[k];
}

Vector Lagrangian::multipliers(const std::string& name, int size) {
  return declare(psi_blocks_, npsi_, psi_, name, std::vector<int>{size});
}
void Lagrangian::reaction(const Vector& r) { reaction_ = std::vector<Expression>(r.begin(), r.end()); }

// p = L_v, f = L_q + Q, r = -G^T psi, energy = L_v v - L
std::shared_ptr<const System> Lagrangian::assemble() const {
  if (q_.empty()) throw InputError("a Lagrangian needs coordinates");
  Graph& graph = *graph_;
  auto [layout, eq] = draft(SystemKind::lagrangian, q_blocks_, q_, renamed_rates(q_blocks_), v_);
  eq.v = eq.z;
  const Node l = (kinetic_ + added_kinetic_ - potential_).node_in(graph);
  eq.p = gradient(graph, l, eq.z);
  eq.f = gradient(graph, l, eq.y);
  for (std::size_t k = 0; k < force_.size(); ++k) {
    const Node force = force_[k].node_in(graph);
    eq.applied.push_back(force);
    eq.applied_force = eq.applied_force || !graph.is_constant(force, 0);
    eq.f[k] = graph.add(eq.f[k], force);
  }
  if (reaction_.empty()) {
    if (!psi_.empty()) throw InputError("multipliers are declared but no reaction is given that uses them");
    add_ideal_reactions(graph, layout, eq);
  } else {
    if (!eq.w.empty())
      throw InputError(
          "velocity constraints come with the reaction -w_v^T psi; a 'reaction' of one's own, and its multipliers, "
          "cannot stand beside them: write what else acts as a force");
    if (psi_.size() != eq.g.size())
      throw InputError(
          fmt::format("{} multipliers for {} constraints; the numbers must agree", psi_.size(), eq.g.size()));
    eq.psi = nodes_of(psi_, graph);
    layout.psi = psi_blocks_;
    layout.npsi = npsi_;
    eq.r = nodes_of(reaction_, graph);
    if (psi_.empty()) reaction_is_a_force(graph, eq);
  }
  eq.energy = graph.subtract(dot_product(graph, eq.p, eq.z), l);
  return freeze(graph_, std::move(layout), std::move(eq));
}

// ------------------------------------------------------------------------------------------------ Hamiltonian

Vector Hamiltonian::coordinates(const std::string& name, int size) { return coordinates(name, std::vector<int>{size}); }
Vector Hamiltonian::coordinates(const std::string& name, std::vector<int> shape) {
  return declare(q_blocks_, nq_, q_, name, std::move(shape));
}
Vector Hamiltonian::momenta(const std::string& name, int size) { return momenta(name, std::vector<int>{size}); }
Vector Hamiltonian::momenta(const std::string& name, std::vector<int> shape) {
  return declare(p_blocks_, np_, p_, name, std::move(shape));
}
void Hamiltonian::hamiltonian(const Expression& h) { hamiltonian_ = h; }

// v = H_p, p = z, f = -H_q, r = -G^T psi
std::shared_ptr<const System> Hamiltonian::assemble() const {
  if (q_.empty()) throw InputError("a Hamiltonian needs coordinates");
  if (nq_ != np_) throw InputError(fmt::format("{} coordinates but {} momenta; they come in pairs", nq_, np_));
  Graph& graph = *graph_;
  auto [layout, eq] = draft(SystemKind::hamiltonian, q_blocks_, q_, p_blocks_, p_);
  eq.energy = hamiltonian_.node_in(graph);
  eq.v = gradient(graph, eq.energy, eq.z);
  eq.p = eq.z;
  eq.f = gradient(graph, eq.energy, eq.y);
  for (Node& n : eq.f) n = graph.negate(n);
  eq.psi = declare_multipliers(graph, eq.g.size(), layout);
  eq.r = ideal_reaction(graph, eq.g, eq.psi, eq.y);
  eq.ideal = true;
  return freeze(graph_, std::move(layout), std::move(eq));
}

// ------------------------------------------------------------------------------------------------- Mechanical

Vector Mechanical::coordinates(const std::string& name, int size) { return coordinates(name, std::vector<int>{size}); }
Vector Mechanical::coordinates(const std::string& name, std::vector<int> shape) {
  Vector q = declare(q_blocks_, nq_, q_, name, std::move(shape));
  declare_rates(graph_, q_blocks_.back(), v_);
  return q;
}
Vector Mechanical::velocity(const Vector& q) const { return rates_of(q, q_, v_, *graph_); }
void Mechanical::mass(const Vector& entries) { mass_ = std::vector<Expression>(entries.begin(), entries.end()); }
void Mechanical::force(const Vector& f) { force_ = std::vector<Expression>(f.begin(), f.end()); }

// p = M z and d/dt (M z) = M z' + M' z, so f = F + M' z with M' = M_t + M_y z
std::shared_ptr<const System> Mechanical::assemble() const {
  if (q_.empty()) throw InputError("a mechanical system needs coordinates");
  Graph& graph = *graph_;
  const auto n = static_cast<std::size_t>(nq_);
  if (mass_.size() != n && mass_.size() != n * n)
    throw InputError(fmt::format("the mass has {} entries; {} coordinates need {} (a matrix) or {} (its diagonal)",
                                 mass_.size(), n, n * n, n));
  if (force_.size() != n)
    throw InputError(fmt::format("the force has {} components; there are {} coordinates", force_.size(), n));
  auto [layout, eq] = draft(SystemKind::mechanical, q_blocks_, q_, renamed_rates(q_blocks_), v_);
  eq.v = eq.z;
  const std::vector<Node> mass = nodes_of(mass_, graph);
  const std::vector<Node> mass_rate = time_derivative(graph, mass, eq.t, eq.y, eq.z);
  const bool diagonal = mass.size() == n && n > 1;
  for (std::size_t i = 0; i < n; ++i) {
    Node p = graph.constant(0), f = force_[i].node_in(graph);
    for (std::size_t j = 0; j < n; ++j) {
      if (diagonal && i != j) continue;
      const std::size_t at = diagonal ? i : i * n + j;
      p = graph.add(p, graph.multiply(mass[at], eq.z[j]));
      f = graph.add(f, graph.multiply(mass_rate[at], eq.z[j]));
    }
    eq.p.push_back(p);
    eq.f.push_back(f);
    eq.acceleration_force.push_back(force_[i].node_in(graph));
  }
  const std::vector<char> moves = dependence(graph, eq.z);
  for (const Node m : mass)
    if (moves[static_cast<std::size_t>(m)])
      throw InputError("the mass matrix depends on a velocity; it may depend on t and q");
  add_ideal_reactions(graph, layout, eq);
  return freeze(graph_, std::move(layout), std::move(eq));
}

// ------------------------------------------------------------------------------------------------------- Odae

Vector Odae::y(const std::string& name, std::vector<int> shape) {
  return declare(y_blocks_, ny_, y_, name, std::move(shape));
}
Vector Odae::z(const std::string& name, std::vector<int> shape) {
  return declare(z_blocks_, nz_, z_, name, std::move(shape));
}
Vector Odae::psi(const std::string& name, std::vector<int> shape) {
  return declare(psi_blocks_, npsi_, psi_, name, std::move(shape));
}
void Odae::v(const Vector& expressions) { v_ = {expressions.begin(), expressions.end()}; }
void Odae::p(const Vector& expressions) { p_ = {expressions.begin(), expressions.end()}; }
void Odae::f(const Vector& expressions) { f_ = {expressions.begin(), expressions.end()}; }
void Odae::r(const Vector& expressions) { r_ = {expressions.begin(), expressions.end()}; }

std::shared_ptr<const System> Odae::assemble() const {
  if (y_.empty() || z_.empty()) throw InputError("an ODAE needs y and z");
  if (psi_.size() != constraints_.size())
    throw InputError(
        fmt::format("{} multipliers for {} constraints; the numbers must agree", psi_.size(), constraints_.size()));
  Graph& graph = *graph_;
  auto [layout, eq] = draft(SystemKind::odae, y_blocks_, y_, z_blocks_, z_);
  layout.psi = psi_blocks_;
  layout.npsi = npsi_;
  eq.psi = nodes_of(psi_, graph);
  eq.v = nodes_of(v_, graph);
  eq.p = p_.empty() ? eq.z : nodes_of(p_, graph);
  eq.f = nodes_of(f_, graph);
  eq.r = r_.empty() ? std::vector<Node>(z_.size(), graph.constant(0)) : nodes_of(r_, graph);
  if (psi_.empty() && eq.r.size() == eq.f.size()) reaction_is_a_force(graph, eq);
  return freeze(graph_, std::move(layout), std::move(eq));
}

}  // namespace hinge
