// [[constraint]], [[bushing]] and [[force]]: what users add to the bodies and joints of a [multibody].
#include <fmt/format.h>

#include "model/sections.hpp"
#include "model/units.hpp"

namespace hinge {

namespace {

void read_constraint(const Item& item, Multibody& scene, const ValueReader& read) {
  const Item equation = item.need("equation");
  const std::string name = item["name"] ? read_name(item["name"], read) : "";
  const Value v = read_equation(equation, read);
  const auto graph = scene.t().graph();
  for (std::size_t k = 0; k < v.entries.size(); ++k) {
    if (graph->is_constant(v.entries[k]))
      equation.fail(
          fmt::format("this is the number {:g} whatever moves; an equation contains names of bodies or joints",
                      graph->value(v.entries[k])));
    const std::string whole = name.empty() ? fmt::format("{} \"{}\"", equation.key, equation.text()) : name;
    const std::string own = v.entries.size() == 1 ? whole : fmt::format("{}[{}]", whole, k);
    at_field(item, [&] { scene.constraint(own, {graph, v.entries[k]}); });
  }
}

// Six numbers, the diagonal, or six rows; three in the plane.
Eigen::MatrixXd read_matrix(const Item& item, int size, const ValueReader& read) {
  const std::string expected = fmt::format("{0} numbers, one for each direction, or {0} rows of {0}", size);
  const std::vector<double> x = read.numbers(item, {{size}, {size, size}}, expected.c_str());
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size);
  const bool diagonal = static_cast<int>(x.size()) == size;
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < size; ++k)
      if (!diagonal || i == k) m(i, k) = x[static_cast<std::size_t>(diagonal ? i : i * size + k)];
  return m;
}

// Forces and torques over displacements and turns, and the same over their rates: `over` is "" or " time".
void require_bushing_units(const Item& item, int lengths, const std::string& over, const Scope& scope) {
  const auto unit = [&](std::size_t i, std::size_t k) {
    const auto first = static_cast<std::size_t>(lengths);
    return (i < first ? "force" : "force length") + over + (k < first ? "/length" : "");
  };
  for (std::size_t i = 0; item && item.is_array() && i < item.size(); ++i) {
    if (!item[i].is_array()) require_unit(item[i], unit(i, i), scope);
    for (std::size_t k = 0; item[i].is_array() && k < item[i].size(); ++k) require_unit(item[i][k], unit(i, k), scope);
  }
}

void read_bushing(const Item& item, Multibody& scene, const ValueReader& read) {
  BushingOptions o;
  const int d = scene.dimension();
  if (item["name"]) o.name = read_name(item["name"], read);
  read_pair(item, "bushing", read, o.a, o.b);
  read.vector(item["point"], d, o.point);
  o.axes = read_turn(item, d, read);
  require_bushing_units(item["stiffness"], d, "", read.scope());
  require_bushing_units(item["damping"], d, " time", read.scope());
  if (item["stiffness"]) o.stiffness = read_matrix(item["stiffness"], d == 2 ? 3 : 6, read);
  if (item["damping"]) o.damping = read_matrix(item["damping"], d == 2 ? 3 : 6, read);
  at_field(item, [&] { scene.bushing(o); });
}

void read_point_force(const Item& item, Multibody& scene, const ValueReader& read) {
  PointForceOptions o;
  if (item["name"]) o.name = read_name(item["name"], read);
  o.body = read_name(item.need("body"), read);
  if (item["against"]) o.against = read_name(item["against"], read);
  read.vector(item["point"], scene.dimension(), o.point);
  const auto part = [&](const char* key) {
    return item[key] ? as_vector(read.value(item[key]).entries, scene.t().graph()) : Vector{};
  };
  o.force = part("force");
  o.torque = part("torque");
  o.body_axes = item["axes"].text() == "body";
  at_field(item, [&] { scene.point_force(o); });
}

}  // namespace

void read_elements(const Item& root, Multibody& scene, const ValueReader& read) {
  for (const Item& item : root["bushing"].entries()) each(item, read, [&] { read_bushing(item, scene, read); });
  for (const Item& item : root["constraint"].entries()) each(item, read, [&] { read_constraint(item, scene, read); });
  for (const Item& item : root["force"].entries()) each(item, read, [&] { read_point_force(item, scene, read); });
}

}  // namespace hinge
