// `auto`: which solver for which problem.
#pragma once

#include "solve/contact/solver.hpp"

namespace hinge {

/// Names in the order in which `auto` tries them.
std::vector<std::string> automatic_choice(const ContactProblem& problem, const ContactOptions& options);
void solve_automatically(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
