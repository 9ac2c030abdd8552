// The iterations of a SPARK step as machine code, for small systems: one call for each increment of block 1 and of
// block 2 (spark_stages.cpp, spark_end.cpp), and one for what block 2 needs of block 1. The numbers are those of the
// loops there.
#pragma once

#include <memory>
#include <vector>

#include "formulation/compiled_function.hpp"
#include "hinge/system.hpp"
#include "method/symplectic/spark_tableau.hpp"
#include "solve/linear/saddle_point.hpp"

namespace hinge {

class SparkCode {
 public:
  /// `n_inverse`: N^-1 of spark.hpp. Null where it would not be faster, or there is no machine code.
  static std::unique_ptr<SparkCode> make(const System& system, const SparkTableau& tableau,
                                         const Eigen::MatrixXd& n_inverse, const SchurComplement& small);

  /// Where a step begins, and its unknowns: Y_i, Z_i and L_k one after the other.
  struct Stages {
    double t, h;
    const double *y0, *p0, *y, *z, *l;
  };
  /// G and r_psi at the nodes of these stages: for all increments of the step.
  void derive(const Stages& at);
  /// One increment, with v_z as it was when the small matrix was made.
  void improve(const Stages& at, const SchurComplement& small, const double* velocity_z);
  const double* y() const { return improve_.output(); }
  const double* z() const { return y() + s_ * ny_; }
  const double* l() const { return z() + s_ * nz_; }
  const double* moved_v() const { return l() + st_ * m_; }  ///< V_i + v_z dZ_i
  const double* position_change() const { return moved_v() + s_ * ny_; }
  const double* increment() const { return position_change() + s_ * ny_; }              ///< dZ
  const double* velocity_change() const { return increment() + s_ * nz_; }              ///< v_z dZ, where v is not z
  const double* multiplier_effect() const { return velocity_change() + change_ * s_; }  ///< v_z p_z^-1 r_psi dL
  int effect_size() const { return st_ * ny_; }

  /// Of the stages as accepted: V_i, y1 and p0 + h sum_j bh_j f_j + h sum_{k < st} bt_k r_k.
  void accept(const Stages& at);
  const double* v() const { return accept_.output(); }
  const double* y1() const { return v() + s_ * ny_; }
  const double* momentum() const { return y1() + ny_; }

  /// One increment of z1 and psi1.
  struct End {
    double t, h;
    const double *y1, *z1, *psi1, *momentum, *reaction_psi, *rate_z;
  };
  void improve_end(const End& at, const SchurComplement& small, const double* velocity_z);
  const double* z1() const { return end_.output(); }
  const double* psi1() const { return z1() + nz_; }
  const double* end_increment() const { return psi1() + m_; }
  const double* end_effect() const { return end_increment() + nz_; }

 private:
  class Draft;
  SparkCode() = default;
  int s_ = 0, st_ = 0, ny_ = 0, nz_ = 0, m_ = 0, change_ = 0;
  CompiledFunction derive_, improve_, accept_, end_;
};

}  // namespace hinge
