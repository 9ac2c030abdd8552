// Slip that no impulse can change: joints and motors prescribe it, as where a brake presses on a wheel that a motor
// turns, or a wall draws along what a guide holds. With u = W r + q such a direction e of a contact's tangents has
// W e = 0 and u_e = q_e. Friction acts there all the same, r_T = -mu r_N u_T/|u_T|: it moves nothing, but joints and
// motors have to bear it, it takes energy, and it takes its part of the cone away from other directions.
//
// Held is what hardly moves, too, as at a dead point: what r_T does to velocities there is kept, and is at most 1e-6.
//
// Where all tangents of a contact are held, r_T follows from r_N. Where one of two is, solvers get a W_ee = w > 0 and
// q_e - w r_e in the place of q_e, again and again until r_e stays: then u_e = q_e.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "method/nonsmooth/contact_step.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double held = 1e-12;     // of what would move without joints
constexpr double no_slip = 1e-11;  // beside the velocities that joints hold back
constexpr double quick = 0.05;     // of the slip, w r_e: each turn divides the error by this or more
constexpr double settled_slip = 1e-13, useful_slip = 1e-8;  // of the slip
constexpr int most_slip_turns = 40;

}  // namespace

void ContactStep::find_held() {
  held_.clear();
  for (int row = 0; d_ > 1 && row < rows(); row += d_) {
    const bool first = idle_[at(row + 1)] != 0, second = d_ == 2 || idle_[at(row + 2)] != 0;
    const double most = std::max(without_joints_[at(row + 1)], d_ > 2 ? without_joints_[at(row + 2)] : 0.0);
    if (!(friction(row / d_) > 0 && most > 0)) continue;
    if (first && second) {
      held_.push_back({row, true, {}, {}, 0, 0});
    } else if (d_ == 3 && (first || second)) {
      held_.push_back(
          {row, false, {first ? 1.0 : 0.0, second ? 1.0 : 0.0}, {}, W_(row + 2 - first, row + 2 - first), 0});
    } else if (d_ == 3) {  // askew
      const Eigen::Matrix2d B = W_.block<2, 2>(row + 1, row + 1);
      const double half = (B(0, 0) - B(1, 1)) / 2;
      if (B.trace() / 2 - std::hypot(half, B(0, 1)) > held * most) continue;
      const double angle = 0.5 * std::atan2(B(0, 1), half) + 0.5 * std::numbers::pi;
      held_.push_back({row, false, {std::cos(angle), std::sin(angle)}, {}, 0, 0});
      stiffen(W_, held_.back(), most);
    }
  }
}

// For laws of impact, which ask for all of W at once: so little that what friction does leaves that slip as it is.
void ContactStep::loosen_held() {
  constexpr double little = 1e-9;
  for (Held& h : held_)
    if (h.all)
      for (int row = h.row + 1; row < h.row + d_; ++row) W_(row, row) = little * W_(h.row, h.row);
    else
      stiffen(W_, h, little * W_(h.row, h.row));
}

bool ContactStep::acts(int row) const {
  const auto is_held = [&](const Held& h) { return row > h.row && row < h.row + d_; };
  return !idle_[at(row)] || std::any_of(held_.begin(), held_.end(), is_held);
}

// W_ee becomes w.
void ContactStep::stiffen(Eigen::MatrixXd& W, Held& h, double w) {
  const Eigen::Map<const Eigen::Vector2d> e(h.along.data());
  W.block<2, 2>(h.row + 1, h.row + 1) += (w - h.w) * e * e.transpose();
  h.w = w;
}

// The slip there out of q. Zero where that is nothing beside `parts`.
void ContactStep::take_slip(Held& h, double parts, Eigen::VectorXd& q) const {
  h.slip = {q[h.row + 1], d_ > 2 ? q[h.row + 2] : 0.0};
  if (!h.all) {
    const double along = h.slip[0] * h.along[0] + h.slip[1] * h.along[1];
    h.slip = {along * h.along[0], along * h.along[1]};
  }
  for (int row = 1; row < d_; ++row) q[h.row + row] -= h.slip[at(row - 1)];
  if (!(std::hypot(h.slip[0], h.slip[1]) > no_slip * parts)) h.slip = {};
  h.r = 0;
}

// Beside what impulses and forces would move without joints.
void ContactStep::take_held_slip(const double* right, const double* w, Eigen::VectorXd& q) {
  const ContactList& l = list();
  for (Held& h : held_) {
    const int i = active[at(h.row / d_)];
    double parts = 0;
    for (int row = 1; row < d_; ++row) {
      parts += std::abs(w[h.row + row]);
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
        const int j = l.column[at(k)];
        const double mass = std::abs(S_[at(diagonal_[at(j)])]);
        if (mass > 0) parts += std::abs(l.H[at(k * d_ + row)] * right[j]) / mass;
      }
    }
    take_slip(h, parts, q);
  }
}

// From reaction_, which becomes the solution.
bool ContactStep::solve_beside_held(Eigen::MatrixXd& W, const Eigen::VectorXd& q) {
  const auto pressed = [&](const Held& h) { return friction(h.row / d_) * reaction_[at(h.row)]; };
  const auto aside = [&](const Held& h) {
    return h.along[0] * reaction_[at(h.row + 1)] + h.along[1] * reaction_[at(h.row + 2)];
  };
  const auto slips = [](const Held& h) { return h.slip[0] != 0 || h.slip[1] != 0; };
  for (Held& h : held_) {
    if (reaction_.empty()) break;
    if (h.all)
      for (int row = 1; row < d_; ++row) reaction_[at(h.row + row)] = 0;
    else if (slips(h))
      h.r = aside(h);
  }
  double change = 1;
  for (int turn = 0; turn < most_slip_turns && change > settled_slip; ++turn) {
    Eigen::VectorXd shifted = q;
    for (const Held& h : held_) {
      if (h.all || !slips(h)) continue;
      for (int k = 0; k < 2; ++k) shifted[h.row + 1 + k] += h.slip[at(k)] - h.w * h.r * h.along[at(k)];
    }
    if (!solve_problem(dense_problem(W, shifted))) return false;
    change = 0;
    for (Held& h : held_) {
      if (h.all || !slips(h)) continue;
      const double slip = std::hypot(h.slip[0], h.slip[1]), r = aside(h);
      change = std::max(change, h.w * std::abs(r - h.r) / slip);
      h.r = r;
      if (h.w * pressed(h) > 2 * quick * slip) stiffen(W, h, quick * slip / pressed(h));
    }
  }
  if (change > useful_slip) {
    failure = "friction does not settle where joints prescribe a part of the slip; take a shorter step";
    return false;
  }
  for (Held& h : held_)
    if (h.all && slips(h)) h.r = pressed(h) / std::hypot(h.slip[0], h.slip[1]);
  for (int k = 0; k < rows(); ++k)
    if (idle_[at(k)]) reaction_[at(k)] = 0;
  for (const Held& h : held_)
    for (int k = 0; k < d_ - 1 && slips(h); ++k)
      if (h.all)
        reaction_[at(h.row + 1 + k)] = -h.r * h.slip[at(k)];
      else if (h.along[at(k)] == 1)
        reaction_[at(h.row + 1 + k)] = h.r;
  return true;
}

// W is that of a method, whose contacts and their tangents are those of the list.
bool ContactStep::solve_explicit(Eigen::MatrixXd W, Eigen::VectorXd q, int dimension, const std::vector<char>& asleep,
                                 Eigen::VectorXd& out) {
  const bool friction_too = dimension > 1;
  const auto sleeps = [&](int contact) { return !asleep.empty() && asleep[at(contact)] != 0; };
  const double fastest = q.size() > 0 ? q.lpNorm<Eigen::Infinity>() : 0.0;
  for (Held& h : held_) {
    if (!friction_too) break;
    take_slip(h, sleeps(h.row / d_) ? HUGE_VAL : 100 * fastest, q);
  }
  const double largest = W.diagonal().maxCoeff();
  std::vector<char> off(active.size() * static_cast<unsigned>(dimension), 0);
  for (int k = 0; k < q.size(); ++k) {
    const int first = k - k % dimension;
    const double scale = k == first ? largest : W(first, first);
    off[at(k)] = sleeps(k / dimension) || !(W(k, k) > 1e-13 * scale);
    if (!off[at(k)]) continue;
    W.row(k).setZero();
    W.col(k).setZero();
    W(k, k) = scale > 0 ? scale : 1;
    q[k] = 0;
  }
  reaction_.clear();
  if (!friction_too) {
    if (!solve_problem(linear_complementarity(W, q))) return false;
  } else {
    for (Held& h : held_) {
      if (h.all) continue;
      h.w = 0;
      if (h.along[0] == 1 || h.along[1] == 1)
        h.w = W(h.row + (h.along[0] == 1 ? 1 : 2), h.row + (h.along[0] == 1 ? 1 : 2));
      else
        stiffen(W, h, W(h.row, h.row));
    }
    if (!solve_beside_held(W, q)) return false;
  }
  out = Eigen::Map<const Eigen::VectorXd>(reaction_.data(), q.size());
  for (int k = 0; k < q.size(); ++k)
    if (off[at(k)] && (!friction_too || !idle_[at(k)] || sleeps(k / dimension))) out[k] = 0;
  return true;
}

}  // namespace hinge
