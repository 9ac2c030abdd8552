// The stage equations of a Radau IIA step for F(t, x, x') = 0, and simplified Newton iterations on them:
//
//   F(t0 + c_i h, x0 + Z_i, (1/h) sum_j gamma_ij Z_j) = 0,      i = 1..s,      x1 = x0 + Z_s
//
// With F_x and F_x' frozen at one point, the matrix  (1/h) Gamma (x) F_x' + I (x) F_x  falls apart in the eigenbasis of
// Gamma into  (mu_k/h) F_x' + F_x: one real matrix of the size of x where s is odd, and one complex matrix for each
// pair of complex eigenvalues. Rows and columns are scaled by powers of h as the problem says, so that the condition of
// each does not depend on h. Small systems in projected invariants go another way: radau_reduced.hpp. F_x' need not be
// constant, and no unknown stands for x'.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "method/implicit/radau_reduced.hpp"
#include "method/implicit/radau_tableau.hpp"
#include "solve/linear/linear.hpp"
namespace hinge {

class RadauStages {
 public:
  /// For tableaus with up to `most_stages` stages.
  RadauStages(ImplicitProblem& problem, int most_stages, LinearAlgebra choice, Counters& counters);
  /// The tableau to use from now on; it must outlive its use. Factorise again afterwards.
  void use(const RadauTableau& tableau);
  /// To be called before the first use, and whenever the problem's pattern may have changed.
  void match_pattern();

  /// F_x and F_x' at a point.
  void linearise(double t, const double* x, const double* rate);
  const double* f_x() const { return f_x_.data(); }
  const double* f_rate() const { return f_rate_.data(); }
  /// Does the derivative of unknown k occur in F? As of the last linearise().
  bool is_differential(std::size_t k) const { return differential_[k]; }
  /// Factorises for the step h; `all`: for iterate() as well, else for solve_real() alone. False where a matrix is
  /// singular.
  bool factor(double h, bool all = true);

  /// One iteration: Z, stage after stage, is improved; dz is what was added. False where F is not finite.
  bool iterate(double t0, const double* x0, double h, double* z, double* dz);
  /// Was what iterate() found left of F, before its improvement, nothing but rounding? `within`: that within F counts.
  bool left_rounding(double h, const double* z, bool within);
  /// u'(t0 + c_i h) = (1/h) sum_j gamma_ij Z_j
  void rate(int i, double h, const double* z, double* out) const;
  /// x <- ((mu/h) F_x' + F_x)^-1 x with the real eigenvalue mu
  void solve_real(double* x);

 private:
  using Complex = std::complex<double>;

  ImplicitProblem& problem_;
  const RadauTableau* tableau_ = nullptr;
  LinearAlgebra choice_;
  Counters& counters_;
  std::size_t n_ = 0;
  Pattern pattern_;  // that everything below is made for
  int most_stages_;
  std::unique_ptr<RadauReduced> reduced_;  // where it serves, in the place of the next two
  std::unique_ptr<LinearSolver> real_;
  std::vector<std::unique_ptr<ComplexLinearSolver>> complex_;
  std::vector<double> f_x_, f_rate_, real_values_, row_, column_;
  std::vector<Complex> complex_values_, complex_work_;
  std::vector<double> x_, rate_, f_, times_, real_work_, within_;
  std::vector<char> differential_;
  bool regular_ = true;  // as far as linearise() could tell
  bool built_ = false;
};

}  // namespace hinge
