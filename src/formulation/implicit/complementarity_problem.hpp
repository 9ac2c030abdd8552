// DAEs with complementarity pairs, made solvable: a mixed complementarity problem in n unknowns X,
//
//   0 = F(t, x, x')            n - p equations,   x = x0 + x1 X, x' = d0 + d1 X   number by number
//   0 <= a(t, x, x')  _|_  b(t, x, x') >= 0       p pairs, with coefficients of their own
//
// which is an implicit step of a DAE (x = X, x' = (X - x_n)/h), or the search for consistent initial values (x' of the
// differential unknowns and the other unknowns). Solved to round-off by Newton's iteration on the piecewise smooth
// equations min(a, b) = 0, with the set of active functions of the last solution to begin with; where that cycles, the
// linearised problem is solved whole by Lemke's algorithm (Josephy and Newton),
//
//   K dX = (-F, z - c),  K = (F_X; c_X),  w = M z + q,  0 <= z _|_ w >= 0     c one of a, b in every pair, w the other
//
// which finds a solution of linear circuits of diodes, whatever the modes were before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "solve/linear/linear.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class ComplementarityProblem {
 public:
  /// Refers to the system, which must live as long.
  ComplementarityProblem(const SymbolicSystem& system, LinearAlgebra choice);

  struct Substitution {
    std::vector<double> x0, x1, d0, d1;
  };

  int size() const { return n_; }
  int pairs() const { return p_; }
  /// Does the derivative of unknown i occur anywhere?
  bool differential(int i) const { return differential_[static_cast<std::size_t>(i)]; }

  enum class Outcome { solved, singular, no_solution, not_converged };
  /// X holds a guess and then the solution. Nothing is allocated unless Lemke's algorithm is needed.
  Outcome solve(double t_equations, const Substitution& equations, double t_pairs, const Substitution& pairs, double* X,
                int max_iterations);
  /// Largest |min(a, b)| at the last solution; which function of each pair vanishes: 0 for a, 1 for b.
  double residual() const { return residual_; }
  const std::vector<char>& active() const { return active_; }
  long iterations = 0, factorisations = 0, evaluations = 0, pivoting_solves = 0, solved = 0;
  double increments = 0;

 private:
  void evaluate(double t_equations, const Substitution& equations, double t_pairs, const Substitution& pairs,
                const double* X);
  bool factor(const std::vector<char>& rows);
  Outcome iterate_active(double te, const Substitution& e, double tp, const Substitution& p, double* X, int limit);
  Outcome iterate_pivoting(double te, const Substitution& e, double tp, const Substitution& p, double* X, int limit);
  bool linearised(Eigen::VectorXd& dX, bool& solvable);
  double step_size(const double* dX, const double* X) const;
  double noise(int k, int which) const;

  struct Term {
    int place;   // in the pattern
    int column;  // the unknown
    bool rate;   // of x', else of x
    int output;  // of the tape
    int pair;    // -1 for an equation
    int which;   // 0: a, 1: b
  };
  const SymbolicSystem* system_;
  int n_ = 0, p_ = 0, m_ = 0;  // unknowns, pairs, equations
  std::unique_ptr<Evaluator> tape_equations_, tape_pairs_;
  std::vector<double> scratch_equations_, scratch_pairs_, out_equations_, out_pairs_;
  std::vector<char> differential_;
  Pattern pattern_;
  std::vector<Term> terms_;
  std::unique_ptr<LinearSolver> solver_;
  std::vector<double> rows_e_, rows_a_, rows_b_, matrix_, size_a_, size_b_, peak_;
  std::vector<double> x_, d_, right_, guess_;
  std::vector<char> active_, trial_;
  double residual_ = 0;
};

}  // namespace hinge
