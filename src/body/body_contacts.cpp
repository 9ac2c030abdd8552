// Contacts between shapes. With the two surface points one above the other along the normal n, and c in their middle,
//
//   u = D^T (v_a(c) - v_b(c)),  D = (n, t1, t2),  v_a(c) = x_a' + omega_a x (c - x_a)
//
// the row of a direction d over body a is (d, R_a^T ((c - x_a) x d)), over b the same with the other sign. Since arm x
// n is the same for all points along the normal, u_N is the rate of the gap; and since both forces act at c, a contact
// keeps linear and angular momentum.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

class BodyContacts final : public ContactFinder {
 public:
  explicit BodyContacts(std::shared_ptr<const BodyTable> table) : table_(std::move(table)), world_(table_->dimension) {
    for (const Collider& c : table_->colliders) {
      world_.add(c);
      columns_.push_back(c.body < 0 ? 0 : table_->dimension == 2 ? 3 : 6);
    }
    for (const auto& [a, b] : table_->ignored) world_.ignore(a, b);
    poses_.resize(table_->places.size());
    if (table_->joint_contacts) joints_.emplace(table_->joint_contacts);
  }

  int dimension() const override { return table_->dimension; }
  double length_scale() const override { return table_->length; }

  void find(double t, const double* y, double band, ContactList& out) override {
    pose(y);
    world_.find(poses_, band, points_);
    if (!table_->apart.empty()) drop_jointed();
    make_room(out);
    shared_loop(static_cast<int>(points_.size()), [&](int i) { put(i, out); });
    if (joints_) joints_->find(t, y, band, out);
  }

  void gaps(double t, const double* y, const ContactList& list, double* out) override {
    pose(y);
    if (joints_) joints_->evaluate(t, y);
    shared_loop(
        list.count,
        [&](int i) {
          const auto at = static_cast<std::size_t>(i);
          if (JointContacts::has(list.key[at])) {
            out[i] = joints_->gap(list.key[at]);
            return;
          }
          const ContactPoint* point =
              at < points_.size() && points_[at].key == list.key[at] ? &points_[at] : known(list.key[at]);
          out[i] = point ? world_.gap(poses_, *point) : list.gap[at];
        },
        128);
  }

  std::string name(std::uint64_t key) const override {
    if (JointContacts::has(key)) return table_->joint_contacts->of(key).name;
    const ContactPoint* point = known(key);
    if (!point) return fmt::format("{:x}", key);
    const auto& colliders = world_.colliders();
    return fmt::format("{} - {}", colliders[static_cast<std::size_t>(point->a)].name,
                       colliders[static_cast<std::size_t>(point->b)].name);
  }

 private:
  void pose(const double* y) {
    shared_loop(static_cast<int>(poses_.size()),
                [&](int k) { poses_[static_cast<std::size_t>(k)] = table_->pose(y, static_cast<std::size_t>(k)); });
  }

  void drop_jointed() {
    const auto& colliders = world_.colliders();
    const auto jointed = [&](int fixed, int other) {
      return colliders[static_cast<std::size_t>(fixed)].body < 0 &&
             std::binary_search(table_->apart.begin(), table_->apart.end(),
                                std::pair{colliders[static_cast<std::size_t>(other)].body, fixed});
    };
    std::erase_if(points_, [&](const ContactPoint& c) { return jointed(c.a, c.b) || jointed(c.b, c.a); });
  }

  const ContactPoint* known(std::uint64_t key) const {
    const auto at = std::lower_bound(points_.begin(), points_.end(), key,
                                     [](const ContactPoint& p, std::uint64_t k) { return p.key < k; });
    return at != points_.end() && at->key == key ? &*at : nullptr;
  }

  struct Columns {
    int first;    // in z
    int count;    //
    double sign;  //
    const Vector3d*
        arms;  // of the spin columns: (c - x) x d along the axes of the body, for each direction d; else null
  };

  // For all points, and where each has its columns.
  void make_room(ContactList& out) const {
    const int d = table_->dimension;
    const auto columns_of = [&](int collider) { return columns_[static_cast<std::size_t>(collider)]; };
    out.clear(d);
    out.count = static_cast<int>(points_.size());
    const std::size_t n = points_.size(), rows = n * static_cast<std::size_t>(d);
    out.first.resize(n + 1);
    for (std::size_t i = 0; i < n; ++i)
      out.first[i + 1] = out.first[i] + columns_of(points_[i].a) + columns_of(points_[i].b);
    out.column.resize(static_cast<std::size_t>(out.first[n]));
    out.H.resize(out.column.size() * static_cast<std::size_t>(d));
    for (auto* v : {&out.gap, &out.friction, &out.restitution}) v->resize(n);
    out.key.resize(n);
    out.drift.resize(rows);
    out.point.resize(3 * n);
    out.frame.resize(9 * n);
  }

  void put(int i, ContactList& out) const {
    const auto here = static_cast<std::size_t>(i);
    const ContactPoint& c = points_[here];
    const int d = table_->dimension;
    const Vector3d& n = c.normal;
    std::array<Vector3d, 3> directions{n, {}, {}};
    if (d == 2) {
      directions[1] = {-n(1), n(0), 0};
      directions[2] = {0, 0, 1};
    } else {
      // the frame that turns least with the normal: it jumps at n = -e3 only
      const double sign = std::copysign(1.0, n(2)), a = -1 / (sign + n(2)), b = n(0) * n(1) * a;
      directions[1] = {1 + sign * n(0) * n(0) * a, sign * b, -sign * n(0)};
      directions[2] = {b, sign + n(1) * n(1) * a, -n(1)};
    }
    const Vector3d middle = c.point + (c.gap / 2) * n;
    std::array<std::array<Vector3d, 3>, 2> arms;
    std::array<Columns, 4> parts{};
    std::size_t count = 0;
    const int colliders[] = {c.a, c.b};
    for (std::size_t side = 0; side < 2; ++side) {
      const int body = world_.colliders()[static_cast<std::size_t>(colliders[side])].body;
      if (body < 0) continue;
      const BodyPose& pose = poses_[static_cast<std::size_t>(body)];
      const BodyPlace& place = table_->places[static_cast<std::size_t>(body)];
      const Vector3d arm = middle - pose.position;
      const Eigen::Matrix3d to_body = pose.rotation.toRotationMatrix().transpose();
      for (std::size_t k = 0; k < 3; ++k) arms[side][k] = to_body * arm.cross(directions[k]);
      const double sign = side == 0 ? 1 : -1;
      for (const Columns& part :
           {Columns{place.v, d, sign, nullptr}, Columns{place.spin, d == 2 ? 1 : 3, sign, arms[side].data()}}) {
        std::size_t at = count++;
        for (; at > 0 && parts[at - 1].first > part.first; --at) parts[at] = parts[at - 1];
        parts[at] = part;
      }
    }
    int* column = out.column.data() + out.first[here];
    double* H = out.H.data() + out.first[here] * d;
    for (std::size_t p = 0; p < count; ++p)
      for (int j = 0; j < parts[p].count; ++j) {
        *column++ = parts[p].first + j;
        for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k)
          *H++ = parts[p].sign * (parts[p].arms ? parts[p].arms[k](d == 2 ? 2 : j) : directions[k](j));
      }
    out.gap[here] = c.gap;
    out.friction[here] = world_.friction(c.a, c.b);
    out.restitution[here] = world_.restitution(c.a, c.b);
    out.key[here] = c.key;
    std::copy_n(middle.data(), 3, out.point.begin() + 3 * i);
    for (std::size_t row = 0; row < 3; ++row)
      std::copy_n(directions[row].data(), 3, out.frame.data() + 9 * here + 3 * row);
  }

  std::shared_ptr<const BodyTable> table_;
  CollisionWorld world_;
  std::vector<int> columns_;  // of z, of each collider
  std::vector<BodyPose> poses_;
  std::vector<ContactPoint> points_;
  std::optional<JointContactFinder> joints_;
};

}  // namespace

std::unique_ptr<ContactFinder> find_body_contacts(std::shared_ptr<const BodyTable> table) {
  return std::make_unique<BodyContacts>(std::move(table));
}

}  // namespace hinge
