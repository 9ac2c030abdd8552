#include "method/nonsmooth/body_contact_form.hpp"

#include <algorithm>
#include <cmath>

#include "body/body_table.hpp"
#include "solve/linear/cholesky.hpp"

namespace hinge {

namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;

constexpr int most_contacts_for_auto = 1000;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

ContactOptions solver_options(const ContactSolving& options) {
  ContactOptions o;
  o.threads = options.threads;
  return o;
}

}  // namespace

BodyContactForm::BodyContactForm(int bodies, const Pattern& matrix, const Pattern& joints,
                                 const ContactSolving& options)
    : bodies_(bodies),
      automatic_(options.solver == "auto"),
      matrix_(matrix),
      joints_(joints),
      solver_(solver_options(options), automatic_) {
  problem_.friction = options.friction;
  problem_.inverse_mass.assign(at(bodies), Matrix6::Zero());
  problem_.v_free = Eigen::VectorXd::Zero(6 * bodies);
}

std::unique_ptr<BodyContactForm> BodyContactForm::of(const System& system, const Pattern& matrix, const Pattern& joints,
                                                     const ContactSolving& options) {
  const BodyTable* table = bodies_of(system);
  if (!table || (options.solver != "auto" && options.solver != "block-gauss-seidel") ||
      options.friction == FrictionModel::polyhedral)
    return nullptr;
  std::unique_ptr<BodyContactForm> form(
      new BodyContactForm(static_cast<int>(table->places.size()), matrix, joints, options));
  form->problem_.dimension = table->dimension;
  form->body_.assign(at(system.nz()), -1);
  form->slot_.assign(at(system.nz()), 0);
  const int d = table->dimension, turns = d == 2 ? 1 : 3;
  for (int b = 0; b < form->bodies_; ++b) {
    const BodyPlace& place = table->places[at(b)];
    for (int k = 0; k < d + turns; ++k) {
      const int column = k < d ? place.v + k : place.spin + k - d;
      form->body_[at(column)] = b;
      form->slot_[at(column)] = k;
    }
  }
  const std::vector<int>& body = form->body_;
  if (std::find(body.begin(), body.end(), -1) != body.end()) return nullptr;
  for (int i = 0; i < matrix.rows; ++i)
    for (int k = matrix.row_start[at(i)]; k < matrix.row_start[at(i) + 1]; ++k)
      if (body[at(matrix.column[at(k)])] != body[at(i)]) return nullptr;
  for (int j = 0; j < joints.rows; ++j) {
    int a = -1, b = -1;
    for (int k = joints.row_start[at(j)]; k < joints.row_start[at(j) + 1]; ++k) {
      const int here = body[at(joints.column[at(k)])];
      if (a < 0 || here == a) {
        a = here;
      } else {
        if (b >= 0 && here != b) return nullptr;
        b = here;
      }
    }
    if (a < 0) return nullptr;
    std::vector<Joint>& groups = form->groups_;
    if (!groups.empty() && groups.back().rows < 3 && groups.back().a == a && groups.back().b == b)
      ++groups.back().rows;
    else
      groups.push_back({j, 1, a, b});
  }
  return form;
}

bool BodyContactForm::masses(const double* S) {
  for (Matrix6& m : problem_.inverse_mass) m.setZero();
  for (int i = 0; i < matrix_.rows; ++i)
    for (int k = matrix_.row_start[at(i)]; k < matrix_.row_start[at(i) + 1]; ++k)
      problem_.inverse_mass[at(body_[at(i)])](slot_[at(i)], slot_[at(matrix_.column[at(k)])]) = S[k];
  const int n = problem_.dimension == 2 ? 3 : 6;
  for (Matrix6& m : problem_.inverse_mass) {
    bool diagonal = true;
    for (int i = 0; i < n; ++i) {
      if (!(m(i, i) > 0) || !std::isfinite(m(i, i))) return false;
      for (int j = 0; j < i; ++j) {
        diagonal = diagonal && m(i, j) == 0 && m(j, i) == 0;
        if (!(std::abs(m(i, j) - m(j, i)) <= 1e-14 * std::sqrt(m(i, i) * m(j, j)))) return false;
      }
    }
    if (diagonal) {
      for (int i = 0; i < n; ++i) m(i, i) = 1 / m(i, i);
      continue;
    }
    for (int i = n; i < 6; ++i) m(i, i) = 1;  // absent in the plane
    if (!invert_definite(m)) return false;
    for (int i = n; i < 6; ++i) m(i, i) = 0;
    const Matrix6 transposed = m.transpose();
    m = (m + transposed) / 2;
  }
  return true;
}

BodyContactReport BodyContactForm::solve(const ContactList& l, const std::vector<int>& active, const double* right,
                                         const double* C, const double* c, const double* w, double tolerance,
                                         std::vector<double>& r, double* v) {
  const int d = problem_.dimension, nc = static_cast<int>(active.size()), groups = static_cast<int>(groups_.size());
  problem_.v_free.setZero();
  for (std::size_t k = 0; k < body_.size(); ++k) problem_.v_free[6 * body_[k] + slot_[k]] = right[k];
  for (int b = 0; b < bodies_; ++b) {
    const Eigen::Matrix<double, 6, 1> impulse = problem_.v_free.segment<6>(6 * b);
    problem_.v_free.segment<6>(6 * b).noalias() = problem_.inverse_mass[at(b)] * impulse;
  }
  problem_.contacts.resize(at(nc + groups));
  r_.resize(at(3 * (nc + groups)));
  for (int k = 0; k < nc; ++k) {
    const int i = active[at(k)];
    BodyContact& contact = problem_.contacts[at(k)];
    contact = {};
    contact.mu = l.friction[at(i)];
    contact.key = l.key[at(i)];
    for (int e = l.first[at(i)]; e < l.first[at(i) + 1]; ++e) {
      const int body = body_[at(l.column[at(e)])], slot = slot_[at(l.column[at(e)])];
      if (contact.a < 0) contact.a = body;
      if (body != contact.a) contact.b = body;
      BodyContact::Rows& H = body == contact.a ? contact.Ha : contact.Hb;
      for (int row = 0; row < d; ++row) H(row, slot) = l.H[at(e * d + row)];
    }
    for (int row = 0; row < 3; ++row) {
      contact.w[row] = row < d ? w[k * d + row] : 0;
      r_[at(3 * k + row)] = row < d && !r.empty() ? r[at(k * d + row)] : 0;
    }
  }
  for (int g = 0; g < groups; ++g) {
    const Joint& joint = groups_[at(g)];
    BodyContact& contact = problem_.contacts[at(nc + g)];
    contact = {};
    contact.a = joint.a;
    contact.b = joint.b;
    contact.bilateral_rows = joint.rows;
    for (int row = 0; row < joint.rows; ++row) {
      const int j = joint.first + row;
      for (int k = joints_.row_start[at(j)]; k < joints_.row_start[at(j) + 1]; ++k) {
        const int column = joints_.column[at(k)];
        (body_[at(column)] == joint.a ? contact.Ha : contact.Hb)(row, slot_[at(column)]) = C[k];
      }
      contact.w[row] = c[j];
    }
    for (int row = 0; row < 3; ++row)
      r_[at(3 * (nc + g) + row)] = row < joint.rows && !r.empty() ? r[at(nc * d + joint.first + row)] : 0;
  }
  // Sweeps reach few digits in large piles, and what takes over then grows too dear.
  const bool large = nc + groups > most_contacts_for_auto;
  solver_.options().tolerance = tolerance > 0 ? tolerance : large ? 1e-4 : 1e-6;
  solver_.fall_back(automatic_ && (tolerance > 0 || !large));
  const BodyContactReport report = solver_.solve(problem_, r_);
  r.resize(at(nc * d + joints_.rows));
  for (int k = 0; k < nc; ++k)
    for (int row = 0; row < d; ++row) r[at(k * d + row)] = r_[at(3 * k + row)];
  for (int g = 0; g < groups; ++g)
    for (int row = 0; row < groups_[at(g)].rows; ++row)
      r[at(nc * d + groups_[at(g)].first + row)] = r_[at(3 * (nc + g) + row)];
  const auto velocity = solver_.body_velocity();
  for (std::size_t k = 0; k < body_.size(); ++k) v[k] = velocity[at(6 * body_[k] + slot_[k])];
  return report;
}

}  // namespace hinge
