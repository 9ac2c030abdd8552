// The residual of contact problems, for repeated use on one problem. It knows the problem's matrices and nothing of any
// solver.
#pragma once

#include <optional>
#include <vector>

#include "hinge/contact.hpp"
#include "solve/contact/body_rows.hpp"
#include "solve/contact/mass_root.hpp"

namespace hinge {

/// What residuals are relative to.
struct ResidualNorms {
  double q = 0, q_contacts = 0, q_bilateral = 0, q_largest = 0;  ///< |q|, of its parts, and its largest entry
  double r = 0, u = 0;
  double noise = 0;  ///< largest sum_j |W_kj| |r_j|: times the rounding unit what u_k may be wrong by
};

/// Adds up the natural map and every violation, contact after contact.
class ResidualSum {
 public:
  /// Of `law` the dimension, the friction model and its facets are used.
  /// |F| is added up in multiples of `unit`, for entries whose squares leave the range of doubles.
  explicit ResidualSum(const ContactProblem& law, double unit = 1) : law_(&law), unit_(unit) {}
  void contact(double mu, double rho, const double* r, const double* u);
  void bilateral(double u);
  /// Of the same problem and unit, what comes behind this.
  void add(const ResidualSum& next);
  ContactResidual finish(const ResidualNorms& norms);
  /// The unit to begin anew with where the squares left the range of doubles; 0 where they did not.
  double better_unit() const;
  /// The lesser of |F| and the largest |F_i|/rho_i, so far.
  double least() const;

 private:
  const ContactProblem* law_;
  ContactResidual result_;
  double unit_, sum_ = 0, largest_ = 0, bilateral_ = 0, longest_ = 0;
};

class ResidualOfProblem {
 public:
  ResidualOfProblem() = default;
  explicit ResidualOfProblem(const ContactProblem& problem) { bind(problem); }
  /// The problem must live as long as this is used. Memory is kept from problem to problem. Nothing depends on the
  /// number of threads.
  void bind(const ContactProblem& problem, int threads = 1);
  /// Recomputes u = W r + q, then the natural map and every violation.
  ContactResidual operator()(const Eigen::Ref<const Eigen::VectorXd>& r);
  // Of the last call: u, and the velocities v where the problem has a mass.
  const std::vector<double>& velocity() const { return u_; }
  const std::vector<double>& body_velocity() const { return v_; }
  /// Of contacts between bodies.
  const BodyRows& body_rows() const { return body_rows_; }
  double largest_q() const { return norms_.q_largest; }

 private:
  void compute_velocity(const Eigen::Ref<const Eigen::VectorXd>& r);
  void list_touching();
  void compute_by_bodies(const Eigen::Ref<const Eigen::VectorXd>& r);
  ResidualSum add_up(const Eigen::Ref<const Eigen::VectorXd>& r, double unit);
  void choose_rho();
  double noise(const Eigen::Ref<const Eigen::VectorXd>& r, double enough);
  double noise_by_bodies(const Eigen::Ref<const Eigen::VectorXd>& r);

  const ContactProblem* problem_ = nullptr;
  int threads_ = 1;
  BodyRows body_rows_;
  std::vector<int> touching_, first_touching_;  // 2 x block + side, of every body
  std::vector<ResidualSum> parts_;
  std::optional<MassRoot> mass_;
  SparseRows Ht_, abs_A_, abs_At_;  // of W = A A^T the absolute values, for rounding
  std::vector<double> q_, diagonal_, column_, rho_, u_, v_;
  Eigen::VectorXd abs_r_, abs_v_;
  ResidualNorms norms_;
};

}  // namespace hinge
