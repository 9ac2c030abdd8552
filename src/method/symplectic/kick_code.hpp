// Increments of the multipliers of a kick as machine code, for small systems of point masses with v = z: the first two
// with all that comes before and after them, and one more, on the position level (kick_drift.cpp) and on the velocity
// level (rattle.cpp). The numbers are those of the loops there.
#pragma once

#include <memory>

#include "formulation/compiled_function.hpp"
#include "hinge/system.hpp"
#include "solve/linear/saddle_point.hpp"

namespace hinge {

class KickCode {
 public:
  /// Null where it would not be faster, or there is no machine code.
  static std::unique_ptr<KickCode> make(const System& system, const SchurComplement& small);

  struct At {
    double t1, weight, h;
    double *y, *z, *psi;         // moved by the increment; y on the position level only
    const double* reaction_psi;  // where the kick is
  };
  /// Returns the largest change of z.
  double improve_position(const At& at, const SchurComplement& small) { return improve(position_, at, small, true); }
  double improve_velocity(const At& at, const SchurComplement& small) { return improve(velocity_, at, small, false); }

  struct Kick {
    double t1, weight, h;
    const double *y0, *z0, *force, *reaction_psi;
    double *psi, *z, *y1;  // a guess of psi in, all of the solution out
  };
  /// The drift, S, which is left in `small`, and two corrections; the last one is the largest change of z. False where
  /// SchurComplement has to decide: nothing has changed then.
  bool begin_position(const Kick& at, SchurComplement& small, double& change);
  struct End {
    double t1, weight, h;
    const double *y1, *half_z;
    double *psi, *z1;  // a guess of psi in
  };
  /// The same for the velocity level, with the forces there; `small` has A^-1 only.
  bool begin_velocity(const End& at, const SchurComplement& small, double& change);
  /// At the end of the last begin_velocity().
  const double* force() const { return end_.output() + force_; }
  const double* reaction_psi() const { return end_.output() + force_ + nz_; }

 private:
  KickCode() = default;
  double improve(CompiledFunction& function, const At& at, const SchurComplement& small, bool moves_y);
  int m_ = 0, nz_ = 0, force_ = 0;
  CompiledFunction position_, velocity_, start_, end_;
};

}  // namespace hinge
