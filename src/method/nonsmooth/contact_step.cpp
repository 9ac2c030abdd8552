#include "method/nonsmooth/contact_step.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/joint_contacts.hpp"
#include "hinge/error.hpp"
#include "method/step_failure.hpp"
#include "method/stopwatch.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr double unit_rounding = 1e-15, only_rounding = 1e-12;
constexpr int most_dense = 3000;            // for impact laws that need W
constexpr double updates_per_entry = 0.15;  // contact updates that take the time of an entry of X, as measured

ContactOptions solver_options(const ContactSolving& options) {
  ContactOptions o;
  o.threads = options.threads;
  o.stepping = true;
  return o;
}

}  // namespace

bool ContactSolving::may_sweep() const { return solver == "auto" || solver == plain_sweeps; }

void ContactSolving::validate() const {
  const auto list = contact_solvers();
  if (std::none_of(list.begin(), list.end(), [&](const ContactSolverInfo& s) { return s.name == solver; })) {
    std::string names;
    for (const ContactSolverInfo& s : list) names += (names.empty() ? "" : ", ") + s.name;
    throw OptionError("solver", fmt::format("there is no contact solver '{}'; there are {}", solver, names));
  }
  if (!(tolerance >= 0 && tolerance < 1))
    throw OptionError("solver_tolerance",
                      fmt::format("'solver_tolerance' is {}; give a small positive number, such as 1e-8", tolerance));
  if (facets < 4 || facets % 2 != 0)
    throw OptionError(
        "facets", fmt::format("'facets' is {}; a friction pyramid has an even number of edges, at least 4", facets));
  if (threads < 1 || threads > 1024)
    throw OptionError("threads", fmt::format("'threads' is {}; give a number from 1 to 1024", threads));
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
      m_(system_->nrates()),
      bodies_(BodyContactForm::of(*system_, matrix_, joints_, options_)),
      solver_(options.solver, solver_options(options)),
      automatic_(options.solver == "auto") {
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
  make_spans();
}

void ContactStep::find(double t, const double* y, double band, bool end_of_step) {
  if (finder_ && !end_of_step) measured();  // before the list is another
  look(t, y, band);
  if (finder_ && end_of_step) count_gaps();
}

void ContactStep::look(double t, const double* y, double band) {
  active.clear();
  solved_ = false;
  end_drift_ = nullptr;
  if (!finder_) return;
  const Stopwatch watch(statistics.search_seconds);
  const UseThreads threads(options_.threads);
  ContactList& list = impulses_.contacts;
  finder_->find(t, y, band, list);
  if (spans_) spans_->evaluate(t, y);
  statistics.contacts = list.count;
  statistics.most_contacts = std::max(statistics.most_contacts, list.count);
}

void ContactStep::count_gaps() {
  end_is_open_ = false;
  for (const double gap : list().gap) statistics.penetration = std::max(statistics.penetration, -gap);
}

bool ContactStep::factor(const double* S, const double* C) {
  const Stopwatch watch(statistics.assembly_seconds);
  const UseThreads threads(options_.threads);
  std::copy_n(S, S_.size(), S_.data());
  std::copy_n(C, C_.size(), C_.data());
  few_ = few();
  find_bearings();
  by_bodies_ = bodies_ && bearings_.empty() &&
               !(few_ && (always_dense_ || m_ > 0 || options_.solver != "auto" || !rows_move_bodies())) &&
               bodies_->masses(S);
  joints_factored_ = false;
  if (by_bodies_ && (few_ || m_ == 0)) return true;
  if (few_) return kernel_.factor(S, nullptr, C) && make_delassus();
  joints_factored_ = m_ > 0 && kernel_.factor(S, nullptr, C);
  if (!by_bodies_)
    root_.emplace(SparseRows(Eigen::Map<const SparseRows>(nz_, nz_, std::ssize(S_), matrix_.row_start.data(),
                                                          matrix_.column.data(), S_.data())));
  return true;
}

bool ContactStep::few() const { return rows() <= few_rows || (always_dense_ && rows() <= most_dense); }

// A frictionless contact may have empty rows.
bool ContactStep::rows_move_bodies() const {
  const ContactList& l = list();
  for (const int i : active)
    for (int row = 0; row < d_; ++row) {
      double size = 0;
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) size += std::abs(l.H[at(k * d_ + row)]);
      if (!(size > 0)) return false;
    }
  return true;
}

// S is definite where W says nothing else; where there is no W, by its factorisation.
bool ContactStep::definite() const {
  if (by_bodies_) return true;
  return few_ ? !negative_ : root_->failure().empty();
}

// X = [S C^T; C 0]^-1 [H^T; 0],  W = H X
bool ContactStep::make_delassus() {
  const int n = rows();
  const ContactList& l = list();
  spend(n * (nz_ + m_) * updates_per_entry);
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
  without_joints_.assign(idle_.size(), 0);
  negative_ = n > 0 && W_.diagonal().minCoeff() < -1e-10 * W_.diagonal().cwiseAbs().maxCoeff();
  for (int a = 0; a < n; a += d_)
    for (int row = 0; row < d_; ++row) {
      const int i = active[at(a / d_)];
      double& scale = without_joints_[at(a + row)];
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k) {
        const double mass = std::abs(S_[at(diagonal_[at(l.column[at(k)])])]), h = l.H[at(k * d_ + row)];
        if (mass > 0) scale += h * h / mass;
      }
      if (W_(a + row, a + row) > 1e-12 * scale) continue;
      idle_[at(a + row)] = 1;
      W_.row(a + row).setZero();
      W_.col(a + row).setZero();
      W_(a + row, a + row) = scale > 0 ? scale : 1;
    }
  for (const Bearing& b : bearings_)  // of the size of the rows that move
    for (int row = 1; row < d_; ++row)
      if (idle_[at(b.row + row)] == 0)
        for (int other = 0; other < d_; ++other)
          if (idle_[at(b.row + other)]) W_(b.row + other, b.row + other) = W_(b.row + row, b.row + row);
  find_held();
  return true;
}

ContactProblem ContactStep::dense_problem(const Eigen::MatrixXd& W, const Eigen::VectorXd& q) const {
  ContactProblem p;
  p.dimension = d_;
  p.friction = options_.friction;
  p.facets = options_.facets;
  p.W = W.sparseView(1, 0);
  p.W.makeCompressed();
  p.q = q;
  p.mu.resize(active.size());
  for (int k = 0; k < p.contacts(); ++k) p.mu[at(k)] = d_ > 1 ? friction(k) : 0;
  return p;
}

StepResult ContactStep::explain(const State& state, double h, const char* what, const Convergence& convergence) const {
  if (failure.empty()) return explain_failure(*system_, state, h, what, convergence);
  return {false, fmt::format("in the step from t = {:g} (h = {:g}) {}{}", state.t, h, failure,
                             nearly_dependent(*system_, state))};
}

void ContactStep::subtract_drift(double* u) const {
  for (const int i : active)
    for (int row = 0; row < d_; ++row) *u++ -= list().drift[at(i * d_ + row)];
}

bool ContactStep::solve_once(const double* right, const double* c, const double* w, double* v) {
  failure.clear();
  warm_start();
  return solve_from_start(right, c, w, v);
}

bool ContactStep::solve_from_start(const double* right, const double* c, const double* w, double* v) {
  const UseThreads threads(options_.threads);
  contact_impulse.assign(at(rows()), 0.0);
  residual_left = 0;
  const bool good = by_bodies_ ? solve_bodies(right, c, w, v)
                    : few_     ? solve_few(right, c, w, v)
                               : solve_many(right, c, w, v);
  solved_ = good;
  return good;
}

bool ContactStep::solve_bodies(const double* right, const double* c, const double* w, double* v) {
  if (!all_finite(right, nz_) || !all_finite(c, m_) || !all_finite(w, rows())) return false;
  reaction_ = start_;
  const ContactProblem& p = bodies_->pose(list(), active, right, C_.data(), c, w);
  if (p.rows() == 0) {
    bodies_->read_velocities(p.bodies.v_free, v);
    return true;
  }
  bool good = true;
  rounding_ = 0;
  if (joints_factored_) {
    good = solve_with_joints(p, right, c, v);
  } else {
    bodies_->read_velocities(p.bodies.v_free, v);
    if (m_ == 0 && !separating_) {
      const auto [largest, parts] = velocity_and_parts(v, w);
      if (largest > 0) rounding_ = unit_rounding * parts / largest;
      if (rounding_ >= 1) return ++statistics.solves, true;  // by no reaction
    }
    const double residual = statistics.complementarity, cone = statistics.cone, left = statistics.velocity_left;
    good = solve_problem(p);
    rounding_ = 0;
    if (good) bodies_->read_velocities(solver_.body_velocity(), v);
    const auto rounds_only = [&] {
      const auto [largest, parts] = velocity_and_parts(v, w);
      return largest <= only_rounding * parts;
    };
    if (!good && m_ == 0 && rounds_only()) {
      failure.clear();
      --statistics.unconverged;
      statistics.complementarity = residual;
      statistics.cone = cone;
      statistics.velocity_left = left;
      residual_left = 0;
      return true;
    }
  }
  std::copy_n(reaction_.data(), rows(), contact_impulse.data());
  std::copy_n(reaction_.data() + rows(), m_, joint_impulse.data());
  return good;
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
    take_held_slip(right, w, q);
    for (int k = 0; k < n; ++k) {
      if (!idle_[at(k)]) continue;
      if (const double width = bearing_width(k); width >= 0) {
        q[k] = -W_(k, k) * width;
        continue;
      }
      if (k % d_ == 0 && q[k] < -1e-6 * scale) {
        failure = fmt::format(
            "the contact {} closes, and no force there can stop it: joints or motors prescribe this motion; let one of "
            "the two touch nothing (collide = false), or give the motor a torque in place of a motion",
            finder_->name(l.key[at(active[at(k / d_)])]));
        return false;
      }
      q[k] = 0;
    }
    // without friction few contacts are solved by pivoting, which ends at rounding and needs no start
    const std::size_t known = d_ > 1 && start_.size() >= at(n) ? at(n) : 0;
    reaction_.assign(start_.begin(), start_.begin() + static_cast<std::ptrdiff_t>(known));
    if (!solve_beside_held(W_, q)) return false;
    for (int k = 0; k < n; ++k) {
      contact_impulse[at(k)] = reaction_[at(k)];
      axpy(contact_impulse[at(k)], X_.col(k).data(), nz_ + m_, x_.data());
    }
  }
  std::copy_n(x_.data(), nz_, v);
  for (int k = 0; k < m_; ++k) joint_impulse[at(k)] = -x_[at(nz_ + k)];
  return true;
}

// With S = L L^T and v scaled by L the mass is the identity, H becomes H L^-T and the right side L^-1 f.
bool ContactStep::solve_many(const double* right, const double* c, const double* w, double* v) {
  if (!all_finite(right, nz_) || !all_finite(c, m_) || !all_finite(w, rows())) return false;
  if (!root_->failure().empty()) {
    failure = "there is no solution with such a mass: " + root_->failure();
    return false;
  }
  ContactProblem p;
  SparseRows H;
  {
    const Stopwatch watch(statistics.assembly_seconds);
    H = contact_and_joint_rows();
    p.dimension = d_;
    p.bilateral = m_;
    p.friction = options_.friction;
    p.facets = options_.facets;
    p.mu.resize(active.size());
    for (int a = 0; a < p.contacts(); ++a) p.mu[at(a)] = d_ > 1 ? friction(a) : 0;
    p.H = root_->scale(H);
    // columns of their own for empty rows
    std::vector<int> empty;
    for (int k = 0; k < rows(); ++k)
      if (p.H.innerVector(k).nonZeros() == 0) empty.push_back(k);
    const Eigen::Index columns = nz_ + std::ssize(empty);
    p.H.conservativeResize(p.H.rows(), columns);
    const double light = p.H.coeffs().abs().maxCoeff();
    for (Eigen::Index k = nz_; k < columns; ++k) p.H.coeffRef(empty[static_cast<std::size_t>(k - nz_)], k) = light;
    p.M.resize(columns, columns);
    p.M.setIdentity();
    p.f = Eigen::VectorXd::Zero(columns);
    std::copy_n(right, nz_, p.f.data());
    root_->solve_lower(p.f.head(nz_));
    p.w.resize(p.rows());
    std::copy_n(w, rows(), p.w.data());
    std::copy_n(c, m_, p.w.data() + rows());
    for (const Bearing& b : bearings_) p.w[b.row] = -light * light * b.width;
  }
  reaction_ = start_;
  if (joints_factored_) {
    if (!solve_with_joints(p, right, c, v)) return false;
  } else {
    if (!solve_problem(p)) return false;
    Eigen::Map<Eigen::VectorXd> z(v, nz_);
    z = Eigen::Map<const Eigen::VectorXd>(right, nz_) +
        H.transpose() * Eigen::Map<const Eigen::VectorXd>(reaction_.data(), p.rows());
    root_->solve(z);
  }
  std::copy_n(reaction_.data(), rows(), contact_impulse.data());
  std::copy_n(reaction_.data() + rows(), m_, joint_impulse.data());
  return true;
}

}  // namespace hinge
