#include "method/nonsmooth/body_contact_form.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "body/body_table.hpp"
#include "solve/index.hpp"
#include "solve/linear/cholesky.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

using Matrix6 = ContactBodies::Mass;

}  // namespace

std::unique_ptr<BodyContactForm> BodyContactForm::of(const System& system, const Pattern& matrix, const Pattern& joints,
                                                     const ContactSolving& options) {
  if (!bodies_of(system) || !options.may_sweep() || options.friction == FrictionModel::polyhedral) return nullptr;
  std::unique_ptr<BodyContactForm> form(new BodyContactForm(matrix, joints));
  form->problem_.friction = options.friction;
  form->problem_.bilateral = joints.rows;
  return form->sort_columns(system) && form->group_joints() ? std::move(form) : nullptr;
}

// Which body a column of z belongs to; false where one has none, or the matrix couples two.
bool BodyContactForm::sort_columns(const System& system) {
  const BodyTable& table = *bodies_of(system);
  const int d = problem_.dimension = table.dimension, turns = d == 2 ? 1 : 3;
  body_.assign(at(system.nz()), -1);
  slot_.assign(at(system.nz()), 0);
  inverse_mass_.resize(36 * table.places.size());
  for (std::size_t b = 0; b < table.places.size(); ++b)
    for (int k = 0; k < d + turns; ++k) {
      const int column = k < d ? table.places[b].v + k : table.places[b].spin + k - d;
      body_[at(column)] = static_cast<int>(b);
      slot_[at(column)] = k;
    }
  if (std::find(body_.begin(), body_.end(), -1) != body_.end()) return false;
  for (int i = 0; i < matrix_.rows; ++i)
    for (int k = matrix_.row_start[at(i)]; k < matrix_.row_start[at(i) + 1]; ++k)
      if (body_[at(matrix_.column[at(k)])] != body_[at(i)]) return false;
  return true;
}

bool BodyContactForm::group_joints() {
  for (int j = 0; j < joints_.rows; ++j) {
    int a = -1, b = -1;
    for (int k = joints_.row_start[at(j)]; k < joints_.row_start[at(j) + 1]; ++k) {
      const int here = body_[at(joints_.column[at(k)])];
      if (a < 0 || here == a) {
        a = here;
      } else {
        if (b >= 0 && here != b) return false;
        b = here;
      }
    }
    if (a < 0) return false;
    if (!groups_.empty() && groups_.back().rows < 3 && groups_.back().a == a && groups_.back().b == b)
      ++groups_.back().rows;
    else
      groups_.push_back({j, 1, a, b});
  }
  return true;
}

bool BodyContactForm::masses(const double* S) {
  const auto block = [&](int b) { return Eigen::Map<Matrix6>(inverse_mass_.data() + 36 * b); };
  const int bodies = static_cast<int>(inverse_mass_.size() / 36), n = problem_.dimension == 2 ? 3 : 6;
  shared_loop(bodies, [&](int b) { block(b).setZero(); });
  shared_loop(matrix_.rows, [&](int i) {
    for (int k = matrix_.row_start[at(i)]; k < matrix_.row_start[at(i) + 1]; ++k)
      block(body_[at(i)])(slot_[at(i)], slot_[at(matrix_.column[at(k)])]) = S[k];
  });
  std::atomic<bool> good = true;
  shared_loop(
      bodies,
      [&](int b) {
        if (!invert(block(b), n)) good = false;
      },
      128);
  return good;
}

// In its place, of the first n rows. False where it is not symmetric and positive definite.
bool BodyContactForm::invert(Eigen::Map<ContactBodies::Mass> m, int n) {
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
    return true;
  }
  for (int i = n; i < 6; ++i) m(i, i) = 1;  // absent in the plane
  Matrix6 inverse = m;
  if (!invert_definite(inverse)) return false;
  for (int i = n; i < 6; ++i) inverse(i, i) = 0;
  m = (inverse + inverse.transpose()) / 2;
  return true;
}

// Room for so many, whose entries are all to be written.
void BodyContactForm::make_room(int contacts, int groups) {
  ContactBodies& b = problem_.bodies;
  const std::size_t bodies = inverse_mass_.size() / 36, blocks = at(contacts + groups);
  b.inverse_mass.resize(36 * bodies);
  b.v_free.resize(6 * bodies);
  b.bilateral_rows.resize(at(groups));
  b.pair.resize(2 * blocks);
  b.H.resize(36 * blocks);
  b.w.resize(3 * blocks);
  problem_.mu.resize(at(contacts));
  std::fill(b.pair.begin() + 2 * contacts, b.pair.end(), -1);
  std::fill(b.H.begin() + 36 * contacts, b.H.end(), 0.0);
  std::fill(b.w.begin() + 3 * contacts, b.w.end(), 0.0);
}

const ContactProblem& BodyContactForm::pose(const ContactList& l, const std::vector<int>& active, const double* right,
                                            const double* C, const double* c, const double* w) {
  const int d = problem_.dimension, nc = static_cast<int>(active.size()), groups = static_cast<int>(groups_.size());
  ContactBodies& b = problem_.bodies;
  make_room(nc, groups);
  shared_loop(b.count(), [&](int k) {
    std::copy_n(inverse_mass_.data() + 36 * k, 36, b.inverse_mass.data() + 36 * k);
    std::fill_n(b.v_free.data() + 6 * k, 6, 0.0);
  });
  shared_loop(static_cast<int>(body_.size()), [&](int k) { b.v_free[at(6 * body_[at(k)] + slot_[at(k)])] = right[k]; });
  shared_loop(b.count(), [&](int k) {
    Eigen::Map<Eigen::Matrix<double, 6, 1>> v(b.v_free.data() + 6 * k);
    const Eigen::Matrix<double, 6, 1> impulse = v;
    v.noalias() = b.inverse(k) * impulse;
  });
  shared_loop(nc, [&](int k) {
    const int i = active[at(k)];
    problem_.mu[at(k)] = l.friction[at(i)];
    int* pair = b.pair.data() + 2 * k;
    pair[0] = pair[1] = -1;
    std::fill_n(b.H.data() + 36 * k, 36, 0.0);
    for (int e = l.first[at(i)]; e < l.first[at(i) + 1]; ++e) {
      const int body = body_[at(l.column[at(e)])], slot = slot_[at(l.column[at(e)])];
      if (pair[0] < 0) pair[0] = body;
      if (body != pair[0]) pair[1] = body;
      auto H = b.rows(k, body == pair[0] ? 0 : 1);
      for (int row = 0; row < d; ++row) H(row, slot) = l.H[at(e * d + row)];
    }
    for (int row = 0; row < 3; ++row) b.w[at(3 * k + row)] = row < d ? w[k * d + row] : 0;
  });
  for (int g = 0; g < groups; ++g) {
    const Joint& joint = groups_[at(g)];
    b.pair[at(2 * (nc + g))] = joint.a;
    b.pair[at(2 * (nc + g) + 1)] = joint.b;
    b.bilateral_rows[at(g)] = joint.rows;
    for (int row = 0; row < joint.rows; ++row) {
      const int j = joint.first + row;
      for (int k = joints_.row_start[at(j)]; k < joints_.row_start[at(j) + 1]; ++k) {
        const int column = joints_.column[at(k)];
        b.rows(nc + g, body_[at(column)] == joint.a ? 0 : 1)(row, slot_[at(column)]) = C[k];
      }
      b.w[at(3 * (nc + g) + row)] = c[j];
    }
  }
  return problem_;
}

void BodyContactForm::read_velocities(std::span<const double> bodies, double* v) const {
  shared_loop(static_cast<int>(body_.size()), [&](int k) { v[k] = bodies[at(6 * body_[at(k)] + slot_[at(k)])]; });
}

}  // namespace hinge
