// Contacts of a step with gaps on both levels: which there are at both ends, what they demand, what they did.
#include <algorithm>
#include <cmath>
#include <utility>

#include "body/body_table.hpp"
#include "collide/narrow.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr double rounding_of_places = 2e-16;  // of lengths in the scene

// z += factor H^T r of one contact
void add_reaction_of(const ContactList& l, int i, const double* r, double factor, double* z) {
  const int d = l.dimension;
  for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
    for (int row = 0; row < d; ++row) z[l.column[at(k)]] += factor * l.H[at(k * d + row)] * r[row];
}

// A gap is a difference of coordinates.
double rounding_of_gap(const ContactList& l, int i) {
  double size = 0;
  for (int k = 0; k < 3; ++k) size = std::max(size, std::abs(l.point[at(3 * i + k)]));
  return 2 * 2.2e-16 * size;
}

}  // namespace

// Tangential components in the frame of another contact; false where the two have little to do with each other.
bool turn_tangents(const ContactList& from, int j, const ContactList& to, int i, double* r) {
  if (from.dimension != 3 || from.frame.empty() || to.frame.empty()) return true;
  const double *a = from.frame.data() + 9 * j, *b = to.frame.data() + 9 * i;
  double in[3] = {}, along = 0;
  for (int k = 0; k < 3; ++k) {
    in[k] = r[1] * a[3 + k] + r[2] * a[6 + k];
    along += a[3 + k] * b[3 + k];
  }
  for (int row = 1; row < 3; ++row) r[row] = b[3 * row] * in[0] + b[3 * row + 1] * in[1] + b[3 * row + 2] * in[2];
  return along > 0.5;
}

// u = H z of one contact
void row_velocity(const ContactList& l, int i, const double* z, double* u) {
  const int d = l.dimension;
  for (int row = 0; row < d; ++row) u[row] = l.drift[at(i * d + row)];
  for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
    for (int row = 0; row < d; ++row) u[row] += l.H[at(k * d + row)] * z[l.column[at(k)]];
}

// Contacts at y0: those of the end of the last step, where that is y0.
void MoreauJeanBoth::list_contacts(const State& state, double reach) {
  if (listed_reach_ >= reach && state.t == listed_time_ && state.y == listed_position_) {
    contacts_.again();
    reach_ = listed_reach_;
  } else {
    reach *= 1.01;  // so that the next step is not a little beyond it
    contacts_.find(state.t, state.y.data(), reach);
    act_on_surfaces(state.y.data());
    found_position_ = state.y;
    drift_.assign(at(contacts_.list().count * contacts_.dimension()), 0.0);
    reach_ = reach;
  }
  listed_reach_ = -1;
}

// Rows act halfway between two surfaces, so that angular momentum is kept. Beside what is fixed they act on the surface
// of the body, half the gap nearer to it, which is where it will touch: arms of tangents t change by (gap/2) n.
void MoreauJeanBoth::act_on_surfaces(const double* y) {
  ContactList& l = contacts_.found();
  const int d = l.dimension, turns = d == 2 ? 1 : 3;
  if (d == 1 || l.frame.size() != 9 * at(l.count)) return;
  shared_loop(l.count, [&](int i) {
    const int first = l.first[at(i)];
    if (l.first[at(i) + 1] - first != d + turns || l.gap[at(i)] == 0 || l.friction[at(i)] == 0) return;
    const std::size_t body = resting_.body_of(l.column[at(first)]);
    const Eigen::Matrix3d to_body = table_.pose(y, body).rotation.toRotationMatrix().transpose();
    const auto direction = [&](int row) { return Eigen::Map<const Eigen::Vector3d>(l.frame.data() + 9 * i + 3 * row); };
    for (int row = 1; row < d; ++row) {
      const Eigen::Vector3d more = l.gap[at(i)] / 2 * (to_body * direction(0).cross(direction(row)));
      for (int k = first; k < first + d + turns; ++k)
        if (const int turn = l.column[at(k)] - table_.places[body].spin; turn >= 0 && turn < turns)
          l.H[at(k * d + row)] += more[d == 2 ? 2 : turn];
    }
  });
}

// Those that may close take part, but not between bodies that rest; with u0 of all.
void MoreauJeanBoth::list_active(const State& state, double h) {
  const ContactList& l = contacts_.list();
  contacts_.active.clear();
  before_u0_.assign(at(l.count * l.dimension), 0.0);
  shared_loop(l.count, [&](int i) { row_velocity(l, i, state.z.data(), before_u0_.data() + i * l.dimension); });
  for (int i = 0; i < l.count; ++i) {
    if (!resting_.any_held() || !resting_.holds_contact(l, i)) contacts_.active.push_back(i);
  }
  few_at_start_ = contacts_.few();
  if (options_.solving.friction == FrictionModel::convexified) return;  // pushes open contacts apart
  if (!few_at_start_) return;  // sweeps over open contacts cost little, problems that have to be solved again much
  contacts_.keep_candidates(h, 1e-3 * std::min(smallest_, table_.length), zh_.data(), free_.data());
}

// Does stage one lead through a contact that took no part in it? Then it does.
bool MoreauJeanBoth::crosses(double h, bool all) {
  const ContactList& l = contacts_.list();
  if (static_cast<int>(contacts_.active.size()) == l.count) return false;
  missing_.resize(at(l.count));
  for (int i = 0; i < l.count; ++i) {
    double u[3];
    row_velocity(l, i, zh_.data(), u);
    const bool rests = resting_.any_held() && resting_.holds_contact(l, i);
    missing_[at(i)] = rests ? HUGE_VAL : l.gap[at(i)] + h * u[0];
  }
  return contacts_.add_crossed(missing_, 1e-12 * table_.length, all);
}

// R += r, which has active contacts only.
void MoreauJeanBoth::add_first(const std::vector<double>& r) {
  const int d = contacts_.dimension();
  for (std::size_t a = 0; a < contacts_.active.size(); ++a)
    for (int row = 0; row < d; ++row) R_[at(contacts_.active[a] * d + row)] += r[a * at(d) + at(row)];
}

// Contacts at y1. What has not moved, but for rounding, since they were looked for has those that it had.
void MoreauJeanBoth::list_contacts_at_end(const State& state, double h) {
  std::swap(before_, contacts_.found());
  const double same = rounding_of_places * std::min(1.0, table_.length), needed = band(h);
  bool moved = !(reach_ >= needed) || found_position_.size() != y1_.size();
  for (std::size_t k = 0; k < y1_.size() && !moved; ++k) moved = !(std::abs(y1_[k] - found_position_[k]) <= same);
  if (!moved) {
    contacts_.found() = before_;
    contacts_.again();
    return;
  }
  reach_ = 1.25 * needed;  // so that it is enough for the next step, too
  contacts_.look(state.t + h, y1_.data(), reach_);
  act_on_surfaces(y1_.data());
  found_position_ = y1_;
}

void MoreauJeanBoth::demand_of_positions(double h) {
  const ContactList& l = contacts_.list();
  const int d = l.dimension;
  // Where bodies turn or go along curves, gaps leave their tangents by O(h^2) in a step: that is motion, not recovery.
  const double way = whole_ * fastest_;
  const double own = (recover_ + way * way / (2 * smallest_)) / whole_;
  const double speed = options_.recover > 0 ? options_.recover : options_.recover == 0 ? HUGE_VAL : own;
  w_.resize(std::max(w_.size(), at(contacts_.rows())));
  double* w = w_.data();
  for (const int i : contacts_.active) {
    for (int row = 0; row < d; ++row) w[row] = l.drift[at(i * d + row)] + (row > 0 ? drift_[at(i * d + row)] / 2 : 0);
    // what rounding leaves of a gap is none: it would be another problem in every step at rest
    if (std::abs(l.gap[at(i)]) > rounding_of_gap(l, i))
      // of a part of a step no faster than of the whole
      w[0] += std::max(l.gap[at(i)] / (l.gap[at(i)] < 0 ? whole_ : h), -speed);
    w += d;
  }
}

// Friction over a step acts against the slip of its middle, which is that of the end and `turn` = u0 - uh. Not where
// the slip ends or begins within the step, nor where the contact strikes: there u1 itself is what the law is about.
void MoreauJeanBoth::slip_of_middle(int j, const double* uh, double* turn) const {
  const int d = before_.dimension;
  const double* u0 = before_u0_.data() + j * d;
  double slip = 0, change = 0;
  for (int row = 1; row < d; ++row) {
    const double middle = uh[row] + drift_[at(j * d + row)] / 2;
    turn[row] = u0[row] - middle;
    slip += middle * middle;
    change += turn[row] * turn[row];
  }
  if (!(change < 0.25 * slip) || u0[0] < -1e-9 * std::sqrt(slip)) std::fill_n(turn, d, 0.0);
}

// Does stage one push bodies out of each other? What it does then passes through all contacts, and is no part of z1.
bool MoreauJeanBoth::is_recovering() const {
  const double way = whole_ * fastest_, deep = way * way / (2 * smallest_) + 1e-4 * smallest_;
  for (int j = 0; j < before_.count; ++j)
    if (before_.gap[at(j)] < -deep && R_[at(j * before_.dimension)] > 0) return true;
  return false;
}

// Is the velocity of a contact with its rows of y1 another one altogether than it was with those of y0?
bool MoreauJeanBoth::has_turned(const ContactList& l, int i, double before) const {
  constexpr double much = 0.2;  // of what it is a sum of
  const int d = l.dimension;
  double u = l.drift[at(i * d)], size = 0;
  for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
    const double part = l.H[at(k * d)] * free_[at(l.column[at(k)])];
    u += part;
    size += std::abs(part);
  }
  return std::abs(u - before) > much * size;
}

void MoreauJeanBoth::pair_contact(int i, double eps, double largest) {
  const ContactList& l = contacts_.list();
  const int d = l.dimension;
  const int j =
      static_cast<int>(std::lower_bound(before_.key.begin(), before_.key.end(), l.key[at(i)]) - before_.key.begin());
  const bool known = j < before_.count && before_.key[at(j)] == l.key[at(i)];
  Pair& p = pairs_[at(i)];
  p = {};
  if (known) {
    double uh0[3], uh1[3];
    used_[at(j)] = 1;
    std::copy_n(R_.data() + j * d, d, p.R);
    std::copy_n(before_u0_.data() + j * d, d, p.u);
    row_velocity(before_, j, zh_.data(), uh0);
    row_velocity(l, i, zh_.data(), uh1);
    slip_of_middle(j, uh0, p.turn);
    if (turn_tangents(before_, j, l, i, p.R))
      for (int row = 1; row < d; ++row) next_drift_[at(i * d + row)] = uh1[row] - uh0[row];
    turn_tangents(before_, j, l, i, p.u);
    turn_tangents(before_, j, l, i, p.turn);
  }
  // z0 in the axes of y1: of contacts that are new, and of those that another point of a rim or an edge has
  if (!known || (!(p.R[0] > 0) && has_turned(l, i, p.u[0]))) row_velocity(l, i, free_.data(), p.u);
  const bool closed = l.gap[at(i)] <= eps || p.R[0] > 1e-12 * largest;
  const bool rebounds = rebounding_ && known && closed && p.R[0] > 0 && l.restitution[at(i)] > 0;
  partners_[at(i)] = {known ? j : -1, closed, rebounds};
}

// Who at y1 was who at y0, and which are closed; with R and u0 in the frames of y1.
void MoreauJeanBoth::pair_contacts() {
  const ContactList& l = contacts_.list();
  const int d = l.dimension;
  const double eps = separated_ ? 1e-5 * smallest_ : 1e-10 * table_.length;
  double largest = 0;
  for (int j = 0; j < before_.count; ++j) largest = std::max(largest, R_[at(j * d)]);
  partners_.assign(at(l.count), {-1, false, false});
  contacts_.kept.assign(resting_.any_held() ? at(l.count) : 0, 0);
  next_drift_.assign(at(l.count * d), 0.0);
  used_.assign(at(before_.count), 0);
  R_at_end_.clear();
  R_struck_.clear();
  u0_.clear();
  slip_.clear();
  const double slow = slow_approach * table_.fastest(free_.data());
  rebounding_ = false;  // shocks then pass through closed contacts, too
  for (int i = 0; i < before_.count && !recovering_; ++i)
    rebounding_ = rebounding_ || (before_u0_[at(i * d)] < -slow && R_[at(i * d)] > 0 && before_.restitution[at(i)] > 0);
  pairs_.resize(at(l.count));
  shared_loop(l.count, [&](int i) { pair_contact(i, eps, largest); });
  for (int i = 0; i < l.count; ++i) {
    const Pair& p = pairs_[at(i)];
    const bool rests = resting_.any_held() && resting_.holds_contact(l, i);
    if (rests) contacts_.kept[at(i)] = 1;
    if (!partners_[at(i)].closed || rests) continue;
    contacts_.active.push_back(i);
    constexpr double none[3] = {};
    const double *R = recovering_ ? none : p.R, *at_end = partners_[at(i)].rebounds ? none : R;
    R_struck_.insert(R_struck_.end(), R, R + d);
    R_at_end_.insert(R_at_end_.end(), at_end, at_end + d);
    u0_.insert(u0_.end(), p.u, p.u + d);
    slip_.insert(slip_.end(), p.turn, p.turn + d);
  }
  find_gone();
}

// R of contacts that are gone at y1 is a part of z1, too. Not where something rebounds and another contact of the same
// two bodies is closed at y1: that has the law of the impact then, with the velocities before it.
void MoreauJeanBoth::find_gone() {
  const ContactList& l = contacts_.list();
  const int d = before_.dimension;
  const auto pair = [](std::uint64_t key) { return key >> contact::feature_bits; };
  gone_.assign(at(before_.count), 0);
  left_.assign(at(before_.count), 0);
  if (recovering_) return;
  std::size_t a = 0;
  for (int j = 0; j < before_.count; ++j) {
    if (used_[at(j)] || !(R_[at(j * d)] > 0)) continue;
    gone_[at(j)] = left_[at(j)] = 1;
    if (!rebounding_ || !(before_.restitution[at(j)] > 0)) continue;
    while (a < contacts_.active.size() && pair(l.key[at(contacts_.active[a])]) < pair(before_.key[at(j)])) ++a;
    if (a < contacts_.active.size() && pair(l.key[at(contacts_.active[a])]) == pair(before_.key[at(j)]))
      gone_[at(j)] = 0;
  }
}

bool MoreauJeanBoth::is_gone(int j) const { return gone_[at(j)] != 0; }

void MoreauJeanBoth::add_first_impulses(double* p) const {
  const int d = before_.dimension;
  if (recovering_) return;
  for (const int i : contacts_.active)
    if (const int j = partners_[at(i)].before; j >= 0 && !partners_[at(i)].rebounds)
      add_reaction_of(before_, j, R_.data() + j * d, 1.0, p);
  for (int j = 0; j < before_.count; ++j)
    if (is_gone(j)) add_reaction_of(before_, j, R_.data() + j * d, 1.0, p);
}

// The same of joints, S.G0 and (s - S).G1, whose rows turn: none but where something strikes. What motors do that
// prescribe a motion, -s.g_t, is not the contacts'.
double MoreauJeanBoth::work_of_joints(const State& state) {
  const Pattern& joints = system_->pattern(Q::constraint_rate_z);
  const double* G1 = (*rates_)[Q::constraint_rate_z];
  std::fill(turned_.begin(), turned_.end(), 0.0);
  add_joint_reaction(joints, G0_.data(), joint_.data(), 1.0, turned_.data());
  if (spins_) spins_->turn_between(state.y.data(), y1_.data(), turned_.data());
  double work = 0;
  for (int k = 0; k < nz_; ++k) work -= turned_[at(k)] * (z1_[at(k)] - start_z_[at(k)]);
  add_joint_reaction(joints, G1, joint_.data(), -1.0, turned_.data());
  add_joint_reaction(joints, G1, contacts_.joint_impulse.data(), 1.0, turned_.data());
  for (int k = 0; k < nz_; ++k) work += turned_[at(k)] * (zh_[at(k)] + (z1_[at(k)] - start_z_[at(k)]) / 2);
  for (int k = 0; k < m_; ++k) work += contacts_.joint_impulse[at(k)] * c_[at(k)];
  return work;
}

// What contacts did: R between z0 and zh, r - R between zh and z1; and |M z1 - right - H1^T r - G1^T s|. Where
// something strikes, z0 and z1 are not what the way of the step is made of, h zh, and forces do work along that: with M
// (zh - z0) = h f/2 + H0^T R and M (z1 - z0) = h f + H^T r
//
//   T1 - T0 - h f.zh = r.(H zh + H (z1 - z0)/2) - R.H0 (z1 - z0)
void MoreauJeanBoth::account(const State& state, double h) {
  if (!contacts_.has_contacts()) return;
  const int d = contacts_.dimension();
  for (int k = 0; k < nz_; ++k) turned_[at(k)] = mass_[at(k)] * z1_[at(k)] - right_[at(k)];
  double scale = std::max({biggest(right_.data(), nz_), biggest(p0_.data(), nz_), h * biggest(f_.data(), nz_)});
  contacts_.add_reaction(contacts_.contact_impulse.data(), -1.0, turned_.data());
  add_joint_reaction(system_->pattern(Q::constraint_rate_z), (*rates_)[Q::constraint_rate_z],
                     contacts_.joint_impulse.data(), -1.0, turned_.data());
  for (const double s : contacts_.joint_impulse) scale = std::max(scale, std::abs(s));
  contacts_.count_balance(biggest(turned_.data(), nz_), scale);
  total_ = contacts_.contact_impulse;
  for (std::size_t k = 0; k < struck_.size(); ++k) total_[k] += struck_[k];
  uh_.resize(at(contacts_.rows()));
  contacts_.velocities(zh_.data(), uh_.data());
  w_.resize(std::max(w_.size(), at(contacts_.rows())));
  contacts_.velocities(z1_.data(), w_.data());
  double normal = 0, tangential = 0;
  bool strikes = strikes_;  // or closes without having approached at first
  for (const int i : contacts_.active) {
    const int j = partners_[at(i)].before;
    strikes = strikes || j < 0 || before_.gap[at(j)] > 1e-10 * table_.length;
  }
  double slid = 0;  // by r and the mean of u0 and u1, where something strikes
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int k = static_cast<int>(a) * d, j = partners_[at(contacts_.active[a])].before;
    double mean = 0;
    for (int row = 1; row < d; ++row) mean += total_[at(k + row)] * (start_u0_[at(k + row)] + w_[at(k + row)]) / 2;
    slid += std::min(0.0, mean);
    const bool rebounds = partners_[at(contacts_.active[a])].rebounds;
    double first[3] = {};
    if (j >= 0) row_velocity(before_, j, zh_.data(), first);
    for (int row = 0; row < d; ++row) {
      const double R = R_at_end_[at(k + row)], r = total_[at(k + row)], rest = r - R;
      const double from = recovering_ ? u0_[at(k + row)] : uh_[at(k + row)];
      double work = rest * (from + w_[at(k + row)]) / 2;
      if (j >= 0 && !recovering_) work += R_[at(j * d + row)] * (before_u0_[at(j * d + row)] + first[row]) / 2;
      if (strikes && !recovering_) {
        const double change = w_[at(k + row)] - start_u0_[at(k + row)];
        work = r * (uh_[at(k + row)] + change / 2);
        work -= R_struck_[at(k + row)] * (rebounds ? change_along_first(static_cast<int>(a), row) : change);
      }
      (row == 0 ? normal : tangential) += work;
    }
  }
  for (int j = 0; j < before_.count; ++j) {
    // dropped: of positions only, which another contact's law is about
    const bool dropped = rebounding_ && left_[at(j)] && !is_gone(j);
    if (!is_gone(j) && !dropped) continue;
    double uh[3], u1[3];
    row_velocity(before_, j, zh_.data(), uh);
    row_velocity(before_, j, z1_.data(), u1);
    for (int row = 0; row < d; ++row) {
      const double R = R_[at(j * d + row)], u0 = before_u0_[at(j * d + row)];
      const double work = dropped   ? -R * (u1[row] - u0)
                          : strikes ? R * (uh[row] - (u1[row] - u0) / 2)
                                    : R * (u0 + uh[row]) / 2;
      (row == 0 ? normal : tangential) += work;
    }
  }
  if (strikes && m_ > 0 && !recovering_) normal += work_of_joints(state);
  if (rebounding_)
    for (int k = 0; k < nz_; ++k)
      normal += missing_momentum_[at(k)] * (zh_[at(k)] + (z1_[at(k)] - start_z_[at(k)]) / 2);
  // Of impacts that meet in a step only the sum is known, T1 - T0 and what forces did: normal impulses of others turn
  // the slip that friction opposes. What friction takes is then said by its own law, and the rest is the impacts'.
  if (strikes && !recovering_) normal += std::exchange(tangential, slid) - slid;
  contacts_.count_work(normal, tangential);
  double kinetic = 0, force = 0;
  for (int k = 0; k < nz_; ++k) {
    kinetic += p0_[at(k)] * state.z[at(k)] / 2;
    force += std::abs(f_[at(k)]);
  }
  contacts_.count_kinetic(kinetic, force * table_.length);
  contacts_.finish(total_.data(), u0_.data(), h, state.t + h, y1_.data());
  record_impulses();
  if (extra_ > 0) contacts_.count_gaps();  // as listed: what was brought back has none at y1
}

}  // namespace hinge
