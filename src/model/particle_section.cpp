// [[particles]], [container] and [contact] of a [multibody].
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "model/multibody_section.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

// box = [[0, 0, 0], [1, 1, 1]]: two opposite corners
std::pair<Vector3d, Vector3d> read_box(const Item& item, int dimension, const Scope& scope) {
  const std::vector<double> x = read_numbers(item, {{2, dimension}},
                                             dimension == 2 ? "two opposite corners, as in [[0, 0], [1, 1]]"
                                                            : "two opposite corners, as in [[0, 0, 0], [1, 1, 1]]",
                                             scope);
  Vector3d low = Vector3d::Zero(), high = Vector3d::Zero();
  for (int k = 0; k < dimension; ++k) {
    low(k) = std::min(x[static_cast<std::size_t>(k)], x[static_cast<std::size_t>(k + dimension)]);
    high(k) = std::max(x[static_cast<std::size_t>(k)], x[static_cast<std::size_t>(k + dimension)]);
    if (!(high(k) > low(k))) item.fail("the box is flat; its two corners differ in every coordinate");
  }
  return {low, high};
}

const char* side_name(int dimension, int k, bool upper) {
  static const char* const sides[2][3] = {{"left", "front", "bottom"}, {"right", "back", "top"}};
  return sides[upper][dimension == 2 && k == 1 ? 2 : k];
}

bool is_open(const Item& container, const std::string& side) {
  const Item open = container["open"];
  if (!open || !open.is_array()) return open && open.text() == side;
  for (std::size_t k = 0; k < open.size(); ++k)
    if (open[k].text() == side) return true;
  return false;
}

// Particles start between the walls of the container.
void refuse_outside(const Item& box, const Vector3d& low, const Vector3d& high, const Item& container, int dimension,
                    const Scope& scope) {
  const auto [inner_low, inner_high] = read_box(container["box"], dimension, scope);
  const double rounding = 1e-9 * (inner_high - inner_low).maxCoeff();
  for (int k = 0; k < dimension; ++k)
    for (const bool upper : {false, true}) {
      const char* side = side_name(dimension, k, upper);
      const double over = upper ? high(k) - inner_high(k) : inner_low(k) - low(k);
      if (over > rounding && !is_open(container, side))
        box.fail(
            fmt::format("the box of the particles does not lie inside the container: it reaches {:g} beyond its "
                        "{} wall; make it smaller, or the container larger",
                        over, side));
    }
}

// radius = 0.01, [0.01, 0.02] (uniform between), { law = "normal", mean = 0.01, deviation = 0.001 },
// { law = "sizes", values = [0.01, 0.02], fractions = [0.5, 0.5] }
std::vector<double> read_radii(const Item& item, int count, const Scope& scope, RandomNumbers& random) {
  Scope copy = scope;
  const ValueReader read(copy);
  const auto n = static_cast<std::size_t>(count);
  std::vector<double> radii;
  radii.reserve(n);
  const auto positive = [&](double r) {
    if (!(r > 0)) item.fail(fmt::format("a radius is {:g}; radii are positive", r));
  };
  const auto uniform = [&](double low, double high) {
    positive(low);
    if (!(high >= low)) item.fail(fmt::format("the largest radius, {:g}, is less than the smallest, {:g}", high, low));
    for (std::size_t k = 0; k < n; ++k) radii.push_back(low + (high - low) * random.uniform());
  };
  if (item.is_array()) {
    const std::vector<double> range =
        read_numbers(item, {{2}}, "the smallest and the largest radius, as in [0.01, 0.02]", scope);
    uniform(range[0], range[1]);
    return radii;
  }
  if (!item.is_table()) {
    const double r = read.number(item);
    positive(r);
    radii.assign(n, r);
    return radii;
  }
  enum class Law { even, normal, sizes };
  item.expect_keys({"law", "min", "max", "mean", "deviation", "values", "fractions"});
  if (!item["law"]) item.fail("'law' is missing: \"uniform\", \"normal\" or \"sizes\"");
  const Law law =
      read_choice<Law>(item["law"], {{"uniform", Law::even}, {"normal", Law::normal}, {"sizes", Law::sizes}});
  const auto need = [&](const char* key) {
    if (!item[key]) item.fail(fmt::format("'{}' is missing for this law of radii", key));
    return item[key];
  };
  if (law == Law::even) uniform(read.number(need("min")), read.number(need("max")));
  if (law == Law::normal) {
    const double mean = read.number(need("mean")), deviation = read.number(need("deviation"));
    positive(mean);
    if (!(deviation >= 0 && 3 * deviation < mean))
      need("deviation")
          .fail(fmt::format("the deviation is {:g}; less than a third of the mean, {:g}, keeps radii positive",
                            deviation, mean));
    while (radii.size() < n)
      if (const double x = random.normal(); std::abs(x) <= 3) radii.push_back(mean + deviation * x);
  }
  if (law == Law::sizes) {
    const std::vector<double> values = read_numbers(need("values"), {}, "a list of radii", scope);
    std::vector<double> fractions(values.size(), 1.0);
    if (item["fractions"]) fractions = read_numbers(item["fractions"], {}, "a list of fractions", scope);
    if (values.empty() || fractions.size() != values.size()) item.fail("there is one fraction for each of the values");
    double total = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      positive(values[k]);
      if (!(fractions[k] >= 0)) item["fractions"].fail("fractions are not negative");
      total += fractions[k];
    }
    if (item["fractions"] && !(std::abs(total - 1) < 0.01))
      item["fractions"].fail(fmt::format("the fractions sum to {:g}; they are parts of the whole and sum to 1", total));
    for (std::size_t k = 0; k < n; ++k) {
      double rest = total * random.uniform();
      std::size_t which = 0;
      while (which + 1 < values.size() && rest >= fractions[which]) rest -= fractions[which++];
      radii.push_back(values[which]);
    }
  }
  return radii;
}

}  // namespace

void read_particles(const Item& item, const Item& container, Multibody& scene, Scope& scope, double friction,
                    double restitution) {
  if (!item.is_table()) item.fail("expected a table [[particles]]");
  item.expect_keys({"name", "count", "radius", "density", "mass", "box", "seed", "velocity", "arrangement", "positions",
                    "friction", "restitution"});
  const ValueReader read(scope);
  ParticleOptions o;
  if (item["name"]) o.name = item["name"].expect_string("a name");
  claim_name(item["name"] ? item["name"] : item, o.name, scope);
  const auto number = [&](const char* key, double fallback) { return item[key] ? read.number(item[key]) : fallback; };
  o.friction = number("friction", friction);
  o.restitution = number("restitution", restitution);
  o.mass = number("mass", 0);
  o.density = number("density", 0);
  const int d = scene.dimension();
  if (item["velocity"]) o.velocity = read_vector(item["velocity"], d, scope);
  const auto need = [&](const char* key, const char* example) {
    if (!item[key]) item.fail(fmt::format("'{}' is missing, as in {}", key, example));
    return item[key];
  };
  RandomNumbers random(static_cast<std::uint64_t>(item["seed"] ? read.integer(item["seed"]) : 1));
  if (const Item positions = item["positions"]) {
    if (item["box"] || item["arrangement"] || item["count"])
      positions.fail("give the positions, or count and box from which they follow");
    const Value value = read.value(positions);
    if (value.shape.size() != 2 || value.shape[1] != d)
      positions.fail(fmt::format("expected a list of points with {} coordinates each, but this is {}", d,
                                 describe_shape(value.shape)));
    const std::vector<double> x = read_numbers(positions, {}, "", scope);
    const auto step = static_cast<std::size_t>(d);
    for (std::size_t k = 0; k < x.size(); k += step) o.positions.emplace_back(x[k], x[k + 1], d == 2 ? 0 : x[k + 2]);
    o.radii = read_radii(need("radius", "radius = 0.01"), static_cast<int>(o.positions.size()), scope, random);
  } else {
    const Item counted = need("count", "count = 1000");
    const int count = read.integer(counted);
    constexpr int most = 5'000'000;
    if (count < 1 || count > most)
      counted.fail(fmt::format("count = {}; from 1 to {} particles are possible", count, most));
    o.radii = read_radii(need("radius", "radius = 0.01, or [0.01, 0.02]"), count, scope, random);
    const Item box = need("box", d == 2 ? "box = [[0, 0], [1, 1]]" : "box = [[0, 0, 0], [1, 1, 1]]");
    const auto [low, high] = read_box(box, d, scope);
    if (container) refuse_outside(box, low, high, container, d, scope);
    const bool grid =
        item["arrangement"] && read_choice<bool>(item["arrangement"], {{"random", false}, {"grid", true}});
    box.located([&] {
      o.positions = grid ? place_on_grid(d, o.radii, low, high) : place_at_random(d, o.radii, low, high, random);
    });
  }
  at_field(item, [&] { scene.particles(o); });
}

// Walls as planes that look inwards; open = "top" leaves out the last axis' upper one.
void read_container(const Item& item, Multibody& scene, Scope& scope, double friction, double restitution) {
  if (!item.is_table()) item.fail("expected a section [container] with box = [[0, 0, 0], [1, 1, 1]]");
  item.expect_keys({"name", "box", "open", "friction", "restitution"});
  const ValueReader read(scope);
  const int d = scene.dimension();
  if (!item["box"]) item.fail("'box' is missing, as in box = [[0, 0, 0], [1, 1, 1]]");
  const auto [low, high] = read_box(item["box"], d, scope);
  const auto side = [&](int k, bool upper) { return side_name(d, k, upper); };
  std::vector<std::string> open;
  const auto add = [&](const Item& word) {
    std::vector<std::pair<const char*, std::string>> known;
    for (int k = 0; k < d; ++k)
      for (const bool upper : {false, true}) known.emplace_back(side(k, upper), side(k, upper));
    open.push_back(read_choice<std::string>(word, known));
  };
  if (const Item list = item["open"]) {
    if (list.is_array())
      for (std::size_t k = 0; k < list.size(); ++k) add(list[k]);
    else
      add(list);
  }
  BodyOptions o;
  o.name = item["name"] ? item["name"].expect_string("a name") : "container";
  o.fixed = true;
  o.friction = item["friction"] ? read.number(item["friction"]) : friction;
  o.restitution = item["restitution"] ? read.number(item["restitution"]) : restitution;
  for (int k = 0; k < d; ++k)
    for (const bool upper : {false, true}) {
      if (std::find(open.begin(), open.end(), side(k, upper)) != open.end()) continue;
      BodyShape wall = plane((upper ? -1.0 : 1.0) * Vector3d::Unit(k));
      wall.position = upper ? high : low;
      o.shapes.push_back(wall);
    }
  at_field(item, [&] { scene.body(o); });
}

Options read_contact_options(const Item& section, const ValueReader& read) {
  section.expect_keys(
      {"friction", "restitution", "overlap", "solver", "tolerance", "cone", "facets", "impact", "threads"});
  Options options;
  for (const std::string& key : section.keys()) {
    if (key == "friction" || key == "restitution" || key == "overlap") continue;
    const Item item = section[key];
    const std::string option = key == "tolerance" ? "solver_tolerance" : key;
    if (key == "solver" || key == "cone" || key == "impact")
      options[option] = item.expect_string("a word");
    else
      options[option] = read.number(item);
  }
  return options;
}

}  // namespace hinge
