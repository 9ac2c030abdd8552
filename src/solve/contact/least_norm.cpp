#include "solve/contact/least_norm.hpp"

#include <algorithm>
#include <cmath>

#include "solve/contact/cone.hpp"
#include "solve/index.hpp"
#include "solve/linear/rank.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double rounding = 4e-15;     // of A^T r, relative to the sum of its parts
constexpr double unchanged = 1e-9;     // r differs by this from that of the last problem's v: it is left as it is
constexpr double good_enough = 1e-12;  // where rounding ends the iteration earlier
constexpr double least_ridge = 1e-11;  // beside A^T D^-1 A, whose entries are near 1
constexpr int most_iterations = 40;
constexpr double moves = 1e-8;        // of what a load does to velocities: less is nothing
constexpr double most_entries = 4e4;  // of the loads' motions

}  // namespace

bool LeastNorm::treats(const ContactProblem& p) {
  const bool pyramids = p.friction == FrictionModel::polyhedral && p.dimension == 3 && !p.frictionless();
  return p.contacts() > 0 && p.bilateral == 0 && !pyramids && (p.by_bodies() || !p.matrix_free());
}

// What u leaves to each contact.
void LeastNorm::sort(const ContactProblem& p, const std::vector<double>& u, double slack) {
  const bool convexified = p.friction == FrictionModel::convexified;
  kind_.resize(at(contacts_));
  ray_.assign(3 * at(contacts_), 0.0);
  for (int i = 0; i < contacts_; ++i) {
    const double* ui = u.data() + i * d_;
    double *e = ray_.data() + 3 * i, square = 0;
    for (int k = 1; k < d_; ++k) square += ui[k] * ui[k];
    const double mu = rows_->mu(i), speed = std::sqrt(square);
    const double normal = convexified ? ui[0] - mu * speed : ui[0];
    e[0] = 1;
    if (normal > slack) {
      kind_[at(i)] = Kind::open;
    } else if (mu == 0 || speed > slack) {
      kind_[at(i)] = Kind::ray;
      for (int k = 1; k < d_ && mu > 0; ++k) e[k] = -mu * ui[k] / speed;
    } else {
      kind_[at(i)] = Kind::cone;
    }
  }
}

void LeastNorm::project(int i, const double* x, double* r) const {
  for (int k = 0; k < d_; ++k) r[k] = 0;
  if (kind_[at(i)] == Kind::open) return;
  if (kind_[at(i)] == Kind::cone) {
    for (int k = 0; k < d_; ++k) r[k] = x[k];
    return project_on_cone(d_, rows_->mu(i), r);
  }
  const double* e = ray_.data() + 3 * i;
  double product = 0, square = 0;
  for (int k = 0; k < d_; ++k) product += e[k] * x[k], square += e[k] * e[k];
  for (int k = 0; k < d_; ++k) r[k] = std::max(0.0, product / square) * e[k];
}

// The linear hull of C_i.
void LeastNorm::face(int i, Matrix3d& E) const {
  E.setZero();
  if (kind_[at(i)] == Kind::cone)
    for (int k = 0; k < d_; ++k) E(k, k) = 1;
  const Eigen::Map<const Vector3d> e(ray_.data() + 3 * i);
  if (kind_[at(i)] == Kind::ray) E = e * e.transpose() / e.squaredNorm();
}

void LeastNorm::derivative(int i, const double* x, Matrix3d& J) const {
  face(i, J);
  if (kind_[at(i)] == Kind::ray) {
    double product = 0;
    for (int k = 0; k < d_; ++k) product += ray_[at(3 * i + k)] * x[k];
    if (product <= 0) J.setZero();
  }
  if (kind_[at(i)] != Kind::cone) return;
  const double mu = rows_->mu(i), n = x[0], t = d_ == 1 ? 0 : length(x[1], d_ == 3 ? x[2] : 0);
  if (mu * t <= -n) {
    J.setZero();
  } else if (t > mu * n) {
    const double c = 1 / (1 + mu * mu), s = (n + mu * t) * c;
    const Vector3d e(0, x[1] / t, d_ == 3 ? x[2] / t : 0), edge = Vector3d::UnitX() + mu * e;
    Matrix3d tangent = Matrix3d::Zero();
    for (int k = 1; k < d_; ++k) tangent(k, k) = 1;
    J = c * edge * edge.transpose() + mu * s / t * (tangent - e * e.transpose());
  }
}

// A^T r, and what its rounding is relative to: the largest sum of parts of each body.
void LeastNorm::aim_at(const std::vector<double>& r) {
  rows_->multiply_transposed(r, target_);
  rows_->absolute_transposed(r, size_);
  const double floor = 1e-6 * (columns_ > 0 ? size_.maxCoeff() : 0);
  const int group = rows_->group();
  for (int j = 0; j < columns_; j += group)
    size_.segment(j, group).setConstant(std::max(size_.segment(j, group).maxCoeff(), floor));
}

// r(v), g = A^T r(v) - A^T r*, the dual function; returns |g| relative to rounding's size.
double LeastNorm::evaluate(const VectorXd& v) {
  rows_->multiply(v, x_);
  dual_ = -target_.dot(v);
  for (int i = 0; i < contacts_; ++i) {
    for (int k = 0; k < d_; ++k) x_[at(i * d_ + k)] /= rows_->delta(i);
    project(i, x_.data() + i * d_, r_.data() + i * d_);
    for (int k = 0; k < d_; ++k) dual_ += 0.5 * rows_->delta(i) * r_[at(i * d_ + k)] * r_[at(i * d_ + k)];
  }
  rows_->multiply_transposed(r_, g_);
  g_ -= target_;
  double largest = 0;
  for (int j = 0; j < columns_; ++j)
    if (g_[j] != 0) largest = std::max(largest, std::abs(g_[j]) / size_[j]);
  return std::isfinite(dual_) ? largest : HUGE_VAL;
}

bool LeastNorm::iterate(bool warm) {
  BodyFronts& fronts = rows_->fronts();
  if (!warm) v_.setZero(columns_);
  double ridge = least_ridge, error = evaluate(v_);
  bool first = !warm;
  for (int k = 0; k < most_iterations && error > rounding; ++k) {
    operations_ += fronts.operations();
    // (ridge I + A^T J D^-1 A) dv = -g; from v = 0 as if every contact were inside of its cone
    const bool regular = fronts.factor([&](int i, Matrix3d& C) {
      first ? face(i, C) : derivative(i, x_.data() + i * d_, C);
      C /= ridge * rows_->delta(i);
    });
    if (!regular) return false;
    VectorXd dv = -g_ / ridge;
    fronts.solve(dv);
    if (!dv.allFinite()) return false;
    const double before = error, dual = dual_, slope = g_.dot(dv);
    const VectorXd from = v_;
    double t = 1;
    bool good = false;
    for (int halving = 0; halving < 20 && !good; ++halving, t *= first ? 1 : 0.5) {
      v_ = from + t * dv;
      error = evaluate(v_);
      good = first || dual_ <= dual + 1e-4 * t * slope || error <= (1 - 1e-4 * t) * before;
    }
    first = false;
    if (!good) {
      v_ = from;
      error = evaluate(v_);
      if (error <= good_enough || ridge > 1) break;
      ridge *= 1000;
      continue;
    }
    if (t == 0.5) ridge = std::max(least_ridge, ridge / 1000);
    if (error <= good_enough && error > 0.5 * before) break;
  }
  if (!(error <= good_enough)) return false;
  not_unique_ = has_kernel(fronts, false);
  hyperstatic_ = not_unique_ || has_kernel(fronts, true);
  return true;
}

// Does some change of the loaded reactions (or of all that are not open) move nothing? One that is drawn, less its part
// in the range of A, is such a change, unless nothing is left of it.
bool LeastNorm::has_kernel(BodyFronts& fronts, bool as_if_all_stuck) {
  double largest = 0;
  for (int i = 0; i < contacts_; ++i) largest = std::max(largest, r_[at(i * d_)]);
  const auto part = [&](int i, Matrix3d& E) {
    face(i, E);
    if (as_if_all_stuck && kind_[at(i)] == Kind::ray && rows_->mu(i) > 0) E.setIdentity();
    if (!as_if_all_stuck && !(r_[at(i * d_)] > 1e-9 * largest)) E.setZero();
    for (int k = d_; k < 3; ++k) E(k, k) = 0;
  };
  std::vector<double> drawn(r_.size(), 0.0), moved;
  Matrix3d E;
  double all = 0;
  for (int i = 0; i < contacts_; ++i) {
    part(i, E);
    const Vector3d some(1 + i * 37 % 101 / 101.0, 0.5 + i * 29 % 89 / 89.0, 0.3 + i * 43 % 97 / 97.0);
    const Vector3d x = E * some / std::sqrt(rows_->delta(i));
    for (int k = 0; k < d_; ++k) drawn[at(i * d_ + k)] = x[k];
    all += rows_->delta(i) * x.squaredNorm();
  }
  operations_ += fronts.operations();
  constexpr double ridge = 1e-10;
  if (!fronts.factor([&](int i, Matrix3d& C) {
        part(i, C);
        C /= ridge * rows_->delta(i);
      }))
    return false;
  VectorXd y;
  rows_->multiply_transposed(drawn, y);
  y /= ridge;
  fronts.solve(y);
  rows_->multiply(y, moved);
  double left = 0;
  for (int i = 0; i < contacts_; ++i) {
    part(i, E);
    Vector3d x = Vector3d::Zero(), in_range = Vector3d::Zero();
    for (int k = 0; k < d_; ++k) x[k] = drawn[at(i * d_ + k)], in_range[k] = moved[at(i * d_ + k)] / rows_->delta(i);
    left += rows_->delta(i) * (x - E * in_range).squaredNorm();
  }
  return left > 1e-8 * all;
}

// Loads along the faces move bodies by F = A^T E. Is there a change of loads that moves them, F y != 0, and leaves
// closed what is closed and at rest what sticks? Then Coulomb's law has other motions near this one: loads that are
// shared out otherwise push otherwise where contacts slide in several directions. (That these directions turn with the
// motion is passed over.)
bool LeastNorm::loads_move_bodies() {
  bool slides = false;
  int faces = 0, held = 0;
  for (int i = 0; i < contacts_; ++i) {
    const Kind kind = kind_[at(i)];
    slides = slides || (kind == Kind::ray && rows_->mu(i) > 0);
    faces += kind == Kind::cone ? d_ : kind == Kind::ray ? 1 : 0;
  }
  if (!slides || faces < 2) return false;
  if (static_cast<double>(faces) * columns_ > most_entries) return true;  // it may
  const SparseRows A = rows_->matrix();
  Eigen::MatrixXd F = Eigen::MatrixXd::Zero(columns_, faces), B = F.transpose();
  for (int i = 0, k = 0; i < contacts_; ++i) {
    const double unit = 1 / std::sqrt(rows_->delta(i));
    for (int row = 0; row < d_ && kind_[at(i)] != Kind::open; ++row) {
      const bool own = row == 0 || kind_[at(i)] == Kind::cone;
      const double part = kind_[at(i)] == Kind::cone ? 1 : ray_[at(3 * i + row)];
      if (own) held = k++;
      for (SparseRows::InnerIterator a(A, i * d_ + row); a; ++a) {
        F(a.col(), held) += unit * part * a.value();
        if (own) B(held, a.col()) = unit * a.value();
      }
    }
  }
  const PivotedQr motions(F, moves);
  const Eigen::Index rank = motions.rank();
  operations_ += 2.0 * columns_ * faces * std::min(columns_, faces);
  return PivotedQr(B * motions.q().leftCols(rank), moves).rank() < rank;
}

// Is r that of the v of the last problem, but for a factor? Cones are homogeneous: the half of v has the half of r, and
// so steps of other lengths and stages of one step go on from each other.
bool LeastNorm::nearby(const std::vector<double>& r) {
  evaluate(v_);
  double both = 0, own = 0;
  for (int k = 0; k < rows_->rows(); ++k) {
    both += rows_->delta(k / d_) * r[at(k)] * r_[at(k)];
    own += rows_->delta(k / d_) * r_[at(k)] * r_[at(k)];
  }
  const double factor = own > 0 && both > 0 ? both / own : 1;
  double away = 0, all = 0;
  for (int k = 0; k < rows_->rows(); ++k) {
    const double delta = rows_->delta(k / d_), change = r[at(k)] - factor * r_[at(k)];
    away += delta * change * change;
    all += delta * r[at(k)] * r[at(k)];
  }
  v_ *= factor;
  return away <= unchanged * unchanged * all;
}

bool LeastNorm::find(const ContactProblem& p, ContactRows& rows, const std::vector<double>& u, double slack,
                     std::vector<double>& r) {
  rows_ = &rows;
  d_ = p.dimension;
  contacts_ = p.contacts();
  operations_ = 0;
  x_.resize(at(p.rows()));
  r_.resize(at(p.rows()));
  // bodies stay what they were; the columns of a root do not
  const bool warm = p.by_bodies() && columns_ == rows.columns() && v_.size() == columns_;
  columns_ = rows.columns();
  last_kind_.swap(kind_);
  sort(p, u, slack);
  aim_at(r);
  if (warm && kind_ == last_kind_ && nearby(r)) return true;
  not_unique_ = hyperstatic_ = false;
  open_ = loads_move_bodies();
  if (std::all_of(r.begin(), r.end(), [](double x) { return x == 0; })) {
    v_.setZero(columns_);
    return true;
  }
  if (!iterate(warm) && (!warm || !iterate(false))) {
    v_.resize(0);
    return false;
  }
  r.assign(r_.begin(), r_.end());
  return true;
}

}  // namespace hinge
