// Rows of contacts that rebound within a step with gaps on both levels.
//
// Stage one has an impulse R along rows H0 of y0, and the rest of r acts along rows H1 of y1, r - R. Both are one
// impulse along rows in between,
//
//   H0^T R + H1^T (r - R) = H^T r,     H = H1 + p (H0 - H1),  p = R/r
//
// and that is what the law of impact has to be about: then it takes the energy that the law says. p is made with r of
// the contact alone, or (1 + e) R where it was closed already, and what is missing to the left side is given in the
// end, (H0 - H1)^T (R - p r), between bodies that move: angular momentum is kept to rounding by the left side, since R
// moves bodies along H0, and H1 acts at one point of y1.
//
// Where a contact has gone on to another point of a rim or an edge, or is gone, H1 are its rows of y0, which act at one
// point of y1.
#include <algorithm>
#include <cmath>
#include <utility>

#include "body/body_table.hpp"
#include "body/turn.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

// A contact that struck and is gone at y1, where no other of its two bodies is closed, rebounds with its rows of y0.
void MoreauJeanBoth::bring_back(int j) {
  ContactList& l = contacts_.found();
  const auto append = [](std::vector<double>& to, const std::vector<double>& from, int first, int count) {
    if (!from.empty()) to.insert(to.end(), from.begin() + first, from.begin() + first + count);
  };
  const int d = l.dimension, first = first_.first[at(j)], end = first_.first[at(j) + 1];
  append(l.friction, first_.friction, j, 1);
  append(l.restitution, first_.restitution, j, 1);
  append(l.drift, first_.drift, j * d, d);
  append(l.point, first_.point, 3 * j, 3);
  append(l.frame, first_.frame, 9 * j, 9);
  append(l.H, first_.H, first * d, (end - first) * d);
  l.column.insert(l.column.end(), first_.column.begin() + first, first_.column.begin() + end);
  l.first.push_back(static_cast<int>(l.column.size()));
  l.key.push_back(before_.key[at(j)]);
  l.gap.push_back(0);
  contacts_.active.push_back(l.count++);
  partners_.push_back({j, true, true});
  append(R_struck_, R_, j * d, d);
  append(u0_, before_u0_, j * d, d);
  for (auto* v : {&R_at_end_, &slip_, &next_drift_}) v->insert(v->end(), at(d), 0.0);
  gone_[at(j)] = left_[at(j)] = 0;
  ++extra_;
}

// Rows of y0 whose points on both bodies have come apart by y1: halfway between them. False with one body.
bool MoreauJeanBoth::at_one_point(const State& state, int j, double* H) const {
  const int d = first_.dimension, n = first_.first[at(j) + 1] - first_.first[at(j)];
  const int* column = first_.column.data() + first_.first[at(j)];
  const int spins = d == 2 ? 1 : 3, one = d + spins;
  if (d == 1 || n != 2 * one) return false;
  const auto body_of = [&](int v) {
    return std::find_if(table_.places.begin(), table_.places.end(), [&](const BodyPlace& b) { return b.v == v; });
  };
  // columns increase: places of both bodies first where spins come last, or one body after the other
  int first[2] = {-1, -1}, spin[2] = {-1, -1};
  const BodyPlace* place[2] = {};
  for (int k = 0, b = 0; k < n && b < 2; ++k)
    if (const auto found = body_of(column[k]); found != table_.places.end()) {
      place[b] = &*found;
      first[b++] = k;
    }
  if (!place[1]) return false;
  for (int b = 0; b < 2; ++b)
    for (int k = 0; k < n; ++k)
      if (column[k] == place[b]->spin) spin[b] = k;
  if (spin[0] < 0 || spin[1] < 0) return false;
  double apart[3] = {};
  for (int k = 0; k < d; ++k) {
    const auto way = [&](int b) { return y1_[at(place[b]->x + k)] - state.y[at(place[b]->x + k)]; };
    apart[k] = (way(1) - way(0)) / 2;
  }
  for (int row = 0; row < d; ++row) {
    double f[3] = {};
    for (int k = 0; k < d; ++k) f[k] = H[(first[0] + k) * d + row];
    const double torque[3] = {apart[1] * f[2] - apart[2] * f[1], apart[2] * f[0] - apart[0] * f[2],
                              apart[0] * f[1] - apart[1] * f[0]};
    for (int b = 0; b < 2; ++b) {
      if (d == 2) {
        H[spin[b] * d + row] += torque[2];
        continue;
      }
      constexpr double straight[4] = {1, 0, 0, 0};
      double back[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      back_between(straight, y1_.data() + place[b]->rotation, back);
      for (int k = 0; k < 3; ++k)
        H[(spin[b] + k) * d + row] +=
            back[3 * k] * torque[0] + back[3 * k + 1] * torque[1] + back[3 * k + 2] * torque[2];
    }
  }
  return true;
}

void MoreauJeanBoth::mix_rows(const State& state) {
  ContactList& l = contacts_.found();
  const int d = l.dimension;
  extra_ = 0;
  if (!rebounding_) return;
  first_ = before_;
  spin_rows_->turn_between(state.y.data(), y1_.data(), first_);
  for (int j = 0; j < before_.count; ++j)
    if (is_gone(j) && before_.restitution[at(j)] > 0) bring_back(j);
  second_ = framed_ = first_.H;
  part_.assign(contacts_.active.size(), 0.0);
  for (int j = 0; j < before_.count; ++j)
    if (left_[at(j)] && !is_gone(j)) at_one_point(state, j, second_.data() + first_.first[at(j)] * d);
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int i = contacts_.active[a], j = partners_[at(i)].before, n = l.first[at(i) + 1] - l.first[at(i)];
    if (!partners_[at(i)].rebounds) continue;
    const int to = l.first[at(i)], from = first_.first[at(j)];
    double *H0 = framed_.data() + from * d, *H1 = second_.data() + from * d, *H = l.H.data() + to * d;
    double lightness = 0;
    for (int k = 0; k < n; ++k) {
      turn_tangents(before_, j, l, i, H0 + k * d);
      lightness += H0[k * d] * H0[k * d] / mass_[at(l.column[at(to + k)])];
    }
    const double e = l.restitution[at(i)], R = R_struck_[a * at(d)];
    part_[a] = R / std::max(-(1 + e) * u0_[a * at(d)] / lightness, (1 + e) * R);
    const bool elsewhere = i >= l.count - extra_ || has_turned(l, i, u0_[a * at(d)]);
    std::copy_n(elsewhere ? H0 : H, n * d, H1);
    if (elsewhere) at_one_point(state, j, H1);
    for (int k = 0; k < n * d; ++k) H[k] = H1[k] + part_[a] * (H0[k] - H1[k]);
  }
}

// Another p, by the r that was found; false where that is the same, but for little, and all is left as it is.
bool MoreauJeanBoth::mix_again() {
  constexpr double little = 0.01;
  ContactList& l = contacts_.found();
  const int d = l.dimension;
  bool changes = false;
  part_found_ = part_;
  for (std::size_t a = 0; a < part_.size(); ++a) {
    const double R = R_struck_[a * at(d)], r = contacts_.contact_impulse[a * at(d)];
    if (!partners_[at(contacts_.active[a])].rebounds || !(r > 0)) continue;
    part_found_[a] = std::min(1.0, R / r);
    changes = changes || std::abs(part_found_[a] - part_[a]) * r > little * R;
  }
  if (!changes) return false;
  part_.swap(part_found_);
  for (std::size_t a = 0; a < part_.size(); ++a) {
    const int i = contacts_.active[a], j = partners_[at(i)].before, to = l.first[at(i)];
    if (!partners_[at(i)].rebounds) continue;
    const double *H0 = framed_.data() + first_.first[at(j)] * d, *H1 = second_.data() + first_.first[at(j)] * d;
    for (int k = 0; k < (l.first[at(i) + 1] - to) * d; ++k) l.H[at(to * d + k)] = H1[k] + part_[a] * (H0[k] - H1[k]);
  }
  return true;
}

// What is missing to H0^T R + H1^T (r - R) between bodies that move: given to z1 and right_, joints held.
bool MoreauJeanBoth::keep_momentum(const double* G1) {
  missing_momentum_.assign(at(nz_), 0.0);
  if (!rebounding_) return true;
  const int d = before_.dimension, one = d == 2 ? 3 : 6;
  bool any = false;
  const auto give = [&](int j, const double* R1, double part, const double* r) {
    const int first = first_.first[at(j)], end = first_.first[at(j) + 1];
    if (end - first <= one) return;
    any = true;
    for (int k = first; k < end; ++k)
      for (int row = 0; row < d; ++row) {
        const double H0 = first_.H[at(k * d + row)], H1 = second_[at(k * d + row)];
        double p = H0 * R_[at(j * d + row)] - H1 * R1[row];
        if (r) p -= part * (framed_[at(k * d + row)] - H1) * r[row];
        missing_momentum_[at(first_.column[at(k)])] += p;
      }
  };
  for (std::size_t a = 0; a < contacts_.active.size(); ++a)
    if (const Partner& partner = partners_[at(contacts_.active[a])]; partner.rebounds)
      give(partner.before, R_struck_.data() + a * at(d), part_[a], contacts_.contact_impulse.data() + a * at(d));
  for (int j = 0; j < before_.count; ++j)
    if (left_[at(j)] && !is_gone(j)) give(j, R_.data() + j * d, 0, nullptr);
  if (!any) return true;
  for (int k = 0; k < nz_; ++k) right_[at(k)] += missing_momentum_[at(k)];
  if (m_ == 0) {
    for (int k = 0; k < nz_; ++k) z1_[at(k)] += missing_momentum_[at(k)] / mass_[at(k)];
    return true;
  }
  const std::vector<int> all = std::move(contacts_.active);
  std::vector<double> r = std::move(contacts_.contact_impulse), s = contacts_.joint_impulse;
  contacts_.again();
  for (int k = 0; k < nz_; ++k) turned_[at(k)] = mass_[at(k)] * z1_[at(k)] + missing_momentum_[at(k)];
  const bool good =
      contacts_.factor(S_.data(), G1) && contacts_.solve(turned_.data(), c_.data(), w_.data(), z1_.data());
  contacts_.active = all;
  contacts_.contact_impulse = std::move(r);
  for (int k = 0; k < m_; ++k) contacts_.joint_impulse[at(k)] += s[at(k)];
  return good;
}

// H0 (z1 - z0) of an active contact that rebounds
double MoreauJeanBoth::change_along_first(int active, int row) const {
  const int d = first_.dimension, j = partners_[at(contacts_.active[at(active)])].before;
  double change = 0;
  for (int k = first_.first[at(j)]; k < first_.first[at(j) + 1]; ++k) {
    const int column = first_.column[at(k)];
    change += framed_[at(k * d + row)] * (z1_[at(column)] - start_z_[at(column)]);
  }
  return change;
}

}  // namespace hinge
