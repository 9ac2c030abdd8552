// Coefficients of the Radau IIA methods with s stages, order 2 s - 1.
//
//   nodes     0 < c_1 < ... < c_s = 1: the roots of P_s(2 c - 1) - P_{s-1}(2 c - 1), P Legendre polynomials
//   stages    X_i = x0 + Z_i: values at t0 + c_i h of a polynomial u of degree s with u(t0) = x0
//   rates     u'(t0 + c_i h) = (1/h) sum_j gamma_ij Z_j,   Gamma = A^-1
//   at t0     u'(t0) = (1/h) sum_j start_j Z_j:  the estimate of the error is the defect of u there
//   between   theta (theta - c_1) ... (theta - c_s) =: w(theta) is the shape of what a polynomial through x0 and the
//             stages is off: largest between two of the nodes
//   spectrum  Gamma = V diag(mu) V^-1: one real eigenvalue (s odd) and pairs of complex ones
//
// Everything but the spectrum is computed in extended precision.
#pragma once

#include <complex>
#include <vector>

#include <Eigen/Dense>

namespace hinge {

struct RadauTableau {
  using Complex = std::complex<double>;
  int stages = 0;
  Eigen::VectorXd c;
  Eigen::MatrixXd gamma;                      // s x s
  Eigen::VectorXd start;                      // s; -e of the literature
  double real_eigenvalue = 0;                 // where s is odd
  Eigen::VectorXd real_right, real_left;      // column of V, row of V^-1
  std::vector<Complex> eigenvalues;           // of each complex pair the one with positive imaginary part
  std::vector<Eigen::VectorXcd> right, left;  // their columns of V and rows of V^-1
  std::vector<long double> at;                // 0, c_1, ..., c_s
  std::vector<double> between;                // where |w| has its two largest maxima; one where s = 1
  double largest_between = 0;                 // its largest value in [0, 1]
  bool has_real() const { return stages % 2 == 1; }
  double w(double theta) const;

  /// Weights w with u(t0 + theta h) = x0 + sum_j w_j Z_j.
  void weights(double theta, double* w) const;
  /// Weights w with h u'(t0 + theta h) = sum_j w_j Z_j.
  void rate_weights(double theta, double* w) const;
};

/// s = 1..9. Worked out once, and kept.
const RadauTableau& radau_tableau(int stages);

}  // namespace hinge
