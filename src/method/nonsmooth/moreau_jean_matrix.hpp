// The matrix of a step of moreau-jean:
//
//   S = M - h theta f_z - h^2 theta^2 f_y v_z
//
// the mass with the derivatives of the forces, so that stiff springs and dampers do not shorten the step. v_z is the
// identity in generalised coordinates and turns spins into quaternions' rates in space.
//
// Solvers of many contacts want a symmetric S: then its symmetric part is taken, which the iteration on the forces
// makes up for. Bodies couple where a spring or a damper connects them, and only there.
//
// Bodies in space: the gyroscopic torque is left out of f, since it is a part of the balance of momentum
// (body/spin_balance.hpp).
#pragma once

#include <memory>
#include <vector>

#include "body/spin_balance.hpp"
#include "hinge/system.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

class MoreauJeanMatrix {
 public:
  /// With `forces` and where a force has derivatives, S has them.
  MoreauJeanMatrix(std::shared_ptr<const System> system, bool forces, const SpinBalance* spins = nullptr);
  const Pattern& pattern() const { return pattern_; }
  bool has_forces() const { return derivatives_ != nullptr; }
  /// The derivatives of the forces that assemble() takes.
  void forces_at(double t, const double* y, const double* z, const double* psi) {
    derivatives_->at(t, y, z, psi);
    spins_at_ = z;
  }
  /// S = M
  void mass(const double* M, double* S) const;
  /// S for `step` = h theta
  void assemble(const double* M, double step, bool symmetric, double* S) const;
  /// S with the inertias of the midpoint of a step of h in the place of those of the start, for the spins in z.
  void middle_inertias(const double* z, double h, double* S) const;

 private:
  std::shared_ptr<const System> system_;
  bool constant_mass_;
  Pattern pattern_;
  std::vector<int> mass_place_, force_y_place_, force_z_place_;
  SparseProduct product_;  // f_y v_z, where v is not z
  mutable std::vector<double> product_values_;
  std::vector<int> mirror_;  // the entry (j, i) of (i, j)
  std::unique_ptr<Evaluation> derivatives_;
  const SpinBalance* spins_;
  const double* spins_at_ = nullptr;
  std::vector<int> spin_place_;  // nine per body in space that is not isotropic
};

}  // namespace hinge
