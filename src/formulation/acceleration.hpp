// Accelerations and multipliers of a given motion: the kernel of every index-1 form.
//
//   [ p_z   -r_psi ] [ z'  ]   [ b + r - r_psi psi ]
//   [ C        0   ] [ psi ] = [ -c                ]      C = G v_z, and w_z of velocity constraints
//
// One linear solution where r is affine in psi, Newton's iteration from the given psi elsewhere. The mass p_z may be
// singular as long as it is regular on the motions that the constraints leave free. With Baumgarte's stabilisation
// c + 2 alpha (g_t + G v) + beta^2 g stands in the place of c.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "formulation/motion_code.hpp"
#include "formulation/saddle_code.hpp"
#include "hinge/formulation.hpp"
#include "hinge/system.hpp"
#include "solve/copy_few.hpp"
#include "solve/linear/saddle_kernel.hpp"

namespace hinge {

class Acceleration {
 public:
  /// `options.formulation` is index_1 or baumgarte.
  explicit Acceleration(std::shared_ptr<const System> system, LinearAlgebra choice = LinearAlgebra::automatic,
                        const FormulationOptions& options = {Formulation::index_1});
  /// Fills v (ny numbers) and z' (nz numbers), and improves psi. False where the matrix is singular, a value is not
  /// finite, or Newton's iteration does not converge. `keep`: the matrix will be asked for.
  bool compute(double t, const double* y, const double* z, double* psi, double* velocity, double* z_rate,
               bool keep = true) {
    if (!motion_ || without_code_ > 0 || !motion_->accelerate(t, y, z, keep))
      return compute_in_parts(t, y, z, psi, velocity, z_rate);
    by_code_ = true;
    copy_few(motion_->acceleration(), nz_, z_rate);
    copy_few(motion_->multipliers(), m_, psi);
    copy_few(motion_->velocity(), ny_, velocity);
    return true;
  }
  /// Is the reaction affine in psi? Then the psi that compute() gets does not matter.
  bool affine() const { return affine_; }
  /// The matrix of the last point, factorised. (Not factorised where it was not kept.)
  SaddleKernel& matrix();
  /// Code for (v, z', psi), with its scratch array, from (t, y, z); null where there is none, or it is not asked now.
  const CompiledFunction* code() { return motion_ && without_code_ == 0 ? &motion_->function() : nullptr; }
  /// Code that project() calls; null where it has none.
  const CompiledFunction* projection_code() {
    return motion_ && motion_->can_project() ? &motion_->projection() : nullptr;
  }
  /// It has been called there, and was settled: as compute() without the matrix.
  void computed_by_code() { by_code_ = true; }
  /// Back onto the constraints by two corrections, by code, as ConstraintProjection would do it
  /// (project/two_corrections.hpp). False where it has to be asked: y and z are then as they were.
  bool project(double t, double* y, double* z) {
    return motion_ && motion_->can_project() && motion_->project(t, y, z);
  }

 private:
  using Q = Quantity;
  bool iterate(double t, const double* y, const double* z, double* psi, double* velocity, double* z_rate);
  void curvature(double* out) const;
  bool compute_in_parts(double t, const double* y, const double* z, double* psi, double* velocity, double* z_rate);
  bool solve_by_code();
  void choose_code();

  std::shared_ptr<const System> system_;
  int ny_, nz_, m_;
  bool velocity_is_z_, ideal_, linear_, affine_, constant_mass_;
  double damping_ = 0, stiffness_ = 0;  // 2 alpha, beta^2
  std::unique_ptr<Evaluation> at_;
  SaddleKernel kernel_;
  std::unique_ptr<MotionCode> motion_;  // does what at_ and kernel_ do, where there can be some
  std::unique_ptr<SaddleCode> code_;    // else: what kernel_ does
  bool by_code_ = false;                // at the last point: kernel_ has not seen it
  bool choose_code_ = true;             // after the first factorisation, which shows the order of its rows
  int without_code_ = 0;                // points at which it is not asked, after one at which kernel_ had to decide
  std::vector<double> change_;
};

/// The matrix of a system's acceleration level, not factorised yet.
SaddleKernel acceleration_kernel(const System& system, LinearAlgebra choice);

}  // namespace hinge
