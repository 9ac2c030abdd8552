// What the gradient methods share: f(r) = 1/2 r.W r + q.r on the cones, one product with W per gradient, and the loop
// that makes exact friction out of convex problems.
#pragma once

#include <functional>

#include "solve/contact/solvers.hpp"

namespace hinge {

class ConvexProblem {
 public:
  ConvexProblem(Delassus& W, const ContactProblem& problem, int threads);
  /// What De Saxce's term adds to the normal rows of q; zero to begin with.
  void freeze(const Eigen::VectorXd& shift);
  /// W r + q with the frozen shift.
  void gradient(const Eigen::VectorXd& r, Eigen::VectorXd& g);
  /// y = W x
  void product(const Eigen::VectorXd& x, Eigen::VectorXd& y) { W_.multiply(x, y); }
  void project(Eigen::VectorXd& r) const;
  double dot(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const;
  const Eigen::VectorXd& q() const { return q_; }
  /// Largest eigenvalue of W by a few power iterations from a fixed start.
  double largest_eigenvalue(int iterations);
  /// Largest |P_K(r - rho g) - r|/rho over the contacts, relative to the largest |q|: the residual of the frozen
  /// problem.
  double residual(const Eigen::VectorXd& r, const Eigen::VectorXd& g) const;

 private:
  Delassus& W_;
  const ContactProblem& problem_;
  int threads_;
  Eigen::VectorXd q_, rho_;
};

/// mu_i |u_Ti| in the normal rows of u = W r + q.
Eigen::VectorXd friction_shift(Delassus& W, const ContactProblem& problem, const Eigen::VectorXd& r);

/// Solves min f on the cones from r to the tolerance given, by the frozen residual; returns its iterations.
/// `watch(iterations, r)` is asked now and then, and says when to give up.
using ConvexSolve = std::function<int(ConvexProblem& f, Eigen::VectorXd& r, double tolerance, int limit,
                                      const std::function<bool(int, const Eigen::VectorXd&)>& watch)>;

/// Convexified friction (and none) is one convex problem. Exact friction (Acary, Cadoux, Lemarechal, Malick 2011):
/// freeze s_i = |u_Ti|, solve with q + mu s n, update s, repeat; the inner tolerance follows the residual.
void solve_by_convex_problems(Delassus& W, Judge& judge, Eigen::VectorXd r, int limit, const ConvexSolve& solve);

}  // namespace hinge
