#include "simulate/record/recorder_vtk.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "hinge/method.hpp"
#include "simulate/record/output_file.hpp"
#include "simulate/record/paraview_script.hpp"
#include "simulate/record/recorder_formats.hpp"
#include "simulate/record/surfaces.hpp"
#include "simulate/record/vtk_file.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

// Pictures where nobody says how many: from one end to the next.
constexpr double usual_frames = 300;

const char* const series[] = {"points", "surfaces", "contacts"};

void append(std::vector<double>& to, const Vector3d& v) { to.insert(to.end(), v.data(), v.data() + 3); }

// Where a body is and how it moves; fixed at the origin for a negative number.
struct MovingBody {
  BodyPose pose{};
  Vector3d velocity = Vector3d::Zero(), spin = Vector3d::Zero();  // both in space

  MovingBody(const BodyTable& t, const State& s, int body) {
    if (body < 0) return;
    const auto k = static_cast<std::size_t>(body);
    const double *v = s.z.data() + t.places[k].v, *w = s.z.data() + t.places[k].spin;
    const bool space = t.dimension == 3;
    pose = t.pose(s.y.data(), k);
    velocity = {v[0], v[1], space ? v[2] : 0};
    spin = pose.rotation * (space ? Vector3d(w[0], w[1], w[2]) : Vector3d(0, 0, w[0]));
  }
  Vector3d velocity_at(const Vector3d& arm) const { return velocity + spin.cross(arm); }
};

class Pictures final : public Recorder {
 public:
  Pictures(const std::string& path, std::shared_ptr<const System> system, bool thinned, double step);

  // Where nobody says when to record, a picture for every step would be thousands of files.
  void expect(double now, double end) override {
    const double interval = (end - now) / usual_frames;
    interval_ = thinned_ && interval > step_ ? interval : 0;
    next_ = now + interval_;
  }
  bool due(double t) const override { return interval_ == 0 || t >= next_ - 1e-9 * interval_; }
  void record(const Row& row) override;
  void finish(const std::string& status) override {
    write_vtp(stem_ + "_fixed.vtp", fixed());  // planes are as large as the scene has become
    write_index(status);
  }

 private:
  VtkPolyData points(const State& state);
  VtkPolyData surfaces(const State& state);
  VtkPolyData contacts(const State& state, const ContactImpulses* contacts);
  VtkPolyData fixed() const;
  void write_index(std::string status = {});
  std::string list(int only) const;
  std::vector<std::string> names() const;
  double usual_force() const;

  std::string path_, stem_;  // stem: without the ending
  OutputFile index_;         // as written last; keeps it locked
  std::shared_ptr<const System> system_;
  const BodyTable& table_;
  bool thinned_;
  double step_, interval_ = 0, next_ = 0;  // interval 0: one for each row
  std::vector<int> body_of_column_;        // of z
  std::vector<char> one_shape_;            // of each body
  std::vector<Surface> surfaces_;          // that move
  Extent extent_;                          // of all that moves, so far
  std::vector<double> strongest_;          // contact of each picture that has any
  std::size_t most_points_ = 0;
  struct Frame {
    double t;
    std::string name;
  };
  std::vector<Frame> frames_;
};

const BodyTable& table_of(const System& system, const std::string& path) {
  if (const BodyTable* table = bodies_of(system)) return *table;
  throw InputError(fmt::format("'{}' would show bodies, and this system has none; record to a .csv or .h5 file", path));
}

Pictures::Pictures(const std::string& path, std::shared_ptr<const System> system, bool thinned, double step)
    : path_(path),
      stem_(path_.substr(0, path_.size() - 4)),
      index_(OutputFile::lock(path_)),
      system_(std::move(system)),
      table_(table_of(*system_, path)),
      thinned_(thinned),
      step_(step),
      surfaces_(moving_surfaces(table_)) {
  body_of_column_.assign(static_cast<std::size_t>(system_->nz()), -1);
  for (std::size_t k = 0; k < table_.places.size(); ++k)
    for (int j = 0; j < table_.dimension; ++j)
      body_of_column_[static_cast<std::size_t>(table_.places[k].v + j)] = static_cast<int>(k);
  std::vector<int> shapes(table_.places.size(), 0);
  for (const auto* list : {&table_.colliders, &table_.ghosts})
    for (const Collider& c : *list)
      if (c.body >= 0) ++shapes[static_cast<std::size_t>(c.body)];
  for (const int count : shapes) one_shape_.push_back(count == 1);
  write_index();
}

void Pictures::record(const Row& row) {
  const State& state = *row.state;
  const std::string frame = fmt::format("{}_{:06}", stem_, frames_.size());
  write_vtp(frame + "_points.vtp", points(state));
  write_vtp(frame + "_surfaces.vtp", surfaces(state));
  write_vtp(frame + "_contacts.vtp", contacts(state, row.contacts));
  frames_.push_back({state.t, std::filesystem::path(frame).filename().string()});
  if (frames_.size() == 1) write_vtp(stem_ + "_fixed.vtp", fixed());
  write_index();
  if (interval_ > 0) next_ += interval_ * (std::floor((state.t - next_) / interval_ + 1e-9) + 1);
}

// The list of one series, or (-1) of all that there is.
std::string Pictures::list(int only) const {
  std::string out =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
      "byte_order=\"LittleEndian\">\n<Collection>\n";
  const std::string fixed = std::filesystem::path(stem_).filename().string() + "_fixed.vtp";
  for (const Frame& f : frames_) {
    for (int k = 0; k < 3; ++k)
      if (only < 0 || only == k)
        out += fmt::format("<DataSet timestep=\"{}\" part=\"{}\" name=\"{}\" file=\"{}_{}.vtp\"/>\n", f.t,
                           only < 0 ? k : 0, series[k], f.name, series[k]);
    if (only < 0) out += fmt::format("<DataSet timestep=\"{}\" part=\"3\" name=\"fixed\" file=\"{}\"/>\n", f.t, fixed);
  }
  return out + "</Collection>\n</VTKFile>\n";
}

void Pictures::write_index(std::string status) {
  std::string out = list(-1);
  for (std::size_t at; (at = status.find("--")) != std::string::npos;) status.erase(at, 1);  // ends a comment of XML
  if (!status.empty()) out += "<!-- status: " + status + " -->\n";
  if (!frames_.empty()) {
    for (int k = 0; k < 3; ++k) write_whole(fmt::format("{}_{}.pvd", stem_, series[k]), list(k));
    ParaViewScene scene;
    scene.stem = stem_;
    scene.flat = table_.dimension == 2;
    scene.up = table_.gravity.any() ? Vector3d(-table_.gravity.normalized()) : Vector3d(Vector3d::UnitZ());
    scene.size = extent_.empty() ? table_.length : (extent_.high - extent_.low).norm();
    scene.usual_force = usual_force();
    scene.points = most_points_;
    write_whole(stem_ + ".py", paraview_script(scene));
  }
  WholeFile file(path_);
  file.write(out);
  index_ = file.commit();
}

double Pictures::usual_force() const {
  std::vector<double> list = strongest_;
  if (list.empty()) return 0;
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
  std::nth_element(list.begin(), middle, list.end());
  return *middle;
}

std::vector<std::string> Pictures::names() const {
  std::vector<std::string> list(table_.places.size());
  for (const auto* colliders : {&table_.colliders, &table_.ghosts})
    for (const Collider& c : *colliders)
      if (c.body >= 0) list[static_cast<std::size_t>(c.body)] = c.name;
  return list;
}

VtkPolyData Pictures::fixed() const {
  VtkPolyData data;
  VtkArray number{"surface", 1, {}};
  for (const Surface& s : fixed_surfaces(table_, extent_)) {
    const auto first = static_cast<std::int64_t>(data.points.size() / 3);
    for (const Vector3d& p : s.points) append(data.points, p);
    for (std::vector<std::int64_t> cell : s.polygons) {
      for (std::int64_t& k : cell) k += first;
      data.polygons.add(cell);
      number.values.push_back(static_cast<double>(data.names.size()));
    }
    data.names.push_back(s.name);
  }
  data.cell_data = {std::move(number)};
  return data;
}

VtkPolyData Pictures::points(const State& state) {
  VtkPolyData data;
  VtkArray radius{"radius", 1, {}}, velocity{"velocity", 3, {}}, spin{"angular_velocity", 3, {}},
      orientation{"orientation", 4, {}}, body{"body", 1, {}};
  for (const auto* list : {&table_.colliders, &table_.ghosts})
    for (const Collider& c : *list) {
      if (c.shape.kind != Shape::Kind::sphere) continue;
      const MovingBody motion(table_, state, c.body);
      const auto& turn = motion.pose.rotation;
      const auto index = static_cast<std::int64_t>(data.points.size() / 3);
      const Vector3d arm = turn * c.position;
      append(data.points, motion.pose.position + arm);
      if (c.body >= 0) extent_.include(motion.pose.position + arm, c.shape.radius);
      data.vertices.add(std::span(&index, 1));
      radius.values.push_back(c.shape.radius);
      append(velocity.values, motion.velocity_at(arm));
      append(spin.values, motion.spin);
      orientation.values.insert(orientation.values.end(), {turn.w(), turn.x(), turn.y(), turn.z()});
      body.values.push_back(c.body);
    }
  data.point_data = {std::move(radius), std::move(velocity), std::move(spin), std::move(orientation), std::move(body)};
  data.names = names();
  most_points_ = std::max(most_points_, data.points.size() / 3);
  return data;
}

VtkPolyData Pictures::surfaces(const State& state) {
  VtkPolyData data;
  VtkArray velocity{"velocity", 3, {}}, body{"body", 1, {}};
  std::vector<std::int64_t> cell;
  for (const Surface& s : surfaces_) {
    const MovingBody motion(table_, state, s.body);
    const auto first = static_cast<std::int64_t>(data.points.size() / 3);
    for (const Vector3d& p : s.points) {
      const Vector3d arm = motion.pose.rotation * p;
      append(data.points, motion.pose.position + arm);
      extent_.include(motion.pose.position + arm);
      append(velocity.values, motion.velocity_at(arm));
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
  data.names = names();
  return data;
}

// A vertex at each contact that carries a force, and a line from centre to centre of its two bodies through it. It
// ends in the contact where the other side is fixed or of several shapes, whose centre may be far from all of them.
VtkPolyData Pictures::contacts(const State& state, const ContactImpulses* contacts) {
  VtkPolyData data;
  VtkArray force{"force", 3, {}}, normal{"normal", 3, {}}, gap{"gap", 1, {}}, strength{"normal_force", 1, {}};
  std::vector<double> of_vertices, of_lines;
  double strongest = 0;
  const int count = contacts && contacts->step > 0 && !contacts->contacts.point.empty() ? contacts->contacts.count : 0;
  for (int i = 0; i < count; ++i) {
    const ContactList& list = contacts->contacts;
    const auto at = static_cast<std::size_t>(i), d = static_cast<std::size_t>(list.dimension);
    if (JointContacts::has(list.key[at])) continue;
    const double* r = contacts->impulse.data() + d * at;
    if (!(r[0] > 0)) continue;
    Vector3d f = Vector3d::Zero();
    for (std::size_t k = 0; k < d; ++k)
      f += r[k] / contacts->step * Eigen::Map<const Vector3d>(list.frame.data() + 9 * at + 3 * k);
    const Vector3d n = Eigen::Map<const Vector3d>(list.frame.data() + 9 * at);
    const double fn = r[0] / contacts->step;
    const auto add_point = [&](const Vector3d& p) {
      append(data.points, p);
      append(force.values, f);
      append(normal.values, n);
      gap.values.push_back(list.gap[at]);
      strength.values.push_back(fn);
      return static_cast<std::int64_t>(data.points.size() / 3) - 1;
    };
    const std::int64_t vertex = add_point(Eigen::Map<const Vector3d>(list.point.data() + 3 * at));
    data.vertices.add(std::span(&vertex, 1));
    of_vertices.push_back(fn);
    strongest = std::max(strongest, f.norm());
    std::vector<std::int64_t> line{vertex};
    int last = -1;
    for (int k = list.first[at]; k < list.first[at + 1]; ++k) {
      const int body = body_of_column_[static_cast<std::size_t>(list.column[static_cast<std::size_t>(k)])];
      if (body < 0 || body == last) continue;
      last = body;
      if (!one_shape_[static_cast<std::size_t>(body)]) continue;
      const std::int64_t centre = add_point(table_.pose(state.y.data(), static_cast<std::size_t>(body)).position);
      line.insert(line.size() == 1 ? line.begin() : line.end(), centre);
    }
    if (line.size() == 1) continue;
    data.lines.add(line);
    of_lines.push_back(fn);
  }
  VtkArray cells{"normal_force", 1, of_vertices};
  cells.values.insert(cells.values.end(), of_lines.begin(), of_lines.end());
  data.point_data = {std::move(force), std::move(normal), std::move(gap), std::move(strength)};
  data.cell_data = {std::move(cells)};
  if (strongest > 0) strongest_.push_back(strongest);
  return data;
}

}  // namespace

bool is_picture_path(const std::string& path) { return ending_of(path) == ".pvd"; }

std::unique_ptr<Recorder> open_pictures(const std::string& path, std::shared_ptr<const System> system, bool thinned,
                                        double step) {
  return std::make_unique<Pictures>(path, std::move(system), thinned, step);
}

}  // namespace hinge
