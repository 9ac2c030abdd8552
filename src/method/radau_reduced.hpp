// The matrices of a Radau step for projected invariants, reduced to the degrees of freedom.
//
// Unknowns y, z, psi, mu, tau; rows P, D, A, V, C (formulation/mechanical_forms.hpp). With a shift sigma = mu_k / h,
// the eigenvalue mu_k of Gamma over h, and W = sigma dz + C^T dtau, a Newton increment solves
//
//   [ p_z  D_psi ] [ W    ]   [ r_D ]   [ D_y D_z ] [ dy ]
//   [ C    0     ] [ dpsi ] = [ r_A ] - [ A_y A_z ] [ dz ]        hence  W = w - E u,  dpsi = psi - E' u,  u = (dy, dz)
//   (sigma I + B) u + [ G^T dmu; C^T dtau ] = rho,                B = [ P_y P_z; E ],  rho = (r_P, w)
//   [ G 0; L C ] u = (r_C, r_V)
//
// With orthonormal bases of the kernels of G and C, Q = diag(N_G, N_C), all solutions of the last line are
// u = u_p + N a, where Q^T N = I and Q^T u_p = 0, so that  (sigma I + Q^T B N) a = Q^T (rho - B u_p): a complex matrix
// of twice the degrees of freedom for each shift, and everything else is real and the same for all shifts and stages.
// The products of mu and tau with second derivatives of g in D_y, A_y and P_y are those at the point of linearisation,
// as in the full matrix.
#pragma once

#include <complex>
#include <vector>

#include <Eigen/Dense>

#include "formulation/implicit_problem.hpp"
#include "method/radau_tableau.hpp"

namespace hinge {

class RadauReduced {
 public:
  RadauReduced(const Pattern& pattern, ImplicitProblem::Shape shape, int most_stages);
  /// False where G or C has dependent rows, or the matrix of the accelerations is singular.
  bool linearise(const double* f_x, const double* f_rate);
  /// False where a matrix is singular.
  bool factor(double h, const RadauTableau& tableau);
  /// From residuals -F of all stages, one after the other, to the increments of Z.
  void solve(const double* f, double* dz);
  /// x <- ((mu/h) F_x' + F_x)^-1 x with the real eigenvalue mu
  void solve_real(double* x);

 private:
  using Matrix = Eigen::MatrixXd;
  using Complex = std::complex<double>;
  template <class Columns>
  void particular(const Eigen::MatrixBase<Columns>& f);
  template <class Columns>
  void complete(Eigen::MatrixBase<Columns>& out, Eigen::Index count);

  struct Entry {
    Matrix* to;
    Eigen::Index row, column;
    std::size_t from;
  };
  Eigen::Index ny_, nz_, m_, n_, free_y_, free_z_;
  std::vector<Entry> x_entries_, rate_entries_;
  Matrix p_u_, k_, k_inverse_, da_u_, e_, b_, l_;  // [P_y P_z], kernel, [D_y D_z; A_y A_z], E, B, L
  Matrix g_, c_, g_plus_, c_plus_, n_g_, n_c_;
  Matrix hp_, kernel_, q_t_, q_t_b_, reduced_,
      left_;  // u_p = hp (r_C, r_V), N, Q^T, Q^T B, Q^T B N, [mu; tau] from P, W
  Matrix full_q_, work_, constraint_;
  Matrix kernel_right_, rho_, u_, a_, right_, slope_;  // of all stages
  double h_ = 0;
  const RadauTableau* tableau_ = nullptr;
  Eigen::PartialPivLU<Matrix> real_;
  std::vector<Eigen::PartialPivLU<Eigen::MatrixXcd>> complex_;
  Eigen::MatrixXcd complex_matrix_;
  Eigen::VectorXcd complex_a_;
  Matrix shifted_;
};

}  // namespace hinge
