// A DAE F(t, x, x') = 0 as an implicit problem: as it stands up to index 2, through its derivative array above.
//
// As it stands, the unknowns get the index that the structure gives them, and those of index 2 and more are left out of
// error tests. Through the array the unknowns are X = (x_j^(k), k = 0..d_j), and the rows
//
//   F_i^(k)(t, X) = 0, k = 0..c_i,      d/dt X_s - X_{s+1} = 0 for as many s as there are degrees of freedom:
//
// an index-1 problem on which all hidden constraints hold in every step. The s are those columns that a pivoted QR
// decomposition of the array's Jacobian, begun with the highest derivatives, leaves over; chosen anew when the others
// become much worse conditioned than the best ones.
#pragma once

#include <memory>

#include "formulation/implicit/implicit_problem.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// The equations of a system of kind dae. In its states y is x and z is x'. Automatic: the array from index 3
/// on, and for index 2 where equations have to be combined to show it.
std::unique_ptr<ImplicitProblem> make_dae_problem(std::shared_ptr<const SymbolicSystem> system,
                                                  const FormulationOptions& options);

}  // namespace hinge
