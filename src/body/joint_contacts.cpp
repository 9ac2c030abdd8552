#include "body/joint_contacts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "expression/derivative.hpp"
#include "hinge/error.hpp"

namespace hinge {

JointContactFinder::JointContactFinder(std::shared_ptr<const JointContacts> contacts)
    : contacts_(std::move(contacts)), scratch_(contacts_->functions->make_scratch()), values_(contacts_->outputs) {}

void JointContactFinder::evaluate(double t, const double* y) {
  const double* const inputs[] = {&t, y, nullptr, nullptr};
  contacts_->functions->evaluate(inputs, scratch_.data(), values_.data());
}

void JointContactFinder::find(double t, const double* y, double band, ContactList& out) {
  evaluate(t, y);
  const auto d = static_cast<std::size_t>(contacts_->dimension);
  for (std::size_t k = 0; k < contacts_->list.size(); ++k) {
    const JointContact& c = contacts_->list[k];
    const double* value = values_.data() + c.output;
    if (!c.friction && !(value[0] <= band)) continue;
    ++out.count;
    out.key.push_back(JointContacts::key(k));
    out.gap.push_back(value[0]);
    out.friction.push_back(c.coefficient);
    out.restitution.push_back(c.restitution);
    for (std::size_t row = 0; row < d; ++row) out.drift.push_back(0);
    out.column.insert(out.column.end(), c.columns.begin(), c.columns.end());
    out.H.insert(out.H.end(), value + 1, value + 1 + d * c.columns.size());
    out.first.push_back(static_cast<int>(out.column.size()));
    for (int row = 0; row < 3; ++row) out.point.push_back(0);
    for (const double x : {1., 0., 0., 0., 1., 0., 0., 0., 1.}) out.frame.push_back(x);
  }
}

double JointContactFinder::load(const JointContact& joint, const double* impulse) const {
  const double* form = values_.data() + joint.load_output;
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    double force[3] = {};
    for (double& component : force) {
      for (std::size_t k = 0; k < joint.load_columns.size(); ++k) component += form[joint.load_columns[k]] * impulse[k];
      form += joint.load_rows;
    }
    sum += std::hypot(force[0], force[1], force[2]);
  }
  return sum;
}

namespace {

void refuse(const JointOptions& o, const JointEquations& e, bool plane) {
  const char* const field = o.limits ? "limits" : "friction";
  const bool one = e.angle.has_value() != e.position.has_value();
  const bool universal = o.kind == JointKind::universal && !o.limits;
  const bool free = one || o.kind == JointKind::cylindrical || o.kind == JointKind::screw || universal;
  if (!free || o.kind == JointKind::planar || o.kind == JointKind::point_on_line || o.kind == JointKind::spherical)
    throw BodyError(
        field,
        fmt::format("a {} joint has no {}; revolute, prismatic, cylindrical{} and screw joints have{}",
                    joint_name(o.kind), field, o.limits ? "" : ", universal",
                    !o.limits && o.kind == JointKind::spherical
                        ? " (a ball slips in three directions at once, and the contact problem of a step has two)"
                        : ""));
  if (o.limits) {
    const JointLimits& l = *o.limits;
    if (!std::isfinite(l.low) || !std::isfinite(l.high) || !(l.low < l.high))
      throw BodyError("limits", fmt::format("limits = [{:g}, {:g}]; the first is less than the second", l.low, l.high));
    if (l.low > 0 || l.high < 0)
      throw BodyError("limits",
                      fmt::format("limits = [{:g}, {:g}], and the joint starts at 0; angles and positions count "
                                  "from the start",
                                  l.low, l.high));
    if (!(l.restitution >= 0 && l.restitution <= 1))
      throw BodyError("restitution", fmt::format("restitution = {:g}; it lies between 0 and 1", l.restitution));
  }
  if (!o.friction) return;
  const JointFriction& f = *o.friction;
  for (const auto& [name, x] :
       {std::pair{"coefficient", f.coefficient}, {"radius", f.radius}, {"constant part", f.constant}, {"span", f.span}})
    if (!(x >= 0) || !std::isfinite(x))
      throw BodyError("friction", fmt::format("the {} of the friction is {:g}; it is 0 or positive", name, x));
  if (f.coefficient == 0 && f.constant == 0)
    throw BodyError("friction", "there is no friction here: give a coefficient, or a constant torque or force");
  const bool turns = e.angle || universal;
  if (f.span > 0 && (plane || universal || f.coefficient == 0))
    throw BodyError("friction",
                    plane       ? "in the plane a bearing carries no moment, so that it has no span"
                    : universal ? "what a universal joint transmits does not count in its friction; leave the span out"
                                : "a span is for friction with a coefficient; leave it out");
  if (turns && f.coefficient > 0 && f.radius == 0)
    throw BodyError("friction",
                    "a joint that turns has friction at the radius of its bearing: friction = { coefficient = "
                    "0.2, radius = 0.01 }");
  if (!turns && f.radius > 0) throw BodyError("friction", "a joint that slides has no radius; leave it out");
  if (o.kind == JointKind::cylindrical && f.constant > 0)
    throw BodyError("friction",
                    "a cylindrical joint turns and slides, so that a constant is neither torque nor force; "
                    "give a coefficient");
}

// The columns of a body that moves: all, since contacts between bodies have them all.
void append_columns(const PlacedBody& body, bool plane, std::vector<int>& columns) {
  if (body.number < 0) return;
  for (int k = 0; k < (plane ? 2 : 3); ++k) columns.push_back(body.place.v + k);
  for (int k = 0; k < (plane ? 1 : 3); ++k) columns.push_back(body.place.spin + k);
}

}  // namespace

void Multibody::Parts::check_contacts(const PlacedJoint& joint) const {
  if (joint.options.limits || joint.options.friction) refuse(joint.options, joint.equations, dimension == 2);
}

std::shared_ptr<const JointContacts> Multibody::Parts::joint_contacts(Graph& graph, Node t, const std::vector<Node>& ys,
                                                                      const std::vector<Node>& zs, double length,
                                                                      const Multibody& scene) const {
  auto out = std::make_shared<JointContacts>();
  out->dimension = dimension;
  std::vector<Node> outputs;
  const bool plane = dimension == 2;
  const auto body = [&](const std::string& name) -> const PlacedBody& {
    return name == "ground" ? ground : bodies[place_of.at(name)];
  };
  const auto add = [&](JointContact c, const PlacedJoint& joint, const Expression& gap,
                       const std::vector<Expression>& rates) {
    append_columns(body(joint.options.a), plane, c.columns);
    append_columns(body(joint.options.b), plane, c.columns);
    std::sort(c.columns.begin(), c.columns.end());
    std::vector<Node> variables;
    for (const int column : c.columns) variables.push_back(zs[static_cast<std::size_t>(column)]);
    std::vector<std::vector<Node>> rows;
    for (std::size_t row = 0; row < static_cast<std::size_t>(dimension); ++row)
      rows.push_back(row < rates.size() ? gradient(graph, rates[row].node_in(graph), variables)
                                        : std::vector<Node>(variables.size(), graph.constant(0)));
    c.output = outputs.size();
    c.gap_node = gap.node_in(graph);
    for (std::size_t row = 1; row < rates.size(); ++row) c.slip.push_back(rates[row].node_in(graph));
    outputs.push_back(c.gap_node);
    for (std::size_t k = 0; k < variables.size(); ++k)
      for (const std::vector<Node>& row : rows) outputs.push_back(row[k]);
    out->list.push_back(std::move(c));
  };
  // n of a bearing, as an expression of the multipliers, and by components where it has a span
  const auto load = [&](JointContact& c, const PlacedJoint& joint) {
    if (c.rows == 0) return Expression(0.0);
    const Wrench w = reaction(joint, scene);
    const auto length_of = [](const Vector& f) {
      const Expression square = dot(f, f);
      return choose(square > 0.0, sqrt(square), 0.0);
    };
    const double span = joint.options.friction->span;
    if (span == 0) return length_of(w.force);
    const Vector lever = (1 / span) * cross(joint.equations.axis, w.torque), half = 0.5 * w.force;
    const Vector sides[] = {half + lever, half - lever};
    std::vector<Node> psi;
    for (int k = 0; k < c.rows; ++k)
      psi.push_back(scene.multipliers()[static_cast<std::size_t>(c.first_row + k)].node_in(graph));
    c.load_rows = c.rows;
    for (int k = 0; k < c.rows; ++k) c.load_columns.push_back(k);
    c.load_output = outputs.size();
    for (const Vector& side : sides)
      for (std::size_t k = 0; k < 3; ++k)
        for (const Node n : gradient(graph, side[k].node_in(graph), psi)) outputs.push_back(n);
    return length_of(sides[0]) + length_of(sides[1]);
  };
  for (const PlacedJoint& joint : joints) {
    const JointOptions& o = joint.options;
    const JointEquations& e = joint.equations;
    if (o.limits) {
      const bool rotates = !e.position;
      const double scale = rotates ? length : 1;
      const Expression q = scale * (rotates ? *e.angle : *e.position),
                       rate = scale * (rotates ? *e.angle_rate : *e.position_rate);
      JointContact c;
      c.restitution = o.limits->restitution;
      c.name = fmt::format("joint '{}' at its limit {:g}", o.name, o.limits->low);
      add(c, joint, q - scale * o.limits->low, {rate});
      c.name = fmt::format("joint '{}' at its limit {:g}", o.name, o.limits->high);
      add(c, joint, scale * o.limits->high - q, {-rate});
    }
    if (o.friction) {
      JointContact c;
      c.friction = true;
      c.name = fmt::format("friction of joint '{}'", o.name);
      const bool universal = o.kind == JointKind::universal, rotates = e.angle.has_value() || universal;
      const double radius = rotates && o.friction->radius > 0 ? o.friction->radius : 1;
      c.coefficient = o.friction->coefficient > 0 ? o.friction->coefficient : 1;
      c.constant = o.friction->constant / (c.coefficient * radius);
      c.first_row = joint.first_row;
      c.rows = o.friction->coefficient > 0 ? static_cast<int>(joint.held.size()) : 0;
      const PlacedBody& b = body(o.b).number >= 0 ? body(o.b) : body(o.a);
      c.velocity = b.place.v;
      c.width = (c.coefficient * (load(c, joint) + c.constant)).node_in(graph);
      if (universal) {
        const Vector turn = body(o.b).frame.omega - body(o.a).frame.omega;
        for (const Vector& axis : {e.axis, e.axis2}) add(c, joint, 0.0, {0.0, radius * dot(axis, turn)});
        continue;
      }
      std::vector<Expression> rates{0.0};
      if (rotates) rates.push_back(radius * *e.angle_rate);
      if (e.position_rate && o.kind != JointKind::screw) rates.push_back(*e.position_rate);
      add(c, joint, 0.0, rates);
    }
  }
  if (out->list.empty()) return nullptr;
  const std::vector<Node> blocks[] = {{t}, ys, zs, {}};
  out->functions = make_tape(graph, blocks, outputs);
  out->outputs = outputs.size();
  return out;
}

}  // namespace hinge
