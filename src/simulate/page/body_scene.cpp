// Bodies, particles, joints, springs and force chains. Bodies come first, then particles, as in the table of bodies;
// both move in their principal axes, in which shapes and joints are given.
#include <algorithm>
#include <cmath>
#include <map>

#include "body/body_table.hpp"
#include "hinge/method.hpp"
#include "simulate/page/page_scene.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

using Eigen::Vector3d;

Json json_of(const Vector3d& v, int dimension) { return dimension == 2 ? Json{v(0), v(1)} : Json{v(0), v(1), v(2)}; }

namespace {

Json rotation_json(const Eigen::Quaterniond& q) { return Json{q.w(), q.x(), q.y(), q.z()}; }

Json shape_json(const Collider& c, int dimension) {
  Json j;
  const Shape& s = c.shape;
  switch (s.kind) {
    case Shape::Kind::sphere: j = {{"kind", "sphere"}, {"radius", s.radius}}; break;
    case Shape::Kind::box: j = {{"kind", "box"}, {"size", json_of(s.size, dimension)}}; break;
    case Shape::Kind::capsule: j = {{"kind", "capsule"}, {"radius", s.radius}, {"length", s.length}}; break;
    case Shape::Kind::cylinder: j = {{"kind", "cylinder"}, {"radius", s.radius}, {"length", s.length}}; break;
    case Shape::Kind::plane: j = {{"kind", "plane"}, {"normal", json_of(s.normal.normalized())}}; break;
    case Shape::Kind::mesh:
      j = {{"kind", "mesh"}, {"vertices", Json::array()}};
      for (const Vector3d& v : s.vertices) j["vertices"].push_back(json_of(v));
      break;
  }
  if (c.position.any()) j["position"] = json_of(c.position);
  if (c.rotation.w() != 1) j["rotation"] = rotation_json(c.rotation);
  return j;
}

class BodyScene final : public PageScene {
 public:
  BodyScene(const System& system, const BodyTable& table, const View* view);
  void frame(const State& state, const ContactImpulses* contacts, SceneFrame& out) override;
  void describe(Json& scene, PageBlocks& blocks) const override;

 private:
  void add_contacts(const ContactImpulses& impulses, SceneFrame& out) const;
  Json place(int body) const;
  Json anchor(int body, const Vector3d& offset) const;
  void describe_bodies(Json& scene) const;
  void describe_particles(Json& scene, PageBlocks& blocks) const;
  void describe_links(Json& scene) const;

  const BodyTable& table_;
  const int dimension_;
  const std::size_t bodies_, particles_;
  std::vector<std::string> names_;   // of the bodies
  std::vector<int> body_of_column_;  // of z
  std::optional<Vector3d> up_;
  // [view] points of expressions, behind bodies and particles
  const View* view_;
  StateFunctions extra_;
  std::vector<std::string> extra_names_;
};

BodyScene::BodyScene(const System& system, const BodyTable& table, const View* view)
    : table_(table),
      dimension_(table.dimension),
      bodies_(table.frames.size()),
      particles_(table.places.size() - table.frames.size()),
      names_(bodies_),
      view_(view) {
  for (std::size_t k = 0; k < bodies_; ++k)
    for (const Block& b : system.layout().y)
      if (b.first == table.places[k].x) names_[k] = b.name;
  body_of_column_.assign(static_cast<std::size_t>(system.nz()), -1);
  for (std::size_t k = 0; k < table.places.size(); ++k)
    for (int j = 0; j < dimension_; ++j)
      body_of_column_[static_cast<std::size_t>(table.places[k].v + j)] = static_cast<int>(k);
  if (view && view->up) up_ = view->up;
  if (!up_ && table.gravity.any()) up_ = Vector3d(-table.gravity.normalized());
  std::vector<SceneMotion> motions;
  if (bodies_ > 0) motions.push_back({bodies_, true});
  // a sphere that turns looks the same; a disk is drawn with a mark
  if (particles_ > 0) motions.push_back({particles_, dimension_ == 2});
  if (const SymbolicSystem* symbolic = symbolic_part(system); symbolic && view) {
    std::vector<Expression> all;
    const auto d = static_cast<std::size_t>(dimension_);
    for (const auto* list : {&view->points, &view->trails})
      if (*list)
        for (const View::Point& p : **list) {
          if (p.position.size() != d) continue;
          extra_names_.push_back(p.name);
          all.insert(all.end(), p.position.begin(), p.position.end());
        }
    if (!all.empty()) {
      Graph graph;
      const std::vector<Node> nodes = symbolic->nodes_of(all, graph);
      extra_ = StateFunctions(*symbolic, graph, nodes);
      motions.push_back({extra_names_.size(), false});
    }
  }
  frames = SceneFrames(dimension_, std::move(motions), system.structure().has_contacts);
}

void BodyScene::frame(const State& state, const ContactImpulses* contacts, SceneFrame& out) {
  for (std::size_t k = 0; k < table_.places.size(); ++k) {
    const BodyPose pose = table_.pose(state.y.data(), k);
    out.place(pose.position, dimension_);
    if (k < bodies_ || dimension_ == 2) out.turn(pose.rotation, dimension_);
  }
  for (const double x : extra_.at(state)) out.positions.push_back(static_cast<float>(x));
  if (contacts && contacts->step > 0 && !contacts->contacts.point.empty()) add_contacts(*contacts, out);
}

// The force on a. The normal points from b to a, so that its row of H has the normal itself in the columns of a.
void BodyScene::add_contacts(const ContactImpulses& impulses, SceneFrame& out) const {
  const ContactList& list = impulses.contacts;
  const auto d = static_cast<std::size_t>(list.dimension);
  for (std::size_t i = 0; i < static_cast<std::size_t>(list.count); ++i) {
    const double* r = impulses.impulse.data() + d * i;
    if (!(r[0] > 0) || JointContacts::has(list.key[i])) continue;
    Vector3d force = Vector3d::Zero();
    for (std::size_t k = 0; k < d; ++k)
      force += r[k] / impulses.step * Eigen::Map<const Vector3d>(list.frame.data() + 9 * i + 3 * k);
    SceneContact c{{}, {}, -1, -1};
    for (std::size_t k = 0; k < 3; ++k) {
      c.point[k] = static_cast<float>(list.point[3 * i + k]);
      c.force[k] = static_cast<float>(force(static_cast<Eigen::Index>(k)));
    }
    double along[2] = {0, 0};
    int body[2] = {-1, -1};
    int count = 0;
    for (int k = list.first[i]; k < list.first[i + 1]; ++k) {
      const auto column = static_cast<std::size_t>(list.column[static_cast<std::size_t>(k)]);
      const int which = body_of_column_[column];
      if (which < 0) continue;  // a spin
      if (count == 0 || body[count - 1] != which) {
        if (count == 2) break;
        body[count++] = which;
      }
      const auto component = column - static_cast<std::size_t>(table_.places[static_cast<std::size_t>(which)].v);
      along[count - 1] += list.H[static_cast<std::size_t>(k) * d] * list.frame[9 * i + component];
    }
    for (int k = 0; k < count; ++k) (along[k] > 0 ? c.a : c.b) = body[k];
    out.contacts.push_back(c);
  }
}

Json BodyScene::place(int body) const {
  if (body < 0) return {{"position", {0, 0, 0}}};
  const auto k = static_cast<std::size_t>(body);
  if (k < bodies_) return {{"motion", 0}, {"index", k}};
  return {{"motion", bodies_ > 0 ? 1 : 0}, {"index", k - bodies_}};
}

Json BodyScene::anchor(int body, const Vector3d& offset) const {
  if (body < 0) return {{"at", {{"position", json_of(offset)}}}};
  Json j = {{"at", place(body)}};
  if (offset.any()) j["offset"] = json_of(offset);
  return j;
}

// A body without a shape is a point, with lines to its joints: it is rigid, so that they are lines of it.
void BodyScene::describe_bodies(Json& scene) const {
  std::vector<Json> shapes(bodies_, Json::array());
  std::map<std::string, Json> fixed;
  for (const auto* list : {&table_.colliders, &table_.ghosts})
    for (const Collider& c : *list) {
      if (c.body >= static_cast<int>(bodies_)) continue;
      Json& of = c.body >= 0 ? shapes[static_cast<std::size_t>(c.body)] : fixed[c.name];
      if (of.is_null()) of = Json::array();
      of.push_back(shape_json(c, dimension_));
    }
  Json list = Json::array();
  for (std::size_t k = 0; k < bodies_; ++k)
    if (!shapes[k].empty())
      list.push_back({{"name", names_[k]}, {"at", place(static_cast<int>(k))}, {"shapes", std::move(shapes[k])}});
    else
      scene["points"].push_back({{"name", names_[k]}, {"at", place(static_cast<int>(k))}});
  for (auto& [name, of] : fixed) list.push_back({{"name", name}, {"at", place(-1)}, {"shapes", std::move(of)}});
  if (!list.empty()) scene["bodies"] = std::move(list);
  for (const BodyLink& link : table_.links)
    for (const auto& [body, point] : {std::pair{link.a, link.point_a}, {link.b, link.point_b}}) {
      const bool bare = body >= 0 && std::none_of(table_.colliders.begin(), table_.colliders.end(),
                                                  [b = body](const Collider& c) { return c.body == b; });
      if (bare && point.norm() > 0)
        scene["rods"].push_back({{"name", names_[static_cast<std::size_t>(body)]},
                                 {"a", anchor(body, Vector3d::Zero())},
                                 {"b", anchor(body, point)}});
    }
}

void BodyScene::describe_particles(Json& scene, PageBlocks& blocks) const {
  if (particles_ == 0) return;
  std::vector<float> radii(particles_, 0);
  std::string name = "particles";
  for (const Collider& c : table_.colliders)
    if (c.body >= static_cast<int>(bodies_)) {
      radii[static_cast<std::size_t>(c.body) - bodies_] = static_cast<float>(c.shape.radius);
      name = c.name.substr(0, c.name.find('['));
    }
  scene["particles"].push_back(
      {{"name", name}, {"motion", bodies_ > 0 ? 1 : 0}, {"radii", blocks.add(std::span<const float>(radii))}});
}

void BodyScene::describe_links(Json& scene) const {
  for (const BodyLink& link : table_.links) {
    const bool straight = link.kind == "rod" || link.kind == "spring";
    if (straight)
      scene["rods"].push_back({{"name", link.name.empty() ? link.kind : link.name},
                               {"a", anchor(link.a, link.point_a)},
                               {"b", anchor(link.b, link.point_b)},
                               {"kind", link.kind}});
    if (link.kind == "spring") continue;
    Json joint = {{"name", link.name}, {"kind", link.kind}, {"a", anchor(link.a, link.point_a)}};
    if (link.axis.any()) joint["axis"] = json_of(link.axis.normalized());
    scene["joints"].push_back(std::move(joint));
  }
}

void BodyScene::describe(Json& scene, PageBlocks& blocks) const {
  if (up_ && dimension_ == 3) scene["up"] = json_of(*up_);
  describe_bodies(scene);
  describe_particles(scene, blocks);
  describe_links(scene);
  const int motion = (bodies_ > 0) + (particles_ > 0);
  const std::size_t points = view_ && view_->points ? view_->points->size() : 0;
  for (std::size_t k = 0; k < extra_names_.size(); ++k) {
    const Json at = {{"motion", motion}, {"index", k}};
    if (k < points)
      scene["points"].push_back({{"name", extra_names_[k]}, {"at", at}});
    else
      scene["trails"].push_back({{"name", extra_names_[k]}, {"of", {{"at", at}}}});
  }
}

}  // namespace

std::unique_ptr<PageScene> body_scene(const System& system, const View* view) {
  const BodyTable* table = bodies_of(system);
  return table ? std::make_unique<BodyScene>(system, *table, view) : nullptr;
}

}  // namespace hinge
