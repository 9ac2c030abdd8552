// The forces that joints exert, from the multipliers of their rows: with V = psi.g of the rows of one joint
//
//   F = -V_x,   R^T T = -(V_q q'_omega)^T                                   on a body, about its centre of mass
//   T_P = T - (P - x) x F                                                   about the point P of the joint
//
// g depends on how b is placed against a alone, so that what acts on a is the same with the other sign.
#include <algorithm>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "expression/derivative.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

std::vector<Node> nodes(const Vector& v, std::size_t count, Graph& graph) {
  std::vector<Node> list;
  for (std::size_t k = 0; k < count; ++k) list.push_back(v[k].node_in(graph));
  return list;
}

Vector down(const Expression& f, const std::vector<Node>& by) {
  Vector out;
  for (const Node n : gradient(*f.graph(), f.node_in(*f.graph()), by)) out.push_back(-Expression(f.graph(), n));
  return out;
}

// Along the axes of the body, in space; in the plane about e3.
Vector torque_in_space(const Vector& own, const PlacedBody& body, bool plane) {
  if (plane) return {0.0, 0.0, own[0]};
  return own[0] * body.frame.axes[0] + own[1] * body.frame.axes[1] + own[2] * body.frame.axes[2];
}

Vector with_three(Vector v) {
  while (v.size() < 3) v.push_back(0.0);
  return v;
}

}  // namespace

Wrench wrench_of(const Expression& potential, const PlacedBody& body, bool plane) {
  const Vector zero{0.0, 0.0, 0.0};
  if (body.number < 0 || !potential.graph()) return {zero, zero};
  Graph& graph = *potential.graph();
  const Vector force = with_three(down(potential, nodes(body.frame.x, plane ? 2 : 3, graph)));
  const Vector by_rotation = down(potential, nodes(body.y_rotation, body.y_rotation.size(), graph));
  if (plane) return {force, torque_in_space(by_rotation, body, true)};
  // -V_q q' is linear in the spin
  const Expression power = -dot(by_rotation, quaternion_rate(body.y_rotation, body.z_spin));
  if (!power.graph()) return {force, zero};
  return {force, torque_in_space(down(power, nodes(body.z_spin, 3, graph)), body, false)};
}

Wrench drag_of(const Expression& dissipation, const PlacedBody& body, bool plane) {
  const Vector zero{0.0, 0.0, 0.0};
  if (body.number < 0 || !dissipation.graph()) return {zero, zero};
  Graph& graph = *dissipation.graph();
  return {with_three(down(dissipation, nodes(body.frame.x_rate, plane ? 2 : 3, graph))),
          torque_in_space(down(dissipation, nodes(body.z_spin, body.z_spin.size(), graph)), body, plane)};
}

void Multibody::Parts::apply(PlacedBody& body, const Wrench& wrench) {
  if (body.number < 0) return;
  push(body, wrench.force);
  turn(body, wrench.torque);
}

bool is_zero(const Vector& v) {
  return std::all_of(v.begin(), v.end(), [](const Expression& e) {
    if (e.graph()) return e.graph()->is_constant(e.node_in(*e.graph()), 0);
    Graph numbers;
    return numbers.is_constant(e.node_in(numbers), 0);
  });
}

bool Multibody::Parts::is_reactive(const Vector& v) const {
  for (const std::vector<Expression>* list : {&multipliers, &velocity_multipliers}) {
    if (list->empty()) continue;
    const Graph& graph = *list->front().graph();
    std::vector<Node> psi;
    for (const Expression& e : *list) psi.push_back(e.node_in(*e.graph()));
    const std::vector<char> depends = dependence(graph, psi);
    for (const Expression& e : v)
      if (e.graph() && depends[static_cast<std::size_t>(e.node_in(*e.graph()))]) return true;
  }
  return false;
}

void Multibody::Parts::push(PlacedBody& body, const Vector& force) const {
  if (is_reactive(force)) {
    body.reactive_force = body.reactive_force + force;
    return;
  }
  body.force = body.force + force;
  if (!by_potential) body.applied_force = body.applied_force + force;
}

void Multibody::Parts::turn(PlacedBody& body, const Vector& torque) const {
  if (is_reactive(torque)) {
    body.reactive_torque = body.reactive_torque + torque;
    return;
  }
  body.torque = body.torque + torque;
  if (!by_potential) body.applied_torque = body.applied_torque + torque;
}

void Multibody::Parts::has_no_potential(PlacedBody& body, const Eigen::Vector3d& r, const Vector& force) const {
  if (body.number < 0) return;
  body.applied_force = body.applied_force + force;
  body.applied_torque = body.applied_torque + cross(body.frame.direction(r), force);
}

const std::vector<Expression>& Multibody::multipliers() const {
  std::vector<Expression>& psi = parts_->multipliers;
  while (psi.size() < constraints_.size())
    psi.emplace_back(graph_, graph_->variable(fmt::format("psi[{}]", psi.size())));
  return psi;
}

// Of a velocity constraint; those of constraints come before it.
Expression Multibody::velocity_multiplier(int row) const {
  std::vector<Expression>& psi = parts_->velocity_multipliers;
  while (psi.size() <= static_cast<std::size_t>(row))
    psi.emplace_back(graph_, graph_->variable(fmt::format("psi[{}]", constraints_.size() + psi.size())));
  return psi[static_cast<std::size_t>(row)];
}

namespace {

// On b, about b's point of the joint.
Wrench reaction_of(const PlacedJoint& joint, const std::vector<Expression>& psi, const PlacedBody& a,
                   const PlacedBody& b, bool plane) {
  Expression potential = 0.0;
  for (std::size_t k = 0; k < joint.held.size(); ++k)
    potential += psi[static_cast<std::size_t>(joint.first_row) + k] * joint.held[k];
  const bool on_b = b.number >= 0;
  const PlacedBody& body = on_b ? b : a;
  Wrench w = wrench_of(potential, body, plane);
  w.torque = w.torque - cross(joint.equations.point_b - body.frame.x, w.force);
  return on_b ? w : Wrench{-w.force, -w.torque};
}

}  // namespace

// Of a joint or a bushing.
Wrench Multibody::Parts::reaction(const std::string& name, const Multibody& scene) {
  for (const PlacedBushing& bushing : bushings)
    if (bushing.name == name) return {bushing.force, bushing.torque};
  const PlacedJoint& j = joint(name);
  if (!j.contact) return reaction(j, scene);
  Vector force{0.0, 0.0, 0.0};
  for (const auto& [row, along] : j.contact->position)
    force = force - scene.multipliers()[static_cast<std::size_t>(row)] * along;
  for (const auto& [row, along] : j.contact->velocity) force = force - scene.velocity_multiplier(row) * along;
  return {force, cross(j.contact->arm, force)};
}

Wrench Multibody::Parts::reaction(const PlacedJoint& joint, const Multibody& scene) const {
  const auto body = [&](const std::string& name) -> const PlacedBody& {
    return name == "ground" ? ground : bodies[place_of.at(name)];
  };
  return reaction_of(joint, scene.multipliers(), body(joint.options.a), body(joint.options.b), dimension == 2);
}

Vector Multibody::joint_force(const std::string& name) {
  return parts_->reaction(name, *this).force.segment(0, parts_->dimension == 2 ? 2 : 3);
}

Vector Multibody::joint_torque(const std::string& name) {
  const Vector torque = parts_->reaction(name, *this).torque;
  return parts_->dimension == 2 ? Vector{torque[2]} : torque;
}

Expression Multibody::motor_effort(const std::string& name) {
  const PlacedJoint& j = parts_->joint(name);
  if (!j.motor) throw BodyError("name", fmt::format("joint '{}' has no motor", name));
  if (j.motor_velocity_row >= 0) return -(velocity_multiplier(j.motor_velocity_row) * *j.motor);
  if (j.motor_row < 0) return *j.motor;
  return -(multipliers()[static_cast<std::size_t>(j.motor_row)] * *j.motor);
}

Vector Multibody::contact_force(const std::string& name) {
  Parts& s = *parts_;
  s.find(name, "name");
  Vector force;
  const auto found = std::find_if(s.contact_forces.begin(), s.contact_forces.end(),
                                  [&](const BodyContactForce& f) { return f.body == name; });
  if (found == s.contact_forces.end()) {
    BodyContactForce made{name, {}};
    for (int k = 0; k < s.dimension; ++k)
      made.variables.push_back(graph_->variable(fmt::format("{}_contact_force[{}]", name, k)));
    for (const Node n : made.variables) force.push_back({graph_, n});
    s.contact_forces.push_back(std::move(made));
  } else {
    for (const Node n : found->variables) force.push_back({graph_, n});
  }
  return force;
}

Expression Multibody::multiplier(const std::string& name) {
  for (const NamedRows& rows : parts_->named_rows)
    if (rows.name == name) return multipliers()[static_cast<std::size_t>(rows.row)];
  throw BodyError("name", fmt::format("there is no constraint '{}'", name));
}

std::vector<Multibody::Force> Multibody::forces() const {
  std::vector<Force> list;
  for (const PlacedJoint& j : parts_->joints) {
    if (!j.named) continue;
    list.push_back({j.options.name, "force"});
    list.push_back({j.options.name, "torque"});
    if (j.motor) list.push_back({j.options.name, j.motor_turns ? "motor_torque" : "motor_force"});
  }
  for (const PlacedBushing& bushing : parts_->bushings)
    for (const char* part : {"force", "torque"}) list.push_back({bushing.name, part});
  for (const PlacedSpring& spring : parts_->springs)
    if (!spring.name.empty()) list.push_back({spring.name, "tension"});
  for (const NamedRows& rows : parts_->named_rows) list.push_back({rows.name, "multiplier"});
  for (const PlacedBody& body : parts_->bodies)
    if (!body.options.shapes.empty() && body.options.collide) list.push_back({body.options.name, "contact_force"});
  return list;
}

}  // namespace hinge
