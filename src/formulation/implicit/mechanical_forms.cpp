#include "formulation/implicit/mechanical_forms.hpp"

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "formulation/implicit/auxiliary.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

using Nodes = std::vector<Node>;

// The functions of a system, and products with its matrices.
struct Parts {
  const Equations& eq;
  Graph& graph;
  Nodes dy, dz, b, rate, curvature;
  SparseExpressions p_z, c;

  explicit Parts(const SymbolicSystem& system) : eq(system.equations()), graph(*eq.graph), rate(system.rate()) {
    dy = variables("y'", eq.y.size());
    dz = variables("z'", eq.z.size());
    b = eq.acceleration_force;
    if (b.empty()) {
      b = time_derivative(graph, eq.p, eq.t, eq.y, eq.v);
      for (std::size_t k = 0; k < b.size(); ++k) b[k] = graph.subtract(eq.f[k], b[k]);
    }
    curvature = time_derivative(graph, rate, eq.t, eq.y, eq.v);
    p_z = jacobian(graph, eq.p, eq.z);
    c = jacobian(graph, rate, eq.z);
  }

  Nodes variables(const char* name, std::size_t count) {
    Nodes list;
    AuxiliaryVariables variable(graph);
    for (std::size_t k = 0; k < count; ++k) list.push_back(variable(fmt::format("{}[{}]", name, k)));
    return list;
  }
  Nodes times(const SparseExpressions& matrix, const Nodes& x) {
    Nodes product;
    for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.rows); ++i) {
      Node sum = graph.constant(0);
      for (auto k = static_cast<std::size_t>(matrix.row_start[i]);
           k < static_cast<std::size_t>(matrix.row_start[i + 1]); ++k)
        sum = graph.add(sum, graph.multiply(matrix.entries[k], x[static_cast<std::size_t>(matrix.column[k])]));
      product.push_back(sum);
    }
    return product;
  }
  // J^T w, where J is the Jacobian of functions by variables
  Nodes transposed_times(const Nodes& functions, const Nodes& by, const Nodes& w) {
    return gradient(graph, dot_product(graph, w, functions), by);
  }
  Nodes sum(const Nodes& x, const Nodes& y) {
    Nodes z;
    for (std::size_t k = 0; k < x.size(); ++k) z.push_back(graph.add(x[k], y[k]));
    return z;
  }
  Nodes difference(const Nodes& x, const Nodes& y) {
    Nodes z;
    for (std::size_t k = 0; k < x.size(); ++k) z.push_back(graph.subtract(x[k], y[k]));
    return z;
  }
  Nodes scaled(double factor, const Nodes& x) {
    Nodes z;
    for (const Node n : x) z.push_back(graph.multiply(graph.constant(factor), n));
    return z;
  }

  Nodes position() { return difference(dy, eq.v); }                                        // (P)
  Nodes motion(const Nodes& a) { return difference(difference(times(p_z, a), b), eq.r); }  // (D) with z' = a
  Nodes acceleration(const Nodes& a) { return sum(times(c, a), curvature); }               // (A) with z' = a
};

}  // namespace

SymbolicRows mechanical_rows(const SymbolicSystem& system, const FormulationOptions& options) {
  Parts p(system);
  const Equations& eq = p.eq;
  SymbolicRows out{eq.graph, eq.t, {}, {}, {}, {}, {}};
  const std::size_t m = eq.g.size();
  const auto stabilised = [&](const Nodes& mu) { return p.sum(p.position(), p.transposed_times(eq.g, eq.y, mu)); };
  switch (options.formulation) {
    case Formulation::index_3:
      out.add_unknowns(eq.y, p.dy, {1, true, 0});
      out.add_unknowns(eq.z, p.dz, {m > 0 ? 2 : 1, m == 0, m > 0 ? 1 : 0});
      out.add_unknowns(eq.psi, {}, {3, false, 2});
      out.add_rows(p.position(), 1);
      out.add_rows(p.motion(p.dz), m > 0 ? 2 : 1);
      out.add_rows(eq.g, 0);
      return out;
    case Formulation::index_2:
    case Formulation::index_1:
    case Formulation::baumgarte: {
      const bool two = options.formulation == Formulation::index_2;
      out.add_unknowns(eq.y, p.dy, {1, true, 0});
      out.add_unknowns(eq.z, p.dz, {1, true, 0});
      out.add_unknowns(eq.psi, {}, {two ? 2 : 1, false, 1});
      out.add_rows(p.position(), 1);
      out.add_rows(p.motion(p.dz), 1);
      Nodes last = two ? p.rate : p.acceleration(p.dz);
      if (options.formulation == Formulation::baumgarte)
        last = p.sum(last, p.sum(p.scaled(2 * options.alpha, p.rate), p.scaled(options.beta * options.beta, eq.g)));
      out.add_rows(last, two ? 0 : 1);
      return out;
    }
    case Formulation::ggl: {
      const Nodes mu = p.variables("mu", m);
      out.add_unknowns(eq.y, p.dy, {1, true, 0});
      out.add_unknowns(eq.z, p.dz, {1, true, 0});
      out.add_unknowns(eq.psi, {}, {2, false, 1});
      out.add_unknowns(mu, {}, {2, false, 1, true});
      out.add_rows(stabilised(mu), 1);
      out.add_rows(p.motion(p.dz), 1);
      out.add_rows(p.rate, 0);
      out.add_rows(eq.g, 0);
      return out;
    }
    case Formulation::extended: {
      const Nodes a = p.variables("a", eq.z.size()), mu = p.variables("mu", m), tau = p.variables("tau", m);
      out.add_unknowns(eq.y, p.dy, {1, true, 0});
      out.add_unknowns(eq.z, p.dz, {1, true, 0});
      out.add_unknowns(eq.psi, {}, {1, false, 1});
      out.add_unknowns(a, {}, {1, false, 1});
      out.add_unknowns(mu, {}, {2, false, 1, true});
      out.add_unknowns(tau, {}, {2, false, 1, true});
      out.add_rows(p.sum(stabilised(mu), p.transposed_times(p.rate, eq.y, tau)), 1);
      out.add_rows(p.difference(p.motion(p.dz), p.times(jacobian(p.graph, eq.r, eq.psi), tau)), 1);
      out.add_rows(p.motion(a), 1);
      out.add_rows(p.acceleration(a), 1);
      out.add_rows(p.rate, 0);
      out.add_rows(eq.g, 0);
      return out;
    }
    case Formulation::automatic:
    case Formulation::projected_invariants: {
      const Nodes mu = p.variables("mu", m), tau = p.variables("tau", m);
      const Nodes a = p.sum(p.dz, p.transposed_times(p.rate, eq.z, tau));
      out.add_unknowns(eq.y, p.dy, {1, true, 0});
      out.add_unknowns(eq.z, p.dz, {1, true, 0});
      out.add_unknowns(eq.psi, {}, {1, false, 1});
      out.add_unknowns(mu, {}, {2, false, 1, true});
      out.add_unknowns(tau, {}, {2, false, 1, true});
      out.add_rows(stabilised(mu), 1);
      out.add_rows(p.motion(a), 1);
      out.add_rows(p.acceleration(a), 1);
      out.add_rows(p.rate, 0);
      out.add_rows(eq.g, 0);
      return out;
    }
    case Formulation::coordinate_partitioning:
    case Formulation::tangent_space:
    case Formulation::direct:
    case Formulation::derivative_array: break;
  }
  throw InputError(fmt::format("{} is not one fixed set of equations", formulation_name(options.formulation)));
}

SymbolicRows chart_rows(const SymbolicSystem& system) {
  Parts p(system);
  const Equations& eq = p.eq;
  SymbolicRows out{eq.graph, eq.t, {}, {}, {}, {}, {}};
  const Nodes w = p.variables("w", eq.z.size());
  out.add_unknowns(eq.y, p.dy, {1, true, 0});
  out.add_unknowns(eq.z, p.dz, {1, true, 0});
  out.add_unknowns(w, {}, {1, false, 1});
  out.add_unknowns(eq.psi, {}, {1, false, 1});
  out.add_rows(p.position(), 1);
  out.add_rows(p.difference(p.dz, w), 1);
  out.add_rows(p.motion(w), 1);
  out.add_rows(p.acceleration(w), 1);
  out.add_rows(p.rate, 0);
  out.add_rows(eq.g, 0);
  return out;
}

}  // namespace hinge
