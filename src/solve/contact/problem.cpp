#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/contact.hpp"
#include "solve/contact/delassus.hpp"
#include "solve/contact/mass_root.hpp"

namespace hinge {

namespace {

// `message()` is put together only where it is needed: entries are checked one by one.
template <class Message>
void require(bool good, Message&& message) {
  if (!good) throw InputError("contact problem: " + std::string(message()));
}

// Where row k belongs, in words.
std::string row_name(const ContactProblem& p, Eigen::Index k) {
  const Eigen::Index contact_rows = static_cast<Eigen::Index>(p.contacts()) * p.dimension;
  if (k >= contact_rows) return fmt::format("bilateral row {}", k - contact_rows);
  static const char* const parts[] = {"normal", "first tangential", "second tangential"};
  if (p.dimension == 1) return fmt::format("row {}", k);
  return fmt::format("contact {} ({} row)", k / p.dimension, parts[k % p.dimension]);
}

void require_finite(const Eigen::VectorXd& x, const char* name) {
  for (Eigen::Index k = 0; k < x.size(); ++k)
    require(std::isfinite(x[k]), [&] {
      return fmt::format("{}[{}] is {}; check what wrote the file, every entry must be a finite number", name, k, x[k]);
    });
}

void require_finite(const SparseRows& a, const char* name) {
  for (Eigen::Index i = 0; i < a.outerSize(); ++i)
    for (SparseRows::InnerIterator entry(a, i); entry; ++entry)
      require(std::isfinite(entry.value()), [&] {
        return fmt::format("{}({}, {}) is {}; check what wrote the file, every entry must be a finite number", name, i,
                           entry.col(), entry.value());
      });
}

void require_size(Eigen::Index actual, Eigen::Index wanted, const char* name, const std::string& why) {
  require(actual == wanted,
          [&] { return fmt::format("{} has {} entries where {} are needed ({})", name, actual, wanted, why); });
}

std::string counted(const ContactProblem& p) {
  return fmt::format("{} contacts of {} rows{}", p.contacts(), p.dimension,
                     p.bilateral > 0 ? fmt::format(" and {} bilateral rows", p.bilateral) : "");
}

void validate_explicit(const ContactProblem& p) {
  const int n = p.rows();
  require(p.W.rows() == n && p.W.cols() == n, [&] {
    return fmt::format("W is {} x {} where {} x {} is needed ({})", p.W.rows(), p.W.cols(), n, n, counted(p));
  });
  require_size(p.q.size(), n, "q", counted(p));
  require_finite(p.W, "W");
  require_finite(p.q, "q");
  if (p.dimension == 1 && p.bilateral == 0) return;  // any LCP
  for (int k = 0; k < n; ++k) {
    const double diagonal = p.W.coeff(k, k);
    require(diagonal >= 0, [&] {
      return fmt::format("{}: W({}, {}) = {} is negative, so W is no Delassus matrix", row_name(p, k), k, k, diagonal);
    });
    require(diagonal > 0 || k >= p.contacts() * p.dimension, [&] {
      return fmt::format("{}: W({}, {}) = 0, as between two bodies that cannot move; leave this contact out",
                         row_name(p, k), k, k);
    });
  }
}

void validate_matrix_free(const ContactProblem& p) {
  const int n = p.rows();
  const Eigen::Index m = p.M.rows();
  require(p.M.cols() == m, [&] { return fmt::format("M is {} x {}; a mass matrix is square", m, p.M.cols()); });
  require(p.H.rows() == n && p.H.cols() == m, [&] {
    return fmt::format("H is {} x {} where {} x {} is needed ({}, {} velocities)", p.H.rows(), p.H.cols(), n, m,
                       counted(p), m);
  });
  require_size(p.f.size(), m, "f", fmt::format("{} velocities", m));
  require_size(p.w.size(), n, "w", counted(p));
  require_finite(p.M, "M");
  require_finite(p.H, "H");
  require_finite(p.f, "f");
  require_finite(p.w, "w");
  const MassRoot root(p.M);  // throws where M is not symmetric positive definite
  const Eigen::VectorXd diagonal = root.delassus_diagonal(p.H);
  for (int k = 0; k < p.contacts() * p.dimension; ++k)
    require(diagonal[k] > 0, [&] {
      return fmt::format("{}: this row of H is empty, so no body moves with it; leave the contact out", row_name(p, k));
    });
}

}  // namespace

ContactProblem linear_complementarity(const SparseRows& M, const Eigen::VectorXd& q) {
  ContactProblem p;
  p.dimension = 1;
  p.W = M;
  p.W.makeCompressed();
  p.q = q;
  p.mu = Eigen::VectorXd::Zero(q.size());
  return p;
}

ContactProblem linear_complementarity(const Eigen::MatrixXd& M, const Eigen::VectorXd& q) {
  return linear_complementarity(SparseRows(M.sparseView(1, 0)), q);
}

ContactProblem frictional_contact(int dimension, const SparseRows& W, const Eigen::VectorXd& q,
                                  const Eigen::VectorXd& mu) {
  ContactProblem p;
  p.dimension = dimension;
  p.W = W;
  p.W.makeCompressed();
  p.q = q;
  p.mu = mu;
  return p;
}

ContactProblem frictional_contact(int dimension, const SparseRows& M, const SparseRows& H, const Eigen::VectorXd& f,
                                  const Eigen::VectorXd& w, const Eigen::VectorXd& mu) {
  ContactProblem p;
  p.dimension = dimension;
  p.M = M;
  p.H = H;
  p.M.makeCompressed();
  p.H.makeCompressed();
  p.f = f;
  p.w = w;
  p.mu = mu;
  return p;
}

void validate(const ContactProblem& p) {
  require(p.dimension >= 1 && p.dimension <= 3,
          [&] { return fmt::format("dimension {}; a contact has 1, 2 or 3 rows (1: without friction)", p.dimension); });
  require(p.bilateral >= 0, [&] { return fmt::format("{} bilateral rows", p.bilateral); });
  require(p.rows() > 0, [&] { return "there are no contacts and no bilateral rows, so there is nothing to solve"; });
  require(!(p.W.rows() > 0 && p.H.rows() > 0),
          [&] { return "both W and H are given; give W and q, or M, H, f and w"; });
  require(p.facets >= 4 && p.facets % 2 == 0,
          [&] { return fmt::format("a friction pyramid of {} facets; give an even number, at least 4", p.facets); });
  for (Eigen::Index i = 0; i < p.mu.size(); ++i)
    require(p.mu[i] >= 0 && std::isfinite(p.mu[i]), [&] {
      return fmt::format("mu of contact {} is {}; a friction coefficient is a finite number, 0 or larger", i, p.mu[i]);
    });
  p.matrix_free() ? validate_matrix_free(p) : validate_explicit(p);
}

double asymmetry(const ContactProblem& p) {
  if (p.matrix_free() || p.W.nonZeros() == 0) return 0;
  const SparseRows transposed = p.W.transpose();
  const SparseRows difference = p.W - transposed;
  return difference.coeffs().abs().maxCoeff() / p.W.coeffs().abs().maxCoeff();
}

Eigen::VectorXd body_velocity(const ContactProblem& p, const Eigen::VectorXd& r) {
  Eigen::VectorXd v = p.f;
  v += p.H.transpose() * r;
  MassRoot(p.M).solve(v);
  return v;
}

Eigen::VectorXd contact_velocity(const ContactProblem& p, const Eigen::VectorXd& r) {
  if (p.matrix_free()) return p.H * body_velocity(p, r) + p.w;
  return p.W * r + p.q;
}

void ContactOptions::validate() const {
  const auto demand = [](bool good, const std::string& message) {
    if (!good) throw InputError(message);
  };
  demand(tolerance > 0 && std::isfinite(tolerance),
         fmt::format("tolerance {}: it must be a positive number, such as 1e-8", tolerance));
  demand(iterations >= 0, fmt::format("{} iterations: give a positive number, or 0 for the solver's own", iterations));
  demand(seconds >= 0, fmt::format("a limit of {} seconds: it must be positive, or 0 for none", seconds));
  demand(relaxation > 0 && relaxation < 2, fmt::format("relaxation {}: it must lie between 0 and 2", relaxation));
  demand(threads >= 1 && threads <= 1024, fmt::format("{} threads: give a number from 1 to 1024", threads));
}

}  // namespace hinge
