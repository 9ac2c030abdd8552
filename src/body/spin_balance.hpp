// Angular momentum of bodies in space over a step, along the axes of each body:
//
//   R1 J w1 = R0 J w0 + impulses,   R1 = R0 E(h w),   E(a) = exp([a])
//
// so that, in the axes at the end,  J w1 = E(-h w) (J w0 + impulses at the start) + impulses at the end.  Written so,
// the momentum in space is kept to rounding whatever w the step turns by; with the gyroscopic torque -w x J w as a
// force it would be kept to the order of the method only.
//
// Without torques a step turns by the w of the midpoint,  E(h/2 w) J w = J w0,  which is symmetric in time and of order
// two. Bodies in the plane, and those that do not spin, need none of this.
#pragma once

#include <optional>
#include <vector>

#include "body/body_table.hpp"

namespace hinge {

class SpinBalance {
 public:
  /// Of a system of bodies in space; none of others.
  static std::optional<SpinBalance> of(const System& system);
  /// `M`: values of the mass, which is diagonal for bodies.
  SpinBalance(const BodyTable& table, const Pattern& mass, const double* M);
  struct Body {
    int rotation, spin;
    double J[3];
    bool isotropic() const { return J[0] == J[1] && J[1] == J[2]; }
    /// Does it spin about an axis that it does not keep by itself?
    bool wobbles(const double* w) const;
  };
  const std::vector<Body>& bodies() const { return bodies_; }  ///< none in the plane

  /// f += w x J w: torques alone are left of forces with the gyroscopic one.
  void take_gyroscopic(const double* z, double* f) const;
  /// p <- R1^T R0 p
  void turn_between(const double* y0, const double* y1, double* p) const;
  /// p <- E(-h w) p for the spins in z
  void turn_back(const double* z, double h, double* p) const;
  /// z <- w of the midpoint, E(h/2 w) J w = p, for momenta p in the axes of the start.
  void midpoint(const double* p, double h, double* z) const;
  /// E(h/2 w) J E(-h/2 w), nine numbers: the inertia of the midpoint in the axes of the start.
  static void middle_inertia(const Body& body, const double* z, double h, double* out);

 private:
  std::vector<Body> bodies_;
};

}  // namespace hinge
