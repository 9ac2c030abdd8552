#include "formulation/body_energy_step.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "body/frame.hpp"
#include "expression/derivative.hpp"
#include "expression/substitute.hpp"
#include "formulation/discrete_gradient.hpp"
#include "formulation/energy_step.hpp"
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
  if (energy_depends_on_time(*symbolic)) refuse(without_time);
  if (!has.reaction_is_ideal)
    refuse("treats ideal joints only, whose reaction is -G^T psi, and here forces depend on reactions");
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
        "quaternion of a body stands in a [[constraint]], or in a [[bushing]] that is stiff against turns: write the "
        "first with NAME_e1, NAME_e2, NAME_e3, or use gauss-lobatto",
        method));
  return form;
}

/// Expressions of the step, in a graph of its own.
class StepWriter {
 public:
  StepWriter(const DirectorForm& form, const SymbolicSystem& system, const BodyTable& table)
      : form_(form),
        system_(system),
        table_(table),
        graph_(std::make_shared<Graph>()),
        n_(static_cast<int>(table.places.size())),
        nz_(system.nz()),
        m_(system.ng()) {
    h_ = variable("h");
    t0_ = variable("t0");
    for (int k = 0; k < system.ny(); ++k) y0_.push_back(variable(fmt::format("y0[{}]", k)));
    for (std::size_t k = 0; k < form_.xi.size(); ++k) xi0_.push_back(variable(fmt::format("xi[{}]", k)));
    for (int k = 0; k < nz_; ++k) z0_.push_back(variable(fmt::format("z0[{}]", k)));
    for (int k = 0; k < nz_ + m_; ++k) unknown_.push_back(variable(fmt::format("x[{}]", k)));
    read_masses();
    move();
    balance();
    if (system_.equations().applied_force) apply_forces();
  }

  BodyEnergyStep finish() {
    BodyEnergyStep step;
    step.places = table_.places;
    for (const BodyTurn& turn : table_.counted) step.turns.push_back(turn.y);
    step.bodies = n_;
    step.states = nz_ - 6 * n_;
    step.constraints = m_;
    step.unknowns = nz_ + m_;
    const std::vector<Node> rows = nodes(rows_), unknowns = nodes(unknown_);
    const SparseExpressions matrix = newton_matrix(*graph_, rows, unknowns);
    step.pattern = {matrix.rows, matrix.columns, matrix.row_start, matrix.column};
    const std::vector<Node> blocks[] = {nodes({h_}), nodes({t0_}), nodes(y0_), nodes(xi0_), nodes(z0_), unknowns};
    if (system_.equations().applied_force) step.work = make_tape(*graph_, blocks, nodes({work_}));
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

  void read_masses() {
    const auto e = system_.evaluation({Quantity::momentum_z});
    const std::vector<double> nothing(at(std::max({system_.ny(), system_.nz(), system_.npsi(), 1})), 0.0);
    e->at(0, nothing.data(), nothing.data(), nothing.data());
    const Pattern& p = system_.pattern(Quantity::momentum_z);
    mass_.assign(at(6 * n_), 0.0);
    for (int i = 0; i < 6 * n_; ++i)
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
      const Expression factor = i == 0 ? h_ : unknown_[at(nz_ + i - 1)];
      for (int k = dd.row_start[at(i)]; k < dd.row_start[at(i) + 1]; ++k)
        force[at(dd.column[at(k)])] += factor * Expression(graph_, dd.entries[at(k)]);
    }
    rows_.assign(at(nz_ + m_), Expression(0.0));
    for (int k = 6 * n_; k < nz_; ++k) rows_[at(k)] = unknown_[at(k)] - z0_[at(k)];
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
    for (int i = 0; i < m_; ++i) rows_[at(nz_ + i)] = Expression(graph_, g1[at(i)]) / h_;
  }

  // h F, h R0^T Rh T and h c to the rows, and their work
  void apply_forces() {
    const Equations& eq = system_.equations();
    std::vector<Node> replaced{eq.t}, images = nodes({t0_ + 0.5 * h_});
    const auto replace = [&](Node node, const Expression& by) {
      replaced.push_back(node);
      images.push_back(by.node_in(*graph_));
    };
    std::vector<Expression> middle = y0_, z;
    std::vector<Vector> half;  // (w, v) of R0^T Rh
    for (int k = 0; k < nz_; ++k) z.push_back(0.5 * (z0_[at(k)] + unknown_[at(k)]));
    for (int b = 0; b < n_; ++b) {
      const BodyPlace& place = table_.places[at(b)];
      for (int k = 0; k < 3; ++k) middle[at(place.x + k)] += 0.5 * u_[at(12 * b + k)];
      // q1 = q0 (1, T/2)/|(1, T/2)|, and the middle of q0 and q1
      const Vector& turn = turn_[at(b)];
      const Expression c = 1.0 / sqrt(1.0 + 0.25 * dot(turn, turn)), length = sqrt(2.0 + 2.0 * c);
      const Expression w = (1.0 + c) / length;
      const Vector v = 0.5 * c / length * turn;
      half.push_back({w, v[0], v[1], v[2]});
      const Expression p = y0_[at(place.rotation)];
      const Vector q = three(y0_, place.rotation + 1), moved = p * v + w * q + cross(q, v);
      middle[at(place.rotation)] = p * w - dot(q, v);
      for (std::size_t k = 0; k < 3; ++k) middle[at(place.rotation) + 1 + k] = moved[k];
    }
    for (int k = 6 * n_; k < nz_; ++k) {
      const std::size_t integral = middle.size() - at(nz_ - k);
      middle[integral] += 0.5 * h_ * z[at(k)];
    }
    for (std::size_t k = 0; k < middle.size(); ++k) replace(eq.y[k], middle[k]);
    for (std::size_t k = 0; k < z.size(); ++k) replace(eq.z[k], z[k]);
    std::vector<Expression> force;
    for (const Node node : substitute(*eq.graph, eq.applied, replaced, images, *graph_))
      force.emplace_back(graph_, node);
    for (int k = 6 * n_; k < nz_; ++k) rows_[at(k)] -= h_ * force[at(k)];
    for (int b = 0; b < n_; ++b) {
      const BodyPlace& place = table_.places[at(b)];
      const Vector push = three(force, place.v), turn = three(force, place.spin),
                   v{half[at(b)][1], half[at(b)][2], half[at(b)][3]};
      const Vector c = cross(v, turn), torque = turn + 2.0 * half[at(b)][0] * c + 2.0 * cross(v, c);
      for (std::size_t k = 0; k < 3; ++k) {
        rows_[at(place.v) + k] -= h_ * push[k];
        rows_[at(place.spin) + k] -= h_ * torque[k];
      }
      work_ += h_ * (dot(push, three(z, place.v)) + dot(turn, three(z, place.spin)));
    }
  }

  const DirectorForm& form_;
  const SymbolicSystem& system_;
  const BodyTable& table_;
  std::shared_ptr<Graph> graph_;
  int n_, nz_, m_;  // bodies, velocities with [states], joints
  Expression h_, t0_, work_ = 0.0;
  std::vector<Expression> y0_, xi0_, z0_, unknown_, u_, rows_;
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
