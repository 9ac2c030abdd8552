// The coefficients of the SPARK families, and the conditions that coefficients are checked against.
//
// Coefficients are computed, never tabulated: nodes as roots of Legendre polynomials, weights and matrices by
// integrating Lagrange polynomials with a Gauss rule that is exact for them.
#pragma once

#include <string>
#include <vector>

#include "hinge/tableau.hpp"

namespace hinge {

/// Gauss-Lobatto (s, s): order 2s, symmetric, symplectic. s from 1 to 12.
SparkTableau gauss_lobatto_tableau(int s);

/// Lobatto IIIA-IIIB (s, s - 1): order 2s - 2, symmetric, symplectic. s from 2 to 12; s = 2 is RATTLE.
SparkTableau lobatto_iiia_iiib_tableau(int s);

/// One-stage members with parameter alpha, not 0 or 1: the natural symplectic Euler method, its conjugate, and the
/// implicit Euler member, which is NOT symplectic and serves as a control in tests.
SparkTableau natural_euler_tableau(double alpha);
SparkTableau natural_conjugate_euler_tableau(double alpha);
SparkTableau implicit_euler_tableau(double alpha);

/// One condition on the coefficients and by how much it is violated (maximum norm).
struct TableauCondition {
  std::string name;     ///< e.g. "(4.1b)"
  std::string formula;  ///< e.g. "bhat_i a_ij + b_j ahat_ji = bhat_i b_j"
  double defect;
};

/// Conditions (3.3a)-(3.3c) for consistency, with (4.2) and (4.3) for the splitting into two blocks. (3.3d) is
/// reported with defect 0 when the matrix is well conditioned and infinity when it is singular.
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
