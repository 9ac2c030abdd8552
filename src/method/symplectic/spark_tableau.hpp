// The coefficients of the SPARK families, and the conditions that coefficients are checked against.
//
// Coefficients are computed, never tabulated: nodes as roots of Legendre polynomials, weights and matrices by
// integrating Lagrange polynomials with a Gauss rule that is exact for them.
#pragma once

#include <string>
#include <vector>

#include "hinge/tableau.hpp"

namespace hinge {

/// The implicit Euler member with parameter alpha, not 0 or 1: it is NOT symplectic and serves as a control in tests.
SparkTableau implicit_euler_tableau(double alpha);

/// The sums of weights, conditions (3.3a)-(3.3c) for consistency, with (4.2) and (4.3) for the splitting into two
/// blocks. (3.3d) is reported with defect 0 when the matrix is well conditioned and infinity when it is singular.
std::vector<TableauCondition> consistency_conditions(const SparkTableau& t);
/// Conditions (4.1a)-(4.1c) for symplecticity.
std::vector<TableauCondition> symplecticity_conditions(const SparkTableau& t);
/// Symmetry under reversal of the stages.
std::vector<TableauCondition> symmetry_conditions(const SparkTableau& t);

/// Gauss and Lobatto points and weights on [0, 1].
struct Quadrature {
  Eigen::VectorXd nodes, weights;
};
Quadrature gauss_quadrature(int points);
Quadrature lobatto_quadrature(int points);

}  // namespace hinge
