// Accelerations and multipliers of a given motion: the kernel of every index-1 form.
//
//   [ p_z   -r_psi ] [ z'  ]   [ b + r - r_psi psi ]
//   [ G v_z    0   ] [ psi ] = [ -c                ]
//
// One linear solution where r is affine in psi, Newton's iteration from the given psi elsewhere. The mass p_z may be
// singular as long as it is regular on the motions that the constraints leave free.
#pragma once

#include <memory>
#include <vector>

#include "hinge/system.hpp"
#include "solve/saddle_point.hpp"

namespace hinge {

class Acceleration {
 public:
  explicit Acceleration(std::shared_ptr<const System> system, LinearAlgebra choice = LinearAlgebra::automatic);
  /// Fills v (ny numbers) and z' (nz numbers), and improves psi. False where the matrix is singular, a value is not
  /// finite, or Newton's iteration does not converge.
  bool compute(double t, const double* y, const double* z, double* psi, double* velocity, double* z_rate);

 private:
  using Q = Quantity;
  std::shared_ptr<const System> system_;
  std::unique_ptr<Evaluation> at_;
  SaddlePoint saddle_;
  std::vector<double> solution_;
  bool affine_;
};

}  // namespace hinge
