// Coefficients that a user gives: completed, checked, described.
//
//   (3.3a) abar_0j = 0            (3.3b) abar_st,j = b_j            (4.3) atilde_i,st = 0
//   (3.3c) sum_j abar_ij c_j = sum_jk abar_ij ahat_jk = sum_jk abar_ij atilde_jk = ctilde_i^2 / 2
//   (3.3d) rows 1..st of abar atilde, over the row btilde, are invertible
//   (4.1a) bhat_i = b_i   (4.1b) bhat_i a_ij + b_j ahat_ji = bhat_i b_j   (4.1c) btilde_i abar_ij + b_j atilde_ji =
//   btilde_i b_j
//
// and all weights sum to 1. Without (3.3a), (3.3b), (3.3d), (4.3) a step cannot be solved in two blocks or does not end
// on the constraints, and with other sums the method solves other equations: these are always needed. Without (3.3c)
// the multipliers of a step differ by O(1), which only a reaction affine in psi forgives; without (4.1) the method is
// not symplectic: these may be violated by whoever says so. Equation numbers are those of Jay (2007).
#pragma once

#include "hinge/option.hpp"
#include "hinge/tableau.hpp"

namespace hinge {

/// Something is wrong with a tableau; `field` is the part to blame ("abar"), empty where it is all of them.
struct TableauError : OptionError {
  TableauError(const std::string& message, std::string part)
      : OptionError("tableau", message), field(std::move(part)) {}
  std::string field;
};

/// Checks shapes and numbers and fills in what is empty: c, ctilde, bhat, ahat, atilde.
SparkTableau complete_tableau(SparkTableau t);

/// Throws a TableauError where a condition is violated that is needed, or that `t.violates` does not list.
void require_conditions(const SparkTableau& t, const TableauReport& report);

/// The coefficients whose step of -h undoes a step of h of these. They satisfy (4.3) where these satisfy (4.2); else
/// there is none, and this throws.
SparkTableau adjoint_tableau(const SparkTableau& t);

/// The condition of this name, e.g. "(3.3c)".
const TableauCondition& condition_of(const TableauReport& report, const std::string& name);

}  // namespace hinge
