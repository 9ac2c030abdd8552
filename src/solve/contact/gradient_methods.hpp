// Solvers that need products with W, dot products and projections, and nothing else.
#pragma once

#include "solve/contact/solver.hpp"

namespace hinge {

void solve_accelerated_gradient(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_spectral_gradient(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
