// Friction of joints: the width of its cone and the impulses of the joints, found together.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "method/nonsmooth/contact_step.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr int most_turns = 100;
constexpr double settled_change = 1e-12, useful_width = 1e-6;

}  // namespace

void ContactStep::make_spans() {
  const BodyTable* table = bodies_of(*system_);
  if (!table || !table->has_joint_friction()) return;
  const auto& list = table->joint_contacts->list;
  if (std::any_of(list.begin(), list.end(), [](const JointContact& c) { return c.load_rows > 0; }))
    spans_ = std::make_shared<JointContactFinder>(table->joint_contacts);
}

void ContactStep::find_bearings() {
  const BodyTable* table = bodies_of(*system_);
  if (!table || !table->has_joint_friction()) return;
  const std::vector<Bearing> before = std::move(bearings_);
  bearings_.clear();
  for (std::size_t a = 0; a < active.size(); ++a) {
    const std::uint64_t key = list().key[at(active[a])];
    if (!JointContacts::has(key)) continue;
    const JointContact& joint = table->joint_contacts->of(key);
    if (!joint.friction) continue;
    const auto known = std::find_if(before.begin(), before.end(), [&](const Bearing& b) { return b.joint == &joint; });
    bearings_.push_back({static_cast<int>(a) * d_, &joint, known == before.end() ? 0.0 : known->width});
  }
}

double ContactStep::bearing_width(int row) const {
  for (const Bearing& b : bearings_)
    if (b.row == row) return b.width;
  return -1;
}

// |sum_k s_k C_k| over the velocities of the body; with a span, of both halves of the bearing
double ContactStep::width_of(const JointContact& joint) const {
  if (joint.load_rows > 0)
    return spans_->load(joint, joint_impulse.data() + joint.first_row) + joint.constant * std::abs(h_);
  double force[3] = {};
  for (int j = joint.first_row; j < joint.first_row + joint.rows; ++j)
    for (int k = joints_.row_start[at(j)]; k < joints_.row_start[at(j) + 1]; ++k)
      if (const int component = joints_.column[at(k)] - joint.velocity; component >= 0 && component < d_)
        force[component] += C_[at(k)] * joint_impulse[at(j)];
  return std::hypot(force[0], force[1], force[2]) + joint.constant * std::abs(h_);
}

bool ContactStep::solve(const double* right, const double* c, const double* w, double* v) {
  if (bearings_.empty()) return solve_once(right, c, w, v);
  double change = 0, largest = 0;
  for (int turn = 0; turn < most_turns; ++turn) {
    if (!solve_once(right, c, w, v)) return false;
    change = largest = 0;
    for (Bearing& b : bearings_) {
      const double width = width_of(*b.joint);
      change = std::max(change, std::abs(width - b.width));
      largest = std::max({largest, width, b.width});
      b.width = width;
    }
    if (!(change > settled_change * largest)) return true;
  }
  if (change <= useful_width * largest) return true;
  std::string names;
  for (const Bearing& b : bearings_) names += (names.empty() ? "" : ", ") + b.joint->name;
  failure = fmt::format(
      "friction and force of joints do not settle ({}): the joints jam, or the coefficient of friction is so large "
      "that "
      "there is more than one answer; take a smaller one, or a smaller radius",
      names);
  return false;
}

}  // namespace hinge
