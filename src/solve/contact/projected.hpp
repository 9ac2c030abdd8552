// Simple projected iterations, scalar for an LCP and contact by contact with friction.
#pragma once

#include "solve/contact/solver.hpp"

namespace hinge {

void solve_projected_jacobi(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_projected_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_projected_sor(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
