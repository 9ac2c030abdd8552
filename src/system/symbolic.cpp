#include "system/symbolic.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "expression/graph_library.hpp"
#include "expression/substitute.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "system/quantity.hpp"
#include "system/system_family.hpp"
#include "system/turning.hpp"
#include "system/velocity_constraints.hpp"

namespace hinge {

Node dot_product(Graph& graph, std::span<const Node> a, std::span<const Node> b) {
  Node sum = graph.constant(0);
  for (std::size_t k = 0; k < a.size(); ++k) sum = graph.add(sum, graph.multiply(a[k], b[k]));
  return sum;
}

std::vector<Node> time_derivative(Graph& graph, std::span<const Node> e, Node t, std::span<const Node> y,
                                  std::span<const Node> v) {
  const SparseExpressions e_y = jacobian(graph, e, y);
  const SparseExpressions e_t = jacobian(graph, e, std::span(&t, 1));
  std::vector<Node> result;
  for (std::size_t i = 0; i < e.size(); ++i) {
    Node sum = graph.constant(0);
    for (int k = e_y.row_start[i]; k < e_y.row_start[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      sum = graph.add(sum, graph.multiply(e_y.entries[at], v[static_cast<std::size_t>(e_y.column[at])]));
    }
    for (int k = e_t.row_start[i]; k < e_t.row_start[i + 1]; ++k)
      sum = graph.add(sum, e_t.entries[static_cast<std::size_t>(k)]);
    result.push_back(sum);
  }
  return result;
}

std::vector<Node> constraint_rate(Graph& graph, const Equations& eq) {
  std::vector<Node> rate = rates_along(graph, eq.g, eq);
  rate.insert(rate.end(), eq.w.begin(), eq.w.end());
  return rate;
}

std::vector<Node> acceleration_force(Graph& graph, const Equations& eq) {
  if (!eq.acceleration_force.empty()) return eq.acceleration_force;
  std::vector<Node> b = time_derivative(graph, eq.p, eq.t, eq.y, eq.v);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = graph.subtract(eq.f[k], b[k]);
  return b;
}

std::unique_ptr<Evaluator> Equations::tape(const Graph& in, std::span<const Node> outputs) const {
  const std::vector<Node> blocks[] = {{t}, y, z, psi};
  return make_tape(in, blocks, outputs);
}

namespace {

// Runs one tape for several quantities; their values stand one after the other in one buffer.
class TapeEvaluation final : public Evaluation {
 public:
  using Parts = std::vector<std::pair<Quantity, std::size_t>>;

  TapeEvaluation(std::shared_ptr<SharedTape> shared, Parts parts)
      : shared_(std::move(shared)), walked_(shared_->walked()), parts_(std::move(parts)) {
    if (!walked_) {
      take(shared_->tape());
    } else {
      scratch_ = walked_->make_scratch();
      place(walked_->first_output());
    }
  }

  /// One with a scratch array that has its constants.
  TapeEvaluation(std::shared_ptr<const Evaluator> evaluator, std::vector<double> scratch, const Parts& parts)
      : evaluator_(std::move(evaluator)), scratch_(std::move(scratch)) {
    place(evaluator_->first_output(), parts);
  }

  void at(double t, const double* y, const double* z, const double* psi) override {
    const double* const inputs[] = {&t, y, z, psi};
    if (walked_) {
      std::shared_ptr<const Evaluator> tape = shared_->tape();
      if (!tape) return walked_->evaluate(inputs, scratch_.data());
      take(std::move(tape));
    }
    evaluator_->evaluate(inputs, scratch_.data());
  }

 private:
  void take(std::shared_ptr<const Evaluator> evaluator) {
    evaluator_ = std::move(evaluator);
    walked_ = nullptr;
    scratch_ = evaluator_->make_scratch();
    place(evaluator_->first_output());
  }

  void place(std::size_t first_output) { place(first_output, parts_); }
  void place(std::size_t first_output, const Parts& parts) {
    const double* value = scratch_.data() + first_output;
    for (const auto& [quantity, size] : parts) {
      value_[static_cast<std::size_t>(quantity)] = value;
      value += size;
    }
  }

  std::shared_ptr<SharedTape> shared_;
  std::shared_ptr<const WalkedFunction> walked_;  // until there is an evaluator
  std::shared_ptr<const Evaluator> evaluator_;
  Parts parts_;
  std::vector<double> scratch_;
};

bool any_of(const std::vector<Node>& nodes, const std::vector<char>& marked) {
  return std::any_of(nodes.begin(), nodes.end(), [&](Node n) { return marked[static_cast<std::size_t>(n)] != 0; });
}

void expect_size(const char* what, std::size_t actual, int wanted) {
  if (actual != static_cast<std::size_t>(wanted))
    throw InputError(fmt::format("{} has {} components; {} are needed", what, actual, wanted));
}

StructureHash hash_of(const Equations& eq) {
  StructureHash hash;
  for (const auto* nodes : {&eq.y, &eq.z, &eq.psi, &eq.v, &eq.p, &eq.f, &eq.r, &eq.g, &eq.w, &eq.acceleration_force})
    hash.add(*nodes);
  for (const Node n : {eq.t, eq.energy, eq.graph->size()}) hash.add(static_cast<std::uint64_t>(n));
  return hash;
}

}  // namespace

SymbolicSystem::SymbolicSystem(Layout layout, Equations equations, SystemHooks hooks)
    : System(std::move(layout)),
      eq_(std::move(equations)),
      hash_(hash_of(eq_)),
      hooks_(std::move(hooks)),
      derived_(std::make_shared<SharedTape::Source>()) {
  derived_->graph = *eq_.graph;
  derived_->blocks = {{eq_.t}, eq_.y, eq_.z, eq_.psi};
  expect_size("v", eq_.v.size(), ny());
  expect_size("p", eq_.p.size(), nz());
  expect_size("f", eq_.f.size(), nz());
  expect_size("r", eq_.r.size(), nz());
  expect_size("g", eq_.g.size(), ng());
  expect_size("w", eq_.w.size(), nw());
  set_structure(find_structure());
}

Structure SymbolicSystem::find_structure() const {
  const SystemKind kind = layout().kind;
  const std::vector<char> by_t = dependence(*eq_.graph, std::span(&eq_.t, 1));
  Structure s;
  s.is_symbolic = true;
  s.is_dae = kind == SystemKind::dae;
  s.has_energy = eq_.energy != no_node;
  s.depends_on_time = any_of(eq_.residual, by_t) || any_of(eq_.v, by_t) || any_of(eq_.p, by_t) || any_of(eq_.f, by_t) ||
                      any_of(eq_.r, by_t) || any_of(eq_.g, by_t) || any_of(eq_.w, by_t);
  s.velocity_is_z = eq_.v == eq_.z;
  s.z_is_momentum = kind == SystemKind::hamiltonian;
  s.mass_is_constant = is_constant(Quantity::momentum_z);
  s.has_mass_metric = kind != SystemKind::odae;
  s.has_bodies = kind == SystemKind::multibody;
  s.has_applied_force = eq_.applied_force;
  // Bodies have r = -(g_y v_z)^T psi by construction; a Hamiltonian system has -g_y^T psi. Others are affine where
  // r_psi does not depend on psi, and linear where besides r vanishes with psi.
  s.reaction_is_linear = s.reaction_is_affine = eq_.ideal;
  s.reaction_is_ideal = eq_.ideal && (s.velocity_is_z || s.has_bodies);
  if (!eq_.ideal) {
    const std::vector<Node>& columns = entry(Quantity::reaction_psi).nodes;
    s.reaction_is_affine = !any_of(columns, dependence(derived_->graph, eq_.psi));
    Graph graph = *eq_.graph;
    const std::vector<Node> zero(eq_.psi.size(), graph.constant(0));
    const std::vector<Node> at_zero = substitute(graph, eq_.r, eq_.psi, zero, graph);
    s.reaction_is_linear = s.reaction_is_affine &&
                           std::all_of(at_zero.begin(), at_zero.end(), [&](Node n) { return graph.is_constant(n, 0); });
  }
  s.velocity_constraints = nw();
  s.velocity_constraints_do_work = !rates_are_homogeneous(eq_);
  s.gaps = static_cast<int>(eq_.gaps.size());
  s.gaps_depend_on_time = false;
  for (const Equations::Gap& gap : eq_.gaps) {
    s.gaps_have_reactions = s.gaps_have_reactions || !gap.reaction.empty();
    s.gaps_depend_on_time = s.gaps_depend_on_time || by_t[static_cast<std::size_t>(gap.gap)] || any_of(gap.slip, by_t);
  }
  s.has_contacts = s.gaps > 0 || hooks_.contacts;
  s.pairs = static_cast<int>(eq_.pairs.size());
  s.has_noise = !eq_.noise.empty();
  return s;
}

const SymbolicSystem* symbolic_part(const System& system) {
  if (const auto* whole = dynamic_cast<const SymbolicSystem*>(&system)) return whole;
  if (const auto* partly = dynamic_cast<const PartlySymbolic*>(&system)) return &partly->symbolic();
  return nullptr;
}

void SymbolicSystem::move(const double* y, const double* z, double h, double* out) const {
  if (hooks_.move)
    hooks_.move(y, z, h, out);
  else
    System::move(y, z, h, out);
}

std::vector<Node> SymbolicSystem::nodes_of(std::span<const Expression> expressions, Graph& graph) const {
  graph = eq_.source ? *eq_.source : *eq_.graph;
  std::vector<Node> nodes;
  for (const Expression& e : expressions) {
    if (e.graph() && e.graph() != eq_.source)
      throw InputError("an expression of one system was used in another; build it anew there");
    nodes.push_back(e.node_in(e.graph() ? *e.graph() : graph));
  }
  return nodes;
}

std::vector<Node> SymbolicSystem::nodes_of(Quantity q, Graph& graph) const {
  return std::move(nodes_of(std::span(&q, 1), graph)[0]);
}

std::vector<std::vector<Node>> SymbolicSystem::nodes_of(std::span<const Quantity> quantities, Graph& graph) const {
  const std::lock_guard lock(derived_->mutex);
  derive_alone();
  std::vector<std::vector<Node>> nodes;
  for (const Quantity q : quantities) nodes.push_back(entry(q).nodes);
  graph = derived_->graph;
  return nodes;
}

std::unique_ptr<Evaluation> SymbolicSystem::evaluation_of_family(std::uint32_t quantities) const {
  if (!kin_ || (quantities & ~kin_->known->known) != 0) return nullptr;
  const auto tape = kin_->family->tape(quantities, *kin_->known);
  if (!tape) return nullptr;
  std::vector<double> scratch = tape->scratch;
  for (const auto& [slot, number] : tape->constants)
    scratch[static_cast<std::size_t>(slot)] = kin_->numbers[static_cast<std::size_t>(number)];
  return std::make_unique<TapeEvaluation>(tape->evaluator, std::move(scratch), tape->parts);
}

SymbolicSystem::Draft& SymbolicSystem::draft(bool rated) const {
  std::optional<Draft>& known = derived_->drafts[rated ? 1 : 0];
  if (known) return *known;
  Graph graph = *eq_.graph;
  std::vector<Node> rate;
  if (rated) rate = constraint_rate(graph, eq_);
  const Graph::Mark mark = graph.mark();
  return known.emplace(Draft{std::move(graph), mark, {}, std::move(rate)});  // complete or not there
}

SymbolicSystem::Entry SymbolicSystem::derive(Quantity q) const {
  const GraphLibrary::Key key = GraphLibrary::Key(GraphLibrary::Making::quantity)
                                    .with(static_cast<std::uint64_t>(q))
                                    .with(hash_.one)
                                    .with(hash_.other);
  const std::vector<int> made = GraphLibrary::once(derived_->graph, key, [&] {
    const Entry e = derive_anew(q);
    std::vector<int> all{e.pattern.rows, e.pattern.columns};
    for (const auto* list : {&e.pattern.row_start, &e.pattern.column, &e.nodes})
      all.insert(all.end(), list->begin(), list->end());
    return all;
  });
  const auto start = made.begin() + 2, column = start + made[0] + 1, entry = column + (made.end() - column) / 2;
  return {{made[0], made[1], {start, column}, {column, entry}}, {entry, made.end()}};
}

// Derived in a copy of the frozen graph; what is new there is then made in derived_. A small graph is copied each time,
// and all is made, so that what the library keeps does not depend on what was asked before.
SymbolicSystem::Entry SymbolicSystem::derive_anew(Quantity q) const {
  if (q == Quantity::reaction_psi && eq_.ideal && eq_.w.empty() && eq_.v == eq_.z &&
      eq_.graph->size() > GraphLibrary::most_nodes) {
    // -H^T, entry by entry: to derive what is there takes long
    const Entry& rows = entry(Quantity::constraint_rate_z);
    std::vector<int> from;
    Entry made{transposed(rows.pattern, from), {}};
    made.nodes.reserve(from.size());
    for (const int k : from) made.nodes.push_back(derived_->graph.negate(rows.nodes[at(k)]));
    return made;
  }
  const auto [function, by] = parts_of(q);
  Draft& draft = this->draft(function == Quantity::constraint_rate || function == Quantity::constraint_curvature);
  const Node common = eq_.graph->size();
  std::optional<Graph> copy;
  if (common <= GraphLibrary::most_nodes) copy = draft.graph;
  Graph& graph = copy ? *copy : draft.graph;
  struct Forgetting {
    Draft& draft;
    Node kept;
    ~Forgetting() {
      draft.graph.return_to(draft.mark);
      if (std::uncaught_exceptions() > 0) kept = 0;  // memory may be short today and not tomorrow
      draft.image.resize(static_cast<std::size_t>(kept), no_node);
    }
  } forgetting{draft, copy ? 0 : draft.mark.size - common};
  std::vector<Node> nodes;
  switch (function) {
    case Quantity::velocity: nodes = eq_.v; break;
    case Quantity::momentum: nodes = eq_.p; break;
    case Quantity::force: nodes = eq_.f; break;
    case Quantity::reaction: nodes = eq_.r; break;
    case Quantity::constraint: nodes = eq_.g; break;
    case Quantity::constraint_rate: nodes = draft.rate; break;
    case Quantity::acceleration_force: nodes = acceleration_force(graph, eq_); break;
    case Quantity::constraint_curvature: nodes = rates_along(graph, draft.rate, eq_); break;
    default:
      if (eq_.energy == no_node) throw InputError("this system has no energy function");
      nodes = {eq_.energy};
  }
  Pattern pattern = Pattern::dense(static_cast<int>(nodes.size()), 1);
  if (by != Argument::none) {
    const std::span<const Node> variables = by == Argument::t   ? std::span<const Node>(&eq_.t, 1)
                                            : by == Argument::y ? eq_.y
                                            : by == Argument::z ? eq_.z
                                                                : eq_.psi;
    const bool for_newton = function == Quantity::force || function == Quantity::reaction;
    SparseExpressions d = (for_newton ? newton_matrix : jacobian)(graph, nodes, variables);
    pattern = {d.rows, d.columns, std::move(d.row_start), std::move(d.column)};
    nodes = std::move(d.entries);
  }
  if (copy) return {std::move(pattern), derived_->graph.adopt(graph, common, nodes)};
  return {std::move(pattern), derived_->graph.adopt_needed(graph, common, nodes, draft.image)};
}

const SymbolicSystem::Entry& SymbolicSystem::entry(Quantity q) const {
  if (const Entry* known = of_family(q)) return *known;
  auto& slot = entries_[static_cast<std::size_t>(q)];
  if (slot) return *slot;
  if (kin_) {
    kin_->family->learn(q);  // for those that come later
    derive_alone();
  }
  std::optional<ConstantTracing> tracing;
  if (derivations_) tracing.emplace();
  slot = derive(q);
  if (tracing) tracing->append_to(*derivations_);
  return *slot;
}

// Asked for in steps: a lock is taken the first time only.
const Pattern& SymbolicSystem::pattern(Quantity q) const {
  if (const Entry* entry = of_family(q)) return entry->pattern;
  std::atomic<const Pattern*>& known = patterns_[static_cast<std::size_t>(q)];
  if (const Pattern* pattern = known.load(std::memory_order_acquire)) return *pattern;
  const std::lock_guard lock(derived_->mutex);
  const Pattern& pattern = entry(q).pattern;
  known.store(&pattern, std::memory_order_release);
  return pattern;
}

bool SymbolicSystem::is_constant(Quantity q) const {
  if (of_family(q)) return kin_->known->constant >> static_cast<unsigned>(q) & 1U;
  const std::lock_guard lock(derived_->mutex);
  const auto& nodes = entry(q).nodes;
  return std::all_of(nodes.begin(), nodes.end(), [this](Node n) { return derived_->graph.is_constant(n); });
}

std::unique_ptr<Evaluation> SymbolicSystem::evaluation(Quantities wanted) const {
  static_assert(quantity_count <= 32);
  std::uint32_t key = 0;
  for (int k = 0; k < quantity_count; ++k)
    if (wanted.contains(static_cast<Quantity>(k))) key |= std::uint32_t{1} << k;
  if (auto known = evaluation_of_family(key)) return known;
  const std::lock_guard lock(derived_->mutex);
  derive_alone();
  std::vector<std::pair<Quantity, std::size_t>> parts;
  parts.reserve(quantity_count);
  for (int k = 0; k < quantity_count; ++k)
    if (const auto q = static_cast<Quantity>(k); wanted.contains(q)) parts.emplace_back(q, entry(q).nodes.size());
  // starts, checks and methods ask for the same few sets again and again
  std::shared_ptr<SharedTape>& tape = tapes_[key];
  if (!tape) {
    std::vector<Node> outputs;
    for (const auto& [q, size] : parts) outputs.insert(outputs.end(), entry(q).nodes.begin(), entry(q).nodes.end());
    tape = std::make_shared<SharedTape>(derived_, std::move(outputs));
  }
  return std::make_unique<TapeEvaluation>(tape, std::move(parts));
}

}  // namespace hinge
