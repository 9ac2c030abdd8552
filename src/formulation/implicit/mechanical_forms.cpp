#include "formulation/implicit/mechanical_forms.hpp"

#include "expression/derivative.hpp"
#include "formulation/implicit/auxiliary.hpp"
#include "formulation/implicit/function_rows.hpp"
#include "formulation/implicit/symbolic_problem.hpp"
#include "system/turning.hpp"

namespace hinge {

namespace {

// The algebra of nodes.
class NodeForm {
 public:
  using Values = std::vector<Node>;

  explicit NodeForm(const Equations& eq)
      : rows(std::make_shared<Graph>(*eq.graph), eq.t),
        eq_(eq),
        graph_(*rows.graph),
        rate_(constraint_rate(graph_, eq)),
        dy_(variables("y'", eq.y.size())),
        dz_(variables("z'", eq.z.size())),
        b_(acceleration_force(graph_, eq)),
        curvature_(rates_along(graph_, rate_, eq)),
        p_z_(jacobian(graph_, eq.p, eq.z)),
        c_(jacobian(graph_, rate_, eq.z)) {}

  SymbolicRows rows;

  std::size_t constraints() const { return eq_.g.size(); }
  std::size_t velocity_constraints() const { return eq_.w.size(); }
  std::size_t velocities() const { return eq_.z.size(); }
  void y(ImplicitProblem::Unknown kind) { rows.add_unknowns(eq_.y, dy_, kind); }
  void z(ImplicitProblem::Unknown kind) { rows.add_unknowns(eq_.z, dz_, kind); }
  void psi(ImplicitProblem::Unknown kind) { rows.add_unknowns(eq_.psi, {}, kind); }
  Values further(const char* name, std::size_t count, ImplicitProblem::Unknown kind) {
    Values list = variables(name, count);
    rows.add_unknowns(list, {}, kind);
    return list;
  }
  void row(const Values& nodes, int scale) { rows.add_rows(nodes, scale); }

  const Values& y_rate() const { return dy_; }
  const Values& z_rate() const { return dz_; }
  const Values& velocity() const { return eq_.v; }
  const Values& force() const { return b_; }
  const Values& reaction() const { return eq_.r; }
  const Values& rate() const { return rate_; }
  const Values& curvature() const { return curvature_; }
  const Values& constraint() const { return eq_.g; }
  const Values& velocity_constraint() const { return eq_.w; }
  Values mass_times(const Values& a) { return times(p_z_, a); }
  Values c_times(const Values& a) { return times(c_, a); }
  Values reaction_psi_times(const Values& w) { return times(jacobian(graph_, eq_.r, eq_.psi), w); }
  Values g_transposed_times(const Values& w) { return transposed_times(eq_.g, eq_.y, w); }
  Values l_transposed_times(const Values& w) { return transposed_times(rate_, eq_.y, w); }
  Values c_transposed_times(const Values& w) { return transposed_times(rate_, eq_.z, w); }

  Values sum(const Values& x, const Values& y) { return each(x, y, Op::add); }
  Values difference(const Values& x, const Values& y) { return each(x, y, Op::subtract); }
  Values scaled(double factor, const Values& x) {
    return each(Values(x.size(), graph_.constant(factor)), x, Op::multiply);
  }
  Values with_zeros(Values x, std::size_t size) {
    x.resize(size, graph_.constant(0));
    return x;
  }

 private:
  Values variables(const char* name, std::size_t count) {
    Values list;
    AuxiliaryVariables variable(graph_);
    for (std::size_t k = 0; k < count; ++k) list.push_back(variable(fmt::format("{}[{}]", name, k)));
    return list;
  }
  Values each(const Values& x, const Values& y, Op op) {
    Values z;
    for (std::size_t k = 0; k < x.size(); ++k) z.push_back(graph_.make(op, x[k], y[k]));
    return z;
  }
  Values times(const SparseExpressions& matrix, const Values& x) {
    Values product;
    for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.rows); ++i) {
      Node sum = graph_.constant(0);
      for (auto k = static_cast<std::size_t>(matrix.row_start[i]);
           k < static_cast<std::size_t>(matrix.row_start[i + 1]); ++k)
        sum = graph_.add(sum, graph_.multiply(matrix.entries[k], x[static_cast<std::size_t>(matrix.column[k])]));
      product.push_back(sum);
    }
    return product;
  }
  // J^T w, where J is the Jacobian of functions by variables
  Values transposed_times(const Values& functions, const Values& by, const Values& w) {
    return gradient(graph_, dot_product(graph_, w, functions), by);
  }

  const Equations& eq_;
  Graph& graph_;
  Values rate_, dy_, dz_, b_, curvature_;
  SparseExpressions p_z_, c_;
};

}  // namespace

std::unique_ptr<ImplicitRows> mechanical_rows(const std::shared_ptr<const System>& system,
                                              const FormulationOptions& options, Correction correction) {
  const auto* symbolic = system->structure().is_symbolic ? symbolic_part(*system) : nullptr;
  if (!symbolic) return std::make_unique<FunctionRows>(system, options, correction);
  NodeForm form(symbolic->equations());
  write_form(form, options, correction);
  return std::make_unique<CompiledRows>(form.rows);
}

}  // namespace hinge
