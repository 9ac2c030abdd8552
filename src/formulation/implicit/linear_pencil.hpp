// Linear DAEs with constant coefficients,  E x' + H x = c(t).
//
// Index by shuffling (Luenberger 1978): where E has a kernel from the left, U_2 E = 0, the rows U_2 H x = U_2 c are
// differentiated and stand in the place of zeros. The number of shuffles until E is regular is the nilpotency index of
// the pencil, and the rows shuffled are what the degrees of freedom are fewer than the unknowns. The same numbers as
// ranks of powers of (mu E + H)^-1 E give, with rank decisions on well scaled matrices.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include <Eigen/Dense>

#include "system/symbolic.hpp"

namespace hinge {

struct LinearPencil {
  Eigen::MatrixXd e, h;
  bool regular = true;
  int index = 0;
  int degrees_of_freedom = 0;
  std::vector<std::complex<double>> eigenvalues;  ///< the finite ones: lambda E v = -H v, the smallest first
};

LinearPencil analyse_pencil(Eigen::MatrixXd e, Eigen::MatrixXd h);
/// Empty where the equations are not linear with constant coefficients, or there are very many.
std::optional<LinearPencil> linear_pencil(const SymbolicSystem& system);

}  // namespace hinge
