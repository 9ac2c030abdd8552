// Which branch of the constraints a step went along: the directions of the rows of G before and after it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "formulation/start/constraint_rank.hpp"
#include "simulate/step_watch.hpp"
#include "solve/linear/dense_lu.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr double some_way = 0.05;  // of the range of a coordinate: constraints are looked at again

// As eliminate() has it, of one or two rows.
double small_determinant(int m, const double* a) {
  constexpr double none = 1e-300;
  if (m == 1) return std::abs(a[0]) > none && std::isfinite(a[0]) ? a[0] : 0;
  const bool second = std::abs(a[1]) > std::abs(a[0]);
  const double pivot = a[second ? 1 : 0], other = a[second ? 0 : 1];
  if (!(std::abs(pivot) > none) || !std::isfinite(pivot)) return 0;
  const double rest = a[second ? 2 : 3] - (other * (1 / pivot)) * a[second ? 3 : 2];
  if (!(std::abs(rest) > none) || !std::isfinite(rest)) return 0;
  return (second ? -1 : 1) * pivot * rest;
}

}  // namespace

void StepWatch::assign_rows(std::vector<double>& to) const {
  const double* from = (*rows_)[Q::constraint_y];
  to.assign(from, from + entries_);
}

// det(A B^T); 0 where a pivot vanishes.
double StepWatch::volume(const std::vector<double>& a, const std::vector<double>& b, const std::vector<int>& kept) {
  std::fill(product_.begin(), product_.end(), 0.0);
  for (const auto& [at, k, l] : products_)
    product_[static_cast<std::size_t>(at)] += a[static_cast<std::size_t>(k)] * b[static_cast<std::size_t>(l)];
  int m = static_cast<int>(exchange_.size());
  if (!kept.empty()) {
    std::size_t to = 0;
    for (const int i : kept)
      for (const int j : kept) product_[to++] = product_[static_cast<std::size_t>(i * m + j)];
    m = static_cast<int>(kept.size());
  }
  if (m <= 2) return small_determinant(m, product_.data());
  if (!eliminate(m, m, product_.data(), m, exchange_.data())) return 0;
  double determinant = 1;
  for (int k = 0; k < m; ++k)
    determinant *=
        (exchange_[static_cast<std::size_t>(k)] == k ? 1 : -1) * product_[static_cast<std::size_t>(k * (m + 1))];
  return determinant;
}

void StepWatch::look_at_rows() {
  const State& s = now_.state;
  rows_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  assign_rows(checked_.G);
  if (redundant_) checked_.kept = constraint_rank(*system_, s.t, s.y.data()).kept;
  checked_.y = s.y;
  checked_.v = now_.v;
  checked_.step = steps_;
  checked_.volume.reset();
}

// Rows of G are compared with those of where they were last looked at, after some way or a change of the velocity.
bool StepWatch::branch_due() const {
  double change = 0, size = 0;
  for (std::size_t i = 0; i < y_range_.size(); ++i) {
    if (std::abs(now_.state.y[i] - checked_.y[i]) > some_way * y_range_[i].width()) return true;
    change += std::abs(now_.v[i] - checked_.v[i]);
    size += std::abs(now_.v[i]);
  }
  return change > 0.25 * size;
}

// The cosine of the angle between the rows of G at two places: a product of cosines where there are several.
double StepWatch::cosine(double square_a, double square_b, double product) {
  const double size = std::sqrt(square_a * square_b);
  return square_a > 0 && square_b > 0 && std::isfinite(size) && std::abs(product) > 1e-10 * size ? product / size : 1.0;
}

double StepWatch::cosine(const std::vector<double>& a, const std::vector<double>& b, const std::vector<int>& kept) {
  const double now = volume(a, a, kept), then = volume(b, b, kept);
  return cosine(now, then, volume(a, b, kept));
}

// Of places that are compared twice, with the one before and the next.
double StepWatch::cosine(Rows& a, Rows& b, const std::vector<int>& kept) {
  if (!kept.empty()) return cosine(a.G, b.G, kept);
  for (Rows* rows : {&a, &b})
    if (!rows->volume) rows->volume = volume(rows->G, rows->G, kept);
  return cosine(*a.volume, *b.volume, volume(a.G, b.G, kept));
}

// The rows of bodies that turn far in a step turn with them, and a product of many cosines then says nothing. It does
// for places that are close: on the cubic polynomials through both ends, with their velocities.
bool StepWatch::rows_follow_the_bodies() {
  constexpr int parts = 16;  // of a step
  const double h = now_.state.t - before_.state.t;
  const std::vector<double>&y0 = before_.state.y, &y1 = now_.state.y;
  moved_.resize(y0.size());
  std::vector<int> kept = last_.kept;
  between_[0] = last_.G;
  for (int part = 1; part <= parts; ++part) {
    const double s = static_cast<double>(part) / parts, r = 1 - s;
    for (std::size_t i = 0; i < moved_.size(); ++i)
      moved_[i] =
          r * r * ((1 + 2 * s) * y0[i] + s * h * before_.v[i]) + s * s * ((1 + 2 * r) * y1[i] - r * h * now_.v[i]);
    const double t = before_.state.t + s * h;
    rows_->at(t, moved_.data(), now_.state.z.data(), now_.state.psi.data());
    assign_rows(between_[1]);
    if (!(cosine(between_[1], between_[0], kept) > 0)) return false;
    if (redundant_) kept = constraint_rank(*system_, t, moved_.data()).kept;
    std::swap(between_[0], between_[1]);
  }
  return true;
}

// One step of a method of high order may be half a turn of a body, and then says nothing about what is between its
// ends.
bool StepWatch::is_long(const std::vector<double>& from, const std::vector<double>& to) {
  double way = 0, size = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    way = std::max(way, std::abs(to[i] - from[i]));
    size = std::max(size, std::abs(to[i]));
  }
  return way > 0.5 * size;
}

void StepWatch::watch_branch() {
  std::swap(last_, checked_);
  look_at_rows();
  // Of dependent rows some that are independent here may be dependent on the way: those of both ends have to agree.
  double angle = cosine(checked_, last_, last_.kept);
  if (redundant_ && angle < 0.5) angle = std::max(angle, cosine(checked_.G, last_.G, checked_.kept));
  const bool at_once = checked_.step == last_.step + 1;
  turned_ = angle < 0.5 && at_once;
  if (angle > 0 || (resolved_ && at_once && is_long(last_.y, checked_.y))) return;
  if (system_->structure().has_bodies && at_once && rows_follow_the_bodies()) return;
  ++branches_;
  if (!branch_) branch_ = now_.state.t;
}

}  // namespace hinge
