// Points, rods and surfaces: those that follow from the equations, and those that the model's own view puts in their
// place.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "hinge/method.hpp"
#include "simulate/page/derived_view.hpp"
#include "simulate/page/level_set.hpp"
#include "simulate/page/page_scene.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

constexpr std::size_t many_trails = 4;
// Curved surfaces: cells along the longest side of the scene.
constexpr int cells_in_the_plane = 160, cells_in_space = 36;

class PointScene final : public PageScene {
 public:
  PointScene(const SymbolicSystem& system, const State& start, const View* view);
  bool empty() const { return things_.empty(); }
  void frame(const State& state, const ContactImpulses* contacts, SceneFrame& out) override;
  void describe(Json& scene, PageBlocks& blocks) const override;

 private:
  using Nodes = std::vector<Node>;
  void add_derived(const DerivedView& derived, const View* view);
  void add_given(const View& view, const std::vector<Node>& nodes);
  void add_frames(const View& view, const std::vector<Node>& nodes, std::size_t at);
  // A place: one of the things that move, or fixed where the nodes are numbers.
  Json place(const Nodes& nodes);
  static Json anchor(Json at) { return {{"at", std::move(at)}}; }
  void point(const std::string& name, const Nodes& nodes) {
    points_.push_back({{"name", name}, {"at", place(nodes)}});
    shown_.push_back(nodes);
  }
  void find_pushed();
  void add_contacts(const ContactImpulses& impulses, SceneFrame& out) const;
  void describe_levels(Json& surfaces, PageBlocks& blocks) const;
  void rod(const std::string& name, const Nodes& a, const Nodes& b, const char* kind = "rod") {
    rods_.push_back({{"name", name}, {"a", anchor(place(a))}, {"b", anchor(place(b))}, {"kind", kind}});
  }
  void trail(const std::string& name, const Nodes& nodes) {
    Json at = place(nodes);
    if (at.contains("motion")) trails_.push_back({{"name", name}, {"of", anchor(std::move(at))}});
  }
  Nodes fixed(const Vector3d& x) {
    Nodes nodes;
    for (Eigen::Index k = 0; k < x.size(); ++k) nodes.push_back(graph_.constant(x(k)));
    return nodes;
  }

  Graph graph_;
  const SymbolicSystem& system_;
  std::vector<Nodes> things_;
  std::map<Nodes, std::size_t> number_;
  int dimension_ = 2;
  Json points_ = Json::array(), rods_ = Json::array(), surfaces_ = Json::array(), trails_ = Json::array();
  std::optional<Vector3d> up_;
  StateFunctions functions_;
  // Points whose coordinates are those of the model: forces on these are forces on them.
  struct Pushed {
    std::int32_t thing;
    std::vector<int> y;  // one for each component; -1: a number
  };
  std::vector<Nodes> shown_;
  std::vector<Pushed> pushed_;
  State start_;
  std::vector<DerivedView::Level> levels_;
  std::vector<DerivedView::Point> level_points_;
  Vector3d low_ = Vector3d::Constant(INFINITY), high_ = Vector3d::Constant(-INFINITY);  // of all frames
};

std::vector<Expression> expressions_of(const View& view) {
  std::vector<Expression> all;
  const auto add = [&](const Vector& v) { all.insert(all.end(), v.begin(), v.end()); };
  for (const auto* list : {&view.points, &view.trails})
    if (*list)
      for (const View::Point& p : **list) add(p.position);
  if (view.rods)
    for (const View::Rod& r : *view.rods) add(r.a), add(r.b);
  if (view.surfaces)
    for (const View::Surface& s : *view.surfaces) add(s.point);
  for (const View::Frame& f : view.frames) {
    add(f.origin);
    add(f.center);
    for (const Vector& axis : f.axes) add(axis);
  }
  return all;
}

PointScene::PointScene(const SymbolicSystem& system, const State& start, const View* view)
    : system_(system), start_(start) {
  const std::vector<Expression> given = view ? expressions_of(*view) : std::vector<Expression>{};
  const std::vector<Node> nodes = system.nodes_of(given, graph_);
  const DerivedView derived = derive_view(system, start);
  up_ = view && view->up ? view->up : derived.up;
  add_derived(derived, view);
  if (view) add_given(*view, nodes);
  std::vector<Node> all;
  for (const Nodes& thing : things_) dimension_ = std::max(dimension_, static_cast<int>(thing.size()));
  for (Nodes thing : things_) {
    thing.resize(static_cast<std::size_t>(dimension_), graph_.constant(0));
    all.insert(all.end(), thing.begin(), thing.end());
  }
  if (!all.empty()) functions_ = StateFunctions(system, graph_, all);
  find_pushed();
  frames = SceneFrames(dimension_, {{things_.size(), false}}, !pushed_.empty());
}

// Where a coordinate is a component of one point and of no other, the work of a contact on the coordinate is that of a
// force on the point.
void PointScene::find_pushed() {
  const Equations& eq = system_.equations();
  if (eq.gaps.empty() || eq.v != eq.z) return;
  std::map<Node, int> coordinate, uses;
  for (std::size_t k = 0; k < eq.y.size(); ++k) coordinate[eq.y[k]] = static_cast<int>(k);
  for (const Nodes& thing : things_)
    for (const Node n : cone_of(graph_, thing))
      if (coordinate.contains(n)) ++uses[n];
  for (const Nodes& nodes : shown_) {
    const auto at = number_.find(nodes);
    if (at == number_.end()) continue;
    Pushed p{static_cast<std::int32_t>(at->second), {}};
    for (const Node n : nodes)
      if (const auto known = coordinate.find(n); known != coordinate.end() && uses[n] == 1)
        p.y.push_back(known->second);
      else if (graph_.is_constant(n))
        p.y.push_back(-1);
    if (p.y.size() == nodes.size()) pushed_.push_back(std::move(p));
  }
}

Json PointScene::place(const Nodes& nodes) {
  if (std::all_of(nodes.begin(), nodes.end(), [&](Node n) { return graph_.is_constant(n); })) {
    Json x = Json::array();
    for (const Node n : nodes) x.push_back(graph_.value(n));
    while (x.size() < 3) x.push_back(0);
    return {{"position", std::move(x)}};
  }
  const auto [at, added] = number_.try_emplace(nodes, things_.size());
  if (added) things_.push_back(nodes);
  return {{"motion", 0}, {"index", at->second}};
}

void PointScene::add_derived(const DerivedView& derived, const View* view) {
  std::vector<Nodes> at;
  for (const DerivedView::Point& p : derived.points) {
    Nodes nodes;
    for (const int y : p.y) nodes.push_back(system_.equations().y[static_cast<std::size_t>(y)]);
    at.push_back(std::move(nodes));
  }
  const bool points = !view || !view->points, own = points;  // what is given hides what was derived for its points
  if (points)
    for (std::size_t k = 0; k < at.size(); ++k) point(derived.points[k].name, at[k]);
  if (own && !(view && view->rods)) {
    std::vector<Vector3d> pivots;
    for (const DerivedView::Rod& r : derived.rods) {
      const Nodes from = r.a < 0 ? fixed(r.from) : at[static_cast<std::size_t>(r.a)];
      rod(r.name, from, at[static_cast<std::size_t>(r.b)]);
      if (r.a >= 0 || std::find(pivots.begin(), pivots.end(), r.from) != pivots.end()) continue;
      pivots.push_back(r.from);
      point("pivot", from);
    }
  }
  if (own && !(view && view->surfaces)) {
    levels_ = derived.levels;
    level_points_ = derived.points;
  }
  if (own && !(view && view->surfaces))
    for (const DerivedView::Surface& s : derived.surfaces)
      surfaces_.push_back(
          s.radius > 0
              ? Json{{"kind", "sphere"},
                     {"name", s.name},
                     {"centre", anchor(place(fixed(s.point)))},
                     {"radius", s.radius}}
              : Json{{"kind", "plane"}, {"name", s.name}, {"point", json_of(s.point)}, {"normal", json_of(s.normal)}});
  if (own && !(view && view->trails))
    for (std::size_t k = at.size() > many_trails ? at.size() - 1 : 0; k < at.size(); ++k)
      trail(derived.points[k].name, at[k]);
}

void PointScene::add_given(const View& view, const std::vector<Node>& nodes) {
  std::size_t at = 0;
  const auto next = [&](const Vector& v) {
    const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(at);
    at += v.size();
    return Nodes(begin, begin + static_cast<std::ptrdiff_t>(v.size()));
  };
  if (view.points)
    for (const View::Point& p : *view.points) point(p.name, next(p.position));
  if (view.trails)
    for (const View::Point& p : *view.trails) trail(p.name, next(p.position));
  if (view.rods)
    for (const View::Rod& r : *view.rods) {
      const Nodes a = next(r.a), b = next(r.b);
      rod(r.name, a, b);
    }
  if (view.surfaces)
    for (const View::Surface& s : *view.surfaces) {
      Json where = place(next(s.point));
      if (s.radius > 0)
        surfaces_.push_back(
            {{"kind", "sphere"}, {"name", s.name}, {"centre", anchor(std::move(where))}, {"radius", s.radius}});
      else if (where.contains("position"))
        surfaces_.push_back(
            {{"kind", "plane"}, {"name", s.name}, {"point", where["position"]}, {"normal", json_of(s.normal)}});
      else
        remarks.push_back(fmt::format("The plane '{}' moves, and the scene has no planes that move.", s.name));
    }
  add_frames(view, nodes, at);
}

// Bodies in directors have no shape: their axes are drawn, and where their mass is.
void PointScene::add_frames(const View& view, const std::vector<Node>& nodes, std::size_t at) {
  const auto next = [&] {
    at += 3;
    return Nodes(nodes.begin() + static_cast<std::ptrdiff_t>(at - 3), nodes.begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (const View::Frame& f : view.frames) {
    const Nodes origin = next(), center = next();
    std::vector<Nodes> tips;
    for (std::size_t k = 0; k < f.axes.size(); ++k) {
      const Nodes axis = next();
      Nodes tip;
      for (std::size_t j = 0; j < 3; ++j)
        tip.push_back(graph_.add(origin[j], graph_.multiply(graph_.constant(f.length), axis[j])));
      tips.push_back(std::move(tip));
    }
    for (std::size_t k = 0; k < tips.size(); ++k) rod(fmt::format("{} d{}", f.name, k + 1), origin, tips[k], "line");
    if (origin != center) {
      rod(f.name, origin, center);
      point(f.name + ", origin", origin);
    }
    point(f.name, center);
    trail(f.name, center);
  }
}

void PointScene::frame(const State& state, const ContactImpulses* contacts, SceneFrame& out) {
  for (const double x : functions_.at(state)) {
    const auto k = static_cast<Eigen::Index>(out.positions.size()) % dimension_;
    low_(k) = std::min(low_(k), x);
    high_(k) = std::max(high_(k), x);
    out.positions.push_back(static_cast<float>(x));
  }
  if (contacts && contacts->step > 0 && !pushed_.empty()) add_contacts(*contacts, out);
}

void PointScene::add_contacts(const ContactImpulses& impulses, SceneFrame& out) const {
  const ContactList& list = impulses.contacts;
  const auto d = static_cast<std::size_t>(list.dimension), n = static_cast<std::size_t>(dimension_);
  const std::vector<Equations::Gap>& gaps = system_.equations().gaps;
  std::map<int, double> force;  // on the coordinates
  for (std::size_t i = 0; i < static_cast<std::size_t>(list.count); ++i) {
    const double* r = impulses.impulse.data() + d * i;
    if (!(r[0] > 0) || list.key[i] >= gaps.size() || !gaps[list.key[i]].reaction.empty()) continue;
    force.clear();
    for (auto k = static_cast<std::size_t>(list.first[i]); k < static_cast<std::size_t>(list.first[i + 1]); ++k)
      for (std::size_t row = 0; row < d; ++row) force[list.column[k]] += list.H[d * k + row] * r[row] / impulses.step;
    for (const Pushed& p : pushed_) {
      SceneContact c{{}, {}, p.thing, -1};
      bool any = false;
      for (std::size_t k = 0; k < p.y.size(); ++k) {
        const auto at = force.find(p.y[k]);
        if (at == force.end()) continue;
        c.force[k] = static_cast<float>(at->second);
        any = any || at->second != 0;
      }
      if (!any) continue;
      std::copy_n(out.positions.begin() + static_cast<std::ptrdiff_t>(n * static_cast<std::size_t>(p.thing)), n,
                  c.point);
      out.contacts.push_back(c);
    }
  }
}

// Cut to the scene, with some room around it.
void PointScene::describe_levels(Json& surfaces, PageBlocks& blocks) const {
  if (!(low_.head(dimension_).array() <= high_.head(dimension_).array()).all()) return;
  const double size = (high_ - low_).head(dimension_).norm();
  const double room = size > 0 ? 0.2 * size : 0.5 * (1 + low_.head(dimension_).norm());
  Vector3d low = Vector3d::Zero(), high = low;
  low.head(dimension_) = low_.head(dimension_).array() - room;
  high.head(dimension_) = high_.head(dimension_).array() + room;
  for (const DerivedView::Level& level : levels_) {
    const DerivedView::Point& point = level_points_[static_cast<std::size_t>(level.point)];
    if (static_cast<int>(point.y.size()) != dimension_) continue;
    StateFunctions function(system_, *system_.equations().graph, std::span(&level.function, 1));
    State state = start_;
    const LevelSet set =
        level_set(dimension_, low, high, dimension_ == 2 ? cells_in_the_plane : cells_in_space, [&](const Vector3d& x) {
          for (std::size_t k = 0; k < point.y.size(); ++k)
            state.y[static_cast<std::size_t>(point.y[k])] = x(static_cast<Eigen::Index>(k));
          return function.at(state)[0];
        });
    if (set.simplex.empty()) continue;
    const int points = blocks.add(std::span<const float>(set.points)),
              simplices = blocks.add(std::span<const std::uint32_t>(set.simplex));
    surfaces.push_back({{"kind", "mesh"},
                        {"name", level.name},
                        {"points", points},
                        {dimension_ == 2 ? "lines" : "triangles", simplices}});
  }
}

void PointScene::describe(Json& scene, PageBlocks& blocks) const {
  if (dimension_ == 3 && up_) scene["up"] = json_of(*up_);
  if (!points_.empty()) scene["points"] = points_;
  if (!rods_.empty()) scene["rods"] = rods_;
  Json surfaces = surfaces_;
  describe_levels(surfaces, blocks);
  if (!surfaces.empty()) scene["surfaces"] = std::move(surfaces);
  if (!trails_.empty()) scene["trails"] = trails_;
}

}  // namespace

std::unique_ptr<PageScene> point_scene(const System& system, const State& start, const View* view) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic) return nullptr;
  auto scene = std::make_unique<PointScene>(*symbolic, start, view);
  return scene->empty() ? nullptr : std::unique_ptr<PageScene>(std::move(scene));
}

}  // namespace hinge
