// Newton's iteration on the stages of a Radau step in projected invariants, with the derivatives of every stage.
//
// The simplified iteration (radau_stages.hpp) has the derivatives of one point. Stiff forces on bodies that turn have
// directions that turn with them: in the other stages the direction is off by the angle of the turn, what is off grows
// with the stiffness, and the iteration does not contract however small the error of the step would be. Here every
// stage is reduced to its degrees of freedom as in radau_reduced.hpp, at its own point: u_i = u_p,i + N_i a_i, and
//
//   sum_j (gamma_ij/h) Q_i^T N_j a_j + Q_i^T B_i N_i a_i = Q_i^T (rho_i - B_i u_p,i) - sum_j (gamma_ij/h) Q_i^T u_p,j
//
// is one full matrix of s times twice the degrees of freedom, and some rows more for the lengths of quaternions. It is
// kept from iteration to iteration.
#pragma once

#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "method/implicit/radau_reduced.hpp"
#include "method/implicit/radau_tableau.hpp"

namespace hinge {

class RadauStagewise {
 public:
  /// For problems whose projected_invariants() are some.
  RadauStagewise(ImplicitProblem& problem, const RadauTableau& tableau, Counters& counters);
  /// The derivatives of all stages, for the iterations to come. False where a matrix is singular.
  bool linearise(double t0, const double* x0, double h, const double* z);
  /// Z, stage after stage, is improved; dz is what was added. False where F is not finite.
  bool iterate(double t0, const double* x0, double h, double* z, double* dz);

 private:
  void point(std::size_t i, double t0, const double* x0, double h, const double* z);
  bool factor(double h);

  ImplicitProblem& problem_;
  const RadauTableau& tableau_;
  Counters& counters_;
  std::size_t n_, s_;
  std::vector<RadauReduced> stages_;
  Lu<double> lu_;
  Eigen::MatrixXd matrix_;
  std::vector<double> f_x_, f_rate_, x_, rate_, a_;
  double t_ = 0;
};

}  // namespace hinge
