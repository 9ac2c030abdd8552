#include "system/symbolic.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "expression/substitute.hpp"
#include "hinge/error.hpp"

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

namespace {

// Runs one tape for several quantities; their values stand one after the other in one buffer.
class TapeEvaluation final : public Evaluation {
 public:
  TapeEvaluation(std::unique_ptr<Evaluator> evaluator, std::span<const std::pair<Quantity, std::size_t>> parts)
      : evaluator_(std::move(evaluator)), scratch_(evaluator_->make_scratch()) {
    const double* value = scratch_.data() + evaluator_->first_output();
    for (const auto& [quantity, size] : parts) {
      value_[static_cast<std::size_t>(quantity)] = value;
      value += size;
    }
  }

  void at(double t, const double* y, const double* z, const double* psi) override {
    const double* const inputs[] = {&t, y, z, psi};
    evaluator_->evaluate(inputs, scratch_.data());
  }

 private:
  std::unique_ptr<Evaluator> evaluator_;
  std::vector<double> scratch_;
};

void expect_size(const char* what, std::size_t actual, int wanted) {
  if (actual != static_cast<std::size_t>(wanted))
    throw InputError(fmt::format("{} has {} components; {} are needed", what, actual, wanted));
}

}  // namespace

SymbolicSystem::SymbolicSystem(Layout layout, Equations equations, SystemHooks hooks)
    : System(std::move(layout)), eq_(std::move(equations)), hooks_(std::move(hooks)) {
  expect_size("v", eq_.v.size(), ny());
  expect_size("p", eq_.p.size(), nz());
  expect_size("f", eq_.f.size(), nz());
  expect_size("r", eq_.r.size(), nz());
  expect_size("g", eq_.g.size(), ng());
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

const std::vector<Node>& SymbolicSystem::rate() const {
  if (!rate_) rate_ = time_derivative(*eq_.graph, eq_.g, eq_.t, eq_.y, eq_.v);
  return *rate_;
}

SymbolicSystem::Entry SymbolicSystem::derive(Quantity q) const {
  const auto vector = [](std::vector<Node> nodes) {
    return Entry{Pattern::dense(static_cast<int>(nodes.size()), 1), std::move(nodes)};
  };
  const auto matrix = [this](const std::vector<Node>& functions, std::span<const Node> variables) {
    SparseExpressions d = jacobian(*eq_.graph, functions, variables);
    return Entry{{d.rows, d.columns, std::move(d.row_start), std::move(d.column)}, std::move(d.entries)};
  };
  switch (q) {
    case Quantity::velocity: return vector(eq_.v);
    case Quantity::momentum: return vector(eq_.p);
    case Quantity::force: return vector(eq_.f);
    case Quantity::reaction: return vector(eq_.r);
    case Quantity::constraint: return vector(eq_.g);
    case Quantity::constraint_rate: return vector(rate());
    case Quantity::energy:
      if (!has_energy()) throw InputError("this system has no energy function");
      return vector({eq_.energy});
    case Quantity::velocity_y: return matrix(eq_.v, eq_.y);
    case Quantity::velocity_z: return matrix(eq_.v, eq_.z);
    case Quantity::momentum_y: return matrix(eq_.p, eq_.y);
    case Quantity::momentum_z: return matrix(eq_.p, eq_.z);
    case Quantity::momentum_t: return matrix(eq_.p, std::span(&eq_.t, 1));
    case Quantity::force_y: return matrix(eq_.f, eq_.y);
    case Quantity::force_z: return matrix(eq_.f, eq_.z);
    case Quantity::reaction_y: return matrix(eq_.r, eq_.y);
    case Quantity::reaction_z: return matrix(eq_.r, eq_.z);
    case Quantity::reaction_psi: return matrix(eq_.r, eq_.psi);
    case Quantity::constraint_y: return matrix(eq_.g, eq_.y);
    case Quantity::constraint_rate_y: return matrix(rate(), eq_.y);
    case Quantity::constraint_rate_z: return matrix(rate(), eq_.z);
    case Quantity::constraint_rate_t: return matrix(rate(), std::span(&eq_.t, 1));
    case Quantity::acceleration_force: {
      if (!eq_.acceleration_force.empty()) return vector(eq_.acceleration_force);
      std::vector<Node> b = time_derivative(*eq_.graph, eq_.p, eq_.t, eq_.y, eq_.v);
      for (std::size_t k = 0; k < b.size(); ++k) b[k] = eq_.graph->subtract(eq_.f[k], b[k]);
      return vector(std::move(b));
    }
    case Quantity::constraint_curvature: return vector(time_derivative(*eq_.graph, rate(), eq_.t, eq_.y, eq_.v));
  }
  throw InputError("unknown quantity");
}

const SymbolicSystem::Entry& SymbolicSystem::entry(Quantity q) const {
  auto& slot = entries_[static_cast<std::size_t>(q)];
  if (!slot) slot = derive(q);
  return *slot;
}

const Pattern& SymbolicSystem::pattern(Quantity q) const { return entry(q).pattern; }

bool SymbolicSystem::is_constant(Quantity q) const {
  const auto& nodes = entry(q).nodes;
  return std::all_of(nodes.begin(), nodes.end(), [this](Node n) { return eq_.graph->is_constant(n); });
}

bool SymbolicSystem::depends_on_time() const {
  const std::vector<char> depends = dependence(*eq_.graph, std::span(&eq_.t, 1));
  const auto any = [&](const std::vector<Node>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [&](Node n) { return depends[static_cast<std::size_t>(n)] != 0; });
  };
  return any(eq_.residual) || any(eq_.v) || any(eq_.p) || any(eq_.f) || any(eq_.r) || any(eq_.g);
}

// Bodies have r = -(g_y v_z)^T psi by construction; a Hamiltonian system has -g_y^T psi.
bool SymbolicSystem::reaction_is_ideal() const {
  return eq_.ideal && (velocity_is_z() || layout().kind == SystemKind::multibody);
}

bool SymbolicSystem::reaction_is_affine() const {
  const std::vector<Node>& columns = entry(Quantity::reaction_psi).nodes;
  const std::vector<char> depends = dependence(*eq_.graph, eq_.psi);
  return std::none_of(columns.begin(), columns.end(),
                      [&](Node n) { return depends[static_cast<std::size_t>(n)] != 0; });
}

// r = r_psi psi, that is: r_psi does not depend on psi, and r - r_psi psi is identically zero. The second is checked
// by what r becomes when psi is 0.
bool SymbolicSystem::reaction_is_linear() const {
  if (!reaction_is_affine()) return false;
  Graph& graph = *eq_.graph;
  const std::vector<Node> zero(eq_.psi.size(), graph.constant(0));
  const std::vector<Node> at_zero = substitute(graph, eq_.r, eq_.psi, zero, graph);
  return std::all_of(at_zero.begin(), at_zero.end(), [&](Node n) { return graph.is_constant(n, 0); });
}

std::unique_ptr<Evaluator> SymbolicSystem::tape(std::span<const Node> outputs) const {
  const std::vector<Node> blocks[] = {{eq_.t}, eq_.y, eq_.z, eq_.psi};
  return make_tape(*eq_.graph, blocks, outputs);
}

std::unique_ptr<Evaluation> SymbolicSystem::evaluation(Quantities wanted) const {
  std::vector<Node> outputs;
  std::vector<std::pair<Quantity, std::size_t>> parts;
  for (int k = 0; k < quantity_count; ++k) {
    const auto q = static_cast<Quantity>(k);
    if (!wanted.contains(q)) continue;
    const auto& nodes = entry(q).nodes;
    outputs.insert(outputs.end(), nodes.begin(), nodes.end());
    parts.emplace_back(q, nodes.size());
  }
  return std::make_unique<TapeEvaluation>(tape(outputs), parts);
}

}  // namespace hinge
