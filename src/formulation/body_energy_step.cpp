#include "formulation/body_energy_step.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "body/frame.hpp"
#include "expression/derivative.hpp"
#include "expression/substitute.hpp"
#include "formulation/discrete_gradient.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

const SymbolicSystem& suitable(const System& system, const char* method) {
  const auto refuse = [&](const char* why) {
    throw UnsuitableMethod(fmt::format("{} {}; use gauss-lobatto", method, why));
  };
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic) refuse("knows no particles in space, which are no expressions");
  const Structure& has = system.structure();
  if (has.depends_on_time)
    refuse("needs equations without t: where they contain it, the energy is not conserved anyway");
  if (has.has_applied_force)
    refuse("needs forces that have a potential, of bodies in space: no dampers, motors and forces of one's own");
  return *symbolic;
}

/// Potential and constraints as functions of xi, in a copy of the system's graph.
struct DirectorForm {
  std::shared_ptr<Graph> graph;
  std::vector<Node> xi;
  std::vector<Node> functions;  // U, then g
};

DirectorForm director_form(const SymbolicSystem& system, const BodyTable& table, const char* method) {
  const Equations& eq = system.equations();
  DirectorForm form{std::make_shared<Graph>(*eq.graph), {}, {}};
  Graph& graph = *form.graph;
  std::vector<Node> replaced = eq.z, images(eq.z.size(), graph.constant(0)), rotations;
  const auto vector_of = [&](const std::vector<Node>& nodes, int first, int count) {
    Vector v;
    for (int k = 0; k < count; ++k) v.push_back(Expression(form.graph, nodes[at(first + k)]));
    return v;
  };
  for (std::size_t b = 0; b < table.places.size(); ++b) {
    const BodyPlace& place = table.places[b];
    const Vector x = vector_of(eq.y, place.x, 3), q = vector_of(eq.y, place.rotation, 4);
    const Frame frame = space_frame(x, q, x, vector_of(eq.z, place.spin, 3));
    for (int k = 0; k < 3; ++k) form.xi.push_back(eq.y[at(place.x + k)]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t k = 0; k < 3; ++k) {
        form.xi.push_back(graph.variable(fmt::format("axis {} {} {}", b, axis, k)));
        const Expression own(form.graph, form.xi.back());
        // -(1 - a) is a - 1 in a graph, and does not contain 1 - a any more
        for (const auto& [entry, image] : {std::pair{frame.axes[axis][k], own}, {-frame.axes[axis][k], -own}}) {
          replaced.push_back(entry.node_in(graph));
          images.push_back(image.node_in(graph));
        }
      }
    for (int k = 0; k < 4; ++k) rotations.push_back(eq.y[at(place.rotation + k)]);
  }
  for (const BodyTurn& turn : table.counted) form.xi.push_back(eq.y[at(turn.y)]);
  std::vector<Node> functions{eq.energy};
  functions.insert(functions.end(), eq.g.begin(), eq.g.end());
  form.functions = substitute(graph, functions, replaced, images, graph);
  if (!jacobian(graph, form.functions, rotations).entries.empty())
    throw UnsuitableMethod(fmt::format(
        "{} needs energy and joints that are functions of the places and axes of bodies in space, and here the "
        "quaternion of a body stands in a [[constraint]] by itself: write it with NAME_e1, NAME_e2, NAME_e3, or use "
        "gauss-lobatto",
        method));
  return form;
}

/// Expressions of the step, in a graph of its own.
class StepWriter {
 public:
  StepWriter(const DirectorForm& form, const SymbolicSystem& system, const BodyTable& table)
      : form_(form),
        table_(table),
        graph_(std::make_shared<Graph>()),
        n_(static_cast<int>(table.places.size())),
        m_(system.ng()) {
    h_ = variable("h");
    for (std::size_t k = 0; k < form_.xi.size(); ++k) xi0_.push_back(variable(fmt::format("xi[{}]", k)));
    for (int k = 0; k < 6 * n_; ++k) z0_.push_back(variable(fmt::format("z0[{}]", k)));
    for (int k = 0; k < 6 * n_ + m_; ++k) unknown_.push_back(variable(fmt::format("x[{}]", k)));
    read_masses(system);
    move();
    balance();
  }

  BodyEnergyStep finish() {
    BodyEnergyStep step;
    step.places = table_.places;
    for (const BodyTurn& turn : table_.counted) step.turns.push_back(turn.y);
    step.bodies = n_;
    step.constraints = m_;
    step.unknowns = 6 * n_ + m_;
    const std::vector<Node> rows = nodes(rows_), unknowns = nodes(unknown_);
    const SparseExpressions matrix = jacobian(*graph_, rows, unknowns);
    step.pattern = {matrix.rows, matrix.columns, matrix.row_start, matrix.column};
    const std::vector<Node> blocks[] = {nodes({h_}), nodes(xi0_), nodes(z0_), unknowns};
    step.residual = make_tape(*graph_, blocks, rows);
    std::vector<Node> outputs = rows;
    outputs.insert(outputs.end(), matrix.entries.begin(), matrix.entries.end());
    step.residual_and_matrix = make_tape(*graph_, blocks, outputs);
    return step;
  }

 private:
  Expression variable(const std::string& name) { return {graph_, graph_->variable(name)}; }
  std::vector<Node> nodes(const std::vector<Expression>& list) {
    std::vector<Node> all;
    for (const Expression& e : list) all.push_back(e.node_in(*graph_));
    return all;
  }
  static Vector three(const std::vector<Expression>& list, int first) {
    return {list[at(first)], list[at(first + 1)], list[at(first + 2)]};
  }

  void read_masses(const SymbolicSystem& system) {
    const auto e = system.evaluation({Quantity::momentum_z});
    const std::vector<double> nothing(at(std::max({system.ny(), system.nz(), system.npsi(), 1})), 0.0);
    e->at(0, nothing.data(), nothing.data(), nothing.data());
    const Pattern& p = system.pattern(Quantity::momentum_z);
    mass_.assign(at(6 * n_), 0.0);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        if (p.column[at(k)] == i) mass_[at(i)] = (*e)[Quantity::momentum_z][at(k)];
  }

  // u = xi1 - xi0, and cay of every body
  void move() {
    for (int b = 0; b < n_; ++b) {
      const BodyPlace& place = table_.places[at(b)];
      const Vector v = 0.5 * h_ * (three(z0_, place.v) + three(unknown_, place.v));
      const Vector turn = 0.5 * h_ * (three(z0_, place.spin) + three(unknown_, place.spin));
      turn_.push_back(turn);
      for (std::size_t k = 0; k < 3; ++k) u_.push_back(v[k]);
      const Vector a[] = {three(xi0_, 12 * b + 3), three(xi0_, 12 * b + 6), three(xi0_, 12 * b + 9)};
      // R0 (cay(T) - 1) e_k = R0 (T x e_k + T x (T x e_k)/2) / (1 + |T|^2/4)
      const Expression s = 1.0 / (1.0 + 0.25 * dot(turn, turn));
      for (std::size_t k = 0; k < 3; ++k) {
        Vector e{0.0, 0.0, 0.0};
        e[k] = 1.0;
        const Vector c = cross(turn, e), change = s * (c + 0.5 * cross(turn, c));
        const Vector moved = change[0] * a[0] + change[1] * a[1] + change[2] * a[2];
        for (std::size_t i = 0; i < 3; ++i) u_.push_back(moved[i]);
      }
    }
    u_.resize(xi0_.size(), Expression(0.0));  // turns are counted after the step
  }

  static Vector turned(const Vector& turn, const Vector& p) {  // cay(T) p
    const Expression s = 1.0 / (1.0 + 0.25 * dot(turn, turn));
    const Vector c = cross(turn, p);
    return p + s * (c + 0.5 * cross(turn, c));
  }

  void balance() {
    Graph& source = *form_.graph;
    StateIncrement step(*graph_, nodes(xi0_), nodes(u_));
    const std::vector<InvariantForm> forms = invariant_forms(source, form_.functions, form_.xi);
    const SparseExpressions dd = discrete_gradients(source, forms, form_.xi, step);
    std::vector<Expression> force(xi0_.size(), Expression(0.0));  // D
    for (int i = 0; i < dd.rows; ++i) {
      const Expression factor = i == 0 ? h_ : unknown_[at(6 * n_ + i - 1)];
      for (int k = dd.row_start[at(i)]; k < dd.row_start[at(i) + 1]; ++k)
        force[at(dd.column[at(k)])] += factor * Expression(graph_, dd.entries[at(k)]);
    }
    rows_.assign(at(6 * n_ + m_), Expression(0.0));
    for (int b = 0; b < n_; ++b) {
      const BodyPlace& place = table_.places[at(b)];
      const auto momentum = [&](const std::vector<Expression>& z, int first) {
        Vector p = three(z, first);
        for (std::size_t k = 0; k < 3; ++k) p[k] = mass_[at(first) + k] * p[k];
        return p;
      };
      const Vector change = momentum(unknown_, place.v) - momentum(z0_, place.v) + three(force, 12 * b);
      Vector torque{0.0, 0.0, 0.0}, along;
      for (int k = 1; k <= 3; ++k)
        torque =
            torque + cross(three(xi0_, 12 * b + 3 * k) + 0.5 * three(u_, 12 * b + 3 * k), three(force, 12 * b + 3 * k));
      for (int k = 1; k <= 3; ++k) along.push_back(dot(three(xi0_, 12 * b + 3 * k), torque));
      const Vector spin = turned(turn_[at(b)], momentum(unknown_, place.spin)) - momentum(z0_, place.spin) + along;
      for (std::size_t k = 0; k < 3; ++k) {
        rows_[at(place.v) + k] = change[k];
        rows_[at(place.spin) + k] = spin[k];
      }
    }
    std::vector<Expression> xi1;
    for (std::size_t k = 0; k < xi0_.size(); ++k) xi1.push_back(xi0_[k] + u_[k]);
    const std::vector<Node> ends = nodes(xi1);
    const std::vector<Node> g(form_.functions.begin() + 1, form_.functions.end());
    const std::vector<Node> g1 = substitute(source, g, form_.xi, ends, *graph_);
    for (int i = 0; i < m_; ++i) rows_[at(6 * n_ + i)] = Expression(graph_, g1[at(i)]) / h_;
  }

  const DirectorForm& form_;
  const BodyTable& table_;
  std::shared_ptr<Graph> graph_;
  int n_, m_;
  Expression h_;
  std::vector<Expression> xi0_, z0_, unknown_, u_, rows_;
  std::vector<Vector> turn_;
  std::vector<double> mass_;
};

}  // namespace

BodyEnergyStep body_energy_step(const System& system, const char* method) {
  const SymbolicSystem& symbolic = suitable(system, method);
  const BodyTable& table = *bodies_of(system);
  const DirectorForm form = director_form(symbolic, table, method);
  return StepWriter(form, symbolic, table).finish();
}

}  // namespace hinge
