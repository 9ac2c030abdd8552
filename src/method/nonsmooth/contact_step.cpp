#include "method/nonsmooth/contact_step.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/stopwatch.hpp"
#include "method/vectors.hpp"
#include "solve/linear/cholesky.hpp"

namespace hinge {

namespace {

constexpr int most_dense = 3000;  // for impact laws that need W

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void ContactSolving::validate() const {
  const auto list = contact_solvers();
  if (std::none_of(list.begin(), list.end(), [&](const ContactSolverInfo& s) { return s.name == solver; })) {
    std::string names;
    for (const ContactSolverInfo& s : list) names += (names.empty() ? "" : ", ") + s.name;
    throw InputError(fmt::format("there is no contact solver '{}'; there are {}", solver, names));
  }
  if (!(tolerance >= 0 && tolerance < 1))
    throw InputError(fmt::format("'solver_tolerance' is {}; give a small positive number, such as 1e-8", tolerance));
  if (facets < 4 || facets % 2 != 0)
    throw InputError(fmt::format("'facets' is {}; a friction pyramid has an even number of edges, at least 4", facets));
  if (threads < 1 || threads > 1024)
    throw InputError(fmt::format("'threads' is {}; give a number from 1 to 1024", threads));
}

ContactStep::ContactStep(std::shared_ptr<const System> system, const Pattern& matrix, const ContactSolving& options,
                         LinearAlgebra choice)
    : system_(std::move(system)),
      finder_(system_->contact_finder()),
      options_(options),
      matrix_(matrix),
      joints_(system_->pattern(Quantity::constraint_rate_z)),
      kernel_(matrix_, joints_, false, choice),
      nz_(system_->nz()),
      m_(system_->ng()),
      bodies_(BodyContactForm::of(*system_, matrix_, joints_, options_)) {
  if (finder_) d_ = finder_->dimension();
  S_.resize(matrix_.entries());
  diagonal_.assign(at(nz_), 0);
  for (int i = 0; i < nz_; ++i)
    for (int k = matrix_.row_start[at(i)]; k < matrix_.row_start[at(i) + 1]; ++k)
      if (matrix_.column[at(k)] == i) diagonal_[at(i)] = k;
  C_.resize(joints_.entries());
  x_.resize(at(nz_ + m_));
  work_.resize(at(nz_));
  joint_impulse.resize(at(m_));
}

void ContactStep::find(double t, const double* y, double band, bool end_of_step) {
  active.clear();
  solved_ = false;
  end_drift_ = nullptr;
  if (!finder_) return;
  const Stopwatch watch(statistics.search_seconds);
  ContactList& list = impulses_.contacts;
  finder_->find(t, y, band, list);
  if (end_of_step)
    for (const double gap : list.gap) statistics.penetration = std::max(statistics.penetration, -gap);
  statistics.contacts = list.count;
  statistics.most_contacts = std::max(statistics.most_contacts, list.count);
}

void ContactStep::velocities(const double* z, double* u) const {
  const ContactList& l = list();
  for (const int i : active) {
    for (int row = 0; row < d_; ++row) u[row] = l.drift[at(i * d_ + row)];
    for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
      for (int row = 0; row < d_; ++row) u[row] += l.H[at(k * d_ + row)] * z[l.column[at(k)]];
    u += d_;
  }
}

void ContactStep::add_reaction(const double* r, double factor, double* z) const {
  const ContactList& l = list();
  for (const int i : active) {
    for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
      for (int row = 0; row < d_; ++row) z[l.column[at(k)]] += factor * l.H[at(k * d_ + row)] * r[row];
    r += d_;
  }
}

bool ContactStep::factor(const double* S, const double* C) {
  const Stopwatch watch(statistics.assembly_seconds);
  std::copy_n(S, S_.size(), S_.data());
  std::copy_n(C, C_.size(), C_.data());
  few_ = few();
  by_bodies_ = !few_ && bodies_ && bodies_->masses(S);
  if (!few_) return true;
  return kernel_.factor(S, nullptr, C) && make_delassus();
}

bool ContactStep::few() const { return rows() <= few_rows || (always_dense_ && rows() <= most_dense); }

// S is definite where W says nothing else; where there is no W, by its factorisation.
bool ContactStep::definite() const {
  if (few_) return !negative_;
  if (by_bodies_) return true;
  Eigen::SparseMatrix<double> lower(nz_, nz_);
  lower.reserve(static_cast<Eigen::Index>(S_.size()));
  for (int i = 0; i < nz_; ++i) {  // the columns of the lower part are the rows of the upper one
    lower.startVec(i);
    for (int k = matrix_.row_start[at(i)]; k < matrix_.row_start[at(i) + 1]; ++k)
      if (matrix_.column[at(k)] >= i) lower.insertBack(matrix_.column[at(k)], i) = S_[at(k)];
  }
  lower.finalize();
  return positive_definite(lower);
}

// X = [S C^T; C 0]^-1 [H^T; 0],  W = H X
bool ContactStep::make_delassus() {
  const int n = rows();
  const ContactList& l = list();
  X_.setZero(nz_ + m_, n);
  W_.resize(n, n);
  for (std::size_t a = 0; a < active.size(); ++a) {
    const int i = active[a];
    for (int row = 0; row < d_; ++row) {
      double* column = X_.col(static_cast<int>(a) * d_ + row).data();
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) column[l.column[at(k)]] = l.H[at(k * d_ + row)];
      kernel_.solve(column);
    }
  }
  for (int j = 0; j < n; ++j) {
    const double* column = X_.col(j).data();
    for (std::size_t a = 0; a < active.size(); ++a) {
      const int i = active[a];
      for (int row = 0; row < d_; ++row) {
        double sum = 0;
        for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
          sum += l.H[at(k * d_ + row)] * column[l.column[at(k)]];
        W_(static_cast<int>(a) * d_ + row, j) = sum;
      }
    }
  }
  if (n > 0 && !W_.allFinite()) return false;
  // Rows that nothing moves: empty ones, and what joints hold already. Compared with what would move without joints.
  idle_.assign(active.size() * static_cast<unsigned>(d_), 0);
  negative_ = n > 0 && W_.diagonal().minCoeff() < -1e-10 * W_.diagonal().cwiseAbs().maxCoeff();
  for (int a = 0; a < n; a += d_)
    for (int row = 0; row < d_; ++row) {
      const int i = active[at(a / d_)];
      double scale = 0;
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
        const double mass = std::abs(S_[at(diagonal_[at(l.column[at(k)])])]), h = l.H[at(k * d_ + row)];
        if (mass > 0) scale += h * h / mass;
      }
      if (W_(a + row, a + row) > 1e-12 * scale) continue;
      idle_[at(a + row)] = 1;
      W_.row(a + row).setZero();
      W_.col(a + row).setZero();
      X_.col(a + row).setZero();
      W_(a + row, a + row) = scale > 0 ? scale : 1;
    }
  return true;
}

ContactProblem ContactStep::dense_problem(const Eigen::VectorXd& q) const {
  ContactProblem p;
  p.dimension = d_;
  p.friction = options_.friction;
  p.facets = options_.facets;
  p.W = W_.sparseView(1, 0);
  p.W.makeCompressed();
  p.q = q;
  p.mu.resize(static_cast<Eigen::Index>(active.size()));
  for (int k = 0; k < p.mu.size(); ++k) p.mu[k] = d_ > 1 ? friction(k) : 0;
  return p;
}

void ContactStep::subtract_drift(double* u) const {
  for (const int i : active)
    for (int row = 0; row < d_; ++row) *u++ -= list().drift[at(i * d_ + row)];
}

bool ContactStep::solve_explicit(Eigen::MatrixXd W, Eigen::VectorXd q, int dimension, const std::vector<char>& asleep,
                                 Eigen::VectorXd& out) {
  const double largest = W.diagonal().maxCoeff();
  std::vector<char> off(active.size() * static_cast<unsigned>(dimension), 0);
  for (int k = 0; k < q.size(); ++k) {
    const int first = k - k % dimension;
    const double scale = k == first ? largest : W(first, first);
    off[at(k)] = (!asleep.empty() && asleep[at(k / dimension)]) || !(W(k, k) > 1e-13 * scale);
    if (!off[at(k)]) continue;
    W.row(k).setZero();
    W.col(k).setZero();
    W(k, k) = scale > 0 ? scale : 1;
    q[k] = 0;
  }
  ContactProblem p = dimension == 1 ? linear_complementarity(W, q) : dense_problem(q);
  if (dimension > 1) {
    p.W = W.sparseView(1, 0);
    p.W.makeCompressed();
  }
  if (!solve_problem(p, false)) return false;
  out = reaction_;
  for (int k = 0; k < q.size(); ++k)
    if (off[at(k)]) out[k] = 0;
  return true;
}

bool ContactStep::solve(const double* right, const double* c, const double* w, double* v) {
  failure.clear();
  warm_start();
  contact_impulse.assign(at(rows()), 0.0);
  const bool good = few_         ? solve_few(right, c, w, v)
                    : by_bodies_ ? solve_bodies(right, c, w, v)
                                 : solve_many(right, c, w, v);
  solved_ = good;
  return good;
}

bool ContactStep::solve_bodies(const double* right, const double* c, const double* w, double* v) {
  const Stopwatch watch(statistics.solver_seconds);
  for (int k = 0; k < nz_; ++k)
    if (!std::isfinite(right[k])) return false;
  for (int k = 0; k < rows(); ++k)
    if (!std::isfinite(w[k])) return false;
  const BodyContactReport report =
      bodies_->solve(list(), active, right, C_.data(), c, w, options_.tolerance, start_, v);
  std::copy_n(start_.data(), rows(), contact_impulse.data());
  std::copy_n(start_.data() + rows(), m_, joint_impulse.data());
  ++statistics.solves;
  statistics.solver_iterations += report.sweeps;
  statistics.solver = report.fell_back ? "auto" : "block-gauss-seidel";
  return judge(static_cast<int>(active.size()), d_, report.converged(), report.residual,
               biggest(contact_impulse.data(), rows()), report.message);
}

bool ContactStep::solve_few(const double* right, const double* c, const double* w, double* v) {
  std::copy_n(right, nz_, x_.data());
  for (int k = 0; k < m_; ++k) x_[at(nz_ + k)] = -c[k];
  kernel_.solve(x_.data());
  const int n = rows();
  if (n > 0) {
    Eigen::VectorXd q(n);
    velocities(x_.data(), q.data());
    const ContactList& l = list();
    for (int k = 0; k < n; ++k) q[k] += w[k] - l.drift[at(active[at(k / d_)] * d_ + k % d_)];
    if (!q.allFinite()) return false;
    const double scale = std::max(biggest(q.data(), n), biggest(x_.data(), nz_));
    for (int k = 0; k < n; ++k) {
      if (!idle_[at(k)]) continue;
      if (k % d_ == 0 && q[k] < -1e-6 * scale) {
        failure = fmt::format(
            "the contact {} closes, and no force there can stop it: joints or motors prescribe this motion; let one of "
            "the two touch nothing (collide = false), or give the motor a torque in place of a motion",
            finder_->name(l.key[at(active[at(k / d_)])]));
        return false;
      }
      q[k] = 0;
    }
    if (!solve_problem(dense_problem(q))) return false;
    for (int k = 0; k < n; ++k) {
      contact_impulse[at(k)] = idle_[at(k)] ? 0.0 : reaction_[k];
      axpy(contact_impulse[at(k)], X_.col(k).data(), nz_ + m_, x_.data());
    }
  }
  std::copy_n(x_.data(), nz_, v);
  for (int k = 0; k < m_; ++k) joint_impulse[at(k)] = -x_[at(nz_ + k)];
  return true;
}

bool ContactStep::solve_many(const double* right, const double* c, const double* w, double* v) {
  ContactProblem p;
  {
    const Stopwatch watch(statistics.assembly_seconds);
    const ContactList& l = list();
    const int nc = static_cast<int>(active.size()), n = rows() + m_;
    p.dimension = d_;
    p.bilateral = m_;
    p.friction = options_.friction;
    p.facets = options_.facets;
    p.mu.resize(nc);
    // columns of their own for empty rows
    std::vector<int> extra(at(rows()), -1);
    int extras = 0;
    std::size_t entries = C_.size();
    for (int a = 0; a < nc; ++a) {
      p.mu[a] = d_ > 1 ? friction(a) : 0;
      const int i = active[at(a)];
      entries += at((l.first[at(i) + 1] - l.first[at(i)]) * d_);
      for (int row = 0; row < d_; ++row) {
        bool empty = true;
        for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) empty = empty && l.H[at(k * d_ + row)] == 0;
        if (empty) extra[at(a * d_ + row)] = nz_ + extras++;
      }
    }
    p.H.resize(n, nz_ + extras);
    p.H.reserve(static_cast<Eigen::Index>(entries + at(extras)));
    for (int a = 0; a < nc; ++a) {
      const int i = active[at(a)];
      for (int row = 0; row < d_; ++row) {
        p.H.startVec(a * d_ + row);
        for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
          if (const double value = l.H[at(k * d_ + row)]; value != 0)
            p.H.insertBack(a * d_ + row, l.column[at(k)]) = value;
        if (const int column = extra[at(a * d_ + row)]; column >= 0) p.H.insertBack(a * d_ + row, column) = 1;
      }
    }
    for (int j = 0; j < m_; ++j) {
      p.H.startVec(rows() + j);
      for (int k = joints_.row_start[at(j)]; k < joints_.row_start[at(j) + 1]; ++k)
        p.H.insertBack(rows() + j, joints_.column[at(k)]) = C_[at(k)];
    }
    p.H.finalize();
    p.M.resize(nz_ + extras, nz_ + extras);
    p.M.reserve(static_cast<Eigen::Index>(S_.size() + at(extras)));
    double heaviest = 0;
    for (int i = 0; i < nz_; ++i) {
      p.M.startVec(i);
      for (int k = matrix_.row_start[at(i)]; k < matrix_.row_start[at(i) + 1]; ++k) {
        if (S_[at(k)] == 0 && matrix_.column[at(k)] != i) continue;
        p.M.insertBack(i, matrix_.column[at(k)]) = S_[at(k)];
        heaviest = std::max(heaviest, S_[at(k)]);
      }
    }
    for (int k = 0; k < extras; ++k) {
      p.M.startVec(nz_ + k);
      p.M.insertBack(nz_ + k, nz_ + k) = heaviest;
    }
    p.M.finalize();
    p.f = Eigen::VectorXd::Zero(nz_ + extras);
    std::copy_n(right, nz_, p.f.data());
    p.w.resize(n);
    std::copy_n(w, rows(), p.w.data());
    std::copy_n(c, m_, p.w.data() + rows());
    if (!p.f.allFinite() || !p.w.allFinite()) return false;
  }
  if (!solve_problem(p)) return false;
  const Eigen::VectorXd z = body_velocity(p, reaction_);
  std::copy_n(z.data(), nz_, v);
  std::copy_n(reaction_.data(), rows(), contact_impulse.data());
  std::copy_n(reaction_.data() + rows(), m_, joint_impulse.data());
  return true;
}

void ContactStep::count_energy(const double* impulse, const double* z0, const double* z1) {
  const int n = rows();
  gaps_.resize(at(2 * n));
  double *u0 = gaps_.data(), *u1 = u0 + n;
  velocities(z0, u0);
  velocities(z1, u1);
  if (end_drift_)
    for (int k = 0; k < n; ++k) {
      const std::size_t row = at(active[at(k / d_)] * d_ + k % d_);
      u1[k] += (*end_drift_)[row] - list().drift[row];
    }
  for (int k = 0; k < n; ++k)
    (k % d_ == 0 ? statistics.impact_loss : statistics.friction_loss) -= impulse[k] * (u0[k] + u1[k]) / 2;
}

void ContactStep::count_balance(double defect, double scale) {
  if (scale > 0) statistics.momentum_balance = std::max(statistics.momentum_balance, defect / scale);
}

void ContactStep::finish(const double* total, const double* before, double h, double t1, const double* y1) {
  if (!finder_) return;
  const ContactList& l = list();
  // who struck: compared with the impulse of the last step
  struck_.assign(active.size(), 0);
  std::size_t old = 0;
  statistics.loaded = 0;
  double largest = 0;
  for (std::size_t a = 0; a < active.size(); ++a) largest = std::max(largest, total[a * at(d_)]);
  for (std::size_t a = 0; a < active.size(); ++a) {
    const double now = total[a * at(d_)];
    if (now > 1e-14 * largest) ++statistics.loaded;
    while (old < last_keys_.size() && last_keys_[old] < l.key[at(active[a])]) ++old;
    const bool known = old < last_keys_.size() && last_keys_[old] == l.key[at(active[a])];
    const double last = known ? last_impulse_[old * at(d_)] : 0;
    struck_[a] = now > 0 && now > 10 * last;
    if (struck_[a] && before[a * at(d_)] < 0) ++statistics.impacts;
  }
  last_keys_.clear();
  last_frame_.clear();
  for (const int i : active) {
    last_keys_.push_back(l.key[at(i)]);
    if (l.frame.size() == 9 * at(l.count))
      last_frame_.insert(last_frame_.end(), l.frame.begin() + 9 * i, l.frame.begin() + 9 * i + 9);
  }
  last_impulse_.assign(total, total + rows());
  last_joints_.assign(joint_impulse.begin(), joint_impulse.end());
  last_struck_.swap(struck_);
  last_h_ = h;
  impulses_.impulse.assign(at(l.count * d_), 0.0);
  for (std::size_t a = 0; a < active.size(); ++a)
    std::copy_n(total + a * at(d_), d_, impulses_.impulse.data() + at(active[a] * d_));
  impulses_.step = h;
  if (l.count > 0 && l.count <= 2000) {
    gaps_.resize(at(l.count));
    finder_->gaps(t1, y1, l, gaps_.data());
    for (int i = 0; i < l.count; ++i) statistics.penetration = std::max(statistics.penetration, -gaps_[at(i)]);
  }
}

void ContactStep::reset() {
  last_keys_.clear();
  last_impulse_.clear();
  last_frame_.clear();
  last_joints_.clear();
  last_struck_.clear();
}

}  // namespace hinge
