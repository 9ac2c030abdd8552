#include "formulation/contact_mode.hpp"

#include <array>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "expression/derivative.hpp"
#include "hinge/expression.hpp"
#include "system/gap_row.hpp"

namespace hinge {

namespace {

// Tangential velocities of a point, from the gradient n of its gap: the same frame as the contact finder's.
std::vector<Expression> point_slip(const std::vector<Expression>& n, const std::vector<Expression>& v) {
  if (n.size() == 2) {
    const Expression length = hypot(n[0], n[1]);
    return {(n[1] * v[0] - n[0] * v[1]) / length};
  }
  const Expression length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  const Expression u[3] = {n[0] / length, n[1] / length, n[2] / length};
  const Expression side = choose(u[2] >= 0.0, 1.0, -1.0), a = -1.0 / (side + u[2]), b = u[0] * u[1] * a;
  return {(1.0 + side * u[0] * u[0] * a) * v[0] + side * b * v[1] - side * u[0] * v[2],
          b * v[0] + (side + u[1] * u[1] * a) * v[1] - u[1] * v[2]};
}

}  // namespace

ContactMotion::ContactMotion(std::shared_ptr<const System> system) : base_(std::move(system)) {
  if (!base_->structure().is_symbolic) return;
  eq_ = &symbolic_part(*base_)->equations();
  graph_ = std::make_shared<Graph>(*eq_->graph);
  const Equations& eq = *eq_;
  Graph& graph = *graph_;
  std::vector<Node> outputs;
  for (const Equations::Gap& g : eq.gaps) {
    Contact c{g.gap,
              graph.constant(g.friction),
              gap_row(graph, eq, g.gap),
              g.slip,
              {},
              g.multiplier,
              g.reaction,
              g.name,
              false,
              g.speed,
              g.turn};
    if (g.friction == 0) c.slip.clear();
    if (g.point >= 0) {
      std::vector<Expression> n, v;
      for (int k = g.point; k < g.point + g.point_size; ++k) {
        n.emplace_back(graph_, c.normal[static_cast<std::size_t>(k)]);
        v.emplace_back(graph_, eq.z[static_cast<std::size_t>(k)]);
      }
      for (const Expression& s : point_slip(n, v)) c.slip.push_back(s.node_in(graph));
      Expression square = 0.0;
      for (const Expression& x : n) square += x * x;
      c.friction = (g.friction * sqrt(square)).node_in(graph);
    }
    contacts_.push_back(std::move(c));
  }
  gap_count_ = static_cast<int>(contacts_.size());
  if (const BodyTable* bodies = bodies_of(*base_); bodies && bodies->has_joint_friction())
    for (const JointContact& joint : bodies->joint_contacts->list)
      if (joint.friction)
        contacts_.push_back({graph.constant(0), joint.width, {}, joint.slip, {}, no_node, {}, joint.name, true});
  for (Contact& c : contacts_) {
    for (const Node s : c.slip) c.rows.push_back(gradient(graph, s, eq.z));
    std::vector<Node> rates = time_derivative(graph, std::array{c.gap}, eq.t, eq.y, eq.v);
    rates.insert(rates.end(), c.slip.begin(), c.slip.end());
    const std::vector<Node> curvature = time_derivative(graph, rates, eq.t, eq.y, eq.v);
    outputs.insert(outputs.end(), {c.gap, c.friction});
    outputs.insert(outputs.end(), rates.begin(), rates.end());
    outputs.insert(outputs.end(), curvature.begin(), curvature.end());
    if (c.speed != no_node) outputs.insert(outputs.end(), {c.speed, c.turn});
  }
  tape_ = eq.tape(graph, outputs);
  scratch_ = tape_->make_scratch();
  out_.resize(outputs.size());
  values_.resize(contacts_.size());
}

const std::vector<ContactMotion::Values>& ContactMotion::at(const State& state) {
  if (contacts_.empty()) return values_;
  const double* const inputs[] = {&state.t, state.y.data(), state.z.data(), state.psi.data()};
  tape_->evaluate(inputs, scratch_.data(), out_.data());
  const double* out = out_.data();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Values& v = values_[i];
    v.gap = *out++;
    v.friction = *out++;
    const std::size_t rows = 1 + contacts_[i].slip.size();
    for (std::size_t k = 0; k < rows; ++k) v.rate[k] = *out++;
    for (std::size_t k = 0; k < rows; ++k) v.curvature[k] = *out++;
    if (contacts_[i].speed != no_node) {
      v.speed = *out++;
      v.turn = *out++;
    }
  }
  return values_;
}

ContactMotion::Mode ContactMotion::build(const std::vector<ContactMode>& modes) {
  Mode result;
  result.places.resize(contacts_.size());
  if (!eq_ || contacts_.empty()) {
    result.system = base_;
    return result;
  }
  Equations eq = *eq_;
  Layout layout = base_->layout();
  const auto own = std::make_shared<Graph>(*graph_);
  Graph& graph = *own;
  eq.graph = own;
  eq.source = nullptr;
  eq.gaps.clear();
  layout.kind = SystemKind::odae;
  int added = 0;
  const auto new_multiplier = [&] {
    eq.psi.push_back(graph.variable(fmt::format("contact multiplier {}", eq.psi.size())));
    return static_cast<int>(eq.psi.size()) - 1;
  };
  const auto add_force = [&](const std::vector<Node>& row, Node factor) {
    for (std::size_t j = 0; j < eq.r.size(); ++j)
      if (!graph.is_constant(row[j], 0)) eq.r[j] = graph.add(eq.r[j], graph.multiply(factor, row[j]));
  };
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    if (modes[i] == ContactMode::open) continue;
    const Contact& c = contacts_[i];
    Node width = c.friction;  // mu lambda
    if (!c.bearing) {
      // -gap as the constraint, so that -g_y^T psi pushes with psi = lambda
      eq.g.push_back(graph.negate(c.gap));
      layout.constraints.push_back("contact " + c.name);
      if (c.multiplier != no_node) {
        result.places[i].normal = static_cast<int>(eq.psi.size());
        eq.psi.push_back(c.multiplier);
        for (std::size_t j = 0; j < eq.r.size(); ++j) eq.r[j] = graph.add(eq.r[j], c.reaction[j]);
        eq.ideal = false;
        continue;
      }
      result.places[i].normal = new_multiplier();
      const Node psi = eq.psi.back();
      add_force(c.normal, psi);
      width = graph.multiply(c.friction, psi);
    }
    if (modes[i] == ContactMode::closed) continue;
    eq.ideal = false;
    if (modes[i] == ContactMode::share_with || modes[i] == ContactMode::share_against) continue;  // below
    if (modes[i] == ContactMode::share) {
      eq.y.push_back(graph.variable(fmt::format("displacement {} 0", i)));
      eq.v.push_back(c.slip[0]);
      eq.g.push_back(eq.y.back());
      layout.constraints.push_back("sticking of " + c.name);
      result.places[i].tangential[0] = new_multiplier();
      ++added;
      const Node kappa = eq.psi.back();
      for (std::size_t k = 0; k < contacts_.size(); ++k)
        if (k == i || modes[k] == ContactMode::share_with || modes[k] == ContactMode::share_against) {
          const Node force = graph.multiply(kappa, contacts_[k].friction);
          add_force(contacts_[k].rows[0], modes[k] == ContactMode::share_against ? force : graph.negate(force));
        }
      continue;
    }
    if (modes[i] == ContactMode::stick) {
      for (std::size_t k = 0; k < c.slip.size(); ++k) {
        const Node s = graph.variable(fmt::format("displacement {} {}", i, k));
        eq.y.push_back(s);
        eq.v.push_back(c.slip[k]);
        eq.g.push_back(s);
        layout.constraints.push_back("sticking of " + c.name);
        result.places[i].tangential[k] = new_multiplier();
        add_force(c.rows[k], graph.negate(eq.psi.back()));
        ++added;
      }
      continue;
    }
    // - mu lambda (direction of slip)
    Node force = width;
    if (modes[i] != ContactMode::backward) force = graph.negate(force);
    if (modes[i] == ContactMode::set_off) {
      result.places[i].direction = static_cast<int>(eq.y.size());
      for (std::size_t k = 0; k < c.slip.size(); ++k) {
        eq.y.push_back(graph.variable(fmt::format("direction {} {}", i, k)));
        eq.v.push_back(graph.constant(0));
        add_force(c.rows[k], graph.multiply(force, eq.y.back()));
        ++added;
      }
      continue;
    }
    if (modes[i] != ContactMode::slide) {
      add_force(c.rows[0], force);
      continue;
    }
    Expression square = 0.0;
    for (const Node s : c.slip) square += Expression(own, s) * Expression(own, s);
    const Expression scaled = Expression(own, force) / sqrt(square);
    for (std::size_t k = 0; k < c.slip.size(); ++k)
      add_force(c.rows[k], (scaled * Expression(own, c.slip[k])).node_in(graph));
  }
  if (added > 0) layout.y.push_back({"contact_unknowns", {added}, layout.ny});
  layout.ny += added;
  layout.npsi = static_cast<int>(eq.psi.size());
  layout.psi = {{"psi", {layout.npsi}, 0}};
  result.system = std::make_shared<SymbolicSystem>(std::move(layout), std::move(eq));
  return result;
}

const ContactMotion::Mode& ContactMotion::mode(const std::vector<ContactMode>& modes) {
  const auto found = modes_.find(modes);
  return found != modes_.end() ? found->second : modes_.emplace(modes, build(modes)).first->second;
}

const std::shared_ptr<const System>& ContactMotion::system(const std::vector<ContactMode>& modes) {
  return mode(modes).system;
}
const std::vector<ContactMotion::Places>& ContactMotion::places(const std::vector<ContactMode>& modes) {
  return mode(modes).places;
}

}  // namespace hinge
