// [[particles]] and [container] of a [multibody].
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

// box = [[0, 0, 0], [1, 1, 1]]: two opposite corners
std::pair<Vector3d, Vector3d> read_box(const Item& item, int dimension, const ValueReader& read) {
  const std::vector<double> x = read.numbers(item, {{2, dimension}},
                                             dimension == 2 ? "two opposite corners, as in [[0, 0], [1, 1]]"
                                                            : "two opposite corners, as in [[0, 0, 0], [1, 1, 1]]");
  Vector3d low = Vector3d::Zero(), high = Vector3d::Zero();
  for (int k = 0; k < dimension; ++k) {
    const auto [least, largest] =
        std::minmax(x[static_cast<std::size_t>(k)], x[static_cast<std::size_t>(k + dimension)]);
    low(k) = least;
    high(k) = largest;
    if (!(high(k) > low(k))) item.fail("the box is flat; its two corners differ in every coordinate");
  }
  return {low, high};
}

const char* side_name(int dimension, int k, bool upper) {
  static const char* const sides[2][3] = {{"left", "front", "bottom"}, {"right", "back", "top"}};
  return sides[upper][dimension == 2 && k == 1 ? 2 : k];
}

// The sides of the container that have no wall.
std::vector<std::string> open_sides(const Item& container, int dimension) {
  std::vector<std::string> known, open;
  for (int k = 0; k < dimension; ++k)
    for (const bool upper : {false, true}) known.emplace_back(side_name(dimension, k, upper));
  for (const Item& word : container["open"].entries()) {
    const std::string side = word.expect_string("a side");
    if (std::find(known.begin(), known.end(), side) == known.end())
      word.fail(fmt::format("\"{}\" is unknown{} choose one of {}", side, suggestion(side, known, ";", "\""),
                            joined(known, "\"")));
    open.push_back(side);
  }
  return open;
}

bool contains(const std::vector<std::string>& list, const char* word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Particles start between the walls of the container.
void refuse_outside(const Item& box, const Vector3d& low, const Vector3d& high, const Item& container, int dimension,
                    const ValueReader& read) {
  const auto [inner_low, inner_high] = read_box(container["box"], dimension, read);
  const std::vector<std::string> open = open_sides(container, dimension);
  const double rounding = 1e-9 * (inner_high - inner_low).maxCoeff();
  for (int k = 0; k < dimension; ++k)
    for (const bool upper : {false, true}) {
      const char* side = side_name(dimension, k, upper);
      const double over = upper ? high(k) - inner_high(k) : inner_low(k) - low(k);
      if (over > rounding && !contains(open, side))
        box.fail(
            fmt::format("the box of the particles does not lie inside the container: it reaches {:g} beyond its "
                        "{} wall; make it smaller, or the container larger",
                        over, side));
    }
}

// radius = 0.01, [0.01, 0.02] (uniform between), { law = "normal", mean = 0.01, deviation = 0.001 },
// { law = "sizes", values = [0.01, 0.02], fractions = [0.5, 0.5] }
std::vector<double> read_radii(const Item& item, std::size_t n, const ValueReader& read, RandomNumbers& random) {
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
        read.numbers(item, {{2}}, "the smallest and the largest radius, as in [0.01, 0.02]");
    uniform(range[0], range[1]);
    return radii;
  }
  if (!item.is_table()) {
    const double r = read.number(item);
    positive(r);
    radii.assign(n, r);
    return radii;
  }
  const std::string law = item.need("law").text();
  if (law == "uniform") {
    const double low = read.number(item.need("min"));
    uniform(low, read.number(item.need("max")));
  }
  if (law == "normal") {
    const double mean = read.number(item.need("mean")), deviation = read.number(item.need("deviation"));
    positive(mean);
    if (!(deviation >= 0 && 3 * deviation < mean))
      item["deviation"].fail(fmt::format(
          "the deviation is {:g}; less than a third of the mean, {:g}, keeps radii positive", deviation, mean));
    while (radii.size() < n)
      if (const double x = random.normal(); std::abs(x) <= 3) radii.push_back(mean + deviation * x);
  }
  if (law == "sizes") {
    const std::vector<double> values = read.numbers(item.need("values"), {}, "a list of radii");
    std::vector<double> fractions(values.size(), 1.0);
    if (item["fractions"]) fractions = read.numbers(item["fractions"], {}, "a list of fractions");
    if (fractions.size() != values.size()) item.fail("there is one fraction for each of the values");
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

ParticleOptions read_heap(const Item& item, const Item& container, const BodyOptions& contact, int d,
                          const ValueReader& read) {
  ParticleOptions o;
  o.friction = contact.friction;
  o.restitution = contact.restitution;
  if (item["name"]) o.name = item["name"].text();
  claim_name(item["name"] ? item["name"] : item, o.name, read.scope());
  read.number(item["friction"], o.friction);
  read.number(item["restitution"], o.restitution);
  read.number(item["mass"], o.mass);
  read.number(item["density"], o.density);
  read.vector(item["velocity"], d, o.velocity);
  RandomNumbers random(static_cast<std::uint64_t>(item["seed"] ? read.integer(item["seed"]) : 1));
  if (const Item positions = item["positions"]) {
    if (item["box"] || item["arrangement"] || item["count"])
      positions.fail("give the positions, or count and box from which they follow");
    o.positions = read.points(positions, d);
    o.radii = read_radii(item.need("radius"), o.positions.size(), read, random);
    return o;
  }
  const int count = read.integer(item.need("count"));
  o.radii = read_radii(item.need("radius"), static_cast<std::size_t>(count), read, random);
  const Item box = item.need("box");
  const auto [low, high] = read_box(box, d, read);
  if (container) refuse_outside(box, low, high, container, d, read);
  box.located([&, low = low, high = high] {
    o.positions = item["arrangement"].text() == "grid" ? place_on_grid(d, o.radii, low, high)
                                                       : place_at_random(d, o.radii, low, high, random);
  });
  return o;
}

}  // namespace

void read_particles(const Item& root, const BodyOptions& contact, Multibody& scene, const ValueReader& read) {
  for (const Item& item : root["particles"].entries()) {
    const ParticleOptions o = read_heap(item, root["container"], contact, scene.dimension(), read);
    at_field(item, [&] { scene.particles(o); });
  }
}

// Walls as planes that look inwards; open = "top" leaves out the last axis' upper one.
void read_container(const Item& item, const BodyOptions& contact, Multibody& scene, const ValueReader& read) {
  const int d = scene.dimension();
  const auto [low, high] = read_box(item.need("box"), d, read);
  const std::vector<std::string> open = open_sides(item, d);
  BodyOptions o = contact;
  o.name = item["name"] ? item["name"].text() : "container";
  o.fixed = true;
  read.number(item["friction"], o.friction);
  read.number(item["restitution"], o.restitution);
  for (int k = 0; k < d; ++k)
    for (const bool upper : {false, true}) {
      if (contains(open, side_name(d, k, upper))) continue;
      BodyShape wall = plane((upper ? -1.0 : 1.0) * Vector3d::Unit(k));
      wall.position = upper ? high : low;
      o.shapes.push_back(wall);
    }
  at_field(item, [&] { scene.body(o); });
}

}  // namespace hinge
