#include "formulation/energy_step.hpp"

#include <cmath>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "expression/polynomial.hpp"
#include "expression/substitute.hpp"
#include "formulation/discrete_gradient.hpp"
#include "hinge/error.hpp"
#include "solve/linear/cholesky.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Treatment = ConstraintTreatment;

[[noreturn]] void refuse(const char* method, const std::string& why) {
  throw UnsuitableMethod(fmt::format("{} {}", method, why));
}

// Is r = -G^T psi? Known for reactions that the builder made; one of the user's own is compared at a few points.
void require_ideal_reaction(const SymbolicSystem& system, const char* method) {
  const Pattern& gy = system.pattern(Q::constraint_y);
  const auto n = static_cast<std::size_t>(system.ny()), m = static_cast<std::size_t>(system.npsi());
  const auto evaluation = system.evaluation({Q::reaction, Q::constraint_y});
  std::vector<double> y(n), z(n), psi(m), sum(n);
  double worst = std::nan(""), x = 0.37;
  const auto next = [&x] { return x = 3.9 * x * (1 - x); };  // the logistic map: irregular and the same every time
  for (int sample = 0; sample < 8 && m > 0; ++sample) {
    for (auto* part : {&y, &z, &psi})
      for (double& value : *part) value = 0.2 + next();
    evaluation->at(0, y.data(), z.data(), psi.data());
    std::fill(sum.begin(), sum.end(), 0.0);
    double scale = 0, defect = 0;
    for (std::size_t i = 0; i < m; ++i)
      for (int k = gy.row_start[i]; k < gy.row_start[i + 1]; ++k) {
        const double part = psi[i] * (*evaluation)[Q::constraint_y][k];
        sum[static_cast<std::size_t>(gy.column[static_cast<std::size_t>(k)])] += part;
        scale = std::max(scale, std::abs(part));
      }
    for (std::size_t i = 0; i < n; ++i) defect = std::max(defect, std::abs((*evaluation)[Q::reaction][i] + sum[i]));
    if (std::isfinite(defect) && scale > 0)
      worst = std::isnan(worst) ? defect / scale : std::max(worst, defect / scale);
  }
  if (m > 0 && !(worst < 1e-9))
    refuse(method, "needs the reaction -G^T psi of ideal constraints; this system has another. Use symplectic-euler");
}

std::vector<Node> variables(Graph& graph, const char* name, int count) {
  std::vector<Node> list;
  for (int k = 0; k < count; ++k) list.push_back(graph.variable(fmt::format("{}[{}]", name, k)));
  return list;
}

Node dot(Graph& graph, std::span<const Node> a, std::span<const Node> b) { return dot_product(graph, a, b); }

std::vector<Node> apply(Graph& graph, const Pattern& pattern, const std::vector<double>& values,
                        std::span<const Node> x) {
  std::vector<Node> y;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pattern.rows); ++i) {
    Node sum = graph.constant(0);
    for (int k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      sum = graph.add(sum, graph.multiply(graph.constant(values[static_cast<std::size_t>(k)]),
                                          x[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])]));
    y.push_back(sum);
  }
  return y;
}

// The step while it is put together, in a graph of its own.
struct Draft {
  Graph graph;
  Node h, mu, t0, work;
  std::vector<Node> q0, p0, g0, lam_k, u;
  std::vector<Node> unknown, residual, force, lam, change;
  int explicit_unknown = -1;

  Draft(int n, int m)
      : h(graph.variable("h")),
        mu(graph.variable("mu")),
        t0(graph.variable("t0")),
        work(graph.constant(0)),
        q0(variables(graph, "q0", n)),
        p0(variables(graph, "p0", n)),
        g0(variables(graph, "g0", m)),
        lam_k(variables(graph, "lam", m)),
        u(variables(graph, "u", n)) {}
  Node number(double x) { return graph.constant(x); }
  Node times(Node a, Node b) { return graph.multiply(a, b); }
  Node plus(Node a, Node b) { return graph.add(a, b); }
};

// Q in the middle of the step, where z is the velocity u/h or the momentum M u/h; its work on the rows that the energy
// depends on, which [states] are not.
void apply_forces(const ConstantMassForm& form, Draft& d) {
  if (!form.has_forces) return;
  const Equations& eq = form.system->equations();
  Graph& graph = d.graph;
  std::vector<Node> replaced{eq.t}, images{d.plus(d.t0, d.times(d.number(0.5), d.h))};
  const bool momenta = form.system->structure().z_is_momentum;
  const std::vector<Node> moved = momenta ? apply(graph, form.mass_pattern, form.mass, d.u) : d.u;
  for (std::size_t k = 0; k < d.u.size(); ++k) {
    replaced.insert(replaced.end(), {eq.y[k], eq.z[k]});
    images.insert(images.end(), {d.plus(d.q0[k], d.times(d.number(0.5), d.u[k])), graph.divide(moved[k], d.h)});
  }
  const std::vector<Node> q = substitute(*form.graph, eq.applied, replaced, images, graph);
  for (std::size_t k = 0; k < q.size(); ++k) d.force[k] = graph.subtract(d.force[k], q[k]);
  for (std::size_t k = 0; k < static_cast<std::size_t>(form.n - form.states); ++k)
    d.work = d.plus(d.work, d.times(q[k], d.u[k]));
}

// (38), (39), (40)
void energy_momentum_equations(const ConstantMassForm& form, Treatment treatment, Draft& d) {
  const Equations& eq = form.system->equations();
  StateIncrement step(d.graph, d.q0, d.u);
  Graph& graph = d.graph;
  std::vector<Node> functions = {form.potential};
  functions.insert(functions.end(), eq.g.begin(), eq.g.end());
  const SparseExpressions dd =
      discrete_gradients(*form.graph, invariant_forms(*form.graph, functions, eq.y, eq.invariants), eq.y, step);
  const auto each = [&dd](std::size_t row, auto&& take) {
    for (int k = dd.row_start[row]; k < dd.row_start[row + 1]; ++k)
      take(static_cast<std::size_t>(dd.column[static_cast<std::size_t>(k)]), dd.entries[static_cast<std::size_t>(k)]);
  };
  d.force.assign(d.u.size(), d.number(0));
  each(0, [&](std::size_t k, Node slope) { d.force[k] = slope; });
  apply_forces(form, d);
  d.unknown = d.u;
  std::vector<Node> given;  // multipliers as unknowns
  if (treatment == Treatment::multiplier) {
    given = variables(graph, "psi", form.m);
    d.unknown.insert(d.unknown.end(), given.begin(), given.end());
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(form.m); ++i) {
    Node change = d.number(0);
    each(1 + i, [&](std::size_t k, Node slope) { change = d.plus(change, d.times(slope, d.u[k])); });
    d.change.push_back(change);
    // mu (g0 + g1) = mu (2 g0 + change)
    const Node spring = d.times(d.mu, d.plus(d.times(d.number(2), d.g0[i]), change));
    d.lam.push_back(treatment == Treatment::multiplier ? given[i]
                    : treatment == Treatment::penalty  ? spring
                                                       : d.plus(d.lam_k[i], spring));
    each(1 + i, [&](std::size_t k, Node slope) { d.force[k] = d.plus(d.force[k], d.times(slope, d.lam[i])); });
  }
  const std::vector<Node> mass_u = apply(graph, form.mass_pattern, form.mass, d.u);
  const Node half = d.times(d.number(0.5), d.times(d.h, d.h));
  for (std::size_t k = 0; k < d.u.size(); ++k)
    d.residual.push_back(d.plus(graph.subtract(mass_u[k], d.times(d.h, d.p0[k])), d.times(half, d.force[k])));
  if (treatment == Treatment::multiplier)
    for (std::size_t i = 0; i < d.g0.size(); ++i) d.residual.push_back(d.plus(d.g0[i], d.change[i]));
}

// The same with the momentum as an unknown: 0 = u - h M^-1 (p0 + d/2), 0 = d + h (dd U + sum_i lam_i dd g_i)
void full_equations(const ConstantMassForm& form, Treatment treatment, Draft& d) {
  energy_momentum_equations(form, treatment, d);
  Graph& graph = d.graph;
  const std::vector<Node> dp = variables(graph, "d", form.n);
  d.unknown.insert(d.unknown.begin() + form.n, dp.begin(), dp.end());
  d.residual.erase(d.residual.begin(), d.residual.begin() + form.n);
  std::vector<Node> p_middle, motion, momentum;
  for (std::size_t k = 0; k < dp.size(); ++k) p_middle.push_back(d.plus(d.p0[k], d.times(d.number(0.5), dp[k])));
  const std::vector<Node> v_middle = apply(graph, form.inverse_pattern, form.inverse, p_middle);
  for (std::size_t k = 0; k < dp.size(); ++k) {
    motion.push_back(graph.subtract(d.u[k], d.times(d.h, v_middle[k])));
    momentum.push_back(d.plus(dp[k], d.times(d.h, d.force[k])));
  }
  d.residual.insert(d.residual.begin(), momentum.begin(), momentum.end());
  d.residual.insert(d.residual.begin(), motion.begin(), motion.end());
}

// f1 - f0 - Df(mid).u of each function, in all coordinates at once; exactly zero for what is at most quadratic.
std::vector<Node> brackets(const ConstantMassForm& form, std::span<const Node> functions, Draft& d) {
  const Equations& eq = form.system->equations();
  const std::vector<int> degree = polynomial_degree(*form.graph, eq.y);
  std::vector<Node> terms;
  std::vector<std::pair<std::size_t, double>> place;  // which function it belongs to, and its factor
  for (std::size_t i = 0; i < functions.size(); ++i)
    for (const Term& t : split_sum(*form.graph, functions[i], degree).others) {
      terms.push_back(t.node);
      place.emplace_back(i, t.factor);
    }
  const SparseExpressions slopes = jacobian(*form.graph, terms, eq.y);  // for the coordinates that each contains
  std::vector<Node> result(functions.size(), d.number(0));
  for (std::size_t t = 0; t < terms.size(); ++t) {
    std::vector<Node> q, q0, u;
    for (int k = slopes.row_start[t]; k < slopes.row_start[t + 1]; ++k) {
      const auto at = static_cast<std::size_t>(slopes.column[static_cast<std::size_t>(k)]);
      q.push_back(eq.y[at]), q0.push_back(d.q0[at]), u.push_back(d.u[at]);
    }
    const Node bracket = remainder(*form.graph, terms[t], q, q0, u, d.graph).value;
    Node& sum = result[place[t].first];
    sum = d.plus(sum, d.times(d.number(place[t].second), bracket));
  }
  return result;
}

// (23), (24), (29)-(31). With b_i = g1 - g0 - G(mid).u and c = g1 - g0 = G(mid).u + b, the brackets of P are
//   lam.b    (23),      2 mu (c.((g0 + g1)/2 - g(mid)) + g(mid).b)    (24),      lam.b - mu |c|^2    (31).
void general_equations(const ConstantMassForm& form, Treatment treatment, Draft& d) {
  const Equations& eq = form.system->equations();
  Graph& graph = d.graph;
  const auto n = static_cast<std::size_t>(form.n), m = static_cast<std::size_t>(form.m);
  const std::vector<Node> dp = variables(graph, "d", form.n);
  const Node s = graph.variable("s");
  std::vector<Node> middle;
  for (std::size_t k = 0; k < n; ++k) middle.push_back(d.plus(d.q0[k], d.times(d.number(0.5), d.u[k])));
  const auto at_middle = [&](std::span<const Node> f) { return substitute(*form.graph, f, eq.y, middle, graph); };
  std::vector<Node> force = at_middle(gradient(*form.graph, form.potential, eq.y));
  const std::vector<Node> g_middle = at_middle(eq.g), b = brackets(form, eq.g, d);
  const SparseExpressions jac = jacobian(*form.graph, eq.g, eq.y);
  const std::vector<Node> jac_middle = at_middle(jac.entries);
  d.unknown = d.u;
  d.unknown.insert(d.unknown.end(), dp.begin(), dp.end());
  d.explicit_unknown = static_cast<int>(d.unknown.size());
  d.unknown.push_back(s);
  if (treatment == Treatment::multiplier) {
    d.lam = variables(graph, "psi", form.m);
    d.unknown.insert(d.unknown.end(), d.lam.begin(), d.lam.end());
  }
  Node bracket = brackets(form, std::vector{form.potential}, d)[0];
  const Node two_mu = d.times(d.number(2), d.mu);
  for (std::size_t i = 0; i < m; ++i) {
    Node c = b[i];
    for (int k = jac.row_start[i]; k < jac.row_start[i + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      c = d.plus(c, d.times(jac_middle[at], d.u[static_cast<std::size_t>(jac.column[at])]));
    }
    d.change.push_back(c);
    const Node g1 = d.plus(d.g0[i], c);
    if (treatment == Treatment::penalty) {
      d.lam.push_back(d.times(two_mu, g_middle[i]));
      const Node sag = graph.subtract(d.times(d.number(0.5), d.plus(d.g0[i], g1)), g_middle[i]);
      bracket = d.plus(bracket, d.times(two_mu, d.plus(d.times(c, sag), d.times(g_middle[i], b[i]))));
    } else {
      if (treatment == Treatment::augmented) {
        d.lam.push_back(d.plus(d.lam_k[i], d.times(two_mu, g1)));
        bracket = graph.subtract(bracket, d.times(d.mu, d.times(c, c)));
      }
      bracket = d.plus(bracket, d.times(d.lam[i], b[i]));
    }
    for (int k = jac.row_start[i]; k < jac.row_start[i + 1]; ++k) {
      Node& f = force[static_cast<std::size_t>(jac.column[static_cast<std::size_t>(k)])];
      f = d.plus(f, d.times(jac_middle[static_cast<std::size_t>(k)], d.lam[i]));
    }
  }
  std::vector<Node> p_middle;
  for (std::size_t k = 0; k < n; ++k) p_middle.push_back(d.plus(d.p0[k], d.times(d.number(0.5), dp[k])));
  const std::vector<Node> v_middle = apply(graph, form.inverse_pattern, form.inverse, p_middle);
  // the velocity times h, so that rows are of the size of u and d
  for (std::size_t k = 0; k < n; ++k)
    d.residual.push_back(graph.subtract(d.u[k], d.times(d.h, d.plus(v_middle[k], d.times(s, dp[k])))));
  for (std::size_t k = 0; k < n; ++k) d.force.push_back(d.plus(force[k], d.times(s, d.u[k])));
  apply_forces(form, d);
  for (std::size_t k = 0; k < n; ++k) d.residual.push_back(d.plus(dp[k], d.times(d.h, d.force[k])));
  // 0 = s - bracket/|dz|^2
  const Node size = d.plus(dot(graph, d.u, d.u), dot(graph, dp, dp));
  const Node tiny = graph.make(Op::less, size, d.number(1e-280));
  const Node share =
      graph.make(Op::select, tiny, d.number(0), graph.divide(bracket, graph.make(Op::select, tiny, d.number(1), size)));
  d.residual.push_back(graph.subtract(s, share));
  if (treatment == Treatment::multiplier)
    for (std::size_t i = 0; i < m; ++i) d.residual.push_back(d.plus(d.g0[i], d.change[i]));
}

// Which coordinate has an empty row in the mass matrix?
std::string without_inertia(const System& system, const Pattern& mass, const std::vector<double>& values) {
  for (int i = 0; i < mass.rows; ++i) {
    bool empty = true;
    for (int k = mass.row_start[static_cast<std::size_t>(i)]; k < mass.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      empty = empty && values[static_cast<std::size_t>(k)] == 0;
    if (empty) return fmt::format("{} has no inertia", system.layout().y_name(i));
  }
  return "some combination of the coordinates has no inertia";
}

}  // namespace

bool energy_depends_on_time(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  const std::vector<char> by_t = dependence(*eq.graph, std::span(&eq.t, 1));
  const auto contains = [&](Node node) { return by_t[static_cast<std::size_t>(node)] != 0; };
  for (const std::vector<Node>* list : {&eq.g, &eq.v, &eq.p})
    if (std::any_of(list->begin(), list->end(), contains)) return true;
  return eq.energy != no_node && contains(eq.energy);
}

ConstantMassForm constant_mass_form(const System& given, const char* method) {
  const auto* system = dynamic_cast<const SymbolicSystem*>(&given);
  if (!system) refuse(method, "needs equations given as expressions; this system is made of compiled functions");
  if (!system->structure().has_energy)
    refuse(method, "needs an energy: give the system as [lagrangian] or [hamiltonian], or use gauss-lobatto");
  if (energy_depends_on_time(*system)) refuse(method, fmt::format("{}; use gauss-lobatto", without_time));
  const bool hamiltonian = system->structure().z_is_momentum;
  const Q mass_kind = hamiltonian ? Q::velocity_z : Q::momentum_z;
  if (!system->is_constant(mass_kind))
    refuse(method,
           "needs a kinetic energy with a constant mass matrix, independent of the position; use gauss-lobatto");
  const char* magnetic =
      "needs an energy without terms linear in the velocities or momenta, such as magnetic ones: momenta have to "
      "vanish "
      "with the velocities; use gauss-lobatto";
  if (!system->pattern(Q::velocity_y).empty() || !system->pattern(Q::momentum_y).empty()) refuse(method, magnetic);
  const Equations& eq = system->equations();
  ConstantMassForm form{system, std::make_shared<Graph>(*eq.graph), system->ny(), system->npsi(), no_node, {}, {}, {},
                        {}};
  Graph& graph = *form.graph;
  const std::vector<Node> zero(eq.z.size(), graph.constant(0));
  form.potential = substitute(graph, std::vector{eq.energy}, eq.z, zero, graph)[0];
  const auto offset = substitute(graph, hamiltonian ? eq.v : eq.p, eq.z, zero, graph);
  for (const Node n : offset)
    if (!graph.is_constant(n, 0)) refuse(method, magnetic);

  const Pattern& pattern = system->pattern(mass_kind);
  const auto evaluation = system->evaluation({mass_kind});
  const std::vector<double> nothing(static_cast<std::size_t>(std::max({form.n, form.m, 1})), 0.0);
  evaluation->at(0, nothing.data(), nothing.data(), nothing.data());
  std::vector<double> values((*evaluation)[mass_kind], (*evaluation)[mass_kind] + pattern.entries());
  BlockInverse inverter(pattern);
  std::vector<double> inverse(inverter.pattern().entries());
  if (!inverter.compute(values.data(), inverse.data()))
    refuse(method, fmt::format("needs a regular mass matrix; {}. Give it a mass, or use gauss-lobatto",
                               without_inertia(*system, pattern, values)));
  if (!positive_definite(sparse_matrix(pattern, values.data())))
    refuse(method,
           "needs a positive definite mass matrix; here the kinetic energy is negative for some velocities. Look for a "
           "wrong sign in it, or use gauss-lobatto");
  form.mass_pattern = hamiltonian ? inverter.pattern() : pattern;
  form.mass = hamiltonian ? inverse : values;
  form.inverse_pattern = hamiltonian ? pattern : inverter.pattern();
  form.inverse = hamiltonian ? values : inverse;
  form.has_forces = eq.applied_force;
  const SparseExpressions moves = jacobian(graph, std::span(&eq.energy, 1), eq.z);
  form.states = form.n;
  for (const int column : moves.column) form.states = std::min(form.states, form.n - 1 - column);
  if (form.has_forces && eq.applied.empty())
    refuse(method, "needs forces that are known beside those of the energy; use gauss-lobatto");
  require_ideal_reaction(*system, method);
  return form;
}

namespace {

EnergyStep compile(Draft& d) {
  EnergyStep step;
  step.unknowns = static_cast<int>(d.unknown.size());
  step.explicit_unknown = d.explicit_unknown;
  SparseExpressions matrix = newton_matrix(d.graph, d.residual, d.unknown);
  step.pattern = {matrix.rows, matrix.columns, matrix.row_start, matrix.column};
  const std::vector<Node> blocks[EnergyStep::inputs] = {{d.h}, {d.mu}, {d.t0}, d.q0, d.p0, d.g0, d.lam_k, d.unknown};
  std::vector<Node> values = d.residual;
  for (const auto* part : {&d.force, &d.lam, &d.change}) values.insert(values.end(), part->begin(), part->end());
  values.push_back(d.work);
  step.values = make_tape(d.graph, blocks, values);
  std::vector<Node> both = d.residual;
  both.insert(both.end(), matrix.entries.begin(), matrix.entries.end());
  step.residual_and_matrix = make_tape(d.graph, blocks, both);
  step.rounding = RoundingBounds(std::make_shared<Graph>(std::move(d.graph)), {std::begin(blocks), std::end(blocks)},
                                 std::move(d.residual));
  return step;
}

}  // namespace

EnergyStep energy_step(const ConstantMassForm& form, Treatment treatment, bool general) {
  Draft d(form.n, form.m);
  (general ? general_equations : energy_momentum_equations)(form, treatment, d);
  return compile(d);
}

EnergyStep full_energy_step(const ConstantMassForm& form, Treatment treatment, bool general) {
  Draft d(form.n, form.m);
  (general ? general_equations : full_equations)(form, treatment, d);
  return compile(d);
}

}  // namespace hinge
