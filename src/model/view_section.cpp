// [view]: what the picture of a report shows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/printable.hpp"
#include "hinge/view.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

class ViewReader {
 public:
  ViewReader(SystemSection& system, View& view)
      : read_(system.scope), graph_(system.builder->t().graph()), view_(view) {
    if (const auto* scene = dynamic_cast<const Multibody*>(system.builder.get())) dimension_ = scene->dimension();
  }

  void operator()(const Item& section) {
    if (const Item points = section["points"]) {
      view_.points.emplace();
      for (const std::string& name : points.keys()) view_.points->push_back({printable(name), position(points[name])});
    }
    if (const Item trails = section["trails"]) {
      view_.trails.emplace();
      for (const Item& item : entries(trails)) view_.trails->push_back(point(item));
    }
    if (const Item rods = section["rods"]) {
      view_.rods.emplace();
      for (const Item& item : entries(rods)) view_.rods->push_back(rod(item));
    }
    if (const Item surfaces = section["surfaces"]) {
      view_.surfaces.emplace();
      for (const Item& item : entries(surfaces)) view_.surfaces->push_back(surface(item));
    }
    if (const Item up = section["up"]) {
      const std::vector<double> x = read_.numbers(up, {{3}}, "the direction against gravity, as in [0, 0, 1]");
      view_.up = Eigen::Vector3d(x[0], x[1], x[2]);
      if (!(view_.up->norm() > 0) || !view_.up->allFinite())
        up.fail("this has no direction; give a vector that is not zero, as [0, 0, 1]");
      view_.up->normalize();
    }
  }

 private:
  static std::vector<Item> entries(const Item& list) {
    if (!list.is_array())
      list.fail(fmt::format("expected a list, as in {} = {}", list.row->option.name, list.row->example));
    return list.entries();
  }

  Vector position(const Item& item) const {
    const Value value = read_.value(item);
    const std::size_t n = value.entries.size();
    const bool fits =
        value.shape.size() == 1 && (dimension_ > 0 ? static_cast<int>(n) == dimension_ : n == 2 || n == 3);
    if (!fits)
      item.fail(fmt::format("a position has {} numbers or expressions; this has {}",
                            dimension_ > 0 ? std::to_string(dimension_) : "two or three", n));
    return as_vector(value.entries, graph_);
  }

  // A point by the name that it has here, or a position.
  View::Point point(const Item& item) const {
    const std::string name = item.text();
    if (view_.points && !name.empty()) {
      const auto at = std::find_if(view_.points->begin(), view_.points->end(),
                                   [&](const View::Point& p) { return p.name == name; });
      if (at != view_.points->end()) return *at;
    }
    return {name.empty() ? "point" : printable(name), position(item)};
  }

  View::Rod rod(const Item& item) const {
    if (!item.is_array() || item.size() != 2)
      item.fail("a rod has two ends: names of points or positions, as in [[0, 0], \"bob\"]");
    const View::Point a = point(item[0]), b = point(item[1]);
    return {fmt::format("{} - {}", a.name, b.name), a.position, b.position};
  }

  View::Surface surface(const Item& item) const {
    if (!item.is_table()) item.fail("expected a surface, as in { sphere = 1 } or { plane = [0, 0, 1] }");
    const Item sphere = item["sphere"], plane = item["plane"], where = item["point"];
    if (!sphere == !plane) item.fail("give one of the two: sphere = 1, its radius, or plane = [0, 0, 1], its normal");
    View::Surface s;
    s.name = item["name"] ? printable(item["name"].text()) : sphere ? "sphere" : "plane";
    if (sphere) s.radius = read_.number(sphere);
    if (plane) {
      const std::vector<double> n = read_.numbers(plane, {{2}, {3}}, "the normal of a plane, as in [0, 0, 1]");
      s.normal = Eigen::Vector3d(n[0], n[1], n.size() == 3 ? n[2] : 0);
      if (!(s.normal.norm() > 0) || !s.normal.allFinite())
        plane.fail("this has no direction; give a vector that is not zero, as [0, 0, 1]");
      s.normal.normalize();
    }
    s.point = where ? position(where) : Vector{0.0, 0.0, 0.0};
    return s;
  }

  ValueReader read_;
  std::shared_ptr<Graph> graph_;
  View& view_;
  int dimension_ = 0;  // of bodies; 0: two or three
};

// As long as the body is large, by its inertia.
View::Frame frame_of(const RigidBody& body) {
  const RigidBodyOptions& o = body.options();
  View::Frame frame;
  frame.name = o.name;
  frame.center = body.center();
  frame.origin = o.fixed ? Vector{(*o.fixed)(0), (*o.fixed)(1), (*o.fixed)(2)} : body.center();
  frame.axes = {body.director(0), body.director(1), body.director(2)};
  frame.length = std::max(o.center.norm(), std::sqrt(1.5 * o.inertia.trace() / o.mass));
  return frame;
}

}  // namespace

void read_view(const Item& section, SystemSection& system, Model& model) {
  if (!section && system.bodies.empty()) return;
  View view;
  for (const RigidBody& body : system.bodies) view.frames.push_back(frame_of(body));
  if (section) ViewReader(system, view)(section);
  model.view = std::make_shared<const View>(std::move(view));
}

}  // namespace hinge
