// Every solver, each in its own file. They go on from r, in the units of W, until the judge is content or they know no
// further.
#pragma once

#include "solve/contact/delassus.hpp"
#include "solve/contact/judge.hpp"

namespace hinge {

// Projections, one sweep or one product with W at a time.
void solve_projected_jacobi(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_projected_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_projected_sor(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_block_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_accelerated_gradient(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_spectral_gradient(Delassus& W, Judge& judge, Eigen::VectorXd r);

// Factorisations: pivoting, semismooth Newton, interior points, ADMM.
void solve_lemke(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_newton_fischer_burmeister(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_newton_alart_curnier(Delassus& W, Judge& judge, Eigen::VectorXd r);
/// Newton's iteration alone, from an r that is near: no sweeps.
void finish_by_newton(Delassus& W, Judge& judge, const Eigen::VectorXd& r);
void solve_interior_point(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_cone_interior_point(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_admm(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
