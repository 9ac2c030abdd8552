// A position where all constraints hold, from a rough guess, whatever the rank of G: damped least squares
//
//   u = -A^T (A A^T + mu)^-1 r,   r_i = g_i / |G_i c|,   mu ~ |r|
//
// in the units of scaled_rows.hpp. mu becomes small with |r|, so that the end is as fast as Newton's method also where
// rows depend on each other. Where that ends without a solution, the constraints are closed little by little,
// g(y) = (1 - s) g(y0).
#pragma once

#include <string>
#include <vector>

#include "hinge/system.hpp"

namespace hinge {

struct Closing {
  bool closed = false;
  std::vector<double> y;            ///< a position on the constraints, or the one nearest to them that was found
  std::vector<double> g;            ///< what is left there
  std::vector<double> combination;  ///< of constraints that cannot vanish there; the largest is 1
  /// "constraint 0 (...) is off by 0.1, constraint 3 (...) by -0.2"
  std::string describe(const Layout& layout) const;
};

/// `fixed`: coordinates (of bodies in space: velocities) that are not moved; may be empty.
Closing close_constraints(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z,
                          const std::vector<char>& fixed = {});

/// The same from several guesses where some coordinates are not `given`; an empty list means that all are.
Closing assemble(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z,
                 const std::vector<char>& given, const std::vector<char>& fixed);

/// z <- velocities with g_t + G v = 0, changed as little as possible, the fixed ones not at all. False where there are
/// none.
bool close_velocities(const System& system, double t, const std::vector<double>& y, std::vector<double>& z,
                      const std::vector<char>& fixed);

/// Which columns of the rows (coordinates; of bodies in space velocities) belong to chosen coordinates.
std::vector<char> columns_of(const System& system, const std::vector<char>& coordinates);

}  // namespace hinge
