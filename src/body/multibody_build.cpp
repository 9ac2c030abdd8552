// From bodies, joints and particles to a System:
//
//   p = (m x', J omega),  f = (m g + F, R^T T - omega x J omega),  r = -(g_y v_z)^T psi + (F, R^T T) of psi
//   energy = sum m/2 |x'|^2 + omega.J omega/2 - m g.x + potential of springs
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "body/multibody_system.hpp"
#include "hinge/error.hpp"
#include "system/builders.hpp"
#include "system/velocity_constraints.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

double size_of(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::sphere: return shape.radius;
    case Shape::Kind::box: return shape.size.maxCoeff();
    case Shape::Kind::capsule:
    case Shape::Kind::cylinder: return shape.radius + shape.length;
    case Shape::Kind::mesh: {
      double size = 0;
      for (const Vector3d& v : shape.vertices) size = std::max(size, v.cwiseAbs().maxCoeff());
      return size;
    }
    case Shape::Kind::plane: break;
  }
  return 0;
}

// m x'' and J omega' of one body
void append_equations(const PlacedBody& body, const Vector3d& gravity, bool plane, std::vector<Expression>& p,
                      std::vector<Expression>& f, std::vector<Expression>& applied, Expression& energy) {
  const Frame& frame = body.frame;
  const std::size_t d = plane ? 2 : 3;
  for (std::size_t k = 0; k < d; ++k) {
    const double g = gravity(static_cast<Eigen::Index>(k));
    p.push_back(body.mass * frame.x_rate[k]);
    f.push_back(body.mass * g + body.force[k]);
    applied.push_back(body.applied_force[k]);
    energy += 0.5 * body.mass * frame.x_rate[k] * frame.x_rate[k] - body.mass * g * frame.x[k];
  }
  if (plane) {
    const Expression& w = body.z_spin[0];
    p.push_back(body.moments(2) * w);
    f.push_back(body.torque[2]);
    applied.push_back(body.applied_torque[2]);
    energy += 0.5 * body.moments(2) * w * w;
    return;
  }
  const Vector& w = body.z_spin;
  const Vector3d& j = body.moments;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    const auto at = [&](std::size_t i) { return j(static_cast<Eigen::Index>(i)); };
    p.push_back(at(k) * w[k]);
    f.push_back(dot(frame.axes[k], body.torque) + (at(k1) - at(k2)) * w[k1] * w[k2]);
    applied.push_back(dot(frame.axes[k], body.applied_torque));
    energy += 0.5 * at(k) * w[k] * w[k];
  }
}

// What depends on the multipliers of all forces is reaction; true where there is such.
bool append_reactions(const std::vector<PlacedBody>& bodies, bool plane, Graph& graph, std::vector<Node>& r) {
  bool any = false;
  std::size_t at = 0;
  const auto add = [&](const Expression& e) {
    r[at] = graph.add(r[at], e.node_in(graph));
    ++at;
  };
  for (const PlacedBody& body : bodies) {
    if (body.number < 0) continue;
    any = any || !is_zero(body.reactive_force) || !is_zero(body.reactive_torque);
    for (std::size_t k = 0; k < (plane ? 2u : 3u); ++k) add(body.reactive_force[k]);
    for (std::size_t k = 0; k < (plane ? 1u : 3u); ++k)
      add(plane ? body.reactive_torque[2] : dot(body.frame.axes[k], body.reactive_torque));
  }
  return any;
}

}  // namespace

BodyTable Multibody::Parts::table() const {
  BodyTable table;
  table.dimension = dimension;
  table.gravity = gravity;
  table.links = links;
  table.contact_forces = contact_forces;
  double length = 0;
  // Fixed bodies are all one body to the collision room; those with joints have a group of their own, which the bodies
  // on these joints leave out.
  std::vector<std::uint32_t> groups(bodies.size(), 1u), leaves(bodies.size(), 0u);
  std::uint32_t next = 2;
  std::vector<std::pair<int, std::size_t>> without_group;  // a body that moves, and one that does not
  const auto index = [&](const std::string& name) {
    const auto at = place_of.find(name);
    return at == place_of.end() ? -1 : static_cast<int>(at->second);
  };
  for (const PlacedJoint& joint : joints) {
    if (joint.options.collide) continue;
    const int a = index(joint.options.a), b = index(joint.options.b);
    if (a < 0 || b < 0) continue;  // the ground has no shapes
    const PlacedBody &first = bodies[static_cast<std::size_t>(a)], &second = bodies[static_cast<std::size_t>(b)];
    if (first.number >= 0 && second.number >= 0) {
      table.ignored.push_back(std::minmax(first.number, second.number));
      continue;
    }
    const auto still = static_cast<std::size_t>(first.number < 0 ? a : b),
               moves = static_cast<std::size_t>(a + b) - still;
    if (groups[still] == 1u && next != 0) {
      groups[still] = next;
      next <<= 1;
    }
    if (groups[still] != 1u)
      leaves[moves] |= groups[still];
    else
      without_group.emplace_back(bodies[moves].number, still);
  }
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const PlacedBody& body = bodies[k];
    const Eigen::Quaterniond turn = body.number >= 0 && !body.principal.isIdentity(0)
                                        ? Eigen::Quaterniond(Eigen::Matrix3d(body.principal.transpose()))
                                        : Eigen::Quaterniond::Identity();
    if (body.number >= 0) {
      table.places.push_back(body.place);
      table.frames.push_back({-(turn * body.center), turn});
    }
    for (const BodyShape& s : body.options.shapes) {
      Collider c;
      c.body = body.number;
      c.shape = s.shape;
      c.position = turn * (s.position - body.center);
      c.rotation = turn * s.rotation.normalized();
      if (body.number < 0) {
        c.position = body.x + body.q * c.position;
        c.rotation = body.q * c.rotation;
      }
      c.friction = body.options.friction;
      c.restitution = body.options.restitution;
      c.group = groups[k];
      c.collides_with = ~leaves[k];
      c.name = body.options.name;
      length = std::max(length, size_of(c.shape) + (body.number >= 0 ? c.position.norm() : 0));
      if (body.options.collide)
        for (const auto& [moves, still] : without_group)
          if (still == k) table.apart.emplace_back(moves, static_cast<int>(table.colliders.size()));
      (body.options.collide ? table.colliders : table.ghosts).push_back(std::move(c));
    }
    if (body.number >= 0) length = std::max(length, body.x.cwiseAbs().maxCoeff());
  }
  std::sort(table.apart.begin(), table.apart.end());
  table.overlap = overlap;
  for (std::size_t k = 0; k < turns.size(); ++k)
    table.counted.push_back({ny + static_cast<int>(k), turns[k].a, turns[k].b, turns[k].axis});
  int first_y = ny + turn_count, first_z = nz;
  for (const PlacedParticles& heap : heaps) {
    const int n = static_cast<int>(heap.mass.size()), d = dimension;
    for (int k = 0; k < n; ++k) {
      const auto at = static_cast<std::size_t>(k);
      table.places.push_back({first_y + k * d, first_y + n * d + k * (d == 2 ? 1 : 4), first_z + k * d,
                              first_z + n * d + k * (d == 2 ? 1 : 3)});
      Collider c;
      c.body = static_cast<int>(table.places.size()) - 1;
      c.shape.kind = Shape::Kind::sphere;
      c.shape.radius = heap.options.radii[at];
      c.friction = heap.options.friction;
      c.restitution = heap.options.restitution;
      c.name = fmt::format("{}[{}]", heap.options.name, k);
      length = std::max({length, c.shape.radius, heap.options.positions[at].cwiseAbs().maxCoeff()});
      table.colliders.push_back(std::move(c));
    }
    first_y += n * (d == 2 ? 3 : 7);
    first_z += n * (d == 2 ? 3 : 6);
  }
  table.length = length > 0 ? length : 1;
  table.reach.assign(table.places.size(), 0.0);
  for (const Collider& c : table.colliders)
    if (c.body >= 0) {
      // a sphere about the centre of mass turns in itself
      const double own = c.shape.kind == Shape::Kind::sphere  ? 0
                         : c.shape.kind == Shape::Kind::plane ? length
                                                              : 2 * size_of(c.shape);
      double& reach = table.reach[static_cast<std::size_t>(c.body)];
      reach = std::max(reach, c.position.norm() + own);
    }
  return table;
}

std::shared_ptr<const System> Multibody::assemble() const {
  const Parts& s = *parts_;
  if (s.ny == 0 && s.heaps.empty())
    throw InputError("nothing moves here: there is no body without fixed = true, and there are no particles");
  if (!gaps_.empty())
    throw InputError(
        "contacts of bodies come from their shapes; gaps as expressions belong to Lagrangian and "
        "mechanical systems");
  Graph& graph = *graph_;
  const bool plane = s.dimension == 2;
  Layout layout;
  layout.kind = SystemKind::multibody;
  layout.y = s.y_blocks;
  layout.z = s.z_blocks;
  layout.ny = s.ny + s.turn_count;
  layout.nz = s.nz;
  for (Block block : s.turn_blocks) {
    block.first += s.ny;
    layout.y.push_back(std::move(block));
  }
  layout.constraints = constraint_names_;
  Equations eq;
  eq.t = t_.node_in(graph);
  eq.y = nodes_of(s.y, graph);
  for (const Expression& turned : s.turn_coordinates) eq.y.push_back(turned.node_in(graph));
  eq.z = nodes_of(s.z, graph);
  eq.g = nodes_of(constraints_, graph);
  refuse_constraints_on(graph, eq.g, eq.z, constraint_names_);
  layout.velocity_constraints = velocity_constraint_names_;
  eq.w = nodes_of(velocity_constraints_, graph);
  refuse_as_velocity_constraints(graph, layout, eq);
  std::vector<Expression> v, p, f, applied;
  Expression energy = s.potential;
  for (const PlacedBody& body : s.bodies) {
    if (body.number < 0) continue;
    for (std::size_t k = 0; k < (plane ? 2u : 3u); ++k) v.push_back(body.frame.x_rate[k]);
    const Vector turn = plane ? body.z_spin : quaternion_rate(body.y_rotation, body.z_spin);
    v.insert(v.end(), turn.begin(), turn.end());
    append_equations(body, s.gravity, plane, p, f, applied, energy);
  }
  for (const CountedTurn& turn : s.turns) v.push_back(turn.rate);
  eq.v = nodes_of(v, graph);
  eq.p = nodes_of(p, graph);
  eq.f = nodes_of(f, graph);
  eq.energy = energy.node_in(graph);
  eq.applied_force = s.applied_force;
  if (eq.applied_force) eq.applied = nodes_of(applied, graph);
  eq.psi = nodes_of(multipliers(), graph);
  for (std::size_t k = 0; k < eq.w.size(); ++k)
    eq.psi.push_back(velocity_multiplier(static_cast<int>(k)).node_in(graph));
  layout.npsi = static_cast<int>(eq.psi.size());
  layout.psi = {{"psi", {layout.npsi}, 0}};
  const std::vector<Node> rate = constraint_rate(graph, eq);
  eq.r = ideal_reaction(graph, rate, eq.psi, eq.z);
  eq.ideal = !append_reactions(s.bodies, plane, graph, eq.r);

  BodyTable bodies_as_numbers = s.table();
  bodies_as_numbers.joint_contacts = s.joint_contacts(graph, eq.t, eq.y, eq.z, bodies_as_numbers.length, *this);
  for (const PlacedJoint& joint : s.joints)  // gaps of limits are angles times this length
    for (const std::string& name : {joint.options.a, joint.options.b})
      if (const auto at = s.place_of.find(name); joint.options.limits && at != s.place_of.end())
        if (const int number = s.bodies[at->second].number; number >= 0) {
          double& reach = bodies_as_numbers.reach[static_cast<std::size_t>(number)];
          reach = std::max(reach, bodies_as_numbers.length);
        }
  const auto table = std::make_shared<const BodyTable>(std::move(bodies_as_numbers));
  SystemHooks hooks;
  hooks.bodies = table;
  if (s.heaps.empty()) {
    if (table->can_collide()) hooks.contacts = [table] { return find_body_contacts(table); };
    hooks.move = [table](const double* y, const double* z, double h, double* out) { table->move(y, z, h, out); };
    return freeze(graph_, std::move(layout), std::move(eq), std::move(hooks));
  }
  Layout whole = layout;
  auto bodies = freeze(graph_, std::move(layout), std::move(eq), std::move(hooks));
  ParticleData data;
  data.gravity = s.gravity;
  data.dimension = s.dimension;
  for (const PlacedParticles& heap : s.heaps) {
    const int n = static_cast<int>(heap.mass.size());
    const std::string& name = heap.options.name;
    const auto add = [&](std::vector<Block>& blocks, int& count, const std::string& what, std::vector<int> shape) {
      blocks.push_back({what, std::move(shape), count});
      count += blocks.back().size();
    };
    add(whole.y, whole.ny, name, {n, s.dimension});
    if (plane)
      add(whole.y, whole.ny, name + "_angle", {n});
    else
      add(whole.y, whole.ny, name + "_rotation", {n, 4});
    add(whole.z, whole.nz, name + "'", {n, s.dimension});
    if (plane)
      add(whole.z, whole.nz, name + "_angle'", {n});
    else
      add(whole.z, whole.nz, name + "_spin", {n, 3});
    data.mass.insert(data.mass.end(), heap.mass.begin(), heap.mass.end());
    data.moment.insert(data.moment.end(), heap.moment.begin(), heap.moment.end());
  }
  data.places.assign(table->places.end() - static_cast<std::ptrdiff_t>(data.mass.size()), table->places.end());
  return std::make_shared<MultibodySystem>(std::move(whole), std::move(bodies), std::move(data), table);
}

Start Multibody::start() const {
  const Parts& s = *parts_;
  Start start;
  auto &y = start.position, &z = start.velocity;
  const bool plane = s.dimension == 2;
  for (const PlacedBody& b : s.bodies) {
    if (b.number < 0) continue;
    const auto d = plane ? 2 : 3;
    y.insert(y.end(), b.x.data(), b.x.data() + d);
    z.insert(z.end(), b.options.velocity.data(), b.options.velocity.data() + d);
    if (plane) {
      y.push_back(b.angle);
      z.push_back(b.options.angular_velocity(2));
    } else {
      y.insert(y.end(), {b.q.w(), b.q.x(), b.q.y(), b.q.z()});
      const Vector3d spin = b.q.conjugate() * b.options.angular_velocity;
      z.insert(z.end(), spin.data(), spin.data() + 3);
    }
  }
  y.insert(y.end(), s.turns.size(), 0.0);
  for (const PlacedParticles& heap : s.heaps) {
    const auto d = plane ? 2 : 3;
    for (const Vector3d& x : heap.options.positions) {
      y.insert(y.end(), x.data(), x.data() + d);
      z.insert(z.end(), heap.options.velocity.data(), heap.options.velocity.data() + d);
    }
    for (std::size_t k = 0; k < heap.mass.size(); ++k) {
      if (plane) {
        y.push_back(0);
        z.push_back(0);
      } else {
        y.insert(y.end(), {1, 0, 0, 0});
        z.insert(z.end(), {0, 0, 0});
      }
    }
  }
  return start;
}

}  // namespace hinge
