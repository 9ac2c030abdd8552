#include "simulate/record/recorder_vtk.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "collide/hull.hpp"
#include "hinge/error.hpp"
#include "simulate/record/recorder_formats.hpp"
#include "simulate/record/vtk_file.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

/// A surface in the frame of its body (of space where it is fixed).
struct Surface {
  int body = -1;
  std::vector<Vector3d> points{};
  std::vector<std::vector<std::int64_t>> polygons{};
};

void add_hull(const contact::Hull& hull, int dimension, Surface& s) {
  s.points = hull.vertices;
  if (dimension == 2) {  // the faces are edges, in order
    std::vector<std::int64_t> loop;
    for (const auto& face : hull.faces) loop.push_back(hull.loop[static_cast<std::size_t>(face.first)]);
    s.polygons.push_back(loop);
    return;
  }
  for (const auto& face : hull.faces)
    s.polygons.emplace_back(hull.loop.begin() + face.first, hull.loop.begin() + face.first + face.count);
}

// Rings of `around` points along z, closed by the first and the last one.
void add_rings(const std::vector<std::pair<double, double>>& radius_and_height, Surface& s) {
  constexpr int around = 24;
  for (const auto& [r, z] : radius_and_height)
    for (int k = 0; k < around; ++k) {
      const double a = 2 * std::numbers::pi * k / around;
      s.points.emplace_back(r * std::cos(a), r * std::sin(a), z);
    }
  const auto rings = static_cast<std::int64_t>(radius_and_height.size());
  for (std::int64_t i = 0; i + 1 < rings; ++i)
    for (std::int64_t k = 0; k < around; ++k) {
      const std::int64_t next = (k + 1) % around;
      s.polygons.push_back({i * around + k, i * around + next, (i + 1) * around + next, (i + 1) * around + k});
    }
  std::vector<std::int64_t> bottom, top;
  for (std::int64_t k = 0; k < around; ++k) {
    bottom.push_back(around - 1 - k);
    top.push_back((rings - 1) * around + k);
  }
  s.polygons.push_back(bottom);
  s.polygons.push_back(top);
}

void add_capsule(const Shape& shape, int dimension, Surface& s) {
  const double r = shape.radius, half = shape.length / 2;
  constexpr int steps = 6;
  if (dimension == 2) {  // a stadium along y
    std::vector<std::int64_t> loop;
    for (int k = 0; k <= 4 * steps + 1; ++k) {
      const bool upper = k <= 2 * steps;
      const double a = std::numbers::pi * (upper ? k : k - 1) / (2 * steps);
      loop.push_back(static_cast<std::int64_t>(s.points.size()));
      s.points.emplace_back(r * std::cos(a), r * std::sin(a) + (upper ? half : -half), 0);
    }
    s.polygons.push_back(loop);
    return;
  }
  std::vector<std::pair<double, double>> rings;
  for (int k = -steps; k <= steps + 1; ++k) {
    const bool upper = k > 0;
    const double a = std::numbers::pi / 2 * (upper ? k - 1 : k) / steps;
    rings.emplace_back(std::max(r * std::cos(a), 1e-3 * r), r * std::sin(a) + (upper ? half : -half));
  }
  add_rings(rings, s);
}

Surface surface_of(const Collider& c, int dimension, double extent) {
  Surface s;
  s.body = c.body;
  switch (c.shape.kind) {
    case Shape::Kind::sphere: return s;
    case Shape::Kind::box: add_hull(contact::box_hull(c.shape.size, dimension), dimension, s); break;
    case Shape::Kind::mesh: add_hull(contact::convex_hull(c.shape.vertices, dimension), dimension, s); break;
    case Shape::Kind::capsule: add_capsule(c.shape, dimension, s); break;
    case Shape::Kind::cylinder:
      add_rings({{c.shape.radius, -c.shape.length / 2}, {c.shape.radius, c.shape.length / 2}}, s);
      break;
    case Shape::Kind::plane: {
      const Vector3d n = c.shape.normal.normalized();
      Eigen::Index least = 0;
      n.cwiseAbs().minCoeff(&least);
      const Vector3d a =
          dimension == 2 ? Vector3d(-n(1), n(0), 0) : Vector3d(Vector3d::Unit(least).cross(n).normalized());
      const Vector3d b = dimension == 2 ? Vector3d(-0.02 * n) : n.cross(a);
      if (dimension == 2)
        s.points = {-extent * a, extent * a, extent * a + extent * b, -extent * a + extent * b};
      else
        s.points = {extent * (-a - b), extent * (a - b), extent * (a + b), extent * (b - a)};
      s.polygons.push_back({0, 1, 2, 3});
      break;
    }
  }
  for (Vector3d& p : s.points) p = c.position + c.rotation * p;
  return s;
}

// Planes of one fixed body that are the walls of a box, as those of a [container]: their positions are opposite corners
// of it, and each is drawn as a face.
struct Walls {
  Vector3d low = Vector3d::Constant(INFINITY), high = Vector3d::Constant(-INFINITY);
  bool closed = true;
};

std::map<std::string, Walls> walls_of(const BodyTable& t) {
  std::map<std::string, Walls> all;
  for (const Collider& c : t.colliders) {
    if (c.body >= 0) continue;
    Walls& w = all[c.name];
    const Vector3d n = c.rotation * c.shape.normal.normalized();
    w.closed = w.closed && c.shape.kind == Shape::Kind::plane && n.cwiseAbs().maxCoeff() > 1 - 1e-12;
    w.low = w.low.cwiseMin(c.position);
    w.high = w.high.cwiseMax(c.position);
  }
  for (const Collider& c : t.colliders) {
    if (c.body >= 0 || c.shape.kind != Shape::Kind::plane) continue;
    Walls& w = all[c.name];
    Eigen::Index k = 0;
    const Vector3d n = c.rotation * c.shape.normal.normalized();
    n.cwiseAbs().maxCoeff(&k);
    w.closed = w.closed && c.position(k) == (n(k) > 0 ? w.low(k) : w.high(k));
  }
  std::erase_if(all, [&](const auto& entry) {
    const Walls& w = entry.second;
    return !w.closed || !((w.high - w.low).head(t.dimension).minCoeff() > 0);
  });
  return all;
}

Surface face_of(const Collider& c, const Walls& w, int dimension) {
  Surface s;
  Eigen::Index k = 0;
  const Vector3d n = c.rotation * c.shape.normal.normalized();
  n.cwiseAbs().maxCoeff(&k);
  const Eigen::Index i = dimension == 2 ? 1 - k : (k + 1) % 3, j = (k + 2) % 3;
  Vector3d a = w.low, b = w.high - w.low;
  a(k) = c.position(k);
  if (dimension == 2) {  // a strip outside of it
    const Vector3d along = b(i) * Vector3d::Unit(i), out = -0.02 * b.head(2).maxCoeff() * n;
    s.points = {a, a + along, a + along + out, a + out};
  } else {
    const Vector3d u = b(i) * Vector3d::Unit(i), v = b(j) * Vector3d::Unit(j);
    s.points = {a, a + u, a + u + v, a + v};
  }
  s.polygons.push_back({0, 1, 2, 3});
  return s;
}

void append(std::vector<double>& to, const Vector3d& v) { to.insert(to.end(), v.data(), v.data() + 3); }

Vector3d velocity_of(const BodyTable& t, const State& s, std::size_t body) {
  const double* v = s.z.data() + t.places[body].v;
  return {v[0], v[1], t.dimension == 3 ? v[2] : 0};
}

Vector3d spin_of(const BodyTable& t, const State& s, std::size_t body) {
  const double* w = s.z.data() + t.places[body].spin;
  return t.dimension == 3 ? Vector3d(w[0], w[1], w[2]) : Vector3d(0, 0, w[0]);
}

}  // namespace

struct PictureSeries::Surfaces {
  std::vector<Surface> list;
};

bool is_picture_path(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".pvd";
}

PictureSeries::PictureSeries(std::string path, std::shared_ptr<const System> system)
    : path_(std::move(path)),
      stem_(path_.substr(0, path_.size() - 4)),
      system_(std::move(system)),
      surfaces_(std::make_unique<Surfaces>()) {
  const BodyTable* table = bodies_of(*system_);
  if (!table)
    throw InputError(
        fmt::format("'{}' would show bodies, and this system has none; record to a .csv or .h5 file", path_));
  body_of_column_.assign(static_cast<std::size_t>(system_->nz()), -1);
  for (std::size_t k = 0; k < table->places.size(); ++k) {
    const BodyPlace& p = table->places[k];
    for (int j = 0; j < table->dimension; ++j) body_of_column_[static_cast<std::size_t>(p.v + j)] = static_cast<int>(k);
  }
  const std::map<std::string, Walls> walls = walls_of(*table);
  std::vector<int> shapes(table->places.size(), 0);
  for (const auto* list : {&table->colliders, &table->ghosts})
    for (const Collider& c : *list) {
      if (c.body >= 0) ++shapes[static_cast<std::size_t>(c.body)];
      if (c.shape.kind == Shape::Kind::sphere) continue;
      const auto box = c.body < 0 ? walls.find(c.name) : walls.end();
      surfaces_->list.push_back(box != walls.end() ? face_of(c, box->second, table->dimension)
                                                   : surface_of(c, table->dimension, 2 * table->length));
    }
  for (const int count : shapes) one_shape_.push_back(count == 1);
  write_index();
}

PictureSeries::~PictureSeries() = default;

void PictureSeries::write(const State& state, const ContactImpulses* contacts) {
  const std::string frame = fmt::format("{}_{:06}", stem_, frames_.size());
  write_points(frame + "_points.vtp", state);
  write_surfaces(frame + "_surfaces.vtp", state);
  write_contacts(frame + "_contacts.vtp", state, contacts);
  frames_.push_back({state.t, std::filesystem::path(frame).filename().string()});
  write_index();
}

void PictureSeries::write_index() const {
  std::ofstream out(path_, std::ios::binary);
  if (!out) throw cannot_write(path_, errno);
  out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
         "byte_order=\"LittleEndian\">\n<Collection>\n";
  static const char* const parts[] = {"points", "surfaces", "contacts"};
  for (const Frame& f : frames_)
    for (int k = 0; k < 3; ++k)
      out << fmt::format("<DataSet timestep=\"{}\" part=\"{}\" file=\"{}_{}.vtp\"/>\n", f.t, k, f.name, parts[k]);
  out << "</Collection>\n</VTKFile>\n";
  out.flush();
  if (!out) throw cannot_write(path_, errno != 0 ? errno : ENOSPC);
}

void PictureSeries::write_points(const std::string& path, const State& state) const {
  const BodyTable& t = *bodies_of(*system_);
  VtkPolyData data;
  VtkArray radius{"radius", 1, {}}, velocity{"velocity", 3, {}}, spin{"angular_velocity", 3, {}},
      orientation{"orientation", 4, {}}, body{"body", 1, {}};
  for (const auto* list : {&t.colliders, &t.ghosts})
    for (const Collider& c : *list) {
      if (c.shape.kind != Shape::Kind::sphere) continue;
      const BodyPose pose = c.body < 0 ? BodyPose{} : t.pose(state.y.data(), static_cast<std::size_t>(c.body));
      const auto index = static_cast<std::int64_t>(data.points.size() / 3);
      const Vector3d arm = pose.rotation * c.position;
      append(data.points, pose.position + arm);
      data.vertices.add(std::span(&index, 1));
      radius.values.push_back(c.shape.radius);
      Vector3d omega = Vector3d::Zero(), v = Vector3d::Zero();
      if (c.body >= 0) {
        const auto k = static_cast<std::size_t>(c.body);
        omega = pose.rotation * spin_of(t, state, k);
        v = velocity_of(t, state, k) + omega.cross(arm);
      }
      append(velocity.values, v);
      append(spin.values, omega);
      orientation.values.insert(orientation.values.end(),
                                {pose.rotation.w(), pose.rotation.x(), pose.rotation.y(), pose.rotation.z()});
      body.values.push_back(c.body);
    }
  data.point_data = {std::move(radius), std::move(velocity), std::move(spin), std::move(orientation), std::move(body)};
  write_vtp(path, data);
}

void PictureSeries::write_surfaces(const std::string& path, const State& state) const {
  const BodyTable& t = *bodies_of(*system_);
  VtkPolyData data;
  VtkArray velocity{"velocity", 3, {}}, body{"body", 1, {}};
  std::vector<std::int64_t> cell;
  for (const Surface& s : surfaces_->list) {
    const BodyPose pose = s.body < 0 ? BodyPose{} : t.pose(state.y.data(), static_cast<std::size_t>(s.body));
    const auto first = static_cast<std::int64_t>(data.points.size() / 3);
    for (const Vector3d& p : s.points) {
      const Vector3d arm = pose.rotation * p;
      append(data.points, pose.position + arm);
      Vector3d v = Vector3d::Zero();
      if (s.body >= 0) {
        const auto k = static_cast<std::size_t>(s.body);
        v = velocity_of(t, state, k) + (pose.rotation * spin_of(t, state, k)).cross(arm);
      }
      append(velocity.values, v);
    }
    for (const auto& polygon : s.polygons) {
      cell = polygon;
      for (std::int64_t& k : cell) k += first;
      data.polygons.add(cell);
      body.values.push_back(s.body);
    }
  }
  data.point_data = {std::move(velocity)};
  data.cell_data = {std::move(body)};
  write_vtp(path, data);
}

// A vertex at each contact that is loaded or closed, and a line from centre to centre of its two bodies through it. It
// ends in the contact where the other side is fixed or of several shapes, whose centre may be far from all of them.
void PictureSeries::write_contacts(const std::string& path, const State& state, const ContactImpulses* contacts) const {
  const BodyTable& t = *bodies_of(*system_);
  VtkPolyData data;
  VtkArray force{"force", 3, {}}, normal{"normal", 3, {}}, gap{"gap", 1, {}}, strength{"normal_force", 1, {}};
  std::vector<double> of_vertices, of_lines;
  const int count = contacts && contacts->step > 0 && !contacts->contacts.point.empty() ? contacts->contacts.count : 0;
  const auto add_point = [&](const Vector3d& p, const Vector3d& f, const Vector3d& n, double g, double fn) {
    append(data.points, p);
    append(force.values, f);
    append(normal.values, n);
    gap.values.push_back(g);
    strength.values.push_back(fn);
    return static_cast<std::int64_t>(data.points.size() / 3) - 1;
  };
  for (int i = 0; i < count; ++i) {
    const ContactList& list = contacts->contacts;
    const auto at = static_cast<std::size_t>(i), d = static_cast<std::size_t>(list.dimension);
    const double* r = contacts->impulse.data() + d * at;
    Vector3d f = Vector3d::Zero();
    for (std::size_t k = 0; k < d; ++k)
      f += r[k] / contacts->step * Eigen::Map<const Vector3d>(list.frame.data() + 9 * at + 3 * k);
    const Vector3d n = Eigen::Map<const Vector3d>(list.frame.data() + 9 * at);
    const Vector3d p = Eigen::Map<const Vector3d>(list.point.data() + 3 * at);
    const double fn = r[0] / contacts->step;
    const std::int64_t vertex = add_point(p, f, n, list.gap[at], fn);
    data.vertices.add(std::span(&vertex, 1));
    of_vertices.push_back(fn);
    if (!(fn > 0)) continue;
    std::vector<std::int64_t> line{vertex};
    int last = -1;
    for (int k = list.first[at]; k < list.first[at + 1]; ++k) {
      const int body = body_of_column_[static_cast<std::size_t>(list.column[static_cast<std::size_t>(k)])];
      if (body < 0 || body == last) continue;
      last = body;
      if (!one_shape_[static_cast<std::size_t>(body)]) continue;
      line.insert(line.size() == 1 ? line.begin() : line.end(),
                  add_point(t.pose(state.y.data(), static_cast<std::size_t>(body)).position, f, n, list.gap[at], fn));
    }
    if (line.size() == 1) continue;
    data.lines.add(line);
    of_lines.push_back(fn);
  }
  VtkArray cells{"normal_force", 1, of_vertices};
  cells.values.insert(cells.values.end(), of_lines.begin(), of_lines.end());
  data.point_data = {std::move(force), std::move(normal), std::move(gap), std::move(strength)};
  data.cell_data = {std::move(cells)};
  write_vtp(path, data);
}

}  // namespace hinge
