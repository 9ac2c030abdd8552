// Solvers that factorise: pivoting, semismooth Newton, interior points, ADMM.
#pragma once

#include "solve/contact/solver.hpp"

namespace hinge {

void solve_lemke(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_newton_fischer_burmeister(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_newton_alart_curnier(Delassus& W, Judge& judge, Eigen::VectorXd r);
/// Newton's iteration alone, from an r that is near: no sweeps.
void finish_by_newton(Delassus& W, Judge& judge, const Eigen::VectorXd& r);
void solve_interior_point(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_cone_interior_point(Delassus& W, Judge& judge, Eigen::VectorXd r);
void solve_admm(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
