// One increment of the multipliers of a kick as machine code, for small systems of point masses with v = z: on the
// position level (kick_drift.cpp) and on the velocity level (rattle.cpp). The numbers are those of the loops there.
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

 private:
  KickCode() = default;
  double improve(CompiledFunction& function, const At& at, const SchurComplement& small, bool moves_y);
  int m_ = 0;
  CompiledFunction position_, velocity_;
};

}  // namespace hinge
