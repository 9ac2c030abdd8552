// Full Newton for the stage equations of a SPARK step, for steps where the simplified iteration does not converge.
//
// Unknowns (Y_1..Y_s | Z_1..Z_s | L_0..L_{st-1}); with v_yj = v_y(Y_j, Z_j), r_yk = r_y(Yt_k, L_k) and so on
//   dR_Yi/dY_j = delta I - h a_ij v_yj                          dR_Yi/dZ_j = -h a_ij v_zj
//   dR_Zi/dY_j = delta p_y - h ah_ij f_yj - h^2 sum_k at_ik ab_kj r_yk v_yj
//   dR_Zi/dZ_j = delta p_z - h ah_ij f_zj - h^2 sum_k at_ik ab_kj r_yk v_zj        dR_Zi/dL_k = -h at_ik r_Lk
//   dR_gi/dY_j = (1/h) ab_ij g_y(Yt_i) v_yj                     dR_gi/dZ_j = (1/h) ab_ij g_y(Yt_i) v_zj
#pragma once

#include <memory>
#include <vector>

#include "hinge/system.hpp"
#include "method/symplectic/spark_tableau.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

class SparkJacobian {
 public:
  SparkJacobian(const System& system, const SparkTableau& tableau, LinearAlgebra choice);

  /// Evaluates all derivatives at the stages and nodes and factorises. Arrays hold one stage (node) after the other.
  bool factor(double t, double h, const double* stage_y, const double* stage_z, const double* node_y,
              const double* multipliers);
  /// x = (Y | Z | L) residuals in, increments out.
  void solve(double* x) { matrix_.solve(x); }
  int size() const { return size_; }

 private:
  void lay_out();

  const System& system_;
  const SparkTableau& tableau_;
  int s_, st_, ny_, nz_, m_, size_;
  Pattern identity_;
  SparseProduct ry_vy_, ry_vz_, gy_vy_, gy_vz_;
  BlockMatrix matrix_;
  std::vector<double> sum_, product_, ones_;
  std::vector<std::unique_ptr<Evaluation>> stage_, node_;
};

}  // namespace hinge
