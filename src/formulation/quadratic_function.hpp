// QuadraticFunction functions of the coordinates, by their coefficients, and whether a motion leaves them as they are.
#pragma once

#include <utility>
#include <vector>

#include "formulation/energy_step.hpp"
#include "formulation/motion.hpp"

namespace hinge {

/// Rounding of the coefficients of a polynomial; anything above breaks its symmetry.
inline constexpr double coefficient_rounding = 1e-13;

/// The motion with its terms at hand by row, xi_i = sum_k B_ik q_k + c_i.
class AffineMotion {
 public:
  AffineMotion(const Motion& motion, int n) : rows_(static_cast<std::size_t>(n)) {
    for (const Motion::Term& t : motion.terms) rows_[static_cast<std::size_t>(t.row)].push_back({t.column, t.factor});
  }
  struct Entry {
    int column;  // -1 for c
    double factor;
  };
  const std::vector<Entry>& row(int i) const { return rows_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<std::vector<Entry>> rows_;
};

/// q.A q/2 + b.q + c, of which A and b matter here.
struct QuadraticFunction {
  struct Entry {
    int i, j;
    double value;
  };
  std::vector<Entry> a{};  // both triangles
  std::vector<std::pair<int, double>> b{};

  /// xi.(A q + b) = 0 for all q: every coefficient of this polynomial is zero, but for the rounding of its terms.
  bool invariant_under(const AffineMotion& motion) const;
};

/// The coefficients of polynomials of degree at most two: their first and second derivatives at zero.
std::vector<QuadraticFunction> quadratics(const ConstantMassForm& form, const std::vector<Node>& functions);
/// As a function of v.
QuadraticFunction kinetic_energy(const ConstantMassForm& form);

}  // namespace hinge
