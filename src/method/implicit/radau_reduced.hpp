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

#include "formulation/implicit/implicit_problem.hpp"
#include "method/implicit/radau_tableau.hpp"
#include "solve/linear/lu.hpp"
#include "solve/linear/row_matrix.hpp"
#include "solve/linear/small_complex_lu.hpp"

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
  friend class RadauStagewise;  // one of these at every stage
  using Complex = std::complex<double>;
  struct Entry {
    double* to;
    std::size_t from;
  };

  template <int S>
  void particular();
  template <int S>
  void complete();
  template <int S>
  void solve_stages(const double* f, double* dz);

  int ny_, nz_, m_, n_, free_y_, free_z_;
  std::vector<Entry> x_entries_, rate_entries_;
  // names as above: [P_y P_z], K, K^-1, [D_y D_z; A_y A_z], [E; E'], L, G, C
  RowMatrix p_u_, k_, k_inverse_, da_u_, e_, l_, g_, c_;
  RowMatrix g_plus_, c_plus_, g_plus_t_, c_plus_t_, n_g_, n_c_, n_g_t_, n_c_t_;
  RowMatrix l_g_, l_n_, c_l_n_;                               // L G^+, L N_G, C^+ L N_G
  RowMatrix b_z_, y_b_, z_b_;                                 // rows of B for z; N_G^T B and N_C^T B
  RowMatrix q_t_b_, kernel_, reduced_;                        // Q^T B, N, Q^T B N
  RowMatrix mu_b_, tau_b_, psi_e_;                            // (G^+)^T B_y, (C^+)^T B_z, E'
  RowMatrix reflect_, full_;                                  // work space of split()
  std::vector<double> f_, kr_, u_, right_, a_, slope_, out_;  // lane after lane: the numbers of all stages side by side
  double h_ = 0;
  const RadauTableau* tableau_ = nullptr;
  Lu<double> real_;
  std::vector<Lu<Complex>> complex_;
  std::vector<SmallComplexLu> small_complex_;  // in the place of complex_ where there are few rows
  Eigen::MatrixXcd complex_matrix_;
  Eigen::MatrixXd real_matrix_;
  Eigen::VectorXcd complex_a_;
  Eigen::VectorXd real_a_;
};

}  // namespace hinge
