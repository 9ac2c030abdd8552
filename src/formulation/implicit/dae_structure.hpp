// What a DAE F(t, x, x') = 0 is, from where its unknowns occur (Pryce, BIT 41, 2001).
//
// Signature: sigma_ij is the highest derivative of x_j in equation i. A transversal of largest sum, and the smallest
// offsets c >= 0, d with  d_j - c_i >= sigma_ij, equal on the transversal, say how often each equation has to be
// differentiated:  F_i^(k), k = 0..c_i, determine all x_j^(k), k = 0..d_j, but for  sum d - sum c  degrees of freedom.
// That is right where the system Jacobian  J_ij = dF_i / dx_j^(d_j - c_i)  is regular. Where a combination of equations
// u^T J = 0 makes it singular, as in the node equations of a circuit, one of the equations is replaced by
// sum_i u_i F_i^(c_i - c_min)  and everything starts anew (Tan, Nedialkov, Pryce 2017): the sum of the transversal goes
// down, so that this ends. The coefficients u are constant, or functions of t and of lower derivatives than cancel.
#pragma once

#include <string>
#include <vector>

#include "formulation/implicit/jet.hpp"
#include "hinge/error.hpp"
#include "solve/linear/matching.hpp"

namespace hinge {

struct DaeStructure {
  explicit DaeStructure(const SymbolicSystem& system) : jet(system) {}

  Jet jet;
  std::vector<Node> equations;     ///< F, or combinations in its place
  std::vector<std::string> names;  ///< what messages call them
  std::vector<std::string> combinations;
  std::vector<int> c, d;
  std::vector<std::vector<int>> blocks;  ///< unknowns that are solved for together, in order
  std::vector<int> nu;                   ///< index of each unknown: 1 + how many derivatives of a defect reach it
  std::vector<char> differential;        ///< does x_j' occur?
  std::vector<Node> direct;              ///< equations in x and x' that are solved as they stand: F, or combinations
  std::vector<int> row_order;            ///< powers of h that scale the rows of their F_x + c F_x'
  bool regular = true;                   ///< is J regular at the points where it was looked at?
  std::string singular;                  ///< where not: which equations and unknowns

  int size() const { return static_cast<int>(c.size()); }
  int index() const;
  int degrees_of_freedom() const;
  /// The first of `limit` names of unknowns or equations, as text.
  std::string unknown_list(const std::vector<int>& unknowns, std::size_t limit = 8) const;
  std::string equation_list(const std::vector<int>& equations, std::size_t limit = 6) const;
};

/// Throws SingularDae where no transversal exists: the equations do not determine the unknowns, whatever their numbers.
/// J is looked at near `point` (t, x, x') where it is given, else at some points.
DaeStructure analyse_dae(const SymbolicSystem& system, const State* point = nullptr);

/// Throws SingularDae where F_x + c F_x' is singular at the point for every c: the equations depend on each other.
void refuse_singular_pencil(const SymbolicSystem& system, const State& point);

}  // namespace hinge
