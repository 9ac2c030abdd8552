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

namespace hinge {

namespace {

using Eigen::Vector3d;

class BodyContacts final : public ContactFinder {
 public:
  explicit BodyContacts(std::shared_ptr<const BodyTable> table) : table_(std::move(table)), world_(table_->dimension) {
    for (const Collider& c : table_->colliders) world_.add(c);
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
    out.clear(table_->dimension);
    for (const ContactPoint& c : points_) add(c, out);
    if (joints_) joints_->find(t, y, band, out);
  }

  void gaps(double t, const double* y, const ContactList& list, double* out) override {
    pose(y);
    if (joints_) joints_->evaluate(t, y);
    for (int i = 0; i < list.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (JointContacts::has(list.key[at])) {
        out[i] = joints_->gap(list.key[at]);
        continue;
      }
      const ContactPoint* point =
          at < points_.size() && points_[at].key == list.key[at] ? &points_[at] : known(list.key[at]);
      out[i] = point ? world_.gap(poses_, *point) : list.gap[at];
    }
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
    for (std::size_t k = 0; k < poses_.size(); ++k) poses_[k] = table_->pose(y, k);
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

  void add(const ContactPoint& c, ContactList& out) {
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
    for (std::size_t p = 0; p < count; ++p) {
      for (int j = 0; j < parts[p].count; ++j) {
        out.column.push_back(parts[p].first + j);
        for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k)
          out.H.push_back(parts[p].sign * (parts[p].arms ? parts[p].arms[k](d == 2 ? 2 : j) : directions[k](j)));
      }
    }
    ++out.count;
    out.gap.push_back(c.gap);
    out.friction.push_back(world_.friction(c.a, c.b));
    out.restitution.push_back(world_.restitution(c.a, c.b));
    out.key.push_back(c.key);
    for (int k = 0; k < d; ++k) out.drift.push_back(0);
    out.first.push_back(static_cast<int>(out.column.size()));
    for (Eigen::Index k = 0; k < 3; ++k) out.point.push_back(middle(k));
    for (const Vector3d& row : directions) out.frame.insert(out.frame.end(), row.data(), row.data() + 3);
  }

  std::shared_ptr<const BodyTable> table_;
  CollisionWorld world_;
  std::vector<BodyPose> poses_;
  std::vector<ContactPoint> points_;
  std::optional<JointContactFinder> joints_;
};

}  // namespace

std::unique_ptr<ContactFinder> find_body_contacts(std::shared_ptr<const BodyTable> table) {
  return std::make_unique<BodyContacts>(std::move(table));
}

}  // namespace hinge
