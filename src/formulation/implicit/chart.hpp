// Local coordinates on the constraint manifold: rows A^T that, together with G, make a regular matrix.
//
// Two charts are kept, A_y beside G for positions and A_z beside C = G v_z for z; where v = z they are the same.
#pragma once

#include <memory>
#include <vector>

#include "hinge/solve.hpp"
#include "hinge/system.hpp"

namespace hinge {

class Chart {
 public:
  enum class Change { none, values, pattern };
  virtual ~Chart() = default;
  /// Chooses the chart for a motion (t, y, z). False where G has dependent rows.
  virtual bool choose(double t, const double* y, const double* z) = 0;
  /// Chooses it anew where that is due.
  virtual Change follow(double t, const double* y, const double* z) = 0;
  /// A^T, with as many rows as there are degrees of freedom.
  const Pattern& y_pattern() const { return y_.pattern; }
  const Pattern& z_pattern() const { return z_.pattern; }
  const double* y_values() const { return y_.values.data(); }
  const double* z_values() const { return z_.values.data(); }

 protected:
  struct Part {
    Pattern pattern;
    std::vector<double> values;
  };
  Part y_, z_;
};

/// Unit vectors: independent coordinates are those that QR with column pivoting of G leaves over. Chosen anew when
/// the determinant of the dependent columns is less than `keep_above` times what the best choice would have.
std::unique_ptr<Chart> make_partitioning_chart(std::shared_ptr<const System> system, double keep_above);
/// An orthonormal basis of the kernel of G, at the last accepted point.
std::unique_ptr<Chart> make_tangent_chart(std::shared_ptr<const System> system);

}  // namespace hinge
