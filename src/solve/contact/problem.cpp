// A contact problem by itself: is it one, and what follows from it without solving it.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "hinge/contact.hpp"
#include "solve/contact/delassus.hpp"
#include "solve/contact/mass_root.hpp"
#include "solve/contact/residual.hpp"
#include "solve/parallel.hpp"

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
  const MassRoot root(p.M);
  require(root.failure().empty(), [&] { return root.failure(); });
  // M is definite: what has entries moves
  for (int k = 0; k < p.contact_rows(); ++k)
    require(p.H.row(k).cwiseAbs().sum() > 0, [&] {
      return fmt::format("{}: this row of H is empty, so no body moves with it; leave the contact out", row_name(p, k));
    });
}

// The first that is not good; -1: there is none.
template <class Good>
int first_bad(int n, Good&& good) {
  std::atomic<int> bad = n;
  shared_loop(n, [&](int i) {
    if (good(i)) return;
    for (int first = bad; i < first && !bad.compare_exchange_weak(first, i);) continue;
  });
  return bad < n ? bad.load() : -1;
}

void validate_bodies(const ContactProblem& p) {
  const auto six = [](const std::vector<double>& x, int k) {
    return Eigen::Map<const Eigen::Matrix<double, 6, 1>>(x.data() + 6 * k);
  };
  const ContactBodies& b = p.bodies;
  const std::size_t blocks = p.mu.size() + b.bilateral_rows.size(), bodies = b.v_free.size() / 6;
  require(p.friction != FrictionModel::polyhedral || p.dimension < 3 || p.frictionless(),
          [] { return "friction pyramids are not treated by bodies; give H and M, or W"; });
  require(b.v_free.size() == 6 * bodies && b.inverse_mass.size() == 36 * bodies, [&] {
    return fmt::format("v_free has {} entries and the inverse masses {}; a body has 6 and 36", b.v_free.size(),
                       b.inverse_mass.size());
  });
  require(b.pair.size() == 2 * blocks && b.H.size() == 36 * blocks && b.w.size() == 3 * blocks, [&] {
    return fmt::format("{} contacts and {} blocks of bilateral rows need 2 bodies, 36 entries of H and 3 of w each",
                       p.contacts(), b.bilateral_rows.size());
  });
  require(first_bad(b.count(), [&](int k) { return six(b.v_free, k).allFinite(); }) < 0,
          [] { return "v_free has entries that are not finite numbers"; });
  const int mass =
      first_bad(b.count(), [&](int k) { return b.inverse(k).allFinite() && b.inverse(k).diagonal().minCoeff() >= 0; });
  require(mass < 0, [&] {
    return fmt::format("the inverse mass of body {} is not finite, or negative; a mass must be positive", mass);
  });
  const auto has_bodies = [&](int i) {
    const int first = b.body(i, 0), second = b.body(i, 1);
    return first >= -1 && first < b.count() && second >= -1 && second < b.count() && first != second;
  };
  const int bad = first_bad(b.blocks(), [&](int i) {
    const double* w = b.w.data() + 3 * i;
    return has_bodies(i) && b.rows(i, 0).allFinite() && b.rows(i, 1).allFinite() && std::isfinite(w[0] + w[1] + w[2]);
  });
  require(bad < 0 || has_bodies(bad), [&] {
    return fmt::format("contact {} is between bodies {} and {}; there are {} bodies, and -1 is the ground", bad,
                       b.body(bad, 0), b.body(bad, 1), b.count());
  });
  require(bad < 0, [&] { return fmt::format("contact {} has entries that are not finite numbers", bad); });
  int bilateral = 0;
  for (const int rows : b.bilateral_rows) {
    require(rows >= 1 && rows <= 3,
            [&] { return fmt::format("{} bilateral rows in a block; 1 to 3 are possible", rows); });
    bilateral += rows;
  }
  require(bilateral == p.bilateral,
          [&] { return fmt::format("the blocks have {} bilateral rows where {} are said", bilateral, p.bilateral); });
}

}  // namespace

void ContactBodies::resize(int bodies, int blocks, int bilateral_blocks) {
  const auto n = static_cast<std::size_t>(bodies), m = static_cast<std::size_t>(blocks);
  inverse_mass.resize(36 * n);
  v_free.assign(6 * n, 0.0);
  pair.assign(2 * m, -1);
  bilateral_rows.assign(static_cast<std::size_t>(bilateral_blocks), 0);
  H.assign(36 * m, 0.0);
  w.assign(3 * m, 0.0);
}

bool ContactProblem::frictionless() const {
  return dimension == 1 || std::all_of(mu.begin(), mu.end(), [](double x) { return x == 0; });
}

ContactProblem linear_complementarity(const SparseRows& M, const Eigen::VectorXd& q) {
  ContactProblem p;
  p.dimension = 1;
  p.W = M;
  p.W.makeCompressed();
  p.q = q;
  p.mu.assign(static_cast<std::size_t>(q.size()), 0.0);
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
  p.mu.assign(mu.begin(), mu.end());
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
  p.mu.assign(mu.begin(), mu.end());
  return p;
}

void validate(const ContactProblem& p) {
  require(p.dimension >= 1 && p.dimension <= 3,
          [&] { return fmt::format("dimension {}; a contact has 1, 2 or 3 rows (1: without friction)", p.dimension); });
  require(p.bilateral >= 0, [&] { return fmt::format("{} bilateral rows", p.bilateral); });
  require(p.rows() > 0, [&] { return "there are no contacts and no bilateral rows, so there is nothing to solve"; });
  require((p.W.rows() > 0) + (p.H.rows() > 0) + p.by_bodies() < 2,
          [&] { return "more than one of W, H and bodies is given; give W and q, or M, H, f and w, or bodies"; });
  require(p.facets >= 4 && p.facets % 2 == 0,
          [&] { return fmt::format("a friction pyramid of {} facets; give an even number, at least 4", p.facets); });
  for (int i = 0; i < p.contacts(); ++i)
    require(p.mu_of(i) >= 0 && std::isfinite(p.mu_of(i)), [&] {
      return fmt::format("mu of contact {} is {}; a friction coefficient is a finite number, 0 or larger", i,
                         p.mu_of(i));
    });
  p.by_bodies() ? validate_bodies(p) : p.matrix_free() ? validate_matrix_free(p) : validate_explicit(p);
}

double asymmetry(const ContactProblem& p) {
  if (p.matrix_free() || p.W.nonZeros() == 0) return 0;
  const SparseRows transposed = p.W.transpose();
  const SparseRows difference = p.W - transposed;
  return difference.coeffs().abs().maxCoeff() / p.W.coeffs().abs().maxCoeff();
}

Eigen::VectorXd contact_velocity(const ContactProblem& p, const Eigen::VectorXd& r) {
  ResidualOfProblem residual(p);
  residual(r);
  return Eigen::Map<const Eigen::VectorXd>(residual.velocity().data(), p.rows());
}

Eigen::VectorXd body_velocity(const ContactProblem& p, const Eigen::VectorXd& r) {
  ResidualOfProblem residual(p);
  residual(r);
  return Eigen::Map<const Eigen::VectorXd>(residual.body_velocity().data(), std::ssize(residual.body_velocity()));
}

ContactProblem written_out(const ContactProblem& p) {
  BodyRows rows;
  rows.bind(p);
  ContactProblem all;
  all.dimension = p.dimension;
  all.bilateral = p.bilateral;
  all.friction = p.friction;
  all.facets = p.facets;
  all.mu = p.mu;
  all.H = rows.matrix();
  all.M.resize(all.H.cols(), all.H.cols());
  all.M.setIdentity();
  all.f = Eigen::VectorXd::Zero(all.H.cols());
  all.w = Eigen::Map<const Eigen::VectorXd>(rows.q().data(), p.rows());
  return all;
}

void ContactOptions::validate() const {
  if (!(tolerance > 0 && std::isfinite(tolerance)))
    throw InputError(fmt::format("tolerance {}: it must be a positive number, such as 1e-8", tolerance));
  if (iterations < 0)
    throw InputError(fmt::format("{} iterations: give a positive number, or 0 for the solver's own", iterations));
  if (!(seconds >= 0))
    throw InputError(fmt::format("a limit of {} seconds: it must be positive, or 0 for none", seconds));
  if (!(relaxation > 0 && relaxation < 2))
    throw InputError(fmt::format("relaxation {}: it must lie between 0 and 2", relaxation));
  if (threads < 1 || threads > 1024) throw InputError(fmt::format("{} threads: give a number from 1 to 1024", threads));
}

}  // namespace hinge
